/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "base/units.h"
#include "profile/known_frames.h"
#include "profile/reason.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* The waits of a program for one reason at one place. */
struct wait_row {
	const struct name *program;    /* NULL: threads of the kernel */
	const struct name *own, *call; /* functions (struct stack_place); `call` may be NULL */
	uint32_t node;                 /* of a stack that has `own` */
	enum reason reason;
	uint64_t ns, count, threads;
	double weight;            /* reason_weight() of each nanosecond */
	bool is_small;            /* the reason, of the waits of the program: reason_is_small() */
	uint32_t thread;          /* of the heaviest sample */
	uint64_t most;            /* ns of that sample */
	uint64_t longest;         /* 0: unknown */
	bool has_unknown;         /* some samples have no longest wait */
	uint64_t block;           /* the longest of --longest, exact; 0: none is of this row */
	struct waker block_waker; /* of that */
	uint32_t waker;           /* of `longest`, in the profile, counted from 1; 0: unknown */
};

struct wait_rows {
	const struct profile *profile;
	const struct profile_style *style;
	const struct idle *idle;  /* waits that are left out */
	bool has_longest_of_sums; /* the profile has the longest wait of each sum that it can know
				   */
	unsigned char *known;
	ARRAY(struct wait_row);
	struct word_map numbers;
};

/* It is a part of a key, below an address of a name, which is a multiple of 8. */
#define REASON_BITS 4
_Static_assert((int)REASON_COUNT <= 1 << REASON_BITS, "a reason fits below an address");

static const struct frame *frame_of_node(const struct profile *profile, uint32_t node)
{
	return &profile->frames.items[profile->nodes.items[node].frame];
}

static const struct name *function_at(const struct profile *profile, uint32_t node)
{
	return node == NODE_NONE ? NULL : frame_of_node(profile, node)->name;
}

/* The row of a thread's waits with this stack; NULL without memory. */
static struct wait_row *row_of(struct wait_rows *rows, uint32_t thread, enum reason reason,
			       uint32_t leaf)
{
	const struct profile_thread *t = &rows->profile->threads.items[thread];
	const struct stack_place place = leaf == NODE_NONE
						 ? (struct stack_place){ NODE_NONE, NODE_NONE }
						 : stack_place(rows->profile, rows->known, leaf);
	const struct wait_row row = { .program = t->is_kernel ? NULL : t->process,
				      .own = function_at(rows->profile, place.own),
				      .call = function_at(rows->profile, place.call),
				      .node = place.own,
				      .reason = reason,
				      .thread = thread };
	uint32_t *number = word_map_at(
		&rows->numbers, (struct words){ { (uintptr_t)row.program, (uintptr_t)row.own,
						  (uintptr_t)row.call << REASON_BITS | reason } });

	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(rows, row))
			return NULL;
		*number = (uint32_t)rows->count - 1;
	}
	return &rows->items[*number];
}

/* --- adding up --- */

static bool is_wait(const struct wait_rows *rows, unsigned classes, uint32_t thread, unsigned class,
		    unsigned state)
{
	return profile_classes[class].is_off_cpu && classes >> class & 1 &&
	       !idle_has(rows->idle, thread, class, state);
}

static struct error *add_sample(struct wait_rows *rows, struct word_map *threads,
				const struct sample *sample)
{
	struct wait_row *row =
		row_of(rows, sample->thread, reason_of_state(sample->state), sample->node);
	uint32_t *seen;

	if (!row)
		return &error_no_memory;
	seen = word_map_at(threads,
			   (struct words){ { (uintptr_t)(row - rows->items), sample->thread } });
	if (!seen)
		return &error_no_memory;
	row->threads += *seen == WORD_MAP_NEW;
	*seen = 0;
	if (row->most < sample->ns) {
		row->most = sample->ns;
		row->thread = sample->thread;
	}
	row->weight += (double)sample->ns *
		       reason_weight(row->reason, sample_lasts(rows->profile, sample));
	sum_add(&row->ns, sample->ns);
	sum_add(&row->count, sample->count);
	row->has_unknown |= !sample->longest_ns;
	rows->has_longest_of_sums |= sample->longest_ns > 0;
	if (row->longest < sample->longest_ns) {
		row->longest = sample->longest_ns;
		row->waker = sample->waker;
	}
	return NULL;
}

/* Each of the longest waits of the profile is one of a row. */
static struct error *add_longest(struct wait_rows *rows, const struct block *block)
{
	struct wait_row *row =
		row_of(rows, block->thread, reason_of_state(block->state), block->node);

	if (!row)
		return &error_no_memory;
	if (row->block >= block->ns)
		return NULL;
	row->block = block->ns;
	row->block_waker = (struct waker){ block->waker, block->waker_tid };
	return NULL;
}

/* A thread that waits for work waits longest where all is well. */
static bool is_for_work(const struct wait_row *row)
{
	return row->reason == REASON_IDLE;
}

/* The waits of a program, but for those for work. */
struct program_waits {
	uint64_t whole, ns[REASON_COUNT];
};

struct waiting_programs {
	ARRAY(struct program_waits);
	struct word_map numbers;
};

/* NULL without memory. */
static struct program_waits *waits_of_program(struct waiting_programs *programs,
					      const struct name *program)
{
	uint32_t *number =
		word_map_at(&programs->numbers, (struct words){ { (uintptr_t)program, 1 } });

	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(programs, (struct program_waits){ 0 }))
			return NULL;
		*number = (uint32_t)programs->count - 1;
	}
	return &programs->items[*number];
}

static struct error *add_up_programs(struct waiting_programs *programs,
				     const struct wait_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct wait_row *row = &rows->items[i];
		struct program_waits *waits;

		if (is_for_work(row))
			continue;
		waits = waits_of_program(programs, row->program);
		if (!waits)
			return &error_no_memory;
		sum_add(&waits->whole, row->ns);
		sum_add(&waits->ns[row->reason], row->ns);
	}
	return NULL;
}

/* A scarce resource matters where it takes a part of the time that a user can notice. All places of
 * a reason count together: each may be small. */
static struct error *weigh_small_reasons(struct wait_rows *rows)
{
	struct waiting_programs programs = { 0 };
	struct error *err = add_up_programs(&programs, rows);

	for (size_t i = 0; i < rows->count && !err; i++) {
		struct wait_row *row = &rows->items[i];
		const struct program_waits *waits;
		double most = (double)row->ns * REASON_SMALL_WEIGHT;

		if (is_for_work(row))
			continue;
		waits = waits_of_program(&programs, row->program);
		if (!waits)
			err = &error_no_memory;
		else if (reason_is_small(waits->ns[row->reason], waits->whole)) {
			row->is_small = true;
			row->weight = row->weight < most ? row->weight : most;
		}
	}
	array_deinit(&programs);
	word_map_deinit(&programs.numbers);
	return err;
}

static int heaviest_first(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;

	if (is_for_work(x) != is_for_work(y))
		return is_for_work(x) ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static struct error *add_up(struct wait_rows *rows, unsigned classes)
{
	const struct profile *profile = rows->profile;
	struct word_map threads = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < profile->samples.count && !err; i++) {
		const struct sample *sample = &profile->samples.items[i];

		if (is_wait(rows, classes, sample->thread, sample->class, sample->state))
			err = add_sample(rows, &threads, sample);
	}
	for (size_t i = 0; i < profile->longest.count && !err; i++) {
		const struct block *block = &profile->longest.items[i];

		if (is_wait(rows, classes, block->thread, block->class, block->state))
			err = add_longest(rows, block);
	}
	word_map_deinit(&threads);
	return err;
}

/* --- printing --- */

enum wait_field { TIME, THREADS, COUNT, MEAN, LONGEST, REASON, PROGRAM, PLACE, WAKER };

/* When columns are shown. */
enum { WITH_WAKERS = 1, WITH_LONGEST = 2, WITH_PROGRAMS = 4, WITH_THREADS = 8 };

static const struct table_column columns[] = {
	{ "time", .type = TABLE_NS, .field = TIME },
	{ "threads", .type = TABLE_COUNT, .when = WITH_THREADS, .field = THREADS, .minor = 3 },
	{ "times", .type = TABLE_COUNT, .field = COUNT, .minor = 1 },
	{ "mean", .type = TABLE_NS, .field = MEAN, .minor = 2 },
	{ "longest", .type = TABLE_NS, .when = WITH_LONGEST, .field = LONGEST },
	{ "reason", .type = TABLE_TEXT, .field = REASON },
	{ "program", .type = TABLE_TEXT, .when = WITH_PROGRAMS, .field = PROGRAM },
	{ "where", .type = TABLE_TEXT, .field = PLACE },
	{ "ended by", .type = TABLE_TEXT, .when = WITH_WAKERS, .field = WAKER, .minor = 1 },
};

/* The number of waits in the time of a row; 0 if unknown. Waits for a CPU that follow another wait
 * are in the time but not in the count, and their longest is not recorded. */
static uint64_t number_of_waits(const struct wait_rows *rows, const struct wait_row *row)
{
	const bool is_part = rows->has_longest_of_sums && row->has_unknown;

	return row->reason == REASON_CPU_WAIT && is_part ? 0 : row->count;
}

/* 0: unknown. */
static uint64_t longest_of(const struct wait_rows *rows, const struct wait_row *row)
{
	if (row->block || number_of_waits(rows, row) == 1)
		return row->block ? row->block : row->ns;
	return row->has_unknown ? 0 : row->longest;
}

static bool has_longest(const struct wait_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].block || (!rows->items[i].has_unknown && rows->items[i].longest))
			return true;
	return false;
}

/* What ended the longest wait of a row; NULL: unknown. */
static const struct waker *waker_of(const struct wait_rows *rows, const struct wait_row *row)
{
	if (row->block)
		return row->block_waker.name ? &row->block_waker : NULL;
	return row->waker && longest_of(rows, row) ? &rows->profile->wakers.items[row->waker - 1]
						   : NULL;
}

static bool has_wakers(const struct wait_rows *rows, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (waker_of(rows, &rows->items[i]))
			return true;
	return false;
}

/* An interrupt has no number, and a thread that had ended no name. */
static void waker_cell(const struct waker *waker, struct table_cell *ret)
{
	if (waker && waker->tid && waker->name->length)
		table_printf(ret, "%.160s (%" PRIu32 ")", waker->name->bytes, waker->tid);
	else if (waker && waker->tid)
		table_printf(ret, "tid %" PRIu32, waker->tid);
	else if (waker && waker->name->length)
		table_printf(ret, "%.160s", waker->name->bytes);
}

static void place_cell(const struct wait_rows *rows, const struct wait_row *row,
		       struct table_cell *ret)
{
	const struct text call = frame_shown_name(row->call);
	_cleanup_free_ char *own = NULL;

	if (row->node == NODE_NONE)
		return;
	own = frame_visible(frame_of_node(rows->profile, row->node));
	table_owned(ret, own ? text_print("%s%s%.*s", own,
					  !call.length        ? ""
					  : rows->style->utf8 ? " → "
							      : " -> ",
					  (int)call.length, call.bytes)
			     : NULL);
}

static void get_wait_cell(const void *context, const void *row_, const struct table_column *column,
			  struct table_cell *ret)
{
	const struct wait_rows *rows = context;
	const struct wait_row *row = row_;

	switch ((enum wait_field)column->field) {
	case TIME:
		table_ns(ret, row->ns);
		return;
	case THREADS:
		table_count(ret, row->threads);
		return;
	case COUNT:
		if (number_of_waits(rows, row))
			table_count(ret, number_of_waits(rows, row));
		return;
	case MEAN:
		if (number_of_waits(rows, row))
			table_ns(ret, row->ns / number_of_waits(rows, row));
		return;
	case LONGEST:
		if (longest_of(rows, row))
			table_ns(ret, longest_of(rows, row));
		return;
	case REASON:
		table_string(ret, reason_rows[row->reason].name);
		return;
	case PROGRAM:
		table_text(ret, row->program ? name_text(row->program) : TEXT("[kernel threads]"));
		return;
	case PLACE:
		place_cell(rows, row, ret);
		return;
	case WAKER:
		waker_cell(waker_of(rows, row), ret);
		return;
	}
}

/* Waits for work are last, and left out beside others. */
static size_t rows_in_question(const struct wait_rows *rows)
{
	size_t count = 0;

	while (count < rows->count && !is_for_work(&rows->items[count]))
		count++;
	return count ? count : rows->count;
}

static bool has_programs(const struct wait_rows *rows)
{
	for (size_t i = 1; i < rows->count; i++)
		if (rows->items[i].program != rows->items[0].program)
			return true;
	return false;
}

/* Is any of the first `shown` rows without a number of waits? */
static bool has_uncounted(const struct wait_rows *rows, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (!number_of_waits(rows, &rows->items[i]))
			return true;
	return false;
}

static struct error *print_wait_rows(FILE *out, const struct wait_rows *rows)
{
	struct table_options options = profile_table(out, rows->style, get_wait_cell, rows);
	const size_t count = rows->style->all ? rows->count : rows_in_question(rows);
	const size_t shown = rows_shown(rows->style, count);
	struct table table;
	uint64_t rest = 0;

	options.when = (has_wakers(rows, shown) ? WITH_WAKERS : 0) |
		       (has_longest(rows) ? WITH_LONGEST : 0) |
		       (has_programs(rows) ? WITH_PROGRAMS : 0) |
		       (rows->profile->meta.lacks_threads ? 0 : WITH_THREADS);
	table_begin(&table, columns, array_length(columns), options);
	for (size_t i = 0; i < shown && table_row(&table, &rows->items[i]); i++)
		;
	for (size_t i = shown; i < count; i++)
		sum_add(&rest, rows->items[i].ns);
	print_more_rows(&table, count - shown, "place", UNIT_NS, rest);
	if (has_uncounted(rows, shown))
		table_line(&table, " (cpu-wait: from the wake-up there until the thread ran)");
	return table_end(&table);
}

static struct error *find_waits(struct wait_rows *rows, const struct profile_report *report)
{
	struct error *err;

	rows->profile = report->profile;
	rows->idle = report->idle;
	rows->known = known_frames_of(report->profile);
	err = rows->known ? add_up(rows, profile_classes_shown(report)) : &error_no_memory;
	if (!err)
		err = weigh_small_reasons(rows);
	if (!err && rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), heaviest_first);
	return err;
}

static void free_waits(struct wait_rows *rows)
{
	array_deinit(rows);
	word_map_deinit(&rows->numbers);
	free(rows->known);
}

struct error *waits_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style)
{
	struct wait_rows rows = { .style = style };
	struct error *err = find_waits(&rows, report);

	if (!err && rows.count) {
		print_heading(
			out, style,
			"Waits that matter most, by place (CPU, lock and storage count most)");
		err = print_wait_rows(out, &rows);
	}
	free_waits(&rows);
	return err;
}

/* Reasons for which no thread waits by design, as a shell waits for its child. */
#define UNWANTED                                                                                  \
	(1u << REASON_CPU_WAIT | 1u << REASON_LOCK | 1u << REASON_STORAGE | 1u << REASON_PAGING | \
	 1u << REASON_NETWORK)

/* The first row of some reasons (a bit each) that are not small; `count`: there is none. */
static size_t first_row_of(const struct wait_rows *rows, unsigned reasons)
{
	size_t i = 0;

	while (i < rows->count &&
	       (rows->items[i].is_small || !(reasons >> rows->items[i].reason & 1)))
		i++;
	return i;
}

static size_t row_to_ask_about(const struct wait_rows *rows)
{
	const size_t unwanted = first_row_of(rows, UNWANTED);
	const size_t any = first_row_of(rows, ~0u);

	if (unwanted < rows->count)
		return unwanted;
	return any < rows->count ? any : 0;
}

/* The row to ask about: the heaviest one of the reason with the longest waits, except for waits by
 * design if there are others. In a profile of the whole host, only waits of the program of `row`
 * count. A scarce resource with a small part of the time is thereby not preferred to the main
 * reason. */
static const struct wait_row *main_row(const struct wait_rows *rows, const struct wait_row *row)
{
	const bool is_of_one = rows->profile->meta.is_whole_host;
	uint64_t ns[REASON_COUNT] = { 0 };
	enum reason most = row->reason;

	for (size_t i = 0; i < rows->count; i++)
		if (!is_of_one || rows->items[i].program == row->program)
			sum_add(&ns[rows->items[i].reason], rows->items[i].ns);
	for (enum reason reason = 0; reason < REASON_COUNT; reason++)
		if (ns[reason] > ns[most] && (UNWANTED | 1u << REASON_PIPE) >> reason & 1)
			most = reason;
	for (size_t i = 0; most != row->reason && i < rows->count; i++)
		if (rows->items[i].reason == most &&
		    (!is_of_one || rows->items[i].program == row->program))
			return &rows->items[i];
	return row;
}

struct error *waits_heaviest(const struct profile_report *report, uint32_t *ret_thread,
			     enum reason *ret_reason)
{
	struct wait_rows rows = { 0 };
	struct error *err = find_waits(&rows, report);

	*ret_thread = UINT32_MAX;
	if (!err && rows.count) {
		const struct wait_row *row = main_row(&rows, &rows.items[row_to_ask_about(&rows)]);

		*ret_thread = row->thread;
		*ret_reason = row->reason;
	}
	free_waits(&rows);
	return err;
}
