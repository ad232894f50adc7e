/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* The target of a profile in words: "stockd (5058) and 5 children". Children are the other
 * processes that were profiled, those of children too. */

static bool is_pid(const struct profile_options *options, uint32_t pid)
{
	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return true;
	return false;
}

/* Without memory fewer. */
static size_t count_children(const struct profile_reading *r)
{
	const struct profile_options *options = &r->session->options;
	struct word_map seen = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < r->profile->threads.count; i++) {
		const uint32_t tgid = r->profile->threads.items[i].tgid;
		uint32_t *number = word_map_at(&seen, (struct words){ { tgid } });

		if (!number || *number != WORD_MAP_NEW)
			continue;
		*number = 0;
		count += !is_pid(options, tgid);
	}
	word_map_deinit(&seen);
	return count;
}

static const struct name *name_of(const struct profile *profile, uint32_t pid)
{
	for (size_t i = 0; i < profile->threads.count; i++)
		if (profile->threads.items[i].tgid == pid)
			return profile->threads.items[i].process;
	return NULL;
}

struct error *reading_target(struct profile_reading *r)
{
	const struct profile_options *options = &r->session->options;
	const struct name *name;
	size_t children, length;
	char text[120];

	if (!options->pid_count || options->tid_count)
		return NULL;
	name = name_of(r->profile, options->pids[0]);
	if (options->pid_count > 1)
		snprintf(text, sizeof(text), "%zu processes", options->pid_count);
	else if (name)
		snprintf(text, sizeof(text), "%.40s (%" PRIu32 ")", name->bytes, options->pids[0]);
	else
		snprintf(text, sizeof(text), "process %" PRIu32, options->pids[0]);
	children = count_children(r);
	length = strlen(text);
	if (children)
		snprintf(text + length, sizeof(text) - length, " and %zu child%s", children,
			 children == 1 ? "" : "ren");
	r->profile->meta.target = profile_name(r->profile, text, strlen(text));
	return r->profile->meta.target ? NULL : &error_no_memory;
}
