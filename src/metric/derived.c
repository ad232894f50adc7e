/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/derived.h"

#include <assert.h>
#include <stdio.h>

#define member(name) (((struct thread_values *)0)->name)

/* A peak, a gauge or a category divided by anything means nothing. */
#define CHECK_TOTAL(name, input)                            \
	static_assert(kind_of(member(input)) == KIND_TOTAL, \
		      "derived metric '" #name "': " #input " is not a total");
#define CHECK_COUNT(name, input)                                    \
	static_assert(kind_of(member(input)) == KIND_TOTAL &&       \
			      unit_of(member(input)) == UNIT_COUNT, \
		      "derived metric '" #name "': " #input " is not a count");
#define CHECK_SAME_UNIT(name, x, y)                             \
	static_assert(unit_of(member(x)) == unit_of(member(y)), \
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

static bool total_of(const struct aggregate *values, const struct metric *metric, double *ret)
{
	const struct aggregate *a = &values[metric_id(metric)];

	if (!a->measured)
		return false;
	*ret = (double)a->total;
	return true;
}

/* Every thrashing event is a swap-in too, so of these two only the larger counts. */
static bool offcpu_value(const struct aggregate *values, double *ret)
{
	static const enum metric_id added[] = {
		METRIC_cpu_delay_total_ns,       METRIC_blkio_delay_total_ns,
		METRIC_freepages_delay_total_ns, METRIC_compact_delay_total_ns,
		METRIC_wpcopy_delay_total_ns,    METRIC_irq_delay_total_ns,
	};
	double swapin = 0, thrashing = 0, sum = 0, one;
	bool any = total_of(values, &metrics[METRIC_swapin_delay_total_ns], &swapin);

	any |= total_of(values, &metrics[METRIC_thrashing_delay_total_ns], &thrashing);
	for (size_t i = 0; i < array_length(added); i++) {
		if (!total_of(values, &metrics[added[i]], &one))
			continue;
		sum += one;
		any = true;
	}
	if (any)
		*ret = sum + (swapin > thrashing ? swapin : thrashing);
	return any;
}

bool derived_value(const struct derived *d, const struct aggregate *values, double *ret)
{
	double a, b;

	if (d->form == DERIVED_OFFCPU)
		return offcpu_value(values, ret);
	if (!total_of(values, d->a, &a) || !total_of(values, d->b, &b))
		return false;
	if (d->form == DERIVED_DIFFERENCE) {
		*ret = a - b;
		return true;
	}
	if (d->form == DERIVED_SHARE)
		b += a;
	if (b == 0)
		return false;
	*ret = a / b;
	return true;
}
