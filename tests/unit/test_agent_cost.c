/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent_cost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/unit.h"

#define BURNT_NS   ((uint64_t)NS_PER_S / 5)
#define HELD_BYTES ((size_t)32 << 20)
/* Times of descendants are in clock ticks. */
#define TICKS_NS ((uint64_t)NS_PER_S / 20)

static void burn(void)
{
	const uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + BURNT_NS;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
}

/* A child whose child uses CPU time and memory, says so, and ends when it is killed or this process
 * closes `*ret_end`. */
static pid_t start_descendants(int *ret_end)
{
	int ready[2], end[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	child = fork();
	if (!child) {
		close(end[1]);
		if (!fork()) {
			char *held = malloc(HELD_BYTES);

			memset(held, 1, HELD_BYTES);
			burn();
			(void)!write(ready[1], held, 1);
			(void)!read(end[0], held, 1);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	close(ready[1]);
	close(end[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*ret_end = end[1];
	return child;
}

static void descendants_count(void **state)
{
	struct agent_cost cost = { 0 };
	const int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t alone_bytes;
	pid_t child;
	int end;

	(void)state;
	agent_cost_read(&cost, proc);
	alone_bytes = cost.memory_bytes;
	assert_true(alone_bytes > 0);
	child = start_descendants(&end);
	agent_cost_read(&cost, proc);
	if (!cost.processes.count)
		skip();
	assert_int_equal(cost.processes.count, 2);
	assert_true(cost.cpu_ns >= BURNT_NS - TICKS_NS);
	assert_true(cost.memory_bytes >= alone_bytes + HELD_BYTES);
	/* What was counted does not count again, and what has ended takes nothing back. */
	agent_cost_read(&cost, proc);
	assert_true(cost.cpu_ns < BURNT_NS / 2);
	close(end);
	assert_int_equal(waitpid(child, NULL, 0), child);
	agent_cost_read(&cost, proc);
	assert_int_equal(cost.processes.count, 0);
	assert_true(cost.cpu_ns < BURNT_NS / 2);
	assert_true(cost.memory_bytes < alone_bytes + HELD_BYTES);
	agent_cost_deinit(&cost);
	close(proc);
}

static void own_time_counts(void **state)
{
	struct agent_cost cost = { 0 };
	const int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t before, after;

	(void)state;
	agent_cost_read(&cost, proc);
	before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	burn();
	after = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	agent_cost_read(&cost, proc);
	assert_true(cost.cpu_ns >= after - before);
	agent_cost_deinit(&cost);
	close(proc);
}

UNIT_TESTS(cmocka_unit_test(descendants_count), cmocka_unit_test(own_time_counts))
