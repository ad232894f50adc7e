/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/flame.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/target.h"
#include "cli/terminal.h"
#include "live/live_profile.h"
#include "sched/profile_record.h"
#include "security/privileges.h"

/* As `ctprof profile` has them, but for memory: the programs of the engine have theirs beside. */
#define FREQUENCY 99
#define STACKS    16384
#define MEMORY    ((size_t)64 << 20)
#define RECHECK   256
#define LEAST_NS  1000

static struct error *tick_engine(void *context)
{
	const struct top *top = context;
	PRIVILEGES_RAISED;

	return engine_tick(top->engine);
}

static struct error *open_session(const struct screen_result *result, uint64_t cgroup,
				  struct profile_session **ret)
{
	const bool is_thread = !cgroup && !result->is_process;
	const struct profile_options options = {
		.on_cpu = true,
		.off_cpu = true,
		.frequency = FREQUENCY,
		.cgroup = cgroup,
		.pids = &result->tid,
		.pid_count = !cgroup && result->is_process,
		.tids = &result->tid,
		.tid_count = is_thread,
		.min_ns = LEAST_NS,
		.user_frames = PROFILE_USER_FRAMES_MAX,
		.kernel_frames = PROFILE_KERNEL_FRAMES_MAX,
		.stacks = STACKS,
		.memory_bytes = MEMORY,
		.recheck = RECHECK,
		.progress = live_profile_progress,
	};
	PRIVILEGES_RAISED;

	return profile_session_open(&options, ret);
}

/* 0: it is a row of no cgroup, or it has no number (version 1): then of its thread. */
static uint64_t find_cgroup(const struct screen_result *result)
{
	const char *path = result->cgroup ? result->cgroup->bytes : NULL;
	uint64_t number = 0;

	if (path)
		error_destroy(target_find_cgroup(&path, &number));
	return number;
}

struct error *top_flame(struct top *top, const struct screen_result *result, int *ret_signal)
{
	const uint64_t cgroup = find_cgroup(result);
	char target[160];
	const struct flame_screen_options screen = {
		.title = "ctprof profile",
		.target = result->is_process && !cgroup ? NULL : target,
		.view = { .group_by = cgroup               ? FLAME_BY_PROCESS
				      : result->is_process ? FLAME_BY_THREAD
							   : FLAME_BY_NONE },
		.classes = FLAME_ON_CPU | FLAME_OFF_CPU,
		.instead = "use --batch",
		.no_colour = !terminal_allows_colour(),
	};
	_cleanup_(profile_session_close) struct profile_session *session = NULL;
	struct live_profile live = {
		.screen = &screen,
		.ends_with_targets = !cgroup,
		.tick = tick_engine,
		.tick_context = top,
	};
	struct error *err = open_session(result, cgroup, &session);

	if (err)
		return err;
	if (cgroup)
		snprintf(target, sizeof(target), "cgroup %s", result->cgroup->bytes);
	else
		snprintf(target, sizeof(target), "thread %" PRIu32, result->tid);
	live.session = session;
	return live_profile_run(&live, NULL, ret_signal);
}
