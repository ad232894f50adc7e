/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen [OPTION...]: the screen of top, with threads that are made up: the same in each run.
 * Says at its end how it was left, as "quit 0 0" (exit, thread, signal; and "process" where that is
 * a whole one).
 *
 *	--replay           windows are stepped through, from the fourth of ten on
 *	--interval MS      between windows; 3600000 unless given
 *	--log FILE         when it began, and when each window was asked for: ns of CLOCK_MONOTONIC
 *	--fail N           the Nth window is an error
 *	--hold FILE        no window is finished, and nobody inspected, while this is there; the log
 *	                   says "held"
 *	--threads N        so many more, that sleep
 *	--hosts            threads are those of three hosts by turns, of which one is silent
 *	--unmeasured       but for exec, runnable and sleep_disk nothing is
 *	--filter TEXT, --no-mouse
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "tui/screen.h"

#define BEGIN    UINT64_C(1792324800) /* 2026-10-18, 12:00 UTC: the end of window 0 */
#define WINDOWS  10
#define MS       1000000u
#define FIRST_ID 100
#define MORTAL   3013 /* this thread ends */
#define ENDS_IN  5    /* in this window */
#define SECOND   4002 /* and this one is in the windows from here on, and then no more */
#define COMES_IN 5
#define GOES_IN  7

/* What a thread does in each window, in thousandths; `swing` of exec goes to idle and back. */
static const struct made {
	uint32_t tgid, tid, uid;
	const char *process, *name, *cgroup;
	unsigned exec, runnable, paging, sleep, lock, stopped, swing;
	unsigned switches;
	enum state state;
	unsigned since_ms; /* of the wait in progress, at window 0; 0: none */
} made[] = {
	{ 1000, 1000, 0, "nginx", "nginx", "/system.slice/nginx.service", 0, 0, 0, 0, 0, 0, 0, 1,
	  STATE_IDLE, 86400000 },
	{ 1001, 1001, 33, "nginx", "nginx", "/system.slice/nginx.service", 312, 41, 0, 120, 0, 0,
	  100, 4210, STATE_IDLE, 3 },
	{ 1002, 1002, 33, "nginx", "nginx", "/system.slice/nginx.service", 287, 39, 0, 101, 0, 0,
	  80, 3987, STATE_SLEEP_DISK, 12 },
	{ 2000, 2000, 999, "postgres", "postgres", "/system.slice/postgresql.service", 2, 1, 0, 0,
	  0, 0, 0, 12, STATE_IDLE, 430 },
	{ 2001, 2001, 999, "postgres", "checkpointer", "/system.slice/postgresql.service", 35, 5, 0,
	  860, 20, 0, 0, 812, STATE_SLEEP_DISK, 41 },
	{ 2002, 2002, 999, "postgres", "walwriter", "/system.slice/postgresql.service", 12, 1, 0,
	  401, 210, 0, 0, 640, STATE_LOCK_FUTEX, 18 },
	{ 3000, 3000, 1000, "java", "java", "/user.slice/user-1000.slice/session-2.scope", 0, 0, 0,
	  0, 0, 0, 0, 0, STATE_LOCK_FUTEX, 7200000 },
	{ 3000, 3001, 1000, "java", "GC Thread#0", "/user.slice/user-1000.slice/session-2.scope",
	  611, 212, 93, 0, 60, 0, 200, 950, STATE_EXEC, 0 },
	{ 3000, 3002, 1000, "java", "GC Thread#1", "/user.slice/user-1000.slice/session-2.scope",
	  598, 230, 101, 0, 44, 0, 200, 961, STATE_RUNNABLE, 2 },
	{ 3000, 3003, 1000, "java", "C2 CompilerThre",
	  "/user.slice/user-1000.slice/session-2.scope", 940, 60, 0, 0, 0, 0, 0, 77, STATE_EXEC,
	  0 },
	{ 3000, 3010, 1000, "java", "worker-1", "/user.slice/user-1000.slice/session-2.scope", 150,
	  20, 0, 300, 500, 0, 50, 1200, STATE_LOCK_FUTEX, 640 },
	{ 3000, 3011, 1000, "java", "worker-2", "/user.slice/user-1000.slice/session-2.scope", 148,
	  25, 0, 310, 490, 0, 50, 1190, STATE_LOCK_FUTEX, 633 },
	{ 3000, 3012, 1000, "java", "worker-3", "/user.slice/user-1000.slice/session-2.scope", 160,
	  22, 0, 280, 510, 0, 50, 1230, STATE_SLEEP_NETWORK, 9 },
	{ 3000, 3013, 1000, "java", "worker-4", "/user.slice/user-1000.slice/session-2.scope", 0, 0,
	  0, 0, 0, 0, 0, 0, STATE_IDLE, 5400000 },
	{ 4000, 4000, 1000, "starved", "starved", "/user.slice/user-1000.slice/session-2.scope", 0,
	  1000, 0, 0, 0, 0, 0, 0, STATE_RUNNABLE, 31000 },
	{ 4001, 4001, 1000, "hog", "hog", "/user.slice/user-1000.slice/session-2.scope", 1000, 0, 0,
	  0, 0, 0, 0, 3, STATE_EXEC, 0 },
	{ 4100, 4100, 1000, "gdb", "gdb", "/user.slice/user-1000.slice/session-2.scope", 4, 0, 0, 0,
	  0, 0, 0, 9, STATE_IDLE, 900 },
	{ 4101, 4101, 1000, "debuggee", "debuggee", "/user.slice/user-1000.slice/session-2.scope",
	  0, 0, 0, 0, 0, 1000, 0, 0, STATE_STOPPED, 125000 },
	{ 4200, 4200, 1000, "swapper", "swapped-in", "/user.slice/user-1000.slice/session-2.scope",
	  55, 11, 720, 0, 0, 0, 0, 2210, STATE_PAGING, 6 },
	{ 4300, 4300, 1001, "evil\x1b[31m", "evil\x1b[2J\xff", "/evil\n\x1b]0;x", 10, 0, 0, 0, 0, 0,
	  0, 1, STATE_SLEEP_PIPE, 59 },
	{ 4301, 4301, 1001, "\xe5\x90\x8d\xe5\x89\x8d", "\xe5\x90\x8d\xe5\x89\x8d\xe2\x80\xae",
	  NULL, 9, 0, 0, 991, 0, 0, 0, 1, STATE_SLEEP_TIMER, 700 },
	{ 4400, 4400, 0, "cron", "cron", "/system.slice/cron.service", 0, 0, 0, 1000, 0, 0, 0, 0,
	  STATE_SLEEP_TIMER, 35000 },
	{ 4500, 4500, 0, "sshd", "sshd", "/system.slice/ssh.service", 0, 0, 0, 0, 0, 0, 0, 0,
	  STATE_IDLE, 640000000 },
	{ 2, 2, 0, "kthreadd", "kthreadd", "/", 0, 0, 0, 0, 0, 0, 0, 0, STATE_IDLE, 640000000 },
	{ 15, 15, 0, "ksoftirqd/0", "ksoftirqd/0", "/", 21, 3, 0, 0, 0, 0, 10, 310, STATE_IDLE, 4 },
	{ 16, 16, 0, "rcu_preempt", "rcu_preempt", "/", 6, 2, 0, 0, 0, 0, 0, 420, STATE_IDLE, 2 },
	{ 17, 17, 0, "migration/0", "migration/0", "/", 0, 0, 0, 0, 0, 0, 0, 1, STATE_IDLE, 1200 },
	{ 60, 60, 0, "kswapd0", "kswapd0", "/", 180, 14, 0, 0, 90, 0, 60, 700, STATE_LOCK_KERNEL,
	  11 },
	{ 61, 61, 0, "kworker/0:1", "kworker/0:1", "/", 15, 4, 0, 0, 0, 0, 0, 200, STATE_IDLE, 8 },
	/* As of an engine that does not know. */
	{ 4600, 4600, 1000, "unknown", "unknown", "/user.slice/user-1000.slice/session-2.scope", 50,
	  0, 0, 0, 0, 0, 0, 6, STATE_COUNT, 0 },
	{ 62, 62, 0, "jbd2/sda1-8", "jbd2/sda1-8", "/", 3, 1, 0, 400, 0, 0, 0, 80, STATE_SLEEP_DISK,
	  22 },
	{ 4001, SECOND, 1000, "hog", "second hog", "/user.slice/user-1000.slice/session-2.scope",
	  500, 0, 0, 0, 0, 0, 0, 3, STATE_EXEC, 0 },
};
#define MADE array_length(made)

struct feed {
	struct arena arena;
	struct names names;
	int at; /* the number of the window */
	bool is_replay, has_hosts;
	const struct name *hosts[3];
	int fail;
	size_t sleepers;
	uint64_t interval_ns;
	FILE *log;
	const char *hold;
	unsigned measured;
	struct {
		ARRAY(struct state_thread);
	} threads;
	struct state_window window;
};

static const struct name *intern(struct feed *feed, const char *text)
{
	return text ? names_intern(&feed->names, text, strlen(text)) : NULL;
}

static struct state_thread thread_of(struct feed *feed, const struct made *row, uint64_t id)
{
	bool is_kernel = row->tgid < 100;
	bool was_there = row->since_ms > 30000;

	return (struct state_thread){
		.tid = row->tid,
		.tgid = row->tgid,
		.id = id,
		.uid = row->uid,
		.is_kernel = is_kernel,
		.name = intern(feed, row->name),
		.process = intern(feed, row->process),
		.cgroup = intern(feed, row->cgroup),
		.state = row->state,
		.since_is_least = was_there,
		.syscall = -1,
	};
}

/* Up in four windows, and down again. */
static unsigned wave(int window)
{
	int place = ((window % 8) + 8) % 8;

	return (unsigned)(place < 4 ? place : 8 - place);
}

/* The shares of a row, which add up to the window; what is missing is idle. */
static void fill_times(struct state_delta *delta, const struct made *row, int window)
{
	uint64_t unit = delta->window_ns / 1000, *ns = delta->times.ns;
	unsigned exec = row->exec - row->swing * wave(window) / 4;
	unsigned rest =
		1000 - exec - row->runnable - row->paging - row->sleep - row->lock - row->stopped;
	bool sleeps = row->state < STATE_COUNT && state_rows[row->state].main == STATE_SLEEP;
	enum state sleep = sleeps ? row->state : STATE_SLEEP_NETWORK;

	ns[STATE_EXEC_USER] = exec * unit * 3 / 4;
	ns[STATE_EXEC_SYSTEM] = exec * unit - ns[STATE_EXEC_USER];
	ns[STATE_RUNNABLE] = row->runnable * unit;
	ns[STATE_PAGING] = row->paging * unit;
	ns[sleep] = row->sleep * unit;
	ns[row->tgid < 100 ? STATE_LOCK_KERNEL : STATE_LOCK_FUTEX] = row->lock * unit;
	ns[STATE_STOPPED] = row->stopped * unit;
	ns[STATE_IDLE] = rest * unit;
}

/* Born in a window, and gone in it: another one in each. */
static const struct made short_lived = {
	0,   0,   1000,       "make", "cc1", "/user.slice/user-1000.slice/session-2.scope",
	900, 100, 0,          0,      0,     0,
	0,   5,   STATE_EXEC, 0,
};

static const struct made sleeper = {
	9,    0, 0, "sleepers", "sleeper", "/sleepers",       0, 0, 0,
	1000, 0, 0, 0,          0,         STATE_SLEEP_TIMER, 5,
};

static bool add(struct feed *feed, const struct made *row, struct state_thread thread)
{
	struct state_delta delta = {
		.window_ns = thread.has_ended ? feed->interval_ns / 4 : feed->interval_ns,
		.is_new = thread.has_ended,
		.in_progress_ns = row->since_ms ? row->since_ms * UINT64_C(1000000) : 0,
		.switches = row->switches * feed->interval_ns / NS_PER_S,
	};

	fill_times(&delta, row, feed->at);
	return array_push(&feed->threads, thread) && array_push(&feed->window.deltas, delta);
}

static bool is_there(const struct feed *feed, uint32_t tid)
{
	if (tid == MORTAL)
		return feed->at <= ENDS_IN;
	return tid != SECOND || (feed->at >= COMES_IN && feed->at < GOES_IN);
}

static struct error *make_window(struct feed *feed)
{
	struct state_thread ended = thread_of(feed, &short_lived, 1000 + (uint64_t)feed->at);
	bool done = true;

	feed->threads.count = feed->window.deltas.count = 0;
	for (size_t i = 0; i < MADE; i++) {
		struct state_thread thread = thread_of(feed, &made[i], FIRST_ID + i);

		thread.host = feed->has_hosts ? i % 2 : 0;
		thread.has_ended = thread.tid == MORTAL && feed->at == ENDS_IN;
		if (is_there(feed, thread.tid))
			done = done && add(feed, &made[i], thread);
	}
	ended.tid = ended.tgid = 5000 + (uint32_t)feed->at;
	ended.has_ended = ended.has_exit_code = true;
	ended.exit_code = feed->at % 2 ? 9 : 3 << 8;
	ended.seen_ns = (uint64_t)(feed->at + 1000) * feed->interval_ns - feed->interval_ns / 4;
	done = done && add(feed, &short_lived, ended);
	for (size_t i = 0; done && i < feed->sleepers; i++) {
		struct state_thread thread = thread_of(feed, &sleeper, 100000 + i);

		thread.tid = thread.tgid = (uint32_t)(100000 + i);
		done = add(feed, &sleeper, thread);
	}
	for (size_t i = 0; i < feed->threads.count; i++)
		feed->window.deltas.items[i].thread = &feed->threads.items[i];
	return done ? NULL : &error_no_memory;
}

static void log_time(const struct feed *feed)
{
	if (feed->log)
		fprintf(feed->log, "%llu\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC));
}

/* As an engine that has much to read. */
static void wait_while_held(const struct feed *feed)
{
	if (!feed->hold || access(feed->hold, F_OK))
		return;
	if (feed->log)
		fputs("held\n", feed->log);
	while (access(feed->hold, F_OK) == 0)
		usleep(5000);
}

static struct error *next(void *context, struct state_window *ret, struct screen_host *host)
{
	struct feed *feed = context;
	struct error *err;

	if (!feed->is_replay)
		feed->at++;
	log_time(feed);
	wait_while_held(feed);
	if (feed->fail == feed->at)
		return error_create("the engine broke");
	err = make_window(feed);
	if (err)
		return err;
	feed->window.ended_ns = (uint64_t)(feed->at + 1000) * feed->interval_ns;
	feed->window.begun_ns = feed->window.ended_ns - feed->interval_ns;
	feed->window.at_unix_ns = (BEGIN + (uint64_t)feed->at) * NS_PER_S;
	feed->window.measured = feed->measured;
	if (feed->has_hosts)
		feed->window.hosts =
			(struct state_hosts){ feed->hosts, array_length(feed->hosts), 2 };
	*ret = feed->window;
	*host = (struct screen_host){ .cpus = 8,
				      .load = { 5.12, 4.80, 3.99 },
				      .psi = { 12.3, 0.4, 3.1 },
				      .memory_used_bytes = UINT64_C(5) << 30,
				      .memory_bytes = UINT64_C(16) << 30,
				      .engine = "exact",
				      .cost = 0.3 };
	if (feed->is_replay) {
		host->window = (size_t)feed->at + 1;
		host->windows = WINDOWS;
	}
	return NULL;
}

static struct error *inspect(void *context, const struct screen_subject *subject, FILE *out)
{
	const struct state_thread *thread = &subject->thread;
	struct feed *feed = context;

	wait_while_held(feed);
	fprintf(out, "# Thread\ntid      %u\nwindow   %d\nname     %s\n\n# Counters\n", thread->tid,
		feed->at, thread->name->bytes);
	for (int i = 0; i < 40; i++)
		fprintf(out, "counter_%02d %12d\n", i, i * (int)thread->tid);
	return NULL;
}

/* By the number of the process, and the window; of the lowest numbers nothing is known. */
static void facts(void *context, unsigned wanted, const struct row_subject *subjects, size_t count,
		  struct row_facts *ret)
{
	const struct feed *feed = context;

	for (size_t i = 0; i < count; i++) {
		const uint64_t number = subjects[i].is_process ? subjects[i].tgid : subjects[i].tid;
		int length;

		ret[i] = (struct row_facts){ .subject = subjects[i] };
		if (number < 1000)
			continue;
		ret[i].known = wanted;
		ret[i].nice = (int32_t)(number % 40) - 20;
		ret[i].priority = ret[i].nice + 20;
		ret[i].memory_bytes = number * number * number;
		for (size_t k = 0; k < ROW_RATES; k++)
			ret[i].rates[k] = (number - 1000) << (4 * k);
		length = snprintf(ret[i].command, sizeof(ret[i].command),
				  "/usr/bin/p%llu --window=%d \x1b[2J", (unsigned long long)number,
				  feed->at);
		ret[i].command_length = (uint16_t)length;
	}
}

static bool step(void *context, int by)
{
	struct feed *feed = context;

	if (feed->at + by < 0 || feed->at + by >= WINDOWS)
		return false;
	feed->at += by;
	return true;
}

static struct error *jump(void *context, const char *to)
{
	struct feed *feed = context;
	unsigned second;

	if (sscanf(to, "12:00:%u", &second) != 1 || second >= WINDOWS)
		return error_create("'%s' is no time of this recording", to);
	feed->at = (int)second;
	return NULL;
}

static const char *user_name(void *context, uint32_t uid)
{
	static const struct {
		uint32_t uid;
		const char *name;
	} users[] = { { 0, "root" }, { 33, "www-data" }, { 999, "postgres" }, { 1000, "ada" } };

	(void)context;
	for (size_t i = 0; i < array_length(users); i++)
		if (users[i].uid == uid)
			return users[i].name;
	return NULL;
}

static void take_options(int argc, char **argv, struct feed *feed, struct screen_options *options)
{
	static const struct option longs[] = {
		{ "replay", no_argument, NULL, 'r' },
		{ "hosts", no_argument, NULL, 'H' },
		{ "interval", required_argument, NULL, 'i' },
		{ "log", required_argument, NULL, 'l' },
		{ "fail", required_argument, NULL, 'f' },
		{ "hold", required_argument, NULL, 'h' },
		{ "unmeasured", no_argument, NULL, 'u' },
		{ "filter", required_argument, NULL, 't' },
		{ "no-mouse", no_argument, NULL, 'm' },
		{ "columns", required_argument, NULL, 'c' },
		{ "threads", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};

	for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		switch (option) {
		case 'r':
			feed->is_replay = true;
			feed->at = 3;
			break;
		case 'H':
			feed->has_hosts = true;
			break;
		case 'i':
			options->interval_ns = strtoull(optarg, NULL, 10) * MS;
			break;
		case 'l':
			feed->log = fopen(optarg, "we");
			if (!feed->log)
				err(2, "%s", optarg);
			setlinebuf(feed->log);
			break;
		case 'f':
			feed->fail = atoi(optarg);
			break;
		case 'h':
			feed->hold = optarg;
			break;
		case 'u':
			feed->measured =
				1u << STATE_EXEC | 1u << STATE_RUNNABLE | 1u << STATE_SLEEP_DISK;
			break;
		case 'n':
			feed->sleepers = strtoull(optarg, NULL, 10);
			break;
		case 't':
			options->filter = optarg;
			break;
		case 'c':
			options->columns = optarg;
			break;
		case 'm':
			options->no_mouse = true;
			break;
		default:
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	static const char *const exits[] = { [SCREEN_QUIT] = "quit", [SCREEN_PROFILE] = "profile" };
	struct feed feed = {
		.fail = -1,
		.measured = (1u << STATE_COUNT) - 1 - (1u << STATE_SLEEP_PIPE),
	};
	struct screen_options options = {
		.view = { .user_name = user_name },
		.interval_ns = 3600 * (uint64_t)NS_PER_S,
	};
	struct screen_feed screen = {
		.next = next, .inspect = inspect, .facts = facts, .context = &feed
	};
	struct screen_result result = { .exit = SCREEN_QUIT };
	_cleanup_error_ struct error *error = NULL;

	take_options(argc, argv, &feed, &options);
	feed.interval_ns = options.interval_ns < NS_PER_S ? options.interval_ns : NS_PER_S;
	if (feed.is_replay) {
		screen.step = step;
		screen.jump = jump;
	}
	log_time(&feed);
	arena_init(&feed.arena, SIZE_MAX);
	names_init(&feed.names, &feed.arena);
	for (size_t i = 0; i < array_length(feed.hosts); i++) {
		const char name[] = { 'w', 'e', 'b', '-', (char)('1' + i), '\0' };

		feed.hosts[i] = intern(&feed, name);
	}
	error = screen_run(&options, &screen, &result);
	if (error)
		printf("error: %s\n", error->message);
	else
		printf("%s %u %d%s\n", exits[result.exit], result.tid, result.signal,
		       result.is_process ? " process" : "");
	state_window_deinit(&feed.window);
	array_deinit(&feed.threads);
	names_deinit(&feed.names);
	arena_deinit(&feed.arena);
	return error != NULL;
}
