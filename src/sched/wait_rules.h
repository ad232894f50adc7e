/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a thread waits for, decided in the kernel by the rules of wait_rules.bpf.h: their
 * configuration and state, shared with user space, and how user space fills them in. The programs
 * of `top --engine exact` and those of profiles include the same rules, so both give a wait the
 * same state.
 */
#ifndef SCHED_WAIT_RULES_H
#define SCHED_WAIT_RULES_H

#ifdef __bpf__
#include "bpf/kernel.h"
#else
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#endif
#include "state/wait.h"

/* Set before the programs are loaded. */
struct wait_config {
	__u8 has_casts;            /* bpf_rdonly_cast() (Linux 6.2) */
	__u8 kinds[WAIT_SYSCALLS]; /* enum wait_kind by number of system call */
};

/* Addresses in the kernel. */
struct wait_state {
	/* The file operations of these kinds of files. */
	__u64 socket_functions, pipe_functions, timer_functions;
	/* The code that reads anonymous memory back from swap; 0: nothing is on swap. */
	__u64 swap_begin, swap_end;
	/* The code that opens FIFOs; 0: it was not found. */
	__u64 fifo_begin, fifo_end;
};

/* The argument of probe_environment(). */
struct wait_examples {
	__u32 socket, pipe, timer; /* files of ours; UINT32_MAX: there is none of that kind */
};

#ifndef __bpf__
struct btf;
struct kallsyms;

/* Before loading. Returns whether the kernel tells which locks threads wait for (Linux 5.19): only
 * then can on_contention and on_contended be loaded. `kernel` may be NULL: it has no BTF. */
bool wait_rules_configure(struct wait_config *config, const struct btf *kernel);

/* After loading: let the programs find the PID namespace and the file operations of this process,
 * by a run of probe_environment, whose descriptor is `program`. */
struct error *wait_rules_probe(int program) MUST_CHECK;

/*
 * Find the code that opens FIFOs, unless probe_environment did; and once something is on swap, that
 * which brings it back, for no thread waits for it before: false means that nothing is on swap, and
 * true sets `ret_is_known`. `symbols` are those of the kernel; NULL: they are read up to that
 * function.
 */
void wait_rules_find_fifo(struct wait_state *state, const struct kallsyms *symbols);
bool wait_rules_look_at_swap(struct wait_state *state, const struct kallsyms *symbols,
			     bool *ret_is_known);
#endif

#endif
