/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/impossible.h"

#include "base/clock.h"
#include "base/units.h"
#include "compare/sides.h"
#include "compare/survivors.h"

/* The metrics that are times during the life of a thread. */
static struct metric_set times_of_threads(void)
{
	struct metric_set set = { 0 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].unit == UNIT_NS && !metrics[i].may_exceed_life &&
		    (metrics[i].kind == KIND_TOTAL || metrics[i].kind == KIND_PEAK ||
		     metrics[i].kind == KIND_GAUGE))
			metric_set_add(&set, i);
	return set;
}

/* The metrics that cannot grow by more than the time between two captures. (Engines of ctprof top
 * may report time in the window in which it was accounted.) */
static struct metric_set times_of_windows(void)
{
	struct metric_set set = times_of_threads();

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].kind != KIND_TOTAL || metrics[i].section == SECTION_THREAD_STATES)
			metric_set_remove(&set, i);
	return set;
}

/* A wait is accounted when it ends: only with those in progress is what was added of this window.
 */
static bool is_of_window(const struct metric *metric, const struct metric_set *with_waits)
{
	return metric->in_progress ? metric_set_has(with_waits, metric_id(metric))
				   : metric->delay == DELAY_NONE;
}

static uint64_t metric_time(const struct ctprof_thread *thread, const struct metric *metric,
			    const struct metric_set *with_waits)
{
	uint64_t value = metric_load_u64(&thread->record.values, metric), waits = 0;

	if (metric_set_has(with_waits, metric_id(metric)))
		waits = metric_unaccounted(&thread->record, metric);
	return value > UINT64_MAX - waits ? UINT64_MAX : value + waits;
}

static bool mark_impossible(struct impossible *impossible, const struct ctprof_thread *thread,
			    const struct metric *metric)
{
	uint32_t *number =
		word_map_at(&impossible->numbers, (struct words){ { (uintptr_t)thread } });

	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)impossible->count;
		if (!array_push(impossible, (struct metric_set){ 0 })) {
			*number = WORD_MAP_NEW;
			return false;
		}
	}
	metric_set_add(&impossible->items[*number], metric_id(metric));
	return true;
}

/* --- by the lives of threads --- */

/* The duration of a capture, plus the error of its waits in progress. */
static uint64_t span_of(const struct capture_info *capture)
{
	uint64_t span;

	return __builtin_add_overflow(capture->duration_ns.value, capture->clock_error_ns.value,
				      &span)
		       ? UINT64_MAX
		       : span;
}

/* When the last thread was read, at the latest, in ns since boot; 0: not known. */
static uint64_t read_by(const struct ctprof_snapshot *s)
{
	const struct reading *uptime = s->host ? &s->host->uptime_clock_ticks : NULL;
	const struct reading *rate = s->host ? &s->host->clock_ticks_per_s : NULL;
	uint64_t ns, end;

	if (!uptime || !uptime->measured || !s->capture || !s->capture->duration_ns.measured ||
	    (rate->measured && rate->value != TICKS_PER_S) ||
	    __builtin_mul_overflow(uptime->value, NS_PER_TICK, &ns) ||
	    __builtin_add_overflow(ns, span_of(s->capture), &end))
		return 0;
	/* In a container the time since boot may be its own: then threads began after it. */
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct reading *start = &snapshot_thread(s, i)->start_time_clock_ticks;

		if (start->measured && start->value > end / NS_PER_TICK + 1)
			return 0;
	}
	return end;
}

static bool judge_age(struct impossible *impossible, const struct ctprof_thread *thread,
		      uint64_t age, const struct metric_set *times,
		      const struct metric_set *with_waits)
{
	const uint64_t most = clock_most(age);

	for (size_t w = 0; w < array_length(times->words); w++) {
		uint64_t left = thread->record.measured.words[w] & times->words[w];

		for (; left; left &= left - 1) {
			const struct metric *metric =
				&metrics[w * 64 + (size_t)__builtin_ctzll(left)];

			if (metric_time(thread, metric, with_waits) > most &&
			    !mark_impossible(impossible, thread, metric))
				return false;
		}
	}
	return true;
}

bool impossible_by_age(struct impossible *impossible, const struct ctprof_snapshot *s,
		       const struct metric_set *with_waits)
{
	const struct metric_set times = times_of_threads();
	const uint64_t end = read_by(s);

	for (size_t i = 0; end && i < s->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(s, i);
		const struct reading *start = &thread->start_time_clock_ticks;
		/* No larger than `end` and a tick. */
		const uint64_t born = start->value * NS_PER_TICK;

		if (start->measured &&
		    !judge_age(impossible, thread, end > born ? end - born : 0, &times, with_waits))
			return false;
	}
	return true;
}

/* --- by the time between two captures --- */

struct window {
	struct impossible *impossible;
	struct metric_set times;
	const struct metric_set *with_waits;
	uint64_t most;
};

static bool judge_window(struct window *window, const struct ctprof_thread *before,
			 const struct ctprof_thread *after)
{
	for (size_t w = 0; w < array_length(window->times.words); w++) {
		uint64_t left = before->record.measured.words[w] & after->record.measured.words[w] &
				window->times.words[w];

		for (; left; left &= left - 1) {
			const struct metric *metric =
				&metrics[w * 64 + (size_t)__builtin_ctzll(left)];
			const uint64_t x = metric_time(before, metric, window->with_waits);
			const uint64_t y = metric_time(after, metric, window->with_waits);

			if (y < x || y - x <= window->most)
				continue;
			if (!is_of_window(metric, window->with_waits)) {
				metric_set_add(&window->impossible->began_before,
					       metric_id(metric));
				continue;
			}
			if (!mark_impossible(window->impossible, after, metric))
				return false;
		}
	}
	return true;
}

/* From the first thread that was read of the earlier to the last one of the later; 0: not known. */
static uint64_t longest_between(const struct ctprof_snapshot *earlier,
				const struct ctprof_snapshot *later)
{
	double seconds;
	uint64_t span, most;

	if (!earlier->capture || !later->capture || !later->capture->duration_ns.measured ||
	    !seconds_between(earlier, later, &seconds) || seconds <= 0 ||
	    seconds > (double)(UINT64_MAX / 2 / NS_PER_S))
		return 0;
	span = span_of(later->capture);
	return __builtin_add_overflow(span, earlier->capture->clock_error_ns.value, &span) ||
			       __builtin_add_overflow((uint64_t)(seconds * NS_PER_S), span, &most)
		       ? 0
		       : most;
}

bool impossible_by_window(struct impossible *impossible, const struct ctprof_snapshot *earlier,
			  const struct ctprof_snapshot *later, const struct metric_set *with_waits)
{
	const uint64_t most = longest_between(earlier, later);
	struct window window = { impossible, times_of_windows(), with_waits, clock_most(most) };
	struct survivors survivors;
	bool done = true;

	if (!most || boots_of(earlier, later) != BOOTS_SAME)
		return true;
	if (survivors_init(&survivors, earlier, later))
		return false;
	for (size_t i = 0; i < later->threads.count && done; i++)
		if (survivors.before[i] != NO_THREAD)
			done = judge_window(&window, snapshot_thread(earlier, survivors.before[i]),
					    snapshot_thread(later, i));
	survivors_deinit(&survivors);
	return done;
}

void impossible_deinit(struct impossible *impossible)
{
	word_map_deinit(&impossible->numbers);
	array_deinit(impossible);
	*impossible = (struct impossible){ 0 };
}
