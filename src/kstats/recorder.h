/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder kstats/: histograms of latencies. spec.h describes what to record; recorder.h has the
 * interface of all recorders: bpf_recorder (BPF programs: kstats.bpf.c with bpf_starts and
 * bpf_slots), module_recorder (kstats.ko) and user_recorder (programs with libkstats, found through
 * /proc). table.h is a reading; distribution, slo and shift evaluate it; file.h stores it.
 *
 * The metric of a program is a sealed memfd: it ends with the program, is found through /proc in
 * any namespace, cannot be forged for another program, and can be mapped without the risk of
 * SIGBUS. A reset is a subtraction, so recorders and resets write no common data. Without rseq,
 * libkstats counts with atomic instructions, by CPU. After a fork both processes count into the
 * same metric.
 */

/*
 * The interface of recorders: BPF programs, the kernel module, and programs with libkstats.
 */
#ifndef KSTATS_RECORDER_H
#define KSTATS_RECORDER_H

#include "kstats/distribution.h"
#include "kstats/file.h"
#include "kstats/spec.h"

/* Commands for an existing metric. */
#define KSTATS_COMMANDS(COMMAND)                             \
	COMMAND(START, "start", "resume recording")          \
	COMMAND(STOP, "stop", "stop recording, until start") \
	COMMAND(RESET, "reset", "discard recorded values")

enum kstats_command {
#define COMMAND_ENUM(id, name, prose) KSTATS_##id,
	KSTATS_COMMANDS(COMMAND_ENUM)
#undef COMMAND_ENUM
		KSTATS_COMMAND_COUNT
};
extern const char *const kstats_commands[KSTATS_COMMAND_COUNT];

/* A metric in a list, without its slots. */
struct kstats_entry {
	char *name;              /* of a program: "PID:NAME" */
	char *start, *end, *how; /* may be NULL, as in a table */
	struct kstats_scope scope;
	enum kstats_by by;
	bool is_active;
	uint64_t count; /* of values */
	/* Unknown with too few values (percentile_is_known). */
	struct kstats_percentile p50, p99;
	char *unit;    /* of values, as in a table; NULL: unknown */
	double rate;   /* values per second while it recorded; NAN: unknown */
	char *program; /* the command name of the process that has it; NULL: it is no process's */
};

/* Notes about omitted metrics and the reasons, one line each. */
struct kstats_notes {
	ARRAY(char *);
};
void kstats_notes_clear(struct kstats_notes *notes);

/* Names of metrics. */
struct kstats_names {
	ARRAY(char *);
};
void kstats_names_clear(struct kstats_names *names);

struct kstats_entries {
	ARRAY(struct kstats_entry);
	struct kstats_notes notes;
};
/* The numbers of an entry, from those of all rows together. */
void kstats_entry_measure(struct kstats_entry *entry, const struct kstats_distribution *all,
			  uint64_t recorded_ns);
/* All of an entry, from its table, whose words it takes; but for `name` and `program`. */
struct error *kstats_entry_of_table(struct kstats_table *table,
				    struct kstats_entry *ret) MUST_CHECK;
void kstats_entries_clear(struct kstats_entries *entries);

/* What was attached to create a metric. */
struct kstats_traced {
	size_t probes; /* in the kernel and in programs; 0: unknown */
};

/*
 * The code of an error is ENOENT for an unknown name, and EEXIST for one in use. If the recorder is
 * unavailable (no module, no privileges), the message names the remedy, and the code is that of the
 * kernel.
 */
struct kstats_recorder {
	const char *name; /* of `--via`, and in tables */
	/* NULL: cannot be asked to. All or nothing: after an error nothing is left behind. */
	struct error *(*trace)(const struct kstats_spec *spec, struct kstats_traced *ret);
	/* Added to `entries`; none where the recorder is not there at all. */
	struct error *(*list)(struct kstats_entries *entries);
	struct error *(*read)(const char *name, struct kstats_table **ret);
	/* All of them in one pass, added to `tables`, with what was left out. NULL: by list and
	 * read. */
	struct error *(*read_all)(struct kstats_tables *tables, struct kstats_notes *notes);
	/* For a program that reads its metrics again and again: their names, sorted, without
	 * reading one; and the tables of a metric and its GAP metric, added to `tables`. Neither
	 * waits for a command: the code is EAGAIN while one changes the metric. NULL: reading
	 * costs more than such a program may take. */
	struct error *(*names)(struct kstats_names *ret);
	struct error *(*read_now)(const char *name, struct kstats_tables *tables);
	struct error *(*command)(const char *name, enum kstats_command command);
	/* With its GAP metric. NULL: cannot be asked to. */
	struct error *(*remove)(const char *name);
};

extern const struct kstats_recorder kstats_module; /* kmod/kstats.ko, by debugfs */
extern const struct kstats_recorder
	kstats_user; /* programs with libkstats, by their shared memory */

#endif
