/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perf events that fire so many times in a second of each CPU's time, with a BPF program.
 *
 * Cycles of the hardware where there are such, since those also see code that runs with interrupts
 * off; else the CPU clock of the kernel (perf_event_open(2)).
 */
#ifndef SCHED_SAMPLE_EVENTS_H
#define SCHED_SAMPLE_EVENTS_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct bpf_program;

struct sample_events {
	struct {
		ARRAY(struct bpf_link *);
	} links;
};

/* On every CPU that is online, `frequency` times a second. */
struct error *sample_events_open(struct sample_events *events, const struct bpf_program *program,
				 unsigned frequency) MUST_CHECK;

/* Takes half-open ones. */
void sample_events_close(struct sample_events *events);

#endif
