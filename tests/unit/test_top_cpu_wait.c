/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/cpu_wait.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "unit/unit.h"

/* A /proc of one's own. */
static struct scratch proc;

static int set_proc(void **state)
{
	static const char *const directories[] = { "7", "8", "9", "sys", "sys/kernel" };

	(void)state;
	scratch_init(&proc);
	for (size_t i = 0; i < array_length(directories); i++)
		mkdirat(proc.dir, directories[i], 0755);
	return 0;
}

static int clear_proc(void **state)
{
	(void)state;
	scratch_deinit(&proc);
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_proc, clear_proc)

static void put(const char *path, const char *bytes)
{
	scratch_write(&proc, path, text_of(bytes));
}

/* --- CPUs --- */

static struct cpu_loads before, now;

/* In the second half of 100 ticks, CPU 0 was idle for 45, CPU 1 for none, and CPU 3 for 5. */
static void put_loads(void)
{
	put("stat", "cpu  0 0 0 0\ncpu0 10 0 0 40 0 0 0 0\ncpu1 50 0 0 0 0 0 0 0\ncpu3 5 0 0 45\n");
	cpu_loads_read(proc.dir, &before);
	put("stat", "cpu  0 0 0 0\ncpu0 15 0 0 75 10 0 0 0\ncpu1 90 0 10 0 0 0 0 0\ncpu3 50 0 0 "
		    "50\nintr 5\n");
	cpu_loads_read(proc.dir, &now);
}

static void put_allowed(const char *thread, const char *list)
{
	_cleanup_free_ char *status = text_print("Name:\tx\nCpus_allowed_list:\t%s\n", list);
	_cleanup_free_ char *path = text_print("%s/status", thread);

	put(path, status);
}

static bool is_pinned(const uint32_t *tids, size_t count, struct cpu_pinning *ret)
{
	return cpu_wait_pinned(proc.dir, tids, count, &before, &now, ret);
}

TEST(other_cpus_were_idle)
{
	struct cpu_pinning pinning;

	put_loads();
	put_allowed("7", "1");
	assert_true(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	assert_string_equal(pinning.cpus, "1");
	assert_true(pinning.is_one);
	assert_int_equal(pinning.others, 2);
	assert_true(pinning.idle == 0.5);
	put_allowed("7", "1,3");
	assert_true(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	assert_string_equal(pinning.cpus, "1,3");
	assert_false(pinning.is_one);
	assert_true(pinning.idle == 0.9);
	cpu_loads_deinit(&before);
	cpu_loads_deinit(&now);
}

TEST(no_other_cpu_was_idle)
{
	struct cpu_pinning pinning;

	put_loads();
	put_allowed("7", "0,3");
	assert_false(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	put_allowed("7", "0-3");
	assert_false(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	put_allowed("7", "0-63");
	assert_false(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	put_allowed("7", "");
	assert_false(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	/* Counters that went back, and a CPU that just came. */
	put_allowed("7", "1");
	put("stat", "cpu0 0 0 0 0\ncpu1 95 0 10 0\ncpu2 0 0 0 90\n");
	cpu_loads_read(proc.dir, &now);
	assert_false(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	put("stat", "cpu0 x\n");
	cpu_loads_read(proc.dir, &now);
	assert_int_equal(now.count, 0);
	assert_false(is_pinned((uint32_t[]){ 7 }, 1, &pinning));
	cpu_loads_deinit(&before);
	cpu_loads_deinit(&now);
}

TEST(threads_of_a_group_are_pinned_alike)
{
	const uint32_t tids[] = { 7, 8, 9 };
	struct cpu_pinning pinning;

	put_loads();
	put_allowed("7", "1");
	put_allowed("9", "1");
	assert_true(is_pinned(tids, 3, &pinning));
	put_allowed("8", "3");
	assert_false(is_pinned(tids, 3, &pinning));
	assert_false(is_pinned(tids, 0, &pinning));
	assert_false(is_pinned((uint32_t[]){ 10 }, 1, &pinning));
	cpu_loads_deinit(&before);
	cpu_loads_deinit(&now);
}

/* --- priorities --- */

struct priority {
	int session, nice, rt, policy;
	const char *cgroup;
};

static void put_priority(const char *thread, const struct priority *p)
{
	_cleanup_free_ char *stat = text_print(
		"%s (a) b) R 1 1 %d 0 -1 0 0 0 0 0 0 0 0 0 20 %d 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		"0 17 1 %d %d 0 0 0\n",
		thread, p->session, p->nice, p->rt, p->policy);
	_cleanup_free_ char *path = text_print("%s/stat", thread);
	_cleanup_free_ char *cgroup = text_print("%s/cgroup", thread);

	put(path, stat);
	put(cgroup, p->cgroup);
}

TEST(priorities)
{
	static const struct {
		struct priority own, rival;
		const char *grouped, *expected;
	} rows[] = {
		{ { 1, 10, 0, SCHED_OTHER, "0::/a\n" },
		  { 1, -5, 0, SCHED_OTHER, "0::/a\n" },
		  "1\n",
		  "its nice value is 10, that of burn -5" },
		{ { 1, 0, 0, SCHED_OTHER, "0::/a\n" },
		  { 1, 0, 0, SCHED_OTHER, "0::/a\n" },
		  "1\n",
		  NULL },
		{ { 1, 0, 0, SCHED_OTHER, "0::/a\n" },
		  { 1, 5, 0, SCHED_OTHER, "0::/a\n" },
		  "1\n",
		  NULL },
		/* Weights of other groups. */
		{ { 1, 10, 0, SCHED_OTHER, "0::/a\n" },
		  { 1, 0, 0, SCHED_OTHER, "0::/b\n" },
		  "0\n",
		  NULL },
		{ { 1, 10, 0, SCHED_OTHER, "0::/a\n" },
		  { 2, 0, 0, SCHED_OTHER, "0::/a\n" },
		  "1\n",
		  NULL },
		{ { 1, 10, 0, SCHED_BATCH, "0::/a\n" },
		  { 2, 0, 0, SCHED_OTHER, "0::/a\n" },
		  "0\n",
		  "its nice value is 10, that of burn 0" },
		{ { 1, 0, 0, SCHED_IDLE, "0::/a\n" },
		  { 1, 19, 0, SCHED_OTHER, "0::/a\n" },
		  "1\n",
		  "its policy is SCHED_IDLE" },
		/* Real time is beyond groups. */
		{ { 1, 0, 0, SCHED_OTHER, "0::/a\n" },
		  { 2, 0, 50, SCHED_FIFO, "0::/b\n" },
		  "1\n",
		  "the policy of burn is SCHED_FIFO, its own SCHED_OTHER" },
		{ { 1, 0, 10, SCHED_RR, "0::/a\n" },
		  { 2, 0, 50, SCHED_FIFO, "0::/b\n" },
		  "1\n",
		  "its real-time priority is 10, that of burn 50" },
		{ { 1, 0, 50, SCHED_RR, "0::/a\n" },
		  { 2, 0, 50, SCHED_FIFO, "0::/a\n" },
		  "1\n",
		  NULL },
		{ { 1, 0, 50, SCHED_RR, "0::/a\n" },
		  { 2, 0, 0, SCHED_OTHER, "0::/a\n" },
		  "1\n",
		  NULL },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		_cleanup_free_ char *said = NULL;

		put("sys/kernel/sched_autogroup_enabled", rows[i].grouped);
		put_priority("7", &rows[i].own);
		put_priority("8", &rows[i].rival);
		said = cpu_wait_priority(proc.dir, 7, 8, "burn");
		if (rows[i].expected)
			assert_string_equal(said, rows[i].expected);
		else
			assert_null(said);
	}
	assert_null(cpu_wait_priority(proc.dir, 7, 9, "burn"));
}

UNIT_TESTS(CASE(other_cpus_were_idle), CASE(no_other_cpu_was_idle),
	   CASE(threads_of_a_group_are_pinned_alike), CASE(priorities))
