/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_cost.h"
#include "agent/counters.h"
#include "agent/delivery.h"
#include "agent/places.h"
#include "base/clock.h"
#include "net/http_client.h"

struct open_sink {
	const struct sink_type *type;
	void *sink;
	char *server; /* the URL that requests go to, if it is another than the user's */
	char name[DELIVERY_SINK_NAME_SIZE];
	char folder[DELIVERY_SINK_NAME_SIZE]; /* in the spool: by type and URL */
	bool has_failed;                      /* at the last interval, and it was said */
};

struct agent {
	const struct agent_options *options;
	struct open_sink sinks[DELIVERY_SINKS_MOST];
	size_t sink_count;
	struct delivery *delivery; /* NULL: there are no sinks */
	struct agent_counters *counters;
	int proc;
	struct agent_places *places;
	struct interval_clock clock;
	uint64_t read_unix_ns; /* when the interval ended, by the clock of the day */
	struct agent_cost cost;
	struct losses_of_agent {
		ARRAY(struct agent_loss);
	} losses;                /* that no interval has yet */
	bool keeps_losses;       /* a sink stores them */
	uint64_t losses_told_ns; /* CLOCK_MONOTONIC: printed, if no sink stores them; 0: never */
	bool captures_fail;      /* it was said */
	uint64_t limit_told_ns;  /* CLOCK_MONOTONIC; 0: not told */
	bool has_changes;        /* the snapshot of the reading has them */
};

static void say(const struct agent *agent, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct agent *agent, const char *format, ...)
{
	char line[512];
	va_list values;

	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	text_make_safe(line);
	agent->options->say(agent->options->context, line);
}

/* --- opening --- */

/* The first of a type has its name, the others a number behind it. */
static void name_sink(struct agent *agent, struct open_sink *sink)
{
	size_t number = 1;

	for (size_t i = 0; i < agent->sink_count; i++)
		number += agent->sinks[i].type == sink->type;
	if (number == 1)
		snprintf(sink->name, sizeof(sink->name), "%s", sink->type->name);
	else
		snprintf(sink->name, sizeof(sink->name), "%s-%zu", sink->type->name, number);
}

/* Where a sink stands in the configuration must not say whose requests it sends. */
static void name_folder(struct open_sink *sink, const char *url)
{
	snprintf(sink->folder, sizeof(sink->folder), "%s-%016" PRIx64, sink->type->name,
		 text_hash(text_of(url), 0));
}

static struct error *open_sinks(struct agent *agent)
{
	const struct agent_options *o = agent->options;

	if (o->sink_count > DELIVERY_SINKS_MOST)
		return error_create("at most %d stores", DELIVERY_SINKS_MOST);
	for (size_t i = 0; i < o->sink_count; i++) {
		struct open_sink *sink = &agent->sinks[agent->sink_count];
		const struct sink_options options = { o->sinks[i].url, o->tenant, sink->name };
		struct error *err;

		sink->type = o->sinks[i].type;
		name_sink(agent, sink);
		name_folder(sink, options.url);
		err = sink->type->open(&options, &sink->sink);
		if (err)
			return error_prefix(err, "--%s %s", sink->type->name, options.url);
		agent->sink_count++;
		agent->keeps_losses |= sink->type->keeps_losses;
		if (sink->type->server)
			err = sink->type->server(options.url, &sink->server);
		if (err)
			return err;
	}
	return NULL;
}

/* The options refer to `sinks`, and to the agent's. */
static struct delivery_options delivery_options_of(const struct agent *agent,
						   struct delivery_sink sinks[DELIVERY_SINKS_MOST])
{
	const struct agent_options *o = agent->options;

	for (size_t i = 0; i < agent->sink_count; i++)
		sinks[i] = (struct delivery_sink){
			.folder = agent->sinks[i].folder,
			.name = agent->sinks[i].name,
			.type = agent->sinks[i].type,
			.url = agent->sinks[i].server ? agent->sinks[i].server : o->sinks[i].url,
			.keeps_losses = agent->sinks[i].type->keeps_losses,
		};
	return (struct delivery_options){
		.spool = o->spool,
		.spool_most = o->spool_bytes,
		.sinks = sinks,
		.sink_count = agent->sink_count,
		.netrc = o->netrc,
		.ca_file = o->ca_file,
		.host = o->identity.host,
		.say = o->say,
		.context = o->context,
	};
}

static struct error *open_delivery(struct agent *agent)
{
	struct delivery_sink sinks[DELIVERY_SINKS_MOST];
	const struct delivery_options options = delivery_options_of(agent, sinks);

	return agent->sink_count ? delivery_open(&options, &agent->delivery) : NULL;
}

struct error *agent_check(const struct agent_options *options)
{
	const struct http_client_options http = { .netrc = options->netrc,
						  .ca_file = options->ca_file };
	_cleanup_(http_client_close) struct http_client *client = NULL;
	_cleanup_(agent_close) struct agent *agent = calloc(1, sizeof(*agent));
	struct delivery_sink sinks[DELIVERY_SINKS_MOST];
	struct delivery_options delivery;
	struct error *err;

	if (!agent)
		return &error_no_memory;
	agent->options = options;
	agent->proc = -1;
	err = open_sinks(agent);
	if (err || !agent->sink_count)
		return err;
	delivery = delivery_options_of(agent, sinks);
	err = delivery_check(&delivery);
	return err ? err : http_client_open(&http, &client);
}

struct error *agent_open(const struct agent_options *options, struct agent **ret)
{
	_cleanup_(agent_close) struct agent *agent = calloc(1, sizeof(*agent));
	struct error *err;

	if (!agent)
		return &error_no_memory;
	agent->options = options;
	agent->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = open_sinks(agent);
	if (!err)
		err = open_delivery(agent);
	if (!err)
		err = counters_create(&agent->counters);
	if (!err)
		err = agent_places_create(agent->proc, &agent->places);
	if (err)
		return err;
	/* The start is not of the first interval. */
	agent_cost_read(&agent->cost, agent->proc);
	*ret = take_ptr(agent);
	return NULL;
}

void agent_close(struct agent *agent)
{
	if (!agent)
		return;
	delivery_close(agent->delivery);
	for (size_t i = 0; i < agent->sink_count; i++) {
		agent->sinks[i].type->close(agent->sinks[i].sink);
		free(agent->sinks[i].server);
	}
	counters_destroy(agent->counters);
	agent_places_destroy(agent->places);
	if (agent->proc >= 0)
		close(agent->proc);
	array_deinit(&agent->losses);
	agent_cost_deinit(&agent->cost);
	free(agent);
}

int agent_fd(const struct agent *agent)
{
	return agent->delivery ? delivery_fd(agent->delivery) : -1;
}

struct error *agent_work(void *context)
{
	struct agent *agent = context;

	return agent->delivery ? delivery_poll(agent->delivery) : NULL;
}

/* --- losses --- */

/* Without memory for the row, the count is lost too. */
void agent_lose(struct agent *agent, const char *sink, const char *what, const char *why,
		uint64_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < agent->losses.count; i++) {
		struct agent_loss *loss = &agent->losses.items[i];

		if (strcmp(loss->sink, sink) == 0 && strcmp(loss->what, what) == 0 &&
		    strcmp(loss->why, why) == 0) {
			loss->count += count;
			return;
		}
	}
	(void)array_push(&agent->losses, (struct agent_loss){ sink, what, why, count });
}

/* Count what the profiler dropped for lack of room, and files whose symbols had none. */
static void lose_of_profile(struct agent *agent, const struct profile_losses *losses,
			    const struct symbolise_left *left)
{
	agent_lose(agent, "", "events of profiles", "no room", losses->lost);
	agent_lose(agent, "", "threads of profiles", "no room", losses->threads_lost);
	agent_lose(agent, "", "unwind tables", "no room", losses->tables_lost);
	if (losses->lost || losses->threads_lost || losses->tables_lost)
		agent_lose(agent, "", "requests for memory", "--memory", losses->memory_refused);
	agent_lose(agent, "", "files without names of functions", "--memory", left->without_memory);
}

#define LIMIT_PAUSE_NS (3600 * NS_PER_S)

/* A line when the limit of memory was reached, at most once an hour; losses have every time. */
static void tell_of_limit(struct agent *agent, const struct profile_meta *meta,
			  const struct symbolise_left *left)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const struct profile_losses *losses = &meta->losses;
	const bool lacks_room = losses->memory_refused &&
				(losses->tables_lost || losses->lost || losses->threads_lost);

	/* Memory may be refused without anything being left out. */
	if (!(lacks_room || left->without_memory) ||
	    (agent->limit_told_ns && now - agent->limit_told_ns < LIMIT_PAUSE_NS))
		return;
	agent->limit_told_ns = now;
	say(agent,
	    "memory has reached --memory: in this interval %" PRIu64 " unwind tables, %" PRIu64
	    " events and the names of functions in %zu files are left out%s%s",
	    losses->tables_lost, losses->lost, left->without_memory,
	    meta->without_table ? "; no tables of " : "",
	    meta->without_table ? meta->without_table->bytes : "");
}

/* --- an interval --- */

uint64_t interval_begin(struct interval_clock *clock, uint64_t now_unix_ns, uint64_t ns,
			bool *ret_was_set_back)
{
	uint64_t begun = now_unix_ns > ns ? now_unix_ns - ns : 0;
	const uint64_t before = clock->begun_unix_ns;

	*ret_was_set_back = before > begun && before - begun >= INTERVAL_CLOCK_HELD_NS;
	if (begun / NS_PER_S <= before / NS_PER_S && !*ret_was_set_back)
		begun = (before / NS_PER_S + 1) * NS_PER_S;
	clock->begun_unix_ns = begun;
	return begun;
}

bool agent_is_idle(struct agent *agent, const struct ctprof_thread *thread)
{
	return counters_is_idle(agent->counters, thread);
}

/* Turn the capture at the end of the interval into changes; false: there are none. */
static bool take_changes(struct agent *agent, struct collector_reading *reading)
{
	_cleanup_error_ struct error *err = NULL;
	struct counters_outcome outcome;

	if (reading->snapshot)
		err = counters_take(agent->counters, reading->snapshot, &outcome);
	/* Only threads that did something are left. */
	if (!err && reading->snapshot && reading->profile && !outcome.is_first)
		err = counters_put_states(reading->profile, reading->snapshot);
	if (err || !reading->snapshot) {
		const char *why = err ? err->message : reading->failure;

		counters_forget_idle(agent->counters);
		if (!agent->captures_fail)
			say(agent, "no counters of threads: %s", why ? why : "not captured");
		agent->captures_fail = true;
		agent_lose(agent, "", "captures", "failed", 1);
		return false;
	}
	agent->captures_fail = false;
	if (outcome.is_first) {
		/* There are no differences to a capture that failed. */
		if (reading->profile)
			agent_lose(agent, "", "captures", "the one before failed", 1);
		return false;
	}
	/* Other sinks have no counters. */
	if (!agent->keeps_losses)
		return true;
	agent_lose(agent, "", "threads without counters", "ended", outcome.ended);
	agent_lose(agent, "", "threads without counters", "not captured before",
		   outcome.without_past);
	if (reading->snapshot->capture && reading->snapshot->capture->cut_short)
		agent_lose(agent, "", "captures", "cut short", 1);
	return true;
}

static bool encode(struct agent *agent, size_t number, const struct agent_interval *interval)
{
	struct open_sink *sink = &agent->sinks[number];
	struct delivery_target target = { agent->delivery, number };
	_cleanup_error_ struct error *err =
		sink->type->encode(sink->sink, interval, delivery_emit, &target);

	if (err) {
		if (!sink->has_failed)
			say(agent, "%s: an interval is lost: %s", sink->name, err->message);
		agent_lose(agent, sink->name, "intervals", "not encoded", 1);
	}
	sink->has_failed = err != NULL;
	return !err;
}

/* Print what was lost, if no sink stores it. */
static void tell_of_losses(struct agent *agent, const struct agent_loss *losses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		say(agent, "%s%slost %" PRIu64 " %s: %s", losses[i].sink,
		    *losses[i].sink ? ": " : "", losses[i].count, losses[i].what, losses[i].why);
	if (count)
		agent->losses_told_ns = clock_ns(CLOCK_MONOTONIC);
}

/* At most once an hour. */
static bool may_tell_of_losses(const struct agent *agent)
{
	return !agent->keeps_losses &&
	       (!agent->losses_told_ns ||
		clock_ns(CLOCK_MONOTONIC) - agent->losses_told_ns >= LIMIT_PAUSE_NS);
}

/* Add the losses of the delivery, which keeps them until they are taken. */
static struct error *add_delivered(const struct agent *agent, struct losses_of_agent *losses)
{
	size_t count;
	const struct agent_loss *delivered = delivery_losses(agent->delivery, &count);

	for (size_t i = 0; i < count; i++)
		if (!array_push(losses, delivered[i]))
			return &error_no_memory;
	return NULL;
}

/* Give the interval to all sinks. Losses that no sink has stored, and that were not printed, are
 * those of the next interval, too, and so are those that occur meanwhile. */
static struct error *send_interval(struct agent *agent, struct agent_interval *interval)
{
	struct losses_of_agent losses = agent->losses;
	const size_t own = losses.count;
	const bool are_told = may_tell_of_losses(agent);
	bool are_stored = false;
	struct error *err = NULL;

	agent->losses = (struct losses_of_agent){ 0 };
	if (agent->delivery)
		err = add_delivered(agent, &losses);
	if (are_told)
		tell_of_losses(agent, losses.items, losses.count);
	interval->losses = losses.items;
	interval->loss_count = losses.count;
	for (size_t i = 0; !err && i < agent->sink_count; i++)
		if (encode(agent, i, interval))
			are_stored |= agent->sinks[i].type->keeps_losses;
	if (!err && agent->delivery && (are_stored || are_told))
		err = delivery_losses_taken(agent->delivery);
	for (size_t i = 0; !are_told && !are_stored && i < own; i++)
		agent_lose(agent, losses.items[i].sink, losses.items[i].what, losses.items[i].why,
			   losses.items[i].count);
	array_deinit(&losses);
	return err;
}

struct error *agent_drain(struct agent *agent, uint64_t ns)
{
	const struct agent_loss *losses;
	struct error *err;
	size_t count;

	if (!agent->keeps_losses)
		tell_of_losses(agent, agent->losses.items, agent->losses.count);
	if (!agent->delivery)
		return NULL;
	err = delivery_drain(agent->delivery, ns);
	if (err)
		return err;
	delivery_tell_of_waiting(agent->delivery);
	if (agent->keeps_losses)
		return NULL;
	losses = delivery_losses(agent->delivery, &count);
	tell_of_losses(agent, losses, count);
	return delivery_losses_taken(agent->delivery);
}

struct error *agent_prepare(void *context, struct collector_reading *reading)
{
	struct agent *agent = context;

	/* Now, as names of frames may take long. */
	agent->read_unix_ns = clock_ns(CLOCK_REALTIME);
	agent->has_changes = take_changes(agent, reading);
	return NULL;
}

struct error *agent_take(void *context, struct collector_reading *reading)
{
	struct agent *agent = context;
	const struct profile *profile = reading->profile;
	struct agent_interval interval = { .identity = &agent->options->identity };
	bool was_set_back;
	struct error *err = NULL;

	interval.ns = profile->meta.duration_ns;
	interval.begun_unix_ns =
		interval_begin(&agent->clock, agent->read_unix_ns, interval.ns, &was_set_back);
	if (was_set_back)
		say(agent, "the clock was set back: times of intervals repeat");
	interval.profile = profile;
	interval.changes = agent->has_changes ? reading->snapshot : NULL;
	interval.load = *reading->host;
	agent_cost_read(&agent->cost, agent->proc);
	interval.agent_cpu_ns = agent->cost.cpu_ns;
	interval.agent_memory_bytes = agent->cost.memory_bytes;
	interval.bpf_ns = profile->meta.losses.run_ns;
	tell_of_limit(agent, &profile->meta, &reading->left);
	lose_of_profile(agent, &profile->meta.losses, &reading->left);
	if (agent->options->store)
		err = agent->options->store(agent->options->context, profile);
	if (!err)
		err = agent_places_take(agent->places, profile, clock_ns(CLOCK_BOOTTIME),
					&interval.places, &interval.place_count);
	return err ? err : send_interval(agent, &interval);
}
