/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/state_rows.h"

#include <stdlib.h>

#include "base/units.h"
#include "base/word_map.h"

#define TICK_NS (NS_PER_S / 100)

/* --- rows --- */

_Static_assert(METRIC_state_stopped_ns - METRIC_state_exec_ns == STATE_STOPPED - STATE_EXEC &&
		       STATE_STOPPED == STATE_COUNT - 1,
	       "metrics.def has a row for each row of THREAD_STATES (state/state.h), in its order");

static enum metric_id metric_of_state(enum state state)
{
	return METRIC_state_exec_ns + state;
}

static uint64_t ns_of(const struct state_times *times, enum state state)
{
	return state_is_main(state) ? state_times_of(times, state) : times->ns[state];
}

static void set_metric(struct thread_record *record, enum metric_id id, uint64_t value)
{
	metric_place_u64(&record->values, &metrics[id], value);
	metric_set_add(&record->measured, id);
}

static bool has_state_metric(const struct ctprof_thread *thread, enum metric_id id)
{
	return metric_set_has(&thread->record.measured, id);
}

static uint64_t state_metric_value(const struct ctprof_thread *thread, enum metric_id id)
{
	return has_state_metric(thread, id) ? metric_load_u64(&thread->record.values, &metrics[id])
					    : 0;
}

static uint64_t minus_or_zero(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* --- into a capture --- */

static void fill_now(struct thread_record *record, const struct state_thread *t,
		     const struct name *now)
{
	const bool waits = state_rows[t->state].main != STATE_EXEC && t->since_ns;

	set_metric(record, METRIC_state_now_ns, waits ? minus_or_zero(t->seen_ns, t->since_ns) : 0);
	metric_store_name(&record->values, &metrics[METRIC_state_now], now);
	metric_set_add(&record->measured, METRIC_state_now);
}

/* `now` is NULL where the engine does not tell in which state it is. */
static void fill_record(struct thread_record *record, const struct state_thread *t,
			unsigned measured, const struct name *now)
{
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (state_is_measured(measured, state))
			set_metric(record, metric_of_state(state), ns_of(&t->times, state));
	set_metric(record, METRIC_state_watched_ns, minus_or_zero(t->seen_ns, t->begun_ns));
	set_metric(record, METRIC_state_switches, t->switches);
	if (now)
		fill_now(record, t, now);
}

/* Index the threads of a snapshot by number. */
static bool index_threads(struct word_map *map, const struct ctprof_snapshot *snapshot)
{
	if (!word_map_reserve(map, snapshot->threads.count))
		return false;
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(snapshot, i);
		uint32_t *place = word_map_at(map, (struct words){ { thread->tid, thread->tgid } });

		if (!place)
			return false;
		*place = (uint32_t)i;
	}
	return true;
}

static bool is_later(const struct ctprof_thread *thread, uint64_t boot_ns)
{
	return thread->start_time_clock_ticks.measured &&
	       thread->start_time_clock_ticks.value > boot_ns / TICK_NS;
}

static struct error *join(const struct state_reading *reading, const struct word_map *threads,
			  uint64_t boot_ns, struct ctprof_snapshot *snapshot)
{
	const struct name *names[STATE_COUNT + 1] = { NULL };

	for (enum state state = 0; state < STATE_COUNT; state++) {
		names[state] = snapshot_name(snapshot, text_of(state_rows[state].name));
		if (!names[state])
			return &error_no_memory;
	}
	for (size_t i = 0; i < reading->threads.count; i++) {
		const struct state_thread *t = &reading->threads.items[i];
		uint32_t found = word_map_find(threads, (struct words){ { t->tid, t->tgid } });
		struct ctprof_thread *thread;

		/* The number of an ended one may be reused. */
		if (found == WORD_MAP_NEW || t->has_ended)
			continue;
		thread = snapshot_thread(snapshot, found);
		if (!is_later(thread, boot_ns))
			fill_record(&thread->record, t, reading->measured, names[t->state]);
	}
	return NULL;
}

struct error *state_rows_join(const struct state_reading *reading, const struct state_watch *watch,
			      uint64_t boot_ns, struct ctprof_snapshot *snapshot)
{
	struct capture_info *info = snapshot->capture;
	struct word_map threads = { 0 };
	struct error *err;

	if (!info)
		info = arena_alloc(&snapshot->arena, sizeof(*info));
	if (!info)
		return &error_no_memory;
	snapshot->capture = info;
	info->states_engine = snapshot_name(snapshot, text_of(watch->engine));
	info->states_begun_ns = reading_of(watch->begun_ns);
	info->states_at_ns = reading_of(reading->at_ns);
	info->states_at_unix_ns = reading_of(reading->at_unix_ns);
	err = info->states_engine && index_threads(&threads, snapshot)
		      ? join(reading, &threads, boot_ns, snapshot)
		      : &error_no_memory;
	word_map_deinit(&threads);
	return err;
}

/* --- out of one --- */

bool state_rows_watch(const struct ctprof_snapshot *snapshot, struct state_watch *ret)
{
	const struct capture_info *info = snapshot->capture;

	if (!info || !info->states_engine || !info->states_begun_ns.measured ||
	    !info->states_at_ns.measured || !info->states_at_unix_ns.measured)
		return false;
	*ret = (struct state_watch){ info->states_engine->bytes, info->states_begun_ns.value };
	return true;
}

/* STATE_COUNT, not known, of a name that another version may have. */
static enum state state_named(const struct name *name)
{
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (text_equal(name_text(name), text_of(state_rows[state].name)))
			return state;
	return STATE_COUNT;
}

/* The rest of the whole that the parts lack could not be divided. */
static void read_times(const struct ctprof_thread *thread, struct state_times *ret)
{
	for (enum state state = 0; state < STATE_COUNT; state++)
		ret->ns[state] = state_metric_value(thread, metric_of_state(state));
	for (enum state part = 0; part < STATE_COUNT; part++)
		if (!state_is_main(part))
			ret->ns[state_rows[part].main] =
				minus_or_zero(ret->ns[state_rows[part].main], ret->ns[part]);
}

static bool read_thread(const struct state_processes *processes, const struct ctprof_thread *thread,
			struct names *names, uint64_t at_ns, struct state_thread *ret)
{
	const uint64_t in_progress = state_metric_value(thread, METRIC_state_now_ns);

	if (!state_rows_describe(processes, thread, names, ret))
		return false;
	ret->seen_ns = at_ns;
	ret->begun_ns = minus_or_zero(at_ns, state_metric_value(thread, METRIC_state_watched_ns));
	ret->switches = state_metric_value(thread, METRIC_state_switches);
	ret->state = has_state_metric(thread, METRIC_state_now)
			     ? state_named(thread->record.values.state_now.v)
			     : STATE_COUNT;
	ret->since_ns =
		in_progress && ret->state < STATE_COUNT ? minus_or_zero(at_ns, in_progress) : 0;
	/* A thread that started while it was watched was runnable first. */
	ret->since_is_least =
		ret->since_ns && ret->since_ns == ret->begun_ns && ret->state != STATE_RUNNABLE;
	read_times(thread, &ret->times);
	return true;
}

struct error *state_rows_read(const struct ctprof_snapshot *snapshot, struct names *names,
			      struct state_reading *ret)
{
	const struct state_processes processes = state_rows_processes(snapshot);

	ret->at_ns = snapshot->capture->states_at_ns.value;
	ret->at_unix_ns = snapshot->capture->states_at_unix_ns.value;
	ret->measured = 0;
	ret->cost = (struct state_cost){ 0 };
	ret->is_complete = snapshot->hosts.count;
	array_clear(&ret->threads);
	if (!array_reserve(&ret->threads, snapshot->threads.count))
		return &error_no_memory;
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(snapshot, i);

		/* It started after the reading, so it has no times. */
		if (!has_state_metric(thread, METRIC_state_watched_ns))
			continue;
		for (enum state state = 0; state < STATE_COUNT; state++)
			ret->measured |= (unsigned)has_state_metric(thread, metric_of_state(state))
					 << state;
		if (!read_thread(&processes, thread, names, ret->at_ns,
				 &ret->threads.items[ret->threads.count++]))
			return &error_no_memory;
	}
	return NULL;
}

/* --- what captures say of any thread --- */

/* Numbers of threads are below PID_MAX_LIMIT, 2^22 (include/linux/threads.h). Below the host, there
 * is room for start times of five years. */
uint64_t state_rows_id(const struct ctprof_thread *thread)
{
	const uint64_t host = thread->host;

	return (thread->start_time_clock_ticks.value << 22 | thread->tid) ^ host << 56;
}

struct state_processes state_rows_processes(const struct ctprof_snapshot *snapshot)
{
	return (struct state_processes){ snapshot->processes.items, snapshot->processes.count };
}

static int by_number(const void *a, const void *b)
{
	const struct ctprof_thread *thread = a;
	const struct process *process = b;
	const int order = compare_u32(&thread->tgid, &process->tgid);

	return order ? order : compare_u32(&thread->host, &process->host);
}

/* Kernel threads are children of this process (kernel/kthread.c), which has no parent. In a PID
 * namespace another process may have this number; it then has a command line. */
#define KTHREADD 2

static bool is_of_kernel(const struct process *process)
{
	return process && process->ppid.measured && !process->cmdline && !process->exe &&
	       (process->ppid.value == KTHREADD ||
		(process->tgid == KTHREADD && !process->ppid.value));
}

static const struct name *copy_into_names(struct names *names, const struct name *name)
{
	return names_intern(names, name ? name->bytes : "", name ? name->length : 0);
}

bool state_rows_describe(const struct state_processes *processes,
			 const struct ctprof_thread *thread, struct names *names,
			 struct state_thread *ret)
{
	const struct process *process =
		processes->count ? bsearch(thread, processes->items, processes->count,
					   sizeof(*processes->items), by_number)
				 : NULL;

	*ret = (struct state_thread){
		.tid = thread->tid,
		.tgid = thread->tgid,
		.host = thread->host,
		.id = state_rows_id(thread),
		.uid = process ? (uint32_t)process->uid.value : 0,
		.cpu = has_state_metric(thread, METRIC_processor)
			       ? thread->record.values.processor.v
			       : 0,
		.is_kernel = is_of_kernel(process),
		.name = copy_into_names(names, thread->comm),
		.process = copy_into_names(names, thread->pcomm),
		.cgroup = thread->cgroup && thread->cgroup->length
				  ? copy_into_names(names, thread->cgroup)
				  : NULL,
		.syscall = -1,
	};
	return ret->name && ret->process;
}
