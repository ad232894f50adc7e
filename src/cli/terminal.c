/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/options.h"

/* --- options --- */

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER, COLOUR_WHEN_COUNT };

static struct {
	enum colour_when colour;
	bool wide, no_pager;
} chosen;

const char *colour_name(size_t number)
{
	static const char *const names[] = { "auto", "always", "never" };

	return number < array_length(names) ? names[number] : NULL;
}

struct error *parse_colour(const char *argument, void *at)
{
	const size_t found = option_value(argument, colour_name);

	(void)at;
	if (found == COLOUR_WHEN_COUNT)
		return unknown_value("choice", argument, colour_name);
	chosen.colour = (enum colour_when)found;
	return NULL;
}

struct error *parse_wide(const char *argument, void *at)
{
	(void)argument;
	(void)at;
	chosen.wide = true;
	return NULL;
}

struct error *parse_no_pager(const char *argument, void *at)
{
	(void)argument;
	(void)at;
	chosen.no_pager = true;
	return NULL;
}

/* --- the terminal --- */

static struct {
	bool is_set, is_output;
	struct winsize size;
} remembered;

void terminal_remember(void)
{
	remembered.is_output = terminal_is_output();
	remembered.size = terminal_size();
	remembered.is_set = true;
}

bool terminal_is_output(void)
{
	return remembered.is_set ? remembered.is_output : isatty(STDOUT_FILENO);
}

struct winsize terminal_size(void)
{
	struct winsize size;

	if (remembered.is_set)
		return remembered.size;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? (struct winsize){ 0 } : size;
}

bool terminal_wants_pager(void)
{
	const char *term = getenv("TERM");

	return !chosen.no_pager && terminal_is_output() && term && *term &&
	       strcmp(term, "dumb") != 0;
}

bool terminal_is_wide(void)
{
	return chosen.wide;
}

size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	const size_t of_screen = terminal_size().ws_col;
	uint32_t width;

	if (columns && text_u32(text_of(columns), &width) && width)
		return width;
	return of_screen ? of_screen : 80;
}

size_t terminal_table_width(void)
{
	/* For the character that stands for what is cut. */
	terminal_is_utf8();
	return terminal_is_output() && !chosen.wide ? terminal_width() : 0;
}

bool terminal_allows_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");

	if (chosen.colour != COLOUR_AUTO)
		return chosen.colour == COLOUR_ALWAYS;
	return !no_colour || !*no_colour;
}

bool terminal_wants_colour(void)
{
	return chosen.colour == COLOUR_ALWAYS || (terminal_is_output() && terminal_allows_colour());
}

bool terminal_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return utf8_is_locale();
}
