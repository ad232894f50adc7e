/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/user_limits.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *what, *why;
} reasons[USER_OMISSION_COUNT] = {
#define OMISSION_ROW(id, what, why) { what, why },
	USER_OMISSIONS(OMISSION_ROW)
#undef OMISSION_ROW
};

struct user_share *user_limits_share(struct user_limits *limits, uint32_t user)
{
	uint32_t *index = word_map_at(&limits->users, (struct words){ { user } });

	if (!index)
		return NULL;
	if (*index == WORD_MAP_NEW) {
		if (!array_push(&limits->shares, (struct user_share){ .user = user }))
			return NULL;
		*index = (uint32_t)limits->shares.count - 1;
	}
	return &limits->shares.items[*index];
}

bool user_limits_refuse_metric(const struct user_limits *limits, const struct user_share *share,
			       size_t metrics_of_process, enum user_omission *ret)
{
	if (metrics_of_process >= USER_PROCESS_METRICS_MAX)
		*ret = USER_OMITTED_PROCESS_METRICS;
	else if (share->metrics >= USER_METRICS_MAX)
		*ret = USER_OMITTED_METRICS;
	else if (limits->all.metrics >= USER_ALL_METRICS_MAX)
		*ret = USER_OMITTED_ALL_METRICS;
	else if (share->bytes >= USER_BYTES_MAX)
		*ret = USER_OMITTED_BYTES;
	else
		return false;
	return true;
}

size_t user_limits_slots(const struct user_limits *limits, const struct user_share *share,
			 enum user_omission *ret_why)
{
	const size_t of_user = share->slots < USER_SLOTS_MAX ? USER_SLOTS_MAX - share->slots : 0;
	const size_t of_all =
		limits->all.slots < USER_ALL_SLOTS_MAX ? USER_ALL_SLOTS_MAX - limits->all.slots : 0;

	*ret_why = of_all < of_user ? USER_OMITTED_ALL_SLOTS : USER_OMITTED_SLOTS;
	return of_all < of_user ? of_all : of_user;
}

bool user_limits_refuse_process(const struct user_limits *limits, const struct user_share *share,
				enum user_omission *ret)
{
	/* Root has more processes than others, and is no stranger. */
	const bool is_stranger = share->user != 0;
	const size_t most = is_stranger ? USER_HANGS_MAX : USER_ALL_HANGS_MAX;

	if (share->hangs >= most || (is_stranger && limits->all.hangs >= USER_ALL_HANGS_MAX))
		*ret = USER_OMITTED_AFTER_HANG;
	else if (is_stranger && share->time_ns >= USER_TIME_NS)
		*ret = USER_OMITTED_TIME;
	else
		return false;
	return true;
}

bool user_limits_omit(struct user_limits *limits, const struct user_omitted *omitted)
{
	const struct words key = { { omitted->user, omitted->why } };
	uint32_t *index = word_map_at(&limits->reasons, key);
	struct user_omitted *same;

	if (!index)
		return false;
	if (*index == WORD_MAP_NEW) {
		if (!array_push(&limits->omitted, *omitted))
			return false;
		*index = (uint32_t)limits->omitted.count - 1;
		return true;
	}
	same = &limits->omitted.items[*index];
	same->count += omitted->count;
	same->is_of_one &= omitted->is_of_one && same->pid == omitted->pid;
	return true;
}

/* --- notes --- */

/* "metric 4711:x (uid 1000)", "12 metrics of process 4711 (uid 1000)", "3 processes of uid 1000" */
static char *whom(const struct user_omitted *o)
{
	const char *what = reasons[o->why].what, *plural = *o->name ? "s" : "es";

	if (o->count == 1 && *o->name)
		return text_print("metric %" PRIu32 ":%s (uid %" PRIu32 ")", o->pid, o->name,
				  o->user);
	if (o->count == 1)
		return text_print("metrics of process %" PRIu32 " (uid %" PRIu32 ")", o->pid,
				  o->user);
	if (o->is_of_one)
		return text_print("%zu %s%s of process %" PRIu32 " (uid %" PRIu32 ")", o->count,
				  what, plural, o->pid, o->user);
	return text_print("%s%zu %s%s of uid %" PRIu32 " (the first: %" PRIu32 ")",
			  *o->name ? "" : "metrics of ", o->count, what, plural, o->user, o->pid);
}

struct error *user_limits_notes(const struct user_limits *limits, struct kstats_notes *notes)
{
	for (size_t i = 0; i < limits->omitted.count; i++) {
		const struct user_omitted *omitted = &limits->omitted.items[i];
		_cleanup_free_ char *who = whom(omitted);
		char *line =
			who ? text_print("%s omitted: %s", who, reasons[omitted->why].why) : NULL;

		if (line && array_push(notes, line))
			continue;
		free(line);
		return &error_no_memory;
	}
	return NULL;
}

void user_limits_deinit(struct user_limits *limits)
{
	array_deinit(&limits->shares);
	array_deinit(&limits->omitted);
	word_map_deinit(&limits->users);
	word_map_deinit(&limits->reasons);
}
