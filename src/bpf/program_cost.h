/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of BPF programs, by the kernel's own count of their runs and time (BPF_ENABLE_STATS).
 *
 * Counting costs two reads of the clock a run, so it is on for the first second of a session only,
 * of which the first tenth is left out, when everything is seen for the first time. Turning it on
 * requires CAP_SYS_ADMIN, which is dropped before the session starts: hence two calls. A session
 * that is shorter has what was counted by its end.
 */
#ifndef BPF_PROGRAM_COST_H
#define BPF_PROGRAM_COST_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;

struct program_cost {
	int enabled;                   /* a descriptor while it is counted, or -1 */
	uint64_t begun;                /* CLOCK_MONOTONIC */
	uint64_t first_runs, first_ns; /* left out */
	bool has_warmed_up;            /* the first tenth of a second is among these */
};

/* Turn counting on. Returns a descriptor, above those of standard input and output, that keeps it
 * on; or -1 where that is not permitted. */
int program_cost_enable(void);

/* Takes over such a descriptor; 0 or -1: there is none, and nothing is counted. */
void program_cost_init(struct program_cost *cost, int enabled);
/* Begin: leave out what was counted so far. */
void program_cost_begin(struct program_cost *cost, const struct bpf_object *object, uint64_t now);
/* Leave out the first tenth, and end counting, when it is time to. */
void program_cost_tick(struct program_cost *cost, const struct bpf_object *object, uint64_t now);
/* The runs and nanoseconds of all programs of the object. */
void program_cost_read(const struct program_cost *cost, const struct bpf_object *object,
		       uint64_t *ret_runs, uint64_t *ret_ns);
void program_cost_deinit(struct program_cost *cost);

#endif
