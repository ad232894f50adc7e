/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder bpf/: shared by all BPF programs and their loaders: the kernel's types (kernel.h),
 * reading a task (task.bpf.h), loading, attaching and their cost (programs.h, program_cost.h),
 * reasons for refusals by the kernel (libbpf_reason.h), and growing memory that both sides map
 * (memory_chunks.h). The programs are beside their readers in sched/, kstats/ and capture/.
 *
 * Pointers are followed by probe reads: for each direct access the verifier searches the kernel's
 * BTF by name, which tripled the time of loading. The iterator of capture/ is a light skeleton
 * (bpftool gen skeleton -L), so nothing is parsed at the start. The others are full skeletons,
 * because the loaded programs, the sizes of maps and the targets of probes are known only at run
 * time.
 */

/*
 * Attaching, running and measuring BPF programs.
 */
#ifndef BPF_PROGRAMS_H
#define BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct btf;

/* Why loading failed with this errno, as libbpf_reason() and the kernel tell. */
struct error *bpf_programs_load_error(int failed);
/* Why the kernel denies them to this thread: the capabilities that it lacks, or what else it may be
 * where it has them. */
struct error *bpf_programs_denied(void);

/* Does nothing with one that was not loaded. */
struct error *bpf_programs_attach(struct bpf_program *program, struct bpf_link **link) MUST_CHECK;

/* Runs an iterator's program for everything that there is. */
struct error *bpf_programs_iterate(const struct bpf_link *link) MUST_CHECK;

/* The same for tasks that got no storage when they were seen (`*unplaced` is not 0, and is set to
 * 0): once a second at most, for memory may stay short. `*last` is when it ran last. */
void bpf_programs_iterate_again(const struct bpf_link *link, uint32_t *unplaced, uint64_t *last);

/* The runs and nanoseconds of all programs of the object, as far as the kernel counts them
 * (BPF_ENABLE_STATS). */
void bpf_programs_cost(const struct bpf_object *object, uint64_t *ret_runs, uint64_t *ret_ns);

/* Wait until every program that runs now has ended, on all CPUs. */
struct error *bpf_programs_wait(void) MUST_CHECK;

/* sched_switch has the state of the task that leaves as its last argument since Linux 5.18: five
 * with the one that is not the tracepoint's own. */
bool bpf_switch_has_state(const struct btf *kernel);

#endif
