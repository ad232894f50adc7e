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
	struct {
		ARRAY(const char *);
	} *objectives = at;

	return array_push(objectives, argument) ? NULL : &error_no_memory;
}

#define AT(member)                offsetof(struct kstats_arguments, member)
#define RECORDED(member)          AT(recording.member)
#define SHOWN(member)             AT(showing.member)

#define KEY_HELP(id, name, prose) "; " name ": " prose

static const struct option_row kstats_options[] = {
	{ "via", 0, "RECORDER", parse_via, AT(via),
	  "Select the recorder: bpf (the default of trace) or module (kmod/kstats.ko). By default, "
	  "the other commands search both for a name, and programs with libkstats for PID:NAME.",
	  via_value, false },
	{ "output", 'o', "FILE", parse_string, AT(output), "With save and merge: the output file.",
	  NULL, false },
	{ "key", 'k', "KEY", parse_string, RECORDED(key),
	  "With trace: the start that an end is paired with (default task)" KSTATS_KEYS(
		  KEY_HELP) ".",
	  NULL, false },
	{ "by", 'b', "ROWS", parse_by, RECORDED(by),
	  "With trace: keep one histogram for each cpu (the default), process, cgroup, thread, or "
	  "retval (returned value).",
	  by_value, false },
	{ "pid", 'p', "PID", parse_pid, RECORDED(pid), "With trace: record only this process.",
	  NULL, false },
	{ "cgroup", 'c', "PATH", parse_string, RECORDED(cgroup),
	  "With trace: record only threads in this cgroup and its descendants.", NULL, false },
	{ "comm", 0, "NAME", parse_string, RECORDED(comm),
	  "With trace: record only threads with this name.", NULL, false },
	{ "cpus", 0, "LIST", parse_string, RECORDED(cpus),
	  "With trace: record only on these CPUs (0-3,7).", NULL, false },
	{ "stopped", 0, NULL, parse_flag, RECORDED(is_stopped),
	  "With trace: record nothing until kstats start.", NULL, false },
	{ "force-uretprobe", 0, NULL, parse_flag, RECORDED(forces_returns),
	  "With trace: allow uretprobe in Go programs. They crash when the runtime moves a stack.",
	  NULL, false },
	{ "format", 'f', "FORMAT", parse_format, SHOWN(format),
	  "With show and list: text, json or csv; with show also openmetrics, and kstats (the line "
	  "format of the kernel module, for awk).",
	  format_word, false },
	{ "rows", 'r', NULL, parse_flag, SHOWN(rows),
	  "With show: add a line for each CPU, process, cgroup or value, most values first; with "
	  "--all-slots or --format openmetrics, a histogram each.",
	  NULL, false },
	{ "all-slots", 'a', NULL, parse_flag, SHOWN(all_slots),
	  "With show: print every nonempty bucket. By default, buckets are merged to fit a screen.",
	  NULL, false },
	{ "interval", 'i', "TIME", parse_duration, SHOWN(interval_ns),
	  "With show: print one line of a heat map per TIME (1s), until interrupted.", NULL,
	  false },
	{ "count", 'n', "NUMBER", parse_size, SHOWN(count),
	  "With show --interval: stop after NUMBER intervals.", NULL, false },
	{ "heat", 0, "FILE", parse_string, SHOWN(heat),
	  "With show --interval: also write the heat map to FILE, as SVG, at the end.", NULL,
	  false },
	{ "slo", 0, "OBJECTIVE", parse_objective, SHOWN(objectives),
	  "With show: check an SLO: 'p99<50us', 'max<=1ms', 'mean<3us', 'count>100', 'lost<1'. The "
	  "exit status is 0 if it was met, 3 if not, and 4 if it is undecided: the limit is within "
	  "a bucket, or nothing was recorded. May be given more than once.",
	  NULL, false },
};

/* --- verbs --- */

enum asks { ASKS_RECORDING = 1, ASKS_SHOWING = 2, ASKS_OUTPUT = 4 };

/* The privileges that root keeps to read files, to read metrics, to change them, and to create one.
 */
#define FILES   (PRIVILEGE_READ_FILES | PRIVILEGE_WRITE_FILES)
#define READING (PRIVILEGES_READ | PRIVILEGE_WRITE_FILES)
/* Waiting until no CPU runs a program creates a map (bpf/programs.h). Files of the module are
 * read-only by their mode. */
#define CHANGING (READING | PRIVILEGE_GROW_MAPS)
#define MAKING   (READING | PRIVILEGE_LOAD_PROGRAMS | PRIVILEGE_PROBE_FILES | PRIVILEGE_MOUNT)

static const struct {
	const char *name, *operands;
	kstats_verb *run;
	int least, most;
	unsigned asks, privileges;
} verbs[] = {
	{ "trace", KSTATS_GRAMMAR, kstats_trace, 1, INT32_MAX, ASKS_RECORDING, MAKING },
	{ "list", "", kstats_list, 0, 0, ASKS_SHOWING, READING },
	{ "show", "NAME|FILE...", kstats_show, 1, INT32_MAX, ASKS_SHOWING, READING },
	{ "start", "NAME...", kstats_order, 1, INT32_MAX, 0, CHANGING },
	{ "stop", "NAME...", kstats_order, 1, INT32_MAX, 0, CHANGING },
	{ "reset", "NAME...", kstats_order, 1, INT32_MAX, 0, CHANGING },
	{ "remove", "NAME...", kstats_remove, 1, INT32_MAX, 0, CHANGING },
	{ "save", "-o FILE [NAME...]", kstats_save, 0, INT32_MAX, ASKS_OUTPUT, READING },
	{ "merge", "-o FILE FILE...", kstats_merge, 1, INT32_MAX, ASKS_OUTPUT, FILES },
	{ "compare", "BEFORE AFTER", kstats_compare, 2, 2, 0, FILES },
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
static struct error *drop_privileges(size_t verb, char **words, int count)
{
	const bool is_of_files = verbs[verb].run == kstats_show && are_files(words, count);

	return privileges_keep(privileges_are_from_exec() ? 0
			       : is_of_files              ? FILES
							  : verbs[verb].privileges);
}

static const char *verb_value(size_t number)
{
	return number < array_length(verbs) ? verbs[number].name : NULL;
}

static bool is_zero(const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((const char *)bytes)[i])
			return false;
	return true;
}

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

/* Options that belong to other verbs, and words that are too few or too many. */
static struct error *check_arguments(size_t verb, const struct kstats_arguments *a, int words)
{
	if (!(verbs[verb].asks & ASKS_RECORDING) && !is_zero(&a->recording, sizeof(a->recording)))
		return error_create("%s does not take the options of trace (--key, --by, --pid, "
				    "--cgroup, --comm, --cpus, --stopped, --force-uretprobe)",
				    verbs[verb].name);
	if (!(verbs[verb].asks & ASKS_SHOWING) && !is_zero(&a->showing, sizeof(a->showing)))
		return error_create("%s does not take the options of show (--format, --rows, "
				    "--interval, --slo and others)",
				    verbs[verb].name);
	if (!(verbs[verb].asks & ASKS_OUTPUT) != !a->output)
		return a->output ? error_create("%s does not take -o: it writes no file",
						verbs[verb].name)
				 : error_create("%s requires -o FILE", verbs[verb].name);
	if (words && !verbs[verb].most)
		return error_create("%s takes no names; use kstats show NAME|FILE",
				    verbs[verb].name);
	if (words < verbs[verb].least || words > verbs[verb].most)
		return error_create("kstats %s %s", verbs[verb].name, verbs[verb].operands);
	return check_showing(&a->showing);
}

static int run_verb(const struct command *command, const struct kstats_arguments *arguments,
		    char **words, int count)
{
	int status = STATUS_DONE;
	struct error *err;

	for (size_t verb = 0; verb < array_length(verbs); verb++) {
		if (strcmp(words[0], verbs[verb].name) != 0)
			continue;
		err = check_arguments(verb, arguments, count - 1);
		if (err)
			return usage_error(command, err);
		memory_limit_set();
		err = drop_privileges(verb, words + 1, count - 1);
		if (err)
			return report_error(err, STATUS_FAILED);
		/* With the verb itself before its words. */
		err = verbs[verb].run(arguments, words + 1, &status);
		if (err && status == STATUS_USAGE)
			return usage_error(command, err);
		return err ? report_error(err, STATUS_FAILED) : status;
	}
	return usage_error(command, unknown_value("verb", words[0], verb_value));
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

static const struct help_section kstats_sections[] = {
	{ "Words of trace", grammar_row },
	{ "Probes", kstats_location_form },
};

static int run_kstats(const struct command *command, int argc, char **argv)
{
	struct kstats_arguments arguments = { 0 };
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	if (first >= 0)
		status = run_verb(command, &arguments, argv + first, argc - first);
	array_deinit(&arguments.showing.objectives);
	return status;
}

const struct command kstats_command = {
	.name = "kstats",
	.run = run_kstats,
	.summary = "record latency histograms of functions, tracepoints and programs",
	.operands = "trace|list|show|start|stop|reset|remove|save|merge|compare [WORDS]",
	.operands_least = 1,
	.operands_most = INT32_MAX,
	.needs = "root to trace; none to show files",
	.drops_privileges = true,
	.options = kstats_options,
	.option_count = array_length(kstats_options),
	.sections = kstats_sections,
	.section_count = array_length(kstats_sections),
};
