/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of this module share.
 *
 * Locks: kstats_mutex keeps the list of metrics and all that is traced as it is. Reading and
 * writing a metric's own files does not take it, as who removes these files waits for that while
 * holding it.
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
	/* What a record reads; one cache line. */
	bool is_active;
	u8 frac_bits;
	struct kstats_slot __percpu *slots;

	struct list_head list;      /* of kstats_metrics */
	struct kstats_trace *trace; /* who records into it; NULL: another module */
	struct mutex command;       /* one START, STOP or RESET at a time */
	struct dentry *file, *raw;
	char name[KSTATS_NAME_MAX + sizeof(KSTATS_GAP)];
};

extern struct mutex kstats_mutex;
extern struct list_head kstats_metrics;
extern struct dentry *kstats_dir, *kstats_raw_dir;

/* --- metric.c --- */

/* Without its files, in no list; ERR_PTR. `name` has been checked. */
struct kstats *kstats_alloc(const char *name, unsigned int frac_bits);
/* In the list, with its files, under kstats_mutex; EEXIST. */
int kstats_publish(struct kstats *metric);
/* The opposite. Waits for who reads. */
void kstats_withdraw(struct kstats *metric);
/* Takes NULL and ERR_PTR. */
void kstats_free(struct kstats *metric);

/* After these have returned, no record that began before counts any more. */
void kstats_stop(struct kstats *metric);
void kstats_reset(struct kstats *metric);

/* --- show.c --- */

extern const struct file_operations kstats_file_ops; /* v3 text, and commands */
extern const struct file_operations kstats_raw_ops;

/* --- trace.c --- */

/* Begin to trace; under kstats_mutex. All of it, or nothing and a negative errno. Keeps
 * `command`, in which the texts of the request are, when it succeeds. */
int kstats_trace_begin(const struct kstats_request *request, char *command);
/* ENOENT when there is none of this name. */
int kstats_trace_end(const char *name);
void kstats_trace_end_all(void);
/* The names of what is traced, newest first. */
void kstats_trace_names(struct seq_file *file);
/* What is measured, and what was lost, in lines of "key value". */
void kstats_trace_describe(const struct kstats_trace *trace, const struct kstats *metric,
			   struct seq_file *file);
/* What was lost so far is forgotten. */
void kstats_trace_reset(struct kstats_trace *trace, const struct kstats *metric);
/* Its probes are where code was that is there no more. */
bool kstats_trace_is_gone(const struct kstats_trace *trace);

struct module;
/* A module with tracepoints goes; under kstats_mutex. */
void kstats_trace_leave(const struct module *module);

/* --- tracepoints.c --- */

struct tracepoint;
struct trace_event_file;

/* A tracepoint, and what keeps it there until kstats_tracepoint_put(). */
struct kstats_tracepoint {
	struct tracepoint *point;
	struct trace_event_file *event;
};

/* ENOENT; under kstats_mutex. */
int kstats_tracepoint_find(const struct kstats_location *place, struct kstats_tracepoint *ret);
void kstats_tracepoint_put(struct kstats_tracepoint *tracepoint);

int kstats_tracepoints_init(void);
void kstats_tracepoints_exit(void);

#endif
