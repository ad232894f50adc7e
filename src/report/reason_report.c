/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "profile/reason.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* A time with three digits: there may be ten columns. */
static char *short_time(char buffer[UNITS_TEXT_MAX], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { NS_PER_S, "s" }, { NS_PER_S / 1000, "ms" }, { 1000, "µs" }, { 1, "ns" } };
	size_t i = 0;
	double value;

	while (units[i].ns > ns && units[i].ns > 1)
		i++;
	value = (double)ns / (double)units[i].ns;
	snprintf(buffer, UNITS_TEXT_MAX, "%.*f%s",
		 value >= 100 || units[i].ns == 1 ? 0
		 : value >= 10                    ? 1
						  : 2,
		 value, units[i].name);
	return buffer;
}

/* --- what is left out --- */

struct error *idle_report(FILE *out, const struct profile_report *report,
			  const struct profile_style *style)
{
	const struct idle *idle = report->idle;
	char left_out[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	(void)style;
	if (!idle)
		return NULL;
	fprintf(out, "%zu thread%s idle all the time", idle->thread_count,
		plural(idle->thread_count));
	if (idle->part_count)
		fprintf(out, ", %zu in part", idle->part_count);
	fprintf(out, ": %s of %s not shown (--idle)\n", short_time(left_out, idle->ns),
		short_time(all, idle->all_ns));
	return NULL;
}

/* --- programs --- */

struct program_reasons {
	const struct name *name; /* NULL: threads of the kernel */
	uint64_t ns[REASON_COUNT], sum, threads;
	double weight;
};

/* A reason has a column if it is not small in some row that is shown; the heaviest of them, as many
 * as there is room for. */
#define COLUMNS_MAX    7
#define COLUMNS_NARROW 5
#define NARROW         100 /* a terminal */

struct reason_table {
	ARRAY(struct program_reasons);
	bool has_column[REASON_COUNT];
	bool lacks_threads;
};

static int heaviest_first(const void *a, const void *b)
{
	const struct program_reasons *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return 0;
}

static struct error *row_of(struct reason_table *programs, struct word_map *numbers,
			    const struct profile_thread *thread, struct program_reasons **ret)
{
	const struct name *name = thread->is_kernel ? NULL : thread->process;
	uint32_t *number = word_map_at(numbers, (struct words){ { (uintptr_t)name, 1 } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(programs, (struct program_reasons){ .name = name }))
			return &error_no_memory;
		*number = (uint32_t)programs->count - 1;
	}
	*ret = &programs->items[*number];
	return NULL;
}

static struct error *add_sample(struct reason_table *programs, struct word_map *numbers, bool *seen,
				const struct profile *profile, const struct sample *sample)
{
	const enum reason reason = reason_of_state(sample->state);
	struct program_reasons *row = NULL;
	struct error *err =
		row_of(programs, numbers, &profile->threads.items[sample->thread], &row);

	if (err)
		return err;
	sum_add(&row->ns[reason], sample->ns);
	sum_add(&row->sum, sample->ns);
	row->weight += (double)sample->ns * reason_weight(reason, sample_lasts(profile, sample));
	row->threads += !seen[sample->thread];
	seen[sample->thread] = true;
	return NULL;
}

static struct error *add_samples(struct reason_table *programs, const struct profile_report *report)
{
	const struct profile *profile = report->profile;
	const unsigned classes = profile_classes_shown(report);
	_cleanup_free_ bool *seen = calloc(profile->threads.count + 1, sizeof(*seen));
	struct word_map numbers = { 0 };
	struct error *err = seen ? NULL : &error_no_memory;

	for (size_t i = 0; i < profile->samples.count && !err; i++) {
		const struct sample *sample = &profile->samples.items[i];

		if (sample->ns && classes >> sample->class & 1 &&
		    !idle_has(report->idle, sample->thread, sample->class, sample->state))
			err = add_sample(programs, &numbers, seen, profile, sample);
	}
	word_map_deinit(&numbers);
	return err;
}

/* --- the table --- */

static void choose_columns(struct reason_table *programs, size_t shown, size_t most_columns)
{
	double most[REASON_COUNT] = { 0 };

	for (size_t i = 0; i < shown; i++)
		for (enum reason reason = 0; reason < REASON_COUNT; reason++) {
			const struct program_reasons *row = &programs->items[i];

			if (!reason_is_small(row->ns[reason], row->sum))
				most[reason] += (double)row->ns[reason];
		}
	for (size_t columns = 0; columns < most_columns; columns++) {
		enum reason heaviest = REASON_COUNT;

		for (enum reason reason = 0; reason < REASON_COUNT; reason++)
			if (most[reason] > 0 && !programs->has_column[reason] &&
			    (heaviest == REASON_COUNT ||
			     reason_weight(reason, false) * most[reason] >
				     reason_weight(heaviest, false) * most[heaviest]))
				heaviest = reason;
		if (heaviest == REASON_COUNT)
			break;
		programs->has_column[heaviest] = true;
	}
}

static uint64_t rest_of(const struct reason_table *programs, const struct program_reasons *row)
{
	uint64_t rest = 0;

	for (enum reason reason = 0; reason < REASON_COUNT; reason++)
		if (!programs->has_column[reason])
			sum_add(&rest, row->ns[reason]);
	return rest;
}

static void put_short_time(struct table_cell *ret, uint64_t ns)
{
	if (ns)
		table_string(ret, short_time(ret->buffer, ns));
}

enum program_field { PROGRAM, THREADS, SUM, REASON, REST };

/* When the column is shown. */
enum { WITH_THREADS = 1 };

static void get_program_cell(const void *context, const void *row_,
			     const struct table_column *column, struct table_cell *ret)
{
	const struct program_reasons *row = row_;

	switch ((enum program_field)column->field) {
	case PROGRAM:
		table_text(ret, program_text(row->name));
		return;
	case THREADS:
		table_count(ret, row->threads);
		return;
	case SUM:
		put_short_time(ret, row->sum);
		return;
	case REASON:
		put_short_time(ret, row->ns[column->argument]);
		return;
	case REST:
		put_short_time(ret, rest_of(context, row));
		return;
	}
}

static struct error *print_programs(FILE *out, struct reason_table *programs,
				    const struct profile_style *style, const char *sum)
{
	struct table_column columns[REASON_COUNT + 4] = {
		{ "program", .type = TABLE_TEXT, .field = PROGRAM },
		{ "threads", .type = TABLE_COUNT, .when = WITH_THREADS, .field = THREADS },
		{ sum, .type = TABLE_TEXT, .right = true, .field = SUM },
	};
	struct table_options options = profile_table(out, style, get_program_cell, programs);
	const size_t shown = rows_shown(style, programs->count);
	uint64_t rest = 0, left_out = 0;
	struct table table;
	size_t count = 3;

	choose_columns(programs, shown,
		       style->width && style->width < NARROW ? COLUMNS_NARROW : COLUMNS_MAX);
	for (enum reason reason = 0; reason < REASON_COUNT; reason++)
		if (programs->has_column[reason])
			columns[count++] =
				(struct table_column){ reason_rows[reason].heading,
						       .type = TABLE_TEXT, .right = true,
						       .field = REASON, .argument = reason };
	for (size_t i = 0; i < shown; i++)
		sum_add(&rest, rest_of(programs, &programs->items[i]));
	if (rest)
		columns[count++] = (struct table_column){ "rest", .type = TABLE_TEXT, .right = true,
							  .field = REST };
	options.when = programs->lacks_threads ? 0 : WITH_THREADS;
	table_begin(&table, columns, count, options);
	for (size_t i = 0; i < shown && table_row(&table, &programs->items[i]); i++)
		;
	for (size_t i = shown; i < programs->count; i++)
		sum_add(&left_out, programs->items[i].sum);
	print_more_rows(&table, programs->count - shown, "program", UNIT_NS, left_out);
	return table_end(&table);
}

static bool waits_for_unknown(const struct reason_table *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		if (programs->items[i].ns[REASON_UNKNOWN])
			return true;
	return false;
}

struct error *reason_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style)
{
	struct reason_table programs = { .lacks_threads = report->profile->meta.lacks_threads };
	struct error *err = NULL;

	if (flame_classes(report->flame) & FLAME_OFF_CPU)
		err = add_samples(&programs, report);
	if (!err && programs.count) {
		qsort(programs.items, programs.count, sizeof(*programs.items), heaviest_first);
		print_heading(out, style, "Programs, by reason");
		err = print_programs(out, &programs, style, report->idle ? "not idle" : "all");
		if (!err && report->profile->meta.lacks_states && waits_for_unknown(&programs))
			fputs("The file does not say what threads waited for (unknown): an older "
			      "ctprof wrote it.\nCapture again to tell locks, pipes, sockets and "
			      "timers apart.\n",
			      out);
	}
	array_deinit(&programs);
	return err;
}
