/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder report/: output in every format; lower layers determine its content. table.h is the
 * typed table that all tabular reports fill and its printers print; flame_svg, flame_html,
 * speedscope and folded draw profiles; openmetrics and exposition export metrics. Untrusted text is
 * escaped on output.
 */

/*
 * Tables of typed cells, and the printers that write them as text, Markdown, HTML, CSV and JSON.
 *
 * A report describes its columns in one array. A column has a name for programs, a heading for
 * people, a type, and the formats that show it. The rows are the report's own structs: a function
 * of the report reads a cell from a row, and is called only for columns that the format shows.
 *
 *	enum { TID, NAME };
 *	static const struct table_column columns[] = {
 *		{ "tid", .type = TABLE_COUNT, .field = TID },
 *		{ "name", .type = TABLE_TEXT, .field = NAME },
 *	};
 *	static void get(const void *context, const void *row, const struct table_column *column,
 *			struct table_cell *ret)
 *	{
 *		const struct thread *thread = row;
 *
 *		if (column->field == TID)
 *			table_count(ret, thread->tid);
 *		...
 *	}
 *
 *	struct table table;
 *	table_begin(&table, columns, array_length(columns),
 *		    (struct table_options){ .format = TABLE_AS_TEXT, .out = out, .get = get });
 *	for each thread:
 *		table_row(&table, thread);
 *	err = table_end(&table);
 *
 * A format for all tables is one printer (table_printer.h) and a row of TABLE_FORMATS.
 *
 * Names in cells are chosen by others. Text, Markdown, HTML and CSV show them by text_visible, JSON
 * as they are.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "report/visible.h"

/* FORMAT(id, printer) */
#define TABLE_FORMATS(FORMAT)                    \
	FORMAT(TEXT, table_text_printer)         \
	FORMAT(MARKDOWN, table_markdown_printer) \
	FORMAT(HTML, table_html_printer)         \
	FORMAT(CSV, table_csv_printer)           \
	FORMAT(JSON, table_json_printer)         \
	FORMAT(JSON_LINES, table_json_lines_printer)

enum table_format {
#define FORMAT(id, ...) TABLE_AS_##id,
	TABLE_FORMATS(FORMAT)
#undef FORMAT
		TABLE_FORMAT_COUNT
};

/* Sets of formats: those for people and those for programs. */
#define TABLE_FOR_PEOPLE   (1u << TABLE_AS_TEXT | 1u << TABLE_AS_MARKDOWN | 1u << TABLE_AS_HTML)
#define TABLE_FOR_CSV      (1u << TABLE_AS_CSV)
#define TABLE_FOR_JSON     (1u << TABLE_AS_JSON | 1u << TABLE_AS_JSON_LINES)
#define TABLE_FOR_PROGRAMS (TABLE_FOR_CSV | TABLE_FOR_JSON)

/* The type of a value. People see units; programs get plain numbers. */
enum table_type {
	TABLE_UNKNOWN, /* not measured: "-" for people, nothing in CSV, null in JSON */
	TABLE_TEXT,
	TABLE_COUNT,
	TABLE_SIGNED,
	TABLE_NS,
	TABLE_BYTES,
	TABLE_PERCENT, /* 12.5 is 12.5 % */
	TABLE_REAL,    /* a ratio, a rate; null in JSON when it is not finite */
	TABLE_DIGITS,  /* a number that is digits already */
	TABLE_BOOL,
	TABLE_RANGE,  /* {"min":-5,"max":19}, -5..19 */
	TABLE_CPUS,   /* {"cpus":"0-3","min":4,"max":4}, 0-3 or 2-4 cpus */
	TABLE_OBJECT, /* the members of the cell; in JSON alone */
};

struct table_value {
	enum table_type type;
	union {
		struct text text; /* TABLE_TEXT, TABLE_DIGITS */
		uint64_t count;   /* TABLE_COUNT, TABLE_NS, TABLE_BYTES */
		int64_t integer;
		double real; /* TABLE_PERCENT, TABLE_REAL */
		bool flag;
		struct {
			int64_t least, most;
		} range;
		struct {
			struct text list; /* bytes are NULL: the sets differ */
			uint32_t fewest, most;
		} cpus;
	};
};

struct table_member {
	const char *name;
	struct table_value value;
};
#define TABLE_MEMBERS_MAX 24

/* The style of a cell if colours are used. */
enum table_colour { TABLE_PLAIN, TABLE_RISE, TABLE_FALL, TABLE_DERIVED, TABLE_HEADING };

/* Enough for what the formats make of any value that is no text. */
#define TABLE_CELL_MAX 512

/* Enough for the digits of any number, with a NUL. */
#define TABLE_DIGITS_MAX 64

struct table_cell {
	struct table_value value;
	struct text shown; /* for people instead of the value, when it has bytes */
	/* The digits of a number that `value` has as text with a unit; pages sort by them. Empty:
	 * pages sort by the digits of `value` if that is a number. */
	char exact[TABLE_DIGITS_MAX];
	char *owned; /* freed with the cell */
	bool failed; /* no memory */
	enum table_colour colour;
	bool bold;
	size_t member_count;
	struct table_member members[TABLE_MEMBERS_MAX];
	char buffer[TABLE_CELL_MAX]; /* for texts of the function that reads the cell */
};

struct table_column {
	const char *name;         /* in CSV and JSON; NULL: the heading */
	const char *heading;      /* for people; NULL: the name */
	enum table_type type;     /* of its cells, which may also be unknown */
	bool left, right;         /* of neither: texts stand at the left, numbers at the right */
	bool rare;                /* JSON leaves it out where it is unknown */
	unsigned decimals;        /* of percentages and reals, for people */
	unsigned formats;         /* a bit for each that shows it; 0: all */
	unsigned when;            /* shown if the options have one of these bits; 0: always */
	unsigned minor;           /* text: the highest are left out first where all do not fit */
	bool whole;               /* text: never shortened, as it tells rows apart */
	bool exact;               /* HTML: `get` also fills in `exact` of cells */
	unsigned field, argument; /* for `get` */
};

/* Fills `ret`, which is an unknown value. Texts must live until the next cell. */
typedef void (*table_get)(const void *context, const void *row, const struct table_column *column,
			  struct table_cell *ret);

struct table_options {
	enum table_format format;
	FILE *out;
	struct json_writer *json; /* JSON: an array is open here; NULL: an array of its own */
	table_get get;
	const void *context; /* for `get` */
	unsigned when;       /* see table_column */
	size_t width;        /* text: of the terminal; 0: as wide as it gets */
	bool wrap;           /* to that width; otherwise, cells are shortened to it */
	bool colour;
	bool no_heading; /* CSV: it goes on */
};

#define TABLE_COLUMNS_MAX 40

struct table {
	struct table_options options;
	const struct table_printer *printer;
	struct table_column columns[TABLE_COLUMNS_MAX]; /* that the format shows */
	size_t column_count;
	bool is_open; /* Markdown: the heading is written */
	struct error *error;
	struct json_writer own_json;
	/* Text, until its widths are known. */
	struct {
		ARRAY(struct table_text_cell);
	} cells;
	struct {
		ARRAY(struct table_text_line);
	} lines;
};

/* At most TABLE_COLUMNS_MAX of `columns` are shown; their names and headings stay the caller's.
 * What goes wrong is kept, makes all that follows do nothing, and is returned by table_end. */
void table_begin(struct table *table, const struct table_column *columns, size_t count,
		 struct table_options options);

/* False: something went wrong, more rows are of no use. */
bool table_row(struct table *table, const void *row);

/* A line between rows; "" parts groups of rows. Formats for programs have none. */
bool table_line(struct table *table, const char *text);

/* Writes what is left, and frees all. */
struct error *table_end(struct table *table) MUST_CHECK;

/* --- cells: for `get` --- */

static inline void table_text(struct table_cell *cell, struct text text)
{
	cell->value = (struct table_value){ .type = TABLE_TEXT, .text = text };
}

/* NULL stays unknown. */
static inline void table_string(struct table_cell *cell, const char *string)
{
	if (string)
		table_text(cell, text_of(string));
}

static inline void table_count(struct table_cell *cell, uint64_t count)
{
	cell->value = (struct table_value){ .type = TABLE_COUNT, .count = count };
}

static inline void table_ns(struct table_cell *cell, uint64_t ns)
{
	cell->value = (struct table_value){ .type = TABLE_NS, .count = ns };
}

static inline void table_bool(struct table_cell *cell, bool flag)
{
	cell->value = (struct table_value){ .type = TABLE_BOOL, .flag = flag };
}

/* `real` of TABLE_REAL or TABLE_PERCENT. */
static inline void table_real(struct table_cell *cell, enum table_type type, double real)
{
	cell->value = (struct table_value){ .type = type, .real = real };
}

/* A text that the cell frees; NULL is no memory. */
static inline void table_owned(struct table_cell *cell, char *text)
{
	cell->owned = text;
	cell->failed = !text;
	table_string(cell, text);
}

/* An object without members yet. */
static inline void table_object(struct table_cell *cell)
{
	cell->value.type = TABLE_OBJECT;
	cell->member_count = 0;
}

/* Add a member, initially unknown, to a cell, which becomes an object. */
struct table_member *table_member(struct table_cell *cell, const char *name);

/* The digits of a number as in JSON. False: the value is no number. */
bool table_digits(char buffer[TABLE_DIGITS_MAX], const struct table_value *value);

/* "1.2 %" and the like, into the buffer of the cell, as its text. */
void table_printf(struct table_cell *cell, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
