/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/reading.h"

const struct state_row state_rows[STATE_COUNT] = {
#define STATE_ROW(id, main_id, row_name, row_label, row_letter, row_prose) \
	[STATE_##id] = {                                                   \
		.name = (row_name),                                        \
		.label = (row_label),                                      \
		.prose = (row_prose),                                      \
		.main = STATE_##main_id,                                   \
		.letter = (row_letter),                                    \
	},
	THREAD_STATES(STATE_ROW)
#undef STATE_ROW
};

const enum state state_mains[STATE_MAIN_COUNT] = {
#define STATE_MAIN(id) STATE_##id,
	STATE_MAINS(STATE_MAIN)
#undef STATE_MAIN
};

void state_reading_deinit(struct state_reading *reading)
{
	array_deinit(&reading->threads);
	*reading = (struct state_reading){ 0 };
}

bool state_is_measured(unsigned measured, enum state state)
{
	return measured >> state & 1;
}

bool state_is_measured_in_part(unsigned measured, enum state state)
{
	bool is = state_is_measured(measured, state);

	for (enum state part = 0; part < STATE_COUNT && !is; part++)
		is = state_rows[part].main == state && state_is_measured(measured, part);
	return is;
}

uint64_t state_times_of(const struct state_times *times, enum state state)
{
	uint64_t sum = times->ns[state];

	/* Asked for many times for each row of ten thousand. */
	for (enum state part = state + 1; part < STATE_COUNT && state_rows[part].main == state;
	     part++)
		sum += times->ns[part];
	return sum;
}

void state_times_add(struct state_times *times, const struct state_times *more)
{
	for (enum state state = 0; state < STATE_COUNT; state++)
		times->ns[state] += more->ns[state];
}
