/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/help.h"
#include "unit/unit.h"

/* Of the program, which this is not. */
void help_print(FILE *out, const struct command *command)
{
	fprintf(out, "%s\n", command->name);
}

void help_print_short(FILE *out, const struct command *command)
{
	help_print(out, command);
}

/* Process numbers are of 31 bits, and 0 is none. */
static const struct {
	const char *list;
	uint32_t numbers[3];
	const char *error;
} lists[] = {
	{ "1", { 1 }, NULL },
	{ "7,8, 9", { 7, 8, 9 }, NULL },
	{ "2147483647", { 2147483647 }, NULL },
	{ "2147483648", { 0 }, "'2147483648' is not a " },
	{ "4294967297", { 0 }, "'4294967297' is not a " },
	{ "0", { 0 }, "'0' is not a " },
	{ "-1", { 0 }, "'-1' is not a " },
	{ "7,x", { 7 }, "'x' is not a " },
	{ "7,", { 7 }, "empty " },
	{ "", { 0 }, "empty " },
};

static void expect_numbers(const uint32_t *items, size_t count, const uint32_t wanted[3])
{
	for (size_t k = 0; k < 3; k++)
		assert_int_equal(k < count ? items[k] : 0, wanted[k]);
}

TEST(numbers_of_processes)
{
	for (size_t i = 0; i < array_length(lists); i++) {
		struct target target = { 0 };
		struct error *err = parse_pids(lists[i].list, &target);

		if (lists[i].error)
			expect_error(err, lists[i].error);
		else
			expect_ok(err);
		expect_numbers(target.pids.items, target.pids.count, lists[i].numbers);
		target_deinit(&target);
	}
}

TEST(numbers_of_threads)
{
	for (size_t i = 0; i < array_length(lists); i++) {
		struct thread_numbers tids = { 0 };
		struct error *err = parse_tids(lists[i].list, &tids);

		if (lists[i].error)
			expect_error(err, lists[i].error);
		else
			expect_ok(err);
		expect_numbers(tids.items, tids.count, lists[i].numbers);
		array_deinit(&tids);
	}
}

TEST(an_option_may_be_given_again)
{
	static const uint32_t all[3] = { 1, 2, 3 };
	struct target target = { 0 };

	expect_ok(parse_pids("1,2", &target));
	expect_ok(parse_pids("3", &target));
	expect_numbers(target.pids.items, target.pids.count, all);
	expect_ok(parse_cgroup("/first", &target));
	expect_ok(parse_cgroup("second/part", &target));
	assert_string_equal(target.cgroup, "/second/part");
	expect_error(parse_cgroup("", &target), "empty argument");
	target_deinit(&target);
}

/* A child that has ended and was waited for is gone. */
TEST(processes_and_threads_must_be_there)
{
	struct target target = { 0 };
	struct thread_numbers tids = { 0 };
	char number[16], wanted[48];
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	snprintf(number, sizeof(number), "%d", (int)getpid());
	expect_ok(parse_pids(number, &target));
	expect_ok(parse_tids(number, &tids));
	expect_ok(target_check(&target, &tids));
	assert_int_equal(waitpid(child, NULL, 0), child);
	snprintf(number, sizeof(number), "%d", (int)child);
	expect_ok(parse_tids(number, &tids));
	snprintf(wanted, sizeof(wanted), "no thread %d", (int)child);
	expect_error(target_check(&target, &tids), wanted);
	expect_ok(parse_pids(number, &target));
	snprintf(wanted, sizeof(wanted), "no process %d", (int)child);
	expect_error(target_check(&target, &tids), wanted);
	target_deinit(&target);
	array_deinit(&tids);
}

/* A child that has ended and was not waited for is there, but not alive. */
TEST(the_living_of_them_may_be_hidden)
{
	struct target target = { 0 };
	struct thread_numbers tids = { 0 };
	siginfo_t info;
	char number[16], wanted[64];
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(target_alive(&target, &tids), 0);
	snprintf(number, sizeof(number), "%d", (int)child);
	expect_ok(parse_pids(number, &target));
	expect_ok(target_check(&target, &tids));
	assert_int_equal(target_alive(&target, &tids), 0);
	expect_ok(target_hidden(&target, &tids));
	snprintf(number, sizeof(number), "%d", (int)getpid());
	expect_ok(parse_tids(number, &tids));
	assert_int_equal(target_alive(&target, &tids), getpid());
	target_deinit(&target);
	target = (struct target){ 0 };
	snprintf(wanted, sizeof(wanted), "thread %d is alive, but ", (int)getpid());
	expect_error(target_hidden(&target, &tids), wanted);
	assert_int_equal(waitpid(child, NULL, 0), child);
	target_deinit(&target);
	array_deinit(&tids);
}

UNIT_TESTS(cmocka_unit_test(numbers_of_processes), cmocka_unit_test(numbers_of_threads),
	   cmocka_unit_test(an_option_may_be_given_again),
	   cmocka_unit_test(processes_and_threads_must_be_there),
	   cmocka_unit_test(the_living_of_them_may_be_hidden))
