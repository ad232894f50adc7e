/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_beside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupts.h"
#include "cmd/inputs.h"
#include "cmd/profile_options.h"
#include "cmd/profile_output.h"
#include "profile/files.h"
#include "security/privileges.h"
#include "store/url.h"

static char *path_beside(const char *snapshot)
{
	char *path;

	return asprintf(&path, "%s.profile.raw", snapshot) < 0 ? NULL : path;
}

/* --- taking --- */

/* Sleep until the next tick. False: it is over, or an interrupt came. */
static bool wait_for_tick(const struct profile_session *session, uint64_t end)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t tick = profile_session_next_tick(session, now);
	struct timespec left;
	sigset_t interrupt;

	if (now >= end)
		return false;
	left = clock_timespec((end < tick ? end : tick) - now);
	sigemptyset(&interrupt);
	interrupts_add(&interrupt, SIGINT);
	return sigtimedwait(&interrupt, NULL, &left) != SIGINT;
}

static struct error *watch(struct profile_session *session, uint64_t duration_ns)
{
	sigset_t interrupt, before;
	struct error *err;
	uint64_t end;

	sigemptyset(&interrupt);
	interrupts_add(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	err = profile_session_start(session);
	end = clock_ns(CLOCK_MONOTONIC) + duration_ns;
	while (!err && wait_for_tick(session, end))
		err = profile_session_tick(session);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err ? err : profile_session_stop(session);
}

static struct error *write_raw(const char *path, struct profile *profile)
{
	struct profile_output output = { .quiet = true };
	struct error *err = array_push(&output.paths, path) ? NULL : &error_no_memory;

	if (!err)
		err = profile_output_show(&output, profile, NULL, 0);
	profile_output_deinit(&output);
	return err;
}

struct profile_beside {
	struct profile_arguments arguments;
	struct profile_options options;
	struct profile_session *session;
};

void profile_beside_close(struct profile_beside *beside)
{
	if (!beside)
		return;
	profile_session_close(beside->session);
	free(beside);
}

struct error *profile_beside_open(const uint32_t *pids, size_t pid_count, const char *cgroup,
				  struct profile_beside **ret)
{
	_cleanup_(profile_beside_close) struct profile_beside *beside = calloc(1, sizeof(*beside));
	struct error *err;

	if (!beside)
		return &error_no_memory;
	beside->arguments = (struct profile_arguments){
		.mode = PROFILE_BOTH,
		.min_ns = PROFILE_MIN_NS,
		.target = { .cgroup = cgroup },
	};
	err = profile_arguments_find(&beside->arguments);
	if (err)
		return err;
	beside->options = profile_arguments_apply(&beside->arguments);
	beside->options.pids = pids;
	beside->options.pid_count = pid_count;
	err = profile_session_open(&beside->options, &beside->session);
	if (!err)
		*ret = take_ptr(beside);
	return err;
}

/* Only this needs privileges from exec: the file is written with the user's own rights. */
static struct error *watch_and_read(struct profile_session *session, uint64_t duration_ns,
				    struct profile **ret)
{
	PRIVILEGES_RAISED;
	struct error *err = watch(session, duration_ns);

	return err ? err : profile_session_read(session, ret);
}

struct error *profile_beside_take(struct profile_beside *beside, const char *snapshot,
				  uint64_t duration_ns)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_free_ char *path = path_beside(snapshot);
	struct error *err =
		path ? watch_and_read(beside->session, duration_ns, &profile) : &error_no_memory;

	return err ? err : write_raw(path, profile);
}

/* --- comparing --- */

char *profile_beside_find(const char *snapshot)
{
	_cleanup_free_ char *path = path_beside(snapshot);

	return path && access(path, R_OK) == 0 ? take_ptr(path) : NULL;
}

void profile_beside_hint(const char *baseline, const char *candidate)
{
	_cleanup_free_ char *before = profile_beside_find(baseline);
	_cleanup_free_ char *after = profile_beside_find(candidate);

	if (before && after)
		fprintf(stderr,
			"ctprof: both snapshots have a profile: see compare --flame diff.svg, or "
			"ctprof flame --diff %s %s\n",
			before, after);
}

/* A query is one of profiles, too. */
static char *input_of(const char *snapshot)
{
	return store_is_url(snapshot) ? strdup(snapshot) : path_beside(snapshot);
}

struct error *profile_beside_diff(const char *baseline, const char *candidate, const char *path)
{
	_cleanup_(profile_destroy) struct profile *before = NULL;
	_cleanup_(profile_destroy) struct profile *after = NULL;
	_cleanup_free_ char *from = input_of(baseline), *to = input_of(candidate);
	struct profile_output output = { .is_elsewhere = true };
	struct error *err = from && to ? NULL : &error_no_memory;
	bool is_folded;

	if (!err)
		err = array_push(&output.paths, path) ? NULL : &error_no_memory;
	if (!err)
		err = profile_output_settle(&output);
	if (!err)
		err = input_profile(from, FOLDED_SAMPLES, &before, &is_folded);
	if (!err)
		err = input_profile(to, FOLDED_SAMPLES, &after, &is_folded);
	/* The line that says so is that of the snapshots. */
	if (!err)
		inputs_equalise_profiles(
			(struct named_profile[]){ { from, before }, { to, after } }, 2, NULL);
	if (!err)
		err = profile_output_show(&output, after, before, 0);
	profile_output_deinit(&output);
	return err;
}
