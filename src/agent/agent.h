/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agent: turns readings of a collector into intervals, has each sink encode them, and delivers
 * the requests.
 *
 *	err = agent_open(&options, &agent);		before privileges are dropped
 *	receiver.prepare = agent_prepare;		of a collector, with this context
 *	receiver.take = agent_take;
 *	receiver.fd = agent_fd(agent);
 *	receiver.work = agent_work;
 *	agent_close(agent);
 *
 * An interval that a sink cannot encode is lost for this sink, and no error: only lack of memory
 * and a delivery that has failed are.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/sink.h"
#include "serve/collector.h"

struct agent_sink {
	const struct sink_type *type;
	const char *url;
};

struct agent_options {
	struct agent_identity identity;
	const struct agent_sink *sinks;
	size_t sink_count;
	const char *tenant;
	/* Passed to delivery_open(): see struct delivery_options. */
	const char *spool, *netrc, *ca_file;
	uint64_t spool_bytes;
	/* Called with a line of safe text for the user. */
	void (*say)(void *context, const char *line);
	/* Also gets each profile, such as a directory of files; may be NULL. */
	struct error *(*store)(void *context, const struct profile *profile);
	void *context;
};

struct agent;

/* Would agent_open() refuse these options? Opens no connection and no spool, and needs no
 * privileges. */
struct error *agent_check(const struct agent_options *options) MUST_CHECK;

/* The options must stay. */
struct error *agent_open(const struct agent_options *options, struct agent **ret) MUST_CHECK;

/* -1: never readable. */
int agent_fd(const struct agent *agent);
struct error *agent_work(void *agent) MUST_CHECK;
/* For a collector's receiver: wants_snapshots, is_idle, prepare and take. */
bool agent_is_idle(struct agent *agent, const struct ctprof_thread *thread);
struct error *agent_prepare(void *agent, struct collector_reading *reading) MUST_CHECK;
struct error *agent_take(void *agent, struct collector_reading *reading) MUST_CHECK;

/* Count something that was lost, for the next interval. Texts must stay. */
void agent_lose(struct agent *agent, const char *sink, const char *what, const char *why,
		uint64_t count);

/* Send what waits, for at most so long, and say what waits on. */
struct error *agent_drain(struct agent *agent, uint64_t ns) MUST_CHECK;

/* Takes NULL. */
void agent_close(struct agent *agent);
DEFINE_CLEANUP(agent_close, struct agent *)

/* --- times --- */

/* The clock of the day, which may be set while the agent runs. All zero is the beginning. */
struct interval_clock {
	uint64_t begun_unix_ns; /* the previous interval */
};

/* If the clock is set back by less than this, times of intervals advance by a second each until
 * the clock has caught up. */
#define INTERVAL_CLOCK_HELD_NS (10 * 60 * NS_PER_S)

/* The beginning of an interval of `ns` that ended at `now_unix_ns`: in a later second than that of
 * the previous one, since stores tell intervals apart by it, unless the clock was set back by
 * INTERVAL_CLOCK_HELD_NS or more (`*ret_was_set_back`). */
uint64_t interval_begin(struct interval_clock *clock, uint64_t now_unix_ns, uint64_t ns,
			bool *ret_was_set_back);

#endif
