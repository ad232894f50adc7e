/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: latency histograms of functions, tracepoints and programs.
 */
#include "cmd/kstats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "kstats/bpf_location.h"
#include "security/memory_limit.h"
#include "security/privileges.h"

const char *const kstats_format_names[KSTATS_FORMAT_COUNT] = {
#define FORMAT(id, name, ...) [KSTATS_FORMAT_##id] = name,
	KSTATS_FORMATS(FORMAT)
#undef FORMAT
};

/* --- options --- */

static const char *via_value(size_t number)
{
	static const char *const names[] = { "bpf", "module", "user" };

	return number < array_length(names) ? names[number] : NULL;
}

static const char *by_value(size_t number)
{
	return number < KSTATS_BY_COUNT ? kstats_bys[number].name : NULL;
}

static const char *format_word(size_t number)
{
	return number < KSTATS_FORMAT_COUNT ? kstats_format_names[number] : NULL;
}

static struct error *check_value(const char *what, const char *argument, option_values values)
{
	for (size_t i = 0; values(i); i++)
		if (strcmp(values(i), argument) == 0)
			return NULL;
	return unknown_value(what, argument, values);
}

static struct error *parse_via(const char *argument, void *at)
{
	*(const char **)at = argument;
	return check_value("recorder", argument, via_value);
}

/* 0 means that it was not given. */
static struct error *parse_pid(const char *argument, void *at)
{
	uint32_t pid;

	if (!text_u32(text_of(argument), &pid) || !pid || pid > INT32_MAX)
		return error_create("'%.40s' is not a process ID", argument);
	*(size_t *)at = pid;
	return NULL;
}

static struct error *parse_by(const char *argument, void *at)
{
	*(const char **)at = argument;
	return check_value("rows", argument, by_value);
}

static struct error *parse_format(const char *argument, void *at)
{
	struct error *err = check_value("format", argument, format_word);

	for (unsigned i = 0; !err && i < KSTATS_FORMAT_COUNT; i++)
		if (strcmp(kstats_format_names[i], argument) == 0)
			*(enum kstats_format *)at = i;
	return err;
}

static struct error *parse_objective(const char *argument, void *at)
{
	struct kstats_objectives *objectives = at;

	return array_push(objectives, argument) ? NULL : &error_no_memory;
}

static struct error *parse_condition(const char *argument, void *at)
{
	struct kstats_conditions *conditions = at;
	struct kstats_condition condition;
	struct error *err = kstats_condition_parse(argument, &condition);

	if (err)
		return err;
	if (array_push(conditions, condition))
		return NULL;
	kstats_condition_clear(&condition);
	return &error_no_memory;
}

/* --- verbs --- */

/* The privileges that root keeps to read files, to read metrics, to change them, and to create one.
 */
#define FILES   (PRIVILEGE_READ_FILES | PRIVILEGE_WRITE_FILES)
#define READING (PRIVILEGES_READ | PRIVILEGE_WRITE_FILES)
/* Waiting until no CPU runs a program creates a map (bpf/programs.h). Files of the module are
 * read-only by their mode. */
#define CHANGING (READING | PRIVILEGE_GROW_MAPS)
#define MAKING   (READING | PRIVILEGE_LOAD_PROGRAMS | PRIVILEGE_PROBE_FILES | PRIVILEGE_MOUNT)

/* VERB(id, name, operands, function, least and most operands, privileges, summary) */
/* clang-format off */
#define VERBS(VERB) \
	VERB(TRACE, "trace", KSTATS_GRAMMAR, kstats_trace, 1, INT32_MAX, MAKING, \
	     "create a metric and start it") \
	VERB(RUN, "run", KSTATS_GRAMMAR " -- COMMAND", kstats_run, 1, INT32_MAX, MAKING | CHANGING, \
	     "trace while a command runs, print, and check an SLO: for tests") \
	VERB(LIST, "list", "", kstats_list, 0, 0, READING, \
	     "list all metrics") \
	VERB(SHOW, "show", "NAME|FILE...", kstats_show, 1, INT32_MAX, READING, \
	     "print histograms and percentiles, once or live; check an SLO") \
	VERB(START, "start", "NAME...", kstats_order, 1, INT32_MAX, CHANGING, \
	     "resume recording") \
	VERB(STOP, "stop", "NAME...", kstats_order, 1, INT32_MAX, CHANGING, \
	     "stop recording, until start") \
	VERB(RESET, "reset", "NAME...", kstats_order, 1, INT32_MAX, CHANGING, \
	     "discard recorded values") \
	VERB(REMOVE, "remove", "NAME...", kstats_remove, 1, INT32_MAX, CHANGING, \
	     "remove a metric and its gaps") \
	VERB(SAVE, "save", "-o FILE [NAME...]", kstats_save, 0, INT32_MAX, READING, \
	     "write metrics with all buckets to a file") \
	VERB(MERGE, "merge", "-o FILE FILE...", kstats_merge, 1, INT32_MAX, FILES, \
	     "add files of several hosts or runs") \
	VERB(DIFF, "diff", "BEFORE AFTER -o FILE", kstats_diff, 2, 2, READING, \
	     "write what was recorded between two readings to a file") \
	VERB(COMPARE, "compare", "BEFORE AFTER", kstats_compare, 2, 2, FILES, \
	     "show how far each percentile moved, and whether by chance; fail on a change")

/* The place is not used. */
#define TERMINAL_OPTION(name, argument, parse, help, values) \
	OPTION(OF(SHOW) | OF(LIST) | OF(COMPARE), "show, list, compare", name, 0, argument, parse, via, help, values)

/* OPTION(verbs, their names, name, letter, argument, parser, place, help, values) */
#define KEY_HELP(id, name, prose) "; " name ": " prose
#define OPTIONS(OPTION) \
	OPTION(ANY, "all verbs", "via", 0, "RECORDER", parse_via, via, \
	  "Select the recorder: bpf (the default of trace) or module (kmod/kstats.ko). By default, " \
	  "the other verbs search both for a name, and programs with libkstats for PID:NAME.", \
	  via_value) \
	OPTION(OF(SAVE) | OF(MERGE) | OF(DIFF) | OF(RUN), "save, merge, diff, run", "output", 'o', "FILE", parse_string, output, \
	  "The output file.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "key", 'k', "KEY", parse_string, recording.key, \
	  "The start that an end is paired with (default task)" KSTATS_KEYS(KEY_HELP) ".", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "by", 'b', "ROWS", parse_by, recording.by, \
	  "Keep one histogram for each cpu (the default), process, cgroup, thread, or retval " \
	  "(returned value).", by_value) \
	OPTION(OF(TRACE), "trace", "pid", 'p', "PID", parse_pid, recording.pid, \
	  "Record only this process.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "cgroup", 'c', "PATH", parse_string, recording.cgroup, \
	  "Record only threads in this cgroup and its descendants.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "comm", 0, "NAME", parse_string, recording.comm, \
	  "Record only threads with this name.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "cpus", 0, "LIST", parse_string, recording.cpus, \
	  "Record only on these CPUs (0-3,7).", NULL) \
	OPTION(OF(RUN), "run", "only-command", 0, NULL, parse_flag, running.only_command, \
	  "Record only the process of the command, not its children nor others. By default, the " \
	  "whole host is recorded.", NULL) \
	OPTION(OF(TRACE), "trace", "stopped", 0, NULL, parse_flag, recording.is_stopped, \
	  "Record nothing until kstats start.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "force-uretprobe", 0, NULL, parse_flag, \
	  recording.forces_returns, \
	  "Allow uretprobe in Go programs. They crash when the runtime moves a stack.", NULL) \
	OPTION(OF(SHOW) | OF(RUN) | OF(LIST) | OF(COMPARE), "show, run, list, compare", "format", 'f', "FORMAT", \
	  parse_format, showing.format, \
	  "The format: text, json or csv; with show and run also openmetrics, and kstats (the line format " \
	  "of the kernel module, for awk).", format_word) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "rows", 'r', NULL, parse_flag, showing.rows, \
	  "Add a line for each CPU, process, cgroup or value, most values first; with --all-slots " \
	  "or --format openmetrics, a histogram each.", NULL) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "all", 0, NULL, parse_flag, showing.all_rows, \
	  "With --rows: all rows, and not the ten with most values only.", NULL) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "all-slots", 'a', NULL, parse_flag, showing.all_slots, \
	  "Print every nonempty bucket. By default, buckets are merged to fit a screen.", NULL) \
	OPTION(OF(SHOW), "show", "interval", 'i', "TIME", parse_duration, showing.interval_ns, \
	  "Print one line of a heat map per TIME (1s), until interrupted.", NULL) \
	OPTION(OF(SHOW), "show", "count", 'n', "NUMBER", parse_size, showing.count, \
	  "With --interval: stop after NUMBER intervals.", NULL) \
	OPTION(OF(SHOW), "show", "heat", 0, "FILE", parse_string, showing.heat, \
	  "With --interval: also write the heat map to FILE, as SVG, at the end.", NULL) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "slo", 0, "OBJECTIVE", parse_objective, showing.objectives, \
	  "Check an SLO: 'p99<50us', 'max<=1ms', 'mean<3us', 'count>100', 'lost<1'. The exit " \
	  "status is 0 if it was met, 3 if not, and 4 if it is undecided: the limit is within a " \
	  "bucket, or nothing was recorded. May be given more than once.", NULL) \
	OPTION(OF(COMPARE), "compare", "fail-if", 0, "EXPR", parse_condition, conditions, \
	  "Exit with 3 if a change meets the condition [NAME:]QUANTITY > AMOUNT (or >= < <=), e.g. " \
	  "'p99 > 10%' or 'read*:max > 5ms'; with 4 if this is undecided. May be given more than " \
	  "once.", NULL) \
	TERMINAL_CHOICES(TERMINAL_OPTION)
/* clang-format on */

enum verb_id {
#define VERB(id, ...) VERB_##id,
	VERBS(VERB)
#undef VERB
		VERB_COUNT
};

static const struct verb {
	const char *name, *operands, *summary;
	kstats_verb *run;
	int least, most;
	unsigned privileges;
} verbs[VERB_COUNT] = {
#define VERB(id, name, operands, run, least, most, privileges, summary) \
	{ name, operands, summary, run, least, most, privileges },
	VERBS(VERB)
#undef VERB
};

#define OF(verb) (1u << VERB_##verb)
#define ANY      ((1u << VERB_COUNT) - 1)

/* The verbs that take each option. */
static const struct option_use {
	unsigned verbs;
	const char *names, *help; /* help: without the verbs */
} uses[] = {
#define OPTION(verbs, names, name, letter, argument, parse, member, help, values) \
	{ verbs, names, help },
	OPTIONS(OPTION)
#undef OPTION
};

static const struct option_row kstats_options[] = {
#define OPTION(verbs, names, name, letter, argument, parse, member, help, values) \
	{ name,                                                                   \
	  letter,                                                                 \
	  argument,                                                               \
	  parse,                                                                  \
	  offsetof(struct kstats_arguments, member),                              \
	  help " (" names ")",                                                    \
	  values,                                                                 \
	  false },
	OPTIONS(OPTION)
#undef OPTION
};

static bool are_files(char **words, int count)
{
	for (int i = 0; i < count; i++)
		if (!kstats_is_file(words[i]))
			return false;
	return true;
}

/* Metrics that BPF records belong to root, and a program's metric to the user of that program:
 * privileges from exec give access to neither. */
static struct error *drop_privileges(enum verb_id verb, char **words, int count)
{
	const bool is_of_files = verb == VERB_SHOW && are_files(words, count);

	return privileges_keep(privileges_are_from_exec() ? 0
			       : is_of_files              ? FILES
							  : verbs[verb].privileges);
}

struct error *kstats_keep_privileges(void)
{
	memory_limit_set();
	return drop_privileges(VERB_RUN, NULL, 0);
}

static const char *verb_value(size_t number)
{
	return number < VERB_COUNT ? verbs[number].name : NULL;
}

/* --- the arguments of a verb --- */

/* Reject options that have no effect in this mode. */
static struct error *check_showing(const struct kstats_showing *s)
{
	if (s->heat && !s->interval_ns)
		return error_create("--heat requires --interval");
	if (s->count && !s->interval_ns)
		return error_create("--count requires --interval");
	/* They would look like values recorded since its creation. */
	if (s->interval_ns &&
	    (s->format == KSTATS_FORMAT_OPENMETRICS || s->format == KSTATS_FORMAT_V3))
		return error_create("--interval does not support --format %s: use text, json or "
				    "csv",
				    kstats_format_names[s->format]);
	if (s->interval_ns && s->format == KSTATS_FORMAT_TEXT && (s->rows || s->all_slots))
		return error_create("--interval cannot be combined with --rows or --all-slots");
	if (s->interval_ns && s->heat && s->format != KSTATS_FORMAT_TEXT)
		return error_create("--heat requires --format text");
	return NULL;
}

static struct error *check_arguments(enum verb_id verb, const struct kstats_arguments *a, int words)
{
	const enum kstats_format format = a->showing.format;

	if ((verb == VERB_SAVE || verb == VERB_MERGE || verb == VERB_DIFF) && !a->output)
		return error_create("%s requires -o FILE", verbs[verb].name);
	if (words && !verbs[verb].most)
		return error_create("%s takes no names; use kstats show NAME|FILE",
				    verbs[verb].name);
	if (words < verbs[verb].least || words > verbs[verb].most)
		return error_create("kstats %s %s", verbs[verb].name, verbs[verb].operands);
	if (verb == VERB_RUN && !a->running.command)
		return error_create("missing command: kstats run %s", verbs[verb].operands);
	if (verb != VERB_SHOW && verb != VERB_RUN &&
	    (format == KSTATS_FORMAT_V3 || format == KSTATS_FORMAT_OPENMETRICS))
		return error_create("%s supports --format text, json and csv", verbs[verb].name);
	return check_showing(&a->showing);
}

/* Is this word, before any "--", an option of that row? Values of options are taken for options
 * too, if they look so. */
static bool is_option(const char *word, const struct option_row *row)
{
	const size_t length = strlen(row->name);

	if (word[0] != '-')
		return false;
	if (word[1] != '-')
		return row->letter && word[1] == row->letter;
	return strncmp(word + 2, row->name, length) == 0 &&
	       (!word[2 + length] || word[2 + length] == '=');
}

/* An option that only other verbs take. */
static struct error *check_options(enum verb_id verb, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		for (size_t o = 0; o < array_length(uses); o++)
			if (!(uses[o].verbs & 1u << verb) && is_option(argv[i], &kstats_options[o]))
				return error_create("--%s is an option of kstats %s: %s does not "
						    "take it",
						    kstats_options[o].name, uses[o].names,
						    verbs[verb].name);
	return NULL;
}

/* --- words of trace --- */

static const struct {
	const char *words, *prose;
} grammar[] = {
	{ "NAME", "The name of the metric: letters, digits, _ and -. Without start, it is also the "
		  "function to measure." },
	{ "bits B",
	  "0 to 5 (default 3): each power of two is divided into 2^B buckets, so the relative "
	  "error is at most 1/2^B." },
	{ "start X", "The probe at which the measured time starts." },
	{ "end Y",
	  "The probe at which it ends. By default, the time from the call of X to its return is "
	  "measured, and a second metric GAP-NAME measures from the end of X to its next start "
	  "(not with --key argN, and not for goroutines)." },
};

static bool grammar_row(size_t number, const char **ret_words, const char **ret_prose)
{
	if (number >= array_length(grammar))
		return false;
	*ret_words = grammar[number].words;
	*ret_prose = grammar[number].prose;
	return true;
}

/* --- help --- */

static bool verb_row(size_t number, const char **ret_words, const char **ret_prose)
{
	if (number > VERB_COUNT)
		return false;
	*ret_words = number < VERB_COUNT ? verbs[number].name : "VERB --help";
	*ret_prose = number < VERB_COUNT ? verbs[number].summary : "show the options of a verb";
	return true;
}

static const struct help_section kstats_sections[] = {
	{ "Verbs", verb_row, true },
	{ "Words of trace", grammar_row, false },
	{ "Probes", kstats_location_form, false },
};

/* The last sections are those of verbs that create metrics. */
#define MAKING_SECTIONS (kstats_sections + 1)
#define MAKING_COUNT    (array_length(kstats_sections) - 1)

/* A verb as a command of its own: with its options only. */
struct verb_command {
	struct command command;
	struct option_row options[array_length(kstats_options)];
	char name[40];
};

static void describe_verb(enum verb_id verb, struct verb_command *ret)
{
	const bool makes = verb == VERB_TRACE || verb == VERB_RUN;
	size_t count = 0;

	for (size_t o = 0; o < array_length(uses); o++) {
		if (!(uses[o].verbs & 1u << verb))
			continue;
		ret->options[count] = kstats_options[o];
		ret->options[count++].help = uses[o].help;
	}
	snprintf(ret->name, sizeof(ret->name), "%s %s", kstats_command.name, verbs[verb].name);
	ret->command = (struct command){
		.name = ret->name,
		.summary = verbs[verb].summary,
		.operands = verbs[verb].operands,
		.operands_most = INT32_MAX, /* check_arguments() knows more about them */
		.needs = makes ? kstats_command.needs : "",
		.options = ret->options,
		.option_count = count,
		.sections = makes ? MAKING_SECTIONS : NULL,
		.section_count = makes ? MAKING_COUNT : 0,
	};
}

/* --- the command --- */

static int run_verb(const struct command *command, enum verb_id verb,
		    const struct kstats_arguments *arguments, char **words, int count)
{
	int status = STATUS_DONE;
	struct error *err = check_arguments(verb, arguments, count);

	if (err)
		return usage_error(command, err);
	/* The command of run has the privileges and limits of our caller. */
	if (verb != VERB_RUN) {
		memory_limit_set();
		err = drop_privileges(verb, words, count);
	}
	if (err)
		return report_error(err, STATUS_FAILED);
	/* With the verb itself before its words. */
	err = verbs[verb].run(arguments, words, &status);
	if (err && status == STATUS_USAGE)
		return usage_error(command, err);
	if (err)
		return report_error(err, status < STATUS_RUN_FAILED ? STATUS_FAILED : status);
	return status;
}

/* 2 and 1 are for commands to say. */
static int status_of_run(int status)
{
	return status == STATUS_USAGE ? STATUS_RUN_FAILED : status;
}

/* Cut the command line at the first "--": the rest is a command to run. */
static int cut_command(int argc, char **argv, char ***ret)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			*ret = i + 1 < argc ? argv + i + 1 : NULL;
			argv[i] = NULL;
			return i;
		}
	return argc;
}

/* The verb stands first: its options are the only ones. */
static int run_first_word(enum verb_id verb, int argc, char **argv,
			  struct kstats_arguments *arguments)
{
	struct verb_command as = { 0 };
	struct error *err = NULL;
	int status, first;

	describe_verb(verb, &as);
	if (verb == VERB_RUN)
		argc = cut_command(argc, argv, &arguments->running.command);
	err = check_options(verb, argc, argv);
	if (err)
		return usage_error(&as.command, err);
	first = options_parse(&as.command, argc, argv, arguments, &status);
	if (first < 0)
		return status;
	/* Options may stand where the verb stood. */
	argv[first - 1] = (char *)(uintptr_t)verbs[verb].name;
	return run_verb(&as.command, verb, arguments, argv + first, argc - first);
}

/* Options stand before the verb. */
static int run_after_options(const struct command *command, int argc, char **argv,
			     struct kstats_arguments *arguments)
{
	int status, first = options_parse(command, argc, argv, arguments, &status);
	size_t verb;
	struct error *err;

	if (first < 0)
		return status;
	verb = option_value(argv[first], verb_value);
	if (verb == VERB_COUNT)
		return usage_error(command, unknown_value("verb", argv[first], verb_value));
	err = check_options(verb, first, argv);
	if (!err && verb == VERB_RUN)
		err = error_create("run comes first, then its options");
	return err ? usage_error(command, err)
		   : run_verb(command, verb, arguments, argv + first + 1, argc - first - 1);
}

static int run_kstats(const struct command *command, int argc, char **argv)
{
	const size_t verb = argc > 1 ? option_value(argv[1], verb_value) : VERB_COUNT;
	struct kstats_arguments arguments = { 0 };
	int status;

	if (verb < VERB_COUNT)
		status = run_first_word(verb, argc - 1, argv + 1, &arguments);
	else
		status = run_after_options(command, argc, argv, &arguments);
	array_deinit(&arguments.showing.objectives);
	for (size_t i = 0; i < arguments.conditions.count; i++)
		kstats_condition_clear(&arguments.conditions.items[i]);
	array_deinit(&arguments.conditions);
	return verb == VERB_RUN ? status_of_run(status) : status;
}

const struct command kstats_command = {
	.name = "kstats",
	.run = run_kstats,
	.summary = "record latency histograms of functions, tracepoints and programs",
	.operands = "VERB [WORDS]",
	.operands_least = 1,
	.operands_most = INT32_MAX,
	.needs = "root to trace; none to show files",
	.drops_privileges = true,
	.examples = { "sudo ctprof kstats trace vfs_read",
		      "sudo ctprof kstats show vfs_read --interval 1s" },
	.options = kstats_options,
	.option_count = array_length(kstats_options),
	.sections = kstats_sections,
	.section_count = array_length(kstats_sections),
};
