/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct column_info column_infos[COLUMN_COUNT] = {
#define COLUMN(id, ...) [COLUMN_##id] = { __VA_ARGS__ },
	COLUMNS(COLUMN)
#undef COLUMN
};

const char *const display_format_names[DISPLAY_FORMAT_COUNT] = {
#define FORMAT(id, name, ...) [FORMAT_##id] = name,
	DISPLAY_FORMATS(FORMAT)
#undef FORMAT
};

/* COLUMN_GROUP, which comes before them all, ends a list. */
static const enum column formats[DISPLAY_FORMAT_COUNT][COLUMN_COUNT] = {
#define FORMAT(id, name, ...) [FORMAT_##id] = { __VA_ARGS__ },
	DISPLAY_FORMATS(FORMAT)
#undef FORMAT
};

static void add_column(struct columns *columns, enum column column)
{
	columns->ids[columns->count++] = column;
}

struct columns columns_usual(const struct report *report, enum display_format format)
{
	struct columns columns = { 0 };

	add_column(&columns, COLUMN_GROUP);
	/* Rows of a query are programs: how many threads they had is the metric thread_count. */
	if (!report->candidate->observed_ns)
		add_column(&columns, COLUMN_THREADS);
	add_column(&columns, COLUMN_METRIC);
	if (!report->comparing)
		add_column(&columns, COLUMN_VALUE);
	for (const enum column *c = formats[format]; report->comparing && *c != COLUMN_GROUP; c++)
		add_column(&columns, *c);
	if (report->view->shares)
		add_column(&columns, COLUMN_SHARE);
	if (report->repeated)
		add_column(&columns, COLUMN_PROBABILITY);
	return columns;
}

struct columns columns_of_section(const struct columns *wanted, enum section section)
{
	enum section_subject subject = section_infos[section].subject;
	struct columns columns = { 0 };

	for (size_t i = 0; i < wanted->count; i++) {
		enum column id = wanted->ids[i];

		if ((id == COLUMN_GROUP && subject == SUBJECT_HOST) ||
		    ((id == COLUMN_THREADS || id == COLUMN_TAGS || id == COLUMN_SHARE) &&
		     subject != SUBJECT_GROUP))
			continue;
		add_column(&columns, id);
	}
	return columns;
}

const char *column_heading(const struct report *report, enum section section, enum column column)
{
	static const char *const subjects[] = {
		[SUBJECT_CGROUP] = "cgroup",
		[SUBJECT_HOST] = "",
		[SUBJECT_DEVICE] = "device",
	};
	enum section_subject subject = section_infos[section].subject;

	if (column == COLUMN_GROUP)
		return subject == SUBJECT_GROUP || subject == SUBJECT_PROCESS
			       ? report->view->axis->heading
			       : subjects[subject];
	if (column == COLUMN_DELTA && report->view->rate && !report->repeated)
		return "delta/s";
	if (column == COLUMN_PERCENT && report->against_rates)
		return "vs before";
	return column_infos[column].name;
}

static const char *write_threads(char buffer[CELL_MAX], const struct row *row, bool comparing)
{
	if (comparing && row->threads_before != row->threads_after)
		snprintf(buffer, CELL_MAX, "%" PRIu32 "→%" PRIu32, row->threads_before,
			 row->threads_after);
	else
		snprintf(buffer, CELL_MAX, "%" PRIu32, row->threads_after);
	return buffer;
}

static const char *write_arrow(char buffer[CELL_MAX], const struct row *row)
{
	char before[CELL_MAX], after[CELL_MAX];

	snprintf(buffer, CELL_MAX, "%.240s → %.240s", cell_before(before, row),
		 cell_after(after, row));
	return buffer;
}

/* A text that is a value by itself may be of any length. */
static bool is_plain_text(const struct row *row, enum column column)
{
	const struct datum *d = column == COLUMN_BASELINE ? &row->before : &row->after;

	return (column == COLUMN_BASELINE || column == COLUMN_CANDIDATE ||
		column == COLUMN_VALUE) &&
	       d->kind == DATUM_CATEGORY && !d->threads;
}

bool column_stands_right(enum section section, enum column column)
{
	/* Facts of a host are mostly texts. */
	return column_infos[column].right && section != SECTION_HOST;
}

struct text column_text(char buffer[CELL_MAX], const struct report *report, const struct row *row,
			enum column column)
{
	if (is_plain_text(row, column))
		return text_of(
			(column == COLUMN_BASELINE ? &row->before : &row->after)->category.text);
	switch (column) {
	case COLUMN_GROUP:
		return name_text(row->group);
	case COLUMN_THREADS:
		return text_of(write_threads(buffer, row, report->comparing));
	case COLUMN_METRIC:
		return text_of(row->measure->name);
	case COLUMN_BASELINE:
		return text_of(cell_before(buffer, row));
	case COLUMN_VALUE:
	case COLUMN_CANDIDATE:
		return text_of(cell_after(buffer, row));
	case COLUMN_ARROW:
		return text_of(write_arrow(buffer, row));
	case COLUMN_DELTA:
		return text_of(cell_delta(buffer, row, report->view->rate));
	case COLUMN_PERCENT:
		return text_of(cell_percent(buffer, row));
	case COLUMN_SHARE:
		return text_of(cell_share(buffer, row));
	case COLUMN_PROBABILITY:
		return text_of(cell_probability(buffer, row));
	case COLUMN_TAGS:
		return text_of(row->measure->metric ? metric_tags(buffer, row->measure->metric)
						    : "");
	case COLUMN_COUNT:
		break;
	}
	return TEXT("");
}
