/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_unwinding.h"

#include "sched/profile_record.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
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

struct error *profile_open_unwinder(struct profile_session *session)
{
	const struct profile_options *options = &session->options;
	const struct profile_bpf *program = session->program;
	_cleanup_free_ uint32_t *pids =
		calloc(options->pid_count + options->tid_count + 1, sizeof(*pids));
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
		.pids = pids,
		.max_bytes = options->memory_bytes,
		.limit = &session->limit,
	};

	if (!pids)
		return &error_no_memory;
	memcpy(pids, options->pids, options->pid_count * sizeof(*pids));
	for (size_t i = 0; i < options->tid_count; i++)
		pids[options->pid_count + i] = process_of_tid(options->tids[i]);
	unwinder.pid_count = options->pid_count + options->tid_count;
	if (options->command)
		pids[unwinder.pid_count++] = options->command;
	return unwinder_open(&unwinder, &session->unwinder);
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

static void tick_unwinder(void *job)
{
	struct profile_session *session = job;

	unwinder_tick(session->unwinder);
	mend_stacks(session, clock_ns(CLOCK_MONOTONIC));
}

/* All of it in one go of the guard: two switches between threads are most of the cost of a tick
 * that finds little. */
void profile_tick_unwinder(struct profile_session *session)
{
	guard_run(session->guard, tick_unwinder, session, NULL);
}
