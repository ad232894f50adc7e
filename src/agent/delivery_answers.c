/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <sys/random.h>

#include "agent/delivery_internal.h"
#include "base/units.h"

#define RETRY_MOST_NS  (300 * NS_PER_S)
#define RETRY_AFTER_NS (3600 * NS_PER_S) /* the longest that a server may ask for */
/* After so many failures at the same request, or at the question whether it has arrived, the server
 * is given another one. If it takes that, the request is the reason: it is dropped if only errors
 * of the server were answered, and else moved behind the others. For some time afterwards, one
 * failure is enough. */
#define FAILURES_MOST 6

/* --- waiting --- */

/* A number from half of `most` to `most`, so that many agents do not come back at once. */
static uint64_t jitter(uint64_t most)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = delivery_now();
	return most / 2 + number % (most / 2 + 1);
}

static void wait_after_failure(const struct delivery *d, struct delivery_channel *c,
			       uint64_t retry_after_ns)
{
	const unsigned doublings = c->failures < 16 ? c->failures : 16;
	uint64_t most = (2 * d->retry_ns) << doublings;

	if (retry_after_ns > RETRY_AFTER_NS)
		retry_after_ns = RETRY_AFTER_NS;
	if (most > RETRY_MOST_NS)
		most = RETRY_MOST_NS;
	most = jitter(most);
	c->failures++;
	/* Not before the server says, and not all agents at the same time. */
	c->due_ns = delivery_now() +
		    (most > retry_after_ns ? most : retry_after_ns + jitter(retry_after_ns / 10));
}

/* --- the state of a request --- */

bool delivery_is_suspect(const struct delivery_channel *c)
{
	return c->suspect_ns && delivery_now() - c->suspect_ns < DELIVERY_SUSPECT_NS;
}

/* Hold the request in the spool if it may have arrived: to drop it would count it although it may
 * be there. */
void delivery_settle(struct delivery *d, struct delivery_channel *c, bool is_uncertain)
{
	c->is_uncertain = is_uncertain;
	c->is_interrupted &= is_uncertain;
	spool_hold(d->spool, delivery_index(d, c), is_uncertain ? c->index + 1 : 0);
}

/* The request may have arrived, which a later agent must know, too. */
static void mark_interrupted(struct delivery *d, struct delivery_channel *c)
{
	/* If the disk refuses it, this agent knows it. */
	if (!c->is_interrupted)
		(void)spool_mark(d->spool, delivery_index(d, c), c->index);
	c->is_interrupted = true;
	c->absent_id = 0;
	delivery_settle(d, c, true);
}

/* Go on with the first request. */
void delivery_go_on(struct delivery *d, struct delivery_channel *c)
{
	c->index = 0;
	c->at_request = 0;
	c->may_pass = false;
	c->is_interrupted = false;
	c->absent_id = c->first_id = 0;
	delivery_settle(d, c, c->is_second_uncertain);
	c->is_second_uncertain = false;
}

void delivery_fail(struct delivery *d, struct delivery_channel *c, const char *why,
		   uint64_t retry_after_ns)
{
	delivery_note_failure(d, c, "its requests wait in the spool", why);
	wait_after_failure(d, c, retry_after_ns);
}

void delivery_fail_without_sender(struct delivery *d, struct delivery_channel *c)
{
	const bool was_sent = c->is_busy && c->job == SENDER_SEND;

	delivery_end_sender(c);
	c->is_busy = false;
	if (was_sent)
		mark_interrupted(d, c);
	delivery_fail(d, c, "the process that sends requests has ended", 0);
}

/* --- answers --- */

/* The server does not have all of the request, or has `unsummed` rows perhaps without their sums:
 * say so, but not again soon, and count it. */
static void take_part(struct delivery *d, struct delivery_channel *c,
		      const struct sender_answer *answer, uint64_t unsummed)
{
	static const char *const reasons[SENDER_LOSSES] = {
		[SENDER_LOSS_REFUSED] = "refused",
		[SENDER_LOSS_PART] = "stored in part",
		[SENDER_LOSS_OLD] = "too old",
	};
	char number[UNITS_TEXT_MAX];

	if (answer->lost && delivery_may_say(&c->part_said_ns))
		delivery_say(d, "%s: %s of a request were not stored%s%s; they are counted as lost",
			     c->title, units_grouped(number, (__int128)answer->lost, ""),
			     answer->said[0] ? ": " : "", answer->said);
	if (spool_remove_part(d->spool, delivery_index(d, c), c->index, reasons[answer->loss],
			      answer->lost, unsummed) &&
	    delivery_may_say(&c->sums_said_ns))
		delivery_say(d,
			     "%s: sums by minute and hour may lack rows of a request that was "
			     "interrupted; these are counted in losses",
			     c->title);
}

/* So much of the request was found. A server that died, or had too little memory, between its rows
 * and its sums has only the rows. */
static uint64_t count_unsummed(const struct delivery_channel *c, const struct sender_answer *answer)
{
	const bool may_lack_sums = c->is_interrupted || answer->has_restarted;

	return c->job == SENDER_CHECK && may_lack_sums ? answer->found : 0;
}

/* The server takes another request, and not the first one. */
static void pass_first(struct delivery *d, struct delivery_channel *c)
{
	if (!delivery_is_suspect(c))
		delivery_say(
			d,
			c->may_pass
				? "%s: a request that it does not accept now waits behind others, "
				  "which it accepts"
				: "%s: dropped a request that it cannot process; it accepts others",
			c->title);
	c->suspect_ns = delivery_now();
	if (c->may_pass)
		spool_move_last(d->spool, delivery_index(d, c));
	else
		spool_drop(d->spool, delivery_index(d, c), 0, "refused", SPOOL_ALL);
}

/* The request has arrived. If it was given to the server because it fails at the first one, that
 * one is the reason; but not if it had already arrived before the start. */
static void take_success(struct delivery *d, struct delivery_channel *c,
			 const struct sender_answer *answer)
{
	const size_t sink = delivery_index(d, c), index = c->index;
	const uint64_t unsummed = count_unsummed(c, answer);

	delivery_settle(d, c, false);
	if (answer->lost || unsummed)
		take_part(d, c, answer, unsummed);
	else
		spool_remove(d->spool, sink, index);
	if (index && c->is_second_uncertain)
		c->is_second_uncertain = false;
	else if (index)
		pass_first(d, c);
	delivery_go_on(d, c);
	delivery_note_success(d, c);
}

/* The first request has failed so often that it may be the reason. */
static bool is_time_for_another(const struct delivery *d, const struct delivery_channel *c)
{
	return c->at_request >= (delivery_is_suspect(c) ? 1 : FAILURES_MOST) &&
	       spool_count(d->spool, delivery_index(d, c)) > 1;
}

static void go_to_second(struct delivery *d, struct delivery_channel *c)
{
	c->index = 1;
	c->absent_id = 0;
	delivery_settle(d, c, c->is_second_uncertain);
}

/* The server does not take the request, which has not arrived. Is it time to try another one? */
static void consider_another(struct delivery *d, struct delivery_channel *c)
{
	delivery_settle(d, c, false);
	if (c->index && c->is_second_uncertain) {
		/* It was only asked whether it arrived before the start. */
		c->is_second_uncertain = false;
	} else if (c->index) {
		delivery_go_on(d, c);
	} else if (is_time_for_another(d, c)) {
		go_to_second(d, c);
	}
}

/* It stays unknown whether the request has arrived. If that goes on, try another one: what must be
 * known of this one is in its file. */
static void take_failed_check(struct delivery *d, struct delivery_channel *c)
{
	delivery_settle(d, c, true);
	if (c->index) {
		if (!spool_mark(d->spool, delivery_index(d, c), c->index))
			return;
		c->is_second_uncertain = false;
		delivery_go_on(d, c);
		return;
	}
	c->at_request++;
	c->may_pass = true;
	if (is_time_for_another(d, c) && spool_mark(d->spool, delivery_index(d, c), 0))
		go_to_second(d, c);
}

static void take_refusal(struct delivery *d, struct delivery_channel *c, const char *what,
			 const char *said)
{
	const size_t index = c->index;

	if (said)
		delivery_note_failure(d, c, "what it refuses is dropped", said);
	delivery_settle(d, c, false);
	spool_drop(d->spool, delivery_index(d, c), index, what, SPOOL_ALL);
	delivery_go_on(d, c);
}

static void note_failed_request(struct delivery_channel *c, uint32_t outcome)
{
	if (c->index)
		return;
	c->at_request++;
	c->may_pass |= outcome != SENDER_FAILED;
}

void delivery_take_answer(struct delivery *d, struct delivery_channel *c,
			  const struct sender_answer *answer)
{
	const bool was_check = c->job == SENDER_CHECK;

	c->is_busy = false;
	delivery_tell_of_clock(d, c, answer->ahead_s);
	if (answer->has_others)
		delivery_tell_of_others(d, c);
	switch (answer->outcome) {
	case SENDER_DONE:
		take_success(d, c, answer);
		break;
	case SENDER_ABSENT:
		c->absent_id = spool_id(d->spool, delivery_index(d, c), c->index);
		consider_another(d, c);
		break;
	case SENDER_REFUSED:
		take_refusal(d, c, "refused", answer->said);
		break;
	case SENDER_DAMAGED:
		take_refusal(d, c, "damaged", NULL);
		break;
	case SENDER_FAILED:
	case SENDER_UNKNOWN:
		if (was_check) {
			take_failed_check(d, c);
		} else {
			note_failed_request(c, answer->outcome);
			mark_interrupted(d, c);
		}
		delivery_fail(d, c, answer->said, answer->retry_after_ns);
		break;
	case SENDER_RETRY:
		if (was_check) {
			take_failed_check(d, c);
		} else {
			note_failed_request(c, answer->outcome);
			consider_another(d, c);
		}
		delivery_fail(d, c, answer->said, answer->retry_after_ns);
		break;
	default:
		delivery_settle(d, c, was_check);
		delivery_fail(d, c, answer->said, answer->retry_after_ns);
		break;
	}
}
