/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "unit/unit.h"

TEST(numbers_ascending_and_nothing_else)
{
	static const char *const names[] = {
		"10", "9",  "2",  "self",       "12x",        "007",
		"0",  "-3", " 5", "4294967295", "4294967296", "1000000"
	};
	static const uint32_t expected[] = { 2, 9, 10, 1000000, 4294967295 };
	struct tids tids = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(names); i++)
		assert_int_equal(mkdirat(scratch.dir, names[i], 0755), 0);
	/* Twice: what it held is replaced, and the descriptor stays usable. */
	for (int round = 0; round < 2; round++) {
		assert_int_equal(tasks_list(scratch.dir, &tids), 0);
		assert_int_equal(tids.count, array_length(expected));
		assert_memory_equal(tids.items, expected, sizeof(expected));
	}
	array_deinit(&tids);
	scratch_deinit(&scratch);
}

TEST(an_empty_directory)
{
	struct tids tids = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	assert_int_equal(tasks_list(scratch.dir, &tids), 0);
	assert_int_equal(tids.count, 0);
	scratch_deinit(&scratch);
}

TEST(errors)
{
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct tids tids = { 0 };

	assert_int_equal(tasks_list(-1, &tids), EBADF);
	assert_int_equal(tasks_list(file, &tids), ENOTDIR);
	close(file);
}

TEST(we_are_among_our_threads)
{
	int dir = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct tids tids = { 0 };
	bool found = false;

	assert_int_equal(tasks_list(dir, &tids), 0);
	for (size_t i = 0; i < tids.count; i++)
		found |= tids.items[i] == (uint32_t)syscall(SYS_gettid);
	assert_true(found);
	array_deinit(&tids);
	close(dir);
}

/* sysinfo(2) would say 4464 of 70000. */
TEST(all_threads_are_counted)
{
	static const struct {
		const char *line;
		uint32_t count;
	} loads[] = {
		{ "0.20 0.18 0.12 1/70000 11206\n", 70000 },
		{ "0.20 0.18 0.12 3/80 11206\n", 80 },
		{ "0.20 0.18 0.12 3/18446744073709551615 11206\n", 4u << 20 },
		{ "0.20 0.18 0.12\n", 0 },
		{ "", 0 },
	};
	struct scratch scratch;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(loads); i++) {
		scratch_write(&scratch, "loadavg", text_of(loads[i].line));
		assert_int_equal(tasks_count(scratch_path(&scratch, "loadavg")), loads[i].count);
	}
	assert_int_equal(tasks_count(scratch_path(&scratch, "none")), 0);
	assert_true(tasks_count(TASKS_LOADAVG) > 0);
	scratch_deinit(&scratch);
}

TEST(the_dead_are_not_alive)
{
	siginfo_t ended;
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	assert_true(task_is_alive((uint32_t)getpid()));
	assert_false(task_is_alive((uint32_t)child));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(task_is_alive((uint32_t)child));
}

TEST(proc_is_ours_and_other_trees_are_not)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scratch scratch;

	scratch_init(&scratch);
	assert_true(tasks_are_ours(proc));
	assert_int_equal(symlinkat("1", scratch.dir, "self"), 0);
	assert_false(tasks_are_ours(scratch.dir));
	close(proc);
	scratch_deinit(&scratch);
}

TEST(threads_have_leaders)
{
	struct file_buffer buffer = { 0 };
	struct scratch scratch;
	uint32_t leader = 0;

	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "7", 0755), 0);
	assert_int_equal(mkdirat(scratch.dir, "8", 0755), 0);
	scratch_write(&scratch, "7/status", TEXT("Name:\tx\nTgid:\t5\nNgid:\t0\n"));
	scratch_write(&scratch, "8/status", TEXT("Name:\tx\n"));
	assert_int_equal(task_leader(scratch.dir, 7, &buffer, &leader), 0);
	assert_int_equal(leader, 5);
	assert_int_equal(task_leader(scratch.dir, 8, &buffer, &leader), EBADMSG);
	assert_int_equal(task_leader(scratch.dir, 9, &buffer, &leader), ENOENT);
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

/* A child, and a child of it. */
static pid_t fork_two(uint32_t *ret_grandchild)
{
	uint32_t number;
	int channel[2];
	pid_t child;

	assert_int_equal(pipe(channel), 0);
	child = fork();
	if (child == 0) {
		number = (uint32_t)fork();
		if (number)
			(void)!write(channel[1], &number, sizeof(number));
		for (;;)
			pause();
	}
	assert_int_equal(read(channel[0], ret_grandchild, sizeof(*ret_grandchild)),
			 sizeof(*ret_grandchild));
	close(channel[0]);
	close(channel[1]);
	return child;
}

TEST(processes_have_children)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t grandchild;
	const pid_t child = fork_two(&grandchild);
	struct tids tids = { 0 };

	assert_true(array_push(&tids, (uint32_t)getpid()));
	assert_int_equal(tasks_add_children(proc, 2, &tids), 0);
	assert_int_equal(tids.count, 2);
	assert_int_equal(tasks_add_children(proc, 100, &tids), 0);
	assert_int_equal(tids.count, 3);
	assert_int_equal(tids.items[1], child);
	assert_int_equal(tids.items[2], grandchild);
	kill((pid_t)grandchild, SIGKILL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* One that is gone has none. */
	tids.count = 0;
	assert_true(array_push(&tids, (uint32_t)child));
	assert_int_equal(tasks_add_children(proc, 100, &tids), 0);
	assert_int_equal(tids.count, 1);
	close(proc);
	array_deinit(&tids);
}

UNIT_TESTS(cmocka_unit_test(numbers_ascending_and_nothing_else),
	   cmocka_unit_test(an_empty_directory), cmocka_unit_test(errors),
	   cmocka_unit_test(we_are_among_our_threads), cmocka_unit_test(all_threads_are_counted),
	   cmocka_unit_test(the_dead_are_not_alive), cmocka_unit_test(threads_have_leaders),
	   cmocka_unit_test(processes_have_children),
	   cmocka_unit_test(proc_is_ours_and_other_trees_are_not))
