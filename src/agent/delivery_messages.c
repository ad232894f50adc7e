/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "agent/delivery_internal.h"
#include "base/units.h"

/* A sink that fails every now and then is reported no more often. */
#define SAY_NS (60 * NS_PER_S)
/* A condition that lasts is reported once in this time. */
#define SAY_AGAIN_NS (3600 * NS_PER_S)
/* A difference of clocks up to this is not reported. */
#define CLOCKS_DIFFER_S 60

void delivery_say(const struct delivery *d, const char *format, ...)
{
	char line[1024];
	va_list values;

	if (!d->say)
		return;
	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	d->say(d->context, line);
}

/* The name of a sink, and if others are of its type, the URL of its server without a query, which
 * may have secrets. */
void delivery_set_title(const struct delivery *d, struct delivery_channel *c)
{
	const size_t length = strcspn(c->sink.url, "?#");
	size_t same = 0;

	for (size_t i = 0; i < d->count; i++)
		same += d->channels[i].sink.type == c->sink.type;
	if (same > 1)
		snprintf(c->title, sizeof(c->title), "%s (%.*s)", c->sink.name,
			 (int)(length < DELIVERY_URL_MOST ? length : DELIVERY_URL_MOST),
			 c->sink.url);
	else
		snprintf(c->title, sizeof(c->title), "%s", c->sink.name);
	text_make_safe(c->title);
}

/* The sink fails: say so once, and not again soon, or much later if it may be such a request. */
void delivery_note_failure(struct delivery *d, struct delivery_channel *c, const char *what,
			   const char *why)
{
	const uint64_t at = delivery_now(), pause = c->at_request && delivery_is_suspect(c)
							    ? DELIVERY_SUSPECT_NS
							    : SAY_NS;

	if (!c->failing_ns)
		c->failing_ns = at;
	if (c->was_said || (c->said_ns && at - c->said_ns < pause))
		return;
	c->was_said = true;
	c->said_ns = at;
	delivery_say(d, "%s: %s; %s", c->title, why[0] ? why : "it has failed", what);
}

void delivery_note_success(struct delivery *d, struct delivery_channel *c)
{
	char span[UNITS_TEXT_MAX], waiting[UNITS_TEXT_MAX];
	const size_t count = spool_count(d->spool, delivery_index(d, c));

	if (c->was_said)
		delivery_say(d, "%s: works again after %s; %s request%s to send", c->title,
			     units_format_span(span, (double)(delivery_now() - c->failing_ns) /
							     (double)NS_PER_S),
			     units_grouped(waiting, (__int128)count, ""), plural(count));
	c->failures = 0;
	c->failing_ns = 0;
	c->was_said = false;
}

bool delivery_may_say(uint64_t *said_ns)
{
	if (*said_ns && delivery_now() - *said_ns < SAY_AGAIN_NS)
		return false;
	*said_ns = delivery_now();
	return true;
}

void delivery_tell_of_clock(struct delivery *d, struct delivery_channel *c, int64_t ahead_s)
{
	const bool is_behind = ahead_s > 0; /* this host */
	const uint64_t seconds = is_behind ? (uint64_t)ahead_s : -(uint64_t)ahead_s;
	char span[UNITS_TEXT_MAX];

	if (seconds <= CLOCKS_DIFFER_S || !delivery_may_say(&c->clock_said_ns))
		return;
	delivery_say(d,
		     "%s: the clock of this host is %s %s the server's: its times may not match "
		     "those of other hosts; set the clocks (NTP)",
		     c->title, units_format_span(span, (double)seconds),
		     is_behind ? "behind" : "ahead of");
}

void delivery_tell_of_others(struct delivery *d, struct delivery_channel *c)
{
	_cleanup_free_ char *host = d->host ? text_safe_copy(text_of(d->host)) : NULL;

	if (delivery_may_say(&c->others_said_ns))
		delivery_say(d,
			     "%s: another agent sends rows as host '%s', too: they count twice; "
			     "give one of them another name (--host), or stop it",
			     c->title, host ? host : "");
}

void delivery_tell_of_waiting(const struct delivery *d)
{
	_cleanup_free_ char *path = text_safe_copy(text_of(d->path));
	char number[UNITS_TEXT_MAX];

	for (size_t i = 0; i < d->count; i++) {
		const size_t count = spool_count(d->spool, i);

		if (count)
			delivery_say(d, "%s: %s request%s %s in %s: the next agent sends %s",
				     d->channels[i].title,
				     units_grouped(number, (__int128)count, ""), plural(count),
				     count == 1 ? "waits" : "wait", path ? path : "the spool",
				     count == 1 ? "it" : "them");
	}
}

void delivery_tell_of_left(struct delivery *d)
{
	char number[UNITS_TEXT_MAX];
	int errnum;
	size_t count;

	if (d->left_said_ns && delivery_now() - d->left_said_ns < SAY_AGAIN_NS)
		return;
	count = spool_left(d->spool, &errnum);
	if (!count || !errnum)
		return;
	d->left_said_ns = delivery_now();
	delivery_say(d,
		     "cannot remove %s file%s from the spool: %s; %s not sent again, and count%s "
		     "for its size",
		     units_grouped(number, (__int128)count, ""), plural(count), strerror(errnum),
		     count == 1 ? "it is" : "they are", count == 1 ? "s" : "");
}
