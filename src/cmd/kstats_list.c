/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: which metrics there are, and their most important numbers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/kstats.h"
#include "histogram/histogram.h"
#include "report/kstats_values.h"
#include "report/stream.h"
#include "report/table.h"

enum list_field {
	NAME,
	VIA,
	STATE,
	ACTIVE,
	COUNT,
	START,
	END,
	BY,
	KEY,
	FILTER,
	FILTERS,
	RATE,
	UNIT,
	P50_LOW,
	P50_HIGH,
	P99_LOW,
	P99_HIGH,
	PROGRAM,
	WHAT,
};

static const struct table_column columns[] = {
	{ "name", "NAME", .type = TABLE_TEXT, .field = NAME },
	{ "via", "VIA", .type = TABLE_TEXT, .field = VIA },
	{ "state", "STATE", .type = TABLE_TEXT, .formats = TABLE_FOR_CSV | TABLE_FOR_PEOPLE,
	  .field = STATE },
	{ "active", .type = TABLE_BOOL, .formats = TABLE_FOR_JSON, .field = ACTIVE },
	{ "count", "COUNT", .type = TABLE_COUNT, .field = COUNT },
	{ "start", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = START },
	{ "end", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = END },
	{ "by", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = BY },
	{ "key", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = KEY },
	{ "only", .type = TABLE_OBJECT, .formats = TABLE_FOR_JSON, .field = FILTERS },
#define FILTER_COLUMN(id, name)                                                \
	{ name, .type = TABLE_TEXT, .formats = TABLE_FOR_CSV, .field = FILTER, \
	  .argument = KSTATS_FILTER_##id },
	KSTATS_FILTERS(FILTER_COLUMN)
#undef FILTER_COLUMN
		{ "rate_per_s", "RATE", .type = TABLE_REAL, .field = RATE },
	{ "unit", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = UNIT },
	{ "p50_low", .type = TABLE_COUNT, .formats = TABLE_FOR_PROGRAMS, .field = P50_LOW },
	{ "p50_high", "P50", .type = TABLE_COUNT, .field = P50_HIGH },
	{ "p99_low", .type = TABLE_COUNT, .formats = TABLE_FOR_PROGRAMS, .field = P99_LOW },
	{ "p99_high", "P99", .type = TABLE_COUNT, .field = P99_HIGH },
	{ "program", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = PROGRAM },
	{ NULL, "WHAT", .type = TABLE_TEXT, .formats = TABLE_FOR_PEOPLE, .field = WHAT },
};

struct list_row {
	const struct kstats_recorder *recorder;
	const struct kstats_entry *entry;
	bool for_people;
};

static const char *word_or(const char *word, const char *otherwise)
{
	return word ? word : otherwise;
}

/* "vfs_read to vfs_write, rows by process, only pid 12", or "program server (4711)". A metric that
 * cannot be read has the reason instead. */
static char *what_of(const struct kstats_entry *entry)
{
	_cleanup_free_ char *scope = kstats_scope_text(&entry->scope);
	const bool has_rows = entry->by != KSTATS_BY_CPU;

	if (entry->program)
		return text_print("program %s (%.*s)", entry->program,
				  (int)strcspn(entry->name, ":"), entry->name);
	return text_print(
		"%s%s%s%s%s%s", word_or(entry->start, word_or(entry->how, "a program's own")),
		entry->end ? " to " : "", word_or(entry->end, ""), has_rows ? ", rows by " : "",
		has_rows ? kstats_bys[entry->by].name : "", word_or(scope, ", ?"));
}

static void rate_cell(struct table_cell *cell, const struct list_row *row)
{
	const double rate = row->entry->rate;
	char text[UNITS_TEXT_MAX];

	if (!isfinite(rate))
		return;
	table_real(cell, TABLE_REAL, rate);
	if (row->for_people)
		table_printf(cell, "%s", kstats_format_rate(text, rate));
}

static bool is_time(const struct kstats_entry *entry)
{
	return entry->unit && strcmp(entry->unit, unit_name(UNIT_NS)) == 0;
}

static void bound_cell(struct table_cell *cell, const struct list_row *row, double fraction,
		       uint64_t bound)
{
	char text[UNITS_TEXT_MAX];

	if (!percentile_is_known(row->entry->count, fraction))
		return;
	table_count(cell, bound);
	if (row->for_people)
		table_printf(cell, "%s",
			     is_time(row->entry) ? units_format(text, UNIT_NS, bound)
						 : units_grouped(text, bound, ""));
}

static void filters_cell(struct table_cell *cell, const struct kstats_entry *entry)
{
	table_object(cell);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		if (entry->scope.only[i])
			table_member(cell, kstats_filters[i])->value =
				(struct table_value){ TABLE_TEXT,
						      .text = text_of(entry->scope.only[i]) };
}

static void get_entry_cell(const void *context, const void *row, const struct table_column *column,
			   struct table_cell *ret)
{
	const struct list_row *of = row;
	const struct kstats_entry *entry = of->entry;

	(void)context;
	switch ((enum list_field)column->field) {
	case NAME:
		table_string(ret, entry->name);
		return;
	case VIA:
		table_string(ret, of->recorder->name);
		return;
	case STATE:
		table_string(ret, entry->is_active ? "active" : "stopped");
		return;
	case ACTIVE:
		table_bool(ret, entry->is_active);
		return;
	case COUNT:
		table_count(ret, entry->count);
		return;
	case START:
		table_string(ret, entry->start);
		return;
	case END:
		table_string(ret, entry->end);
		return;
	case BY:
		table_string(ret, kstats_bys[entry->by].name);
		return;
	case KEY:
		table_string(ret, entry->scope.key);
		return;
	case FILTER:
		table_string(ret, entry->scope.only[column->argument]);
		return;
	case FILTERS:
		filters_cell(ret, entry);
		return;
	case RATE:
		rate_cell(ret, of);
		return;
	case UNIT:
		table_string(ret, word_or(entry->unit, ""));
		return;
	case P50_LOW:
		bound_cell(ret, of, 0.5, entry->p50.low);
		return;
	case P50_HIGH:
		bound_cell(ret, of, 0.5, entry->p50.high);
		return;
	case P99_LOW:
		bound_cell(ret, of, 0.99, entry->p99.low);
		return;
	case P99_HIGH:
		bound_cell(ret, of, 0.99, entry->p99.high);
		return;
	case PROGRAM:
		table_string(ret, entry->program);
		return;
	case WHAT:
		table_owned(ret, what_of(entry));
		return;
	}
}

/* --- the list --- */

struct list {
	enum kstats_format format;
	struct table table;
	bool has_begun;
	size_t count;
};

static const enum table_format formats[KSTATS_FORMAT_COUNT] = {
	[KSTATS_FORMAT_TEXT] = TABLE_AS_TEXT,
	[KSTATS_FORMAT_JSON] = TABLE_AS_JSON,
	[KSTATS_FORMAT_CSV] = TABLE_AS_CSV,
};

static void begin(struct list *list)
{
	if (list->has_begun)
		return;
	list->has_begun = true;
	/* The rows of people wait until all are there. */
	if (list->format != KSTATS_FORMAT_TEXT)
		pager_begin(PAGER_DATA);
	table_begin(&list->table, columns, array_length(columns),
		    (struct table_options){ .format = formats[list->format],
					    .out = stdout,
					    .get = get_entry_cell,
					    .width = terminal_table_width() });
}

static struct error *add_entry(void *context, const struct kstats_recorder *recorder,
			       const struct kstats_entry *entry)
{
	struct list *list = context;

	begin(list);
	list->count++;
	table_row(&list->table,
		  &(struct list_row){ recorder, entry, list->format == KSTATS_FORMAT_TEXT });
	return NULL;
}

struct error *kstats_list(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct list list = { .format = arguments->showing.format };
	const bool for_people = list.format == KSTATS_FORMAT_TEXT;
	bool is_whole = false;
	struct error *err;

	(void)words;
	/* A heading alone is of use to programs only. */
	if (!for_people)
		begin(&list);
	err = kstats_each(&search, add_entry, &list, &is_whole, ret_status);
	if (list.has_begun && for_people)
		pager_begin(PAGER_TEXT);
	if (list.has_begun)
		err = error_first(err, table_end(&list.table));
	if (!err && for_people && !list.count && is_whole)
		fputs("ctprof: no metrics; use ctprof kstats trace NAME to create one\n", stderr);
	return err;
}
