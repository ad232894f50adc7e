/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What BPF programs cost, by the kernel's own count of their runs and time (BPF_ENABLE_STATS).
 *
 * Counting costs too, two looks at the clock a run, so it is on for a second only, and not for its
 * first tenth, when everything is seen for the first time. It begins with the session, for turning
 * it on needs CAP_SYS_ADMIN, which is dropped then. A session that is over sooner has what there
 * is.
 */
#ifndef TRACE_PROGRAM_COST_H
#define TRACE_PROGRAM_COST_H

#include <stdint.h>

struct bpf_object;

struct program_cost {
	int enabled;                   /* a descriptor while it is counted, or -1 */
	uint64_t begun;                /* CLOCK_MONOTONIC */
	uint64_t first_runs, first_ns; /* of the first tenth of a second; 0: not over */
};

void program_cost_init(struct program_cost *cost);
void program_cost_begin(struct program_cost *cost, uint64_t now);
/* Takes the first tenth off, and ends counting, when it is time to. */
void program_cost_tick(struct program_cost *cost, const struct bpf_object *object, uint64_t now);
/* Of all programs of the object. */
void program_cost_read(const struct program_cost *cost, const struct bpf_object *object,
		       uint64_t *ret_runs, uint64_t *ret_ns);
void program_cost_deinit(struct program_cost *cost);

#endif
