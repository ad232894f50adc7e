/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve: a page, metrics and profiles over HTTP, while it measures. serving.h has its processes.
 */
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "cli/commands.h"
#include "cmd/profile_options.h"
#include "cmd/serving.h"

#define INTERVAL_DEFAULT_NS NS_PER_S

struct serve_arguments {
	struct profile_arguments profile;
	struct web_arguments web;
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
	{ "listen", 'l', "ADDRESS", parse_string, offsetof(struct serve_arguments, web.listen),
	  "Listen at ADDRESS:PORT, PORT or unix:PATH (default " LISTEN_DEFAULT "). Other hosts reach "
	  "an address that is not of the loopback, and need the token of the printed URL.",
	  NULL, OPTION_COMMON },
	{ "token", 0, "TEXT", parse_string, offsetof(struct serve_arguments, web.token),
	  "Answer only requests with this token: ?token=TEXT in the URL, or the header "
	  "'Authorization: Bearer TEXT'. Without it, an address that other hosts reach gets a "
	  "random one. Shells and sudo show TEXT to other users: see --token-file.",
	  NULL, OPTION_COMMON },
	{ "token-file", 0, "FILE", parse_string, offsetof(struct serve_arguments, web.token_file),
	  "Like --token, with the first line of FILE, which must not be readable by all users.",
	  NULL, false },
	{ "keep", 0, "TIME", parse_keep, offsetof(struct serve_arguments, web.keep_ns),
	  "Keep the last TIME of readings (default 5m).", NULL, OPTION_COMMON },
	{ "max-series", 0, "NUMBER", parse_series, offsetof(struct serve_arguments, web.series_most),
	  "Let /metrics have at most NUMBER series (default 2000); groups of threads beyond it are "
	  "summed up.", NULL, false },
	{ "kstats", 0, "PATTERN", parse_metric_pattern, offsetof(struct serve_arguments, web.kstats),
	  "Show only metrics of kstats whose names match PATTERN, a glob such as 'disk_*' (default: "
	  "all).", NULL, false },
	{ "no-kstats", 0, NULL, parse_flag, offsetof(struct serve_arguments, web.no_kstats),
	  "Read no metrics of kstats.", NULL, false },
	{ "no-inspect", 0, NULL, parse_flag, offsetof(struct serve_arguments, web.no_inspect),
	  "Refuse /api/thread, which reads from /proc and from memory of a process what one of its "
	  "threads waits for.", NULL, false },
	{ "quiet", 'q', NULL, parse_flag, offsetof(struct serve_arguments, web.quiet),
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

static int run_serve(const struct command *command, int argc, char **argv)
{
	struct serve_arguments arguments = {
		.profile = { .min_ns = PROFILE_MIN_NS },
		.web = WEB_DEFAULTS,
	};
	struct serving serving = { .profile = &arguments.profile };
	struct error *err;
	int status;

	arguments.web.listen = LISTEN_DEFAULT;
	if (options_parse(command, argc, argv, &arguments, &status) < 0)
		return status;
	if (!arguments.profile.mode)
		arguments.profile.mode = PROFILE_BOTH;
	if (!arguments.profile.interval_ns)
		arguments.profile.interval_ns = INTERVAL_DEFAULT_NS;
	serving.web = arguments.web;
	err = serving_settle(&serving, argc, argv);
	if (!err)
		err = profile_arguments_settle(&arguments.profile);
	status = err ? usage_error(command, err) : serving_end(&serving, serving_run(&serving));
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
