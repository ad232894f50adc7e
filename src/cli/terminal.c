/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"

size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	const size_t of_screen = terminal_size().ws_col;
	uint32_t width;

	if (columns && text_u32(text_of(columns), &width) && width)
		return width;
	return of_screen ? of_screen : 80;
}

struct winsize terminal_size(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? (struct winsize){ 0 } : size;
}

bool terminal_allows_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");

	return !no_colour || !*no_colour;
}

bool terminal_wants_colour(void)
{
	return isatty(STDOUT_FILENO) && terminal_allows_colour();
}

bool terminal_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return utf8_is_locale();
}
