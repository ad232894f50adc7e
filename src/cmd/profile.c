/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile and offcpu: what threads spend their time in, while a command runs or for a time.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupts.h"
#include "bpf/program_cost.h"
#include "cli/commands.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cmd/profile_options.h"
#include "cmd/profile_output.h"
#include "cmd/profile_screen.h"
#include "cmd/profile_words.h"
#include "live/live_profile.h"
#include "profile/lock_frames.h"
#include "profile/symbol_cache.h"
#include "sched/profile_session.h"
#include "security/privileges.h"

struct profile_command_arguments {
	struct profile_arguments profile;
	struct profile_output output;
	struct profile_flush flush;
};

static const struct option_row profile_rows[] = {
	PROFILE_OPTIONS(profile_command_arguments),
	PROFILE_OUTPUT_OPTIONS(profile_command_arguments),
	PROFILE_FLUSH_OPTIONS(profile_command_arguments),
};

/* The state of a profile in progress. */
struct taking {
	struct profile_command_arguments *arguments;
	struct profile_options options;
	struct reason_selection selection; /* `options.selection` points here */
	struct profile_session *session;
	char **command; /* NULL: there is none */
	struct run *run;
	struct progress progress;
	bool progress_is_wanted;
	uint64_t ends_ns, next_ns; /* CLOCK_MONOTONIC; 0: never */
	unsigned interval;         /* how many have been shown */
	struct symbolise_left told;
	bool is_shown;
	int signal;                       /* the signal that ended the screen; 0: none */
	char *thread_words, *state_words; /* for suggested commands; NULL: not made yet */
};

/* --- until when --- */

static volatile sig_atomic_t was_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	was_interrupted = 1;
}

/* Signals that are pending now end the measurement. They must not end naming, which follows. */
static void take_pending(const sigset_t *before)
{
	const struct timespec now = { 0 };
	sigset_t ending;

	sigemptyset(&ending);
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		if (!sigismember(before, interrupts_numbers[i]))
			sigaddset(&ending, interrupts_numbers[i]);
	while (sigtimedwait(&ending, NULL, &now) > 0)
		was_interrupted = 1;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

static void print_targets_ended(const struct profile_arguments *a)
{
	if (!a->target.pids.count && !a->tids.count)
		fprintf(stderr, "ctprof: cgroup %s was removed; stopping\n", a->target.cgroup);
	else if (!target_alive(&a->target, &a->tids))
		fputs("ctprof: all targets of -p and -t have ended; stopping\n", stderr);
}

static bool have_targets_ended(const struct taking *t)
{
	struct profile_arguments *a = &t->arguments->profile;

	if (t->run || !profile_arguments_have_targets(a) ||
	    !profile_session_targets_ended(t->session) || profile_targets_may_return(a))
		return false;
	if (!t->arguments->output.quiet)
		print_targets_ended(a);
	return true;
}

/* Sleeps until there is something to do; false when it is over. */
static bool wait_a_little(struct taking *t, const sigset_t *before)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t tick = profile_session_next_tick(t->session, now);
	const uint64_t until = sooner(sooner(tick, t->ends_ns), t->next_ns);
	const struct timespec left = clock_timespec(until > now ? until - now : 0);
	struct pollfd reasons[] = {
		{ .fd = t->run ? run_fd(t->run) : -1, .events = POLLIN },
		{ .fd = profile_session_fd(t->session), .events = POLLIN },
	};

	if (was_interrupted || have_targets_ended(t))
		return false;
	ppoll(reasons, array_length(reasons), &left, before);
	if (reasons[1].revents)
		usleep((useconds_t)(profile_session_gather_ns(t->session) / 1000));
	if (was_interrupted || (t->run && run_has_ended(t->run)))
		return false;
	return !t->ends_ns || clock_ns(CLOCK_MONOTONIC) < t->ends_ns;
}

/* --- why there is nothing --- */

static void explain_nothing(const struct taking *t, const struct profile *profile)
{
	const struct profile_arguments *a = &t->arguments->profile;
	const struct profile_losses *losses = &profile->meta.losses;
	char kept[UNITS_TEXT_MAX];

	fputs("ctprof: the profile is empty: ", stderr);
	if (!profile->threads.count && *t->thread_words)
		fprintf(stderr, "no thread matched %s\n", t->thread_words);
	else if (!profile->threads.count)
		fputs("no thread could be profiled\n", stderr);
	else if (losses->lost)
		fprintf(stderr, "all %" PRIu64 " events were lost: no memory left (see %s)\n",
			losses->lost, a->memory_limit ? "--memory" : "--max-map-memory");
	else if (losses->filtered)
		fprintf(stderr,
			"all %" PRIu64 " waits (%s) were filtered out by --min-block-time, "
			"--max-block-time, --state, --cpu or sampling\n",
			losses->filtered, units_format(kept, UNIT_NS, losses->filtered_ns));
	else if (a->events.count)
		fputs("no selected thread hit a probe\n", stderr);
	else if (!t->options.off_cpu)
		fprintf(stderr,
			"no sample hit the %zu selected thread%s (-F takes more samples; --mode "
			"off shows where threads wait)\n",
			profile->threads.count, plural(profile->threads.count));
	else
		fprintf(stderr, "the %zu selected thread%s had no wait%s\n", profile->threads.count,
			plural(profile->threads.count), t->options.selection ? " of --state" : "");
}

/* The error that a target lives, but has no thread in the profile, though nothing but its number
 * selects. */
static struct error *find_hidden(const struct taking *t, const struct profile *profile)
{
	const struct profile_arguments *a = &t->arguments->profile;

	return profile->threads.count || profile_arguments_have_filters(a)
		       ? NULL
		       : target_hidden(&a->target, &a->tids);
}

/* --- taking it --- */

static struct error *read_profile(struct taking *t, struct profile **ret)
{
	PRIVILEGES_RAISED;

	return profile_session_read(t->session, ret);
}

static struct error *tick_profile(struct taking *t)
{
	PRIVILEGES_RAISED;

	return profile_session_tick(t->session);
}

static struct error *stop(struct taking *t)
{
	PRIVILEGES_RAISED;

	return profile_session_stop(t->session);
}

/* Note the options for the commands that reports suggest. Call it once the target was found: PIDs
 * are known then. */
static struct error *repeat_options(struct taking *t)
{
	const struct profile_arguments *a = &t->arguments->profile;

	t->thread_words = profile_words_of_threads(a);
	t->state_words = profile_words_of_states(a);
	t->arguments->output.asked = (struct profile_asked){
		.threads = t->thread_words,
		.states = t->state_words,
		.pids = a->target.pids.items,
		.pid_count = a->target.pids.count,
		.wakers = a->wakers,
		.preemptors = a->preemptors,
	};
	return t->thread_words && t->state_words ? NULL : &error_no_memory;
}

static struct error *show_profile(struct taking *t, unsigned interval)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct error *err = read_profile(t, &profile);

	if (!err)
		err = find_hidden(t, profile);
	if (err)
		return err;
	if (t->command)
		profile->meta.command = profile_name(profile, t->command[0], strlen(t->command[0]));
	if (!profile->samples.count && !t->arguments->output.quiet && !t->arguments->output.flush)
		explain_nothing(t, profile);
	t->is_shown = true;
	return profile_output_show(&t->arguments->output, profile, NULL, interval);
}

static struct error *show_interval(struct taking *t, const sigset_t *before)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (!t->next_ns || now < t->next_ns)
		return NULL;
	while (t->next_ns <= now)
		t->next_ns += t->arguments->profile.interval_ns;
	take_pending(before);
	/* NULL without memory: names are then looked up in each interval. */
	if (!t->interval)
		t->arguments->output.symbols = symbol_cache_create();
	t->arguments->output.told = &t->told;
	err = show_profile(t, ++t->interval);
	/* The memory was for one interval; the next may have fewer threads. */
	malloc_trim(0);
	/* A signal that ended naming in an interval ends the profile. */
	was_interrupted |= interrupts_came();
	return err;
}

static struct error *take_until_end(struct taking *t, const sigset_t *before)
{
	struct error *err = NULL;

	while (!err && wait_a_little(t, before)) {
		err = tick_profile(t);
		if (!err)
			err = show_interval(t, before);
	}
	if (!err)
		err = stop(t);
	take_pending(before);
	return err ? err : show_profile(t, t->interval ? t->interval + 1 : 0);
}

/* Everything that takes privileges is open afterwards, and they are dropped: nothing of another
 * process has been read by then, and no thread been started. */
static struct error *open_session(struct taking *t)
{
	const bool was_raised = privileges_raise();
	struct error *err = profile_session_open(&t->options, &t->session);
	char *missing;

	privileges_lower(was_raised);
	if (!err)
		return privileges_keep(PROFILE_READ_PRIVILEGES);
	missing = privileges_missing();
	if (missing) {
		error_destroy(err);
		err = error_create("%s", missing);
		free(missing);
	}
	return err;
}

/* Ctrl-C while unwind tables are made ends the run with what was collected. */
static bool show_tables_progress(void *context, size_t done, size_t all)
{
	struct taking *t = context;
	sigset_t pending;

	if (t->progress_is_wanted)
		progress_print(&t->progress, done, all);
	sigpending(&pending);
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		if (sigismember(&pending, interrupts_numbers[i]))
			return false;
	return true;
}

static struct error *start_session(struct taking *t)
{
	PRIVILEGES_RAISED;
	struct error *err;

	t->progress_is_wanted =
		progress_begin(&t->progress, "unwind tables", t->arguments->output.quiet);
	err = profile_session_start(t->session);
	progress_end(&t->progress);
	return err;
}

/* Tell the user where profiles go: no file appears before the first interval is over. */
static void print_flush(const struct taking *t)
{
	char every[UNITS_TEXT_MAX];

	if (t->arguments->output.quiet)
		return;
	units_format(every, UNIT_NS, (__int128)t->arguments->profile.interval_ns);
	fprintf(stderr, "ctprof: writing a profile every %s to %s\n", every,
		t->arguments->flush.directory);
}

static struct error *start_collecting(struct taking *t)
{
	const struct profile_arguments *a = &t->arguments->profile;
	struct error *err = start_session(t);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!err && t->run)
		err = run_go(t->run);
	t->ends_ns = a->duration_ns ? now + a->duration_ns : 0;
	t->next_ns = a->interval_ns ? now + a->interval_ns : 0;
	if (!err && t->arguments->output.flush)
		print_flush(t);
	else if (!err && !t->run && !t->ends_ns && !t->arguments->output.quiet &&
		 isatty(STDERR_FILENO))
		fputs("ctprof: profiling; press Ctrl-C to stop and show the result\n", stderr);
	return err;
}

/* --- on the screen --- */

static const unsigned classes_of_mode[] = {
	[PROFILE_ON] = FLAME_ON_CPU,
	[PROFILE_OFF] = FLAME_OFF_CPU,
	[PROFILE_BOTH] = FLAME_ON_CPU | FLAME_OFF_CPU,
};

static struct error *take_on_screen(struct taking *t, const char *title, const sigset_t *before)
{
	struct profile_arguments *a = &t->arguments->profile;
	struct profile_output output = t->arguments->output;
	const struct flame_screen_options screen =
		profile_screen_options(&output, title, classes_of_mode[a->mode],
				       output.group_is_given ? output.group_by : FLAME_BY_PROGRAM);
	const struct live_profile live = {
		.session = t->session,
		.screen = &screen,
		.duration_ns = a->duration_ns,
		.ends_with_targets = profile_arguments_have_targets(a),
		.may_return = profile_targets_may_return,
		.may_return_context = a,
		.no_inline = output.no_inline,
		.symfs = output.symfs,
		.filter = output.filter,
	};
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct flame_screen_end end;
	struct error *err;

	/* The screen installs its own signal handlers. */
	sigprocmask(SIG_SETMASK, before, NULL);
	err = live_profile_run(&live, &profile, &end);
	output.tui = false;
	if (!err) {
		profile_screen_print_end(&end);
		t->signal = end.signal;
	}
	if (err || !profile || !output.paths.count)
		return err;
	/* live_profile_run() has applied the filter. */
	output.filter = NULL;
	return profile_output_show(&output, profile, NULL, 0);
}

/* Refuse options that have no effect beside --tui. */
static struct error *check_screen(const struct taking *t)
{
	const struct profile_arguments *a = &t->arguments->profile;

	if (!t->arguments->output.tui)
		return NULL;
	if (t->command)
		return error_create("--tui takes the terminal, which the command needs: start it "
				    "elsewhere, and use -p");
	if (a->interval_ns)
		return error_create("--interval has no effect with --tui");
	return NULL;
}

static struct error *check_flush(struct taking *t)
{
	struct profile_command_arguments *a = t->arguments;

	if (!a->flush.directory)
		return a->flush.keep.age_ms || a->flush.keep.bytes
			       ? error_create("--keep requires --flush")
			       : NULL;
	if (a->output.tui)
		return error_create("--flush has no effect with --tui");
	if (a->output.paths.count)
		return error_create("--flush and -o exclude each other");
	if (!a->profile.interval_ns)
		a->profile.interval_ns = PROFILE_FLUSH_INTERVAL_NS;
	if (!a->output.format)
		a->output.format = profile_formats[PROFILE_FORMAT_PPROF].name;
	a->output.flush = &a->flush;
	return NULL;
}

static struct error *open_flush(struct taking *t)
{
	struct profile_flush *flush = t->arguments->output.flush;
	enum profile_format format;
	struct error *err;

	if (!flush)
		return NULL;
	err = profile_format_named(t->arguments->output.format, &format);
	if (err)
		return err;
	err = profile_flush_open(flush, profile_formats[format].extension);
	return err ? error_prefix(err, "--flush") : NULL;
}

/* Requires CAP_SYS_ADMIN, so it comes before privileges are dropped. */
static int enable_statistics(void)
{
	PRIVILEGES_RAISED;

	return program_cost_enable();
}

/* Some waits turn out to be for locks only when functions have names (profile/lock_frames.h). With
 * --state lock, collect those candidates too, if the output can remove the others after naming. */
static void select_states(struct taking *t)
{
	struct profile_output *output = &t->arguments->output;

	if (!t->options.selection)
		return;
	output->states = t->options.selection;
	t->selection = *t->options.selection;
	if (t->options.user_frames && !t->options.only_times && !output->tui &&
	    !profile_output_has_raw(output))
		lock_frames_widen(&t->selection);
	t->options.selection = &t->selection;
}

static struct error *collect_profile(struct taking *t, const char *title)
{
	sigset_t before;
	struct error *err = open_flush(t);
	int statistics;

	if (!err && t->command)
		err = run_start(t->command, &t->run);
	statistics = enable_statistics();
	profile_keep_heap_small();
	/* After run_start: the command has the privileges and the signal mask of our caller. */
	if (!err)
		err = privileges_keep(
			PROFILE_OPEN_PRIVILEGES |
			(t->arguments->profile.events.count ? PRIVILEGE_PROBE_FILES : 0));
	if (!err)
		err = profile_arguments_find(&t->arguments->profile);
	if (!err)
		err = repeat_options(t);
	if (err)
		return err;
	t->options = profile_arguments_apply(&t->arguments->profile);
	select_states(t);
	t->options.by_cpu = t->arguments->output.group_by == FLAME_BY_CPU;
	t->options.only_times &= !t->options.by_cpu;
	t->options.quotas = t->options.off_cpu;
	t->options.statistics = statistics;
	t->options.progress =
		t->arguments->output.tui ? live_profile_progress : show_tables_progress;
	t->options.progress_context = t;
	if (t->run)
		t->options.command = (uint32_t)run_pid(t->run);
	/* While a command runs, the keyboard's signals are for the command: they are ignored. */
	interrupts_hold(interrupt, &before);
	err = open_session(t);
	if (!err && t->arguments->output.tui)
		return take_on_screen(t, title, &before);
	if (!err)
		err = start_collecting(t);
	if (!err)
		err = take_until_end(t, &before);
	return err;
}

/* The exit status of our failures differs from those of the command, as with env(1) and timeout(1).
 */
static int failure_status(const struct taking *t, const struct error *err, bool has_begun)
{
	if (!t->command)
		return STATUS_FAILED;
	if (!has_begun && err->errnum == ENOENT)
		return STATUS_NOT_FOUND;
	return !has_begun && err->errnum == EACCES ? STATUS_NOT_RUNNABLE : STATUS_RUN_FAILED;
}

/* Status when output cannot be written: with a command, one that the command itself cannot
 * return. */
static int end_output(const struct taking *t, int status)
{
	struct error *err = t->command ? output_end() : NULL;

	if (err)
		report_error(err, STATUS_FAILED);
	return err && !status ? STATUS_RUN_FAILED : status;
}

static int end_collecting(struct taking *t, struct error *err)
{
	const struct profile_flush *flush = &t->arguments->flush;
	struct run_result result;
	int status = STATUS_DONE;

	if (err)
		status = report_error(err, failure_status(t, err, t->is_shown));
	if (flush->is_open && t->is_shown && !t->arguments->output.quiet)
		profile_flush_print(flush);
	if (!status && flush->lost && !t->command)
		status = STATUS_FAILED;
	profile_session_close(t->session);
	if (!status && t->run) {
		err = run_wait(t->run, &result);
		status = err ? report_error(err, STATUS_RUN_FAILED) : result.status;
	}
	run_destroy(t->run);
	free(t->thread_words);
	free(t->state_words);
	status = end_output(t, status);
	/* Shells expect 128 + N of a program that signal N ended. */
	return status || !t->signal ? status : 128 + t->signal;
}

/* --- what was asked for --- */

static struct error *find_command(int argc, char **argv, int first, char ***ret)
{
	if (first == argc && strcmp(argv[argc - 1], "--") == 0)
		return error_create("missing command after --");
	if (first == argc)
		return NULL;
	if (first < 2 || strcmp(argv[first - 1], "--") != 0)
		return error_create("unexpected '%.60s': a command follows --, a time follows "
				    "--duration",
				    argv[first]);
	*ret = argv + first;
	return NULL;
}

/* --list-probes PROBE is --list-probes -e PROBE. */
static struct error *find_probes_to_list(int argc, char **argv, int first,
					 struct profile_arguments *arguments)
{
	if (first < argc && strcmp(argv[first - 1], "--") == 0)
		return NULL;
	for (; first < argc; first++)
		if (!array_push(&arguments->events, argv[first]))
			return &error_no_memory;
	return NULL;
}

/* A command may return any other status, so a wrong option must have its own. */
static int status_beside(int argc, char **argv, int status)
{
	for (int i = 1; status == STATUS_USAGE && i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return STATUS_RUN_FAILED;
	return status;
}

static int run_in_mode(const struct command *command, int argc, char **argv, unsigned mode)
{
	struct profile_command_arguments arguments = { .profile = { .min_ns = PROFILE_MIN_NS } };
	struct taking taking = { .arguments = &arguments };
	char title[40];
	struct error *err;
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	snprintf(title, sizeof(title), "ctprof %s", command->name);
	if (first >= 0 && arguments.profile.list_probes) {
		err = find_probes_to_list(argc, argv, first, &arguments.profile);
		if (!err)
			err = profile_arguments_list(&arguments.profile);
		status = err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
	} else if (first >= 0) {
		/* `profile` collects time on and off the CPU for a screen, which can show each of
		 * them or both. */
		if (!arguments.profile.mode && arguments.output.tui && mode == PROFILE_ON)
			arguments.profile.mode = PROFILE_BOTH;
		if (!arguments.profile.mode)
			arguments.profile.mode = mode;
		err = find_command(argc, argv, first, &taking.command);
		if (taking.command)
			arguments.profile.program = taking.command[0];
		if (!err)
			err = profile_output_settle(&arguments.output);
		if (!err)
			err = check_screen(&taking);
		if (!err)
			err = check_flush(&taking);
		if (!err)
			err = profile_output_check(&arguments.output);
		if (!err)
			err = profile_arguments_settle(&arguments.profile);
		status = err ? usage_error(command, err)
			     : end_collecting(&taking, collect_profile(&taking, title));
	}
	profile_arguments_deinit(&arguments.profile);
	profile_output_deinit(&arguments.output);
	profile_flush_close(&arguments.flush);
	return status_beside(argc, argv, status);
}

static int run_profile(const struct command *command, int argc, char **argv)
{
	return run_in_mode(command, argc, argv, PROFILE_ON);
}

static int run_offcpu(const struct command *command, int argc, char **argv)
{
	return run_in_mode(command, argc, argv, PROFILE_OFF);
}

#define PROFILE_COMMAND(called, runs, says, ...)                                                \
	{                                                                                       \
		.name = called, .run = runs, .summary = says,                                   \
		.operands = "[-- COMMAND [ARGUMENTS]]", .operands_most = INT32_MAX,             \
		.needs = "root, or CAP_BPF, CAP_PERFMON, CAP_SYSLOG and CAP_SYS_PTRACE; a "     \
			 "kernel with BTF",                                                     \
		.drops_privileges = true, .examples = { __VA_ARGS__ }, .options = profile_rows, \
		.option_count = array_length(profile_rows),                                     \
	}

const struct command profile_command =
	PROFILE_COMMAND("profile", run_profile, "collect stacks of where threads run and wait",
			"sudo ctprof profile -d 10s",
			"sudo ctprof profile --mode both -p 4242 -d 10s -o wall.html");
const struct command offcpu_command = PROFILE_COMMAND(
	"offcpu", run_offcpu, "collect stacks of where threads wait (profile --mode off)",
	"sudo ctprof offcpu -d 10s", "sudo ctprof offcpu -p 4242 -d 10s -o off.svg",
	"sudo ctprof offcpu -- tar -cf x.tar dir");
