/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <profile.skel.h>
#include <string.h>

void reading_note_end(struct profile_reading *r, uint32_t number, bool has_ended)
{
	const struct profile_options *options = &r->session->options;
	const bool is_told_of = options->wakers || options->longest || options->runners;
	struct thread_totals *totals = &r->session->totals.items[number];

	if (totals->end == RECORD_READ || (has_ended && !is_told_of))
		totals->end = RECORD_LEFT;
	else if (has_ended)
		totals->end = RECORD_READ;
}

bool reading_is_left(const struct profile_reading *r, uint32_t number)
{
	return number < r->session->totals.count &&
	       r->session->totals.items[number].end == RECORD_LEFT;
}

/* If there is no room to free the number of a record, the next reading frees it. */
void reading_free_left(struct profile_reading *r)
{
	for (uint32_t number = 1; number < r->record_count; number++) {
		if (!reading_is_left(r, number))
			continue;
		if (!tracker_give_back(&r->session->chunks.tracker, number))
			return;
		r->session->totals.items[number] = (struct thread_totals){ 0 };
	}
}
