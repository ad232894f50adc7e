/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_unwinding.h"

#include "sched/profile_record.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <profile.skel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "os/tasks.h"

bool profile_has_tables(const struct profile_options *options)
{
	return options->user_frames && options->unwind != PROFILE_UNWIND_FP;
}

/* --- opening --- */

/* The process of a thread, for unwind tables are made for processes; the thread itself if the
 * process is not visible. */
static uint32_t process_of_tid(uint32_t tid)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file_buffer buffer = { 0 };
	uint32_t tgid = tid;

	if (proc >= 0 && task_leader(proc, tid, &buffer, &tgid))
		tgid = tid;
	file_buffer_deinit(&buffer);
	return tgid;
}

/* Children whose tables are made before the start. Those of more are made when a walk wants them.
 */
#define CHILDREN_MAX 256

/* The processes whose tables are made before the start. */
static struct error *list_processes(const struct profile_options *options, struct tids *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_complete = true;

	for (size_t i = 0; i < options->pid_count; i++)
		is_complete &= array_push(ret, options->pids[i]);
	if (is_complete && proc >= 0 && !options->no_children)
		is_complete = !tasks_add_children(proc, ret->count + CHILDREN_MAX, ret);
	for (size_t i = 0; i < options->tid_count; i++)
		is_complete &= array_push(ret, process_of_tid(options->tids[i]));
	if (options->command)
		is_complete &= array_push(ret, options->command);
	return is_complete ? NULL : &error_no_memory;
}

static struct error *open_deferred_stacks(struct profile_session *session)
{
	const int ring = bpf_map__fd(session->program->maps.deferred_stacks);
	session->deferred_stacks = (struct deferred_stacks){
		.chunks = &session->chunks,
		.unwinder = session->unwinder,
		.guard = session->guard,
		.only_tables = session->options.unwind == PROFILE_UNWIND_DWARF,
		.most_frames = session->options.user_frames,
	};
	if (!process_watch_add_fd(session->images, ring))
		return error_system(errno, "ring of stacks");
	return deferred_stacks_open(&session->deferred_stacks, ring);
}

struct error *profile_open_unwinder(struct profile_session *session)
{
	const struct profile_options *options = &session->options;
	const struct profile_bpf *program = session->program;
	struct tids pids = { 0 };
	struct unwinder_options unwinder = {
		.chunks = bpf_map__fd(program->maps.unwind_chunks),
		.rules = bpf_map__fd(program->maps.unwind_rules),
		.processes = bpf_map__fd(program->maps.unwind_processes),
		.asked = bpf_map__fd(program->maps.unwind_asked),
		.slots = bpf_map__fd(program->maps.mapping_slots),
		.files = bpf_map__fd(program->maps.known_files),
		.requests = bpf_map__fd(program->maps.mapping_requests),
		.recording =
			program->rodata->config.records_mappings ? &program->bss->recording : NULL,
		.images = session->images,
		.guard = session->guard,
		.kept = session->kept,
		.max_bytes = options->memory_bytes,
		.limit = &session->table_limit,
	};
	struct error *err = list_processes(options, &pids);

	unwinder.pids = pids.items;
	unwinder.pid_count = pids.count;
	if (!err)
		err = unwinder_open(&unwinder, &session->unwinder);
	array_deinit(&pids);
	return err ? err : open_deferred_stacks(session);
}

/* --- running --- */

/* The time that a start may wait for unwind tables; unfinished tables come later. */
#define TABLES_MAX_NS (20 * NS_PER_S)

struct error *profile_start_unwinder(struct profile_session *session)
{
	return unwinder_start(session->unwinder, TABLES_MAX_NS, session->options.progress,
			      session->options.progress_context);
}

void profile_take_first_stacks(struct profile_session *session)
{
	first_stacks_take(&session->first_stacks);
}

/* A stack shows which parts of large tables it needs, mostly at once; deep ones, when they are
 * walked further. */
#define FIRST_ROUNDS  8
#define FIRST_MOST_NS (NS_PER_S / 5)

void profile_take_all_first_stacks(struct profile_session *session)
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_MOST_NS;

	profile_take_first_stacks(session);
	for (int i = 0; i < FIRST_ROUNDS && session->unwinder; i++) {
		deferred_stacks_collect(&session->deferred_stacks);
		if (!unwinder_wait_for_parts(session->unwinder, until_ns))
			break;
		deferred_stacks_walk(&session->deferred_stacks);
		profile_take_first_stacks(session);
	}
}

/*
 * A program that has just started may wait before its tables are there, and go on waiting for
 * hours. Looking at a thread takes some 50 ns, mostly for its memory, so that is done at most once
 * in 100 times as long.
 */
#define MEND_NS           (NS_PER_S / 100)
#define MEND_NS_OF_THREAD 5000

static void mend_stacks(struct profile_session *session, uint64_t now)
{
	uint64_t pause;

	if (!session->options.off_cpu)
		return;
	first_stacks_collect(&session->first_stacks);
	pause = MEND_NS + first_stacks_lacking(&session->first_stacks) * MEND_NS_OF_THREAD;
	session->has_changes |= unwinder_had_changes(session->unwinder);
	if (!session->has_changes || now - session->mended < pause)
		return;
	session->has_changes = false;
	session->mended = now;
	first_stacks_take_lacking(&session->first_stacks);
}

void profile_finish_stacks(struct profile_session *session)
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_MOST_NS;

	if (!session->unwinder)
		return;
	for (int i = 0; i < FIRST_ROUNDS; i++) {
		deferred_stacks_collect(&session->deferred_stacks);
		if (!unwinder_wait_for_parts(session->unwinder, until_ns))
			break;
		deferred_stacks_walk(&session->deferred_stacks);
	}
	deferred_stacks_walk(&session->deferred_stacks);
}

/* How long what is in no hurry may wait (unwinder_has_work). */
#define UNHURRIED_NS (NS_PER_S / 5)

/* Programs put a process into the map before they count it. */
static uint32_t asked_count(const struct profile_session *session)
{
	return __atomic_load_n(&session->program->bss->state.asked_count, __ATOMIC_ACQUIRE);
}

/* That cannot wait. */
static bool has_unwinding_work(const struct profile_session *session)
{
	return session->has_changes || session->deferred_stacks.pending.count ||
	       asked_count(session) != session->asked_count ||
	       (session->options.off_cpu && first_stacks_has_new(&session->first_stacks)) ||
	       unwinder_has_work(session->unwinder);
}

static void tick_unwinder(void *job)
{
	struct profile_session *session = job;

	session->unwinder_ticked = clock_ns(CLOCK_MONOTONIC);
	session->asked_count = asked_count(session);
	deferred_stacks_collect(&session->deferred_stacks);
	unwinder_tick(session->unwinder);
	deferred_stacks_walk(&session->deferred_stacks);
	mend_stacks(session, clock_ns(CLOCK_MONOTONIC));
}

/* All of it in one go of the guard: two switches between threads are most of the cost of a tick
 * that finds little. Most find nothing on a host where few programs start, and take none. */
bool profile_tick_unwinder(struct profile_session *session)
{
	const bool has_work = has_unwinding_work(session);

	if (has_work || clock_ns(CLOCK_MONOTONIC) - session->unwinder_ticked >= UNHURRIED_NS)
		guard_run(session->guard, tick_unwinder, session, NULL);
	return has_work;
}
