/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "capture/session.h"
#include "os/counters.h"
#include "os/pairs.h"

/* Text of files goes into JSON and onto terminals. */
static const struct name *keep_text(struct capture *c, struct text text)
{
	text = text_trim(text);
	return text.length && utf8_is_valid(text) ? snapshot_name(c->snapshot, text) : NULL;
}

static const struct name *read_first_line(struct capture *c, int dir, const char *path)
{
	struct text bytes;

	return dir < 0 || file_read(dir, path, &c->buffer, &bytes) ? NULL : keep_text(c, bytes);
}

/*
 * arm64 prints the numbers of its identification register rather than names (c_show() in
 * arch/arm64/kernel/cpuinfo.c). They are kept as numbers: no table of names would stay complete.
 */
static void read_cpu_numbers(struct capture *c, struct host_context *host, struct text stanza)
{
	struct text implementer, part, variant, revision;
	char text[128];

	if (!pairs_find(stanza, ':', TEXT("CPU implementer"), &implementer) ||
	    !pairs_find(stanza, ':', TEXT("CPU part"), &part) ||
	    !pairs_find(stanza, ':', TEXT("CPU variant"), &variant) ||
	    !pairs_find(stanza, ':', TEXT("CPU revision"), &revision))
		return;
	if (!host->cpu_vendor) {
		snprintf(text, sizeof(text), "implementer %.*s", (int)implementer.length,
			 implementer.bytes);
		host->cpu_vendor = keep_text(c, text_of(text));
	}
	if (!host->cpu_model) {
		snprintf(text, sizeof(text), "part %.*s variant %.*s revision %.*s",
			 (int)part.length, part.bytes, (int)variant.length, variant.bytes,
			 (int)revision.length, revision.bytes);
		host->cpu_model = keep_text(c, text_of(text));
	}
}

/* The first stanza describes the first CPU. */
static void read_cpuinfo(struct capture *c, struct host_context *host)
{
	struct text bytes, stanza, key, value;
	const char *end;

	if (file_read(c->proc, "cpuinfo", &c->buffer, &bytes))
		return;
	end = memmem(bytes.bytes, bytes.length, "\n\n", 2);
	if (end)
		bytes.length = (size_t)(end - bytes.bytes);
	stanza = bytes;
	while (pairs_next(&bytes, ':', &key, &value)) {
		if (text_equal(key, TEXT("model name")))
			host->cpu_model = keep_text(c, value);
		else if (text_equal(key, TEXT("vendor_id")))
			host->cpu_vendor = keep_text(c, value);
	}
	read_cpu_numbers(c, host, stanza);
}

static void read_meminfo(struct capture *c, struct host_context *host)
{
	const struct {
		struct text key;
		struct reading *reading;
	} keys[] = {
		{ TEXT("MemTotal"), &host->total_memory_kib },
		{ TEXT("HugePages_Total"), &host->hugepages_total },
		{ TEXT("HugePages_Free"), &host->hugepages_free },
		{ TEXT("Hugepagesize"), &host->hugepages_size_kib },
	};
	struct text bytes, key, value;
	uint64_t number;

	if (file_read(c->proc, "meminfo", &c->buffer, &bytes))
		return;
	while (pairs_next(&bytes, ':', &key, &value))
		for (size_t i = 0; i < array_length(keys); i++)
			if (text_equal(key, keys[i].key) && pairs_kib(value, &number))
				*keys[i].reading = reading_of(number);
	c->counts.failed[FILE_HOST] += !host->total_memory_kib.measured;
}

/* Visit the names in a directory that start with `prefix`, in the order of the directory. */
static struct error *each_entry(int root, const char *path, const char *prefix,
				struct error *(*visit)(void *context, int dir, const char *name),
				void *context)
{
	int fd = root < 0 ? -1 : openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct error *err = NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	while (!err && (entry = readdir(dir)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			err = visit(context, dirfd(dir), entry->d_name);
	closedir(dir);
	return err;
}

static struct error *visit_tunable(void *context, int dir, const char *name)
{
	struct capture *c = context;
	const struct name *value;
	struct stat st;

	if (fstatat(dir, name, &st, 0) || !S_ISREG(st.st_mode))
		return NULL;
	value = read_first_line(c, dir, name);
	if (!value || !utf8_is_valid(text_of(name)))
		return NULL;
	return label_pairs_add(c->snapshot, &c->snapshot->host->sched_tunables, text_of(name),
			       name_text(value))
		       ? NULL
		       : &error_no_memory;
}

/* Nodes that have CPUs: those of memory alone are not counted. */
static struct error *visit_node(void *context, int dir, const char *name)
{
	struct capture *c = context;
	struct text bytes;
	char path[300];

	snprintf(path, sizeof(path), "%s/cpulist", name);
	if (!file_read(dir, path, &c->buffer, &bytes) && cpulist_parse(bytes, &c->taker.cpus) &&
	    c->taker.cpus.count)
		c->snapshot->host->numa_nodes.value++;
	return NULL;
}

static struct error *read_cpus(struct capture *c, struct host_context *host)
{
	struct cpus online = { 0 };
	struct error *err = NULL;
	struct text bytes;

	if (c->sys >= 0 && !file_read(c->sys, "devices/system/cpu/online", &c->buffer, &bytes)) {
		if (cpulist_parse(bytes, &online) && online.count)
			host->online_cpus = reading_of(online.count);
		else
			c->counts.failed[FILE_HOST]++;
	}
	for (size_t i = 0; i < online.count && !err; i++) {
		char path[80], cpu[16];
		const struct name *governor;

		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/cpufreq/scaling_governor",
			 online.items[i]);
		governor = read_first_line(c, c->sys, path);
		if (!governor)
			continue;
		snprintf(cpu, sizeof(cpu), "%u", online.items[i]);
		if (!label_pairs_add(c->snapshot, &host->cpufreq_governor, text_of(cpu),
				     name_text(governor)))
			err = &error_no_memory;
	}
	array_deinit(&online);
	return err;
}

static void read_kernel(struct capture *c, struct host_context *host)
{
	struct utsname uts;
	struct text bytes, value;
	uint64_t seconds;

	host->kernel_name = read_first_line(c, c->proc, "sys/kernel/ostype");
	host->kernel_release = read_first_line(c, c->proc, "sys/kernel/osrelease");
	host->arch = read_first_line(c, c->proc, "sys/kernel/arch"); /* since Linux 6.1 */
	if (!host->arch && c->ours && uname(&uts) == 0)
		host->arch = keep_text(c, text_of(uts.machine));
	host->kernel_cmdline = read_first_line(c, c->proc, "cmdline");
	host->boot_id = read_first_line(c, c->proc, "sys/kernel/random/boot_id");
	if (!file_read(c->proc, "stat", &c->buffer, &bytes)) {
		if (pairs_find(bytes, ' ', TEXT("btime"), &value) && text_u64(value, &seconds))
			host->boot_time_unix_s = reading_of(seconds);
		else
			c->counts.failed[FILE_HOST]++;
	}
	host->thp_enabled = read_first_line(c, c->sys, "kernel/mm/transparent_hugepage/enabled");
	host->thp_defrag = read_first_line(c, c->sys, "kernel/mm/transparent_hugepage/defrag");
}

static int by_key(const void *a, const void *b)
{
	return name_compare(((const struct label_pair *)a)->key,
			    ((const struct label_pair *)b)->key);
}

/* "350735.47 234388.90": up, and idle, in seconds (fs/proc/uptime.c). */
static void read_uptime(struct capture *c, struct host_context *host)
{
	struct text bytes, word;
	int failed = file_read(c->proc, "uptime", &c->buffer, &bytes);
	uint64_t ticks;

	if (failed && !capture_is_absent(failed))
		capture_count(c, FILE_HOST, failed);
	if (failed)
		return;
	if (text_word(&bytes, &word) && counters_hundredths(word, &ticks))
		host->uptime_clock_ticks = reading_of(ticks);
	else
		c->counts.failed[FILE_HOST]++;
}

void capture_timestamp(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;
	struct timespec now;
	long per_s;

	clock_gettime(CLOCK_REALTIME, &now);
	read_uptime(c, s->host);
	s->captured_at_unix_ns =
		reading_of((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	per_s = c->ours ? sysconf(_SC_CLK_TCK) : 0;
	if (per_s > 0)
		s->host->clock_ticks_per_s = reading_of((uint64_t)per_s);
}

struct error *capture_host(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;
	struct host_context *host = arena_alloc(&s->arena, sizeof(*host));
	struct error *err;

	if (!host)
		return &error_no_memory;
	s->host = host;
	read_cpuinfo(c, host);
	read_meminfo(c, host);
	read_kernel(c, host);
	err = read_cpus(c, host);
	if (!err)
		err = each_entry(c->proc, "sys/kernel", "sched_", visit_tunable, c);
	if (err)
		return err;
	if (host->sched_tunables.count)
		qsort(host->sched_tunables.items, host->sched_tunables.count,
		      sizeof(*host->sched_tunables.items), by_key);
	host->sched_tunables.measured = faccessat(c->proc, "sys/kernel", R_OK, 0) == 0;
	err = each_entry(c->sys, "devices/system/node", "node", visit_node, c);
	/* A kernel without NUMA is one node. */
	if (c->sys >= 0 && !host->numa_nodes.value)
		host->numa_nodes.value = 1;
	host->numa_nodes.measured = c->sys >= 0;
	return err;
}

static struct reading read_number(struct capture *c, int dir, const char *path)
{
	struct text bytes;
	uint64_t value;

	if (file_read(dir, path, &c->buffer, &bytes))
		return (struct reading){ 0 };
	if (text_u64(text_trim(bytes), &value))
		return reading_of(value);
	c->counts.failed[FILE_HOST]++;
	return (struct reading){ 0 };
}

struct error *capture_sched_ext(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;
	_cleanup_close_ int ext =
		c->sys < 0 ? -1
			   : openat(c->sys, "kernel/sched_ext", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (ext < 0)
		return NULL;
	s->sched_ext = arena_alloc(&s->arena, sizeof(*s->sched_ext));
	if (!s->sched_ext)
		return &error_no_memory;
	*s->sched_ext = (struct sched_ext){
		.state = read_first_line(c, ext, "state"),
		.switch_all = read_number(c, ext, "switch_all"),
		.nr_rejected = read_number(c, ext, "nr_rejected"),
		.hotplug_seq = read_number(c, ext, "hotplug_seq"),
		.enable_seq = read_number(c, ext, "enable_seq"),
	};
	return NULL;
}
