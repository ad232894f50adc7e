/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/task_call.h"

#include "unit/unit.h"

static struct task_call parse(const char *line)
{
	struct text bytes = guarded(line, strlen(line));
	const struct task_call call = task_call_parse(bytes);

	unguard(bytes);
	return call;
}

TEST(calls_and_their_arguments)
{
	const struct task_call call =
		parse("202 0x7f20da7d1000 0x80 0x2 0x0 0x0 0xffffffffffffffff 0x7f20d9ddde98 "
		      "0x7f20da66912b\n");

	assert_int_equal(call.kind, TASK_CALL_IN);
	assert_int_equal(call.number, 202);
	assert_int_equal(call.arguments[0], 0x7f20da7d1000);
	assert_int_equal(call.arguments[2], 2);
	assert_true(call.arguments[5] == UINT64_MAX);
	assert_int_equal(call.stack, 0x7f20d9ddde98);
}

TEST(no_calls)
{
	assert_int_equal(parse("running\n").kind, TASK_CALL_RUNNING);
	assert_int_equal(parse("running").number, -1);
	assert_int_equal(parse("-1 0x7ffe 0x55\n").kind, TASK_CALL_OUTSIDE);
	assert_int_equal(parse("-1 0x7ffe 0x55\n").stack, 0x7ffe);
}

TEST(what_is_not_understood)
{
	static const char *const lines[] = {
		"",
		"\n",
		"202",
		"202 0x1 0x2 0x3 0x4 0x5\n",
		"202 0x1 0x2 0x3 0x4 0x5 0x6\n",
		"202 1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
		"202 0x 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
		"202 0x11112222333344445 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
		"-2 0x1 0x2\n",
		"99999999999 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
		"runnings\n",
	};

	for (size_t i = 0; i < array_length(lines); i++) {
		assert_int_equal(parse(lines[i]).kind, TASK_CALL_UNKNOWN);
		assert_int_equal(parse(lines[i]).number, -1);
	}
}

UNIT_TESTS(cmocka_unit_test(calls_and_their_arguments), cmocka_unit_test(no_calls),
	   cmocka_unit_test(what_is_not_understood))
