/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/module_recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "kstats/module_text.h"
#include "kstats/v3.h"
#include "os/boot_id.h"

/* --- where it is --- */

static const char debugfs[] = "/sys/kernel/debug";

/* Mount debugfs detached: no other process sees the mount, and it ends when it is closed. */
static int mount_debugfs(void)
{
	_cleanup_close_ int fs = fsopen("debugfs", FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC,
		       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

struct error *kstats_module_open(int *ret)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	_cleanup_close_ int root = open(debugfs, flags);
	int failed = root < 0 ? errno : 0, fd;

	/* This process may not read debugfs, whether it is mounted or not. */
	if (failed == EACCES || failed == EPERM)
		return error_coded(failed, "kstats.ko is accessible to root only (%s)", debugfs);
	fd = root < 0 ? -1 : openat(root, "kstats", flags);
	if (fd < 0) {
		/* The directory is there where nothing is mounted on it. */
		_cleanup_close_ int own = mount_debugfs();

		fd = own < 0 ? -1 : openat(own, "kstats", flags);
	}
	if (fd < 0)
		return error_coded(ENOENT, "the kernel module is not loaded (modprobe kstats; its "
					   "source is in kmod/)");
	*ret = fd;
	return NULL;
}

/* --- commands --- */

/* The kernel's file system is what keeps them: no name may lead elsewhere. */
static struct error *check_file_name(const char *name)
{
	if (!*name || *name == '.' || strchr(name, '/') || strcmp(name, "_control") == 0 ||
	    strcmp(name, "_raw") == 0)
		return error_coded(EINVAL, "invalid metric name '%s'", name);
	return NULL;
}

/* 0 or an errno. A command is one write. */
static int write_words(int dir, const char *file, const char *words)
{
	_cleanup_close_ int fd = openat(dir, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return errno;
	return write(fd, words, strlen(words)) < 0 ? errno : 0;
}

/* The meaning of the module's error numbers. */
static const struct {
	int failed;
	const char *prose; /* of the places */
} trace_reasons[] = {
	{ EEXIST, "the metric already exists" },
	{ ENOENT, "no such kernel function or tracepoint" },
	{ EPERM, "the kernel does not allow probing it" },
	{ EOPNOTSUPP, "kstats.ko measures only kernel functions and tracepoints; use --via bpf" },
	{ EINVAL, "kstats.ko requires a function, or a start and an end" },
	{ EINTR, "interrupted" },
};

static struct error *trace_error(int failed, const struct kstats_spec *spec)
{
	const char *reason = strerror(failed);

	for (size_t i = 0; i < array_length(trace_reasons); i++)
		if (trace_reasons[i].failed == failed)
			reason = trace_reasons[i].prose;
	return error_coded(failed, "%s, start %s%s%s: %s", spec->name, spec->start,
			   spec->end ? ", end " : "", spec->end ? spec->end : "", reason);
}

/* Reject options that the module does not have: it records all threads, by CPU. */
static struct error *check_spec(const struct kstats_spec *spec)
{
	if (spec->by != KSTATS_BY_CPU || spec->tgid || spec->cgroup || spec->comm || spec->cpus)
		return error_coded(EOPNOTSUPP, "kstats.ko has no filters, and rows by CPU only; "
					       "use --via bpf");
	if (spec->key == KSTATS_KEY_ARGUMENT)
		return error_coded(EOPNOTSUPP, "kstats.ko pairs events of the same CPU only; use "
					       "--via bpf for arguments");
	return NULL;
}

struct error *kstats_module_trace(int dir, const struct kstats_spec *spec)
{
	_cleanup_free_ char *words = NULL;
	struct error *err = check_spec(spec);
	int failed;

	if (err)
		return err;
	words = text_print("trace %s bits %u start %s%s%s\n", spec->name, spec->frac_bits,
			   spec->start, spec->end ? " end " : "", spec->end ? spec->end : "");
	if (!words)
		return &error_no_memory;
	failed = write_words(dir, "_control", words);
	if (failed)
		return trace_error(failed, spec);
	if (!spec->is_stopped)
		return NULL;
	err = kstats_module_command(dir, spec->name, KSTATS_STOP);
	if (err)
		error_destroy(kstats_module_remove(dir, spec->name));
	return err;
}

static const char *const command_words[KSTATS_COMMAND_COUNT] = {
	[KSTATS_START] = "START\n",
	[KSTATS_STOP] = "STOP\n",
	[KSTATS_RESET] = "RESET\n",
};

static struct error *no_metric(int failed, const char *name)
{
	return failed == ENOENT ? error_coded(failed, "kstats.ko has no metric '%s'", name)
				: error_system(failed, "metric '%s' of kstats.ko", name);
}

struct error *kstats_module_command(int dir, const char *name, enum kstats_command command)
{
	struct error *err = check_file_name(name);
	int failed;

	if (err)
		return err;
	failed = write_words(dir, name, command_words[command]);
	return failed ? no_metric(failed, name) : NULL;
}

/* The module that created a metric removes it. */
static struct error *remove_error(int dir, int failed, const char *name)
{
	bool is_there = faccessat(dir, name, F_OK, 0) == 0;

	if (is_there && strncmp(name, KSTATS_GAP, strlen(KSTATS_GAP)) == 0)
		return error_coded(EPERM, "metric '%s' is removed with '%s'", name,
				   name + strlen(KSTATS_GAP));
	if (is_there && failed == ENOENT)
		return error_coded(EPERM,
				   "cannot remove metric '%s': its module created it, and "
				   "removes it",
				   name);
	return no_metric(failed, name);
}

struct error *kstats_module_remove(int dir, const char *name)
{
	_cleanup_free_ char *words = NULL;
	struct error *err = check_file_name(name);
	int failed;

	/* Reject several names, and "*", which the module takes for all. */
	if (!err && strpbrk(name, " \t\r\n*"))
		return error_coded(EINVAL, "invalid metric name '%s'", name);
	if (err)
		return err;
	words = text_print("remove %s\n", name);
	if (!words)
		return &error_no_memory;
	failed = write_words(dir, "_control", words);
	return failed ? remove_error(dir, failed, name) : NULL;
}

/* --- reading --- */

/* A line for each slot and CPU: with 5 bits and 8,192 CPUs still less. */
#define READ_MAX ((size_t)256 << 20)

static void buffer_guard(struct file_buffer *buffer)
{
	file_buffer_deinit(buffer);
}

static struct error *read_module_file(int dir, const char *path, const char *name,
				      struct file_buffer *buffer, struct text *ret)
{
	int failed = file_read_head(dir, path, READ_MAX, buffer, ret);

	if (!failed && ret->length == READ_MAX)
		failed = EFBIG;
	return failed ? no_metric(failed, name) : NULL;
}

static bool is_our_directory(int dir)
{
	return faccessat(dir, "_raw", F_OK, 0) == 0;
}

static struct error *say_where(struct kstats_table *table)
{
	char host[256] = "";

	table->taken_ns = clock_ns(CLOCK_REALTIME);
	table->boot = boot_id();
	table->recorder = strdup(kstats_module.name);
	if (gethostname(host, sizeof(host) - 1) == 0)
		table->host = strdup(host);
	return table->recorder && table->host ? NULL : &error_no_memory;
}

struct error *kstats_module_read(int dir, const char *name, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	_cleanup_(buffer) struct file_buffer buffer = { 0 };
	_cleanup_free_ char *path = text_print("%s%s", is_our_directory(dir) ? "_raw/" : "", name);
	struct error *err = check_file_name(name);
	struct text text;

	if (!err && !path)
		return &error_no_memory;
	if (!err)
		err = read_module_file(dir, path, name, &buffer, &text);
	if (!err)
		err = is_our_directory(dir) ? kstats_module_parse(text, &table)
					    : kstats_v3_parse(text, name, &table);
	if (!err)
		err = say_where(table);
	if (err)
		return err;
	*ret = take_ptr(table);
	return NULL;
}

/* --- lists --- */

static struct error *entry_of(int dir, const char *name, struct kstats_entry *ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	struct error *err = kstats_module_read(dir, name, &table);
	struct kstats_entry entry = { 0 };

	if (err)
		return err;
	/* Other modules than ours do not say whether they record. */
	table->is_active |= !is_our_directory(dir);
	err = kstats_entry_of_table(table, &entry);
	if (err)
		return err;
	entry.name = take_ptr(table->name);
	*ret = entry;
	return NULL;
}

/* A metric that cannot be read can be removed, so list it. */
static struct error *entry_of_broken(const char *name, struct error *why, struct kstats_entry *ret)
{
	if (why == &error_no_memory)
		return why;
	*ret = (struct kstats_entry){ .name = strdup(name),
				      .how = strdup(why->message),
				      .rate = (double)NAN };
	error_destroy(why);
	if (ret->name && ret->how)
		return NULL;
	free(ret->name);
	free(ret->how);
	return &error_no_memory;
}

static struct error *add_entry(int dir, const char *name, struct kstats_entries *entries)
{
	struct kstats_entry entry;
	struct error *err;

	if (!array_reserve(entries, 1))
		return &error_no_memory;
	err = entry_of(dir, name, &entry);
	/* Removed since its name was read. */
	if (err && err->errnum == ENOENT) {
		error_destroy(err);
		return NULL;
	}
	if (err)
		err = entry_of_broken(name, err, &entry);
	if (!err)
		entries->items[entries->count++] = entry;
	return err;
}

static void closedir_guard(DIR **names)
{
	if (*names)
		closedir(*names);
}

typedef struct error *name_visit(void *context, const char *name);

static struct error *each_name(int dir, name_visit *visit, void *context)
{
	/* A descriptor of its own: where a list of names is goes with it. */
	_cleanup_close_ int fd = openat(dir, is_our_directory(dir) ? "_raw" : ".",
					O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedir) DIR *names = fd < 0 ? NULL : fdopendir(fd);
	struct error *err = NULL;
	struct dirent *name;

	if (!names)
		return error_system(errno, "the metrics of kstats.ko");
	take_fd(fd);
	while (!err && (name = readdir(names)))
		if (name->d_name[0] != '.' && strcmp(name->d_name, "_control") != 0)
			err = visit(context, name->d_name);
	return err;
}

/* Where entries go, and the directory that they are read from. */
struct entry_listing {
	int dir;
	struct kstats_entries *entries;
};

static struct error *list_name(void *context, const char *name)
{
	const struct entry_listing *listing = context;

	return add_entry(listing->dir, name, listing->entries);
}

struct error *kstats_module_list(int dir, struct kstats_entries *entries)
{
	struct entry_listing listing = { dir, entries };

	return each_name(dir, list_name, &listing);
}

/* --- the recorder --- */

static struct error *trace(const struct kstats_spec *spec, struct kstats_traced *ret)
{
	_cleanup_close_ int dir = -1;
	struct error *err = kstats_module_open(&dir);

	*ret = (struct kstats_traced){ 0 };
	return err ? err : kstats_module_trace(dir, spec);
}

static struct error *list_module_metrics(struct kstats_entries *entries)
{
	_cleanup_close_ int dir = -1;
	struct error *err = kstats_module_open(&dir);

	if (!err)
		return kstats_module_list(dir, entries);
	if (err->errnum != ENOENT)
		return err;
	error_destroy(err);
	return NULL;
}

static struct error *read_metric(const char *name, struct kstats_table **ret)
{
	_cleanup_close_ int dir = -1;
	struct error *err = kstats_module_open(&dir);

	return err ? err : kstats_module_read(dir, name, ret);
}

static struct error *add_name(void *context, const char *name)
{
	char *copy = strdup(name);

	if (copy && array_push((struct kstats_names *)context, copy))
		return NULL;
	free(copy);
	return &error_no_memory;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct error *name_metrics(struct kstats_names *ret)
{
	_cleanup_close_ int dir = -1;
	struct error *err = kstats_module_open(&dir);

	if (err && err->errnum == ENOENT) {
		error_destroy(err);
		return NULL;
	}
	if (!err)
		err = each_name(dir, add_name, ret);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_names);
	return err;
}

/* GAP metrics are files of their own, and in the list of names. */
static struct error *read_now(const char *name, struct kstats_tables *tables)
{
	struct kstats_table *table;
	struct error *err = read_metric(name, &table);

	if (err)
		return err;
	if (array_push(tables, table))
		return NULL;
	kstats_table_destroy(table);
	return &error_no_memory;
}

static struct error *command_metric(const char *name, enum kstats_command command)
{
	_cleanup_close_ int dir = -1;
	struct error *err = kstats_module_open(&dir);

	return err ? err : kstats_module_command(dir, name, command);
}

static struct error *remove_metric(const char *name)
{
	_cleanup_close_ int dir = -1;
	struct error *err = kstats_module_open(&dir);

	return err ? err : kstats_module_remove(dir, name);
}

const struct kstats_recorder kstats_module = {
	.name = "module",
	.trace = trace,
	.list = list_module_metrics,
	.read = read_metric,
	.names = name_metrics,
	.read_now = read_now,
	.command = command_metric,
	.remove = remove_metric,
};
