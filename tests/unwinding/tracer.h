/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that run, and are stopped now and then (ptrace(2), PTRACE_SEIZE).
 *
 *	struct tracer tracer = { .look = look, .context = &all };
 *	tracer_run(&tracer, argv);                  or tracer_seize(&tracer, pid)
 *	while (tracer_pass(&tracer, 1000))
 *		tracer_stop_some(&tracer);
 *	tracer_let_go(&tracer);
 *
 * What a command starts is followed, too.
 */
#ifndef TESTS_UNWINDING_TRACER_H
#define TESTS_UNWINDING_TRACER_H

#include <sys/types.h>
#include <sys/user.h>

#include "base/array.h"

struct tracee {
	pid_t tid, pid;
	bool is_wanted;  /* it was asked to stop */
	bool is_stepped; /* it will stop after an instruction: that is no signal of its own */
	bool was_seen;
	uint64_t asked_ns; /* of those that do not come */
	struct user_regs_struct registers;
};

struct tracer {
	/* Called while a thread is stopped. */
	void (*look)(void *context, const struct tracee *tracee);
	void *context;
	unsigned steps; /* single steps after each stop, looked at each */
	struct {
		ARRAY(struct tracee);
	} threads;
	int options;
	bool is_starting; /* a command that is still ourselves */
};

/* Start a command. */
void tracer_run(struct tracer *tracer, char **argv);

/* All threads of a process. False: it is gone, or not ours to look at. */
bool tracer_seize(struct tracer *tracer, pid_t pid);

/* Let time pass, in which they run. False: there are none any more. */
bool tracer_pass(struct tracer *tracer, uint64_t us);

/* Stop those that run, and now and then one that sleeps. A thread whose registers are the same as
 * at its last stop is not looked at. */
void tracer_stop_some(struct tracer *tracer);

/* Stop each of them once. */
void tracer_stop_all(struct tracer *tracer);

void tracer_let_go(struct tracer *tracer);

#endif
