/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/serving.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupts.h"
#include "base/percent.h"
#include "base/version.h"
#include "bpf/program_cost.h"
#include "cmd/report_page.h"
#include "profile/flame.h"
#include "security/memory_limit.h"
#include "security/privileges.h"
#include "security/server_sandbox.h"
#include "serve/report_worker.h"
#include "serve/snapshot.h"
#include "serve/web.h"

/* Readings and their dictionary in the web process. */
#define KEEP_BYTES ((size_t)512 << 20)
#define CLIENTS    256
/* Bytes that a process which makes a report may allocate; memory_limit_set() lowers that to half of
 * the memory of the host. */
#define REPORT_MEMORY ((uint64_t)1 << 30)

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
	const struct web_arguments *a = &s->web;
	const struct web_options options = {
		.socket = s->sockets[1],
		.worker = s->worker_sockets[0],
		.interval_ns = s->profile->interval_ns,
		.classes = (s->profile->mode & PROFILE_ON ? FLAME_ON_CPU : 0) |
			   (s->profile->mode & PROFILE_OFF ? FLAME_OFF_CPU : 0),
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
	struct error *err = fd_channel_open(s->worker_sockets);

	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->sockets))
		return error_system(errno, "cannot make a socket");
	err = start_child(run_web, s, &s->web_process);
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
	struct web_arguments *a = &s->web;
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
	struct web_arguments *a = &s->web;
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

static struct error *start_web(struct serving *s)
{
	struct error *err = find_token(s);

	if (err)
		return err;
	err = listen_open(&s->address, s->at, &s->listen_fd);
	return err ? error_prefix(err, "%s", s->web.listen) : start_children(s);
}

struct error *serving_settle(struct serving *s, int argc, char **argv)
{
	struct error *err;

	s->listen_fd = s->sockets[0] = s->sockets[1] = -1;
	if (!s->web.listen)
		return NULL;
	err = listen_parse(s->web.listen, &s->address);
	return err ? error_prefix(err, "--listen") : take_token(s, argc, argv);
}

static void print_url(const struct serving *s)
{
	const char *token = s->web.token;

	if (s->web.quiet && token != s->random_token)
		return;
	fputs("ctprof: serving at ", stderr);
	if (s->address.path) {
		fprintf(stderr, "unix:%s", s->address.path);
	} else {
		fprintf(stderr, "http://%s/%s", s->at, token ? "?token=" : "");
		percent_print(stderr, text_of(token ? token : ""), "");
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
		.no_inspection = !s->web.listen || s->web.no_inspect,
		.no_inline = s->no_inline,
		.interval_ns = s->profile->interval_ns,
		.duration_ns = s->profile->duration_ns,
		.ends_with_targets = profile_arguments_have_targets(s->profile),
		.may_return = profile_targets_may_return,
		.context = s->profile,
		.kstats = !s->web.listen || s->web.no_kstats ? "" : s->web.kstats,
		.socket = s->sockets[0],
		.receiver = s->receiver,
		.version = CTPROF_VERSION,
		.mask = before,
		.is_over = &was_interrupted,
	};
	const bool was_raised = privileges_raise();
	struct error *err = collector_open(&options, &s->collector);
	char *missing;

	privileges_lower(was_raised);
	if (!err)
		return privileges_keep(PROFILE_READ_PRIVILEGES | CAPTURE_READ_PRIVILEGES | s->uses);
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
	struct profile_arguments *a = s->profile;
	const int statistics = enable_statistics();
	struct error *err = NULL;

	if (s->web.listen)
		err = start_web(s);
	if (!err && s->begin)
		err = s->begin(s);
	if (!err)
		err = privileges_keep(PROFILE_OPEN_PRIVILEGES | CAPTURE_OPEN_PRIVILEGES | s->uses);
	if (!err)
		err = profile_arguments_find(a);
	if (err)
		return err;
	s->options = profile_arguments_apply(a);
	s->options.statistics = statistics;
	s->options.latencies = s->web.listen && s->options.off_cpu;
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

struct error *serving_run(struct serving *s)
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
	if (s->web.listen)
		print_url(s);
	return collector_run(s->collector);
}

/* The web process ends when the collector's socket closes. */
int serving_end(struct serving *s, struct error *err)
{
	int status = err ? report_error(err, STATUS_FAILED) : STATUS_DONE, of_web = 0;

	/* The address is free before programs are unloaded, which takes a while. */
	if (s->sockets[0] >= 0)
		close(s->sockets[0]);
	if (s->web_process > 0 && waitpid(s->web_process, &of_web, 0) == s->web_process && of_web &&
	    !status)
		status = report_error(
			WIFSIGNALED(of_web) ? error_create("the web process was ended by signal %d",
							   WTERMSIG(of_web))
					    : error_create("the web process has failed"),
			STATUS_FAILED);
	collector_close(s->collector);
	if (s->address.path && s->at[0] == 0 && s->web_process > 0)
		unlink(s->address.path);
	return status;
}
