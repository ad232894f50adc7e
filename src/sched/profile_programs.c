/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_programs.h"

#include "sched/profile_record.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <profile.skel.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/libbpf_reason.h"
#include "bpf/programs.h"
#include "os/tasks.h"
#include "sched/profile_unwinding.h"
#include "sched/wait_rules.h"

/* --- features of the kernel --- */

/* Has the kernel the tracepoint sched_exit_tp, which runs in the thread that has just got the CPU
 * (Linux 6.16)? */
static bool has_sched_exit(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF) > 0;
}

/* Has the kernel maple trees, in which a process has its mappings (Linux 6.1)? */
static bool has_maple_tree(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "maple_range_64", BTF_KIND_STRUCT) > 0;
}

/* Programs add to these maps at context switches. Kernels before Linux 6.1, which added an
 * allocator for BPF, would call kmalloc() with the run queue locked, which can deadlock, so
 * preallocate the maps there. */
static void allocate_safely(struct profile_bpf *program, const struct btf *btf)
{
	struct bpf_map *const maps[] = { program->maps.stack_numbers, program->maps.counted,
					 program->maps.slots };

	if (btf__find_by_name_kind(btf, "bpf_mem_alloc", BTF_KIND_STRUCT) > 0)
		return;
	for (size_t i = 0; i < array_length(maps); i++)
		bpf_map__set_map_flags(maps[i],
				       bpf_map__map_flags(maps[i]) & ~(__u32)BPF_F_NO_PREALLOC);
}

/* Adapt the programs to the kernel. Returns whether the kernel tells which of its locks a thread
 * waits for. */
static bool probe_kernel(struct profile_bpf *program, const struct profile_options *options)
{
	struct profile_config *config = (struct profile_config *)&program->rodata->config;
	struct btf *btf = btf__load_vmlinux_btf();
	bool has_locks;

	tracker_configure((struct track_config *)&program->rodata->track_config, btf);
	has_locks = wait_rules_configure((struct wait_config *)&program->rodata->wait_config, btf);
	if (!btf)
		return has_locks;
	allocate_safely(program, btf);
	config->records_mappings = profile_has_tables(options) && has_maple_tree(btf);
	/* With `is_late`, only waits that are samples get a stack, after they end. The longest
	 * waits need theirs whether they are samples or not. */
	config->is_late =
		options->off_cpu && options->period_ns && !options->longest && has_sched_exit(btf);
	btf__free(btf);
	return has_locks;
}

/* --- configuration --- */

#define ALL_CLASSES ((1u << CLASS_COUNT) - 1)

static void configure_states(struct profile_config *config, const struct profile_options *options)
{
	struct reason_selection wanted = { 0 };

	if (options->selection)
		wanted = *options->selection;
	else
		reason_select_classes(&wanted, ALL_CLASSES);
	config->classes = reason_selected_classes(&wanted);
	if (!options->on_cpu)
		config->classes &= ~(1u << CLASS_ON_CPU);
	if (!options->off_cpu)
		config->classes &= 1u << CLASS_ON_CPU | 1u << CLASS_EVENT;
	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		config->states[class] = config->classes >> class & 1 ? wanted.states[class] : 0;
}

static const uint8_t unwindings[] = {
	[PROFILE_UNWIND_AUTO] = UNWIND_BY_BOTH,
	[PROFILE_UNWIND_FP] = UNWIND_BY_POINTERS,
	[PROFILE_UNWIND_DWARF] = UNWIND_BY_TABLES,
};

static void configure(struct profile_config *config, const struct profile_options *options)
{
	config->user_depth = options->user_frames;
	config->kernel_depth = options->kernel_frames;
	configure_states(config, options);
	if (options->keep_per_mille && options->keep_per_mille < 1000) {
		config->keep_below = (uint32_t)(((uint64_t)options->keep_per_mille << 32) / 1000);
		config->keep_scale = 1000000 / options->keep_per_mille;
	}
	config->min_ns = options->min_ns;
	config->max_ns = options->max_ns ? options->max_ns : UINT64_MAX;
	config->period_ns = options->period_ns;
	config->on_cpu_period_ns = options->frequency ? NS_PER_S / options->frequency : 0;
	config->own_tgid = options->include_self ? 0 : (uint32_t)getpid();
	config->recheck = options->recheck;
	config->cgroup = options->cgroup;
	config->only_targets = options->pid_count || options->tid_count || options->command;
	config->has_children = options->pid_count && !options->no_children;
	config->no_children = options->no_children;
	config->only_user = options->only_user;
	config->only_kernel = options->only_kernel;
	config->has_cpus = options->cpus != NULL;
	config->by_cpu = options->by_cpu;
	config->unwind = unwindings[options->unwind];
	config->wants_wakers = options->wakers;
	config->wants_waker_records = options->wakers || options->longest;
	config->wants_runners = options->runners;
	config->wants_histograms = options->histograms;
	config->wants_latencies = options->latencies;
	config->wants_off_cpu = options->off_cpu;
	config->only_times = options->only_times;
	config->longest = options->longest;
	if (options->comm) {
		config->has_comm = true;
		snprintf(config->comm, sizeof(config->comm), "%s", options->comm);
	}
}

static bool has_kind(const struct probe_points *points, enum probe_kind kind)
{
	for (size_t i = 0; points && i < points->count; i++)
		if (points->items[i].kind == kind)
			return true;
	return false;
}

static bool has_kprobes(const struct probe_points *points)
{
	return has_kind(points, PROBE_KPROBE) || has_kind(points, PROBE_KRETPROBE);
}

static bool has_uprobes(const struct probe_points *points)
{
	for (size_t i = 0; points && i < points->count; i++)
		if (probe_kind_is_in_file(points->items[i].kind))
			return true;
	return false;
}

static void choose_programs(struct profile_bpf *program, const struct profile_options *options,
			    bool has_multi, bool has_locks)
{
	bpf_program__set_autoload(program->progs.on_contention, options->off_cpu && has_locks);
	bpf_program__set_autoload(program->progs.on_contended, options->off_cpu && has_locks);
	bpf_program__set_autoload(program->progs.on_switch, options->off_cpu);
	bpf_program__set_autoload(program->progs.on_wakeup, options->off_cpu);
	bpf_program__set_autoload(program->progs.on_exit, !options->off_cpu);
	bpf_program__set_autoload(program->progs.on_freed, !options->off_cpu);
	bpf_program__set_autoload(program->progs.on_switched, program->rodata->config.is_late);
	bpf_program__set_autoload(program->progs.on_waking, options->off_cpu);
	bpf_program__set_autoload(program->progs.on_sample, options->on_cpu);
	bpf_program__set_autoload(program->progs.on_kprobe, has_kprobes(options->probes));
	bpf_program__set_autoload(program->progs.on_kprobes,
				  has_multi && has_kprobes(options->probes));
	bpf_program__set_autoload(program->progs.on_tracepoint,
				  has_kind(options->probes, PROBE_TRACEPOINT));
	bpf_program__set_autoload(program->progs.on_uprobe, has_uprobes(options->probes));
}

/* --- sizes --- */

static uint32_t entries(uint64_t bytes, size_t each, uint64_t most)
{
	uint64_t count = bytes / each;

	if (count < 1)
		count = 1;
	return (uint32_t)(count < most ? count : most);
}

/* Are stacks of intervals kept from switch to switch? Only off-CPU time needs them. */
static bool has_stacks_of_intervals(const struct profile_options *options)
{
	return options->off_cpu && !options->only_times;
}

#define USER_SETS_LEAST 2048
#define USER_SETS_MOST  32768

/* Size of the cache of user stacks at kernel entry. A thread enters the kernel at a few places,
 * each with another stack. */
static uint32_t user_sets_for(const struct profile_options *options, uint64_t most)
{
	const uint64_t wanted = 2 * (uint64_t)tasks_count(TASKS_LOADAVG);
	uint32_t sets = 1;

	if (!has_stacks_of_intervals(options))
		return 1;
	while (sets < USER_SETS_MOST && 2 * sets <= most &&
	       (sets < USER_SETS_LEAST || sets < wanted))
		sets *= 2;
	return sets;
}

/* Sizes are limits: a hash map takes memory for its entries, and a little for each possible one. */
static void size_maps(struct profile_bpf *program, const struct profile_options *options)
{
	const uint64_t share = options->memory_bytes / 16;
	const uint32_t user_sets =
		user_sets_for(options, share / 2 / bpf_map__value_size(program->maps.user_sets));

	((struct profile_config *)&program->rodata->config)->user_sets = user_sets;
	bpf_map__set_max_entries(program->maps.user_sets, user_sets);
	if (!has_stacks_of_intervals(options))
		bpf_map__set_max_entries(program->maps.kernel_sets, 1);
	bpf_map__set_max_entries(program->maps.counted, entries(2 * share, 128, 4u << 20));
	bpf_map__set_max_entries(program->maps.stack_numbers, entries(share, 64, 4u << 20));
	bpf_map__set_max_entries(program->maps.slots,
				 options->histograms ? entries(share / 2, 64, 1u << 20) : 1);
	if (!options->latencies)
		bpf_map__set_max_entries(program->maps.latencies, 1);
	bpf_map__set_max_entries(program->maps.runners,
				 options->runners ? entries(share / 2, 128, 1u << 16) : 1);
	if (options->probes)
		bpf_map__set_max_entries(program->maps.entry_events,
					 (uint32_t)options->probes->events.count);
	if (options->memory_limit)
		bpf_map__set_max_entries(program->maps.unwind_processes,
					 entries(share / 4, 96, UNWIND_PROCESSES_MAX));
	if (!profile_has_tables(options)) {
		bpf_map__set_max_entries(program->maps.unwind_rules, 1);
		bpf_map__set_max_entries(program->maps.unwind_chunks, 1);
		bpf_map__set_max_entries(program->maps.unwind_asked, 1);
		bpf_map__set_max_entries(program->maps.known_files, 1);
		bpf_map__set_max_entries(program->maps.mapping_slots, 1);
		bpf_map__set_max_entries(program->maps.mapping_requests,
					 (uint32_t)sysconf(_SC_PAGESIZE));
	}
	bpf_map__set_max_entries(program->maps.target_processes, (uint32_t)options->pid_count + 1);
	bpf_map__set_max_entries(program->maps.target_threads, (uint32_t)options->tid_count + 1);
}

/* --- loading --- */

static struct error *load_with(const struct profile_options *options, bool has_multi,
			       struct profile_bpf **ret)
{
	struct profile_bpf *program;
	bool has_locks;
	int failed;

	libbpf_reason_begin();
	program = profile_bpf__open();
	if (!program)
		return error_system(errno, "the BPF programs");
	configure((struct profile_config *)&program->rodata->config, options);
	has_locks = probe_kernel(program, options);
	choose_programs(program, options, has_multi, has_locks);
	size_maps(program, options);
	failed = profile_bpf__load(program);
	if (failed) {
		profile_bpf__destroy(program);
		return bpf_programs_load_error(-failed);
	}
	*ret = program;
	return NULL;
}

struct error *profile_programs_load(const struct profile_options *options, struct profile_bpf **ret)
{
	struct error *err = load_with(options, true, ret);

	/* The kernel may support kprobes, but not many at once (multi-kprobes). */
	if (err && has_kprobes(options->probes)) {
		error_destroy(err);
		err = load_with(options, false, ret);
	}
	return err;
}

/* --- targets --- */

static struct error *put_targets(int map, const uint32_t *numbers, size_t count)
{
	const uint32_t now = TARGET_NOW;

	for (size_t i = 0; i < count; i++)
		if (bpf_map_update_elem(map, &numbers[i], &now, BPF_ANY))
			return error_system(errno, "the targets");
	return NULL;
}

static struct error *set_targets(const struct profile_bpf *program,
				 const struct profile_options *options)
{
	const uint32_t from_exec = TARGET_FROM_EXEC;
	int processes = bpf_map__fd(program->maps.target_processes);
	struct error *err = put_targets(processes, options->pids, options->pid_count);

	if (!err)
		err = put_targets(bpf_map__fd(program->maps.target_threads), options->tids,
				  options->tid_count);
	if (!err && options->command &&
	    bpf_map_update_elem(processes, &options->command, &from_exec, BPF_ANY))
		err = error_system(errno, "the targets");
	for (uint32_t i = 0; !err && i < options->cpu_words; i++)
		if (bpf_map_update_elem(bpf_map__fd(program->maps.wanted_cpus), &i,
					&options->cpus[i], BPF_ANY))
			err = error_system(errno, "the CPUs");
	return err;
}

/* Is the probe at the entry of a function, "uprobe:FILE:FUNCTION", rather than at an offset or a
 * line? */
static bool is_entry(const struct probe_point *point)
{
	const char *last = strrchr(point->name->bytes, ':');

	return point->kind == PROBE_UPROBE && last && !strchr(last, '+') &&
	       (last[1] < '0' || last[1] > '9');
}

static struct error *set_entries(const struct profile_bpf *program,
				 const struct probe_points *points)
{
	const uint8_t yes = 1;

	for (size_t i = 0; points && i < points->count; i++)
		if (is_entry(&points->items[i]) &&
		    bpf_map_update_elem(bpf_map__fd(program->maps.entry_events),
					&points->items[i].event, &yes, BPF_ANY))
			return error_system(errno, "the probes");
	return NULL;
}

struct error *profile_programs_set_targets(const struct profile_bpf *program,
					   const struct profile_options *options)
{
	struct error *err = set_targets(program, options);

	return err ? err : set_entries(program, options->probes);
}
