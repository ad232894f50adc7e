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

char *cell_value(char buffer[CELL_MAX], const struct metric *metric, const struct aggregate *a)
{
	if (!a->measured)
		return strcpy(buffer, CELL_NONE);
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

bool delta_x2(const struct metric *metric, const struct aggregate *baseline,
	      const struct aggregate *candidate, __int128 *ret)
{
	__int128 before, after;

	if (!aggregate_number_x2(baseline, metric, &before) ||
	    !aggregate_number_x2(candidate, metric, &after))
		return false;
	*ret = after - before;
	return true;
}

static bool same_mode(const struct metric *metric, const struct aggregate *a,
		      const struct aggregate *b)
{
	const struct tally *x = aggregate_mode(a), *y = aggregate_mode(b);

	return metric->type == VALUE_label ? name_compare(x->label, y->label) == 0
					   : x->code == y->code;
}

char *cell_delta(char buffer[CELL_MAX], const struct metric *metric,
		 const struct aggregate *baseline, const struct aggregate *candidate)
{
	__int128 delta;

	if (metric->family == FAMILY_MODE && baseline->measured && candidate->measured)
		return strcpy(buffer, same_mode(metric, baseline, candidate) ? "same" : "differs");
	if (!delta_x2(metric, baseline, candidate, &delta))
		return strcpy(buffer, CELL_NONE);
	return units_format_half_delta(buffer, metric->unit, delta);
}

char *cell_percent(char buffer[CELL_MAX], const struct metric *metric,
		   const struct aggregate *baseline, const struct aggregate *candidate)
{
	__int128 delta, before;

	if (!delta_x2(metric, baseline, candidate, &delta) ||
	    !aggregate_number_x2(baseline, metric, &before) || !before)
		return strcpy(buffer, CELL_NONE);
	snprintf(buffer, CELL_MAX, "%+.1f%%", (double)delta * 100 / (double)before);
	return buffer;
}

char *derived_cell_value(char buffer[CELL_MAX], const struct derived *derived, const double *value)
{
	if (!value)
		return strcpy(buffer, CELL_NONE);
	return units_format_real(buffer, derived->unit, *value, "");
}

char *derived_cell_delta(char buffer[CELL_MAX], const struct derived *derived,
			 const double *baseline, const double *candidate)
{
	if (!baseline || !candidate)
		return strcpy(buffer, CELL_NONE);
	return units_format_real(buffer, derived->unit, *candidate - *baseline, "+");
}

char *derived_cell_percent(char buffer[CELL_MAX], const struct derived *derived,
			   const double *baseline, const double *candidate)
{
	if (derived->is_ratio || !baseline || !candidate || *baseline == 0)
		return strcpy(buffer, CELL_NONE);
	snprintf(buffer, CELL_MAX, "%+.1f%%", (*candidate - *baseline) * 100 / *baseline);
	return buffer;
}
