/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trigger.h"

#include <signal.h>
#include <stdio.h>

#include "base/array.h"
#include "base/file.h"
#include "base/units.h"
#include "os/counters.h"
#include "os/psi.h"

/* --- what there is to judge --- */

typedef bool find_fact(const struct trigger_fact *fact, struct text bytes, double *ret);

struct trigger_fact {
	const char *name;
	const char *file; /* below /proc; NULL: it is of the last capture */
	find_fact *find;  /* in the file */
	size_t line,
		word; /* which of its numbers: offsets in struct psi_lines, or counted from 0 */
	bool percent; /* else it can be above so many for each CPU */
};

static bool find_pressure(const struct trigger_fact *fact, struct text bytes, double *ret)
{
	const struct psi_line *line;
	struct psi_lines lines;

	psi_parse(bytes, &lines);
	line = (const struct psi_line *)((const char *)&lines + fact->line);
	if (!line->measured)
		return false;
	*ret = *(const uint16_t *)((const char *)line + fact->word) / 100.0;
	return true;
}

static bool find_load(const struct trigger_fact *fact, struct text bytes, double *ret)
{
	struct counter_row row;

	if (!counters_parse_loadavg(bytes, &row) || fact->word >= row.count)
		return false;
	*ret = (double)row.items[fact->word].value / 100;
	return true;
}

static bool find_runnable(const struct trigger_fact *fact, struct text bytes, double *ret)
{
	uint64_t runnable, all;

	(void)fact;
	if (!counters_parse_threads(bytes, &runnable, &all))
		return false;
	*ret = (double)runnable;
	return true;
}

static bool find_threads(const struct trigger_fact *fact, struct text bytes, double *ret)
{
	uint64_t runnable, all;

	(void)fact;
	if (!counters_parse_threads(bytes, &runnable, &all))
		return false;
	*ret = (double)all;
	return true;
}

/* The averages of a line; of ten seconds where none is named. */
#define PRESSURE(name, file, half, average)                                  \
	{                                                                    \
		name, file, find_pressure, offsetof(struct psi_lines, half), \
			offsetof(struct psi_line, average), true             \
	}
#define PRESSURES(resource, half)                                                                  \
	PRESSURE("psi." #resource "." #half, "pressure/" #resource, half, avg10),                  \
		PRESSURE("psi." #resource "." #half ".avg10", "pressure/" #resource, half, avg10), \
		PRESSURE("psi." #resource "." #half ".avg60", "pressure/" #resource, half, avg60), \
		PRESSURE("psi." #resource "." #half ".avg300", "pressure/" #resource, half,        \
			 avg300)

/* For a whole host, "full" is undefined for CPUs and printed as zero, and interrupts have no "some"
 * (Documentation/accounting/psi.rst). */
/* clang-format off */
static const struct trigger_fact facts[] = {
	PRESSURES(cpu, some),
	PRESSURES(memory, some),
	PRESSURES(memory, full),
	PRESSURES(io, some),
	PRESSURES(io, full),
	PRESSURES(irq, full),
	{ "runnable", "loadavg", find_runnable, 0, 0, false },
	{ "load1", "loadavg", find_load, 0, 0, false },
	{ "load5", "loadavg", find_load, 0, 1, false },
	{ "load15", "loadavg", find_load, 0, 2, false },
	{ "threads", "loadavg", find_threads, 0, 3, false },
	{ "lost", NULL, NULL, 0, 0, false },
};
/* clang-format on */

static const struct {
	const char *name;
	int number;
} signals[] = { { "SIGUSR1", SIGUSR1 }, { "SIGUSR2", SIGUSR2 } };

/* --- reading what was written --- */

/* Explain a word without a limit by the fact that it most likely means. */
static struct error *not_a_trigger(const char *word)
{
	const char *nearest =
		text_nearest(word, &signals[0].name, array_length(signals), sizeof(signals[0]));

	if (!nearest)
		nearest = text_nearest(word, &facts[0].name, array_length(facts), sizeof(facts[0]));
	if (nearest && strncmp(nearest, "SIG", 3) != 0)
		return error_create("'%s' has no limit; expected e.g. '%s>20'", word, nearest);
	if (nearest)
		return error_create("unknown signal '%s'; did you mean '%s'?", word, nearest);
	return error_create("invalid trigger '%s': expected e.g. psi.cpu.some>20, runnable>2*cpus, "
			    "SIGUSR1",
			    word);
}

static struct error *find_fact_of(struct text name, const struct trigger_fact **ret)
{
	char word[40];
	const char *nearest;

	for (size_t i = 0; i < array_length(facts); i++)
		if (text_equal(text_of(facts[i].name), name)) {
			*ret = &facts[i];
			return NULL;
		}
	snprintf(word, sizeof(word), "%.*s", (int)(name.length < 39 ? name.length : 39),
		 name.bytes);
	text_make_safe(word);
	nearest = text_nearest(word, &facts[0].name, array_length(facts), sizeof(facts[0]));
	if (nearest)
		return error_create("unknown fact '%s'; did you mean '%s'?", word, nearest);
	return error_create(
		"unknown fact '%s'; expected one of: psi.cpu.some, psi.memory.some, "
		"psi.memory.full, psi.io.some, psi.io.full, psi.irq.full (each also with "
		".avg10, .avg60, .avg300), runnable, load1, load5, load15, threads, lost",
		word);
}

/* "20", "20%" of what is in percent, "2*cpus" of what is not. */
static bool parse_limit(struct text text, struct trigger *trigger)
{
	struct amount amount;
	struct text number = text;
	const char *star = memchr(text.bytes, '*', text.length);

	if (star) {
		number.length = (size_t)(star - text.bytes);
		text = (struct text){ star + 1, text.length - number.length - 1 };
		if (trigger->fact->percent || !text_equal(text_trim(text), TEXT("cpus")))
			return false;
		trigger->for_each_cpu = true;
	}
	number = text_trim(number);
	if (!number.length || number.bytes[0] == '+' || number.bytes[0] == '-' ||
	    !units_parse(number, &amount))
		return false;
	if (amount.percent ? !trigger->fact->percent : amount.dimension != DIMENSION_COUNT)
		return false;
	/* A percentage cannot exceed 100. */
	if (trigger->fact->percent && amount.value >= 100)
		return false;
	trigger->limit = amount.value;
	return true;
}

struct error *trigger_parse(const char *text, struct trigger *ret)
{
	struct text rest = text_trim(text_of(text)), name;
	struct trigger trigger = { .text = text };
	struct error *err;
	char word[60];

	snprintf(word, sizeof(word), "%s", text);
	text_make_safe(word);
	for (size_t i = 0; i < array_length(signals); i++)
		if (text_equal(text_of(signals[i].name), rest)) {
			trigger.signal = signals[i].number;
			*ret = trigger;
			return NULL;
		}
	if (!memchr(rest.bytes, '>', rest.length))
		return not_a_trigger(word);
	text_cut(&rest, '>', &name);
	err = find_fact_of(text_trim(name), &trigger.fact);
	if (err)
		return err;
	if (!parse_limit(text_trim(rest), &trigger))
		return error_create("invalid limit for '%s': expected %s", word,
				    trigger.fact->percent ? "a percentage below 100, e.g. >20"
							  : "a number, e.g. >100 or >2*cpus");
	*ret = trigger;
	return NULL;
}

/* --- judging --- */

struct error *trigger_read(const struct trigger *trigger, int proc, const struct trigger_seen *seen,
			   double *ret)
{
	const struct trigger_fact *fact = trigger->fact;
	struct file_buffer buffer = { 0 };
	struct text bytes;
	int failed;
	bool found;

	if (!fact->file) {
		*ret = (double)seen->lost;
		return NULL;
	}
	failed = file_read(proc, fact->file, &buffer, &bytes);
	found = !failed && fact->find(fact, bytes, ret);
	file_buffer_deinit(&buffer);
	if (failed)
		return error_system(failed, "%s: /proc/%s", fact->name, fact->file);
	return found ? NULL : error_create("%s: not in /proc/%s", fact->name, fact->file);
}

bool trigger_judge(struct trigger *trigger, double value, unsigned cpus, bool wait)
{
	bool was_above = trigger->above;
	bool above = value > trigger->limit * (trigger->for_each_cpu ? cpus : 1);

	if (above && wait)
		return false;
	trigger->above = above;
	return above && !was_above;
}
