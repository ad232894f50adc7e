/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctprof kstats: its verbs, and what they share.
 */
#ifndef CMD_KSTATS_H
#define CMD_KSTATS_H

#include "cli/options.h"
#include "kstats/condition.h"
#include "kstats/file.h"
#include "kstats/recorder.h"

/* FORMAT(id, name, the function in kstats_show.c); the first is the default. */
#define KSTATS_FORMATS(FORMAT)          \
	FORMAT(TEXT, "text", show_text) \
	FORMAT(V3, "kstats", show_v3)   \
	FORMAT(JSON, "json", show_json) \
	FORMAT(CSV, "csv", show_csv)    \
	FORMAT(OPENMETRICS, "openmetrics", show_openmetrics)

enum kstats_format {
#define FORMAT(id, ...) KSTATS_FORMAT_##id,
	KSTATS_FORMATS(FORMAT)
#undef FORMAT
		KSTATS_FORMAT_COUNT
};
extern const char *const kstats_format_names[KSTATS_FORMAT_COUNT];

/* Options of `trace`. All zero: none was given. */
struct kstats_recording {
	const char *key, *by; /* words of KSTATS_KEYS ("arg2", "arg2,arg1") and KSTATS_BYS */
	size_t pid;
	const char *cgroup, *comm, *cpus;
	bool is_stopped, forces_returns;
};

/* Options of `show`. */
struct kstats_showing {
	enum kstats_format format;
	bool rows, all_rows, all_buckets;
	uint64_t interval_ns;
	size_t count;
	const char *heat;
	struct kstats_objectives {
		ARRAY(const char *);
	} objectives;
};

/* The conditions of `kstats compare --fail-if`. */
struct kstats_conditions {
	ARRAY(struct kstats_condition);
};

/* The options of `kstats run`. */
struct kstats_running {
	char **command; /* NULL after the last word */
	bool only_command;
};

struct kstats_arguments {
	const char *via; /* NULL: bpf to trace, all of them to find */
	const char *output;
	struct kstats_recording recording;
	struct kstats_showing showing;
	struct kstats_conditions conditions;
	struct kstats_running running;
};

/* A verb has its words in `words`, NULL after the last. `*ret_status` is what to end with; with an
 * error it says whether that is of wrong usage (STATUS_USAGE), or just a failure. */
typedef struct error *kstats_verb(const struct kstats_arguments *arguments, char **words,
				  int *ret_status);

kstats_verb kstats_trace, kstats_list, kstats_show, kstats_order, kstats_remove, kstats_save,
	kstats_merge, kstats_diff, kstats_compare, kstats_run;

/* For `run`, which begins before: limit memory, and keep the privileges to create metrics. */
struct error *kstats_keep_privileges(void) MUST_CHECK;

/* Print tables in the format that was asked for, and then judge the objectives. */
struct error *kstats_show_tables(const struct kstats_showing *showing,
				 const struct kstats_tables *tables, int *status) MUST_CHECK;
/* Reject malformed objectives before anything is done. */
struct error *kstats_check_objectives(const struct kstats_showing *showing) MUST_CHECK;

/* --- verdicts: of --slo and --fail-if --- */

/* The exit status of a verdict, and its word. */
struct kstats_verdict_row {
	int status;
	const char *prose;
};
extern const struct kstats_verdict_row kstats_verdicts[];

/* A broken objective outranks an undecided one. */
void kstats_count_verdict(enum kstats_verdict verdict, int *status);

/* --- recorders --- */

/* The recorder that `--via` names, or all of them: in the order in which a name is looked for. */
struct kstats_search {
	const struct kstats_recorder *recorders[4]; /* NULL after the last */
};
struct kstats_search kstats_search(const char *via);

/* Something that is done to a metric; an error with ENOENT when this recorder does not have it. */
typedef struct error *kstats_act(const struct kstats_recorder *recorder, const char *name,
				 void *context);

/* Do it by the first recorder that has the metric. When none has, the error has ENOENT: or it is of
 * the first that could not be asked. */
struct error *kstats_with(const struct kstats_search *search, const char *name, kstats_act *act,
			  void *context) MUST_CHECK;

struct error *kstats_read(const struct kstats_search *search, const char *name,
			  struct kstats_table **ret) MUST_CHECK;

/* A metric by its name, "PID:NAME" of a program, or all metrics of a file: what has a "/" or a "."
 * in it, or is "-", is a file. Added to `tables`. */
bool kstats_is_file(const char *word);
struct error *kstats_gather(const struct kstats_search *search, const char *word,
			    struct kstats_tables *tables) MUST_CHECK;

/* Read each of these words. One that cannot be read is reported, sets `*ret_status`, adds nothing
 * (a file is read whole or not), and does not keep the others from being read. */
void kstats_gather_each(const struct kstats_search *search, char **words,
			struct kstats_tables *tables, int *ret_status);

/* Visit all metrics. A recorder that fails is reported and skipped, and sets `*ret_status` unless
 * it belongs to another user; the error is that of the recorder if all failed. `ret_is_whole` (may
 * be NULL): none failed. */
typedef struct error *kstats_visit(void *context, const struct kstats_recorder *recorder,
				   const struct kstats_entry *entry);
struct error *kstats_each(const struct kstats_search *search, kstats_visit *visit, void *context,
			  bool *ret_is_whole, int *ret_status) MUST_CHECK;

/* Read all metrics into `tables`. Failures are reported, and set `*ret_status`. */
struct error *kstats_gather_all(const struct kstats_search *search, struct kstats_tables *tables,
				int *ret_status) MUST_CHECK;

/* --- making --- */

/* The metric that words and options ask for. To be cleared, also after an error, which is of wrong
 * usage. */
struct error *kstats_spec_of(const struct kstats_arguments *arguments, char **words,
			     struct kstats_spec *ret) MUST_CHECK;
/* Create it by the first recorder of `search`, unless its name is in use anywhere. */
struct error *kstats_make(const struct kstats_search *search, const struct kstats_spec *spec,
			  struct kstats_traced *ret) MUST_CHECK;

#endif
