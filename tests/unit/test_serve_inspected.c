/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inspections that are on their way to the web process, and their answers.
 */
#include "serve/inspected.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "unit/unit.h"

#define T0 (1000 * NS_PER_S)

static bool asks(struct inspecteds *inspecteds, uint32_t tid, uint64_t now)
{
	bool is_new;

	expect_ok(inspecteds_ask(inspecteds, tid, now, &is_new));
	return is_new;
}

static void come(struct inspecteds *inspecteds, uint32_t tid, const char *text, uint64_t now)
{
	const struct reply_header header = { .magic = REPLY_MAGIC,
					     .length = sizeof(header) + strlen(text),
					     .kind = REQUEST_THREAD,
					     .tid = tid };

	expect_ok(inspecteds_take(inspecteds, &header, text, now));
}

TEST(answers_are_shared_while_they_are_fresh)
{
	struct inspecteds inspecteds = { 0 };
	const struct inspected *found;

	assert_null(inspecteds_find(&inspecteds, 7, 0));
	assert_true(asks(&inspecteds, 7, T0));
	assert_false(asks(&inspecteds, 7, T0 + 1));
	assert_null(inspecteds_find(&inspecteds, 7, 0));
	come(&inspecteds, 7, "{}", T0 + 10);
	found = inspecteds_find(&inspecteds, 7, T0 + 10);
	assert_non_null(found);
	assert_string_equal(found->bytes, "{}");
	assert_int_equal(found->length, 2);
	assert_null(inspecteds_find(&inspecteds, 7, T0 + 11));
	assert_null(inspecteds_find(&inspecteds, 8, 0));
	/* The old answer stays until the new one comes. */
	assert_true(asks(&inspecteds, 7, T0 + 20));
	assert_non_null(inspecteds_find(&inspecteds, 7, T0));
	come(&inspecteds, 7, "{1}", T0 + 30);
	assert_string_equal(inspecteds_find(&inspecteds, 7, T0 + 30)->bytes, "{1}");
	inspecteds_deinit(&inspecteds);
}

TEST(few_are_on_their_way)
{
	struct inspecteds inspecteds = { 0 };
	bool is_new;

	for (uint32_t tid = 1; tid <= REQUEST_THREADS_MOST; tid++)
		assert_true(asks(&inspecteds, tid, T0));
	expect_error(inspecteds_ask(&inspecteds, 100, T0, &is_new), "too many");
	assert_false(asks(&inspecteds, 1, T0));
	come(&inspecteds, 3, "{}", T0);
	assert_true(asks(&inspecteds, 100, T0));
	expect_error(inspecteds_ask(&inspecteds, 101, T0, &is_new), "too many");
	/* What never comes is asked for again. */
	assert_true(asks(&inspecteds, 101, T0 + INSPECTED_PATIENCE_NS));
	assert_true(asks(&inspecteds, 1, T0 + INSPECTED_PATIENCE_NS));
	inspecteds_deinit(&inspecteds);
}

TEST(memory_is_bounded)
{
	struct inspecteds inspecteds = { 0 };

	for (uint32_t tid = 1; tid <= 1000; tid++) {
		assert_true(asks(&inspecteds, tid, T0 + tid));
		come(&inspecteds, tid, "{}", T0 + tid);
	}
	/* The oldest make room. */
	for (uint32_t tid = 1; tid <= 1000; tid++)
		assert_int_equal(inspecteds_find(&inspecteds, tid, 0) != NULL,
				 tid > 1000 - INSPECTED_MOST);
	inspecteds_deinit(&inspecteds);
}

TEST(answers_that_nobody_asked_for_are_dropped)
{
	struct inspecteds inspecteds = { 0 };

	come(&inspecteds, 5, "{}", T0);
	come(&inspecteds, 0, "{}", T0);
	assert_null(inspecteds_find(&inspecteds, 5, 0));
	inspecteds_deinit(&inspecteds);
}

UNIT_TESTS(cmocka_unit_test(answers_are_shared_while_they_are_fresh),
	   cmocka_unit_test(few_are_on_their_way), cmocka_unit_test(memory_is_bounded),
	   cmocka_unit_test(answers_that_nobody_asked_for_are_dropped))
