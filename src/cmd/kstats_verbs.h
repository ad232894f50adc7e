/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs of kstats, the options of each, and their help.
 */
#ifndef CMD_KSTATS_VERBS_H
#define CMD_KSTATS_VERBS_H

#include "cmd/kstats.h"
#include "security/privileges.h"

/* The privileges that root keeps to read files, to read metrics, to change them, and to create one.
 */
#define KSTATS_FILES   (PRIVILEGE_READ_FILES | PRIVILEGE_WRITE_FILES)
#define KSTATS_READING (PRIVILEGES_READ | PRIVILEGE_WRITE_FILES)
/* Waiting until no CPU runs a program creates a map (bpf/programs.h). Files of the module are
 * read-only by their mode. */
#define KSTATS_CHANGING (KSTATS_READING | PRIVILEGE_GROW_MAPS)
#define KSTATS_MAKING \
	(KSTATS_READING | PRIVILEGE_LOAD_PROGRAMS | PRIVILEGE_PROBE_FILES | PRIVILEGE_MOUNT)

/* VERB(id, name, operands, function, least and most operands, privileges, summary) */
/* clang-format off */
#define KSTATS_VERBS(VERB) \
	VERB(TRACE, "trace", KSTATS_GRAMMAR, kstats_trace, 1, INT32_MAX, KSTATS_MAKING, \
	     "create a metric and start it") \
	VERB(RUN, "run", KSTATS_GRAMMAR " -- COMMAND", kstats_run, 1, INT32_MAX, KSTATS_MAKING | KSTATS_CHANGING, \
	     "trace while a command runs, print, and check an SLO: for tests") \
	VERB(LIST, "list", "", kstats_list, 0, 0, KSTATS_READING, \
	     "list all metrics") \
	VERB(SHOW, "show", "NAME|FILE...", kstats_show, 1, INT32_MAX, KSTATS_READING, \
	     "print histograms and percentiles, once or live; check an SLO") \
	VERB(START, "start", "NAME...", kstats_order, 1, INT32_MAX, KSTATS_CHANGING, \
	     "resume recording") \
	VERB(STOP, "stop", "NAME...", kstats_order, 1, INT32_MAX, KSTATS_CHANGING, \
	     "stop recording, until start") \
	VERB(RESET, "reset", "NAME...", kstats_order, 1, INT32_MAX, KSTATS_CHANGING, \
	     "discard recorded values") \
	VERB(REMOVE, "remove", "NAME...", kstats_remove, 1, INT32_MAX, KSTATS_CHANGING, \
	     "remove a metric and its gaps") \
	VERB(SAVE, "save", "-o FILE [NAME...]", kstats_save, 0, INT32_MAX, KSTATS_READING, \
	     "write metrics with all buckets to a file") \
	VERB(MERGE, "merge", "-o FILE FILE...", kstats_merge, 1, INT32_MAX, KSTATS_FILES, \
	     "add files of several hosts or runs") \
	VERB(DIFF, "diff", "BEFORE AFTER -o FILE", kstats_diff, 2, 2, KSTATS_READING, \
	     "write what was recorded between two readings to a file") \
	VERB(COMPARE, "compare", "BEFORE AFTER", kstats_compare, 2, 2, KSTATS_FILES, \
	     "show how far each percentile moved, and whether by chance; fail on a change")
/* clang-format on */

enum kstats_verb_id {
#define VERB(id, ...) VERB_##id,
	KSTATS_VERBS(VERB)
#undef VERB
		VERB_COUNT
};

struct kstats_verb_row {
	const char *name, *operands, *summary;
	kstats_verb *run;
	int least, most; /* words */
	unsigned privileges;
};
extern const struct kstats_verb_row kstats_verbs[VERB_COUNT];

/* NULL after the last. */
const char *kstats_verb_name(size_t number);

/* A verb as a command of its own: with its options only. */
#define KSTATS_OPTIONS_MAX 32
struct kstats_verb_command {
	struct command command;
	struct option_row options[KSTATS_OPTIONS_MAX];
	char name[40];
};
void kstats_describe_verb(enum kstats_verb_id verb, struct kstats_verb_command *ret);

/* The error of the first option that only other verbs take; NULL: there is none. */
struct error *kstats_check_options(enum kstats_verb_id verb, int argc, char **argv) MUST_CHECK;

/* `ctprof kstats`. */
int kstats_run_command(const struct command *command, int argc, char **argv);

#endif
