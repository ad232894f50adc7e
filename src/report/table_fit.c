/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table_fit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_printer.h"
#include "report/visible.h"

/* Narrower columns of text would be unreadable. */
#define NARROWEST 12
/* The same where cells and headings wrap, and are not lost. */
#define TEXT_NARROWEST    8
#define HEADING_NARROWEST 4
/* Names are easy to read with so many, and are not shortened more while something else can be. */
#define NAME_ENOUGH 20
/* The same of two names with an arrow between them. */
#define CALL_TIGHTEST  10
#define CALL_NARROWEST 25
#define CALL_ENOUGH    27
/* No number is wider; what a file calls one may be. */
#define NUMBER_WIDEST 32

/* --- cells --- */

static size_t width_of(const char *text, size_t length)
{
	char *copy = strndup(text, length);
	size_t width = copy ? text_width(copy) : 0;

	free(copy);
	return width;
}

/* Lines of headings end behind these, too. */
#define IN_WORDS "_-"

/* The width of the longest piece of a text that is not parted. */
static size_t longest_piece(const char *text, const char *ends)
{
	size_t longest = 0;

	while (*text) {
		const size_t word = strcspn(text, ends);
		const bool is_blank = !text[word] || text[word] == ' ';
		const size_t length = word + !is_blank, width = width_of(text, length);

		text += length;
		text += strspn(text, " ");
		if (width > longest)
			longest = width;
	}
	return longest;
}

/* Numbers stand at the right, but for those among texts: "65536", "-20", "12 → 7". */
static bool is_number(const struct table_column *column, const char *text)
{
	return table_is_right(column) || isdigit((unsigned char)*text) ||
	       (strchr("+-", *text) && isdigit((unsigned char)text[*text != '\0']));
}

/* The number alone, and a mark if it fits: what follows is a remark, as in "1.5ms (7 of 8 delays)".
 */
static char *shorten_number(const char *text, size_t width)
{
	const size_t first = strcspn(text, " ");
	const bool has_mark = width_of(text, first) + 1 + text_width(text_ellipsis()) <= width;
	char *out;

	return asprintf(&out, "%.*s%s%s", (int)first, text, has_mark ? " " : "",
			has_mark ? text_ellipsis() : "") < 0
		       ? NULL
		       : out;
}

/* The arrow in "function → call"; its length is 0 where there is none. */
static struct text arrow_in(const char *text)
{
	static const char *const arrows[] = { " → ", " -> " };

	for (size_t i = 0; i < array_length(arrows); i++) {
		const char *at = strstr(text, arrows[i]);

		if (at)
			return (struct text){ at, strlen(arrows[i]) };
	}
	return (struct text){ text, 0 };
}

/* Both names, and the arrow between them whole; NULL without memory. */
static char *shorten_call(const char *text, struct text arrow, size_t width)
{
	const char *call = arrow.bytes + arrow.length;
	const size_t room = width - width_of(arrow.bytes, arrow.length), half = room / 2;
	const size_t call_width = text_width(call);
	const size_t function_width = width_of(text, (size_t)(arrow.bytes - text));
	/* What one name does not need is for the other. */
	const size_t for_call = function_width < room - half ? room - function_width
				: call_width < half          ? call_width
							     : half;
	_cleanup_free_ char *function = strndup(text, (size_t)(arrow.bytes - text));
	_cleanup_free_ char *left = function ? text_shortened(function, room - for_call) : NULL;
	_cleanup_free_ char *right = text_shortened(call, for_call);
	char *out;

	if (!left || !right ||
	    asprintf(&out, "%s%.*s%s", left, (int)arrow.length, arrow.bytes, right) < 0)
		return NULL;
	return out;
}

/* " (18849)" of "name (18849)"; empty if there is no number in brackets at the end. */
static struct text pid_in(const char *text)
{
	const char *at = strrchr(text, '(');
	const size_t digits = at ? strspn(at + 1, "0123456789") : 0;

	return digits && at > text && at[-1] == ' ' && strcmp(at + 1 + digits, ")") == 0
		       ? text_of(at - 1)
		       : TEXT("");
}

/* Shorten the name but keep the number, which tells processes of one name apart. Allocated; NULL:
 * no memory. */
static char *shorten_name(const char *text, struct text pid, size_t width)
{
	_cleanup_free_ char *name = strndup(text, (size_t)(pid.bytes - text));
	_cleanup_free_ char *left = name ? text_shortened(name, width - pid.length) : NULL;

	return left ? text_print("%s%s", left, pid.bytes) : NULL;
}

char *table_shortened(const struct table_column *column, const char *text, size_t width)
{
	const struct text arrow = arrow_in(text), pid = pid_in(text);

	if (text_width(text) <= width)
		return strdup(text);
	if (pid.length && width >= pid.length + 3)
		return shorten_name(text, pid, width);
	if (is_number(column, text) && width_of(text, strcspn(text, " ")) <= NUMBER_WIDEST)
		return shorten_number(text, width);
	if (arrow.length && width >= CALL_TIGHTEST)
		return shorten_call(text, arrow, width);
	return text_shortened(text, width);
}

/* --- widths --- */

struct need {
	size_t natural; /* heading and cells */
	size_t enough;  /* without headings in one line and words after numbers; with long names */
	size_t least;   /* with short names */
	size_t tight;   /* with names that one has to know */
	size_t word;    /* of the longest word, where cells wrap */
};

static void raise_to(size_t *width, size_t least)
{
	if (*width < least)
		*width = least;
}

static size_t lower(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void add_heading(struct need *need, const struct table_column *column)
{
	const char *heading = table_heading(column);
	const size_t least = longest_piece(heading, " " IN_WORDS);

	*need = (struct need){
		.natural = text_width(heading),
		.enough = least,
		.least = least,
		.tight = least,
		.word = lower(text_width(heading),
			      table_is_right(column) ? HEADING_NARROWEST : TEXT_NARROWEST),
	};
}

static void add_cell(struct need *need, const struct table_column *column, const char *text)
{
	const size_t width = text_width(text);

	raise_to(&need->natural, width);
	if (is_number(column, text)) {
		const size_t first = lower(width_of(text, strcspn(text, " ")), NUMBER_WIDEST);

		raise_to(&need->enough, first);
		raise_to(&need->least, first);
		raise_to(&need->tight, first);
	} else if (column->whole) {
		raise_to(&need->enough, width);
		raise_to(&need->least, width);
		raise_to(&need->tight, width);
	} else if (arrow_in(text).length) {
		raise_to(&need->enough, lower(width, CALL_ENOUGH));
		raise_to(&need->least, lower(width, CALL_NARROWEST));
		raise_to(&need->tight, lower(width, CALL_TIGHTEST));
	} else {
		raise_to(&need->enough, lower(width, NAME_ENOUGH));
		raise_to(&need->least, lower(width, NARROWEST));
		raise_to(&need->tight, lower(width, TEXT_NARROWEST));
	}
	raise_to(&need->word, table_is_right(column)
				      ? lower(longest_piece(text, " "), NUMBER_WIDEST)
				      : lower(width, TEXT_NARROWEST));
}

static size_t total_of(const struct table_fit *fit)
{
	size_t total = 2 * fit->shown_count;

	for (size_t i = 0; i < fit->shown_count; i++)
		total += fit->widths[fit->shown[i]];
	return total;
}

/* Take from the widest, down to `least` (the offset of a member of struct need), until all fit, or
 * cannot. */
static bool squeeze(struct table_fit *fit, const struct need *needs, size_t least, size_t room)
{
	for (size_t total = total_of(fit); total > room; total--) {
		size_t widest = TABLE_COLUMNS_MAX;

		for (size_t i = 0; i < fit->shown_count; i++) {
			const size_t c = fit->shown[i];
			const size_t *floor = (const void *)((const char *)&needs[c] + least);

			if (fit->widths[c] > *floor &&
			    (widest == TABLE_COLUMNS_MAX || fit->widths[c] > fit->widths[widest]))
				widest = c;
		}
		if (widest == TABLE_COLUMNS_MAX)
			return false;
		fit->widths[widest]--;
	}
	return true;
}

/* False: none is minor. */
static bool leave_out_one(const struct table *table, struct table_fit *fit)
{
	size_t which = 0;

	for (size_t i = 1; i < fit->shown_count; i++)
		if (table->columns[fit->shown[i]].minor >= table->columns[fit->shown[which]].minor)
			which = i;
	if (!fit->shown_count || !table->columns[fit->shown[which]].minor)
		return false;
	fit->shown_count--;
	memmove(&fit->shown[which], &fit->shown[which + 1],
		(fit->shown_count - which) * sizeof(fit->shown[0]));
	return true;
}

static void start(const struct table *table, const struct need *needs, struct table_fit *fit)
{
	fit->shown_count = table->column_count;
	for (size_t c = 0; c < table->column_count; c++) {
		fit->shown[c] = c;
		fit->widths[c] = needs[c].natural;
	}
}

static void shorten(const struct table *table, const struct need *needs, struct table_fit *fit)
{
	const size_t room = table->options.width;

	do {
		for (size_t c = 0; c < table->column_count; c++)
			fit->widths[c] = needs[c].natural;
		if (squeeze(fit, needs, offsetof(struct need, enough), room) ||
		    squeeze(fit, needs, offsetof(struct need, least), room))
			return;
	} while (leave_out_one(table, fit));
	if (squeeze(fit, needs, offsetof(struct need, tight), room))
		return;
	start(table, needs, fit);
	fit->wraps = true;
}

void table_fit(const struct table *table, struct table_fit *ret)
{
	const size_t count = table->column_count, room = table->options.width;
	struct need needs[TABLE_COLUMNS_MAX];

	for (size_t c = 0; c < count; c++)
		add_heading(&needs[c], &table->columns[c]);
	for (size_t i = 0; i < table->cells.count; i++)
		add_cell(&needs[i % count], &table->columns[i % count], table->cells.items[i].text);
	*ret = (struct table_fit){ .wraps = table->options.wrap };
	start(table, needs, ret);
	if (!room)
		return;
	if (!ret->wraps)
		shorten(table, needs, ret);
	if (ret->wraps)
		squeeze(ret, needs, offsetof(struct need, word), room);
}
