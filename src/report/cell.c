/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char *write_mode(char buffer[CELL_MAX], const struct metric *metric,
			const struct aggregate *a)
{
	const struct tally *mode = aggregate_mode(a);
	char letter[2] = { (char)mode->code, '\0' };
	const char *text = metric->type == VALUE_label  ? mode->label->bytes
			   : metric->type == VALUE_flag ? (mode->code ? "true" : "false")
							: letter;

	if (mode->count == a->threads)
		snprintf(buffer, CELL_MAX, "%s", text);
	else
		snprintf(buffer, CELL_MAX, "%.400s (%zu/%zu)", text, mode->count, a->threads);
	return buffer;
}

/* "0-3,8" of an ascending list; long lists end in "...". */
static void write_cpu_list(char *out, size_t room, const struct name *set)
{
	const uint32_t *cpus = cpu_set_cpus(set);
	size_t count = cpu_set_count(set), used = 0, last;

	out[0] = '\0';
	for (size_t i = 0; i < count; i = last + 1) {
		int length;

		for (last = i; last + 1 < count && cpus[last + 1] == cpus[last] + 1;)
			last++;
		if (room - used < 32) {
			snprintf(out + used, room - used, ",...");
			return;
		}
		length = last == i ? snprintf(out + used, room - used, "%s%" PRIu32,
					      used ? "," : "", cpus[i])
				   : snprintf(out + used, room - used, "%s%" PRIu32 "-%" PRIu32,
					      used ? "," : "", cpus[i], cpus[last]);
		used += (size_t)length;
	}
}

static char *write_affinity(char buffer[CELL_MAX], const struct aggregate *a)
{
	char list[CELL_MAX - 64];

	if (a->affinity.set) {
		write_cpu_list(list, sizeof(list), a->affinity.set);
		snprintf(buffer, CELL_MAX, "%zu cpus (%s)", a->affinity.fewest, list);
	} else if (a->affinity.fewest == a->affinity.most) {
		snprintf(buffer, CELL_MAX, "%zu cpus (mixed)", a->affinity.fewest);
	} else {
		snprintf(buffer, CELL_MAX, "%zu-%zu cpus (mixed)", a->affinity.fewest,
			 a->affinity.most);
	}
	return buffer;
}

static char *write_value(char buffer[CELL_MAX], const struct metric *metric,
			 const struct aggregate *a)
{
	switch (metric->family) {
	case FAMILY_NONE:
		return strcpy(buffer, CELL_NONE);
	case FAMILY_SUM:
		return units_format(buffer, metric->unit, a->total);
	case FAMILY_MAX:
		if (metric->zero_is_no_events && !a->largest)
			return strcpy(buffer, "no events");
		return units_format(buffer, metric->unit, a->largest);
	case FAMILY_RANGE:
		if (a->range.smallest == a->range.largest)
			snprintf(buffer, CELL_MAX, "%" PRId64, a->range.smallest);
		else
			snprintf(buffer, CELL_MAX, "%" PRId64 "..%" PRId64, a->range.smallest,
				 a->range.largest);
		return buffer;
	case FAMILY_MODE:
		return write_mode(buffer, metric, a);
	case FAMILY_AFFINITY:
		return write_affinity(buffer, a);
	}
	return buffer;
}

/* A value of some of the threads says so. */
static char *mark_partial(char buffer[CELL_MAX], size_t measured, size_t threads)
{
	size_t used = strlen(buffer);

	snprintf(buffer + used, CELL_MAX - used, " (%zu/%zu)", measured, threads);
	return buffer;
}

char *cell_value(char buffer[CELL_MAX], const struct metric *metric, const struct aggregate *a)
{
	if (!a->measured)
		return strcpy(buffer, CELL_NONE);
	write_value(buffer, metric, a);
	/* Categories count the threads that agree, of all there are, by themselves. */
	if (metric->family == FAMILY_MODE || aggregate_is_complete(a, metric))
		return buffer;
	return mark_partial(buffer, a->measured, a->threads);
}

bool delta_x2(const struct metric *metric, const struct aggregate *baseline,
	      const struct aggregate *candidate, __int128 *ret)
{
	__int128 before, after;

	if (!aggregate_is_complete(baseline, metric) || !aggregate_is_complete(candidate, metric))
		return false;
	if (!aggregate_number_x2(baseline, metric, &before) ||
	    !aggregate_number_x2(candidate, metric, &after))
		return false;
	*ret = after - before;
	return true;
}

char *cell_delta(char buffer[CELL_MAX], const struct metric *metric,
		 const struct aggregate *baseline, const struct aggregate *candidate)
{
	bool numeric = metric->family == FAMILY_SUM || metric->family == FAMILY_MAX;
	__int128 delta;
	bool has_delta = delta_x2(metric, baseline, candidate, &delta);

	if (has_delta && (numeric || delta))
		return units_format_half_delta(buffer, metric->unit, delta);
	if (numeric || !aggregate_is_complete(baseline, metric) ||
	    !aggregate_is_complete(candidate, metric))
		return strcpy(buffer, CELL_NONE);
	if (!aggregate_equal(baseline, candidate, metric))
		return strcpy(buffer, "differs");
	if (has_delta)
		return units_format_half_delta(buffer, metric->unit, delta);
	return strcpy(buffer, "same");
}

char *cell_percent(char buffer[CELL_MAX], const struct metric *metric,
		   const struct aggregate *baseline, const struct aggregate *candidate)
{
	__int128 delta, before;

	if (!delta_x2(metric, baseline, candidate, &delta) ||
	    !aggregate_number_x2(baseline, metric, &before) || !before ||
	    (!delta && !aggregate_equal(baseline, candidate, metric)))
		return strcpy(buffer, CELL_NONE);
	snprintf(buffer, CELL_MAX, "%+.1f%%", (double)delta * 100 / (double)before);
	return buffer;
}

char *derived_cell_value(char buffer[CELL_MAX], const struct derived *derived,
			 const struct derived_value *value)
{
	if (!value)
		return strcpy(buffer, CELL_NONE);
	units_format_real(buffer, derived->unit, value->value, "");
	if (value->measured == value->threads)
		return buffer;
	return mark_partial(buffer, value->measured, value->threads);
}

bool derived_delta(const struct derived_value *baseline, const struct derived_value *candidate,
		   double *ret)
{
	if (!baseline || !candidate || baseline->measured != baseline->threads ||
	    candidate->measured != candidate->threads)
		return false;
	*ret = candidate->value - baseline->value;
	return true;
}

char *derived_cell_delta(char buffer[CELL_MAX], const struct derived *derived,
			 const struct derived_value *baseline,
			 const struct derived_value *candidate)
{
	double delta;

	if (!derived_delta(baseline, candidate, &delta))
		return strcpy(buffer, CELL_NONE);
	return units_format_real(buffer, derived->unit, delta, "+");
}

char *derived_cell_percent(char buffer[CELL_MAX], const struct derived *derived,
			   const struct derived_value *baseline,
			   const struct derived_value *candidate)
{
	double delta;

	if (derived->is_ratio || !derived_delta(baseline, candidate, &delta) ||
	    baseline->value == 0)
		return strcpy(buffer, CELL_NONE);
	snprintf(buffer, CELL_MAX, "%+.1f%%", delta * 100 / baseline->value);
	return buffer;
}
