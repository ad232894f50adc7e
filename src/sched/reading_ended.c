/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <profile.skel.h>
#include <string.h>

void reading_note_end(struct reading *r, uint32_t number, bool has_ended)
{
	const struct profile_options *options = &r->session->options;
	const bool is_told_of = options->wakers || options->longest || options->runners;
	struct thread_totals *totals = &r->session->totals.items[number];

	if (totals->end == RECORD_READ || (has_ended && !is_told_of))
		totals->end = RECORD_LEFT;
	else if (has_ended)
		totals->end = RECORD_READ;
}

bool reading_is_left(const struct reading *r, uint32_t number)
{
	return number < r->session->totals.count &&
	       r->session->totals.items[number].end == RECORD_LEFT;
}

/* Programs write none that has ended. Where there is no room for its number it waits for the next
 * reading. */
void reading_free_left(struct reading *r)
{
	struct profile_state *state = &r->session->program->bss->state;
	uint32_t tail = state->free_tail;

	for (uint32_t number = 1; number < r->record_count; number++) {
		struct thread_record *t = profile_chunks_thread(&r->session->chunks, number);

		if (!t || !reading_is_left(r, number))
			continue;
		if (tail - __atomic_load_n(&state->free_head, __ATOMIC_ACQUIRE) == THREADS_FREE)
			return;
		memset(t, 0, sizeof(*t));
		r->session->totals.items[number] = (struct thread_totals){ 0 };
		state->free_numbers[tail++ & (THREADS_FREE - 1)] = number;
		__atomic_store_n(&state->free_tail, tail, __ATOMIC_RELEASE);
	}
}
