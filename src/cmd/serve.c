/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve: a page, metrics and profiles over HTTP, while it measures.
 *
 * There are three processes. This one measures, and drops the privileges that measuring does not
 * need. It has two children without privileges: one serves HTTP (serve/http.h says why), the other
 * makes reports of uploaded files (serve/report_worker.h).
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/interrupts.h"
#include "base/version.h"
#include "bpf/program_cost.h"
#include "cli/commands.h"
#include "cmd/profile_options.h"
#include "cmd/report_page.h"
#include "profile/flame.h"
#include "security/memory_limit.h"
#include "security/privileges.h"
#include "security/server_sandbox.h"
#include "serve/collector.h"
#include "serve/listen.h"
#include "serve/report_worker.h"
#include "serve/token.h"
#include "serve/web.h"

#define KEEP_DEFAULT_NS     (5 * 60 * NS_PER_S)
#define INTERVAL_DEFAULT_NS NS_PER_S
/* Readings and their dictionary in the web process. */
#define KEEP_BYTES ((size_t)512 << 20)
#define CLIENTS    256
/* Bytes that a process which makes a report may allocate; memory_limit_set() lowers that to half of
 * the memory of the host. */
#define REPORT_MEMORY ((uint64_t)1 << 30)

struct serve_arguments {
	struct profile_arguments profile;
	const char *listen, *token, *token_file;
	uint64_t keep_ns;
	size_t series_most;
	const char *kstats;
	bool no_kstats, no_inspect, quiet;
};

static struct error *parse_keep(const char *argument, void *at)
{
	return parse_duration_from(argument, 1000, at);
}

static struct error *parse_series(const char *argument, void *at)
{
	struct error *err = parse_count(argument, at);

	if (!err &&
	    (*(size_t *)at < METRICS_SERIES_LEAST || *(size_t *)at > METRICS_SERIES_GREATEST))
		err = error_create("must be %d to %d", METRICS_SERIES_LEAST,
				   METRICS_SERIES_GREATEST);
	return err;
}

static struct error *parse_metric_pattern(const char *argument, void *at)
{
	struct error *err = *argument ? pattern_check(argument)
				      : error_create("no name matches an empty pattern");

	if (!err)
		*(const char **)at = argument;
	return err;
}

static struct error *parse_interval(const char *argument, void *at)
{
	return parse_duration_from(argument, 100, at);
}

/* clang-format off */
static const struct option_row serve_rows[] = {
	{ "listen", 'l', "ADDRESS", parse_string, offsetof(struct serve_arguments, listen),
	  "Listen at ADDRESS:PORT, PORT or unix:PATH (default " LISTEN_DEFAULT "). Other hosts reach "
	  "an address that is not of the loopback, and need the token of the printed URL.",
	  NULL, OPTION_COMMON },
	{ "token", 0, "TEXT", parse_string, offsetof(struct serve_arguments, token),
	  "Answer only requests with this token: ?token=TEXT in the URL, or the header "
	  "'Authorization: Bearer TEXT'. Without it, an address that other hosts reach gets a "
	  "random one. Shells and sudo show TEXT to other users: see --token-file.",
	  NULL, OPTION_COMMON },
	{ "token-file", 0, "FILE", parse_string, offsetof(struct serve_arguments, token_file),
	  "Like --token, with the first line of FILE, which must not be readable by all users.",
	  NULL, false },
	{ "keep", 0, "TIME", parse_keep, offsetof(struct serve_arguments, keep_ns),
	  "Keep the last TIME of readings (default 5m).", NULL, OPTION_COMMON },
	{ "max-series", 0, "NUMBER", parse_series, offsetof(struct serve_arguments, series_most),
	  "Let /metrics have at most NUMBER series (default 2000); groups of threads beyond it are "
	  "summed up.", NULL, false },
	{ "kstats", 0, "PATTERN", parse_metric_pattern, offsetof(struct serve_arguments, kstats),
	  "Show only metrics of kstats whose names match PATTERN, a glob such as 'disk_*' (default: "
	  "all).", NULL, false },
	{ "no-kstats", 0, NULL, parse_flag, offsetof(struct serve_arguments, no_kstats),
	  "Read no metrics of kstats.", NULL, false },
	{ "no-inspect", 0, NULL, parse_flag, offsetof(struct serve_arguments, no_inspect),
	  "Refuse /api/thread, which reads from /proc and from memory of a process what one of its "
	  "threads waits for.", NULL, false },
	{ "quiet", 'q', NULL, parse_flag, offsetof(struct serve_arguments, quiet),
	  "Print nothing on standard error but errors, and the URL if its token is random.", NULL,
	  false },
	{ "interval", 'i', "TIME", parse_interval, offsetof(struct serve_arguments, profile.interval_ns),
	  "Take a reading each TIME (default 1s, at least 100ms).", NULL, false },
	{ "duration", 'd', "TIME", parse_profile_time, offsetof(struct serve_arguments, profile.duration_ns),
	  "Stop after TIME (default: at Ctrl-C, or when all targets of -p and -t have ended).", NULL,
	  false },
	PROFILE_SELECT_OPTIONS(serve_arguments),
	PROFILE_FREQUENCY_OPTION(serve_arguments),
	PROFILE_WAIT_OPTIONS(serve_arguments),
};
/* clang-format on */

/* --- the processes --- */

struct serving {
	struct serve_arguments *arguments;
	struct listen_address address;
	char at[LISTEN_TEXT_MAX]; /* the address in the URL */
	char random_token[TOKEN_TEXT_MAX];
	char *own_token; /* from a file or the command line */
	int listen_fd;
	int sockets[2];        /* for the collector, and for the web process */
	int worker_sockets[2]; /* for the web process, and for the report worker */
	pid_t web;
	struct profile_options options;
	struct capture_options capture;
	struct collector *collector;
};

static volatile sig_atomic_t was_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	was_interrupted = 1;
}

/* Name the child. It ends when the collector does, so it ignores signals of the keyboard. */
static void name_child(const char *name)
{
	prctl(PR_SET_NAME, name);
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		signal(interrupts_numbers[i], SIG_IGN);
}

static int run_worker(const struct serving *s)
{
	const struct report_worker worker = {
		.socket = s->worker_sockets[1],
		.print = report_page_print_files,
		.memory_most = REPORT_MEMORY,
	};
	struct error *err;

	name_child("ctprof-files");
	memory_limit_set();
	err = report_worker_run(&worker);
	return err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
}

static int run_web(const struct serving *s)
{
	const struct serve_arguments *a = s->arguments;
	const struct web_options options = {
		.socket = s->sockets[1],
		.worker = s->worker_sockets[0],
		.interval_ns = a->profile.interval_ns,
		.classes = (a->profile.mode & PROFILE_ON ? FLAME_ON_CPU : 0) |
			   (a->profile.mode & PROFILE_OFF ? FLAME_OFF_CPU : 0),
		.series_most = a->series_most,
		.no_inspection = a->no_inspect,
		.store = { .kept_ns = a->keep_ns, .bytes_most = KEEP_BYTES },
		.http = {
			.listen_fd = s->listen_fd,
			.is_unix = s->address.path != NULL,
			.token = a->token,
			.clients_most = CLIENTS,
		},
	};
	int kept[] = { s->sockets[1], s->worker_sockets[0], s->listen_fd };
	struct error *err;

	name_child("ctprof-web");
	err = server_sandbox_enter(SERVER_ANSWERS, kept, array_length(kept));
	if (!err)
		err = web_run(&options);
	return err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
}

/* Start a process that calls `run` and exits with its result. */
static struct error *start_child(int (*run)(const struct serving *s), const struct serving *s,
				 pid_t *ret)
{
	*ret = fork();
	if (*ret < 0)
		return error_system(errno, "cannot start a process");
	if (!*ret)
		_exit(run(s));
	return NULL;
}

static void close_both(const int sockets[2])
{
	close(sockets[0]);
	close(sockets[1]);
}

static struct error *start_children(struct serving *s)
{
	pid_t worker;
	struct error *err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->sockets) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->worker_sockets))
		return error_system(errno, "cannot make a socket");
	err = start_child(run_web, s, &s->web);
	/* The worker ends when the web process does. No process waits for it. */
	if (!err)
		err = start_child(run_worker, s, &worker);
	close_both(s->worker_sockets);
	close(s->sockets[1]);
	close(s->listen_fd);
	s->sockets[1] = s->listen_fd = -1;
	return err;
}

/* Overwrite an argument: other users can read the command line of a process. */
static void hide_argument(const char *value, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const size_t length = strlen(argv[i]);

		if (value >= argv[i] && value <= argv[i] + length)
			memset(argv[i] + (value - argv[i]), 'x',
			       length - (size_t)(value - argv[i]));
	}
}

/* Take the token of --token. An error is wrong usage. */
static struct error *take_token(struct serving *s, int argc, char **argv)
{
	struct serve_arguments *a = s->arguments;
	struct error *err;

	if (a->token && a->token_file)
		return error_create("--token and --token-file exclude each other");
	if (!a->token)
		return NULL;
	err = token_check(a->token);
	if (err)
		return error_prefix(err, "--token");
	s->own_token = strdup(a->token);
	if (!s->own_token)
		return &error_no_memory;
	hide_argument(a->token, argc, argv);
	a->token = s->own_token;
	return NULL;
}

/* Take the token of --token-file, or make one if other hosts reach the address. */
static struct error *find_token(struct serving *s)
{
	struct serve_arguments *a = s->arguments;
	struct error *err = NULL;

	if (a->token_file) {
		err = token_read(a->token_file, &s->own_token);
		a->token = s->own_token;
	} else if (!a->token && !s->address.is_loopback) {
		err = token_make(s->random_token);
		a->token = s->random_token;
	}
	return err;
}

static void print_url(const struct serving *s)
{
	const char *token = s->arguments->token;

	if (s->arguments->quiet && token != s->random_token)
		return;
	fputs("ctprof: serving at ", stderr);
	if (s->address.path) {
		fprintf(stderr, "unix:%s", s->address.path);
	} else {
		fprintf(stderr, "http://%s/%s", s->at, token ? "?token=" : "");
		token_print_encoded(stderr, token ? token : "");
	}
	fputs("; press Ctrl-C to stop\n", stderr);
}

/* Requires CAP_SYS_ADMIN, so it comes before privileges are dropped. */
static int enable_statistics(void)
{
	PRIVILEGES_RAISED;

	return program_cost_enable();
}

static struct error *open_collector(struct serving *s, const sigset_t *before)
{
	struct collector_options options = {
		.profile = &s->options,
		.capture = &s->capture,
		.no_inspection = s->arguments->no_inspect,
		.interval_ns = s->arguments->profile.interval_ns,
		.duration_ns = s->arguments->profile.duration_ns,
		.ends_with_targets = profile_arguments_have_targets(&s->arguments->profile),
		.may_return = profile_targets_may_return,
		.context = &s->arguments->profile,
		.kstats = s->arguments->no_kstats ? "" : s->arguments->kstats,
		.socket = s->sockets[0],
		.version = CTPROF_VERSION,
		.mask = before,
		.is_over = &was_interrupted,
	};
	const bool was_raised = privileges_raise();
	struct error *err = collector_open(&options, &s->collector);
	char *missing;

	privileges_lower(was_raised);
	if (!err)
		return privileges_keep(PROFILE_READ_PRIVILEGES | CAPTURE_READ_PRIVILEGES);
	missing = privileges_missing();
	if (missing) {
		error_destroy(err);
		err = error_create("%s", missing);
		free(missing);
	}
	return err;
}

static struct error *prepare(struct serving *s)
{
	struct profile_arguments *a = &s->arguments->profile;
	struct error *err = find_token(s);
	const int statistics = enable_statistics();

	if (err)
		return err;
	err = listen_open(&s->address, s->at, &s->listen_fd);
	if (err)
		return error_prefix(err, "%s", s->arguments->listen);
	err = start_children(s);
	if (!err)
		err = privileges_keep(PROFILE_OPEN_PRIVILEGES | CAPTURE_OPEN_PRIVILEGES);
	if (!err)
		err = profile_arguments_find(a);
	if (err)
		return err;
	s->options = profile_arguments_apply(a);
	s->options.statistics = statistics;
	s->options.latencies = s->options.off_cpu;
	s->capture = (struct capture_options){
		.pids = a->target.pids.items,
		.pid_count = a->target.pids.count,
		.has_children = !a->no_children,
		.comm = a->comm,
		.may_be_gone = true,
		.cgroup = a->target.cgroup,
		.timeout_ns = SNAPSHOT_PATIENCE_NS / 2,
	};
	return NULL;
}

static struct error *serve(struct serving *s)
{
	sigset_t before;
	struct error *err;

	/* Before the children are started, which inherit the heap. */
	profile_keep_heap_small();
	err = prepare(s);
	if (err)
		return err;
	interrupts_hold(interrupt, &before);
	err = open_collector(s, &before);
	if (err)
		return err;
	print_url(s);
	return collector_run(s->collector);
}

/* The web process ends when the collector's socket closes. */
static int end(struct serving *s, struct error *err)
{
	int status = err ? report_error(err, STATUS_FAILED) : STATUS_DONE, of_web = 0;

	/* The address is free before programs are unloaded, which takes a while. */
	if (s->sockets[0] >= 0)
		close(s->sockets[0]);
	if (s->web > 0 && waitpid(s->web, &of_web, 0) == s->web && of_web && !status)
		status = report_error(
			WIFSIGNALED(of_web) ? error_create("the web process was ended by signal %d",
							   WTERMSIG(of_web))
					    : error_create("the web process has failed"),
			STATUS_FAILED);
	collector_close(s->collector);
	if (s->address.path && s->at[0] == 0 && s->web > 0)
		unlink(s->address.path);
	return status;
}

static int run_serve(const struct command *command, int argc, char **argv)
{
	struct serve_arguments arguments = {
		.profile = { .min_ns = PROFILE_MIN_NS },
		.listen = LISTEN_DEFAULT,
		.keep_ns = KEEP_DEFAULT_NS,
		.series_most = METRICS_SERIES,
	};
	struct serving serving = { .arguments = &arguments,
				   .listen_fd = -1,
				   .sockets = { -1, -1 } };
	struct error *err;
	int status;

	if (options_parse(command, argc, argv, &arguments, &status) < 0)
		return status;
	if (!arguments.profile.mode)
		arguments.profile.mode = PROFILE_BOTH;
	if (!arguments.profile.interval_ns)
		arguments.profile.interval_ns = INTERVAL_DEFAULT_NS;
	err = listen_parse(arguments.listen, &serving.address);
	if (err)
		err = error_prefix(err, "--listen");
	if (!err)
		err = take_token(&serving, argc, argv);
	if (!err)
		err = profile_arguments_settle(&arguments.profile);
	status = err ? usage_error(command, err) : end(&serving, serve(&serving));
	free(serving.own_token);
	profile_arguments_deinit(&arguments.profile);
	return status;
}

const struct command serve_command = {
	.name = "serve",
	.run = run_serve,
	.summary = "show this host live in a browser; serve metrics and profiles",
	.operands = "",
	.needs = "root, or CAP_BPF, CAP_PERFMON, CAP_SYSLOG and CAP_SYS_PTRACE; a kernel with BTF",
	.drops_privileges = true,
	.examples = { "sudo ctprof serve", "sudo ctprof serve --comm postgres --keep 30m",
		      "sudo ctprof serve --listen 0.0.0.0:7070" },
	.options = serve_rows,
	.option_count = array_length(serve_rows),
};
