/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/condition.h"

#include <math.h>
#include <string.h>

#include "unit/kstats_scene.h"

/* --- expressions --- */

TEST(expressions)
{
	struct kstats_condition c;

	expect_ok(kstats_condition_parse(" 12:re*ds : p99.9 >= 5ms ", &c));
	assert_string_equal(c.group, "12:re*ds");
	assert_int_equal(c.aspect.quantity, KSTATS_QUANTITY_PERCENTILE);
	assert_true(fabs(c.aspect.fraction - 0.999) < 1e-12);
	assert_int_equal(c.operator, CONDITION_AT_LEAST);
	assert_true(c.bound.value == 5e6 && !c.bound.percent);
	assert_true(kstats_condition_is_about(&c, "12:reads"));
	assert_false(kstats_condition_is_about(&c, "13:reads"));
	kstats_condition_clear(&c);
	expect_ok(kstats_condition_parse("count<-50%", &c));
	assert_null(c.group);
	assert_true(c.bound.value == -50 && c.bound.percent);
	assert_true(kstats_condition_is_about(&c, "anything"));
	kstats_condition_clear(&c);
}

TEST(refused_expressions)
{
	static const char *const wrong[] = {
		"",          "p99",        "p99 >",     "p99 > x",   "p101 > 1",
		"p > 1",     "p99 = 1",    "> 1",       "reads > 1", "count > 1ms",
		"lost > 1s", "p99 > 1MiB", "reads:> 1", "p99 > 1 2",
	};

	for (size_t i = 0; i < array_length(wrong); i++) {
		struct kstats_condition c = { .text = "untouched" };
		struct error *err = kstats_condition_parse(wrong[i], &c);

		if (!err)
			fail_msg("accepted '%s'", wrong[i]);
		error_destroy(err);
		assert_string_equal(c.text, "untouched");
	}
}

/* --- judging --- */

static enum kstats_verdict judge(const char *text, const struct kstats_table *before,
				 const struct kstats_table *after, struct kstats_measured *ret)
{
	struct kstats_distribution old = scene_kstats_all(before), new = scene_kstats_all(after);
	struct kstats_condition c;
	enum kstats_verdict verdict;

	expect_ok(kstats_condition_parse(text, &c));
	verdict = kstats_condition_judge(&c, before, after, &old, &new, ret);
	kstats_condition_clear(&c);
	kstats_distribution_clear(&old);
	kstats_distribution_clear(&new);
	return verdict;
}

static void expect_verdict(const char *text, const struct kstats_table *before,
			   const struct kstats_table *after, enum kstats_verdict wanted)
{
	struct kstats_measured change;
	enum kstats_verdict verdict = judge(text, before, after, &change);

	if (verdict != wanted)
		fail_msg("'%s': %d, not %d (%f..%f)", text, verdict, wanted, change.low,
			 change.high);
}

/* 1000 is in the slot 960..1023, 2000 in 1920..2047: the change is from 897 to 1087, that is from
 * 87.7 % to 113.2 %. */
TEST(changes_with_bounds)
{
	struct kstats_table *before = scene_kstats("reads", 3), *after = scene_kstats("reads", 3);
	struct kstats_measured change;

	for (unsigned i = 0; i < 100; i++) {
		scene_kstats_record(before, 0, NULL, 1000);
		scene_kstats_record(after, 0, NULL, 2000);
	}
	assert_int_equal(judge("p50 > 10ns", before, after, &change), KSTATS_BROKEN);
	assert_true(change.low == 897 && change.high == 1087);
	assert_int_equal(judge("p50 > 10%", before, after, &change), KSTATS_BROKEN);
	assert_in_range(change.low * 10, 876, 877);
	assert_in_range(change.high * 10, 1132, 1133);
	expect_verdict("reads:p99 > 87%", before, after, KSTATS_BROKEN);
	expect_verdict("p99 > 88%", before, after, KSTATS_UNDECIDED);
	expect_verdict("p99 > 113%", before, after, KSTATS_UNDECIDED);
	expect_verdict("p99 > 114%", before, after, KSTATS_KEPT);
	expect_verdict("max >= 897ns", before, after, KSTATS_BROKEN);
	expect_verdict("max > 897ns", before, after, KSTATS_UNDECIDED);
	expect_verdict("max > 1088", before, after, KSTATS_KEPT);
	/* Means are exact. */
	expect_verdict("mean >= 100%", before, after, KSTATS_BROKEN);
	expect_verdict("mean > 100%", before, after, KSTATS_KEPT);
	expect_verdict("count > 0", before, after, KSTATS_KEPT);
	/* The other way round: to half. */
	expect_verdict("p99 < -40%", after, before, KSTATS_BROKEN);
	expect_verdict("p99 > 0", after, before, KSTATS_KEPT);
	/* Too few values for this percentile. */
	assert_int_equal(judge("p99.9 > 1s", before, after, &change), KSTATS_UNDECIDED);
	assert_true(isnan(change.low));
	kstats_table_destroy(before);
	kstats_table_destroy(after);
}

TEST(counts_and_losses)
{
	struct kstats_table *before = scene_kstats("reads", 3), *after = scene_kstats("reads", 3);

	before->losses_known = after->losses_known = (1u << KSTATS_LOSS_COUNT) - 1;
	before->earlier_known = after->earlier_known = true;
	for (unsigned i = 0; i < 100; i++)
		scene_kstats_record(after, 0, NULL, 5);
	/* A rise from nothing is above every percentage. */
	expect_verdict("count > 1000%", before, after, KSTATS_BROKEN);
	expect_verdict("count >= 100", before, after, KSTATS_BROKEN);
	expect_verdict("count > 100", before, after, KSTATS_KEPT);
	expect_verdict("count < -99%", after, before, KSTATS_BROKEN);
	expect_verdict("lost > 0", before, after, KSTATS_KEPT);
	after->losses[KSTATS_LOSS_full] = 3;
	expect_verdict("lost > 2", before, after, KSTATS_BROKEN);
	after->losses_known = 0;
	expect_verdict("lost > 5", before, after, KSTATS_UNDECIDED);
	/* Nothing on one side. */
	expect_verdict("p50 > 0", before, after, KSTATS_UNDECIDED);
	expect_verdict("mean > 0", before, after, KSTATS_UNDECIDED);
	/* Times are no bounds of sizes. */
	scene_kstats_word(&before->unit, "");
	scene_kstats_word(&after->unit, "");
	expect_verdict("max > 1ns", after, after, KSTATS_UNDECIDED);
	expect_verdict("max > 1", after, after, KSTATS_KEPT);
	kstats_table_destroy(before);
	kstats_table_destroy(after);
}

UNIT_TESTS(cmocka_unit_test(expressions), cmocka_unit_test(refused_expressions),
	   cmocka_unit_test(changes_with_bounds), cmocka_unit_test(counts_and_losses))
