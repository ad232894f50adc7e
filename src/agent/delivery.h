/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivers requests of an agent to servers: at least once, in the order in which they were added
 * (but one that the server does not accept, while it accepts others, is sent after these), and with
 * nothing lost silently.
 *
 *	err = delivery_open(&options, &delivery);   before privileges are dropped
 *	poll(delivery_fd(delivery))                 and when it is readable:
 *	err = delivery_poll(delivery);
 *	each interval:
 *		interval.losses = delivery_losses(delivery, &interval.loss_count);
 *		err = delivery_add(delivery, sink, &request);
 *		err = delivery_losses_taken(delivery);
 *	delivery_close(delivery);
 *
 * Requests go to a spool on disk, and from there to a process without privileges for each sink, one
 * at a time. A request that the server refuses for good is dropped and counted. Every other failure
 * is followed by another attempt, after 1 s to 5 min or when the server says. If it is not known
 * whether a request has arrived (no answer; the sender or the agent was killed), its `check` is
 * asked first.
 *
 * No function waits for a server. delivery_open() starts a process and waits until it is ready.
 */
#ifndef AGENT_DELIVERY_H
#define AGENT_DELIVERY_H

#include "agent/sink.h"

/* The most sinks, and bytes of a sink's name with its NUL. */
#define DELIVERY_SINKS_MOST     16
#define DELIVERY_SINK_NAME_SIZE 32

/* All texts must stay. */
struct delivery_sink {
	/* Its folder in the spool, of letters, digits and '-': another one for each sink, and the
	 * same one for the same server and store, wherever it is in the configuration. */
	const char *folder;
	const char *name;             /* its word in losses and messages */
	const char *url;              /* http or https; the target of a request is appended */
	const struct sink_type *type; /* judges answers */
	/* Losses of all sinks are written by each of these: they are kept back while all of them
	 * fail. */
	bool keeps_losses;
};

struct delivery_options {
	const char *spool;   /* a directory, which is made, and its parent, if theirs is there */
	uint64_t spool_most; /* bytes of all requests on disk */
	const struct delivery_sink *sinks;
	size_t sink_count;   /* 0 .. DELIVERY_SINKS_MOST */
	const char *netrc;   /* a file with passwords (netrc(5)), read at the start; NULL: none */
	const char *ca_file; /* certificates to trust, read at the start; NULL: those of the host */
	/* Limits, 0 for the default: the longest time of a request, and without a byte of it
	 * (http_client.h); the shortest time until another attempt (1 s). */
	uint64_t total_ns, stalled_ns, retry_ns;
	const char *host;     /* the name that requests have for it, in messages; NULL: not named */
	uint64_t memory_most; /* of a sender, in bytes; 0: 128 MiB; UINT64_MAX: no limit */
	/* Called with a line of safe text, without "ctprof: " and newline: a sink begins to fail,
	 * or works again. NULL: none. */
	void (*say)(void *context, const char *line);
	void *context;
};

struct delivery;

/* Refuses sinks that delivery_open() would refuse: too many, and a store that is given twice. */
struct error *delivery_check(const struct delivery_options *options) MUST_CHECK;

/*
 * Open the spool, which no other agent may have open, and start a process that starts the senders.
 * This process must have a single thread, and still be able to change its user. What the spool has
 * from an earlier run is sent first. Fails if libcurl is not installed.
 */
struct error *delivery_open(const struct delivery_options *options,
			    struct delivery **ret) MUST_CHECK;

/* A descriptor that poll(2) says is readable when delivery_poll() has something to do. */
int delivery_fd(const struct delivery *delivery);

/* Take answers of senders and give them the next requests. Does not wait. An error means that
 * nothing can be sent any more: the spool keeps what is in it. */
struct error *delivery_poll(struct delivery *delivery) MUST_CHECK;

/*
 * Write a request to the spool, for the sink with this index in the options. If the spool is full,
 * or its disk, the oldest requests are dropped, and if that does not help, this one: they are
 * counted as losses. An error is a lack of memory. This has the type of sink_emit with a struct
 * delivery_target.
 */
struct error *delivery_add(struct delivery *delivery, size_t sink,
			   const struct sink_request *request) MUST_CHECK;

struct delivery_target {
	struct delivery *delivery;
	size_t sink;
};
struct error *delivery_emit(void *target, const struct sink_request *request) MUST_CHECK;

/*
 * What was lost and not handed out yet, which survives a restart: none while all sinks
 * that keep losses fail, so that these rows are not dropped in their turn. They stay until
 * delivery_losses_taken(), which is called when the requests with them have been added: an agent
 * that is killed in between counts them twice.
 */
const struct agent_loss *delivery_losses(struct delivery *delivery, size_t *ret_count);
struct error *delivery_losses_taken(struct delivery *delivery) MUST_CHECK;

/* The requests of all sinks that are in the spool. */
struct delivery_waiting {
	uint64_t requests, bytes;
};
struct delivery_waiting delivery_waiting(const struct delivery *delivery);

/* Send what waits until the spool is empty, a sink fails or `ns` have passed: the one function that
 * waits, for the end of an agent. */
struct error *delivery_drain(struct delivery *delivery, uint64_t ns) MUST_CHECK;
/* Say for each sink how many requests wait, if any do, at the end of an agent. */
void delivery_tell_of_waiting(const struct delivery *delivery);

/* End the senders. What waits stays in the spool. Takes NULL. */
void delivery_close(struct delivery *delivery);
DEFINE_CLEANUP(delivery_close, struct delivery *)

#endif
