/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/flame.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/target.h"
#include "cli/terminal.h"
#include "live/live_profile.h"
#include "sched/profile_record.h"
#include "security/privileges.h"
#include "top/inspect_row.h"

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

/* What is profiled: a cgroup, else a process, else these threads. */
struct flame_target {
	uint64_t cgroup;
	uint32_t process;
	const uint32_t *tids;
	size_t tid_count;
};

static struct error *open_session(const struct flame_target *target, struct profile_session **ret)
{
	const struct profile_options options = {
		.on_cpu = true,
		.off_cpu = true,
		.frequency = FREQUENCY,
		.cgroup = target->cgroup,
		.pids = &target->process,
		.pid_count = target->process != 0,
		.tids = target->tids,
		.tid_count = target->tid_count,
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

/* The threads of a pool as they are in the window that was shown. `words` names what is profiled;
 * "" is what the profile says. */
static struct error *take_pool(struct top *top, const struct screen_result *result,
			       struct flame_target *ret, char *words, size_t room)
{
	const struct screen_subject subject = { .grouping = STATE_BY_POOL,
						.line = result->pool,
						.view = &result->view };
	struct inspected_row row;
	struct error *err = inspected_row_find(top, &subject, &row);

	if (err || !row.is_there)
		return err ? err : error_create("the pool has ended");
	ret->tids = top->inspector.members.items;
	ret->tid_count = top->inspector.members.count;
	snprintf(words, room, "pool %s, %zu thread%s", row.line.label->bytes, ret->tid_count,
		 plural(ret->tid_count));
	return NULL;
}

static struct error *find_target(struct top *top, const struct screen_result *result,
				 struct flame_target *ret, char *words, size_t room)
{
	*words = '\0';
	*ret = (struct flame_target){ .cgroup = find_cgroup(result) };
	if (result->is_pool)
		return take_pool(top, result, ret, words, room);
	if (ret->cgroup) {
		snprintf(words, room, "cgroup %s", result->cgroup->bytes);
	} else if (result->is_process) {
		ret->process = result->tid;
	} else {
		ret->tids = &result->tid;
		ret->tid_count = 1;
		snprintf(words, room, "thread %" PRIu32, result->tid);
	}
	return NULL;
}

static enum flame_group first_group(const struct flame_target *target)
{
	if (target->cgroup)
		return FLAME_BY_PROCESS;
	return target->tid_count == 1 ? FLAME_BY_NONE : FLAME_BY_THREAD;
}

struct error *top_flame(struct top *top, const struct screen_result *result, int *ret_signal)
{
	_cleanup_(profile_session_close) struct profile_session *session = NULL;
	struct flame_target target;
	struct flame_screen_end end;
	char words[160];
	struct error *err = find_target(top, result, &target, words, sizeof(words));
	const struct flame_screen_options screen = {
		.title = "ctprof profile",
		.target = *words ? words : NULL,
		.view = { .group_by = first_group(&target) },
		.classes = FLAME_ON_CPU | FLAME_OFF_CPU,
		.instead = "use --batch",
		.no_colour = !terminal_allows_colour(),
	};
	struct live_profile live = {
		.screen = &screen,
		.ends_with_targets = !target.cgroup,
		.tick = tick_engine,
		.tick_context = top,
	};

	if (!err)
		err = open_session(&target, &session);
	if (err)
		return err;
	live.session = session;
	err = live_profile_run(&live, NULL, &end);
	if (err)
		return err;
	/* It is seen once top ends. */
	if (*end.unkept)
		fprintf(stderr, "ctprof: %s\n", end.unkept);
	*ret_signal = end.signal;
	return NULL;
}
