/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: which metrics there are.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/pager.h"
#include "cmd/kstats.h"
#include "report/stream.h"
#include "report/table.h"

static const char *word_or(const char *word, const char *otherwise)
{
	return word ? word : otherwise;
}

static struct error *print_entry(void *context, const struct kstats_recorder *recorder,
				 const struct kstats_entry *entry)
{
	_cleanup_free_ char *scope = NULL;
	bool *is_first = context;

	if (*is_first)
		printf("%-24s %-7s %-7s %14s  %s\n", "NAME", "VIA", "STATE", "COUNT", "WHAT");
	*is_first = false;
	text_print_visible(stdout, text_of(entry->name), -24);
	printf(" %-7s %-7s %14" PRIu64 "  ", recorder->name,
	       entry->is_active ? "active" : "stopped", entry->count);
	/* A metric that cannot be read has the reason in this column. */
	text_print_visible(
		stdout,
		text_of(entry->start ? entry->start : word_or(entry->how, "a program's own")), 0);
	if (entry->end) {
		fputs(" to ", stdout);
		text_print_visible(stdout, text_of(entry->end), 0);
	}
	if (entry->by != KSTATS_BY_CPU)
		printf(", rows by %s", kstats_bys[entry->by].name);
	scope = kstats_scope_text(&entry->scope);
	text_print_visible(stdout, text_of(scope ? scope : ", ?"), 0);
	putchar('\n');
	return NULL;
}

/* --- for programs --- */

enum list_field { NAME, VIA, STATE, ACTIVE, COUNT, START, END, BY, KEY, FILTER, FILTERS };

static const struct table_column columns[] = {
	{ "name", .type = TABLE_TEXT, .field = NAME },
	{ "via", .type = TABLE_TEXT, .field = VIA },
	{ "state", .type = TABLE_TEXT, .formats = TABLE_FOR_CSV, .field = STATE },
	{ "active", .type = TABLE_BOOL, .formats = TABLE_FOR_JSON, .field = ACTIVE },
	{ "count", .type = TABLE_COUNT, .field = COUNT },
	{ "start", .type = TABLE_TEXT, .field = START },
	{ "end", .type = TABLE_TEXT, .field = END },
	{ "by", .type = TABLE_TEXT, .field = BY },
	{ "key", .type = TABLE_TEXT, .field = KEY },
	{ "only", .type = TABLE_OBJECT, .formats = TABLE_FOR_JSON, .field = FILTERS },
#define FILTER_COLUMN(id, name)                                                \
	{ name, .type = TABLE_TEXT, .formats = TABLE_FOR_CSV, .field = FILTER, \
	  .argument = KSTATS_FILTER_##id },
	KSTATS_FILTERS(FILTER_COLUMN)
#undef FILTER_COLUMN
};

struct list_row {
	const struct kstats_recorder *recorder;
	const struct kstats_entry *entry;
};

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
		table_object(ret);
		for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
			if (entry->scope.only[i])
				table_member(ret, kstats_filters[i])->value = (struct table_value){
					TABLE_TEXT, .text = text_of(entry->scope.only[i])
				};
		return;
	}
}

static struct error *add_entry(void *context, const struct kstats_recorder *recorder,
			       const struct kstats_entry *entry)
{
	table_row(context, &(struct list_row){ recorder, entry });
	return NULL;
}

static struct error *list_for_programs(const struct kstats_search *search, enum table_format format,
				       int *ret_status)
{
	struct table table;
	struct error *err;

	table_begin(
		&table, columns, array_length(columns),
		(struct table_options){ .format = format, .out = stdout, .get = get_entry_cell });
	err = kstats_each(search, add_entry, &table, NULL, ret_status);
	return error_first(err, table_end(&table));
}

struct error *kstats_list(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	bool is_first = true, is_whole;
	struct error *err;

	(void)words;
	pager_begin(arguments->showing.format == KSTATS_FORMAT_TEXT ? PAGER_TEXT : PAGER_DATA);
	switch (arguments->showing.format) {
	case KSTATS_FORMAT_JSON:
		return list_for_programs(&search, TABLE_AS_JSON, ret_status);
	case KSTATS_FORMAT_CSV:
		return list_for_programs(&search, TABLE_AS_CSV, ret_status);
	case KSTATS_FORMAT_TEXT:
		err = kstats_each(&search, print_entry, &is_first, &is_whole, ret_status);
		if (!err && is_first && is_whole)
			fputs("ctprof: no metrics; use ctprof kstats trace NAME to create one\n",
			      stderr);
		return err;
	default: /* refused before (check_arguments) */
		return NULL;
	}
}
