/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_metric.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/programs.h"
#include "kstats/bpf_config.h"
#include "kstats/bpf_pins.h"
#include "os/boot_id.h"
#include "os/cgroup_path.h"
#include "os/cgroup_tree.h"
#include "os/cpulist.h"

#define ROUND_UP(bytes, to) (((bytes) + (to)-1) / (to) * (to))

/* The name of the row for all groups beyond the limit. */
#define KSTATS_REST "others"

/* --- opening --- */

static struct error *metric_error(const struct kstats_metric *metric, int failed)
{
	if (failed == EACCES || failed == EPERM)
		return error_coded(failed, "permission denied: metric %s belongs to root",
				   metric->name);
	if (failed == ENOENT)
		return error_coded(failed, "no metric %s", metric->name);
	return error_system(failed, "the metric %s", metric->name);
}

static int lock(struct kstats_metric *metric, const char *pins, bool may_wait)
{
	int failed = kstats_pins_open(pins, &metric->directory);

	if (failed)
		return failed;
	while (flock(metric->directory, may_wait ? LOCK_EX : LOCK_EX | LOCK_NB))
		if (errno != EINTR)
			return errno;
	return 0;
}

/*
 * The form in which this version creates a map. Reading a map with larger values would overflow the
 * buffer, so of a map that another version has created only the name is used.
 */
struct form {
	const char *name;
	__u32 type, key_bytes, value_bytes, count;
};

static int get_map(const struct kstats_metric *metric, const struct form *form, int *ret)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = -1;
	int failed = kstats_pins_get(metric->directory, form->name, &fd);

	if (failed)
		return failed;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return errno == EINVAL ? EPROTO : errno;
	if (info.type != form->type || info.key_size != form->key_bytes ||
	    info.value_size != form->value_bytes || info.max_entries != form->count)
		return EPROTO;
	*ret = take_fd(fd);
	return 0;
}

static int map_control(struct kstats_metric *metric)
{
	_cleanup_close_ int fd = -1;
	int failed = get_map(metric,
			     &(struct form){ "control", BPF_MAP_TYPE_ARRAY, sizeof(__u32),
					     sizeof(*metric->control), 1 },
			     &fd);
	void *memory;

	if (failed)
		return failed;
	memory = mmap(NULL, sizeof(*metric->control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return errno;
	metric->control = memory;
	return 0;
}

static bool is_our_config(const struct kstats_config *config)
{
	return config->magic == KSTATS_MAGIC && config->frac_bits <= BUCKET_FRAC_BITS_MAX &&
	       config->slots == BUCKET_SLOTS(config->frac_bits) && config->by < KSTATS_BY_COUNT &&
	       config->group_room <= KSTATS_GROUPS_MAX;
}

static int read_config(struct kstats_metric *metric)
{
	_cleanup_close_ int fd = -1;
	int failed = get_map(metric,
			     &(struct form){ "config", BPF_MAP_TYPE_ARRAY, sizeof(__u32),
					     sizeof(metric->config), 1 },
			     &fd);
	__u32 zero = 0;

	if (failed)
		return failed;
	if (bpf_map_lookup_elem(fd, &zero, &metric->config))
		return errno;
	return is_our_config(&metric->config) ? 0 : EPROTO;
}

static int get_maps(struct kstats_metric *metric)
{
	const struct kstats_config *config = &metric->config;
	const __u32 histograms = kstats_config_histograms(config);
	const __u32 groups = config->group_room ? config->group_room * histograms : 1;
	const struct form cells = { "cells", BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(__u32),
				    (__u32)kstats_config_cell_bytes(config), histograms },
			  values = { "groups", BPF_MAP_TYPE_ARRAY, sizeof(__u32),
				     (__u32)kstats_config_group_bytes(config), groups },
			  numbers = { "group_numbers", BPF_MAP_TYPE_HASH,
				      sizeof(struct kstats_group_key), sizeof(__u32), groups };
	int failed = get_map(metric, &cells, &metric->cells);

	if (!failed)
		failed = get_map(metric, &values, &metric->groups);
	return failed ? failed : get_map(metric, &numbers, &metric->group_numbers);
}

static int open_pins(struct kstats_metric *metric, const char *pins, bool may_wait)
{
	int failed = lock(metric, pins, may_wait);

	if (!failed)
		failed = read_config(metric);
	if (!failed && metric->which == KSTATS_GAPS && !metric->config.has_gaps)
		failed = ENOENT;
	if (!failed)
		failed = map_control(metric);
	return failed ? failed : get_maps(metric);
}

static struct error *check_name(const char *name)
{
	struct error *err = kstats_name_check(name);

	if (!err)
		return NULL;
	error_destroy(err);
	return error_coded(ENOENT, "no metric %.*s", KSTATS_NAME_MAX, name);
}

static struct error *empty_metric(struct kstats_metric *metric);

static struct error *open_metric(const char *name, bool may_wait, struct kstats_metric **ret)
{
	const bool is_gap = strncmp(name, KSTATS_GAP, strlen(KSTATS_GAP)) == 0;
	const char *pins = is_gap ? name + strlen(KSTATS_GAP) : name;
	_cleanup_(kstats_metric_close) struct kstats_metric *metric = NULL;
	struct error *err = check_name(pins);
	int failed;

	if (err)
		return err;
	metric = calloc(1, sizeof(*metric));
	if (!metric)
		return &error_no_memory;
	metric->directory = metric->cells = metric->groups = metric->group_numbers = -1;
	metric->which = is_gap ? KSTATS_GAPS : KSTATS_VALUES;
	metric->name = strdup(name);
	if (!metric->name)
		return &error_no_memory;
	failed = open_pins(metric, pins, may_wait);
	if (failed == EPROTO)
		return error_coded(failed, "metric %s was created by another version of ctprof",
				   name);
	if (failed)
		return metric_error(metric, failed);
	/* A command was killed while it emptied the metric. */
	if (metric->control->which[metric->which].is_held)
		err = empty_metric(metric);
	if (!err)
		*ret = take_ptr(metric);
	return err;
}

struct error *kstats_metric_open(const char *name, struct kstats_metric **ret)
{
	return open_metric(name, true, ret);
}

struct error *kstats_metric_open_now(const char *name, struct kstats_metric **ret)
{
	return open_metric(name, false, ret);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void kstats_metric_close(struct kstats_metric *metric)
{
	if (!metric)
		return;
	if (metric->control)
		munmap(metric->control, sizeof(*metric->control));
	close_fd(metric->cells);
	close_fd(metric->groups);
	close_fd(metric->group_numbers);
	close_fd(metric->directory);
	free(metric->name);
	free(metric);
}

/* --- what the kernel did not call --- */

#define LINK_PERF_EVENT                                                                         \
	7                /* BPF_LINK_TYPE_PERF_EVENT of <linux/bpf.h>, as newer kernels fill it \
			  */
#define PERF_KPROBE    3 /* BPF_PERF_EVENT_KPROBE, since Linux 6.6 */
#define PERF_KRETPROBE 4

struct link_info {
	__u32 type, id, program, pad;
	__u32 perf_type, perf_pad;
	__u64 function;
	__u32 name_length, offset;
	__u64 address, missed; /* missed: since Linux 6.7 */
	__u64 room[16];
};

/* Places that were reached while the program of that link ran on the same CPU. Of kprobes since
 * Linux 6.7, as above. */
static bool count_recursions(const struct kstats_metric *metric, unsigned link, uint64_t *ret)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = -1;
	char name[24];

	snprintf(name, sizeof(name), "prog%u", link);
	if (kstats_pins_get(metric->directory, name, &fd) ||
	    bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;
	*ret += info.recursion_misses;
	return true;
}

struct missed_calls {
	uint64_t missed, recursive;
	bool is_known; /* false: this kernel does not count some of them */
};

/* Sum over all probes of the metric. */
static struct missed_calls count_missed_calls(const struct kstats_metric *metric)
{
	const bool is_counted = metric->control->has_missed;
	struct missed_calls calls = { .is_known = true };

	for (unsigned i = 0;; i++) {
		struct link_info info = { 0 };
		__u32 size = sizeof(info);
		_cleanup_close_ int fd = -1;
		char name[24];
		int failed;

		snprintf(name, sizeof(name), "link%u", i);
		failed = kstats_pins_get(metric->directory, name, &fd);
		if (failed == ENOENT)
			break;
		if (failed || bpf_obj_get_info_by_fd(fd, &info, &size) ||
		    !count_recursions(metric, i, &calls.recursive))
			calls.is_known = false;
		if (failed)
			break;
		if (info.type != LINK_PERF_EVENT)
			continue;
		if (info.perf_type == PERF_KPROBE || info.perf_type == PERF_KRETPROBE) {
			calls.missed += info.missed;
			calls.is_known &= is_counted;
		} else if (!info.perf_type && !metric->config.is_preempted) {
			calls.is_known = false;
		}
	}
	return calls;
}

/* --- reading --- */

static bool has_counted(const struct kstats_pair *slots, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (slots[i].count)
			return true;
	return false;
}

static struct error *add_table_row(struct kstats_table *table, const struct kstats_metric *metric,
				   uint64_t id, uint64_t born, const char *label,
				   const struct kstats_pair *slots)
{
	struct kstats_row *row;
	struct error *err;

	if (!has_counted(slots, metric->config.slots))
		return NULL;
	err = kstats_table_row_born(table, id, born, label, &row);
	if (err)
		return err;
	for (unsigned i = 0; i < metric->config.slots; i++)
		row->slots[i] = (struct kstats_slot){ slots[i].count, slots[i].sum };
	return NULL;
}

/* Read the cells of all possible CPUs, which are adjacent. */
static struct error *read_cells(const struct kstats_metric *metric, size_t cpus, char **ret)
{
	const size_t bytes = kstats_config_cell_stride(&metric->config);
	_cleanup_free_ char *cells = calloc(cpus, bytes);
	const __u32 which = metric->which;

	if (!cells)
		return &error_no_memory;
	if (bpf_map_lookup_elem(metric->cells, &which, cells))
		return metric_error(metric, errno);
	*ret = take_ptr(cells);
	return NULL;
}

static struct error *add_cells(const struct kstats_metric *metric, struct kstats_table *table)
{
	const size_t bytes = kstats_config_cell_stride(&metric->config);
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	_cleanup_free_ char *cells = NULL;
	struct error *err = cpus_list_possible(&cpus);

	if (!err)
		err = read_cells(metric, cpus.count, &cells);
	if (!err)
		table->cpus = cpus.items[cpus.count - 1] + 1;
	for (size_t i = 0; !err && i < cpus.count; i++) {
		const struct kstats_cell *cell = (const struct kstats_cell *)(cells + bytes * i);

		for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
			table->losses[loss] += cell->lost[loss];
		table->earlier += cell->lost[KSTATS_LOST_EARLIER];
		err = add_table_row(table, metric, cpus.items[i], 0, NULL, cell->slots);
	}
	return err;
}

static uint64_t groups_in_use(const struct kstats_metric *metric)
{
	const uint64_t count = metric->control->which[metric->which].groups;

	return count < metric->config.group_room - 1 ? count : metric->config.group_room;
}

/* Groups in use, mapped: the kernel enters each page when it maps, and most are not in use. */
struct mapped_groups {
	void *memory; /* from a bound of pages on */
	size_t bytes, stride;
	char *first;
	uint64_t count;
};

static struct error *map_groups(const struct kstats_metric *metric, struct mapped_groups *ret)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t stride = ROUND_UP(kstats_config_group_bytes(&metric->config), 8);
	const size_t at = stride * metric->which * metric->config.group_room;
	struct mapped_groups groups = { .stride = stride, .count = groups_in_use(metric) };

	if (groups.count) {
		groups.bytes = ROUND_UP(at % page + stride * groups.count, page);
		groups.memory = mmap(NULL, groups.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				     metric->groups, (off_t)(at - at % page));
		if (groups.memory == MAP_FAILED)
			return metric_error(metric, errno);
		groups.first = (char *)groups.memory + at % page;
	}
	*ret = groups;
	return NULL;
}

static void unmap_groups(const struct mapped_groups *groups)
{
	if (groups->memory)
		munmap(groups->memory, groups->bytes);
}

static struct kstats_group *group_at(const struct mapped_groups *groups, uint64_t number)
{
	return (struct kstats_group *)(groups->first + groups->stride * number);
}

static const char *label_of(const struct kstats_metric *metric, const struct kstats_group *group,
			    int tree, char *room, size_t size)
{
	switch ((enum kstats_by)metric->config.by) {
	case KSTATS_BY_PROCESS:
	case KSTATS_BY_THREAD:
		snprintf(room, size, "%.*s", (int)sizeof(group->label), group->label);
		return *room ? room : NULL;
	case KSTATS_BY_CGROUP:
		return tree >= 0 && cgroup_path(tree, group->id, room, size) ? room : NULL;
	case KSTATS_BY_RETVAL:
		if ((int64_t)group->id >= 0)
			return NULL;
		snprintf(room, size, "%" PRId64, (int64_t)group->id);
		return room;
	case KSTATS_BY_CPU:
	case KSTATS_BY_COUNT:
		break;
	}
	return NULL;
}

static struct error *add_groups(const struct kstats_metric *metric, struct kstats_table *table)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_tree tree = { .dir = -1 };
	char label[PATH_MAX];
	struct mapped_groups groups;
	struct error *err = map_groups(metric, &groups);

	if (err)
		return err;
	if (proc >= 0 && metric->config.by == KSTATS_BY_CGROUP)
		error_destroy(cgroup_tree_open(proc, &tree));
	for (uint64_t i = 0; !err && i < groups.count; i++) {
		const struct kstats_group *group = group_at(&groups, i);
		const bool is_rest = i == metric->config.group_room - 1;

		err = add_table_row(
			table, metric, group->id, group->born,
			is_rest ? KSTATS_REST
				: label_of(metric, group, tree.dir, label, sizeof(label)),
			group->slots);
	}
	if (tree.dir >= 0)
		cgroup_tree_close(&tree);
	unmap_groups(&groups);
	return err;
}

static bool is_grouped(const struct kstats_metric *metric)
{
	return metric->config.by != KSTATS_BY_CPU &&
	       !(metric->config.by == KSTATS_BY_RETVAL && metric->which == KSTATS_GAPS);
}

static uint64_t growth(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void count_losses(const struct kstats_metric *metric, struct kstats_table *table)
{
	const struct kstats_switch *here = &metric->control->which[metric->which];
	struct missed_calls calls;

	/* A metric of the time between calls can lose only `full`. */
	table->losses_known = (1u << KSTATS_LOSS_COUNT) - 1;
	table->earlier_known = metric->config.has_ends;
	if (metric->which == KSTATS_GAPS)
		return;
	calls = count_missed_calls(metric);
	if (!calls.is_known)
		table->losses_known &= ~(1u << KSTATS_LOSS_missed | 1u << KSTATS_LOSS_recursive);
	/* The kernel leaves out what is nested too deeply, and counts it nowhere
	 * (MAX_URETPROBE_DEPTH). */
	if (metric->config.is_user && metric->config.has_frame)
		table->losses_known &= ~(1u << KSTATS_LOSS_recursive);
	table->losses[KSTATS_LOSS_missed] += growth(calls.missed, here->missed);
	table->losses[KSTATS_LOSS_recursive] += growth(calls.recursive, here->recursive);
}

static bool copy_string(const char *text, char **ret)
{
	*ret = *text ? strdup(text) : NULL;
	return *ret || !*text;
}

static struct error *describe_metric(const struct kstats_metric *metric, struct kstats_table *table)
{
	struct utsname host;

	if (uname(&host))
		host.nodename[0] = 0;
	if (!copy_string(metric->config.start_text, &table->start) ||
	    !copy_string(metric->config.end_text, &table->end) ||
	    !copy_string(metric->config.how, &table->how) ||
	    !copy_string(host.nodename, &table->host) || !copy_string("bpf", &table->recorder))
		return &error_no_memory;
	table->by = is_grouped(metric) ? (enum kstats_by)metric->config.by : KSTATS_BY_CPU;
	table->is_active = metric->control->which[metric->which].is_active;
	table->taken_ns = clock_ns(CLOCK_REALTIME);
	table->overhead_ns = metric->control->overhead_ns;
	kstats_table_recorded(table, &metric->control->which[metric->which].recorded);
	table->boot = boot_id();
	return kstats_config_scope(&metric->config, &table->scope);
}

struct error *kstats_metric_read(struct kstats_metric *metric, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	struct error *err =
		kstats_table_create(metric->name, metric->config.frac_bits, "ns", &table);

	if (!err)
		err = describe_metric(metric, table);
	if (!err)
		err = add_cells(metric, table);
	if (!err && is_grouped(metric))
		err = add_groups(metric, table);
	if (err)
		return err;
	count_losses(metric, table);
	*ret = take_ptr(table);
	return NULL;
}

/* --- commands --- */

static struct kstats_now now(void)
{
	return (struct kstats_now){ clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC) };
}

void kstats_control_begin(struct kstats_control *control, enum kstats_which which, bool is_active)
{
	kstats_control_set(control, which, is_active);
	kstats_recorded_begin(&control->which[which].recorded, is_active, now());
}

void kstats_control_set(struct kstats_control *control, enum kstats_which which, bool is_active)
{
	bool is_running = false;

	kstats_recorded_switch(&control->which[which].recorded, is_active, now());

	control->which[which].is_active = is_active;
	for (unsigned i = 0; i < KSTATS_WHICH_COUNT; i++)
		is_running |= control->which[i].is_active;
	/* Starts that came before it was stopped have no end that was seen. */
	if (is_running && !control->is_running)
		control->since = clock_ns(CLOCK_MONOTONIC);
	__atomic_store_n(&control->is_running, is_running, __ATOMIC_RELEASE);
}

static struct error *forget_groups(struct kstats_metric *metric)
{
	struct kstats_group_key key, next;
	struct mapped_groups groups;
	bool is_first = true;
	struct error *err = map_groups(metric, &groups);

	if (err)
		return err;
	for (uint64_t i = 0; i < groups.count; i++)
		memset(group_at(&groups, i), 0, kstats_config_group_bytes(&metric->config));
	unmap_groups(&groups);
	/* If a key was deleted meanwhile, the next one is the first key again. */
	while (!bpf_map_get_next_key(metric->group_numbers, is_first ? NULL : &key, &next)) {
		is_first = false;
		key = next;
		if (key.which != metric->which)
			continue;
		bpf_map_delete_elem(metric->group_numbers, &key);
		is_first = true;
	}
	metric->control->which[metric->which].groups = 0;
	return NULL;
}

/*
 * Values that are recorded meanwhile are dropped with the earlier ones: recording is off while the
 * metric is emptied, so no value is half cleared. Starts are kept, so intervals in progress are
 * counted at their end.
 */
static struct error *empty_metric(struct kstats_metric *metric)
{
	struct kstats_switch *here = &metric->control->which[metric->which];
	const size_t bytes = kstats_config_cell_stride(&metric->config);
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	_cleanup_free_ char *zeros = NULL;
	const __u32 which = metric->which;
	struct missed_calls calls;
	struct error *err = cpus_list_possible(&cpus);

	if (err)
		return err;
	zeros = calloc(cpus.count, bytes);
	if (!zeros)
		return &error_no_memory;
	__atomic_store_n(&here->is_held, 1, __ATOMIC_SEQ_CST);
	err = bpf_programs_wait();
	if (!err && bpf_map_update_elem(metric->cells, &which, zeros, BPF_ANY))
		err = metric_error(metric, errno);
	if (!err && is_grouped(metric))
		err = forget_groups(metric);
	if (err)
		return err;
	calls = count_missed_calls(metric);
	here->missed = calls.missed;
	here->recursive = calls.recursive;
	kstats_recorded_begin(&here->recorded, here->is_active, now());
	__atomic_store_n(&here->is_held, 0, __ATOMIC_RELEASE);
	return NULL;
}

struct error *kstats_metric_command(struct kstats_metric *metric, enum kstats_command command)
{
	switch (command) {
	case KSTATS_START:
		kstats_control_set(metric->control, metric->which, true);
		return NULL;
	case KSTATS_STOP:
		kstats_control_set(metric->control, metric->which, false);
		/* Wait, so that a following reading is final. */
		return bpf_programs_wait();
	case KSTATS_RESET:
		return empty_metric(metric);
	case KSTATS_COMMAND_COUNT:
		break;
	}
	return error_coded(EINVAL, "unknown command");
}
