/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../kmod/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kstats/spec.h"
#include "unit/unit.h"

/* The request of a command, whose texts are in `bytes`. */
static int parse(const char *command, char *bytes, struct kstats_request *ret)
{
	size_t length = strlen(command);

	memcpy(bytes, command, length);
	return kstats_request_parse(bytes, length, ret);
}

static const struct {
	const char *command;
	enum kstats_verb verb;
	const char *name, *start, *end;
	unsigned frac_bits;
} taken[] = {
	{ "trace vfs_read", KSTATS_TRACE, "vfs_read", "vfs_read", NULL, 3 },
	{ "trace some_function bits 3\n", KSTATS_TRACE, "some_function", "some_function", NULL, 3 },
	{ "\t TRACE  a BITS 0\r\nStArT x EnD y ", KSTATS_TRACE, "a", "x", "y", 0 },
	{ "trace a end y start x bits 5 bits 4 start z", KSTATS_TRACE, "a", "z", "y", 4 },
	{ "trace a start tracepoint:sched:sched_switch end __tracepoint_x", KSTATS_TRACE, "a",
	  "tracepoint:sched:sched_switch", "__tracepoint_x", 3 },
	{ "trace a end y", KSTATS_TRACE, "a", "a", "y", 3 },
	{ "trace a bits 0x2", KSTATS_TRACE, "a", "a", NULL, 2 },
	{ "trace a bits 03", KSTATS_TRACE, "a", "a", NULL, 3 },
	{ "trace trace start remove", KSTATS_TRACE, "trace", "remove", NULL, 3 },
	{ "trace a start nf_tables:nft_do_chain", KSTATS_TRACE, "a", "nf_tables:nft_do_chain", NULL,
	  3 },
	{ "remove a", KSTATS_REMOVE, "a", NULL, NULL, 0 },
	{ "Remove * ", KSTATS_REMOVE_ALL, NULL, NULL, NULL, 0 },
};

static void expect_same(const char *got, const char *wanted)
{
	if (!wanted)
		assert_null(got);
	else
		assert_string_equal(got, wanted);
}

TEST(commands_are_taken)
{
	char bytes[KSTATS_COMMAND_MAX + 1];
	struct kstats_request request;

	for (size_t i = 0; i < array_length(taken); i++) {
		assert_int_equal(parse(taken[i].command, bytes, &request), 0);
		assert_int_equal(request.verb, taken[i].verb);
		expect_same(request.name, taken[i].name);
		expect_same(request.start, taken[i].start);
		expect_same(request.end, taken[i].end);
		assert_int_equal(request.frac_bits, taken[i].frac_bits);
	}
}

static const struct {
	const char *command;
	int failed;
} refused[] = {
	{ "", EINVAL },
	{ " \n", EINVAL },
	{ "trace", EINVAL },
	{ "list a", EINVAL },
	{ "trace a/b", EINVAL },
	{ "trace ..", EINVAL },
	{ "trace a.isra.0", EINVAL },
	{ "trace -a", EINVAL },
	{ "trace *", EINVAL },
	{ "trace _control", EINVAL },
	{ "trace _raw", EINVAL },
	{ "trace gAp-a", EINVAL },
	{ "trace caf\303\251", EINVAL },
	{ "trace a\001", EINVAL },
	{ "trace a\177", EINVAL },
	{ "trace a bits", EINVAL },
	{ "trace a bits 6", EINVAL },
	{ "trace a bits -1", EINVAL },
	{ "trace a begin b", EINVAL },
	{ "trace a b", EINVAL },
	{ "trace a start __tracepoint_", EINVAL },
	{ "trace a start tracepoint:sched", EINVAL },
	{ "trace a start tracepoint:sched:", EINVAL },
	{ "trace a start tracepoint::x", EINVAL },
	{ "trace a start tracepoint:a:b:c", EINVAL },
	{ "trace a start syscall:read", EOPNOTSUPP },
	{ "trace a start x end usdt:/bin/x:y:z", EOPNOTSUPP },
	{ "remove", EINVAL },
	{ "remove a b", EINVAL },
	{ "remove * a", EINVAL },
};

TEST(commands_are_refused)
{
	char bytes[KSTATS_COMMAND_MAX + 1];

	for (size_t i = 0; i < array_length(refused); i++) {
		struct kstats_request request = { .name = "as it was" };

		assert_int_equal(parse(refused[i].command, bytes, &request), -refused[i].failed);
		assert_string_equal(request.name, "as it was");
	}
}

/* A NUL is no end. */
TEST(all_bytes_count)
{
	char bytes[] = "trace a\0 bits 6";
	struct kstats_request request;

	assert_int_equal(kstats_request_parse(bytes, sizeof(bytes) - 1, &request), -EINVAL);
}

TEST(lengths_are_bounded)
{
	char bytes[KSTATS_COMMAND_MAX + 2], command[KSTATS_COMMAND_MAX + 2];
	struct kstats_request request;

	sprintf(command, "trace %0*d", KSTATS_NAME_MAX, 0);
	assert_int_equal(parse(command, bytes, &request), 0);
	sprintf(command, "trace %0*d", KSTATS_NAME_MAX + 1, 0);
	assert_int_equal(parse(command, bytes, &request), -ENAMETOOLONG);
	sprintf(command, "trace a start %0*d", KSTATS_LOCATION_MAX, 0);
	assert_int_equal(parse(command, bytes, &request), 0);
	sprintf(command, "trace a start %0*d", KSTATS_LOCATION_MAX + 1, 0);
	assert_int_equal(parse(command, bytes, &request), -ENAMETOOLONG);
	sprintf(command, "trace a%*s", KSTATS_COMMAND_MAX - 7, "");
	assert_int_equal(parse(command, bytes, &request), 0);
	sprintf(command, "trace a%*s", KSTATS_COMMAND_MAX - 6, "");
	assert_int_equal(parse(command, bytes, &request), -EMSGSIZE);
}

/* The module and ctprof take the same names, with the same errors. */
TEST(names_are_those_of_ctprof)
{
	static const char *const names[] = { "a",    "-a",  "_a",      "A-b_9",    "GAP-x",
					     "gap-", "GAP", "_raw",    "_control", "_raws",
					     "a b",  "",    "caf\303", "a\x7f",    "*",
					     "a.b",  "a/b" };
	char long_name[KSTATS_NAME_MAX + 2];

	for (size_t i = 0; i < array_length(names); i++) {
		struct error *err = kstats_name_check(names[i]);

		assert_int_equal(kstats_name_errno(names[i]), err ? -err->errnum : 0);
		error_destroy(err);
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(kstats_name_errno(long_name), -ENAMETOOLONG);
	expect_error(kstats_name_check(long_name), "64 bytes");
}

TEST(places)
{
	struct kstats_location place;

	assert_int_equal(kstats_location_parse("vfs_read", &place), 0);
	assert_int_equal(place.kind, KSTATS_FUNCTION);
	assert_string_equal(place.name, "vfs_read");
	assert_int_equal(kstats_location_parse("__tracepoint_sched_switch", &place), 0);
	assert_int_equal(place.kind, KSTATS_TRACEPOINT);
	assert_string_equal(place.name, "sched_switch");
	assert_int_equal(kstats_location_parse("tracepoint:sched:sched_switch", &place), 0);
	assert_int_equal(place.kind, KSTATS_EVENT);
	assert_string_equal(place.name, "sched_switch");
	expect_text(((struct text){ place.system, place.system_length }), "sched");
}

UNIT_TESTS(cmocka_unit_test(commands_are_taken), cmocka_unit_test(commands_are_refused),
	   cmocka_unit_test(all_bytes_count), cmocka_unit_test(lengths_are_bounded),
	   cmocka_unit_test(names_are_those_of_ctprof), cmocka_unit_test(places))
