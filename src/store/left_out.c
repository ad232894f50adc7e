/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/left_out.h"

#include "base/array.h"
#include "base/sum.h"
#include "metric/metric.h"
#include "state/reading.h"

/* What is left out, and the one or two metrics whose sum it is. */
static const struct {
	enum metric_id id, first, second; /* second: METRIC_COUNT: none */
} rows[] = {
	{ METRIC_state_exec_ns, METRIC_run_time_ns, METRIC_COUNT },
	{ METRIC_state_runnable_ns, METRIC_wait_time_ns, METRIC_COUNT },
	{ METRIC_state_switches, METRIC_voluntary_csw, METRIC_nonvoluntary_csw },
	{ METRIC_cpu_delay_total_ns, METRIC_wait_time_ns, METRIC_COUNT },
	{ METRIC_cpu_delay_count, METRIC_timeslices, METRIC_COUNT },
};

/* States have their metrics in their order. */
_Static_assert(METRIC_state_stopped_ns - METRIC_state_exec_ns == STATE_COUNT - 1,
	       "a state without a metric");

bool store_is_left_out(unsigned id)
{
	for (size_t i = 0; i < array_length(rows); i++)
		if (rows[i].id == id)
			return true;
	return id == METRIC_thread_count || id == METRIC_state_watched_ns;
}

bool store_is_rounded(unsigned id)
{
	return id >= METRIC_state_exec_ns && id <= METRIC_state_stopped_ns;
}

/* What was not left out stays as it is. */
static void put(struct thread_record *record, enum metric_id id, uint64_t value)
{
	if (!metric_set_has(&record->measured, id) &&
	    metric_store_u64(&record->values, &metrics[id], value))
		metric_set_add(&record->measured, id);
}

static void restore_sum(struct thread_record *record, enum metric_id id, enum metric_id first,
			enum metric_id second)
{
	uint64_t value;

	if (!metric_set_has(&record->measured, first) ||
	    (second != METRIC_COUNT && !metric_set_has(&record->measured, second)))
		return;
	value = metric_load_u64(&record->values, &metrics[first]);
	if (second != METRIC_COUNT)
		sum_add(&value, metric_load_u64(&record->values, &metrics[second]));
	put(record, id, value);
}

/* The main states, which include their parts. */
static void restore_watched(struct thread_record *record)
{
	uint64_t watched = 0;

	for (enum state state = 0; state < STATE_COUNT; state++) {
		const enum metric_id id = METRIC_state_exec_ns + state;

		if (state_is_main(state) && metric_set_has(&record->measured, id))
			sum_add(&watched, metric_load_u64(&record->values, &metrics[id]));
	}
	put(record, METRIC_state_watched_ns, watched);
}

/* A row has states if any of them was measured: sleep is one whose bit is never left out. */
void store_restore(struct thread_record *record)
{
	const bool has_states = metric_set_has(&record->measured, METRIC_state_sleep_ns);

	put(record, METRIC_thread_count, 1);
	for (size_t i = 0; i < array_length(rows); i++)
		if (has_states ||
		    !(store_is_rounded(rows[i].id) || rows[i].id == METRIC_state_switches))
			restore_sum(record, rows[i].id, rows[i].first, rows[i].second);
	if (has_states)
		restore_watched(record);
}
