/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/kstats_verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "kstats/bpf_location.h"

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

const struct kstats_verb_row kstats_verbs[VERB_COUNT] = {
#define VERB(id, name, operands, run, least, most, privileges, summary) \
	{ name, operands, summary, run, least, most, privileges },
	KSTATS_VERBS(VERB)
#undef VERB
};

const char *kstats_verb_name(size_t number)
{
	return number < VERB_COUNT ? kstats_verbs[number].name : NULL;
}

static const char *const examples[VERB_COUNT][EXAMPLES_MAX] = {
	[VERB_TRACE] = { "sudo ctprof kstats trace reads start syscall:read",
			 "sudo ctprof kstats trace query start uprobe:./server:run_query --by "
			 "thread",
			 "sudo ctprof kstats trace gc start usdt:./app:vm:begin end "
			 "usdt:./app:vm:end" },
	[VERB_RUN] = { "sudo ctprof kstats run fsync start syscall:fsync --slo 'p99<5ms' -- make "
		       "check" },
	[VERB_LIST] = { "sudo ctprof kstats list" },
	[VERB_SHOW] = { "sudo ctprof kstats show reads",
			"sudo ctprof kstats show reads --interval 1s --count 60 --heat reads.svg",
			"ctprof kstats show saved.kstats.zst --slo 'p99<50us'" },
	[VERB_START] = { "sudo ctprof kstats start reads" },
	[VERB_STOP] = { "sudo ctprof kstats stop reads" },
	[VERB_RESET] = { "sudo ctprof kstats reset reads",
			 "ctprof kstats reset 4711:request_times" },
	[VERB_REMOVE] = { "sudo ctprof kstats remove reads" },
	[VERB_SAVE] = { "sudo ctprof kstats save -o before.kstats.zst" },
	[VERB_MERGE] = { "ctprof kstats merge -o all.kstats.zst host1.kstats.zst "
			 "host2.kstats.zst" },
	[VERB_DIFF] = { "ctprof kstats diff before.kstats.zst after.kstats.zst -o "
			"between.kstats.zst" },
	[VERB_COMPARE] = { "ctprof kstats compare before.kstats.zst after.kstats.zst",
			   "ctprof kstats compare old.kstats.zst new.kstats.zst --fail-if 'p99 > "
			   "20%'" },
};

/* --- the options of each verb --- */

#define OF(verb) (1u << VERB_##verb)
#define ANY      ((1u << VERB_COUNT) - 1)

/* The place is not used. */
/* clang-format off */
#define TERMINAL_OPTION(name, argument, parse, help, values) \
	OPTION(OF(SHOW) | OF(LIST) | OF(COMPARE), "show, list, compare", name, 0, argument, parse, via, 0, help, values)

/* The help of a verb has the first clause of each sentence, and values where they fit. */
/* OPTION(verbs, their names, name, letter, argument, parser, place, flags, help, values) */
#define KEY_HELP(id, name, prose) "; " name ": " prose
#define OPTIONS(OPTION) \
	OPTION(ANY, "all verbs", "via", 0, "RECORDER", parse_via, via, 0, \
	  "Use only this recorder. By default, trace and run use bpf, and the other verbs search " \
	  "bpf and module (kmod/kstats.ko) for a name, and programs with libkstats for PID:NAME.", \
	  via_value) \
	OPTION(OF(SAVE) | OF(MERGE) | OF(DIFF) | OF(RUN), "save, merge, diff, run", "output", 'o', "FILE", \
	  parse_string, output, OPTION_COMMON, \
	  "The output file.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "key", 'k', "KEY", parse_string, recording.key, OPTION_COMMON, \
	  "Pair each end with a start by task, cpu or argN (default task)" KSTATS_KEYS(KEY_HELP) ".", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "by", 'b', "ROWS", parse_by, recording.by, OPTION_COMMON, \
	  "Split by cpu, process, cgroup, thread or retval (returned value): a histogram for each, by " \
	  "default for each cpu.", by_value) \
	OPTION(OF(TRACE), "trace", "pid", 'p', "PID", parse_pid, recording.pid, OPTION_COMMON, \
	  "Record only this process.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "cgroup", 'c', "PATH", parse_string, recording.cgroup, OPTION_COMMON, \
	  "Record only threads in this cgroup and its descendants.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "comm", 0, "NAME", parse_string, recording.comm, OPTION_COMMON, \
	  "Record only threads with this name.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "cpus", 0, "LIST", parse_string, recording.cpus, 0, \
	  "Record only on these CPUs (0-3,7).", NULL) \
	OPTION(OF(RUN), "run", "only-command", 0, NULL, parse_flag, running.only_command, OPTION_COMMON, \
	  "Record only the process of the command, not its children nor others. By default, the " \
	  "whole host is recorded.", NULL) \
	OPTION(OF(TRACE), "trace", "stopped", 0, NULL, parse_flag, recording.is_stopped, 0, \
	  "Record nothing until kstats start.", NULL) \
	OPTION(OF(TRACE) | OF(RUN), "trace, run", "force-uretprobe", 0, NULL, parse_flag, \
	  recording.forces_returns, 0, \
	  "Allow uretprobe in Go programs. They crash when the runtime moves a stack.", NULL) \
	OPTION(OF(SHOW) | OF(RUN) | OF(LIST) | OF(COMPARE), "show, run, list, compare", "format", 'f', "FORMAT", \
	  parse_format, showing.format, OPTION_COMMON, \
	  "The format: text, json or csv; with show and run also openmetrics, and kstats (the line format " \
	  "of the kernel module, for awk).", format_word) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "rows", 'r', NULL, parse_flag, showing.rows, OPTION_COMMON, \
	  "Add a line for each CPU, process, cgroup or value, most values first; with --all-buckets " \
	  "or --format openmetrics, a histogram each.", NULL) \
	OPTION(OF(SHOW) | OF(RUN) | OF(COMPARE), "show, run, compare", "all", 0, NULL, parse_flag, showing.all_rows, 0, \
	  "Print all of it: with --rows, not only the ten rows with most values; of compare, all " \
	  "metrics in full, and not only the two that changed most.", NULL) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "all-buckets", 'a', NULL, parse_flag, showing.all_buckets, OPTION_COMMON, \
	  "Print every nonempty bucket. By default, buckets are merged to fit a screen.", NULL) \
	OPTION(OF(SHOW), "show", "interval", 'i', "TIME", parse_duration, showing.interval_ns, OPTION_COMMON, \
	  "Print one line of a heat map per TIME (1s), until interrupted.", NULL) \
	OPTION(OF(SHOW), "show", "count", 'n', "NUMBER", parse_size, showing.count, OPTION_COMMON, \
	  "With --interval: stop after NUMBER intervals.", NULL) \
	OPTION(OF(SHOW), "show", "heat", 0, "FILE", parse_string, showing.heat, OPTION_COMMON, \
	  "With --interval: also write the heat map to FILE, as SVG, at the end.", NULL) \
	OPTION(OF(SHOW) | OF(RUN), "show, run", "slo", 0, "OBJECTIVE", parse_objective, showing.objectives, OPTION_COMMON, \
	  "Check an objective such as 'p99<50us' (also 'max<=1ms', 'mean<3us', 'count>100', " \
	  "'lost<1'). The exit status is 0 if it was met, 3 if not, and 4 if it is undecided: the " \
	  "limit is within a bucket, or nothing was recorded. May be given more than once.", NULL) \
	OPTION(OF(COMPARE), "compare", "fail-if", 0, "EXPR", parse_condition, conditions, OPTION_COMMON, \
	  "Exit with 3 if a change meets EXPR, such as 'p99 > 10%' ([NAME:]QUANTITY > AMOUNT, or >= < <=; " \
	  "e.g. 'read*:max > 5ms'); with 4 if this is undecided. May be given more than once.", NULL) \
	TERMINAL_CHOICES(TERMINAL_OPTION)
/* clang-format on */

/* The verbs that take each option. */
static const struct option_use {
	unsigned verbs;
	const char *names, *help; /* help: without the verbs */
} uses[] = {
#define OPTION(verbs, names, name, letter, argument, parse, member, flags, help, values) \
	{ verbs, names, help },
	OPTIONS(OPTION)
#undef OPTION
};

static const struct option_row options[] = {
#define OPTION(verbs, names, name, letter, argument, parse, member, flags, help, values) \
	{ name,                                                                          \
	  letter,                                                                        \
	  argument,                                                                      \
	  parse,                                                                         \
	  offsetof(struct kstats_arguments, member),                                     \
	  help " (" names ")",                                                           \
	  values,                                                                        \
	  flags },
	OPTIONS(OPTION)
#undef OPTION
};

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
struct error *kstats_check_options(enum kstats_verb_id verb, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		for (size_t o = 0; o < array_length(uses); o++)
			if (!(uses[o].verbs & 1u << verb) && is_option(argv[i], &options[o]))
				return error_create("--%s is an option of kstats %s: %s does not "
						    "take it",
						    options[o].name, uses[o].names,
						    kstats_verbs[verb].name);
	return NULL;
}

/* --- words of trace --- */

static const struct {
	const char *words, *prose;
} grammar[] = {
	{ "NAME", "The name of the metric: letters, digits, _ and -. Without start, it is also the "
		  "function to measure." },
	{ "bits B",
	  "Divide each power of two into 2^B buckets, 0 to 5 (default 3), so the relative error is "
	  "at most 1/2^B." },
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
	*ret_words = number < VERB_COUNT ? kstats_verbs[number].name : "VERB --help";
	*ret_prose = number < VERB_COUNT ? kstats_verbs[number].summary
					 : "show the options of a verb, and examples";
	return true;
}

static const struct help_section sections[] = {
	{ "Verbs", verb_row, true, true },
	{ "Words of trace", grammar_row, false, false },
	{ "Probes", kstats_location_form, false, false },
};

/* The help of trace and run, which create metrics. */
static const struct help_section making_sections[] = {
	{ "Words of trace", grammar_row, false, true },
	{ "Probes", kstats_location_form, false, false },
};

/* The formats of reports that are tables: of `list` and `compare`. */
static const char *table_format_word(size_t number)
{
	static const enum kstats_format formats[] = { KSTATS_FORMAT_TEXT, KSTATS_FORMAT_JSON,
						      KSTATS_FORMAT_CSV };

	return number < array_length(formats) ? kstats_format_names[formats[number]] : NULL;
}

void kstats_describe_verb(enum kstats_verb_id verb, struct kstats_verb_command *ret)
{
	const bool makes = verb == VERB_TRACE || verb == VERB_RUN;
	const bool is_table = verb == VERB_LIST || verb == VERB_COMPARE;
	size_t count = 0;

	_Static_assert(array_length(options) <= KSTATS_OPTIONS_MAX, "all of them have room");
	for (size_t o = 0; o < array_length(uses); o++) {
		struct option_row *row = &ret->options[count];

		if (!(uses[o].verbs & 1u << verb))
			continue;
		*row = options[o];
		row->help = uses[o].help;
		if (is_table && row->values == format_word)
			row->values = table_format_word;
		count++;
	}
	snprintf(ret->name, sizeof(ret->name), "%s %s", kstats_command.name,
		 kstats_verbs[verb].name);
	ret->command = (struct command){
		.name = ret->name,
		.summary = kstats_verbs[verb].summary,
		.operands = kstats_verbs[verb].operands,
		.operands_most = INT32_MAX, /* the verb knows more about them */
		.needs = makes ? kstats_command.needs : "",
		.options = ret->options,
		.option_count = count,
		.sections = makes ? making_sections : NULL,
		.section_count = makes ? array_length(making_sections) : 0,
		.details = "'man ctprof-kstats' or 'ctprof kstats --help'",
	};
	memcpy(ret->command.examples, examples[verb], sizeof(examples[verb]));
}

const struct command kstats_command = {
	.name = "kstats",
	.run = kstats_run_command,
	.summary = "record latency histograms of functions, tracepoints and programs",
	.operands = "VERB [WORDS]",
	.operands_least = 1,
	.operands_most = INT32_MAX,
	.needs = "root to trace; none to show files",
	.drops_privileges = true,
	.examples = { "sudo ctprof kstats trace reads start syscall:read",
		      "sudo ctprof kstats show reads --interval 1s" },
	.options = options,
	.option_count = array_length(options),
	.sections = sections,
	.section_count = array_length(sections),
};
