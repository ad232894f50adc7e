/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_session.h"

#include "sched/profile_record.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <profile.skel.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "bpf/programs.h"
#include "os/cgroup_tree.h"
#include "os/process_user.h"
#include "os/tasks.h"
#include "profile/kept.h"
#include "profile/symbol_cache.h"
#include "sched/profile_limit.h"
#include "sched/profile_programs.h"
#include "sched/profile_unwinding.h"
#include "sched/tracer_frames.h"

/* --- opening --- */

static void limit_maps(struct profile_options *options)
{
	const size_t most = profile_limit_maps(options->memory_limit);

	if (options->memory_limit && options->memory_bytes > most)
		options->memory_bytes = most;
}

/* What reading the symbols of the kernel takes, which comes later. */
#define SYMBOLS_BYTES (UINT64_C(6) << 20)

/* Unwind tables leave this share of a limit to stacks and records: an event without a table has a
 * stack by frame pointers, one without room for its stack is lost. */
#define TABLES_LEAVE 16

/* The sums by stack that a thread has before the first reading tells how many there are. */
#define SUMS_OF_THREAD 2

/* Keep room within the limit for maps of the kernel, its symbols, and a reading of `threads`
 * threads. */
static void reserve(struct profile_session *session, uint64_t threads)
{
	const uint64_t of_thread = session->options.memory_of_thread;
	const size_t known = session->counted.entries.count;
	uint64_t bytes = session->kernel_bytes;

	if (!session->symbols_read)
		bytes += SYMBOLS_BYTES;
	if (of_thread)
		bytes += profile_limit_reading(threads, known ? known : threads * SUMS_OF_THREAD) +
			 threads * of_thread;
	/* Threads that make tables read it. Their limit has such a rest already. */
	__atomic_store_n(&session->table_limit.beside, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&session->limit.beside, bytes + (of_thread ? PROFILE_LIMIT_REST : 0),
			 __ATOMIC_RELAXED);
}

/* Before any is tracked: all of the host, or a few that are selected by number. */
static uint64_t expected_threads(const struct profile_options *options)
{
	return options->pid_count || options->tid_count || options->command
		       ? 0
		       : tasks_count(TASKS_LOADAVG);
}

static struct error *load_profiler(struct profile_session *session)
{
	struct error *err = profile_programs_load(&session->options, &session->program);

	if (!err)
		err = wait_rules_probe(bpf_program__fd(session->program->progs.probe_environment));
	if (err)
		return err;
	session->kernel_bytes = profile_limit_kernel(session->program->obj);
	session->limit.bytes = session->table_limit.bytes = session->options.memory_limit;
	session->table_limit.bytes -= session->limit.bytes / TABLES_LEAVE;
	reserve(session, expected_threads(&session->options));
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

/* Some 150 threads that begin (struct perf_record_fork): a tick must make room for more, however
 * long the pause is. */
#define WAKE_BYTES ((size_t)8 << 10)

/* Where the kernel does not record what new programs map, each event wakes us. */
static size_t wake_bytes(const struct profile_session *session)
{
	return profile_has_tables(&session->options) &&
			       !session->program->rodata->config.records_mappings
		       ? 1
		       : WAKE_BYTES;
}

static struct error *watch_images(struct profile_session *session)
{
	const uint64_t limit = session->options.memory_limit;
	struct process_watch_options watch = {
		.ring_bytes = RING_BYTES,
		.wake_bytes = wake_bytes(session),
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
		err = profile_programs_set_targets(session->program, options);
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
	return profile_open_latencies(session);
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
	kallsyms_destroy(session->own_symbols);
	first_stacks_deinit(&session->first_stacks);
	deferred_stacks_close(&session->deferred_stacks);
	profile_chunks_deinit(&session->chunks);
	profile_close_latencies(session);
	profile_bpf__destroy(session->program);
	if (session->cgroups >= 0)
		close(session->cgroups);
	counted_table_deinit(&session->counted);
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

static struct error *read_symbols(struct profile_session *session)
{
	struct error *err;

	if (session->options.symbols)
		return symbol_cache_kernel(session->options.symbols, &session->symbols);
	err = kallsyms_read("/proc/kallsyms", &session->own_symbols);
	session->symbols = session->own_symbols;
	return err;
}

void profile_session_find_symbols(struct profile_session *session)
{
	if (session->symbols_read) {
		/* The cache may have read them again, and released those that it had. */
		if (session->options.symbols)
			error_destroy(read_symbols(session));
		return;
	}
	session->symbols_read = clock_ns(CLOCK_MONOTONIC);
	/* Stacks of the kernel have no names then, which is not worth failing for. */
	error_destroy(read_symbols(session));
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

/* Between ticks: after work, and after ticks that found none, if threads that begin wake us. */
#define PAUSE_NS       (NS_PER_S / 20)
#define QUIET_PAUSE_NS (NS_PER_S / 5)

static uint64_t next_pause(const struct profile_session *session, bool had_work)
{
	if (had_work || !session->pause_ns || profile_session_fd(session) < 0)
		return PAUSE_NS;
	return session->pause_ns < QUIET_PAUSE_NS ? 2 * session->pause_ns : QUIET_PAUSE_NS;
}

static struct error *tick(struct profile_session *session)
{
	bool had_work;

	find_own_frames(session);
	find_wait_code(session);
	if (session->images)
		process_watch_poll(session->images);
	had_work = session->unwinder && profile_tick_unwinder(session);
	had_work |= profile_chunks_fills(&session->chunks);
	session->pause_ns = next_pause(session, had_work);
	program_cost_tick(&session->cost, session->program->obj, clock_ns(CLOCK_MONOTONIC));
	tracker_scan_again(&session->chunks.tracker);
	reserve(session, tracker_used(&session->chunks.tracker));
	return profile_chunks_grow(&session->chunks);
}

struct error *profile_session_tick(struct profile_session *session)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct error *err = tick(session);

	session->tick_ns = clock_ns(CLOCK_MONOTONIC) - began;
	return err;
}

struct memory_limit profile_session_limit(const struct profile_session *session)
{
	struct memory_limit limit = session->limit;

	limit.beside = session->kernel_bytes_now;
	return limit;
}

int profile_session_fd(const struct profile_session *session)
{
	return session->unwinder ? process_watch_fd(session->images) : -1;
}

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
	return due < now + session->pause_ns ? due : now + session->pause_ns;
}

/* Programs at switches tell when a thread ends. Where there are none, the end of one that its
 * parent has not waited for is known only to /proc. */
static bool has_record_ended(const struct profile_session *session, const struct profile_record *t)
{
	return t->task.flags & RECORD_ENDED ||
	       (!session->options.off_cpu && !task_is_alive(t->task.tid));
}

static bool has_targets(const struct profile_session *session)
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

#define CHECKS 3

bool profile_session_targets_ended(struct profile_session *session)
{
	session->targets_missed = has_targets(session) ? 0 : session->targets_missed + 1;
	if (session->targets_missed)
		session->pause_ns = PAUSE_NS;
	if (session->targets_missed < CHECKS)
		return false;
	session->targets_missed = 0;
	return true;
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
