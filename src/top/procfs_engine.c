/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine "procfs": what files of /proc tell of each thread, without any privilege.
 *
 * /proc/<tid>/schedstat has the time on a CPU and the waits for one, stat the state at this moment.
 * These are the counters of the engine "counters", and become times in the same way
 * (counter_times.h). The wait of a thread that has not run since the last reading is still the same
 * one, so its system call says what all of that time was; this file is readable for threads of the
 * same user. The waits of a thread that has run in between are undivided.
 *
 * A file is read in some 5 microseconds: three for a thread that has run, two for others.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "os/cgroup.h"
#include "os/pairs.h"
#include "os/stat.h"
#include "top/call_states.h"
#include "top/counter_times.h"
#include "top/delay_switch.h"
#include "top/engine.h"
#include "top/host_names.h"
#include "top/kept_threads.h"
#include "top/thread_list.h"
#include "top/wanted.h"

#define MEASURED                                                              \
	(1u << STATE_EXEC | 1u << STATE_EXEC_USER | 1u << STATE_EXEC_SYSTEM | \
	 1u << STATE_RUNNABLE | 1u << STATE_SLEEP | 1u << STATE_IDLE | 1u << STATE_STOPPED)

/* Columns of stat (proc_pid_stat(5)) besides those of os/stat.h. */
enum { STAT_PROCESSOR = 39, STAT_BLKIO = 42 };

#define TICK_NS (NS_PER_S / 100)

struct procfs {
	struct host_names names;
	struct wanted wanted;
	struct kept_threads threads;
	struct thread_list list;
	struct call_state_rows calls; /* of this reading */
	struct file_buffer stat, other;
	struct counter_facts facts;
	uint64_t opened_ns, opened_cpu_ns, walk_ns, last_walk_ns;
	int64_t boot_offset; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
};

static void procfs_close(void *self)
{
	struct procfs *p = self;

	host_names_deinit(&p->names);
	wanted_deinit(&p->wanted);
	kept_threads_deinit(&p->threads);
	thread_list_deinit(&p->list);
	array_deinit(&p->calls);
	file_buffer_deinit(&p->stat);
	file_buffer_deinit(&p->other);
	free(p);
}

static struct error *open_parts(struct procfs *p, const struct engine_options *options)
{
	struct text bytes;

	if (!wanted_init(&p->wanted, options))
		return &error_no_memory;
	if (!tasks_are_ours(p->names.proc))
		return error_create("/proc is missing, or belongs to another PID namespace");
	if (file_read_record(p->names.proc, "self/schedstat", &p->other, &bytes))
		return error_create("this kernel has no /proc/PID/schedstat (CONFIG_SCHED_INFO)");
	return NULL;
}

static struct error *procfs_open(const struct engine_options *options, void **ret)
{
	struct procfs *p = calloc(1, sizeof(*p));
	struct error *err = p ? host_names_init(&p->names) : &error_no_memory;

	if (err) {
		free(p);
		return err;
	}
	err = open_parts(p, options);
	if (err) {
		procfs_close(p);
		return err;
	}
	p->opened_ns = clock_ns(CLOCK_MONOTONIC);
	p->opened_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	*ret = p;
	return NULL;
}

/* --- files --- */

static bool read_file(const struct procfs *p, const struct listed_thread *thread, const char *file,
		      struct file_buffer *buffer, struct text *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "%" PRIu32 "/task/%" PRIu32 "/%s", thread->tgid, thread->tid,
		 file);
	return !file_read_record(p->names.proc, path, buffer, ret);
}

/* 0 where there is none. */
static uint64_t number_of(struct text column)
{
	uint64_t value = 0;

	text_u64(column, &value);
	return value;
}

static bool read_stat(struct procfs *p, const struct listed_thread *thread, struct stat_line *line)
{
	struct text bytes;

	return read_file(p, thread, "stat", &p->stat, &bytes) && stat_parse(bytes, line) &&
	       line->columns[STAT_STATE].length;
}

/* "run_ns wait_ns slices" */
static bool read_schedstat(struct procfs *p, const struct listed_thread *thread,
			   struct iterator_record *ret, uint64_t *ret_slices)
{
	struct text bytes, run, wait, slices;

	if (!read_file(p, thread, "schedstat", &p->other, &bytes) || !text_word(&bytes, &run) ||
	    !text_word(&bytes, &wait) || !text_word(&bytes, &slices))
		return false;
	ret->counters[TASK_run_time] = number_of(run);
	ret->counters[TASK_run_delay] = number_of(wait);
	return text_u64(slices, ret_slices);
}

/* Of a thread that has run: its switches and its user. */
static void read_status(struct procfs *p, const struct listed_thread *thread,
			struct iterator_record *ret)
{
	struct text rest, key, value, word;
	uint32_t uid;

	if (!read_file(p, thread, "status", &p->other, &rest))
		return;
	while (pairs_next(&rest, ':', &key, &value)) {
		if (text_equal(key, TEXT("voluntary_ctxt_switches")))
			ret->counters[TASK_nvcsw] = number_of(value);
		else if (text_equal(key, TEXT("nonvoluntary_ctxt_switches")))
			ret->counters[TASK_nivcsw] = number_of(value);
		else if (text_equal(key, TEXT("Uid")) && text_word(&value, &word) &&
			 text_word(&value, &word) && text_u32(word, &uid))
			ret->euid = uid;
	}
}

static void read_cgroup(struct procfs *p, const struct listed_thread *thread,
			struct state_thread *reported)
{
	struct text bytes, value;

	if (read_file(p, thread, "cgroup", &p->other, &bytes) &&
	    cgroup_path_parse_any(bytes, &value))
		reported->cgroup = host_names_of(&p->names, value.bytes, value.length);
}

static void fill_record(struct iterator_record *r, const struct listed_thread *thread,
			const struct stat_line *line, const struct counter_facts *facts)
{
	const struct text *columns = line->columns;

	r->now = clock_ns(CLOCK_MONOTONIC);
	r->tid = thread->tid;
	r->tgid = thread->tgid;
	r->is_leader = thread->tid == thread->tgid;
	r->kernel_flags = (uint32_t)number_of(columns[STAT_FLAGS]);
	r->cpu = (uint32_t)number_of(columns[STAT_PROCESSOR]);
	r->utime = number_of(columns[STAT_UTIME]);
	r->stime = number_of(columns[STAT_STIME]);
	r->start_boottime = number_of(columns[STAT_START_TIME]) * TICK_NS;
	r->has_delays = facts->counts_delays;
	r->counters[TASK_blkio_delay] = number_of(columns[STAT_BLKIO]) * TICK_NS;
	counter_times_set_letter(r, columns[STAT_STATE].bytes[0]);
}

/* --- a thread --- */

static void begin_thread(struct procfs *p, struct kept_thread *kept,
			 const struct iterator_record *r)
{
	const uint64_t start = r->start_boottime - (uint64_t)p->boot_offset;
	struct state_thread *reported = &kept->reported;

	reported->tgid = r->tgid;
	kept->wait = STATE_COUNT;
	kept->ran_ns = r->now;
	/* The start is known to the tick. */
	if ((int64_t)(start - p->opened_ns) < (int64_t)TICK_NS || !p->last_walk_ns)
		counter_times_meet(reported, &kept->memory, r, &p->facts);
	else
		counter_times_born(reported, &kept->memory,
				   start > p->last_walk_ns ? start : p->last_walk_ns);
}

/* The rest of the time since the last reading, which counter_times_add() gave to undivided sleep,
 * was the wait that was in progress then, if the thread has not run since. */
static void divide_rest(struct kept_thread *kept, uint64_t sleep_before)
{
	uint64_t *ns = kept->reported.times.ns;
	const uint64_t rest = ns[STATE_SLEEP] - sleep_before;

	if (kept->wait == STATE_COUNT || kept->wait == STATE_SLEEP)
		return;
	ns[STATE_SLEEP] -= rest;
	ns[kept->wait] += rest;
}

static void add_times(struct procfs *p, struct kept_thread *kept, const struct iterator_record *r,
		      bool has_run)
{
	struct state_thread *reported = &kept->reported;
	const uint64_t sleep_before = reported->times.ns[STATE_SLEEP];

	/* As the counters know it. */
	if (kept->wait != STATE_COUNT)
		reported->state = STATE_SLEEP;
	reported->since_is_least = false;
	counter_times_add(reported, &kept->memory, r, &p->facts);
	if (has_run)
		kept->wait = STATE_COUNT;
	else
		divide_rest(kept, sleep_before);
	reported->has_ended = counter_times_is_over(r);
}

/* Ask for the wait of a thread that has begun to wait; one that goes on is known. */
static bool ask_for_wait(struct procfs *p, struct kept_thread *kept,
			 const struct iterator_record *r)
{
	struct state_thread *reported = &kept->reported;
	const struct call_state_row row = { .tid = r->tid,
					    .tgid = r->tgid,
					    .is_deep = r->state == 0x2 };

	if (reported->state != STATE_SLEEP || reported->is_kernel || reported->has_ended) {
		kept->wait = STATE_COUNT;
		reported->syscall = -1;
		return true;
	}
	if (kept->wait == STATE_COUNT)
		return array_push(&p->calls, row);
	reported->state = kept->wait;
	reported->since_ns = kept->ran_ns;
	reported->since_is_least = true;
	return true;
}

/* The time since the last reading that is in neither counter. */
static uint64_t uncounted(const struct kept_thread *kept, const struct iterator_record *r)
{
	const uint64_t window = r->now - kept->reported.seen_ns,
		       run = r->counters[TASK_run_time] - kept->memory.reported[COUNTED_RUN],
		       delay = r->counters[TASK_run_delay] - kept->memory.reported[COUNTED_DELAY];

	/* Counters may lag, and then be behind what was reported. */
	if ((int64_t)window < 0 || (int64_t)run < 0 || (int64_t)delay < 0 || run > window ||
	    delay > window - run)
		return 0;
	return window - run - delay;
}

/*
 * Since when a thread that could run waits for a CPU. One that has not run since the last reading
 * has waited since then, or, if it was blocked there, since now. One that has run, and did not
 * sleep, waits for as long as no counter has: the kernel counts a wait when it ends, and run time
 * at ticks.
 */
static void note_queue(struct kept_thread *kept, struct iterator_record *r, bool is_new,
		       bool has_run)
{
	const enum state before = kept->reported.state;
	uint64_t waits;

	if (r->state || r->exit_state || is_new ||
	    (has_run && r->counters[TASK_nvcsw] != kept->memory.voluntary)) {
		kept->queued_ns = 0;
		return;
	}
	if (has_run) {
		waits = uncounted(kept, r);
		kept->queued_ns = waits > COUNTER_SLACK_NS ? r->now - waits : 0;
	} else if (!kept->queued_ns) {
		kept->queued_ns =
			before == STATE_EXEC || before == STATE_RUNNABLE ? kept->ran_ns : r->now;
	}
	r->queued_since = kept->queued_ns;
}

static struct error *take_thread(struct procfs *p, const struct listed_thread *thread)
{
	struct iterator_record r = { 0 };
	struct kept_thread *kept;
	struct stat_line line;
	uint64_t slices;
	bool is_new, has_run;

	if (!read_stat(p, thread, &line) || !read_schedstat(p, thread, &r, &slices))
		return NULL;
	fill_record(&r, thread, &line, &p->facts);
	kept = kept_threads_at(&p->threads, thread->tid, r.start_boottime, &is_new);
	if (!kept)
		return &error_no_memory;
	has_run = is_new || slices != kept->slices || r.counters[TASK_run_time] != kept->run_ns;
	r.counters[TASK_nvcsw] = kept->memory.voluntary;
	r.counters[TASK_nivcsw] = kept->memory.involuntary;
	if (has_run)
		read_status(p, thread, &r);
	note_queue(kept, &r, is_new, has_run);
	kept->is_only_led = !wanted_has(&p->wanted, thread->tid, thread->tgid);
	if (is_new) {
		begin_thread(p, kept, &r);
		read_cgroup(p, thread, &kept->reported);
		kept->is_over = counter_times_is_over(&r) && kept->reported.seen_ns == r.now;
	}
	if (has_run) {
		kept->ran_ns = r.now;
		kept->reported.uid = r.euid;
	}
	kept->slices = slices;
	kept->run_ns = r.counters[TASK_run_time];
	kept->reported.name =
		host_names_again(&p->names, kept->reported.name, line.comm.bytes, line.comm.length);
	if (!kept->reported.name)
		return &error_no_memory;
	if (!kept->is_over) {
		add_times(p, kept, &r, has_run);
		if (!ask_for_wait(p, kept, &r))
			return &error_no_memory;
	}
	return kept_threads_met(&p->threads, kept) ? NULL : &error_no_memory;
}

/* --- waits --- */

static void take_waits(struct procfs *p)
{
	call_states_read(&p->calls);
	for (size_t i = 0; i < p->calls.count; i++) {
		const struct call_state_row *row = &p->calls.items[i];
		struct kept_thread *kept = kept_threads_find(&p->threads, row->tid);

		if (!kept)
			continue;
		kept->wait = row->is_read ? row->state : STATE_COUNT;
		kept->reported.syscall = row->syscall;
		if (row->is_read)
			kept->reported.state = row->state;
	}
	array_clear(&p->calls);
}

/* --- a reading --- */

/* Parts of waits are known where one was all that a thread did. */
static unsigned measured(const struct procfs *p, const struct state_reading *reading)
{
	unsigned states = MEASURED;

	if (p->facts.counts_delays)
		states |= 1u << STATE_SLEEP_DISK;
	for (size_t i = 0; i < reading->threads.count; i++)
		for (enum state state = 0; state < STATE_COUNT; state++)
			if (reading->threads.items[i].times.ns[state])
				states |= 1u << state;
	return states;
}

static struct error *procfs_read(void *self, struct state_reading *reading)
{
	struct procfs *p = self;
	struct error *err;

	kept_threads_begin(&p->threads);
	p->last_walk_ns = p->walk_ns;
	p->walk_ns = clock_ns(CLOCK_MONOTONIC);
	p->boot_offset = (int64_t)(clock_ns(CLOCK_BOOTTIME) - p->walk_ns);
	p->facts = (struct counter_facts){
		.is_dated = true,
		.counts_delays = delay_switch_is_on(p->names.proc, &p->other),
	};
	reading->at_ns = p->walk_ns;
	reading->at_unix_ns = clock_ns(CLOCK_REALTIME);
	array_clear(&reading->threads);
	err = thread_list_make(&p->list, p->names.proc, &p->wanted);
	for (size_t i = 0; i < p->list.threads.count && !err; i++)
		err = take_thread(p, &p->list.threads.items[i]);
	if (!err)
		take_waits(p);
	if (!err)
		err = kept_threads_put(&p->threads, reading);
	reading->measured = measured(p, reading);
	reading->cost = (struct state_cost){
		.own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - p->opened_cpu_ns,
	};
	return err;
}

const struct engine_methods engine_procfs = {
	.open = procfs_open,
	.read = procfs_read,
	.close = procfs_close,
	.measured = MEASURED,
};
