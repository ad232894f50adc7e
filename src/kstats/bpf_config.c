/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_config.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/birth.h"
#include "os/cgroup.h"
#include "os/cgroup_path.h"
#include "os/cgroup_tree.h"
#include "os/cpulist.h"
#include "os/tasks.h"

_Static_assert(KSTATS_LOST_COUNT > KSTATS_LOST_EARLIER, "each loss has an element");
_Static_assert(KSTATS_COOKIE_RESTART == PROBE_EVENT_RESTART,
	       "programs and their loader use the same numbers");
_Static_assert(KSTATS_TICK_NS == NS_PER_S / BIRTH_TICKS_PER_S, "programs and /proc mean the same");

/* --- filters --- */

/* Find a cgroup by its path in the file system, or relative to the mount point. */
static struct error *find_cgroup(const char *path, __u64 *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *below = NULL;
	struct cgroup_tree tree;
	struct text name;
	uint64_t id;
	struct error *err;
	bool is_there;

	if (proc < 0)
		return error_system(errno, "/proc");
	err = cgroup_tree_open(proc, &tree);
	if (err)
		return err;
	name = cgroup_of_directory(text_of(path), tree.point);
	below = strndup(name.bytes, name.length);
	is_there = below && cgroup_id(tree.dir, below, &id);
	cgroup_tree_close(&tree);
	if (!is_there)
		return error_coded(ENOENT, "no cgroup %s (version 2)", path);
	*ret = id;
	return NULL;
}

/* An impossible CPU is an error: otherwise the metric would silently stay empty. */
static struct error *no_such_cpu(uint32_t cpu, uint32_t count)
{
	return count == 1
		       ? error_coded(EINVAL, "no CPU %u: this host has CPU 0", cpu)
		       : error_coded(EINVAL, "no CPU %u: this host has CPUs 0-%u", cpu, count - 1);
}

static struct error *take_cpus(const char *list, struct kstats_config *ret)
{
	const uint32_t possible = cpus_possible();
	const uint32_t count = possible && possible < KSTATS_CPUS_MAX ? possible : KSTATS_CPUS_MAX;
	struct cpus cpus = { 0 };
	struct error *err = NULL;

	if (!cpulist_parse(text_of(list), &cpus) || !cpus.count)
		err = error_coded(EINVAL, "invalid CPU list '%s'", list);
	/* CPU numbers ascend. */
	else if (cpus.items[cpus.count - 1] >= count)
		err = no_such_cpu(cpus.items[cpus.count - 1], count);
	for (size_t i = 0; !err && i < cpus.count; i++)
		ret->cpus[cpus.items[i] / 64] |= 1ull << cpus.items[i] % 64;
	array_deinit(&cpus);
	ret->has_cpus = true;
	return err;
}

static __u64 find_boot_offset(void)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file_buffer buffer = { 0 };
	int64_t offset = proc < 0 ? 0 : boottime_offset(proc, &buffer);

	file_buffer_deinit(&buffer);
	return (__u64)offset;
}

static struct error *take_filters(const struct kstats_spec *spec, struct kstats_config *ret)
{
	struct error *err = NULL;

	ret->tgid = spec->tgid;
	ret->tgid_born = spec->tgid_born;
	ret->boot_offset = spec->tgid_born ? find_boot_offset() : 0;
	if (spec->comm && strlen(spec->comm) >= sizeof(ret->comm))
		return error_coded(EINVAL, "a thread name has at most %zu bytes",
				   sizeof(ret->comm) - 1);
	if (spec->comm) {
		ret->has_comm = true;
		/* The kernel pads the name with zeros, too (strscpy_pad()). */
		memcpy(ret->comm, spec->comm, strlen(spec->comm));
	}
	if (spec->cpus)
		err = take_cpus(spec->cpus, ret);
	if (!err && spec->cgroup)
		err = find_cgroup(spec->cgroup, &ret->cgroup);
	ret->has_filter = ret->has_cpus || ret->has_comm || ret->tgid || ret->cgroup;
	return err;
}

/* --- and back --- */

static char *key_text(const struct kstats_config *config)
{
	/* For a switch, this argument replaces the requested one. */
	if (config->key == KSTATS_KEY_ARGUMENT)
		return config->end.argument == config->start.argument
			       ? text_print("arg%u", config->start.argument)
			       : text_print("arg%u,arg%u", config->start.argument,
					    config->end.argument);
	return strdup(
		kstats_keys[config->key == KSTATS_KEY_CPU ? KSTATS_KEY_CPU : KSTATS_KEY_TASK].name);
}

static char *pid_text(const struct kstats_config *config)
{
	struct birth birth;
	const bool is_there = birth_of(config->tgid, &birth) &&
			      (!config->tgid_born || birth.ticks == config->tgid_born);

	return text_print(is_there ? "%u" : "%u (ended)", config->tgid);
}

/* The cgroup's current name. */
static char *cgroup_text(uint64_t id)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_tree tree = { .dir = -1 };
	char path[PATH_MAX];
	bool is_there;

	if (proc >= 0)
		error_destroy(cgroup_tree_open(proc, &tree));
	is_there = cgroup_path(tree.dir, id, path, sizeof(path));
	if (tree.dir >= 0)
		cgroup_tree_close(&tree);
	return is_there ? strdup(path) : text_print("%" PRIu64 " (removed)", id);
}

static char *cpus_text(const struct kstats_config *config)
{
	struct cpus cpus = { 0 };
	bool has_room = true;
	char *text;

	for (uint32_t cpu = 0; has_room && cpu < KSTATS_CPUS_MAX; cpu++)
		if (config->cpus[cpu / 64] >> cpu % 64 & 1)
			has_room = array_push(&cpus, cpu);
	text = has_room ? cpulist_text(&cpus) : NULL;
	array_deinit(&cpus);
	return text;
}

struct error *kstats_config_scope(const struct kstats_config *config, struct kstats_scope *ret)
{
	const bool is_asked[KSTATS_FILTER_COUNT] = {
		[KSTATS_FILTER_PID] = config->tgid,
		[KSTATS_FILTER_CGROUP] = config->cgroup,
		[KSTATS_FILTER_COMM] = config->has_comm,
		[KSTATS_FILTER_CPUS] = config->has_cpus,
	};

	ret->key = key_text(config);
	if (config->tgid)
		ret->only[KSTATS_FILTER_PID] = pid_text(config);
	if (config->cgroup)
		ret->only[KSTATS_FILTER_CGROUP] = cgroup_text(config->cgroup);
	if (config->has_comm)
		ret->only[KSTATS_FILTER_COMM] = strndup(config->comm, sizeof(config->comm));
	if (config->has_cpus)
		ret->only[KSTATS_FILTER_CPUS] = cpus_text(config);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		if (is_asked[i] && !ret->only[i])
			return &error_no_memory;
	return ret->key ? NULL : &error_no_memory;
}

/* --- room --- */

#define SETS_BITS_MIN       8
#define SETS_BITS_ARGUMENT  12
#define SETS_BITS_GOROUTINE 14
#define SETS_BITS_MAX       18

/* All threads may be in a call at once, and their number may grow. The number of goroutines is
 * unknown: this is enough for 65536, in 1 MiB. */
static __u32 set_bits(const struct kstats_config *config)
{
	__u32 bits = config->is_goroutine                 ? SETS_BITS_GOROUTINE
		     : config->key == KSTATS_KEY_ARGUMENT ? SETS_BITS_ARGUMENT
							  : SETS_BITS_MIN;
	const __u32 threads = tasks_count(TASKS_LOADAVG);

	while (bits < SETS_BITS_MAX && 1u << bits < threads)
		bits++;
	return bits;
}

/* --- what is returned --- */

/* The upper half of a register is undefined for an int. */
static __u32 return_bits(const struct btf *btf, const struct kstats_location *end)
{
	int id = btf ? btf__find_by_name_kind(btf, end->name, BTF_KIND_FUNC) : 0;
	const struct btf_type *type =
		id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type) : NULL;
	__s64 bytes = type && btf_is_func_proto(type) ? btf__resolve_size(btf, type->type) : 8;

	return bytes == 4 ? 32 : 64;
}

static struct error *take_grouping(const struct kstats_spec *spec,
				   const struct kstats_locations *places, const struct btf *btf,
				   struct kstats_config *ret)
{
	ret->by = spec->by;
	ret->group_room = spec->by == KSTATS_BY_CPU ? 0 : KSTATS_GROUPS_MAX;
	if (spec->by != KSTATS_BY_RETVAL)
		return NULL;
	if (!places->end.is_return)
		return error_coded(EINVAL, "no value is returned at %s", spec->end);
	ret->end.return_bits =
		places->end.kind == PLACE_FUNCTION ? return_bits(btf, &places->end) : 64;
	return NULL;
}

/* --- all of it --- */

static void copy_texts(const struct kstats_spec *spec, struct kstats_config *ret)
{
	snprintf(ret->name, sizeof(ret->name), "%s", spec->name);
	snprintf(ret->start_text, sizeof(ret->start_text), "%s", spec->start);
	snprintf(ret->end_text, sizeof(ret->end_text), "%s", spec->end ? spec->end : "");
}

/* Types of the kernel take megabytes, so load them on demand, and once. */
static struct btf *types_of_kernel(const struct kstats_spec *spec)
{
	return spec->key == KSTATS_KEY_ARGUMENT || spec->by == KSTATS_BY_RETVAL
		       ? btf__load_vmlinux_btf()
		       : NULL;
}

struct error *kstats_config_make(const struct kstats_spec *spec,
				 const struct kstats_locations *places, struct kstats_config *ret)
{
	struct btf *btf = types_of_kernel(spec);
	struct error *err;

	ret->magic = KSTATS_MAGIC;
	ret->made_ns = clock_ns(CLOCK_REALTIME);
	ret->frac_bits = spec->frac_bits;
	ret->slots = BUCKET_SLOTS(spec->frac_bits);
	ret->key = spec->key;
	ret->start.syscall = ret->end.syscall = -1;
	ret->has_gaps =
		places->is_alone && spec->key != KSTATS_KEY_ARGUMENT && !places->is_goroutine;
	ret->is_goroutine = places->is_goroutine;
	ret->is_user = places->start.kind == PLACE_PROGRAM;
	ret->is_preempted = ret->is_user || places->end.kind == PLACE_PROGRAM;
	copy_texts(spec, ret);
	err = take_grouping(spec, places, btf, ret);
	if (!err)
		err = take_filters(spec, ret);
	if (!err && spec->key == KSTATS_KEY_ARGUMENT)
		err = kstats_locations_key(spec, places, btf, &ret->start, &ret->end);
	btf__free(btf);
	/* When an argument was made is unknown, unless it is a thread. */
	ret->has_ends = spec->key != KSTATS_KEY_ARGUMENT || (ret->end.is_task && !ret->end.forget);
	ret->set_bits = set_bits(ret);
	return err;
}
