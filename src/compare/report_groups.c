/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of both sides of a report in groups: all of them, or of a window those that both
 * have, and by themselves those that ended and began in it.
 */
#include <stdlib.h>

#include "compare/report_fill.h"
#include "compare/survivors.h"

/* A thread may be older than a capture that lacks it: lost there, or not chosen. */
static bool is_born_after(const struct ctprof_snapshot *s, const struct ctprof_thread *thread)
{
	const struct host_context *host = s->host;

	return !host || !host->uptime_clock_ticks.measured ||
	       !thread->start_time_clock_ticks.measured ||
	       thread->start_time_clock_ticks.value >= host->uptime_clock_ticks.value;
}

/* Keys for the threads that both have, and for those that one has. A thread that was renamed, or
 * moved, in between counts where it is now. */
static struct error *make_window(struct report *report)
{
	size_t key_count = report->sides->keys.count;
	size_t olds = report->baseline->threads.count, news = report->candidate->threads.count;
	_cleanup_free_ uint32_t *before = malloc(olds * sizeof(*before) + 1);
	_cleanup_free_ uint32_t *gone = malloc(olds * sizeof(*gone) + 1);
	_cleanup_free_ uint32_t *after = malloc(news * sizeof(*after) + 1);
	_cleanup_free_ uint32_t *born = malloc(news * sizeof(*born) + 1);
	struct survivors survivors;
	struct error *err;

	if (!before || !gone || !after || !born)
		return &error_no_memory;
	err = survivors_init(&survivors, report->baseline, report->candidate);
	if (err)
		return err;
	for (size_t i = 0; i < olds; i++) {
		bool lives = survivors.after[i] != NO_THREAD;

		before[i] = lives ? report->candidate_keys[survivors.after[i]] : NO_KEY;
		gone[i] = lives ? NO_KEY : report->baseline_keys[i];
	}
	for (size_t i = 0; i < news; i++) {
		bool lived = survivors.before[i] != NO_THREAD;
		bool is_new = !lived && is_born_after(report->baseline,
						      snapshot_thread(report->candidate, i));

		after[i] = lived || (is_new && report->view->births) ? report->candidate_keys[i]
								     : NO_KEY;
		born[i] = is_new ? report->candidate_keys[i] : NO_KEY;
		report->strangers += !lived && !is_new;
	}
	survivors_deinit(&survivors);
	err = groups_init(&report->before, report->baseline, before, key_count);
	if (!err)
		err = groups_init(&report->after, report->candidate, after, key_count);
	if (!err)
		err = groups_init(&report->gone, report->baseline, gone, key_count);
	return err ? err : groups_init(&report->born, report->candidate, born, key_count);
}

struct error *report_make_groups(struct report *report)
{
	size_t key_count = report->sides->keys.count;
	struct error *err = NULL;

	if (report->comparing && report->view->window)
		return make_window(report);
	if (report->comparing)
		err = groups_init(&report->before, report->baseline, report->baseline_keys,
				  key_count);
	if (!err)
		err = groups_init(&report->after, report->candidate, report->candidate_keys,
				  key_count);
	return err;
}
