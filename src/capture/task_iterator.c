/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/task_iterator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <task_iterator.lskel.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "bpf/programs.h"
#include "os/cpulist.h"

struct task_iterator {
	struct task_iterator_bpf *program;
	struct task_batch *batch; /* shared with the kernel */
	int walk;                 /* a walk under way, or -1 */
	bool ended;
	bool clocks_compared;
	int64_t clock_offset; /* the scheduler's clock less CLOCK_MONOTONIC */
	uint64_t clock_error;
};

/* --- loading --- */

#define LOG_BYTES (1u << 20)

/* The last words of the verifier: the line before its closing counts ("processed 12 insns ..."). */
static struct text last_words(char *log)
{
	struct text rest = text_of(log), line, last = TEXT("");

	while (text_cut(&rest, '\n', &line))
		if (line.length && !text_starts(line, TEXT("processed ")))
			last = line;
	return last;
}

/* Load it once more, only to hear why it was refused: a log costs time. */
static struct error *refusal(int failed)
{
	_cleanup_free_ char *log = calloc(1, LOG_BYTES);
	struct task_iterator_bpf *program = task_iterator_bpf__open();
	struct text why = TEXT("");

	if (program && log) {
		program->ctx.log_level = 1;
		program->ctx.log_size = LOG_BYTES - 1;
		program->ctx.log_buf = (uintptr_t)log;
		if (task_iterator_bpf__load(program))
			why = last_words(log);
	}
	task_iterator_bpf__destroy(program);
	return error_system(failed, "the kernel rejects the program%s%.*s", why.length ? ": " : "",
			    (int)why.length, why.bytes);
}

/* The error of a failed load, with its remedy. */
static struct error *load_error(int failed)
{
	if (access("/sys/kernel/btf/vmlinux", F_OK))
		return error_create("the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	if (failed == EPERM) /* EACCES is the verifier's word for a read that it does not allow */
		return bpf_programs_denied();
	return refusal(failed);
}

/* Words of 64 CPUs; one where the host does not say how many there may be. */
static __u32 cpu_words(void)
{
	const __u32 cpus = cpus_possible(), words = (cpus + 63) / 64;

	if (!words)
		return 1;
	return words < TASK_CPU_WORDS ? words : TASK_CPU_WORDS;
}

static int configure_iterator(struct task_iterator *tasks)
{
	union bpf_attr attr = { 0 };

	attr.test.prog_fd = (__u32)tasks->program->progs.describe.prog_fd;
	return skel_sys_bpf(BPF_PROG_RUN, &attr, sizeof(attr)) < 0 ? errno : 0;
}

static struct error *load_iterator(struct task_iterator *tasks)
{
	int failed;

	errno = 0;
	tasks->program = task_iterator_bpf__open();
	if (!tasks->program)
		return error_system(errno ? errno : ENOMEM, "the BPF program");
	failed = task_iterator_bpf__load(tasks->program);
	if (failed)
		return load_error(-failed);
	tasks->batch = mmap(NULL, sizeof(*tasks->batch), PROT_READ | PROT_WRITE, MAP_SHARED,
			    tasks->program->maps.batches.map_fd, 0);
	if (tasks->batch == MAP_FAILED) {
		tasks->batch = NULL;
		return error_system(errno, "the BPF program's memory");
	}
	tasks->program->bss->kernel.cpu_words = cpu_words();
	failed = configure_iterator(tasks);
	if (failed)
		return error_system(failed, "the BPF program does not run");
	failed = task_iterator_bpf__walk__attach(tasks->program);
	return failed < 0 ? error_system(-failed, "the kernel has no task iterator") : NULL;
}

struct error *task_iterator_open(struct task_iterator **ret)
{
	struct task_iterator *tasks = calloc(1, sizeof(*tasks));
	struct error *err;

	if (!tasks)
		return &error_no_memory;
	tasks->walk = -1;
	err = load_iterator(tasks);
	if (err) {
		task_iterator_close(tasks);
		return err;
	}
	*ret = tasks;
	return NULL;
}

void task_iterator_close(struct task_iterator *tasks)
{
	if (!tasks)
		return;
	if (tasks->walk >= 0)
		close(tasks->walk);
	if (tasks->batch)
		munmap(tasks->batch, sizeof(*tasks->batch));
	task_iterator_bpf__destroy(tasks->program);
	free(tasks);
}

/* --- clocks --- */

#define CLOCK_TRIES     8
#define CLOCK_SLEEP_NS  20000
#define CLOCK_GOOD_NS   30000
#define CLOCK_BUDGET_NS 2000000 /* on a busy host each try may take milliseconds */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Sleep until a moment; false when it was there already, and the thread stayed on its CPU. */
static bool sleep_until(struct task_iterator *tasks, uint64_t until)
{
	const struct timespec at = clock_timespec(until);
	uint64_t arrived;

	if (configure_iterator(tasks))
		return false;
	arrived = tasks->program->bss->kernel.arrived;
	return !clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) &&
	       !configure_iterator(tasks) && tasks->program->bss->kernel.arrived != arrived;
}

/*
 * Narrow the offset of the clocks. The thread was put on its CPU after the end of its sleep and
 * before it read the clock, so the offset lies between the two. It reads the clock at once but may
 * have been scheduled late, so the true value is near the lower bound.
 */
static void narrow_offset(struct task_iterator *tasks)
{
	const struct task_kernel *kernel = &tasks->program->bss->kernel;
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	int64_t lowest = INT64_MIN, highest = INT64_MAX;
	uint64_t sleep = CLOCK_SLEEP_NS;

	for (unsigned i = 0; i < CLOCK_TRIES; i++) {
		uint64_t until = clock_ns(CLOCK_MONOTONIC) + sleep;
		int64_t low, high;

		if (!sleep_until(tasks, until)) {
			sleep *= 2;
			continue;
		}
		low = (int64_t)(kernel->arrived - kernel->now);
		high = (int64_t)(kernel->arrived - until);
		if (low > lowest)
			lowest = low;
		if (high < highest)
			highest = high;
		if (lowest > highest) {
			/* The clocks of CPUs differ: start anew from what is seen now. */
			lowest = low;
			highest = high;
		}
		if (highest - lowest < CLOCK_GOOD_NS || kernel->now - begun > CLOCK_BUDGET_NS)
			break;
	}
	tasks->clocks_compared = lowest != INT64_MIN;
	if (!tasks->clocks_compared)
		return;
	tasks->clock_offset = lowest + smaller(highest - lowest, CLOCK_GOOD_NS) / 2;
	tasks->clock_error = (uint64_t)(highest - tasks->clock_offset);
}

/* Timers may be late by the slack of the thread, usually 50 us, which would distort the comparison.
 */
static void compare_clocks(struct task_iterator *tasks)
{
	int slack = prctl(PR_GET_TIMERSLACK);

	prctl(PR_SET_TIMERSLACK, 1);
	narrow_offset(tasks);
	if (slack > 0)
		prctl(PR_SET_TIMERSLACK, slack);
}

uint64_t task_iterator_sched_clock(const struct task_iterator *tasks, uint64_t monotonic)
{
	return monotonic + (uint64_t)tasks->clock_offset;
}

uint64_t task_iterator_clock_error(const struct task_iterator *tasks)
{
	return tasks->clock_error;
}

/* --- walking --- */

struct error *task_iterator_begin(struct task_iterator *tasks, bool is_ext_on)
{
	union bpf_attr attr = { 0 };

	if (tasks->walk >= 0)
		close(tasks->walk);
	compare_clocks(tasks);
	tasks->batch->is_ext_on = is_ext_on;
	tasks->batch->last_tgid = 0;
	attr.iter_create.link_fd = (__u32)tasks->program->links.walk_fd;
	tasks->walk = skel_sys_bpf(BPF_ITER_CREATE, &attr, sizeof(attr));
	tasks->ended = false;
	return tasks->walk < 0 ? error_system(errno, "the task iterator") : NULL;
}

struct error *task_iterator_next(struct task_iterator *tasks, struct task_batch_view *ret)
{
	char nothing[1];
	ssize_t got = 0;

	tasks->batch->count = 0;
	/* EAGAIN says that the batch is full, or that very many threads were passed. */
	if (!tasks->ended) {
		do
			got = read(tasks->walk, nothing, sizeof(nothing));
		while (got < 0 && (errno == EINTR || (errno == EAGAIN && !tasks->batch->count)));
		if (got < 0 && errno != EAGAIN)
			return error_system(errno, "the task iterator");
		tasks->ended = got == 0;
	}
	*ret = (struct task_batch_view){
		.records = tasks->batch->records,
		.count = tasks->batch->count,
		.cpus = tasks->batch->cpus,
	};
	return NULL;
}

/* --- the kernel --- */

/* Without the clocks the starts of waits mean nothing. */
#define CLOCK_FEATURES \
	(1u << TASK_HAS_QUEUED_SINCE | 1u << TASK_HAS_BLKIO_SINCE | 1u << TASK_HAS_STATISTICS_SINCE)

bool task_iterator_has(const struct task_iterator *tasks, enum task_feature feature)
{
	if (!tasks->clocks_compared && CLOCK_FEATURES >> feature & 1)
		return false;
	return tasks->program->bss->kernel.features >> feature & 1;
}

bool task_iterator_counts(const struct task_iterator *tasks, enum task_counter counter)
{
	return tasks->program->bss->kernel.counters[counter / 64] >> (counter % 64) & 1;
}

const __u64 *task_iterator_active_cpus(const struct task_iterator *tasks, size_t *ret_words)
{
	*ret_words = tasks->program->bss->kernel.cpu_words;
	return task_iterator_has(tasks, TASK_HAS_ACTIVE_CPUS)
		       ? tasks->program->bss->kernel.active_cpus
		       : NULL;
}

struct task_iterator_cost task_iterator_cost(const struct task_iterator *tasks)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (__u32)tasks->program->progs.walk.prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	if (skel_sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) < 0)
		return (struct task_iterator_cost){ 0 };
	return (struct task_iterator_cost){ .runs = info.run_cnt, .ns = info.run_time_ns };
}
