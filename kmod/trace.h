/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace: its metric, and the probes that record into it.
 */
#ifndef KMOD_TRACE_H
#define KMOD_TRACE_H

#include <linux/kprobes.h>

#include "kstats.h"

/* Events that are in no slot, as far as our handlers see them; the names are those of ctprof
 * (KSTATS_LOSSES). */
enum kstats_loss {
	KSTATS_UNMATCHED,
	KSTATS_REPLACED,
	KSTATS_BACKWARDS,
	KSTATS_EARLIER, /* no loss: in progress when recording began */
	KSTATS_LOSS_COUNT,
};

struct kstats_on_cpu {
	u64 start;    /* of a pair that is open; 0: none */
	u64 end;      /* of the last call, until the next one; 0: none */
	bool is_seen; /* a start or an end of a pair since recording began */
	u64 lost[KSTATS_LOSS_COUNT];
};

/* One end of a pair. */
struct kstats_point {
	struct kprobe kprobe;          /* of a function */
	struct tracepoint *tracepoint; /* NULL: a function, or gone */
	void *handler;                 /* of the tracepoint */
};

/* Calls that the kernel did not tell us of. */
struct kstats_untold {
	unsigned long missed;    /* there was no room for one more that is under way */
	unsigned long recursive; /* in a handler already */
};

struct kstats_trace {
	struct list_head list;       /* of traces */
	struct kstats *metric, *gap; /* gap: of a function's time only */
	struct kstats_on_cpu __percpu *cpus;
	struct kretprobe call; /* without an end */
	struct kstats_point start, end;
	bool is_trial; /* of our own functions; tracepoints are passed by hand */
	bool is_gone;
	u64 overhead_ns;                   /* 0: unknown */
	struct kstats_untold before;       /* the last RESET */
	const char *start_text, *end_text; /* in `command` */
	char *command;
};

/* --- trace.c --- */

/* In no list, without files and probes; ERR_PTR. Keeps the request's texts. */
struct kstats_trace *kstats_trace_alloc(const struct kstats_request *request);
void kstats_trace_free(struct kstats_trace *trace);

/* --- probes.c --- */

/* Under kstats_mutex; of an error there may be half of it, for kstats_disarm(). */
int kstats_arm(struct kstats_trace *trace);

/* Probes that are to be unregistered together, for to wait for their handlers takes long. */
struct kstats_disarmed {
	struct kretprobe *calls[64];
	struct kprobe *kprobes[64];
	unsigned int call_count, kprobe_count;
	bool any_tracepoint;
};

void kstats_disarm(struct kstats_trace *trace, struct kstats_disarmed *disarmed);
/* After this they are gone, and no handler is under way. */
void kstats_disarm_end(struct kstats_disarmed *disarmed);

/* Whether there was one, whose handler may be under way still. */
bool kstats_leave_tracepoint(struct kstats_trace *trace, struct kstats_point *point);

/* --- overhead.c --- */

/* What an empty pair measures by probes of the same kinds, in ns; 0: it cannot be told. Under
 * kstats_mutex. */
u64 kstats_overhead(const struct kstats_trace *trace);

#endif
