/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/commands.h"
#include "unit/unit.h"

/* Of the program. */
void (*inherited_sigpipe)(int) = SIG_DFL;

static struct run *started(const char *const *command)
{
	struct run *run;

	expect_ok(run_start((char **)(uintptr_t)command, &run));
	return run;
}

static int status_of(const char *const *command)
{
	struct run_result result, again;
	struct run *run = started(command);

	expect_ok(run_go(run));
	expect_ok(run_wait(run, &result));
	expect_ok(run_wait(run, &again));
	assert_int_equal(result.status, again.status);
	assert_true(run_has_ended(run));
	run_destroy(run);
	return result.status;
}

TEST(the_status_is_that_of_a_shell)
{
	assert_int_equal(status_of((const char *const[]){ "true", NULL }), 0);
	assert_int_equal(status_of((const char *const[]){ "sh", "-c", "exit 77", NULL }), 77);
	assert_int_equal(status_of((const char *const[]){ "sh", "-c", "kill -TERM $$", NULL }),
			 128 + SIGTERM);
}

static void read_comm(const char *path, char ret[16 + 1])
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(ret, 17, file));
	fclose(file);
}

TEST(the_command_starts_only_on_run_go)
{
	struct scratch scratch;
	struct run_result result;
	struct run *run;
	char path[64], ours[17], before[17], name[128];

	scratch_init(&scratch);
	snprintf(name, sizeof(name), "%s", scratch_path(&scratch, "made"));
	run = started((const char *const[]){ "touch", name, NULL });
	/* It is us, still. */
	snprintf(path, sizeof(path), "/proc/%d/comm", run_pid(run));
	read_comm(path, before);
	read_comm("/proc/self/comm", ours);
	assert_string_equal(before, ours);
	assert_false(run_has_ended(run));
	assert_int_equal(scratch_count(&scratch), 0);
	expect_ok(run_go(run));
	expect_ok(run_wait(run, &result));
	assert_int_equal(scratch_count(&scratch), 1);
	run_destroy(run);
	scratch_deinit(&scratch);
}

TEST(a_command_that_cannot_run_has_a_reason)
{
	struct run *run = started((const char *const[]){ "/nowhere/at all", NULL });
	struct error *err = run_go(run);

	assert_non_null(err);
	assert_int_equal(err->errnum, ENOENT);
	expect_error(err, "/nowhere/at all: No such file");
	run_destroy(run);
	run = started((const char *const[]){ "/", NULL });
	err = run_go(run);
	assert_non_null(err);
	assert_int_equal(err->errnum, EACCES);
	error_destroy(err);
	run_destroy(run);
}

TEST(its_end_is_seen_without_waiting)
{
	struct run *run = started((const char *const[]){ "sleep", "1000", NULL });
	struct pollfd end = { .fd = run_fd(run), .events = POLLIN };
	struct run_result result;

	expect_ok(run_go(run));
	assert_false(run_has_ended(run));
	if (end.fd >= 0)
		assert_int_equal(poll(&end, 1, 0), 0);
	assert_int_equal(kill(run_pid(run), SIGKILL), 0);
	if (end.fd >= 0)
		assert_int_equal(poll(&end, 1, 60000), 1);
	while (!run_has_ended(run))
		usleep(1000);
	expect_ok(run_wait(run, &result));
	assert_int_equal(result.status, 128 + SIGKILL);
	run_destroy(run);
}

TEST(one_that_never_began_is_gone)
{
	struct run *run = started((const char *const[]){ "true", NULL });
	pid_t pid = run_pid(run);

	run_destroy(run);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST(killed_while_it_waits_is_an_end)
{
	struct run *run = started((const char *const[]){ "true", NULL });
	struct run_result result;

	assert_int_equal(kill(run_pid(run), SIGKILL), 0);
	while (!run_has_ended(run))
		usleep(1000);
	expect_ok(run_go(run));
	expect_ok(run_wait(run, &result));
	assert_int_equal(result.status, 128 + SIGKILL);
	run_destroy(run);
}

static void on_interrupt(int signal)
{
	(void)signal;
}

/* SIGINT is bit 2 of the mask of what is ignored. */
static int ignores_interrupts(void)
{
	return status_of((const char *const[]){
		"sh", "-c", "set -- $(grep SigIgn: /proc/self/status); exit $((0x$2 >> 1 & 1))",
		NULL });
}

/* Ours are as before when it has ended, and its own are what ours were. */
TEST(the_keyboard_is_the_commands)
{
	struct sigaction mine = { .sa_handler = on_interrupt }, during, after;
	struct run *run;

	sigaction(SIGINT, &mine, NULL);
	run = started((const char *const[]){ "true", NULL });
	sigaction(SIGINT, NULL, &during);
	assert_ptr_equal(during.sa_handler, SIG_IGN);
	run_destroy(run);
	sigaction(SIGINT, NULL, &after);
	assert_ptr_equal(after.sa_handler, on_interrupt);
	assert_int_equal(ignores_interrupts(), 0);
	signal(SIGINT, SIG_IGN);
	assert_int_equal(ignores_interrupts(), 1);
	signal(SIGINT, SIG_DFL);
}

/* The kernel has the peak of memory from the fork on. */
TEST(memory_of_the_child_is_not_the_commands)
{
	const size_t bytes = (size_t)64 << 20;
	const char *const small[] = { "true", NULL };
	const char *const large[] = { "sh", "-c", "head -c 150M /dev/zero | tail -c 150M >&-",
				      NULL };
	volatile char *ours = malloc(bytes);
	struct run_result result;
	struct run *run;

	assert_non_null((void *)(uintptr_t)ours);
	for (size_t i = 0; i < bytes; i += 4096)
		ours[i] = 1;
	run = started(small);
	expect_ok(run_go(run));
	expect_ok(run_wait(run, &result));
	assert_true(result.peak_is_ours);
	assert_in_range(result.usage.ru_maxrss, bytes >> 10, LONG_MAX);
	run_destroy(run);

	run = started(large);
	expect_ok(run_go(run));
	expect_ok(run_wait(run, &result));
	assert_false(result.peak_is_ours);
	assert_in_range(result.usage.ru_maxrss, 150 << 10, LONG_MAX);
	run_destroy(run);
	free((void *)(uintptr_t)ours);
}

UNIT_TESTS(cmocka_unit_test(the_status_is_that_of_a_shell),
	   cmocka_unit_test(the_command_starts_only_on_run_go),
	   cmocka_unit_test(a_command_that_cannot_run_has_a_reason),
	   cmocka_unit_test(its_end_is_seen_without_waiting),
	   cmocka_unit_test(one_that_never_began_is_gone),
	   cmocka_unit_test(killed_while_it_waits_is_an_end),
	   cmocka_unit_test(the_keyboard_is_the_commands),
	   cmocka_unit_test(memory_of_the_child_is_not_the_commands))
