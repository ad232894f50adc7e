/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: latency histograms of functions, tracepoints and programs.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/reading.h"
#include "cmd/kstats_verbs.h"
#include "security/memory_limit.h"
#include "security/privileges.h"

static bool are_files(char **words, int count)
{
	for (int i = 0; i < count; i++)
		if (!kstats_is_file(words[i]))
			return false;
	return true;
}

/* Metrics that BPF records belong to root, and a program's metric to the user of that program:
 * privileges from exec give access to neither. */
static struct error *drop_privileges(enum kstats_verb_id verb, char **words, int count)
{
	const bool is_of_files = verb == VERB_SHOW && are_files(words, count);

	return privileges_keep(privileges_are_from_exec() ? 0
			       : is_of_files              ? KSTATS_FILES
							  : kstats_verbs[verb].privileges);
}

struct error *kstats_keep_privileges(void)
{
	memory_limit_set();
	return drop_privileges(VERB_RUN, NULL, 0);
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
	if (s->interval_ns && s->format == KSTATS_FORMAT_TEXT && (s->rows || s->all_buckets))
		return error_create("--interval cannot be combined with --rows or --all-buckets");
	if (s->interval_ns && s->heat && s->format != KSTATS_FORMAT_TEXT)
		return error_create("--heat requires --format text");
	return NULL;
}

static struct error *check_arguments(enum kstats_verb_id verb, const struct kstats_arguments *a,
				     int words)
{
	const enum kstats_format format = a->showing.format;

	if ((verb == VERB_SAVE || verb == VERB_MERGE || verb == VERB_DIFF) && !a->output)
		return error_create("%s requires -o FILE", kstats_verbs[verb].name);
	if (words && !kstats_verbs[verb].most)
		return error_create("%s takes no names; use kstats show NAME|FILE",
				    kstats_verbs[verb].name);
	if (words < kstats_verbs[verb].least || words > kstats_verbs[verb].most)
		return error_create("kstats %s %s", kstats_verbs[verb].name,
				    kstats_verbs[verb].operands);
	if (verb == VERB_RUN && !a->running.command)
		return error_create("missing command: kstats run %s", kstats_verbs[verb].operands);
	if (verb != VERB_SHOW && verb != VERB_RUN &&
	    (format == KSTATS_FORMAT_V3 || format == KSTATS_FORMAT_OPENMETRICS))
		return error_create("%s supports --format text, json and csv",
				    kstats_verbs[verb].name);
	return check_showing(&a->showing);
}

/* --- the command --- */

static int run_verb(const struct command *command, enum kstats_verb_id verb,
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
	err = kstats_verbs[verb].run(arguments, words, &status);
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
static int run_first_word(enum kstats_verb_id verb, int argc, char **argv,
			  struct kstats_arguments *arguments)
{
	struct kstats_verb_command as = { 0 };
	struct error *err = NULL;
	int status, first;

	kstats_describe_verb(verb, &as);
	if (verb == VERB_RUN)
		argc = cut_command(argc, argv, &arguments->running.command);
	err = kstats_check_options(verb, argc, argv);
	if (err)
		return usage_error(&as.command, err);
	first = options_parse(&as.command, argc, argv, arguments, &status);
	if (first < 0)
		return status;
	/* Options may stand where the verb stood. */
	argv[first - 1] = (char *)(uintptr_t)kstats_verbs[verb].name;
	return run_verb(&as.command, verb, arguments, argv + first, argc - first);
}

static void clear_arguments(struct kstats_arguments *arguments)
{
	array_deinit(&arguments->showing.objectives);
	for (size_t i = 0; i < arguments->conditions.count; i++)
		kstats_condition_clear(&arguments->conditions.items[i]);
	array_deinit(&arguments->conditions);
}

/* Options stand before the verb: move it before them, so that they are judged as behind it. */
static int run_after_options(const struct command *command, int argc, char **argv,
			     struct kstats_arguments *arguments)
{
	_cleanup_free_ char **words = calloc((size_t)argc + 1, sizeof(*words));
	struct kstats_arguments unused = { 0 };
	int status, first, at = 0;
	size_t verb;

	if (!words)
		return report_error(&error_no_memory, STATUS_FAILED);
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	first = options_parse(command, argc, argv, &unused, &status);
	clear_arguments(&unused);
	if (first < 0)
		return status;
	verb = option_value(argv[first], kstats_verb_name);
	if (verb == VERB_COUNT)
		return usage_error(command, unknown_value("verb", argv[first], kstats_verb_name));
	if (verb == VERB_RUN)
		return usage_error(command, error_create("run comes first, then its options"));
	while (words[at] != argv[first])
		at++;
	memmove(words + 2, words + 1, (size_t)(at - 1) * sizeof(*words));
	words[1] = argv[first];
	return run_first_word(verb, argc - 1, words + 1, arguments);
}

int kstats_run_command(const struct command *command, int argc, char **argv)
{
	const bool is_word = argc > 1 && argv[1][0] != '-';
	const size_t verb = is_word ? option_value(argv[1], kstats_verb_name) : VERB_COUNT;
	struct kstats_arguments arguments = { 0 };
	int status;

	if (verb < VERB_COUNT)
		status = run_first_word(verb, argc - 1, argv + 1, &arguments);
	else if (is_word)
		status = usage_error(command, unknown_value("verb", argv[1], kstats_verb_name));
	else
		status = run_after_options(command, argc, argv, &arguments);
	clear_arguments(&arguments);
	return verb == VERB_RUN ? status_of_run(status) : status;
}
