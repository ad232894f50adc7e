/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures wait in a ring in memory, packed, and go from there to the directory: at once, or when a
 * trigger fires. What cannot be written stays in the ring, is tried again with the next capture,
 * and is lost when the ring has no room for it any more.
 */
#include "cmd/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/thread.h"
#include "base/units.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"

#define NS_PER_MS 1000000u

/* Failures after which a recorder continues. Each is reported once until it works again. */
enum trouble { TROUBLE_FACT, TROUBLE_CAPTURE, TROUBLE_WRITE, TROUBLE_REMOVE, TROUBLE_COUNT };

struct recorder {
	struct record_arguments *arguments;
	struct capture_options *options;
	struct capturer *capturer;
	struct recording recording;
	struct captures ring;
	struct keep hold; /* of the ring */
	int proc;         /* where triggers look; -1: there are none */
	struct trigger_seen seen;
	sigset_t signals;
	/* By the monotonic clock. */
	uint64_t start_ns, next_ns;
	uint64_t writing_until_ns, quiet_until_ns; /* after a trigger */
	bool unwritten;                            /* the ring holds what should be in a file */
	size_t taken, failed, parts, written, lost, missed, removed;
	uint64_t bytes;
	int said[TROUBLE_COUNT]; /* errno of the failure that was told, -1 without one; 0: none */
	bool said_short, shown;  /* that the ring is short; progress */
};

static bool is_ring(const struct recorder *r)
{
	return r->arguments->ring.age_ms != 0;
}

/* --- messages --- */

__attribute__((format(printf, 2, 3))) static void tell(struct recorder *r, const char *format, ...)
{
	va_list arguments;

	if (r->shown)
		fputs("\r\033[K", stderr);
	r->shown = false;
	fputs("ctprof: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* A failure that a recorder survives, or NULL: it works (again). */
static void print_failure(struct recorder *r, enum trouble trouble, struct error *err)
{
	int failed = !err ? 0 : err->errnum ? err->errnum : -1;

	if (err && r->said[trouble] != failed)
		tell(r, "%s; going on", err->message);
	r->said[trouble] = failed;
	error_destroy(err);
}

static double seconds_since(const struct recorder *r)
{
	return (double)(clock_ns(CLOCK_MONOTONIC) - r->start_ns) / 1e9;
}

static void show_progress(struct recorder *r)
{
	char size[UNITS_TEXT_MAX];

	if (r->arguments->quiet || !isatty(STDERR_FILENO))
		return;
	r->shown = true;
	fprintf(stderr, "\r%zu capture%s in %.0f s, %s %s\033[K", r->taken, plural(r->taken),
		seconds_since(r),
		units_format(size, UNIT_BYTES, (__int128)(is_ring(r) ? r->ring.size : r->bytes)),
		is_ring(r) ? "in memory" : "written");
}

/* Tell the user where captures go: with a ring, no file appears before a trigger fires. */
static void print_start(struct recorder *r)
{
	const struct record_arguments *a = r->arguments;
	char every[UNITS_TEXT_MAX];

	units_format(every, UNIT_NS, (__int128)a->interval_ns);
	if (is_ring(r))
		tell(r, "capturing every %s into memory; a --trigger writes to %s", every,
		     r->recording.path);
	else
		tell(r, "capturing every %s into %s", every, r->recording.path);
}

/* In a shorter run, the share of a CPU would show only the cost of starting. */
#define SHARE_SECONDS 1

static void print_summary(struct recorder *r)
{
	char size[UNITS_TEXT_MAX], rest[400] = "", share[40] = "";
	const struct {
		size_t count;
		const char *what;
	} parts[] = {
		{ r->ring.count, "dropped from memory" },
		{ r->failed, "failed" },
		{ r->lost, "lost before they were written" },
		{ r->parts, "incomplete: timed out" },
		{ r->removed, "removed by --keep" },
		{ r->missed, "skipped: the one before took longer than --interval" },
	};
	size_t used = 0;

	for (size_t i = 0; i < array_length(parts); i++)
		if (parts[i].count)
			used += (size_t)snprintf(rest + used, sizeof(rest) - used, "; %zu %s",
						 parts[i].count, parts[i].what);
	if (seconds_since(r) >= SHARE_SECONDS)
		snprintf(share, sizeof(share), "; %.2f %% of one CPU",
			 (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e7 / seconds_since(r));
	tell(r, "%zu capture%s in %.1f s, %zu written to %s (%s)%s%s", r->taken, plural(r->taken),
	     seconds_since(r), r->written, r->recording.path,
	     units_format(size, UNIT_BYTES, (__int128)r->bytes), rest, share);
}

/* --- writing --- */

static void prune_captures(struct recorder *r)
{
	const struct keep *keep = &r->arguments->keep;
	size_t removed = 0;
	struct error *err;

	/* Captures need not be remembered if they are never removed. */
	if (!keep->age_ms && !keep->bytes) {
		captures_drop(&r->recording.captures, r->recording.captures.count);
		return;
	}
	err = recording_prune(&r->recording, keep, clock_ns(CLOCK_REALTIME) / NS_PER_MS, &removed);
	r->removed += removed;
	print_failure(r, TROUBLE_REMOVE, err);
}

static void write_ring(struct recorder *r)
{
	struct error *err = NULL;
	size_t before = r->written;

	while (r->ring.count) {
		const struct capture_kept *oldest = &r->ring.items[0];

		err = recording_add_within(&r->recording, &r->arguments->keep, oldest->at_ms,
					   (struct text){ oldest->packed, oldest->size },
					   &r->removed);
		if (err)
			break;
		r->written++;
		r->bytes += oldest->size;
		captures_drop(&r->ring, 1);
		prune_captures(r);
	}
	r->unwritten = err != NULL;
	if (!err && r->written > before)
		err = recording_sync(&r->recording);
	print_failure(r, TROUBLE_WRITE, err);
}

/* Out of the ring what is too old or too much. */
static void trim(struct recorder *r)
{
	uint64_t last_ms = r->ring.count ? r->ring.items[r->ring.count - 1].at_ms : 0;
	size_t surplus = captures_surplus(&r->ring, &r->hold, last_ms);
	int64_t age_ms;

	if (!surplus)
		return;
	age_ms = (int64_t)(last_ms - r->ring.items[surplus - 1].at_ms);
	if (is_ring(r) && age_ms >= 0 && (uint64_t)age_ms <= r->hold.age_ms && !r->said_short) {
		r->said_short = true;
		tell(r,
		     "--ring: the memory limit holds only %.1f s; raise it with a second --ring "
		     "SIZE",
		     (double)age_ms / 1e3);
	}
	if (r->unwritten)
		r->lost += surplus;
	captures_drop(&r->ring, surplus);
}

/* --- capturing --- */

static struct error *capture_packed(struct recorder *r, struct capture_kept *ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	const bool was_raised = privileges_raise();
	struct error *err = capturer_take(r->capturer, &snapshot);
	size_t size = 0;

	privileges_lower(was_raised);

	if (err)
		return err;
	/* Targets that existed at the first capture may end. */
	r->options->may_be_gone = true;
	r->seen.lost = snapshot->capture->threads_lost.value;
	err = snapshot_pack(snapshot, &ret->packed, &size);
	if (err)
		return err;
	ret->at_ms = snapshot->captured_at_unix_ns.value / NS_PER_MS;
	ret->size = size;
	r->parts += snapshot->capture->cut_short;
	if (!r->taken++ && snapshot->capture->source_reason && !r->arguments->quiet)
		tell(r, "%s%s", snapshot_is_by_bpf(snapshot) ? "" : "without BPF: ",
		     snapshot->capture->source_reason->bytes);
	return NULL;
}

/* The capture that a trigger leads to says so. */
static struct error *capture_for(struct recorder *r, const char *reason, struct capture_kept *ret)
{
	const char *note = r->options->note;
	_cleanup_free_ char *both = NULL;
	struct error *err;

	if (reason &&
	    asprintf(&both, "%s%strigger %s", note ? note : "", note ? "; " : "", reason) < 0)
		return &error_no_memory;
	if (both)
		r->options->note = both;
	err = capture_packed(r, ret);
	r->options->note = note;
	return err;
}

/* Captures of the following tenth of the ring's time are written too. For the ring's time no fact
 * fires again, since captures to write would be too recent. */
static void start_writing(struct recorder *r, const char *reason)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), ring_ns = r->arguments->ring.age_ms * NS_PER_MS;

	r->writing_until_ns = now + ring_ns / 10;
	r->quiet_until_ns = now + ring_ns;
	tell(r, "%s: writing %zu capture%s and those of the next %.1f s to %s", reason,
	     r->ring.count, plural(r->ring.count), (double)ring_ns / 1e10, r->recording.path);
}

/* `reason` is why a trigger fired, or NULL. */
static struct error *take_capture(struct recorder *r, const char *reason)
{
	struct capture_kept capture = { 0 };
	struct error *err = capture_for(r, reason, &capture);

	if (!err && !captures_add(&r->ring, capture)) {
		free(capture.packed);
		r->lost++;
		err = &error_no_memory;
	}
	/* Captures outside of the window of a trigger are not written, even if there is room; those
	 * inside have a last chance. */
	if (!r->unwritten)
		trim(r);
	if (reason)
		start_writing(r, reason);
	if (!is_ring(r) || r->unwritten || clock_ns(CLOCK_MONOTONIC) <= r->writing_until_ns)
		write_ring(r);
	trim(r);
	show_progress(r);
	return err;
}

/* --- triggers --- */

static struct error *check_triggers(struct recorder *r)
{
	const struct triggers *triggers = &r->arguments->triggers;
	struct error *err = NULL;
	double value;

	if (!triggers->count)
		return NULL;
	err = file_open_dir(r->options->proc_root ? r->options->proc_root : "/proc", &r->proc);
	for (size_t i = 0; i < triggers->count && !err; i++)
		if (!triggers->items[i].signal)
			err = trigger_read(&triggers->items[i], r->proc, &r->seen, &value);
	return err;
}

/* Why one fires now, in memory of the caller; NULL: none does. A fact that cannot be read for once
 * is no reason. */
static char *judge_facts(struct recorder *r)
{
	const struct triggers *triggers = &r->arguments->triggers;
	bool wait = clock_ns(CLOCK_MONOTONIC) < r->quiet_until_ns;
	const unsigned cpus = triggers->count ? cpus_online() : 1;
	struct error *failure = NULL;
	char *reason = NULL;

	for (size_t i = 0; i < triggers->count; i++) {
		struct trigger *trigger = &triggers->items[i];
		struct error *err;
		double value = 0;

		if (trigger->signal)
			continue;
		err = trigger_read(trigger, r->proc, &r->seen, &value);
		if (err) {
			error_destroy(failure);
			failure = err;
			continue;
		}
		/* All are judged, so that each knows what it saw. */
		if (trigger_judge(trigger, value, cpus, wait) && !reason &&
		    asprintf(&reason, "%s: %.10g", trigger->text, value) < 0)
			reason = NULL;
	}
	print_failure(r, TROUBLE_FACT, failure);
	return reason;
}

static const char *signal_text(const struct recorder *r, int number)
{
	const struct triggers *triggers = &r->arguments->triggers;

	for (size_t i = 0; i < triggers->count; i++)
		if (triggers->items[i].signal == number)
			return triggers->items[i].text;
	return NULL;
}

/* --- time and signals --- */

/* Block signals, which are taken between captures. */
static void hold_signals(struct recorder *r)
{
	const struct triggers *triggers = &r->arguments->triggers;

	sigemptyset(&r->signals);
	interrupts_add(&r->signals, SIGINT);
	interrupts_add(&r->signals, SIGTERM);
	for (size_t i = 0; i < triggers->count; i++)
		if (triggers->items[i].signal)
			sigaddset(&r->signals, triggers->items[i].signal);
	sigprocmask(SIG_BLOCK, &r->signals, NULL);
}

/* Until the next capture is due: 0; or a signal came before. */
static int wait_for_next(struct recorder *r)
{
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		uint64_t left = r->next_ns > now ? r->next_ns - now : 0;
		int number = sigtimedwait(
			&r->signals, NULL,
			&(struct timespec){ (time_t)(left / NS_PER_S), (long)(left % NS_PER_S) });

		if (number > 0)
			return number;
		if (errno == EAGAIN)
			return 0;
	}
}

/* Schedule captures on a fixed grid, however long they take; times in the past are counted as
 * missed. */
static void schedule_next(struct recorder *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), interval = r->arguments->interval_ns;

	r->next_ns += interval;
	if (r->next_ns < now) {
		size_t missed = (size_t)((now - r->next_ns) / interval + 1);

		r->missed += missed;
		r->next_ns += missed * interval;
	}
}

static bool is_done(const struct recorder *r)
{
	const struct record_arguments *a = r->arguments;

	return (a->count && r->taken + r->failed >= a->count) ||
	       (a->duration_ns && r->next_ns - r->start_ns > a->duration_ns);
}

static struct error *run_recording(struct recorder *r)
{
	while (!is_done(r)) {
		int number = wait_for_next(r);
		const char *by_signal = number ? signal_text(r, number) : NULL;
		_cleanup_free_ char *by_fact = NULL;
		struct error *err;

		if (number && !by_signal)
			break;
		if (!number)
			by_fact = judge_facts(r);
		err = take_capture(r, by_signal ? by_signal : by_fact);
		if (err && !r->taken)
			return err;
		r->failed += err != NULL;
		print_failure(r, TROUBLE_CAPTURE, err);
		if (!number)
			schedule_next(r);
	}
	/* The last chance of what waits. */
	if (r->unwritten)
		write_ring(r);
	if (r->unwritten) {
		r->lost += r->ring.count;
		captures_drop(&r->ring, r->ring.count);
	}
	return NULL;
}

static struct error *open_capturer(struct recorder *r)
{
	PRIVILEGES_RAISED;
	struct error *err = capturer_open(r->options, &r->capturer);

	return err ? err : privileges_keep(CAPTURE_READ_PRIVILEGES);
}

static struct error *start_recording(struct recorder *r, const char *directory)
{
	struct error *err;

	/* First: without a handler, the signal of a trigger would end ctprof. */
	hold_signals(r);
	err = check_triggers(r);
	if (!err)
		err = open_capturer(r);
	if (!err)
		err = recording_create(directory, &r->recording);
	if (err)
		return err;
	if (!r->arguments->quiet)
		print_start(r);
	r->start_ns = r->next_ns = clock_ns(CLOCK_MONOTONIC);
	return run_recording(r);
}

int record(struct record_arguments *arguments, struct capture_options *options,
	   const char *directory)
{
	struct recorder recorder = {
		.arguments = arguments,
		.options = options,
		.recording.dir = -1,
		.proc = -1,
		/* Without a ring it is only what could not be written that waits. */
		.hold = arguments->ring.age_ms ? arguments->ring
					       : (struct keep){ .bytes = RECORD_RING_BYTES },
	};
	struct error *err = start_recording(&recorder, directory);
	bool whole = !recorder.lost && !recorder.failed && !recorder.parts;

	if (!err && !arguments->quiet)
		print_summary(&recorder);
	captures_deinit(&recorder.ring);
	recording_close(&recorder.recording);
	capturer_close(recorder.capturer);
	if (recorder.proc >= 0)
		close(recorder.proc);
	return err ? report_error(err, STATUS_FAILED) : whole ? STATUS_DONE : STATUS_FAILED;
}
