/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of serve and agent: this one measures, and drops the privileges that measuring does
 * not need. With --listen it has two children without privileges: one serves HTTP (serve/http.h
 * says why), the other makes reports of uploaded files (serve/report_worker.h).
 *
 *	struct serving serving = { .profile = &profile, .web = WEB_DEFAULTS, ... };
 *	err = serving_settle(&serving, argc, argv);		wrong usage
 *	...
 *	status = serving_end(&serving, serving_run(&serving));
 */
#ifndef CMD_SERVING_H
#define CMD_SERVING_H

#include <sys/types.h>

#include "cmd/profile_options.h"
#include "serve/collector.h"
#include "serve/listen.h"
#include "serve/metrics.h"
#include "serve/token.h"

struct web_arguments {
	const char *listen; /* NULL: no web process */
	const char *token, *token_file;
	uint64_t keep_ns;
	size_t series_most;
	const char *kstats; /* names of metrics: a glob; NULL: all */
	bool no_kstats, no_inspect, quiet;
};

#define WEB_DEFAULTS                                                        \
	{                                                                   \
		.keep_ns = 5 * 60 * NS_PER_S, .series_most = METRICS_SERIES \
	}

struct serving {
	struct profile_arguments *profile;
	struct web_arguments web;
	struct collector_receiver receiver; /* all zero: none */
	bool no_inline;                     /* as in struct symbolise_options */
	/* Called with all privileges, before threads are started, with `receiver.context`; it may
	 * set `receiver.fd`. May be NULL. */
	struct error *(*begin)(struct serving *serving);
	unsigned uses; /* of privileges beside those for measuring: enum privilege_use */

	struct listen_address address;
	char at[LISTEN_TEXT_MAX]; /* the address in the URL */
	char random_token[TOKEN_TEXT_MAX];
	char *own_token; /* from a file or the command line; the caller frees it at the end */
	int listen_fd;
	int sockets[2];        /* for the collector, and for the web process */
	int worker_sockets[2]; /* for the web process, and for the report worker */
	pid_t web_process;     /* 0: none */
	struct profile_options options;
	struct capture_options capture;
	struct collector *collector;
};

/* Check the address and the token, and hide the token of the command line. An error is wrong usage.
 */
struct error *serving_settle(struct serving *serving, int argc, char **argv) MUST_CHECK;

/* Start the processes and measure, until a signal arrives or all targets have ended. */
struct error *serving_run(struct serving *serving) MUST_CHECK;

/* End the web process and release all. `err` is that of serving_run(), which is printed. Returns
 * the exit status. */
int serving_end(struct serving *serving, struct error *err);

#endif
