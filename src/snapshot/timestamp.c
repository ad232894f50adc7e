/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/timestamp.h"

#include <stdio.h>
#include <time.h>

#include "base/units.h"

#define MS_PER_S  UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)

/* --- reading --- */

/* Cut a number of exactly `digits` digits off the front. */
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

/* Cut an optional fraction as ".25"; digits below milliseconds are ignored. */
static bool cut_fraction(struct text *text, struct timestamp *timestamp)
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
	timestamp->fraction = true;
	timestamp->ms += ms;
	return true;
}

/* "12:30" or "12:30:05.25". */
static bool cut_clock(struct text *text, struct timestamp *timestamp)
{
	int hour, minute, second = 0;

	if (!cut_digits(text, 2, &hour) || !cut_char(text, ':') || !cut_digits(text, 2, &minute))
		return false;
	if (cut_char(text, ':') && !cut_digits(text, 2, &second))
		return false;
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	timestamp->ms = (uint64_t)(hour * 3600 + minute * 60 + second) * MS_PER_S;
	return cut_fraction(text, timestamp);
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
static bool parse_date(struct text text, struct timestamp *ret)
{
	struct timestamp timestamp = { .kind = TIMESTAMP_AT };
	struct tm day = { 0 }, again;

	if (!cut_digits(&text, 4, &day.tm_year) || !cut_char(&text, '-') ||
	    !cut_digits(&text, 2, &day.tm_mon) || !cut_char(&text, '-') ||
	    !cut_digits(&text, 2, &day.tm_mday))
		return false;
	if (!cut_char(&text, 'T') && !cut_char(&text, ' '))
		return false;
	if (!cut_clock(&text, &timestamp))
		return false;
	cut_zone(&text);
	day.tm_year -= 1900;
	day.tm_mon -= 1;
	/* The 31st of November would be the first of December. */
	again = day;
	if (text.length || timegm(&again) < 0 || again.tm_mon != day.tm_mon ||
	    again.tm_mday != day.tm_mday)
		return false;
	if (!ms_of(day, timestamp.ms, &timestamp.ms))
		return false;
	*ret = timestamp;
	return true;
}

static bool parse_clock(struct text text, struct timestamp *ret)
{
	struct timestamp timestamp = { .kind = TIMESTAMP_OF_DAY };

	if (!cut_clock(&text, &timestamp))
		return false;
	cut_zone(&text);
	if (text.length)
		return false;
	*ret = timestamp;
	return true;
}

/* Nine digits at least: since 1973, and no year is taken for seconds. */
static bool parse_unix(struct text text, struct timestamp *ret)
{
	struct timestamp timestamp = { .kind = TIMESTAMP_AT };
	const char *dot = memchr(text.bytes, '.', text.length);
	struct text whole = { text.bytes, dot ? (size_t)(dot - text.bytes) : text.length };
	struct text rest = { text.bytes + whole.length, text.length - whole.length };
	uint64_t seconds;

	if (whole.length < 9 || !text_u64(whole, &seconds) || seconds > UINT64_MAX / NS_PER_S)
		return false;
	timestamp.ms = seconds * MS_PER_S;
	if (!cut_fraction(&rest, &timestamp) || rest.length)
		return false;
	*ret = timestamp;
	return true;
}

static bool parse_before(struct text text, struct timestamp *ret)
{
	uint64_t ns;

	if (!cut_char(&text, '-') || !units_parse_duration(text, &ns))
		return false;
	*ret = (struct timestamp){ .kind = TIMESTAMP_BEFORE_LAST,
				   .fraction = ns % NS_PER_S != 0,
				   .ms = ns / NS_PER_MS };
	return true;
}

bool timestamp_parse(struct text text, struct timestamp *ret)
{
	static const struct {
		struct text name;
		enum timestamp_kind kind;
	} ends[] = { { TEXT("first"), TIMESTAMP_FIRST }, { TEXT("last"), TIMESTAMP_LAST } };

	if (!text.length || text.length > TIMESTAMP_TEXT_MAX)
		return false;
	for (size_t i = 0; i < array_length(ends); i++)
		if (text_equal(text, ends[i].name)) {
			*ret = (struct timestamp){ .kind = ends[i].kind };
			return true;
		}
	return parse_before(text, ret) || parse_date(text, ret) || parse_clock(text, ret) ||
	       parse_unix(text, ret);
}

void timestamp_print(char buffer[TIMESTAMP_TEXT_SIZE], uint64_t at_ms)
{
	time_t seconds = (time_t)(at_ms / MS_PER_S);
	char stamp[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buffer, TIMESTAMP_TEXT_SIZE, "%.19s.%03uZ", stamp, (unsigned)(at_ms % MS_PER_S));
}

/* --- picking --- */

/* On the last day where the recording has this time; where it has it on none, on its last day. */
static bool find_of_day(const struct timestamp *timestamp, uint64_t first, uint64_t last,
			uint64_t *ret)
{
	const time_t seconds = (time_t)(last / MS_PER_S);
	struct tm day, before;
	uint64_t today, yesterday;

	if (!gmtime_r(&seconds, &day))
		return false;
	before = day;
	before.tm_mday--;
	if (!ms_of(day, timestamp->ms, &today))
		return false;
	*ret = today;
	if (today > last && ms_of(before, timestamp->ms, &yesterday) &&
	    yesterday + MS_PER_S > first)
		*ret = yesterday;
	return true;
}

enum timestamp_picked timestamp_pick(const struct timestamp *timestamp,
				     const struct captures *captures, size_t *ret)
{
	const uint64_t made_last = captures->items[captures->count - 1].at_ms;
	uint64_t first, last, at = 0;
	bool is_there;

	captures_range(captures, &first, &last);
	switch (timestamp->kind) {
	case TIMESTAMP_FIRST:
		*ret = 0;
		return TIMESTAMP_PICKED;
	case TIMESTAMP_LAST:
		*ret = captures->count - 1;
		return TIMESTAMP_PICKED;
	case TIMESTAMP_BEFORE_LAST:
		if (timestamp->ms > made_last)
			return TIMESTAMP_TOO_EARLY;
		at = made_last - timestamp->ms;
		break;
	case TIMESTAMP_OF_DAY:
		if (!find_of_day(timestamp, first, last, &at))
			return TIMESTAMP_TOO_EARLY;
		break;
	case TIMESTAMP_AT:
		at = timestamp->ms;
		break;
	}
	if (at > last)
		return TIMESTAMP_TOO_LATE;
	if (!timestamp->fraction)
		at += MS_PER_S - 1 - at % MS_PER_S;
	is_there = timestamp->kind == TIMESTAMP_BEFORE_LAST ? captures_back_to(captures, at, ret)
							    : captures_at(captures, at, ret);
	return is_there ? TIMESTAMP_PICKED : TIMESTAMP_TOO_EARLY;
}
