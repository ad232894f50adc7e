/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/derived.h"

#include <stdio.h>

#define member(name) (((struct thread_values *)0)->name)

/* A peak, a gauge or a category divided by anything means nothing. */
#define CHECK_TOTAL(name, input)                             \
	_Static_assert(kind_of(member(input)) == KIND_TOTAL, \
		       "derived metric '" #name "': " #input " is not a total");
#define CHECK_COUNT(name, input)                                     \
	_Static_assert(kind_of(member(input)) == KIND_TOTAL &&       \
			       unit_of(member(input)) == UNIT_COUNT, \
		       "derived metric '" #name "': " #input " is not a count");
#define CHECK_SAME_UNIT(name, x, y)                              \
	_Static_assert(unit_of(member(x)) == unit_of(member(y)), \
		       "derived metric '" #name "': " #x " and " #y " are of different units");

#define QUOTIENT(name, x, y, ...) CHECK_TOTAL(name, x) CHECK_COUNT(name, y)
#define RATIO(name, x, y, ...)    CHECK_TOTAL(name, x) CHECK_TOTAL(name, y) CHECK_SAME_UNIT(name, x, y)
#define SHARE(name, x, y, ...)    CHECK_TOTAL(name, x) CHECK_TOTAL(name, y) CHECK_SAME_UNIT(name, x, y)
#define DIFFERENCE(name, x, y, ...) \
	CHECK_TOTAL(name, x) CHECK_TOTAL(name, y) CHECK_SAME_UNIT(name, x, y)
#define OFFCPU(...)
#include "metric/derived.def"
#undef QUOTIENT
#undef RATIO
#undef SHARE
#undef DIFFERENCE
#undef OFFCPU

#define ROW(name_, form_, unit_, ratio_, x, y, section_, prose_, caveat_) \
	[DERIVED_ID_##name_] = { .name = #name_,                          \
				 .form = DERIVED_##form_,                 \
				 .unit = (unit_),                         \
				 .is_ratio = (ratio_),                    \
				 .a = (x),                                \
				 .b = (y),                                \
				 .section = SECTION_##section_,           \
				 .prose = (prose_),                       \
				 .caveat = (caveat_) },
#define QUOTIENT(name, x, y, ...)                                                                  \
	ROW(name, QUOTIENT, unit_of(member(x)), false, &metrics[METRIC_##x], &metrics[METRIC_##y], \
	    __VA_ARGS__)
#define RATIO(name, x, y, ...) \
	ROW(name, RATIO, UNIT_NONE, true, &metrics[METRIC_##x], &metrics[METRIC_##y], __VA_ARGS__)
#define SHARE(name, x, y, ...) \
	ROW(name, SHARE, UNIT_NONE, true, &metrics[METRIC_##x], &metrics[METRIC_##y], __VA_ARGS__)
#define DIFFERENCE(name, x, y, ...)                                            \
	ROW(name, DIFFERENCE, unit_of(member(x)), false, &metrics[METRIC_##x], \
	    &metrics[METRIC_##y], __VA_ARGS__)
#define OFFCPU(name, ...) ROW(name, OFFCPU, UNIT_NS, false, NULL, NULL, __VA_ARGS__)
const struct derived derived_metrics[DERIVED_COUNT] = {
#include "metric/derived.def"
};

char *derived_formula(char *buffer, const struct derived *d)
{
	switch (d->form) {
	case DERIVED_QUOTIENT:
	case DERIVED_RATIO:
		snprintf(buffer, DERIVED_FORMULA_MAX, "%s / %s", d->a->name, d->b->name);
		break;
	case DERIVED_SHARE:
		snprintf(buffer, DERIVED_FORMULA_MAX, "%s / (%s + %s)", d->a->name, d->a->name,
			 d->b->name);
		break;
	case DERIVED_DIFFERENCE:
		snprintf(buffer, DERIVED_FORMULA_MAX, "%s - %s", d->a->name, d->b->name);
		break;
	case DERIVED_OFFCPU:
		snprintf(buffer, DERIVED_FORMULA_MAX,
			 "cpu + blkio + freepages + compact + wpcopy + irq + "
			 "max(swapin, thrashing)");
		break;
	}
	return buffer;
}

static const enum metric_id delays[DERIVED_DELAYS] = {
	METRIC_swapin_delay_total_ns,    METRIC_thrashing_delay_total_ns,
	METRIC_cpu_delay_total_ns,       METRIC_blkio_delay_total_ns,
	METRIC_freepages_delay_total_ns, METRIC_compact_delay_total_ns,
	METRIC_wpcopy_delay_total_ns,    METRIC_irq_delay_total_ns,
};
enum { SWAPIN, THRASHING, OTHERS };

static __int128 metric_total(const struct thread_record *thread, const struct metric *metric,
			     const struct metric_set *with_waits)
{
	__int128 total = metric_load_u64(&thread->values, metric);

	if (metric_set_has(with_waits, metric_id(metric)))
		total += metric_unaccounted(thread, metric);
	return total;
}

static void add_delays(struct derived_sum *sum, const struct thread_record *thread,
		       const struct metric_set *with_waits, const struct metric_set *impossible)
{
	bool doubtful = false;
	uint8_t had = 0;

	for (size_t i = 0; i < DERIVED_DELAYS; i++) {
		if (!metric_set_has(&thread->measured, delays[i]))
			continue;
		sum->delays[i] += metric_total(thread, &metrics[delays[i]], with_waits);
		had |= (uint8_t)(1 << i);
		doubtful |= impossible && metric_set_has(impossible, delays[i]);
	}
	if (!had)
		return;
	sum->impossible += doubtful;
	sum->mixed_delays |= sum->measured && had != sum->had;
	sum->had |= had;
	sum->measured++;
}

bool derived_takes_waits(const struct derived *d, const struct metric *total)
{
	if (!total->in_progress || d->form == DERIVED_QUOTIENT)
		return false;
	for (size_t i = 0; d->form == DERIVED_OFFCPU && i < DERIVED_DELAYS; i++)
		if (&metrics[delays[i]] == total)
			return true;
	return d->a == total || d->b == total;
}

void derived_add(struct derived_sum *sum, const struct derived *d,
		 const struct thread_record *thread, const struct metric_set *with_waits,
		 const struct metric_set *impossible)
{
	static const struct metric_set accounted = { 0 };
	const struct metric_set *waits = d->form == DERIVED_QUOTIENT ? &accounted : with_waits;

	sum->threads++;
	if (d->form == DERIVED_OFFCPU) {
		add_delays(sum, thread, waits, impossible);
		return;
	}
	if (!metric_set_has(&thread->measured, metric_id(d->a)) ||
	    !metric_set_has(&thread->measured, metric_id(d->b)))
		return;
	sum->a += metric_total(thread, d->a, waits);
	sum->b += metric_total(thread, d->b, waits);
	sum->impossible += impossible && (metric_set_has(impossible, metric_id(d->a)) ||
					  metric_set_has(impossible, metric_id(d->b)));
	sum->measured++;
}

struct derived_sum derived_between(const struct derived_sum *before,
				   const struct derived_sum *after, const struct derived *d)
{
	struct derived_sum between = *after;
	size_t lacking;

	if (d->form == DERIVED_DIFFERENCE || d->form == DERIVED_OFFCPU)
		return between;
	between.a -= before->a;
	between.b -= before->b;
	if (d->form == DERIVED_SHARE) {
		between.a = between.a > 0 ? between.a : 0;
		between.b = between.b > 0 ? between.b : 0;
	}
	/* Threads that lacked the inputs before lack them in the difference too; new threads
	 * started at zero. */
	lacking = before->threads - before->measured;
	between.measured = after->measured > lacking ? after->measured - lacking : 0;
	return between;
}

/* Every thrashing event is a swap-in too, so of these two only the larger counts. */
static __int128 all_delays(const struct derived_sum *sum)
{
	__int128 swapin = sum->delays[SWAPIN], thrashing = sum->delays[THRASHING];
	__int128 total = swapin > thrashing ? swapin : thrashing;

	for (size_t i = OTHERS; i < DERIVED_DELAYS; i++)
		total += sum->delays[i];
	return total;
}

static struct datum derived_value(const struct derived_sum *sum, const struct derived *d)
{
	__int128 below = d->form == DERIVED_SHARE ? sum->a + sum->b : sum->b;

	if (d->form == DERIVED_OFFCPU)
		return datum_number(all_delays(sum));
	if (d->form == DERIVED_DIFFERENCE)
		return datum_number(sum->a - sum->b);
	if (!below)
		return (struct datum){ 0 };
	return (struct datum){ .kind = DATUM_REAL, .real = (double)sum->a / (double)below };
}

struct datum derived_datum(const struct derived_sum *sum, const struct derived *d)
{
	struct datum datum = sum->measured ? derived_value(sum, d) : (struct datum){ 0 };

	datum.measured = (uint32_t)sum->measured;
	datum.threads = (uint32_t)sum->threads;
	datum.partial = sum->measured < sum->threads || sum->mixed_delays;
	datum.impossible = (uint32_t)sum->impossible;
	datum.inputs = sum->had;
	return datum;
}
