/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an agent costs its host: this process and its descendants, which send, serve and make
 * reports.
 *
 *	struct agent_cost cost = { 0 };
 *	agent_cost_read(&cost, proc);		at the end of each interval
 *	cost.cpu_ns, cost.memory_bytes
 *	agent_cost_deinit(&cost);
 */
#ifndef AGENT_AGENT_COST_H
#define AGENT_AGENT_COST_H

#include <stdint.h>

#include "base/array.h"

struct process_cost {
	uint32_t pid;
	uint64_t started; /* clock ticks since the boot: a number may be used again */
	uint64_t ticks;   /* of CPU time, so far */
};

struct agent_cost {
	/* CPU time since the reading before, or since the beginning of the processes. That of
	 * descendants counts in clock ticks (10 ms); what one uses between a reading and its end is
	 * missing. */
	uint64_t cpu_ns;
	/* Resident: of this process all, of descendants what is of no file, since they share their
	 * files with it. */
	uint64_t memory_bytes;
	uint64_t own_ns; /* at the last reading */
	struct {
		ARRAY(struct process_cost);
	} processes; /* descendants at the last reading */
};

/* `proc` is a descriptor of /proc. Processes that cannot be read, and without memory all
 * descendants, do not count. */
void agent_cost_read(struct agent_cost *cost, int proc);
void agent_cost_deinit(struct agent_cost *cost);

#endif
