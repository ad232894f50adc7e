/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_session.h"

#include "sched/profile_record.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <profile.skel.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "bpf/libbpf_reason.h"
#include "bpf/programs.h"
#include "os/cgroup_tree.h"
#include "os/process_user.h"
#include "os/tasks.h"
#include "profile/kept.h"
#include "sched/profile_limit.h"
#include "sched/profile_unwinding.h"
#include "sched/tracer_frames.h"

/* --- features of the kernel --- */

/* A tracepoint in the thread that has just got the CPU (Linux 6.16). */
static bool has_sched_exit(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF) > 0;
}

/* The tree in which a process has its mappings (Linux 6.1). */
static bool has_maple_tree(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "maple_range_64", BTF_KIND_STRUCT) > 0;
}

/* Programs at switches add to these maps. Before Linux 6.1, which has an allocator for BPF, the
 * kernel would call kmalloc() under the lock of the run queue, which can deadlock: there all room
 * is allocated in advance. */
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

/* Returns whether the kernel tells which of its locks threads wait for. */
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
	/* Each of the longest blocks would need its stack, whether it is a sample or not. */
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

static void limit_maps(struct profile_options *options)
{
	const size_t most = profile_limit_maps(options->memory_limit);

	if (options->memory_limit && options->memory_bytes > most)
		options->memory_bytes = most;
}

static uint32_t entries(uint64_t bytes, size_t each, uint64_t most)
{
	uint64_t count = bytes / each;

	if (count < 1)
		count = 1;
	return (uint32_t)(count < most ? count : most);
}

/* Only stacks at switches and wake-ups are remembered. */
static bool has_stacks_of_intervals(const struct profile_options *options)
{
	return options->off_cpu && !options->only_times;
}

#define USER_SETS_LEAST 2048
#define USER_SETS_MOST  32768

/* Sets of the stacks by which user space is left: a thread leaves it in some places, each with a
 * stack of its own. */
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

/* Hashes take memory for what is in them, and a little for each that might be. */
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

/* --- targets --- */

static struct error *put_targets(int map, const uint32_t *numbers, size_t count)
{
	const uint32_t now = TARGET_NOW;

	for (size_t i = 0; i < count; i++)
		if (bpf_map_update_elem(map, &numbers[i], &now, BPF_ANY))
			return error_system(errno, "the targets");
	return NULL;
}

static struct error *set_targets(const struct profile_session *session)
{
	const struct profile_options *options = &session->options;
	const uint32_t from_exec = TARGET_FROM_EXEC;
	int processes = bpf_map__fd(session->program->maps.target_processes);
	struct error *err = put_targets(processes, options->pids, options->pid_count);

	if (!err)
		err = put_targets(bpf_map__fd(session->program->maps.target_threads), options->tids,
				  options->tid_count);
	if (!err && options->command &&
	    bpf_map_update_elem(processes, &options->command, &from_exec, BPF_ANY))
		err = error_system(errno, "the targets");
	for (uint32_t i = 0; !err && i < options->cpu_words; i++)
		if (bpf_map_update_elem(bpf_map__fd(session->program->maps.wanted_cpus), &i,
					&options->cpus[i], BPF_ANY))
			err = error_system(errno, "the CPUs");
	return err;
}

/* "uprobe:FILE:FUNCTION", and neither an offset nor a line. */
static bool is_entry(const struct probe_point *point)
{
	const char *last = strrchr(point->name->bytes, ':');

	return point->kind == PROBE_UPROBE && last && !strchr(last, '+') &&
	       (last[1] < '0' || last[1] > '9');
}

static struct error *set_entries(const struct profile_session *session)
{
	const struct probe_points *points = session->options.probes;
	const uint8_t yes = 1;

	for (size_t i = 0; points && i < points->count; i++)
		if (is_entry(&points->items[i]) &&
		    bpf_map_update_elem(bpf_map__fd(session->program->maps.entry_events),
					&points->items[i].event, &yes, BPF_ANY))
			return error_system(errno, "the probes");
	return NULL;
}

/* --- opening --- */

static struct error *load_with(struct profile_session *session, bool has_multi)
{
	bool has_locks;
	int failed;

	libbpf_reason_begin();
	session->program = profile_bpf__open();
	if (!session->program)
		return error_system(errno, "the BPF programs");
	configure((struct profile_config *)&session->program->rodata->config, &session->options);
	has_locks = probe_kernel(session->program, &session->options);
	choose_programs(session->program, &session->options, has_multi, has_locks);
	size_maps(session->program, &session->options);
	failed = profile_bpf__load(session->program);
	if (!failed)
		return NULL;
	profile_bpf__destroy(session->program);
	session->program = NULL;
	return bpf_programs_load_error(-failed);
}

/* What reading the symbols of the kernel takes, which comes later. */
#define SYMBOLS_BYTES (UINT64_C(6) << 20)

static struct error *load_profiler(struct profile_session *session)
{
	struct error *err = load_with(session, true);

	/* A kernel may have kprobes, and not many at once. */
	if (err && has_kprobes(session->options.probes)) {
		error_destroy(err);
		err = load_with(session, false);
	}
	if (!err)
		err = wait_rules_probe(bpf_program__fd(session->program->progs.probe_environment));
	if (err)
		return err;
	session->limit = (struct memory_limit){
		.bytes = session->options.memory_limit,
		.beside = profile_limit_kernel(session->program->obj) + SYMBOLS_BYTES,
	};
	err = profile_chunks_init(
		&session->chunks, &session->program->bss->state, &session->program->bss->track,
		bpf_map__fd(session->program->maps.records),
		bpf_map__fd(session->program->maps.stack_pool), session->options.stacks,
		session->options.memory_bytes, &session->limit);
	session->chunks.most_stacks = bpf_map__max_entries(session->program->maps.stack_numbers);
	return err;
}

static void open_cgroups(struct profile_session *session)
{
	struct cgroup_tree tree;
	struct error *err;
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	err = proc < 0 ? NULL : cgroup_tree_open(proc, &tree);
	if (proc < 0 || err) {
		error_destroy(err);
		return;
	}
	session->cgroups = take_fd(tree.dir);
	cgroup_tree_close(&tree);
}

static struct error *attach_probes(struct profile_session *session)
{
	const struct profile_bpf *program = session->program;
	struct probe_programs programs = {
		.kprobe_multi = program->progs.on_kprobes,
		.kprobe = program->progs.on_kprobe,
		.uprobe = program->progs.on_uprobe,
		.tracepoint = program->progs.on_tracepoint,
	};

	if (bpf_program__fd(programs.kprobe_multi) < 0)
		programs.kprobe_multi = NULL;
	return probe_attach(session->options.probes, &programs, &session->probes);
}

/* Open what needs CAP_PERFMON. Samples and hits of probes count for known threads only, and there
 * are none before profile_session_start(). */
static struct error *open_events(struct profile_session *session)
{
	struct error *err = NULL;

	if (session->options.on_cpu)
		err = sample_events_open(&session->samples, session->program->progs.on_sample,
					 session->options.frequency);
	if (!err && session->options.probes)
		err = attach_probes(session);
	return err;
}

/* Limits on how long hanging processes may delay one tick, which makes room for records, and all
 * ticks. */
static const struct guard_options guarded = {
	.subject_of = process_user_subject,
	.patience_ns = NS_PER_S / 2,
	.part = 5,
	.advance_ns = NS_PER_S,
	.kind = THREAD_WATCHER,
};

/* A build maps some thousand files a second, and we may not run for a while. */
#define RING_BYTES ((size_t)2 << 20)

static struct error *watch_images(struct profile_session *session)
{
	const uint64_t limit = session->options.memory_limit;
	struct process_watch_options watch = {
		.ring_bytes = RING_BYTES,
		.wake_bytes = profile_has_tables(&session->options) &&
			      !session->program->rodata->config.records_mappings,
	};

	struct error *err;

	if (limit) {
		watch.max_memory = profile_limit_images(limit);
		watch.ring_bytes = profile_limit_ring(limit, RING_BYTES);
	}
	watch.guard = session->guard = guard_create(&guarded);
	watch.kept = session->kept = kept_create();
	if (!session->guard || !session->kept)
		return &error_no_memory;
	err = guard_start(session->guard, "read the mappings of processes");
	return err ? err : process_watch_open(&watch, &session->images);
}

static struct error *open_profiler(struct profile_session *session)
{
	const struct profile_options *options = &session->options;
	struct error *err = load_profiler(session);

	if (!err)
		err = set_targets(session);
	if (!err)
		err = set_entries(session);
	if (!err && options->user_frames)
		err = watch_images(session);
	if (!err && profile_has_tables(options))
		err = profile_open_unwinder(session);
	if (!err)
		err = open_events(session);
	if (err)
		return err;
	session->first_stacks = (struct first_stacks){
		.chunks = &session->chunks,
		.unwinder = session->unwinder,
		.guard = session->guard,
		.only_tables = options->unwind == PROFILE_UNWIND_DWARF,
		.most_frames = options->user_frames,
	};
	open_cgroups(session);
	return NULL;
}

struct error *profile_session_open(const struct profile_options *options,
				   struct profile_session **ret)
{
	struct profile_session *session = calloc(1, sizeof(*session));
	struct error *err;

	if (!session)
		return &error_no_memory;
	session->options = *options;
	limit_maps(&session->options);
	session->cgroups = -1;
	program_cost_init(&session->cost, options->statistics);
	arena_init(&session->counted.arena, SIZE_MAX);
	names_init(&session->counted.keys, &session->counted.arena);
	err = open_profiler(session);
	if (err) {
		profile_session_close(session);
		return err;
	}
	*ret = session;
	return NULL;
}

void profile_session_close(struct profile_session *session)
{
	if (!session)
		return;
	probe_links_destroy(session->probes);
	sample_events_close(&session->samples);
	program_cost_deinit(&session->cost);
	unwinder_close(session->unwinder);
	process_watch_close(session->images);
	guard_destroy(session->guard);
	kept_release(session->kept);
	kallsyms_destroy(session->symbols);
	first_stacks_deinit(&session->first_stacks);
	deferred_stacks_close(&session->deferred_stacks);
	profile_chunks_deinit(&session->chunks);
	profile_bpf__destroy(session->program);
	if (session->cgroups >= 0)
		close(session->cgroups);
	word_map_deinit(&session->counted.places);
	array_deinit(&session->counted.entries);
	names_deinit(&session->counted.keys);
	arena_deinit(&session->counted.arena);
	word_map_deinit(&session->slots.places);
	array_deinit(&session->slots.values);
	word_map_deinit(&session->runners.places);
	array_deinit(&session->runners.values);
	quotas_deinit(&session->quotas);
	array_deinit(&session->totals);
	word_map_deinit(&session->epoch.moved);
	free(session);
}

/* --- running --- */

static struct error *attach_profiler(struct profile_session *session)
{
	struct profile_bpf *program = session->program;
#define PROGRAM(name)                                     \
	{                                                 \
		program->progs.name, &program->links.name \
	}
	const struct tracker_program programs[] = {
		PROGRAM(on_new_task),   PROGRAM(on_exec),      PROGRAM(on_rename),
		PROGRAM(on_exit),       PROGRAM(on_freed),     PROGRAM(on_waking),
		PROGRAM(on_contention), PROGRAM(on_contended), PROGRAM(on_wakeup),
		PROGRAM(on_switched),   PROGRAM(on_switch),    PROGRAM(scan_task),
	};
#undef PROGRAM

	return tracker_start(&session->chunks.tracker, programs, array_length(programs));
}

struct error *profile_session_start(struct profile_session *session)
{
	struct error *err = session->images ? process_watch_start(session->images) : NULL;

	if (!err && session->unwinder)
		err = profile_start_unwinder(session);
	if (err)
		return err;
	session->started_unix_ns = clock_ns(CLOCK_REALTIME);
	session->started = session->read_at = clock_ns(CLOCK_MONOTONIC);
	program_cost_begin(&session->cost, session->program->obj, session->started);
	profile_begin_quotas(session);
	err = attach_profiler(session);
	if (!err && session->options.off_cpu && session->options.user_frames)
		profile_take_all_first_stacks(session);
	return err ? err : profile_session_tick(session);
}

void profile_session_find_symbols(struct profile_session *session)
{
	if (session->symbols_read)
		return;
	session->symbols_read = clock_ns(CLOCK_MONOTONIC);
	/* Stacks of the kernel have no names then, which is not worth failing for. */
	error_destroy(kallsyms_read("/proc/kallsyms", &session->symbols));
	session->limit.beside -= SYMBOLS_BYTES;
}

/* Reading the symbols takes longer than all else of the start: a profile that ends before reads
 * them when it ends. */
#define SYMBOLS_AFTER_NS (NS_PER_S / 25)

/* From the first walk at each place, how many frames are ours: those need not be walked then. */
static void find_own_frames(struct profile_session *session)
{
	struct profile_state *state = &session->program->bss->state;

	if (clock_ns(CLOCK_MONOTONIC) < session->started + SYMBOLS_AFTER_NS)
		return;
	profile_session_find_symbols(session);
	for (size_t site = 0; site < STACK_SITES; site++)
		if (!state->own_frames[site] && state->first_walks[site][OWN_FRAMES_MAX - 1])
			state->own_frames[site] = (uint32_t)tracer_frames_always(
				session->symbols, state->first_walks[site], OWN_FRAMES_MAX);
}

/* Code of the kernel that tells what threads wait for. */
static void find_wait_code(struct profile_session *session)
{
	struct wait_state *state = &session->program->bss->wait_state;

	if (!session->symbols || !session->options.off_cpu)
		return;
	if (!session->has_looked_for_fifo)
		wait_rules_find_fifo(state, session->symbols);
	session->has_looked_for_fifo = true;
	if (!session->has_looked_for_swap)
		session->has_looked_for_swap =
			wait_rules_look_at_swap(state, session->symbols, &(bool){ false });
}

static struct error *tick(struct profile_session *session)
{
	find_own_frames(session);
	find_wait_code(session);
	if (session->images)
		process_watch_poll(session->images);
	if (session->unwinder)
		profile_tick_unwinder(session);
	program_cost_tick(&session->cost, session->program->obj, clock_ns(CLOCK_MONOTONIC));
	tracker_scan_again(&session->chunks.tracker);
	return profile_chunks_grow(&session->chunks);
}

struct error *profile_session_tick(struct profile_session *session)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct error *err = tick(session);

	session->tick_ns = clock_ns(CLOCK_MONOTONIC) - began;
	return err;
}

int profile_session_fd(const struct profile_session *session)
{
	return session->unwinder ? process_watch_fd(session->images) : -1;
}

#define TICK_NS         (NS_PER_S / 20)

#define GATHER_LEAST_NS (NS_PER_S / 10000)

/* How long a tick waits for more to do: so many times as long as it takes, and at most so long.
 * Where the kernel records what new programs have mapped, only files that are seen for the first
 * time wait for it. */
static const struct {
	uint64_t times, most_ns;
} gathering = { 30, NS_PER_S / 200 }, gathering_recorded = { 100, NS_PER_S / 50 };

uint64_t profile_session_gather_ns(const struct profile_session *session)
{
	const bool is_recorded = session->program->rodata->config.records_mappings;
	const uint64_t times = is_recorded ? gathering_recorded.times : gathering.times;
	const uint64_t most_ns = is_recorded ? gathering_recorded.most_ns : gathering.most_ns;
	const uint64_t gather_ns = times * session->tick_ns;

	if (gather_ns < GATHER_LEAST_NS)
		return GATHER_LEAST_NS;
	return gather_ns < most_ns ? gather_ns : most_ns;
}

uint64_t profile_session_next_tick(const struct profile_session *session, uint64_t now)
{
	const uint64_t due = session->unwinder ? unwinder_due_ns(session->unwinder) : UINT64_MAX;

	if (due < now + GATHER_LEAST_NS)
		return now + GATHER_LEAST_NS;
	return due < now + TICK_NS ? due : now + TICK_NS;
}

/* Programs at switches tell when a thread ends. Where there are none, the end of one that its
 * parent has not waited for is known only to /proc. */
static bool has_record_ended(const struct profile_session *session, const struct profile_record *t)
{
	return t->task.flags & RECORD_ENDED ||
	       (!session->options.off_cpu && !task_is_alive(t->task.tid));
}

bool profile_session_has_threads(const struct profile_session *session)
{
	const struct tracker *tracker = &session->chunks.tracker;
	const uint32_t count = tracker_count(tracker);

	for (uint32_t number = 1; number < count; number++) {
		struct profile_record *t = profile_chunks_thread(&session->chunks, number);

		if (t && t->task.flags & RECORD_WANTED && !has_record_ended(session, t))
			return true;
	}
	return count >= tracker->state->room;
}

/* Take the stacks of waits that go on, where they are not taken when they begin. */
static struct error *look_at_waits(struct profile_session *session)
{
	struct error *err;

	if (!session->program->rodata->config.is_late)
		return NULL;
	err = bpf_programs_iterate(session->program->links.scan_task);
	if (!err && session->options.user_frames)
		profile_take_all_first_stacks(session);
	return err;
}

struct error *profile_session_stop(struct profile_session *session)
{
	struct error *err = look_at_waits(session);

	session->stopped = clock_ns(CLOCK_MONOTONIC);
	session->program->bss->state.until = session->stopped;
	sample_events_close(&session->samples);
	probe_links_destroy(session->probes);
	session->probes = NULL;
	profile_bpf__detach(session->program);
	if (session->images)
		process_watch_poll(session->images);
	profile_finish_stacks(session);
	return err;
}
