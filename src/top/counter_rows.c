/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/counter_rows.h"

#include "base/clock.h"
#include "base/units.h"
#include "base/word_map.h"
#include "os/stat.h"
#include "top/counter_times.h"
#include "top/state_rows.h"

#define TICK_NS (NS_PER_S / 100)

/* --- one thread's counters, as if the task iterator had seen them --- */

static bool has_metric(const struct ctprof_thread *thread, enum metric_id id)
{
	return metric_set_has(&thread->record.measured, id);
}

static uint64_t metric_value(const struct ctprof_thread *thread, enum metric_id id)
{
	return has_metric(thread, id) ? metric_load_u64(&thread->record.values, &metrics[id]) : 0;
}

static uint64_t wait_in_progress(const struct ctprof_thread *thread, enum metric_id in_progress,
				 uint64_t now_ns)
{
	const uint64_t passed = metric_value(thread, in_progress);

	return passed && passed < now_ns ? now_ns - passed : 0;
}

static void fill_record(struct iterator_record *record, const struct ctprof_thread *thread,
			bool is_kernel, uint64_t now_ns)
{
	static const struct {
		enum task_counter counter;
		enum metric_id metric;
	} counters[] = {
		{ TASK_run_time, METRIC_run_time_ns },
		{ TASK_run_delay, METRIC_wait_time_ns },
		{ TASK_blkio_delay, METRIC_blkio_delay_total_ns },
		{ TASK_swapin_delay, METRIC_swapin_delay_total_ns },
		{ TASK_nvcsw, METRIC_voluntary_csw },
		{ TASK_nivcsw, METRIC_nonvoluntary_csw },
	};

	*record = (struct iterator_record){
		.now = now_ns,
		.kernel_flags = is_kernel ? PF_KTHREAD : 0,
		.cpu = has_metric(thread, METRIC_processor)
			       ? (uint32_t)thread->record.values.processor.v
			       : 0,
		.has_delays = has_metric(thread, METRIC_blkio_delay_total_ns),
		.in_iowait = metric_value(thread, METRIC_iowait_in_progress_ns) ||
			     metric_value(thread, METRIC_blkio_in_progress_ns),
		.utime = metric_value(thread, METRIC_utime_clock_ticks),
		.stime = metric_value(thread, METRIC_stime_clock_ticks),
		.queued_since = wait_in_progress(thread, METRIC_wait_in_progress_ns, now_ns),
		.blkio_since = wait_in_progress(thread, METRIC_blkio_in_progress_ns, now_ns),
		.sleep_since = wait_in_progress(thread, METRIC_sleep_in_progress_ns, now_ns),
		.block_since = wait_in_progress(thread, METRIC_block_in_progress_ns, now_ns),
	};
	counter_times_set_letter(
		record, has_metric(thread, METRIC_state) ? thread->record.values.state.v : 'S');
	for (size_t i = 0; i < array_length(counters); i++)
		record->counters[counters[i].counter] = metric_value(thread, counters[i].metric);
}

/* --- what captures tell --- */

/* A row of a state is there where one thread at least has what it is made of. */
static unsigned measured_of(const struct ctprof_thread *thread)
{
	unsigned measured = 0;

	if (has_metric(thread, METRIC_run_time_ns))
		measured |= 1u << STATE_EXEC | 1u << STATE_SLEEP | 1u << STATE_STOPPED |
			    1u << STATE_IDLE;
	if (has_metric(thread, METRIC_utime_clock_ticks) &&
	    has_metric(thread, METRIC_stime_clock_ticks))
		measured |= 1u << STATE_EXEC_USER | 1u << STATE_EXEC_SYSTEM;
	if (has_metric(thread, METRIC_wait_time_ns))
		measured |= 1u << STATE_RUNNABLE;
	if (has_metric(thread, METRIC_blkio_delay_total_ns))
		measured |= 1u << STATE_SLEEP_DISK;
	if (has_metric(thread, METRIC_swapin_delay_total_ns))
		measured |= 1u << STATE_PAGING;
	return measured;
}

/* --- time --- */

static const struct reading *uptime_of(const struct ctprof_snapshot *s)
{
	static const struct reading unknown = { 0 };

	return s->host ? &s->host->uptime_clock_ticks : &unknown;
}

bool counter_rows_other_boot(const struct ctprof_snapshot *before,
			     const struct ctprof_snapshot *now)
{
	const struct name *a = before->host ? before->host->boot_id : NULL,
			  *b = now->host ? now->host->boot_id : NULL;

	if (a && b && !text_equal(name_text(a), name_text(b)))
		return true;
	return uptime_of(before)->measured && uptime_of(now)->measured &&
	       uptime_of(before)->value > uptime_of(now)->value;
}

static uint64_t minus_or_zero(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The times of two captures. Captures are dated by the time of day. If that was set between them,
 * their distance is that of the time since boot, which is known to a tick. */
static void date(const struct ctprof_snapshot *before, const struct ctprof_snapshot *now,
		 uint64_t *ret_before, uint64_t *ret_now)
{
	const uint64_t by_day =
		minus_or_zero(now->captured_at_unix_ns.value, before->captured_at_unix_ns.value);
	const bool known = uptime_of(before)->measured && uptime_of(now)->measured;
	const uint64_t begun = uptime_of(before)->value * TICK_NS,
		       ended = uptime_of(now)->value * TICK_NS;

	*ret_now = known ? ended : now->captured_at_unix_ns.value;
	*ret_before = *ret_now - by_day;
	if (known && (apart(minus_or_zero(ended, begun), by_day) > CLOCK_STEP_NS || by_day > ended))
		*ret_before = begun;
}

/* --- all of them --- */

struct counter_work {
	struct state_processes processes;
	struct word_map earlier; /* threads of `before` by id */
	const struct ctprof_snapshot *before, *now;
	struct names *names;
	uint64_t before_ns, now_ns;
	struct state_reading *ret_before, *ret_now;
};

static bool index_work_threads(struct counter_work *work)
{
	if (!word_map_reserve(&work->earlier, work->before->threads.count))
		return false;
	for (size_t i = 0; i < work->before->threads.count; i++) {
		uint32_t *place = word_map_at(
			&work->earlier,
			(struct words){ { state_rows_id(snapshot_thread(work->before, i)) } });

		if (!place)
			return false;
		*place = (uint32_t)i;
	}
	return true;
}

/* When it began, if it is known that this was between the captures. */
static bool is_born(const struct counter_work *work, const struct ctprof_thread *thread,
		    uint64_t *ret_begun_ns)
{
	const uint64_t begun = thread->start_time_clock_ticks.value * TICK_NS;

	if (!thread->start_time_clock_ticks.measured || !uptime_of(work->now)->measured ||
	    begun + TICK_NS <= work->before_ns)
		return false;
	*ret_begun_ns = begun > work->before_ns ? begun : work->before_ns;
	if (*ret_begun_ns > work->now_ns)
		*ret_begun_ns = work->now_ns;
	return true;
}

/* There is room. */
static bool add_counter_thread(struct counter_work *work, const struct ctprof_thread *thread)
{
	static const struct counter_facts facts = { .is_dated = true, .counts_delays = true };
	const uint32_t found =
		word_map_find(&work->earlier, (struct words){ { state_rows_id(thread) } });
	struct counter_memory memory = { 0 };
	struct iterator_record record;
	struct state_thread t;
	uint64_t begun_ns;

	if (!state_rows_describe(&work->processes, thread, work->names, &t))
		return false;
	if (found != WORD_MAP_NEW) {
		fill_record(&record, snapshot_thread(work->before, found), t.is_kernel,
			    work->before_ns);
		counter_times_meet(&t, &memory, &record, &facts);
		t.has_ended = counter_times_is_over(&record);
		work->ret_before->threads.items[work->ret_before->threads.count++] = t;
	} else if (is_born(work, thread, &begun_ns)) {
		counter_times_born(&t, &memory, begun_ns);
	} else {
		return true;
	}
	fill_record(&record, thread, t.is_kernel, work->now_ns);
	counter_times_add(&t, &memory, &record, &facts);
	/* Captures include dead threads until they are reaped. */
	t.has_ended = counter_times_is_over(&record);
	work->ret_now->threads.items[work->ret_now->threads.count++] = t;
	work->ret_now->measured |= measured_of(thread);
	return true;
}

static struct error *start_reading(struct state_reading *reading, const struct ctprof_snapshot *s,
				   uint64_t at_ns, size_t room)
{
	reading->at_ns = at_ns;
	reading->at_unix_ns = s->captured_at_unix_ns.value;
	reading->measured = 0;
	reading->cost = (struct state_cost){ 0 };
	array_clear(&reading->threads);
	return array_reserve(&reading->threads, room) ? NULL : &error_no_memory;
}

static struct error *take_threads(struct counter_work *work)
{
	if (!index_work_threads(work))
		return &error_no_memory;
	for (size_t i = 0; i < work->now->threads.count; i++)
		if (!add_counter_thread(work, snapshot_thread(work->now, i)))
			return &error_no_memory;
	work->ret_before->measured = work->ret_now->measured;
	return NULL;
}

struct error *counter_rows_read(const struct ctprof_snapshot *before,
				const struct ctprof_snapshot *now, struct names *names,
				struct state_reading *ret_before, struct state_reading *ret_now)
{
	struct counter_work work = {
		.processes = state_rows_processes(now),
		.before = before,
		.now = now,
		.names = names,
		.ret_before = ret_before,
		.ret_now = ret_now,
	};
	struct error *err;

	date(before, now, &work.before_ns, &work.now_ns);
	err = start_reading(ret_before, before, work.before_ns, now->threads.count);
	if (!err)
		err = start_reading(ret_now, now, work.now_ns, now->threads.count);
	if (!err && !counter_rows_other_boot(before, now))
		err = take_threads(&work);
	word_map_deinit(&work.earlier);
	return err;
}
