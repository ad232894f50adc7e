/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/commands.h"
#include "cmd/display.h"
#include "cmd/reading.h"
#include "cmd/record.h"
#include "cmd/target.h"
#include "cmd/top_record.h"
#include "live/engine.h"
#include "live/replay_engine.h"
#include "report/states_report.h"

/* --- what is wanted --- */

/* What is shorter than this says more of us than of what we watch. */
#define INTERVAL_MIN_NS  (NS_PER_S / 20)
#define INTERVAL_DEFAULT NS_PER_S

enum { ENGINE_AUTO = ENGINE_COUNT };

struct top_arguments {
	struct target target;
	struct thread_numbers tids;
	unsigned engine; /* enum engine_kind, or ENGINE_AUTO */
	uint64_t interval_ns;
	bool batch;
	size_t count, limit;
	unsigned format;
	unsigned grouping;
	const char *sort, *filter;
	bool no_kernel;
	const char *record, *replay;
	struct keep keep;
	struct reading_arguments reading;
};

static const char *engine_value(size_t number)
{
	return number < ENGINE_COUNT ? engine_names[number] : number == ENGINE_AUTO ? "auto" : NULL;
}

static const char *format_value(size_t number)
{
	return number < STATES_FORMAT_COUNT ? states_format_names[number] : NULL;
}

static const char *grouping_value(size_t number)
{
	return number < STATE_GROUPINGS ? state_grouping_names[number] : NULL;
}

static struct error *parse_value(const char *what, const char *argument, option_values values,
				 unsigned *ret)
{
	for (unsigned i = 0; values(i); i++)
		if (strcmp(values(i), argument) == 0) {
			*ret = i;
			return NULL;
		}
	return unknown_value(what, argument, values);
}

static struct error *parse_engine(const char *argument, void *at)
{
	return parse_value("engine", argument, engine_value, at);
}

static struct error *parse_states_format(const char *argument, void *at)
{
	return parse_value("format", argument, format_value, at);
}

static struct error *parse_grouping(const char *argument, void *at)
{
	return parse_value("grouping", argument, grouping_value, at);
}

static struct error *parse_window(const char *argument, void *at)
{
	uint64_t ns;
	struct error *err = parse_timeout(argument, &ns);

	if (err)
		return err;
	if (ns < INTERVAL_MIN_NS)
		return error_create("'%.60s' is too short: 50ms at least", argument);
	*(uint64_t *)at = ns;
	return NULL;
}

#define AT(member) offsetof(struct top_arguments, member)

static const struct option_row top_options[] = {
	TARGET_OPTIONS(top_arguments),
	{ "tid", 't', "TID[,TID...]", parse_tids, AT(tids),
	  "Only these threads; may be given more than once.", NULL, false },
	{ "filter", 'f', "TERMS", parse_string, AT(filter),
	  "Only threads that meet all of these: part of a name, a glob, user:NAME, cgroup:PATH, "
	  "state:NAME, pid:NUMBER; \"a|b\" is either.",
	  NULL, false },
	{ "no-kernel", 'K', NULL, parse_flag, AT(no_kernel), "No threads of the kernel.", NULL,
	  false },
	{ "by", 'b', "GROUP", parse_grouping, AT(grouping),
	  "One row for each thread (the default), process, cgroup, or pool: threads of a process "
	  "whose names differ in numbers.",
	  grouping_value, false },
	{ "sort", 's', "KEY", parse_string, AT(sort),
	  "busy (the default), wait, switches, threads, name, tid, or a state; \"-\" before it "
	  "turns it around.",
	  NULL, false },
	{ "engine", 'e', "ENGINE", parse_engine, AT(engine),
	  "exact: every switch, by BPF; counters: what the kernel counts anyway; taskstats: four "
	  "delays by netlink. auto is the best of these that works here.",
	  engine_value, false },
	{ "interval", 'i', "TIME", parse_window, AT(interval_ns),
	  "How long a window is: 1s, or from 50ms on.", NULL, false },
	{ "batch", 'B', NULL, parse_flag, AT(batch), "Print windows instead of showing a screen.",
	  NULL, false },
	{ "count", 'n', "NUMBER", parse_recording_count, AT(count), "End after so many windows.",
	  NULL, false },
	{ "format", 0, "FORMAT", parse_states_format, AT(format),
	  "Of --batch: table, json (an object for each row, a line each), csv, or none: for "
	  "--record alone.",
	  format_value, false },
	{ "limit", 'l', "NUMBER", parse_size, AT(limit),
	  "Of --batch: only the first rows of each window.", NULL, false },
	{ "record", 'r', "DIR", parse_string, AT(record),
	  "Write a capture with the state times into DIR at each end of a window: a recording, for "
	  "--replay, show and compare.",
	  NULL, false },
	{ "keep", 0, "TIME|SIZE", parse_keep, AT(keep),
	  "Of --record: keep the captures of the last TIME (1h, 7d), and no more than SIZE "
	  "(500MiB). "
	  "May be given for both.",
	  NULL, false },
	{ "without", 0, "PART[,PART...]", parse_without, AT(reading.without),
	  "Of --record: leave out of captures what costs most beside the threads.", part_name,
	  false },
	{ "replay", 'R', "DIR[@TIME]", parse_string, AT(replay),
	  "Show the windows of a recording, of this command or of capture --interval, from the "
	  "first on, or from the one that ended at TIME: 12:30:05, -5m.",
	  NULL, false },
};

/* --- users --- */

/* Few, and asked for often. */
struct users {
	struct {
		ARRAY(struct user {
			uint32_t uid;
			char *name;
		});
	} known;
};

static const char *user_name(void *context, uint32_t uid)
{
	struct users *users = context;
	const struct passwd *entry;
	struct user user = { .uid = uid };

	for (size_t i = 0; i < users->known.count; i++)
		if (users->known.items[i].uid == uid)
			return users->known.items[i].name;
	entry = getpwuid(uid);
	if (entry)
		user.name = strdup(entry->pw_name);
	if (!array_push(&users->known, user)) {
		free(user.name);
		return NULL;
	}
	return user.name;
}

static void users_deinit(struct users *users)
{
	for (size_t i = 0; i < users->known.count; i++)
		free(users->known.items[i].name);
	array_deinit(&users->known);
}

/* --- windows --- */

struct top {
	const struct top_arguments *arguments;
	struct engine *engine;
	enum engine_kind kind;
	struct top_recorder *recorder; /* NULL: none */
	struct replay *replay;         /* instead of an engine; or NULL */
	struct state_reading readings[2];
	unsigned now; /* which of them is the later */
	struct state_window window;
	struct state_list list;
	struct state_filter filter;
	struct state_view view;
	struct users users;
};

/* Why the better ones do not work is told, for they are worth a privilege. */
static struct error *open_best(struct top *top, struct engine_options *options)
{
	struct error *err = NULL, *first = NULL;

	for (enum engine_kind kind = 0; kind < ENGINE_COUNT; kind++) {
		options->kind = top->kind = kind;
		err = engine_open(options, &top->engine);
		if (!err)
			break;
		if (first)
			error_destroy(err);
		else
			first = err;
	}
	if (!top->engine)
		return first;
	if (first)
		fprintf(stderr, "ctprof: by %s, for exact states cannot be had: %s\n",
			engine_names[top->kind], first->message);
	error_destroy(first);
	return NULL;
}

static struct error *open_engine(struct top *top, struct engine_options *options)
{
	const struct top_arguments *a = top->arguments;

	if (a->engine == ENGINE_AUTO)
		return open_best(top, options);
	options->kind = top->kind = a->engine;
	return engine_open(options, &top->engine);
}

/* A thread stands for its process there; those of it that were not asked for have no states. */
static struct error *open_recorder(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct top_record_options options = {
		.directory = a->record,
		.engine = engine_names[top->kind],
		.keep = a->keep,
		.capture = {
			.pids = a->tids.count ? a->tids.items : a->target.pids.items,
			.pid_count = a->tids.count ? a->tids.count : a->target.pids.count,
			.cgroup = a->target.cgroup,
			.may_be_gone = true,
		},
	};

	reading_apply(&a->reading, &options.capture);
	return top_recorder_open(&options, &top->recorder);
}

/* Where windows come from, and where they go. */
static struct error *open_source(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct engine_options options = {
		.pids = a->target.pids.items,
		.pid_count = a->target.pids.count,
		.tids = a->tids.items,
		.tid_count = a->tids.count,
		.cgroup = a->target.cgroup,
	};
	struct error *err;

	if (a->replay)
		return replay_open(a->replay, &options, &top->replay);
	err = open_engine(top, &options);
	return err || !a->record ? err : open_recorder(top);
}

/* Into the recording, if there is one. */
static struct error *read_engine(struct top *top, struct state_reading *reading)
{
	struct error *err = engine_read(top->engine, reading);

	if (!err && top->recorder)
		top_recorder_take(top->recorder, reading);
	return err;
}

static struct error *read_window(struct top *top)
{
	const struct state_reading *before = &top->readings[top->now];
	struct error *err;

	top->now = !top->now;
	err = read_engine(top, &top->readings[top->now]);
	if (!err)
		err = state_window_make(&top->window, before, &top->readings[top->now]);
	return err;
}

static void top_close(struct top *top)
{
	engine_close(top->engine);
	replay_close(top->replay);
	state_list_deinit(&top->list);
	state_window_deinit(&top->window);
	state_reading_deinit(&top->readings[0]);
	state_reading_deinit(&top->readings[1]);
	users_deinit(&top->users);
}

/* --- batch --- */

static volatile sig_atomic_t is_over;

static void end(int number)
{
	(void)number;
	is_over = true;
}

/* So often at least, an engine looks for those that have ended. */
#define TICK_NS (NS_PER_S / 4)

/* False: a signal ended it. */
static struct error *wait_until(struct top *top, uint64_t until_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err = NULL;

	while (!err && !is_over && now < until_ns) {
		const uint64_t next = until_ns - now > TICK_NS ? now + TICK_NS : until_ns;
		const struct timespec at = clock_moment(next);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		if (next < until_ns)
			err = engine_tick(top->engine);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	return err;
}

static struct error *print_window(struct top *top, size_t number)
{
	const struct top_arguments *a = top->arguments;
	const struct states_report report = {
		.window = &top->window,
		.list = &top->list,
		.engine = top->replay ? replay_facts(top->replay)->engine : engine_names[top->kind],
		.number = number,
		.limit = a->limit,
		.grouping = a->grouping,
		.format = a->format,
		.width = isatty(STDOUT_FILENO) ? terminal_width() : 0,
		.colour = terminal_wants_colour(),
		.user_name = user_name,
		.context = &top->users,
	};
	struct error *err = state_list_make(&top->list, &top->window, &top->view);

	return err ? err : states_report_print(&report, stdout);
}

/* By the clock, whatever a window took: who is late leaves one out, and shortens none. */
static uint64_t next_end(uint64_t last_ns, uint64_t interval_ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), next = last_ns + interval_ns;

	return next > now ? next : next + ((now - next) / interval_ns + 1) * interval_ns;
}

static struct error *run_engine(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct error *err = read_engine(top, &top->readings[0]);
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	for (size_t number = 0; !err && !is_over && (!a->count || number < a->count); number++) {
		next = next_end(next, a->interval_ns);
		err = wait_until(top, next);
		if (!err)
			err = read_window(top);
		if (!err)
			err = print_window(top, number);
	}
	return err;
}

/* Windows have the numbers that they have in the recording. */
static struct error *run_replay(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	const size_t first = replay_at(top->replay);
	bool more = true;
	struct error *err = NULL;

	while (!err && !is_over && more) {
		err = replay_window(top->replay, &top->window);
		if (!err)
			err = print_window(top, replay_at(top->replay));
		more = (!a->count || replay_at(top->replay) - first + 1 < a->count) &&
		       replay_step(top->replay, 1);
	}
	return err;
}

static struct error *run_batch(struct top *top)
{
	const struct sigaction ending = { .sa_handler = end };
	struct error *err = states_report_begin(top->arguments->format, stdout);

	sigaction(SIGINT, &ending, NULL);
	sigaction(SIGTERM, &ending, NULL);
	if (err)
		return err;
	return top->replay ? run_replay(top) : run_engine(top);
}

/* --- the command --- */

/* What says nothing beside what else was said. */
static struct error *check(const struct top_arguments *a)
{
	const struct {
		bool given;
		const char *name;
	} live[] = {
		{ a->record, "--record" },
		{ a->engine != ENGINE_AUTO, "--engine" },
		{ a->interval_ns, "--interval" },
	}, recorded[] = {
		{ a->keep.age_ms || a->keep.bytes, "--keep" },
		{ a->reading.without, "--without" },
	};

	for (size_t i = 0; i < array_length(live) && a->replay; i++)
		if (live[i].given)
			return error_create(
				"%s says nothing beside --replay: a recording has its own windows",
				live[i].name);
	for (size_t i = 0; i < array_length(recorded) && !a->record; i++)
		if (recorded[i].given)
			return error_create("%s needs --record", recorded[i].name);
	return NULL;
}

static struct error *settle(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct error *err = check(a);

	if (err)
		return err;
	err = state_filter_parse(text_of(a->filter ? a->filter : ""), &top->filter);
	if (err)
		return error_prefix(err, "--filter");
	top->view = (struct state_view){
		.grouping = a->grouping,
		.filter = &top->filter,
		.no_kernel = a->no_kernel,
		.user_name = user_name,
		.context = &top->users,
	};
	if (a->sort)
		err = state_sort_parse(text_of(a->sort), &top->view.sort);
	return err ? error_prefix(err, "--sort") : NULL;
}

static int run(const struct command *command, struct top_arguments *arguments)
{
	struct top top = { .arguments = arguments };
	struct error *err;
	int status = STATUS_DONE;

	state_list_init(&top.list);
	err = settle(&top);
	if (err) {
		status = usage_error(command, err);
	} else {
		if (!arguments->interval_ns)
			arguments->interval_ns = INTERVAL_DEFAULT;
		err = open_source(&top);
		if (!err)
			err = run_batch(&top);
		status = top_recorder_close(top.recorder);
		if (err)
			status = report_error(err, STATUS_FAILED);
	}
	top_close(&top);
	return status;
}

static int run_top(const struct command *command, int argc, char **argv)
{
	struct top_arguments arguments = {
		.engine = ENGINE_AUTO,
	};
	int status;

	if (options_parse(command, argc, argv, &arguments, &status) >= 0)
		status = run(command, &arguments);
	target_deinit(&arguments.target);
	array_deinit(&arguments.tids);
	return status;
}

const struct command top_command = {
	.name = "top",
	.run = run_top,
	.summary = "what every thread does with its time, live: running, runnable, paging, asleep, "
		   "locked out, idle, stopped",
	.operands = "",
	.needs = "root, or CAP_BPF, CAP_PERFMON and CAP_SYSLOG; taskstats alone: CAP_NET_ADMIN",
	.options = top_options,
	.option_count = array_length(top_options),
};
