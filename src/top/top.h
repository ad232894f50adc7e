/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared declarations of `ctprof top`: its options, and the windows of an engine.
 */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include "cli/reading.h"
#include "cli/target.h"
#include "report/states_report.h"
#include "top/engine.h"
#include "top/inspect.h"
#include "top/record.h"
#include "top/replay_engine.h"
#include "top/row_reader.h"

enum { ENGINE_AUTO = ENGINE_COUNT };

struct top_arguments {
	struct target target;
	struct thread_numbers tids;
	unsigned engine; /* enum engine_kind, or ENGINE_AUTO */
	uint64_t interval_ns;
	bool has_interval; /* it was given */
	bool batch;
	size_t count, limit;
	unsigned format;
	unsigned grouping;
	const char *sort, *filter, *columns;
	uint32_t inspect;         /* a process or a thread, of which pages are printed; 0: none */
	const char *inspect_name; /* the name of that process, until it is looked up; or NULL */
	bool no_kernel, all;
	const char *record, *replay;
	struct recording *recording;      /* that is to be replayed; NULL: `replay` is its path */
	struct keep keep;                 /* of the recording */
	struct reading_arguments reading; /* of its captures */
};

/* Names of users: few, and asked for often. */
struct users {
	struct {
		ARRAY(struct user {
			uint32_t uid;
			char *name;
		});
	} known;
};

/* What --columns adds to the rows of windows that are printed. */
struct top_batch {
	unsigned facts; /* a bit for each */
	bool has_exits;
	struct last_exits exits;
	struct {
		ARRAY(struct row_subject);
	} subjects; /* of the lines of the list */
	struct {
		ARRAY(struct row_facts);
	} rows;
};

struct top {
	const struct top_arguments *arguments;
	struct engine *engine;
	enum engine_kind kind;
	struct top_recorder *recorder; /* NULL: none */
	struct replay *replay;         /* instead of an engine; or NULL */
	struct state_reading readings[2];
	unsigned now; /* which of them is the later */
	struct state_window window;
	struct state_list list;
	struct state_filter filter;
	struct state_view view;
	struct users users;
	struct top_inspector inspector;
	struct row_reader rows; /* what /proc says of them */
	struct top_batch batch;
	size_t windows;           /* that were read */
	size_t most_threads;      /* in a window, since memory was given back */
	unsigned few_threads;     /* windows in a row with a quarter of them, or less */
	bool has_printed_lost;    /* threads that the engine had no room for */
	bool has_printed_missing; /* one of several that were asked for */
	/* The screen's notes about the recording that is made or shown. */
	char note[80], problem[320];
	char target[160]; /* what was asked for: "process 17 (bash)"; "" for all of the host */
	bool has_printed_recorder; /* that it fails */
};

struct error *top_open(struct top *top) MUST_CHECK;
void top_close(struct top *top);

/* From the last reading to now, into the recording if there is one; the first has none before it.
 * Of a replay the first reads nothing, and a window is the one that it is at. */
struct error *top_read_first(struct top *top) MUST_CHECK;
struct error *top_read_window(struct top *top) MUST_CHECK;

/* Has all ended that was asked for by number? Numbers are not waited for to be used again. */
bool top_targets_have_ended(const struct top *top);
/* Is there something alive of what was asked for by number, though the engine sees no thread of all
 * that was asked for, in neither reading of the window (target_hidden() in cli/target.h)? */
bool top_is_target_hidden(const struct top *top);

/* The first number that was asked for of which the engine sees no thread, in neither reading of the
 * window: it has ended, or is hidden. 0: there is none. */
uint32_t top_missing_target(const struct top *top, bool *ret_is_process);

/* Facts of rows, as of the last window; of a replay none is known. */
void top_read_facts(struct top *top, unsigned wanted, const struct row_subject *subjects,
		    size_t count, struct row_facts *ret);

/* The number of the last window that was read, from 0; in a replay, its number in the recording. */
size_t top_window_number(const struct top *top);

/* The name of a user; NULL: none is known. */
const char *top_user_name(void *users, uint32_t uid);

/* Restrict the engine to the process or thread of a number, as --pid or --tid would: to the process
 * if it is one's. Of a replay, to what has the number in it as a process, or as a thread. */
struct error *top_select(struct top_arguments *arguments, uint32_t number) MUST_CHECK;

struct error *top_run_batch(struct top *top) MUST_CHECK;
/* The command that goes on from the first row of the last window, in a line. */
void top_batch_next(const struct top *top, FILE *out);
/* A signal came: what there is is printed without more waiting. */
bool top_batch_is_over(void);

/* The status that the command ends with goes to `ret`. */
struct error *top_run_screen(struct top *top, int *ret) MUST_CHECK;

#endif
