/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the files of this module.
 *
 * Locks: kstats_mutex protects the list of metrics and all traces. Reads and writes of a metric's
 * files do not take it: removing these files waits for such reads and writes, with the mutex held.
 */
#ifndef KMOD_KSTATS_H
#define KMOD_KSTATS_H

#include <linux/compiler.h>
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#include <linux/kstats.h>

#include "control.h"

struct kstats_slot {
	u64 count, sum;
};

struct kstats_trace;

struct kstats {
	/* The members that kstats_record() reads fit in one cache line. */
	bool is_active;
	u8 frac_bits;
	struct kstats_slot __percpu *slots;

	struct list_head list;      /* of kstats_metrics */
	struct kstats_trace *trace; /* the trace that records into it; NULL: another module does */
	struct mutex command;       /* serialises START, STOP and RESET */
	struct dentry *file, *raw;
	char name[KSTATS_NAME_MAX + sizeof(KSTATS_GAP)];
};

extern struct mutex kstats_mutex;
extern struct list_head kstats_metrics;
extern struct dentry *kstats_dir, *kstats_raw_dir;

/* --- metric.c --- */

/* Allocate a metric without files, in no list. Returns an ERR_PTR on failure. The caller has
 * checked `name`. */
struct kstats *kstats_alloc(const char *name, unsigned int frac_bits);
/* Add a metric to the list and create its files, under kstats_mutex. -EEXIST: the name is in use.
 */
int kstats_publish(struct kstats *metric);
/* Undo kstats_publish(). Waits for reads of the files in progress. */
void kstats_withdraw(struct kstats *metric);
/* Takes NULL and ERR_PTR. */
void kstats_free(struct kstats *metric);

/* When these return, no kstats_record() that began earlier will still count. */
void kstats_stop(struct kstats *metric);
void kstats_reset(struct kstats *metric);

/* --- show.c --- */

extern const struct file_operations kstats_file_ops; /* text of version 3; takes commands */
extern const struct file_operations kstats_raw_ops;

/* --- trace.c --- */

/* Begin to trace, under kstats_mutex. On success the trace owns `command`, which the texts of the
 * request point into. On failure nothing is left, and the result is a negative errno. */
int kstats_trace_begin(const struct kstats_request *request, char *command);
/* -ENOENT: no trace has this name. */
int kstats_trace_end(const char *name);
void kstats_trace_end_all(void);
/* Print the names of all traced metrics, newest first. */
void kstats_trace_names(struct seq_file *file);
/* Print what is measured and what was lost, as lines of "key value". */
void kstats_trace_describe(const struct kstats_trace *trace, const struct kstats *metric,
			   struct seq_file *file);
/* Set the counts of losses to zero. */
void kstats_trace_reset(struct kstats_trace *trace, const struct kstats *metric);
/* Has the code that it traces been unloaded? */
bool kstats_trace_is_gone(const struct kstats_trace *trace);

struct module;
/* Detach from the tracepoints of a module that is being unloaded, under kstats_mutex. */
void kstats_trace_leave(const struct module *module);

/* --- tracepoints.c --- */

struct tracepoint;
struct trace_event_file;

/* A tracepoint, and the reference that kstats_tracepoint_put() drops. */
struct kstats_tracepoint {
	struct tracepoint *point;
	struct trace_event_file *event;
};

/* Find a tracepoint, under kstats_mutex. -ENOENT: there is none. */
int kstats_tracepoint_find(const struct kstats_location *location, struct kstats_tracepoint *ret);
void kstats_tracepoint_put(struct kstats_tracepoint *tracepoint);

int kstats_tracepoints_init(void);
void kstats_tracepoints_exit(void);

#endif
