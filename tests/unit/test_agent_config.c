/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/config.h"

#include <errno.h>

#include "agent/agent.h"
#include "base/units.h"
#include "unit/unit.h"

static struct error *parse(const char *text, struct config *ret)
{
	return config_parse("agent.conf", strdup(text), strlen(text), ret);
}

static void refuse(const char *text, const char *message)
{
	struct config config;

	expect_error(parse(text, &config), message);
}

TEST(keys_and_values)
{
	struct config config;

	expect_ok(parse("# a comment\n\n  clickhouse = http://a:8123/db?x=y  \nlabel=a=b\n"
			"label = c = d\n\t# another\nkeep = 7d",
			&config));
	assert_int_equal(config.count, 4);
	assert_string_equal(config.items[0].key, "clickhouse");
	assert_string_equal(config.items[0].value, "http://a:8123/db?x=y");
	assert_int_equal(config.items[0].line, 3);
	assert_string_equal(config.items[1].value, "a=b");
	assert_string_equal(config.items[2].value, "c = d");
	assert_string_equal(config.items[3].value, "7d");
	assert_int_equal(config.items[3].line, 7);
	config_deinit(&config);
	expect_ok(parse("", &config));
	assert_int_equal(config.count, 0);
	config_deinit(&config);
}

TEST(a_byte_order_mark_is_skipped)
{
	struct config config;

	expect_ok(parse("\xef\xbb\xbf"
			"clickhouse = x\n",
			&config));
	assert_int_equal(config.count, 1);
	assert_string_equal(config.items[0].key, "clickhouse");
	assert_int_equal(config.items[0].line, 1);
	config_deinit(&config);
	expect_ok(parse("\xef\xbb\xbf", &config));
	assert_int_equal(config.count, 0);
	config_deinit(&config);
	/* Elsewhere it is a part of the key. */
	expect_ok(parse("\n\xef\xbb\xbf"
			"a = x\n",
			&config));
	assert_string_equal(config.items[0].key, "\xef\xbb\xbf"
						 "a");
	config_deinit(&config);
}

TEST(errors_name_the_line)
{
	struct config config;

	refuse("a = b\nword\n", "agent.conf:2: expected 'key = value'");
	refuse("label = a=1 # the rack\n", "agent.conf:1: write the comment on a line of its own");
	refuse("\na =\t# b", "agent.conf:2: write the comment on a line of its own");
	refuse("= b", "agent.conf:1: there is no key");
	refuse("\na =\n", "agent.conf:2: there is no value");
	expect_error(config_parse("agent.conf", memcpy(calloc(1, 8), "a=b\0c", 5), 5, &config),
		     "agent.conf:1: a NUL in the line");
	expect_ok(parse("\nkeep = x", &config));
	expect_error(config_error(&config, &config.items[0], error_create("invalid")),
		     "agent.conf:2: invalid");
	assert_null(config_error(&config, &config.items[0], NULL));
	config_deinit(&config);
}

TEST(an_absent_file)
{
	struct config config;
	_cleanup_error_ struct error *err = config_load("/nonexistent/agent.conf", &config);

	assert_non_null(err);
	assert_int_equal(err->errnum, ENOENT);
}

/* --- times of intervals --- */

#define BEGIN(clock, now, ns, set_back)                                                       \
	({                                                                                    \
		bool was_set_back_;                                                           \
		const uint64_t begun_ =                                                       \
			interval_begin(clock, (now)*NS_PER_S, (ns)*NS_PER_S, &was_set_back_); \
		assert_int_equal(was_set_back_, set_back);                                    \
		begun_ / NS_PER_S;                                                            \
	})

TEST(intervals_do_not_go_back)
{
	struct interval_clock clock = { 0 };

	assert_int_equal(BEGIN(&clock, 1000, 10, false), 990);
	assert_int_equal(BEGIN(&clock, 1010, 10, false), 1000);
	/* The clock is set back by 30 s, and stays so. */
	assert_int_equal(BEGIN(&clock, 990, 10, false), 1001);
	assert_int_equal(BEGIN(&clock, 1000, 10, false), 1002);
	assert_int_equal(BEGIN(&clock, 1013, 10, false), 1003);
	/* It has caught up, though an interval was read late. */
	assert_int_equal(BEGIN(&clock, 1025, 10, false), 1015);
	assert_int_equal(BEGIN(&clock, 1033, 10, false), 1023);
	/* Two intervals that begin in one second. */
	assert_int_equal(BEGIN(&clock, 1033, 10, false), 1024);
	/* It is set forward. */
	assert_int_equal(BEGIN(&clock, 5000, 10, false), 4990);
	/* By an hour: the wrong times would stay for long. */
	assert_int_equal(BEGIN(&clock, 1400, 10, true), 1390);
	assert_int_equal(BEGIN(&clock, 1410, 10, false), 1400);
	/* Later than planned: the interval is longer, and nothing is missing. */
	assert_int_equal(BEGIN(&clock, 1437, 27, false), 1410);
}

UNIT_TESTS(cmocka_unit_test(keys_and_values), cmocka_unit_test(a_byte_order_mark_is_skipped),
	   cmocka_unit_test(errors_name_the_line), cmocka_unit_test(an_absent_file),
	   cmocka_unit_test(intervals_do_not_go_back))
