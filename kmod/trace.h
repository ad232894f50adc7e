/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace: its metric, and the probes that record into it.
 */
#ifndef KMOD_TRACE_H
#define KMOD_TRACE_H

#include <linux/kprobes.h>

#include "kstats.h"

/* Events that the handlers see but count in no slot. The names are those of ctprof
 * (KSTATS_LOSSES). */
enum kstats_loss {
	KSTATS_UNMATCHED,
	KSTATS_REPLACED,
	KSTATS_BACKWARDS,
	KSTATS_EARLIER, /* not a loss: in progress when recording began */
	KSTATS_LOSS_COUNT,
};

struct kstats_on_cpu {
	u64 start;    /* of the pair in progress; 0: none */
	u64 end;      /* of the last call, until the next one begins; 0: none */
	bool is_seen; /* a start or an end of a pair came since recording began */
	u64 lost[KSTATS_LOSS_COUNT];
};

/* One end of a pair. */
struct kstats_point {
	struct kprobe kprobe;          /* of a function */
	struct tracepoint *tracepoint; /* NULL: a function, or gone */
	void *handler;                 /* of the tracepoint */
};

/* Calls for which the kernel did not run the handler. */
struct kstats_missed_calls {
	unsigned long missed;    /* all instances were in use */
	unsigned long recursive; /* a handler was already running */
};

struct kstats_trace {
	struct list_head list;       /* of traces */
	struct kstats *metric, *gap; /* gap: of a function's time only */
	struct kstats_on_cpu __percpu *cpus;
	struct kretprobe call; /* if there is no end */
	struct kstats_point start, end;
	bool is_trial; /* probes functions of this module; handlers of tracepoints are called */
	bool is_gone;
	u64 overhead_ns;                   /* 0: unknown */
	struct kstats_missed_calls before; /* at the last RESET */
	const char *start_text, *end_text; /* in `command` */
	char *command;
};

/* --- trace.c --- */

/* Allocate a trace without files and probes, in no list. Returns an ERR_PTR on failure. The texts
 * of the request must outlive it. */
struct kstats_trace *kstats_trace_alloc(const struct kstats_request *request);
void kstats_trace_free(struct kstats_trace *trace);

/* --- probes.c --- */

/* Register the probes, under kstats_mutex. After an error some may be registered: call
 * kstats_disarm() in any case. */
int kstats_arm(struct kstats_trace *trace);

/* Probes to unregister together, since waiting for their handlers takes long. */
struct kstats_disarmed {
	struct kretprobe *calls[64];
	struct kprobe *kprobes[64];
	unsigned int call_count, kprobe_count;
	bool any_tracepoint;
};

void kstats_disarm(struct kstats_trace *trace, struct kstats_disarmed *disarmed);
/* When this returns, no handler is running. */
void kstats_disarm_end(struct kstats_disarmed *disarmed);

/* Detach from a tracepoint. Returns whether there was one; its handler may still be running. */
bool kstats_leave_tracepoint(struct kstats_trace *trace, struct kstats_point *point);

/* --- overhead.c --- */

/* The time that probes of the same kinds measure at empty functions, in ns; 0: unknown. Under
 * kstats_mutex. */
u64 kstats_overhead(const struct kstats_trace *trace);

#endif
