/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the delivery: delivery.c gives requests to senders, delivery_answers.c
 * decides by their answers what happens to a request and which one is next, delivery_messages.c
 * says that a sink fails or works again, and delivery_open.c opens and closes all.
 */
#ifndef AGENT_DELIVERY_INTERNAL_H
#define AGENT_DELIVERY_INTERNAL_H

#include "agent/delivery.h"
#include "agent/sender.h"
#include "agent/spool.h"
#include "base/array.h"
#include "base/clock.h"

/* A request that was the reason of failures is remembered for so long. */
#define DELIVERY_SUSPECT_NS (3600 * NS_PER_S)
/* The longest part of a server's URL in messages. */
#define DELIVERY_URL_MOST 200

/* A sink. The request that is sent is *uncertain* if it may have arrived. */
struct delivery_channel {
	struct delivery_sink sink;
	char title[DELIVERY_SINK_NAME_SIZE + DELIVERY_URL_MOST + sizeof(" ()")]; /* in messages */
	int socket; /* of its sender; -1: there is none */
	bool is_busy, is_uncertain;
	/* The server, or the connection, failed while the request was sent, also by an earlier
	 * agent: if it has arrived, sums of it may be missing. */
	bool is_interrupted;
	/* The request that a check did not find, though its file may say that it was interrupted;
	 * 0: none. */
	uint64_t absent_id;
	/* The first request when a sender was last given one. What is known of the first request
	 * is true of this one only. 0: nothing is known yet. */
	uint64_t first_id;
	bool is_second_uncertain;     /* after a start, the second request may have arrived, too */
	bool was_said;                /* that it fails */
	uint32_t job;                 /* what the sender does: enum sender_kind */
	size_t index;                 /* of the request; 1: another one than that which fails */
	unsigned failures;            /* since something worked */
	unsigned at_request;          /* failures of the server at the first request */
	bool may_pass;                /* one of these was no error: the server may take it later */
	uint64_t suspect_ns;          /* when a request was the reason; 0: never */
	uint64_t due_ns;              /* the next attempt */
	uint64_t failing_ns, said_ns; /* since when it fails; 0: it works, or that was not said */
	uint64_t part_said_ns;        /* that a part of a request was not stored; 0: never */
	uint64_t others_said_ns;      /* that another agent sends as this host; 0: never */
	uint64_t clock_said_ns;       /* that the server has another time; 0: never */
	uint64_t sums_said_ns;        /* that sums of a request may be missing; 0: never */
};

struct delivery {
	struct spool *spool;
	int starter, epoll, timer;
	uint64_t retry_ns;
	void (*say)(void *context, const char *line);
	void *context;
	const char *host;      /* may be NULL */
	const char *path;      /* of the spool */
	bool cannot_write;     /* it was said that the spool takes nothing */
	uint64_t left_said_ns; /* that files cannot be removed from it; 0: never */
	/* Losses that were handed out. Their texts are the spool's. */
	struct {
		ARRAY(struct agent_loss);
	} handed;
	size_t count;
	struct delivery_channel channels[];
};

static inline uint64_t delivery_now(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static inline size_t delivery_index(const struct delivery *d, const struct delivery_channel *c)
{
	return (size_t)(c - d->channels);
}

/* --- messages --- */

void delivery_say(const struct delivery *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Set the title of a sink in messages, when all sinks are known. */
void delivery_set_title(const struct delivery *d, struct delivery_channel *c);
/* A sink fails, and why; `what` happens to its requests. Says so once, until it works. */
void delivery_note_failure(struct delivery *d, struct delivery_channel *c, const char *what,
			   const char *why);
void delivery_note_success(struct delivery *d, struct delivery_channel *c);
/* Say that the clocks of the server and of this host differ by more than a minute, at most once an
 * hour. `ahead_s`: that of the server is ahead by so many seconds. */
void delivery_tell_of_clock(struct delivery *d, struct delivery_channel *c, int64_t ahead_s);
/* Say that another agent sends under the name of this host, at most once an hour. */
void delivery_tell_of_others(struct delivery *d, struct delivery_channel *c);
/* Is it an hour since this was said (0: never)? Then it is said now. */
bool delivery_may_say(uint64_t *said_ns);
/* Say that files cannot be removed, at most once an hour. */
void delivery_tell_of_left(struct delivery *d);

/* --- the state of a request --- */

/* A request of this sink was recently one that the server did not take, unlike others. */
bool delivery_is_suspect(const struct delivery_channel *c);
/* Whether the request may have arrived. If so, it is held in the spool: to drop it would count it
 * although it may be there. */
void delivery_settle(struct delivery *d, struct delivery_channel *c, bool is_uncertain);
/* Go on with the first request. */
void delivery_go_on(struct delivery *d, struct delivery_channel *c);
/* The next attempt is later: after the time that a server asks for (0: none), or one that grows. */
void delivery_fail(struct delivery *d, struct delivery_channel *c, const char *why,
		   uint64_t retry_after_ns);
void delivery_fail_without_sender(struct delivery *d, struct delivery_channel *c);
void delivery_take_answer(struct delivery *d, struct delivery_channel *c,
			  const struct sender_answer *answer);

/* --- jobs --- */

void delivery_end_sender(struct delivery_channel *c);
/* Have the timer expire when the next attempt is due. */
void delivery_set_timer(struct delivery *d);

#endif
