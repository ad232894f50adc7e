/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/privileges.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "os/pairs.h"
#include "unit/unit.h"

/* Numbers of include/uapi/linux/capability.h. */
enum {
	DAC_OVERRIDE = 1,
	DAC_READ_SEARCH = 2,
	FOWNER = 3,
	SYS_PTRACE = 19,
	SYS_ADMIN = 21,
	SYSLOG = 34,
	PERFMON = 38,
	BPF = 39,
	RESTORE = 40,
};
#define CAP(number) (1ull << (number))

static void expect_missing(uint64_t capabilities, bool has_bpf, const char *expected)
{
	char *said = privileges_missing_of(capabilities, has_bpf);

	if (!expected)
		assert_null(said);
	else
		assert_string_equal(said, expected);
	free(said);
}

TEST(missing_privileges_are_named)
{
	static const char remedy[] =
		" missing; run as root, or grant them to a group (see 'ctprof doctor')";
	const uint64_t reading = CAP(SYSLOG) | CAP(SYS_PTRACE) | CAP(DAC_READ_SEARCH);
	char expected[512];

	expect_missing(UINT64_MAX, true, NULL);
	expect_missing(reading | CAP(BPF) | CAP(PERFMON), true, NULL);
	expect_missing(reading | CAP(SYS_ADMIN), true, NULL);
	expect_missing(reading | CAP(SYS_ADMIN), false, NULL);
	snprintf(expected, sizeof(expected), "CAP_PERFMON (to attach them)%s", remedy);
	expect_missing(reading | CAP(BPF), true, expected);
	snprintf(expected, sizeof(expected),
		 "CAP_BPF (to load programs into the kernel), CAP_PERFMON (to attach them), "
		 "CAP_SYSLOG (to name kernel functions), CAP_SYS_PTRACE (to name functions of "
		 "other users' programs), CAP_DAC_READ_SEARCH (to read their files)%s",
		 remedy);
	expect_missing(0, true, expected);
	expect_missing(reading | CAP(BPF) | CAP(PERFMON), false,
		       "CAP_SYS_ADMIN (to load programs into the kernel) missing; run as root, "
		       "or grant them to a group (see 'ctprof doctor')");
}

/* As the kernel says it. */
static uint64_t set_of(const char *key)
{
	struct file_buffer buffer = { 0 };
	struct text bytes, value;
	uint64_t set;

	if (file_read(AT_FDCWD, "/proc/self/status", &buffer, &bytes) ||
	    !pairs_find(bytes, ':', text_of(key), &value))
		abort();
	set = strtoull(value.bytes, NULL, 16);
	file_buffer_deinit(&buffer);
	return set;
}

/* In a child, which can drop only once. Its status is the number of what is wrong. */
static int drop(unsigned uses, uint64_t expected, uint64_t had)
{
	struct error *err = privileges_keep(uses);

	if (err)
		return 1;
	if (set_of("CapEff") != (expected & had) || set_of("CapPrm") != (expected & had))
		return 2;
	if (set_of("CapInh") || set_of("CapAmb"))
		return 3;
	if (set_of("CapBnd") & ~expected)
		return 4;
	if (set_of("NoNewPrivs") != 1)
		return 5;
	return 0;
}

static void expect_dropped(unsigned uses, uint64_t expected)
{
	const uint64_t had = set_of("CapPrm");
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(drop(uses, expected, had));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(only_needed_privileges_are_kept)
{
	const uint64_t names = CAP(SYS_PTRACE) | CAP(DAC_READ_SEARCH) | CAP(RESTORE);

	if (~set_of("CapPrm") & (names | CAP(8) /* CAP_SETPCAP */ | CAP(BPF) | CAP(SYSLOG)))
		skip();
	expect_dropped(0, 0);
	expect_dropped(PRIVILEGE_READ_PROCESSES, names);
	expect_dropped(PRIVILEGE_NAME_KERNEL | PRIVILEGE_GROW_MAPS, CAP(SYSLOG) | CAP(BPF));
	expect_dropped(PRIVILEGE_WRITE_FILES | PRIVILEGE_READ_PROCESSES,
		       names | CAP(DAC_OVERRIDE) | CAP(FOWNER));
}

UNIT_TESTS(cmocka_unit_test(missing_privileges_are_named),
	   cmocka_unit_test(only_needed_privileges_are_kept))
