/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine "taskstats": four delays by netlink, thread by thread, for hosts without BPF.
 *
 * It shows what the kernel has accounted and nothing else. A wait is accounted when it ends, so a
 * window may show nothing of a long wait, and the next one more than its own time; what a thread
 * did besides is in no state, so times do not add up. Swap-ins that sleep are block I/O too. Delays
 * of storage and swap are counted while kernel.task_delayacct is 1, and zero for threads that are
 * older than that. What a thread does now is not known.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "os/cgroup.h"
#include "os/stat.h"
#include "os/tasks.h"
#include "os/taskstats_socket.h"
#include "top/delay_switch.h"
#include "top/delay_times.h"
#include "top/engine.h"
#include "top/host_names.h"
#include "top/kept_threads.h"
#include "top/thread_list.h"
#include "top/wanted.h"

struct delays {
	struct taskstats_socket *socket;
	struct host_names names;
	struct wanted wanted;
	struct kept_threads threads;
	struct thread_list list;
	struct file_buffer buffer;
	uint64_t opened_ns, opened_cpu_ns, lost, impossible;
};

static void delays_close(void *self)
{
	struct delays *d = self;

	taskstats_socket_close(d->socket);
	host_names_deinit(&d->names);
	wanted_deinit(&d->wanted);
	kept_threads_deinit(&d->threads);
	thread_list_deinit(&d->list);
	file_buffer_deinit(&d->buffer);
	free(d);
}

/* Our own thread shows whether we may ask. */
static struct error *open_parts(struct delays *d, const struct engine_options *options)
{
	const uint32_t self = (uint32_t)getpid();
	struct taskstats_reply reply;
	struct error *err;

	if (!wanted_init(&d->wanted, options))
		return &error_no_memory;
	if (!tasks_are_ours(d->names.proc))
		return error_create("/proc is missing, or belongs to another PID namespace");
	err = taskstats_socket_open(&d->socket);
	if (err)
		return err;
	taskstats_ask(d->socket, &self, 1, &reply);
	if (reply.failed == EPERM)
		return error_create(
			"denied: needs CAP_NET_ADMIN in the initial user namespace; run as root");
	return reply.failed ? error_system(reply.failed, "taskstats") : NULL;
}

static struct error *delays_open(const struct engine_options *options, void **ret)
{
	struct delays *d = calloc(1, sizeof(*d));
	struct error *err = d ? host_names_init(&d->names) : &error_no_memory;

	if (err) {
		free(d);
		return err;
	}
	err = open_parts(d, options);
	if (err) {
		delays_close(d);
		return err;
	}
	d->opened_ns = clock_ns(CLOCK_MONOTONIC);
	d->opened_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	*ret = d;
	return NULL;
}

/* --- a thread --- */

/* Files are read once per thread: few threads move to another cgroup, and none becomes a kernel
 * thread. */
static void read_files(struct delays *d, struct state_thread *reported)
{
	struct text bytes, value;
	struct stat_line line;
	uint32_t flags;
	char path[32];

	snprintf(path, sizeof(path), "%" PRIu32 "/cgroup", reported->tid);
	if (!file_read(d->names.proc, path, &d->buffer, &bytes) &&
	    cgroup_path_parse_any(bytes, &value))
		reported->cgroup = host_names_of(&d->names, value.bytes, value.length);
	snprintf(path, sizeof(path), "%" PRIu32 "/stat", reported->tgid);
	if (reported->tid == reported->tgid &&
	    !file_read_record(d->names.proc, path, &d->buffer, &bytes) &&
	    stat_parse(bytes, &line) && text_u32(line.columns[STAT_FLAGS], &flags))
		reported->is_kernel = flags & PF_KTHREAD;
}

/* Is the thread a zombie? A thread that has released its memory has no high-water marks. Neither
 * have kernel threads, nor any thread without CONFIG_TASK_XACCT: only for these, read the state. */
static bool is_dead(struct delays *d, const struct state_thread *reported,
		    const struct taskstats_values *stats)
{
	struct stat_line line;
	struct text bytes;
	char path[32];

	if (stats->values[TASKSTATS_HIWATER_RSS] || reported->is_kernel)
		return false;
	snprintf(path, sizeof(path), "%" PRIu32 "/stat", reported->tid);
	return !file_read_record(d->names.proc, path, &d->buffer, &bytes) &&
	       stat_parse(bytes, &line) && stat_is_dead(&line);
}

static bool set_thread_names(struct delays *d, struct state_thread *reported,
			     const struct taskstats_values *stats)
{
	reported->name =
		host_names_again(&d->names, reported->name, stats->comm, sizeof(stats->comm));
	return reported->name != NULL;
}

static struct error *take_reply(struct delays *d, const struct listed_thread *asked,
				const struct taskstats_reply *reply, uint64_t now,
				struct state_reading *reading)
{
	struct kept_thread *kept;
	bool is_new;

	if (reply->failed == ESRCH)
		return NULL;
	if (reply->failed) {
		d->lost++;
		return NULL;
	}
	kept = kept_threads_at(&d->threads, asked->tid, 0, &is_new);
	if (kept && !is_new &&
	    delay_times_are_anothers(&kept->reported, &kept->memory, &reply->stats, now)) {
		kept->reported.has_ended = true;
		if (!kept->is_only_led && !array_push(&reading->threads, kept->reported))
			return &error_no_memory;
		kept_threads_drop(&d->threads, kept);
		kept = kept_threads_at(&d->threads, asked->tid, 0, &is_new);
	}
	if (!kept)
		return &error_no_memory;
	kept->is_only_led = !wanted_has(&d->wanted, asked->tid, asked->tgid);
	if (is_new) {
		kept->reported.tgid = asked->tgid;
		read_files(d, &kept->reported);
		delay_times_begin(&kept->reported, &kept->memory, &reply->stats, d->opened_ns, now);
		/* It was dead when first seen. */
		kept->is_over =
			is_dead(d, &kept->reported, &reply->stats) && kept->reported.seen_ns == now;
	}
	if (!kept->is_over) {
		d->impossible +=
			delay_times_add(&kept->reported, &kept->memory, &reply->stats, now);
		kept->reported.has_ended = is_dead(d, &kept->reported, &reply->stats);
	}
	return set_thread_names(d, &kept->reported, &reply->stats) &&
			       kept_threads_met(&d->threads, kept)
		       ? NULL
		       : &error_no_memory;
}

static struct error *ask_threads(struct delays *d, const struct listed_thread *asked, size_t count,
				 struct state_reading *reading)
{
	struct taskstats_reply replies[TASKSTATS_BATCH_MAX];
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint32_t tids[TASKSTATS_BATCH_MAX];
	struct error *err = NULL;

	for (size_t i = 0; i < count; i++)
		tids[i] = asked[i].tid;
	taskstats_ask(d->socket, tids, count, replies);
	for (size_t i = 0; i < count && !err; i++)
		err = take_reply(d, &asked[i], &replies[i], now, reading);
	return err;
}

static struct error *delays_read(void *self, struct state_reading *reading)
{
	struct delays *d = self;
	struct error *err;

	kept_threads_begin(&d->threads);
	reading->at_ns = clock_ns(CLOCK_MONOTONIC);
	reading->at_unix_ns = clock_ns(CLOCK_REALTIME);
	reading->measured = delay_times_measured(delay_switch_is_on(d->names.proc, &d->buffer));
	array_clear(&reading->threads);
	err = thread_list_make(&d->list, d->names.proc, &d->wanted);
	for (size_t done = 0; done < d->list.threads.count && !err; done += TASKSTATS_BATCH_MAX) {
		const size_t left = d->list.threads.count - done;

		err = ask_threads(d, d->list.threads.items + done,
				  left < TASKSTATS_BATCH_MAX ? left : TASKSTATS_BATCH_MAX, reading);
	}
	if (!err)
		err = kept_threads_put(&d->threads, reading);
	reading->cost = (struct state_cost){
		.own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - d->opened_cpu_ns,
		.threads_lost = d->lost,
		.delays_impossible = d->impossible,
	};
	return err;
}

const struct engine_methods engine_taskstats = {
	.open = delays_open,
	.read = delays_read,
	.close = delays_close,
	.measured = DELAY_TIMES_MEASURED,
};
