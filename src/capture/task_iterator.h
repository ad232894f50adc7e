/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every thread of our PID namespace, as the kernel's own structures have it, by a BPF program.
 *
 *	struct task_iterator *tasks;
 *	struct error *err = task_iterator_open(&tasks);
 *	err = task_iterator_begin(tasks, true);
 *	while (!(err = task_iterator_next(tasks, &batch)) && batch.count)
 *		for (size_t i = 0; i < batch.count; i++)
 *			take(&batch.records[i]);
 *	task_iterator_close(tasks);
 *
 * Loading takes milliseconds and a walk well under a microsecond a thread, so one that is to walk
 * again stays open. Nothing is stopped and no lock is held for longer than one thread: it is no
 * picture of one moment, just as /proc is none.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN); CAP_SYSLOG to find the addresses of symbols,
 * unless the sysctls kptr_restrict and perf_event_paranoid let everybody (kallsyms_show_value());
 * a kernel with BTF, and one that does CO-RE itself (Linux 5.17, kernel/bpf/btf.c).
 */
#ifndef CAPTURE_TASK_ITERATOR_H
#define CAPTURE_TASK_ITERATOR_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/task_record.h"

struct task_iterator;

/* Threads of one batch, which live until the next call. The masks are in `cpus`, by thread, where
 * they have more than one word. */
struct task_batch_view {
	const struct iterator_record *records;
	size_t count; /* 0: there are no more */
	const __u64 (*cpus)[TASK_CPU_WORDS];
};

struct error *task_iterator_open(struct task_iterator **ret) MUST_CHECK;

/* Start a walk from the first thread. Unless `is_ext_on`, threads are not checked for a sched_ext
 * scheduler. */
struct error *task_iterator_begin(struct task_iterator *tasks, bool is_ext_on) MUST_CHECK;

struct error *task_iterator_next(struct task_iterator *tasks,
				 struct task_batch_view *ret) MUST_CHECK;

/* Takes NULL. */
void task_iterator_close(struct task_iterator *tasks);

/* Does the running kernel have the feature? For waits in progress: could this walk date them? */
bool task_iterator_has(const struct task_iterator *tasks, enum task_feature feature);
bool task_iterator_counts(const struct task_iterator *tasks, enum task_counter counter);

/* The mask of active CPUs, NULL when the kernel does not show it; and how many words of it count.
 */
const __u64 *task_iterator_active_cpus(const struct task_iterator *tasks, size_t *ret_words);

/*
 * Convert a time of CLOCK_MONOTONIC to the scheduler's clock.
 *
 * The two may differ in start and rate (kernel/sched/clock.c), so each walk first compares them:
 * this thread sleeps until a known time and then reads when the scheduler put it on a CPU.
 * `task_iterator_clock_error` is the largest error of the result, in ns.
 */
uint64_t task_iterator_sched_clock(const struct task_iterator *tasks, uint64_t monotonic);
uint64_t task_iterator_clock_error(const struct task_iterator *tasks);

/* The cost of walking by the kernel's own count, which needs sysctl kernel.bpf_stats_enabled=1;
 * otherwise 0. */
struct task_iterator_cost {
	uint64_t runs, ns;
};
struct task_iterator_cost task_iterator_cost(const struct task_iterator *tasks);

#endif
