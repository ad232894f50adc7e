/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/fit.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/units.h"
#include "base/utf8.h"

struct piece {
	const char *bytes;
	size_t length;
	unsigned width;
};

/* Units of time have a "µ", which is "u" where there is no UTF-8. */
static bool is_micro(const char *bytes, size_t length)
{
	return length == 2 && memcmp(bytes, "µ", 2) == 0;
}

/* The next character as it may be shown. */
static struct piece next_piece(struct text *rest, bool utf8)
{
	size_t length = utf8_sequence(rest->bytes, rest->length);
	struct piece piece = { rest->bytes, length, 1 };
	int width = 1;

	if (length > 1 && utf8) {
		mbstate_t start = { 0 };
		wchar_t wide = 0;

		/* Characters without a width join others, or turn lines around. */
		width = mbrtowc(&wide, rest->bytes, length, &start) == length ? wcwidth(wide) : -1;
		piece.width = width > 0 ? (unsigned)width : 0;
		piece.length = width ? length : 0;
	}
	if (!length || width < 0 || (length > 1 && !utf8) ||
	    (length == 1 && (rest->bytes[0] < ' ' || rest->bytes[0] == 0x7f)))
		piece = (struct piece){ is_micro(rest->bytes, length) ? "u" : "?", 1, 1 };
	length = length ? length : 1;
	rest->bytes += length;
	rest->length -= length;
	return piece;
}

static unsigned whole_width(struct text text, bool utf8)
{
	unsigned width = 0;

	while (text.length)
		width += next_piece(&text, utf8).width;
	return width;
}

/* Everything until `width`; `text` keeps what is left. */
static unsigned copy_pieces(struct text *text, unsigned width, bool utf8, char **out)
{
	unsigned used = 0;
	char *end = *out;

	while (text->length) {
		struct text rest = *text;
		struct piece piece = next_piece(&rest, utf8);

		if (used + piece.width > width)
			break;
		end = mempcpy(end, piece.bytes, piece.length);
		used += piece.width;
		*text = rest;
	}
	*end = '\0';
	*out = end;
	return used;
}

unsigned fit_text(struct text text, unsigned width, enum fit_end end, bool utf8, char *out)
{
	const char *mark = utf8 ? "\xe2\x80\xa6" : "~";
	unsigned whole = whole_width(text, utf8);

	if (whole <= width)
		return copy_pieces(&text, width, utf8, &out);
	*out = '\0';
	if (!width)
		return 0;
	if (end == FIT_TAIL) {
		while (whole > width - 1)
			whole -= next_piece(&text, utf8).width;
		out = stpcpy(out, mark);
		return 1 + copy_pieces(&text, width - 1, utf8, &out);
	}
	whole = copy_pieces(&text, width - 1, utf8, &out);
	strcpy(out, mark);
	return whole + 1;
}

char *fit_percent(char buffer[FIT_NUMBER_MAX], double share)
{
	double percent = share * 100;

	if (percent < 999.95)
		snprintf(buffer, FIT_NUMBER_MAX, "%.1f", percent);
	else
		snprintf(buffer, FIT_NUMBER_MAX, "%.0f", percent < 99999 ? percent : 99999);
	return buffer;
}

char *fit_average(char buffer[FIT_NUMBER_MAX], double average, bool fine)
{
	const int decimals = average >= 99.95 ? 0 : average >= 9.995 || !fine ? 1 : 2;

	snprintf(buffer, FIT_NUMBER_MAX, "%.*f", decimals, average < 1e9 ? average : 1e9);
	return buffer;
}

char *fit_duration(char buffer[FIT_NUMBER_MAX], uint64_t ns)
{
	uint64_t us = ns / 1000, ms = us / 1000, s = ms / 1000, m = s / 60, h = m / 60, d = h / 24;

	if (us < 1000)
		snprintf(buffer, FIT_NUMBER_MAX, "%uus", (unsigned)us);
	else if (ms < 1000)
		snprintf(buffer, FIT_NUMBER_MAX, "%ums", (unsigned)ms);
	else if (s < 100)
		snprintf(buffer, FIT_NUMBER_MAX, "%u.%us", (unsigned)s, (unsigned)(ms / 100 % 10));
	else if (m < 100)
		snprintf(buffer, FIT_NUMBER_MAX, "%um%02u", (unsigned)m, (unsigned)(s % 60));
	else if (h < 100)
		snprintf(buffer, FIT_NUMBER_MAX, "%uh%02u", (unsigned)h, (unsigned)(m % 60));
	else if (d < 100)
		snprintf(buffer, FIT_NUMBER_MAX, "%ud%uh", (unsigned)d, (unsigned)(h % 24));
	else
		snprintf(buffer, FIT_NUMBER_MAX, "%ud", (unsigned)(d < 9999 ? d : 9999));
	return buffer;
}

char *fit_bytes(char buffer[FIT_NUMBER_MAX], uint64_t bytes)
{
	static const char letters[] = "KMGTPE";
	double amount = (double)bytes;
	size_t step = 0;

	/* As 1,000 of them have one digit more than there is room for. */
	while (amount >= 999.5 && step < sizeof(letters) - 1) {
		amount /= 1024;
		step++;
	}
	if (step)
		snprintf(buffer, FIT_NUMBER_MAX, "%.*f%c", amount < 9.95, amount,
			 letters[step - 1]);
	else
		snprintf(buffer, FIT_NUMBER_MAX, "%u", (unsigned)bytes);
	return buffer;
}

char *fit_rate(char buffer[FIT_NUMBER_MAX], double rate)
{
	if (rate < 9.95)
		snprintf(buffer, FIT_NUMBER_MAX, "%.1f", rate);
	else if (rate < 99999.5)
		snprintf(buffer, FIT_NUMBER_MAX, "%.0f", rate);
	else if (rate < 9999.5e3)
		snprintf(buffer, FIT_NUMBER_MAX, "%.0fk", rate / 1e3);
	else
		snprintf(buffer, FIT_NUMBER_MAX, "%.0fM", rate / 1e6);
	return buffer;
}
