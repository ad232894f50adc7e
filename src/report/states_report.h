/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of thread states for programs and for paper: a table, JSON (an object a line), CSV, or
 * nothing.
 *
 *	err = states_report_begin(format, stdout);
 *	for each window:
 *		err = states_report_print(&report, stdout);
 */
#ifndef REPORT_STATES_REPORT_H
#define REPORT_STATES_REPORT_H

#include <stdio.h>

#include "state/last_exits.h"
#include "state/row_facts.h"

/* STATES_FORMAT(id, name, its format of tables (report/table.h), which NONE does not use) */
/* clang-format off */
#define STATES_FORMATS(STATES_FORMAT)           \
	STATES_FORMAT(TABLE, "table", TEXT)     \
	STATES_FORMAT(JSON, "json", JSON_LINES) \
	STATES_FORMAT(CSV, "csv", CSV)          \
	STATES_FORMAT(NONE, "none", TEXT)
/* clang-format on */

enum states_format {
#define STATES_FORMAT_ENUM(id, ...) STATES_FORMAT_##id,
	STATES_FORMATS(STATES_FORMAT_ENUM)
#undef STATES_FORMAT_ENUM
		STATES_FORMAT_COUNT
};
extern const char *const states_format_names[STATES_FORMAT_COUNT];

struct states_report {
	const struct state_window *window;
	const struct state_list *list;
	const char *engine;
	size_t number; /* of the window, from 0 on */
	size_t limit;  /* rows; 0: all */
	enum state_grouping grouping;
	enum states_format format;
	/* Columns that were asked for besides: bits of facts, and the last exit. */
	unsigned facts;
	const struct last_exits *exits; /* NULL: not asked for */
	/* Facts of the first lines of the list, of so many; NULL: they are not known. */
	const struct row_facts *rows;
	size_t row_count;
	size_t width; /* of the terminal; 0: as wide as it gets */
	bool colour;
	bool has_hosts; /* rows are of several: each says of which */
	bool has_time;  /* begin each table of text with the time of its window */
	/* The name of a user; NULL: its number. */
	const char *(*user_name)(void *context, uint32_t uid);
	void *context;
};

/* Only the format and the columns of the report are looked at. */
struct error *states_report_begin(const struct states_report *report, FILE *out) MUST_CHECK;
struct error *states_report_print(const struct states_report *report, FILE *out) MUST_CHECK;

#endif
