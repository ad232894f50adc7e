/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine "counters": what the kernel counts of every thread anyway, read by a BPF task
 * iterator.
 *
 * Nothing is attached to the scheduler, so it costs only while it reads: below a microsecond a
 * thread. What it can tell is in top/counter_times.h. A thread that came and went between two
 * readings is not seen at all, and of one that is gone, what it did since the reading before is not
 * known.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "capture/task_iterator.h"
#include "top/counter_times.h"
#include "top/delay_switch.h"
#include "top/engine.h"
#include "top/host_names.h"
#include "top/kept_threads.h"
#include "top/wanted.h"

#define MEASURED                                                                                  \
	(1u << STATE_EXEC | 1u << STATE_EXEC_USER | 1u << STATE_EXEC_SYSTEM | 1u << STATE_SLEEP | \
	 1u << STATE_IDLE | 1u << STATE_STOPPED)

struct counters {
	struct task_iterator *tasks;
	struct host_names names;
	struct wanted wanted;
	struct kept_threads threads;
	struct file_buffer buffer;
	struct counter_facts facts;
	uint64_t opened_ns, opened_cpu_ns;
	uint64_t walk_ns, last_walk_ns; /* when this one began, and the one before */
	int64_t boot_offset;            /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	bool has_delays;                /* any thread of this reading */
};

static void counters_close(void *self)
{
	struct counters *c = self;

	task_iterator_close(c->tasks);
	host_names_deinit(&c->names);
	wanted_deinit(&c->wanted);
	kept_threads_deinit(&c->threads);
	file_buffer_deinit(&c->buffer);
	free(c);
}

static struct error *open_parts(struct counters *c, const struct engine_options *options)
{
	_cleanup_error_ struct error *err = NULL;

	if (!wanted_init(&c->wanted, options))
		return &error_no_memory;
	err = task_iterator_open(&c->tasks);
	return err ? error_create("%s; the engine 'taskstats' needs no BPF", err->message) : NULL;
}

static struct error *counters_open(const struct engine_options *options, void **ret)
{
	struct counters *c = calloc(1, sizeof(*c));
	struct error *err = c ? host_names_init(&c->names) : &error_no_memory;

	if (err) {
		free(c);
		return err;
	}
	err = open_parts(c, options);
	if (err) {
		counters_close(c);
		return err;
	}
	c->opened_ns = clock_ns(CLOCK_MONOTONIC);
	c->opened_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	*ret = c;
	return NULL;
}

/* --- a thread --- */

/* A thread that started during this walk did not exist when the previous walk passed. */
static void begin_thread_times(struct counters *c, struct kept_thread *kept,
			       const struct iterator_record *r)
{
	const uint64_t start = r->start_boottime - (uint64_t)c->boot_offset;
	struct state_thread *reported = &kept->reported;

	reported->tgid = r->tgid;
	if ((int64_t)(start - c->opened_ns) < 0 || !c->last_walk_ns)
		counter_times_meet(reported, &kept->memory, r, &c->facts);
	else
		counter_times_born(reported, &kept->memory,
				   start > c->last_walk_ns ? start : c->last_walk_ns);
}

static bool set_names(struct counters *c, struct kept_thread *kept, const struct iterator_record *r)
{
	struct state_thread *reported = &kept->reported;

	reported->name = host_names_again(&c->names, reported->name, r->name, sizeof(r->name));
	if (kept->cgroup != r->cgroup) {
		kept->cgroup = r->cgroup;
		reported->cgroup = host_names_cgroup_of(&c->names, r->cgroup, r->tgid,
							r->is_leader ? r->start_boottime : 0);
	}
	if (r->is_leader)
		reported->uid = r->euid;
	return reported->name != NULL;
}

/* The leader of a process that is not selected as a whole is kept, since it has the process name.
 */
static struct error *take_record(struct counters *c, const struct iterator_record *r)
{
	const bool is_wanted = wanted_has(&c->wanted, r->tid, r->tgid);
	struct kept_thread *kept;
	bool is_new;

	if (!is_wanted && !(r->is_leader && c->wanted.tids.count))
		return NULL;
	kept = kept_threads_at(&c->threads, r->tid, r->start_boottime, &is_new);
	if (!kept)
		return &error_no_memory;
	kept->is_only_led = !is_wanted;
	if (is_new) {
		begin_thread_times(c, kept, r);
		/* It was dead when first seen. */
		kept->is_over = counter_times_is_over(r) && kept->reported.seen_ns == r->now;
	}
	if (!set_names(c, kept, r))
		return &error_no_memory;
	if (!kept->is_over) {
		counter_times_add(&kept->reported, &kept->memory, r, &c->facts);
		kept->reported.has_ended = counter_times_is_over(r);
		c->has_delays |= r->has_delays;
	}
	return kept_threads_met(&c->threads, kept) ? NULL : &error_no_memory;
}

static struct error *walk_threads(struct counters *c)
{
	struct task_batch_view batch = { 0 };
	struct error *err = task_iterator_begin(c->tasks, false);

	if (err)
		return err;
	c->facts = (struct counter_facts){
		.clock_offset = (int64_t)task_iterator_sched_clock(c->tasks, 0),
		.is_dated = task_iterator_has(c->tasks, TASK_HAS_QUEUED_SINCE) ||
			    task_iterator_has(c->tasks, TASK_HAS_BLKIO_SINCE),
		.counts_delays = delay_switch_is_on(c->names.proc, &c->buffer),
	};
	do {
		err = task_iterator_next(c->tasks, &batch);
		for (size_t i = 0; !err && i < batch.count; i++)
			err = take_record(c, &batch.records[i]);
	} while (!err && batch.count);
	return err;
}

/* --- a reading --- */

/* Without records of delays a wait for storage is known if it was all there was. */
static unsigned measured(const struct counters *c, const struct state_reading *reading)
{
	unsigned states = MEASURED;

	if (task_iterator_counts(c->tasks, TASK_run_delay))
		states |= 1u << STATE_RUNNABLE;
	if (c->has_delays && c->facts.counts_delays)
		states |= 1u << STATE_SLEEP_DISK | 1u << STATE_PAGING;
	for (size_t i = 0; i < reading->threads.count; i++)
		if (reading->threads.items[i].times.ns[STATE_SLEEP_DISK])
			states |= 1u << STATE_SLEEP_DISK;
	return states;
}

static void put_cost(const struct counters *c, struct state_reading *reading)
{
	const struct task_iterator_cost cost = task_iterator_cost(c->tasks);

	reading->cost = (struct state_cost){
		.program_ns = cost.ns,
		.own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - c->opened_cpu_ns,
	};
}

static struct error *counters_read(void *self, struct state_reading *reading)
{
	struct counters *c = self;
	struct error *err;

	kept_threads_begin(&c->threads);
	c->has_delays = false;
	c->last_walk_ns = c->walk_ns;
	c->walk_ns = clock_ns(CLOCK_MONOTONIC);
	c->boot_offset = (int64_t)(clock_ns(CLOCK_BOOTTIME) - c->walk_ns);
	reading->at_ns = c->walk_ns;
	reading->at_unix_ns = clock_ns(CLOCK_REALTIME);
	array_clear(&reading->threads);
	err = walk_threads(c);
	if (!err)
		err = kept_threads_put(&c->threads, reading);
	reading->measured = measured(c, reading);
	put_cost(c, reading);
	return err;
}

const struct engine_methods engine_counters = {
	.open = counters_open,
	.read = counters_read,
	.close = counters_close,
	.measured = MEASURED | 1u << STATE_RUNNABLE | 1u << STATE_SLEEP_DISK | 1u << STATE_PAGING,
};
