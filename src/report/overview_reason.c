/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/overview_reason.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/visible.h"

char *overview_amount(char buffer[AMOUNT_MAX], enum metric_id id, double amount)
{
	switch (unit_dimension(metrics[id].unit)) {
	case DIMENSION_TIME:
		return amount_time(buffer, amount / (double)NS_PER_S);
	case DIMENSION_BYTES:
		return amount_bytes(buffer, amount);
	default:
		return amount_count(buffer, amount);
	}
}

/* Beyond this many times the baseline, which was next to nothing, digits say no more. */
#define TIMES_MOST 1000

/* How a value changed: "+43,534 %", "-98 %", ">1000x", "as before". */
static char *change_text(char buffer[AMOUNT_MAX], const struct overview_value *value)
{
	double change = value->before > 0 ? value->after / value->before - 1 : 0;
	char count[AMOUNT_MAX];

	if (!(value->before > 0))
		snprintf(buffer, AMOUNT_MAX, "none before");
	else if (change > TIMES_MOST)
		snprintf(buffer, AMOUNT_MAX, ">%dx", TIMES_MOST);
	else if (fabs(change) < 0.01)
		snprintf(buffer, AMOUNT_MAX, "as before");
	else
		snprintf(buffer, AMOUNT_MAX, "%c%s %%", change < 0 ? '-' : '+',
			 amount_count(count, fabs(change) * 100));
	return buffer;
}

/* The words after an amount: "3.06 s of CPU". */
static const char *const cause_words[CAUSE_COUNT] = {
	[CAUSE_CPU] = "of CPU",
	[CAUSE_CPU_WAIT] = "waiting for a CPU",
	[CAUSE_STORAGE] = "waiting for storage",
	[CAUSE_LOCK] = "waiting for locks",
	[CAUSE_BLOCKED] = "blocked in the kernel",
	[CAUSE_SWAP] = "waiting for swap",
	[CAUSE_RECLAIM] = "reclaiming memory",
	[CAUSE_COMPACT] = "compacting memory",
	[CAUSE_MAJOR_FAULT] = "page faults from storage",
	[CAUSE_FAULT] = "page faults",
	[CAUSE_READ] = "read from storage",
	[CAUSE_WRITE] = "written",
	[CAUSE_WRITE_CALL] = "passed to write calls",
	[CAUSE_SWITCH] = "waits",
};

double overview_in_window(const struct overview *overview, double rate)
{
	return overview->window_s > 0 ? rate * overview->window_s : rate;
}

char *overview_amount_in_window(char buffer[AMOUNT_MAX], const struct overview *overview,
				enum metric_id id, double rate)
{
	overview_amount(buffer, id, overview_in_window(overview, rate));
	return overview->window_s > 0 ? buffer : strcat(buffer, "/s");
}

/* "memory +75.1 MiB (1.3 -> 76.4 MiB)": a unit that both have stands once. */
static bool add_memory(struct overview_line *line, const struct overview_group *group,
		       bool in_short)
{
	const struct overview_value *value = &group->values[CAUSE_MEMORY];
	const char *comma = line->length ? ", " : "";
	char change[AMOUNT_MAX], before[AMOUNT_MAX], after[AMOUNT_MAX], *unit;

	amount_bytes(before, value->before);
	amount_bytes(after, value->after);
	if (group->presence == PRESENCE_ENDED)
		return line_add(line, "%s%s of memory", comma, before);
	if (group->presence == PRESENCE_NEW)
		return line_add(line, "%s%s of memory", comma, after);
	line_add(line, "%smemory %c%s", comma, value->after < value->before ? '-' : '+',
		 amount_bytes(change, fabs(value->after - value->before)));
	if (in_short)
		return true;
	unit = strchr(before, ' ');
	if (unit && strchr(after, ' ') && strcmp(unit, strchr(after, ' ')) == 0)
		*unit = '\0';
	return line_add(line, " (%s -> %s)", before, after);
}

static bool add_reason(const struct report *report, struct overview_line *line,
		       const struct overview_group *group, enum overview_cause cause)
{
	const struct overview_value *value = &group->values[cause];
	const char *word = cause_words[cause];
	char amount[AMOUNT_MAX], change[AMOUNT_MAX];

	if (cause == CAUSE_MEMORY)
		return add_memory(line, group, false);
	if (group->presence == PRESENCE_ENDED)
		return line_add(line, "%s%s %s", line->length ? ", " : "",
				strcat(overview_amount(amount, value->metric, value->before), "/s"),
				word);
	overview_amount_in_window(amount, report->overview, value->metric, value->after);
	if (group->presence == PRESENCE_NEW || value->is_first || !report->comparing)
		return line_add(line, "%s%s %s", line->length ? ", " : "", amount, word);
	if (value->after < value->before / 2)
		return line_add(line, "%s%s %s (before: %s)", line->length ? ", " : "", amount,
				word,
				overview_amount_in_window(change, report->overview, value->metric,
							  value->before));
	return line_add(line, "%s%s %s (%s)", line->length ? ", " : "", amount, word,
			change_text(change, value));
}

static void tell(enum overview_cause told[OVERVIEW_REASONS_MOST], size_t *count,
		 enum overview_cause cause, size_t place)
{
	size_t i = 0;

	while (i < *count && told[i] != cause)
		i++;
	if (place >= OVERVIEW_REASONS_MOST || (i < *count && i <= place))
		return;
	if (i == *count && *count < OVERVIEW_REASONS_MOST)
		*count += 1;
	else if (i == *count)
		i--;
	for (; i > place; i--)
		told[i] = told[i - 1];
	told[place] = cause;
}

size_t overview_told(const struct overview_group *group,
		     enum overview_cause told[OVERVIEW_REASONS_MOST])
{
	const struct overview_value *memory = &group->values[CAUSE_MEMORY];
	size_t count = 0;

	while (count < OVERVIEW_REASONS_MOST && overview_is_reason(group, count)) {
		told[count] = group->order[count];
		count++;
	}
	if (count && overview_is_idle(group))
		tell(told, &count, CAUSE_CPU, 0);
	for (size_t i = 0; count && i < CAUSE_COUNT; i++)
		if (group->order[i] == CAUSE_MEMORY && overview_is_reason(group, i) &&
		    memory->after > 2 * memory->before)
			tell(told, &count, CAUSE_MEMORY, 1);
	return count;
}

static bool add_within(const struct report *report, struct overview_line *reasons,
		       const struct overview_group *group, enum overview_cause cause, bool in_short,
		       size_t room)
{
	const size_t before = reasons->length;

	if ((in_short && cause == CAUSE_MEMORY ? add_memory(reasons, group, true)
					       : add_reason(report, reasons, group, cause)) &&
	    text_width(reasons->text) <= room)
		return true;
	reasons->text[reasons->length = before] = '\0';
	return false;
}

/* How many of them have room. */
static size_t add_all(const struct report *report, struct overview_line *reasons,
		      const struct overview_group *group, const enum overview_cause *told,
		      size_t count, bool in_short, size_t room)
{
	size_t added = 0;

	reasons->text[reasons->length = 0] = '\0';
	while (added < count && add_within(report, reasons, group, told[added], in_short, room))
		added++;
	return added;
}

size_t overview_add_reasons(const struct report *report, struct overview_line *reasons,
			    const struct overview_group *group, size_t room)
{
	enum overview_cause told[OVERVIEW_REASONS_MOST];
	const size_t count = overview_told(group, told),
		     whole = add_all(report, reasons, group, told, count, false, room);

	/* Prefer another reason to the earlier amount of memory, unless memory comes first and
	 * another reason already has room. */
	if (whole == count || (whole >= 2 && told[0] == CAUSE_MEMORY))
		return count;
	if (add_all(report, reasons, group, told, count, true, room) > whole)
		return count;
	add_all(report, reasons, group, told, count, false, room);
	return count;
}
