/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/parser_sandbox.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "unit/unit.h"

static bool fails_with(long result, int expected)
{
	return result < 0 && errno == expected;
}

/* Calls that a thread which parses needs for itself, and the same calls for what is not its own. It
 * ends the process by the bare call: at the end of a thread and in _exit() the sanitizer makes one
 * that is refused. */
static void call(void *argument)
{
	struct rlimit limit;
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const bool as_expected = fails_with(ioctl(file, TCGETS, &limit), ENOTTY) &&
				 fails_with(ioctl(file, TIOCSTI, "x"), EPERM) &&
				 !syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), 0) &&
				 fails_with(syscall(SYS_tgkill, getppid(), getppid(), 0), EPERM) &&
				 !prlimit(0, RLIMIT_NOFILE, NULL, &limit) &&
				 fails_with(prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit), EPERM);

	(void)argument;
	syscall(SYS_exit_group, !as_expected);
}

TEST(terminals_and_processes_of_others_are_out_of_reach)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	int status;
	pid_t child;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		skip();
	/* A process of its own, for it stays confined. */
	child = fork();
	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			_exit(2);
		parser_sandbox_begin();
		error_destroy(thread_run_confined(THREAD_PARSER, call, NULL, "test"));
		_exit(3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

UNIT_TESTS(cmocka_unit_test(terminals_and_processes_of_others_are_out_of_reach))
