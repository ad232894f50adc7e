/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

struct program_time {
	const struct name *name; /* NULL: threads of the kernel */
	uint64_t ns;             /* on the CPU */
	uint32_t processes, ended, threads;
};

/* A program in a process, which ends with the process or when that executes another. */
struct program_run {
	uint32_t program; /* in `programs` */
	bool is_alive;    /* when the profile ended */
};

struct program_table {
	ARRAY(struct program_time);
	struct word_map numbers, threads;
	struct {
		ARRAY(struct program_run);
	} runs;
	struct word_map run_numbers;
	uint64_t ns;
	bool knows_ends, lacks_threads;
};

static struct error *row_of(struct program_table *programs, const struct profile_thread *thread,
			    uint32_t *ret)
{
	const struct name *name = thread->is_kernel ? NULL : thread->process;
	uint32_t *number = word_map_at(&programs->numbers, (struct words){ { (uintptr_t)name } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(programs, (struct program_time){ .name = name }))
			return &error_no_memory;
		*number = (uint32_t)programs->count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *add_samples(struct program_table *programs, const struct profile *profile)
{
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];
		uint32_t number;
		struct error *err;

		if (sample->class != CLASS_ON_CPU)
			continue;
		err = row_of(programs, &profile->threads.items[sample->thread], &number);
		if (err)
			return err;
		sum_add(&programs->items[number].ns, sample->ns);
		sum_add(&programs->ns, sample->ns);
	}
	return NULL;
}

/* --- processes and threads, also those that no sample is of --- */

/* Threads that had not ended end with the profile. This is not known of profiles that were merged
 * with time between them, nor of those of other tools. */
#define END_TOLERANCE 20 /* of the duration */

static bool knows_ends(const struct profile *profile, uint64_t *ret_end)
{
	const uint64_t duration = profile->meta.duration_ns;
	uint64_t first = UINT64_MAX, last = 0, length;

	for (size_t i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		if (thread->begun_ns < first)
			first = thread->begun_ns;
		if (thread->ended_ns > last)
			last = thread->ended_ns;
	}
	*ret_end = last;
	if (!first || first >= last)
		return false;
	length = last - first;
	return (length > duration ? length - duration : duration - length) <=
	       duration / END_TOLERANCE;
}

static struct error *add_run(struct program_table *programs, const struct profile_thread *thread,
			     uint32_t program, bool is_alive)
{
	uint32_t *number;

	if (thread->is_kernel || !thread->tgid)
		return NULL;
	number = word_map_at(&programs->run_numbers, (struct words){ { program, thread->tgid } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&programs->runs, (struct program_run){ .program = program }))
			return &error_no_memory;
		*number = (uint32_t)programs->runs.count - 1;
		programs->items[program].processes++;
	}
	programs->runs.items[*number].is_alive |= is_alive;
	return NULL;
}

static struct error *add_thread(struct program_table *programs, const struct profile_thread *thread,
				uint64_t end)
{
	uint32_t program, *number;
	struct error *err = row_of(programs, thread, &program);

	if (err)
		return err;
	number = word_map_at(&programs->threads,
			     (struct words){ { program, thread->tid, thread->tgid } });
	if (!number)
		return &error_no_memory;
	programs->items[program].threads += *number == WORD_MAP_NEW;
	*number = 0;
	return add_run(programs, thread, program, thread->ended_ns >= end);
}

static struct error *add_threads(struct program_table *programs, const struct profile *profile)
{
	struct error *err = NULL;
	uint64_t end;

	programs->knows_ends = knows_ends(profile, &end);
	for (size_t i = 0; i < profile->threads.count && !err; i++)
		err = add_thread(programs, &profile->threads.items[i], end);
	for (size_t i = 0; i < programs->runs.count && programs->knows_ends; i++) {
		const struct program_run *run = &programs->runs.items[i];

		programs->items[run->program].ended += !run->is_alive;
	}
	return err;
}

/* --- the table --- */

static int busiest_first(const void *a, const void *b)
{
	const struct program_time *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->processes < y->processes) - (x->processes > y->processes);
}

enum program_field { PROGRAM, PROCESSES, ENDED, THREADS, TIME, SHARE };

/* When columns are shown. */
enum { WITH_PROCESSES = 1, WITH_ENDS = 2, WITH_THREADS = 4 };

static const struct table_column columns[] = {
	{ "program", .type = TABLE_TEXT, .field = PROGRAM },
	{ "processes", .type = TABLE_COUNT, .when = WITH_PROCESSES, .field = PROCESSES },
	{ "ended", .type = TABLE_COUNT, .when = WITH_ENDS, .field = ENDED },
	{ "threads", .type = TABLE_COUNT, .when = WITH_THREADS, .field = THREADS },
	{ "CPU time", .type = TABLE_NS, .field = TIME },
	{ "share", .type = TABLE_PERCENT, .decimals = 1, .field = SHARE },
};

static void get_program_cell(const void *context, const void *row_,
			     const struct table_column *column, struct table_cell *ret)
{
	const struct program_table *programs = context;
	const struct program_time *row = row_;

	switch ((enum program_field)column->field) {
	case PROGRAM:
		table_text(ret, program_text(row->name));
		return;
	case PROCESSES:
		if (row->processes)
			table_count(ret, row->processes);
		return;
	case ENDED:
		if (row->processes)
			table_count(ret, row->ended);
		return;
	case THREADS:
		table_count(ret, row->threads);
		return;
	case TIME:
		table_ns(ret, row->ns);
		return;
	case SHARE:
		table_real(ret, TABLE_PERCENT,
			   100 * share_of((double)row->ns, (double)programs->ns));
		return;
	}
}

/* The others are last. */
static size_t rows_with_time(const struct program_table *programs)
{
	size_t count = programs->count;

	while (count && !programs->items[count - 1].ns)
		count--;
	return count;
}

static unsigned when_of(const struct program_table *programs, size_t shown)
{
	unsigned when = programs->lacks_threads ? 0 : WITH_THREADS;

	for (size_t i = 0; i < shown; i++) {
		when |= programs->items[i].processes ? WITH_PROCESSES : 0;
		when |= programs->items[i].ended ? WITH_ENDS : 0;
	}
	return when;
}

static struct error *print_programs(FILE *out, const struct program_table *programs, size_t count,
				    const struct profile_style *style)
{
	struct table_options options = profile_table(out, style, get_program_cell, programs);
	const size_t shown = rows_shown(style, count);
	uint64_t rest = 0;
	struct table table;

	options.when = when_of(programs, shown);
	table_begin(&table, columns, array_length(columns), options);
	for (size_t i = 0; i < shown && table_row(&table, &programs->items[i]); i++)
		;
	for (size_t i = shown; i < count; i++)
		sum_add(&rest, programs->items[i].ns);
	print_more_rows(&table, count - shown, "program", UNIT_NS, rest);
	return table_end(&table);
}

/* Profiles of other tools may have no names of processes. */
static bool has_programs(const struct program_table *programs, size_t count)
{
	const struct program_time *first = programs->items;

	return count > 1 || (count == 1 && (!first->name || first->name->length));
}

struct error *program_report(FILE *out, const struct profile_report *report,
			     const struct profile_style *style)
{
	struct program_table programs = { .lacks_threads = report->profile->meta.lacks_threads };
	struct error *err;
	size_t count;

	if (flame_classes(report->flame) != 1u << CLASS_ON_CPU)
		return NULL;
	err = add_samples(&programs, report->profile);
	if (!err)
		err = add_threads(&programs, report->profile);
	if (programs.count)
		qsort(programs.items, programs.count, sizeof(*programs.items), busiest_first);
	count = rows_with_time(&programs);
	if (!err && has_programs(&programs, count)) {
		print_heading(out, style, "Programs");
		err = print_programs(out, &programs, count, style);
	}
	array_deinit(&programs);
	array_deinit(&programs.runs);
	word_map_deinit(&programs.numbers);
	word_map_deinit(&programs.threads);
	word_map_deinit(&programs.run_numbers);
	return err;
}
