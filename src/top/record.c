/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/record.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cli/options.h"
#include "security/privileges.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"
#include "top/state_rows.h"

#define NS_PER_MS 1000000u

struct top_recorder {
	struct top_record_options options;
	struct state_watch watch;
	/* The thread's own, once it runs. */
	struct capturer *capturer;
	struct recording recording;
	size_t removed;
	uint64_t bytes;
	struct error *failure; /* the first, for the summary */
	/* Shared by both threads, under the lock. While `is_busy`, `reading` belongs to the
	 * recorder's thread. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_busy, is_over, has_ended;
	size_t written, failed;
	char problem[sizeof(((struct top_recorder_status *)0)->problem)]; /* of the last */
	struct state_reading reading;
	uint64_t boot_ns; /* as of it */
	/* Belongs to the caller. */
	size_t missed;
};

/* --- the thread --- */

/* Captures need not be remembered if they are never removed. */
static struct error *prune_recording(struct top_recorder *r)
{
	const struct keep *keep = &r->options.keep;
	size_t removed = 0;
	struct error *err;

	if (!keep->age_ms && !keep->bytes) {
		captures_drop(&r->recording.captures, r->recording.captures.count);
		return NULL;
	}
	err = recording_prune(&r->recording, keep, clock_ns(CLOCK_REALTIME) / NS_PER_MS, &removed);
	r->removed += removed;
	return err;
}

static struct error *record_one(struct top_recorder *r, bool *ret_written)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_free_ char *packed = NULL;
	size_t size = 0;
	const bool was_raised = privileges_raise();
	struct error *err = capturer_take(r->capturer, &snapshot);

	privileges_lower(was_raised);
	if (err)
		return err;
	/* Targets that existed at the first capture may end. */
	r->options.capture.may_be_gone = true;
	err = state_rows_join(&r->reading, &r->watch, r->boot_ns, snapshot);
	if (!err)
		err = snapshot_pack(snapshot, &packed, &size);
	if (!err)
		err = recording_add_within(&r->recording, &r->options.keep,
					   snapshot->captured_at_unix_ns.value / NS_PER_MS,
					   (struct text){ packed, size }, &r->removed);
	if (err)
		return err;
	*ret_written = true;
	r->bytes += size;
	err = prune_recording(r);
	return err ? err : recording_sync(&r->recording);
}

static void *work(void *argument)
{
	struct top_recorder *r = argument;

	pthread_mutex_lock(&r->lock);
	while (!r->is_over || r->is_busy) {
		struct error *err;
		bool written = false;

		if (!r->is_busy) {
			pthread_cond_wait(&r->changed, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		err = record_one(r, &written);
		pthread_mutex_lock(&r->lock);
		r->written += written;
		r->failed += err != NULL;
		if (err)
			snprintf(r->problem, sizeof(r->problem), "%s",
				 err->errnum ? strerror(err->errnum) : err->message);
		if (err && !r->failure)
			r->failure = err;
		else
			error_destroy(err);
		r->is_busy = false;
	}
	r->has_ended = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* --- passing readings to the writer --- */

static bool copy_reading(struct state_reading *to, const struct state_reading *from)
{
	array_clear(&to->threads);
	if (!array_reserve(&to->threads, from->threads.count))
		return false;
	to->threads.count = from->threads.count;
	if (from->threads.count)
		memcpy(to->threads.items, from->threads.items,
		       from->threads.count * sizeof(*from->threads.items));
	to->at_ns = from->at_ns;
	to->at_unix_ns = from->at_unix_ns;
	to->measured = from->measured;
	return true;
}

void top_recorder_take(struct top_recorder *r, const struct state_reading *reading)
{
	const uint64_t since = clock_ns(CLOCK_MONOTONIC) - reading->at_ns;

	pthread_mutex_lock(&r->lock);
	if (r->is_busy || !copy_reading(&r->reading, reading)) {
		r->missed++;
	} else {
		r->boot_ns = clock_ns(CLOCK_BOOTTIME) - since;
		r->is_busy = true;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
}

void top_recorder_look(struct top_recorder *r, struct top_recorder_status *ret)
{
	pthread_mutex_lock(&r->lock);
	*ret = (struct top_recorder_status){ .written = r->written, .failed = r->failed };
	snprintf(ret->problem, sizeof(ret->problem), "%s", r->problem);
	pthread_mutex_unlock(&r->lock);
	text_make_safe(ret->problem);
}

static void destroy(struct top_recorder *r)
{
	state_reading_deinit(&r->reading);
	recording_close(&r->recording);
	capturer_close(r->capturer);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	error_destroy(r->failure);
	free(r);
}

struct error *top_recorder_open(const struct top_record_options *options, struct top_recorder **ret)
{
	struct top_recorder *r = calloc(1, sizeof(*r));
	struct error *err;
	bool was_raised;

	if (!r)
		return &error_no_memory;
	r->options = *options;
	r->watch = (struct state_watch){ options->engine, clock_ns(CLOCK_MONOTONIC) };
	r->recording.dir = -1;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	was_raised = privileges_raise();
	err = capturer_open(&r->options.capture, &r->capturer);
	privileges_lower(was_raised);
	if (!err)
		err = recording_create(options->directory, &r->recording);
	if (!err && !thread_start(work, r))
		err = error_create("cannot create a thread for recording");
	if (err) {
		destroy(r);
		return error_prefix(err, "--record");
	}
	*ret = r;
	return NULL;
}

static void print_summary(const struct top_recorder *r)
{
	const struct {
		size_t count;
		const char *what;
	} parts[] = {
		{ r->failed, "failed" },
		{ r->removed, "removed by --keep" },
		{ r->missed, "skipped: the one before was still being written" },
	};
	char size[UNITS_TEXT_MAX];

	fprintf(stderr, "ctprof: %zu capture%s written to %s (%s)", r->written, plural(r->written),
		r->recording.path, units_format(size, UNIT_BYTES, (__int128)r->bytes));
	for (size_t i = 0; i < array_length(parts); i++)
		if (parts[i].count)
			fprintf(stderr, "; %zu %s", parts[i].count, parts[i].what);
	fputc('\n', stderr);
	if (r->failure)
		fprintf(stderr, "ctprof: %s\n", r->failure->message);
}

int top_recorder_close(struct top_recorder *r)
{
	int status;

	if (!r)
		return STATUS_DONE;
	pthread_mutex_lock(&r->lock);
	r->is_over = true;
	pthread_cond_broadcast(&r->changed);
	while (!r->has_ended)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	print_summary(r);
	status = r->failed ? STATUS_FAILED : STATUS_DONE;
	destroy(r);
	return status;
}
