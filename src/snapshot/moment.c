/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/moment.h"

#include <stdio.h>
#include <time.h>

#include "base/units.h"

#define MS_PER_S  UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)

/* --- reading --- */

/* As many digits as `digits`, off the front. */
static bool cut_digits(struct text *text, size_t digits, int *ret)
{
	int value = 0;

	if (text->length < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		char c = text->bytes[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	*text = (struct text){ text->bytes + digits, text->length - digits };
	*ret = value;
	return true;
}

static bool cut_char(struct text *text, char wanted)
{
	if (!text->length || text->bytes[0] != wanted)
		return false;
	*text = (struct text){ text->bytes + 1, text->length - 1 };
	return true;
}

/* ".25", of which milliseconds count. True where there is none. */
static bool cut_fraction(struct text *text, struct moment *moment)
{
	unsigned ms = 0, scale = 100;
	int digit;

	if (!cut_char(text, '.'))
		return true;
	if (!cut_digits(text, 1, &digit))
		return false;
	do {
		ms += (unsigned)digit * scale;
		scale /= 10;
	} while (cut_digits(text, 1, &digit));
	moment->fraction = true;
	moment->ms += ms;
	return true;
}

/* "12:30" or "12:30:05.25". */
static bool cut_clock(struct text *text, struct moment *moment)
{
	int hour, minute, second = 0;

	if (!cut_digits(text, 2, &hour) || !cut_char(text, ':') || !cut_digits(text, 2, &minute))
		return false;
	if (cut_char(text, ':') && !cut_digits(text, 2, &second))
		return false;
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	moment->ms = (uint64_t)(hour * 3600 + minute * 60 + second) * MS_PER_S;
	return cut_fraction(text, moment);
}

static void cut_zone(struct text *text)
{
	if (text_equal(*text, TEXT("Z")) || text_equal(*text, TEXT(" UTC")))
		text->length = 0;
}

/* Milliseconds since 1970 of a time of a day; the day may be beyond its month's ends. */
static bool ms_of(struct tm day, uint64_t ms_of_day, uint64_t *ret)
{
	int64_t seconds;

	day.tm_hour = (int)(ms_of_day / MS_PER_S / 3600);
	day.tm_min = (int)(ms_of_day / MS_PER_S / 60 % 60);
	day.tm_sec = (int)(ms_of_day / MS_PER_S % 60);
	seconds = timegm(&day);
	if (seconds < 0)
		return false;
	*ret = (uint64_t)seconds * MS_PER_S + ms_of_day % MS_PER_S;
	return true;
}

/* "2026-11-20T12:30:05". */
static bool parse_date(struct text text, struct moment *ret)
{
	struct moment moment = { .kind = MOMENT_AT };
	struct tm day = { 0 }, again;

	if (!cut_digits(&text, 4, &day.tm_year) || !cut_char(&text, '-') ||
	    !cut_digits(&text, 2, &day.tm_mon) || !cut_char(&text, '-') ||
	    !cut_digits(&text, 2, &day.tm_mday))
		return false;
	if (!cut_char(&text, 'T') && !cut_char(&text, ' '))
		return false;
	if (!cut_clock(&text, &moment))
		return false;
	cut_zone(&text);
	day.tm_year -= 1900;
	day.tm_mon -= 1;
	/* The 31st of November would be the first of December. */
	again = day;
	if (text.length || timegm(&again) < 0 || again.tm_mon != day.tm_mon ||
	    again.tm_mday != day.tm_mday)
		return false;
	if (!ms_of(day, moment.ms, &moment.ms))
		return false;
	*ret = moment;
	return true;
}

static bool parse_clock(struct text text, struct moment *ret)
{
	struct moment moment = { .kind = MOMENT_OF_DAY };

	if (!cut_clock(&text, &moment))
		return false;
	cut_zone(&text);
	if (text.length)
		return false;
	*ret = moment;
	return true;
}

/* Nine digits at least: since 1973, and no year is taken for seconds. */
static bool parse_unix(struct text text, struct moment *ret)
{
	struct moment moment = { .kind = MOMENT_AT };
	const char *dot = memchr(text.bytes, '.', text.length);
	struct text whole = { text.bytes, dot ? (size_t)(dot - text.bytes) : text.length };
	struct text rest = { text.bytes + whole.length, text.length - whole.length };
	uint64_t seconds;

	if (whole.length < 9 || !text_u64(whole, &seconds) || seconds > UINT64_MAX / NS_PER_S)
		return false;
	moment.ms = seconds * MS_PER_S;
	if (!cut_fraction(&rest, &moment) || rest.length)
		return false;
	*ret = moment;
	return true;
}

static bool parse_before(struct text text, struct moment *ret)
{
	uint64_t ns;

	if (!cut_char(&text, '-') || !units_parse_duration(text, &ns))
		return false;
	*ret = (struct moment){ .kind = MOMENT_BEFORE_LAST,
				.fraction = ns % NS_PER_S != 0,
				.ms = ns / NS_PER_MS };
	return true;
}

bool moment_parse(struct text text, struct moment *ret)
{
	static const struct {
		struct text name;
		enum moment_kind kind;
	} ends[] = { { TEXT("first"), MOMENT_FIRST }, { TEXT("last"), MOMENT_LAST } };

	if (!text.length || text.length > MOMENT_TEXT_MAX)
		return false;
	for (size_t i = 0; i < array_length(ends); i++)
		if (text_equal(text, ends[i].name)) {
			*ret = (struct moment){ .kind = ends[i].kind };
			return true;
		}
	return parse_before(text, ret) || parse_date(text, ret) || parse_clock(text, ret) ||
	       parse_unix(text, ret);
}

void moment_print(char buffer[MOMENT_TEXT_SIZE], uint64_t at_ms)
{
	time_t seconds = (time_t)(at_ms / MS_PER_S);
	char stamp[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buffer, MOMENT_TEXT_SIZE, "%.19s.%03uZ", stamp, (unsigned)(at_ms % MS_PER_S));
}

/* --- picking --- */

/* On the last day where the recording has this time; where it has it on none, on its last day. */
static bool find_of_day(const struct moment *moment, uint64_t first, uint64_t last, uint64_t *ret)
{
	const time_t seconds = (time_t)(last / MS_PER_S);
	struct tm day, before;
	uint64_t today, yesterday;

	if (!gmtime_r(&seconds, &day))
		return false;
	before = day;
	before.tm_mday--;
	if (!ms_of(day, moment->ms, &today))
		return false;
	*ret = today;
	if (today > last && ms_of(before, moment->ms, &yesterday) && yesterday + MS_PER_S > first)
		*ret = yesterday;
	return true;
}

enum moment_picked moment_pick(const struct moment *moment, const struct captures *captures,
			       size_t *ret)
{
	const uint64_t made_last = captures->items[captures->count - 1].at_ms;
	uint64_t first, last, at = 0;
	bool is_there;

	captures_range(captures, &first, &last);
	switch (moment->kind) {
	case MOMENT_FIRST:
		*ret = 0;
		return MOMENT_PICKED;
	case MOMENT_LAST:
		*ret = captures->count - 1;
		return MOMENT_PICKED;
	case MOMENT_BEFORE_LAST:
		if (moment->ms > made_last)
			return MOMENT_TOO_EARLY;
		at = made_last - moment->ms;
		break;
	case MOMENT_OF_DAY:
		if (!find_of_day(moment, first, last, &at))
			return MOMENT_TOO_EARLY;
		break;
	case MOMENT_AT:
		at = moment->ms;
		break;
	}
	if (at > last)
		return MOMENT_TOO_LATE;
	if (!moment->fraction)
		at += MS_PER_S - 1 - at % MS_PER_S;
	is_there = moment->kind == MOMENT_BEFORE_LAST ? captures_back_to(captures, at, ret)
						      : captures_at(captures, at, ret);
	return is_there ? MOMENT_PICKED : MOMENT_TOO_EARLY;
}
