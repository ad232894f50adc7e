/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame_gate.h"

#include <math.h>

#include "unit/profile_scene.h"
#include "unit/unit.h"

/* --- the grammar --- */

static void expect_condition(const char *text, enum flame_condition_kind kind, const char *pattern)
{
	struct flame_gate gate = { 0 };

	expect_ok(flame_gate_add(&gate, text));
	assert_int_equal(gate.items[0].kind, kind);
	assert_string_equal(gate.items[0].pattern, pattern);
	flame_gate_deinit(&gate);
}

static void expect_wrong(const char *text, const char *message)
{
	struct flame_gate gate = { 0 };

	expect_error(flame_gate_add(&gate, text), message);
	assert_int_equal(gate.count, 0);
	flame_gate_deinit(&gate);
}

TEST(kinds_and_names)
{
	expect_condition("func:parse_json > +2%", FLAME_CONDITION_FUNC, "parse_json");
	expect_condition("parse_json > 2%", FLAME_CONDITION_FUNC, "parse_json");
	expect_condition("off: pthread_* >= 5ms", FLAME_CONDITION_OFF, "pthread_*");
	expect_condition("all:f < -3%", FLAME_CONDITION_ALL, "f");
	expect_condition("group:nginx > 1s", FLAME_CONDITION_GROUP, "nginx");
	expect_condition("group-off:nginx > 1s", FLAME_CONDITION_GROUP_OFF, "nginx");
}

TEST(names_have_colons_and_operators)
{
	expect_condition("std::sort > 2%", FLAME_CONDITION_FUNC, "std::sort");
	expect_condition("func:std::vector<int>::push_back > 2%", FLAME_CONDITION_FUNC,
			 "std::vector<int>::push_back");
	expect_condition("off:std::mutex::lock > 2%", FLAME_CONDITION_OFF, "std::mutex::lock");
}

TEST(wrong_conditions)
{
	expect_wrong("fucn:f > 2%", "unknown kind 'fucn': expected one of func off all group");
	expect_wrong("f", "missing operator");
	expect_wrong("func: > 2%", "missing name");
	expect_wrong("f > much", "invalid amount 'much'");
	expect_wrong("f > 2KiB", "invalid amount '2KiB'");
}

/* --- verdicts --- */

#define RUNS 5

/* Each run has one value of "main;f", of the second half more; g is the same; h off the CPU. */
static struct flame *compare(double more)
{
	static const uint64_t values[RUNS] = { 1000, 1010, 990, 1005, 995 };
	const struct flame_view view = { .group_by = FLAME_BY_PROGRAM };
	struct profile *profiles[2][RUNS];
	const struct profile *sides[2][RUNS];
	struct flame *flame;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < RUNS; i++) {
			struct profile *p = build_profile();
			uint32_t t = build_profile_thread(p, 1, 1, "app", "app", NULL);
			double f = (double)values[i] * 1000 * (side ? 1 + more : 1);

			build_sample(p, t, CLASS_ON_CPU, "main;f", (uint64_t)f, 1);
			build_sample(p, t, CLASS_ON_CPU, "main;g", values[i] * 2000, 1);
			build_sample(p, t, CLASS_INTERRUPTIBLE, "main;h", values[i] * 5000, 1);
			build_sample(p, t, CLASS_ON_CPU, "main;tiny", 1, 1);
			profiles[side][i] = p;
			sides[side][i] = p;
		}
	expect_ok(flame_create_diff(&(struct flame_runs){ sides[1], RUNS },
				    &(struct flame_runs){ sides[0], RUNS }, &view, &flame));
	for (size_t i = 0; i < RUNS; i++) {
		profile_destroy(profiles[0][i]);
		profile_destroy(profiles[1][i]);
	}
	return flame;
}

static enum flame_verdict verdict(double more, const char *text)
{
	struct flame_gate gate = { 0 };
	struct flame *flame = compare(more);
	enum flame_verdict ret;

	expect_ok(flame_gate_add(&gate, text));
	expect_ok(flame_gate_judge(&gate, flame));
	/* Judging again is the same. */
	expect_ok(flame_gate_judge(&gate, flame));
	flame_destroy(flame);
	ret = flame_gate_verdict(&gate);
	assert_int_equal(ret, gate.items[0].verdict);
	flame_gate_deinit(&gate);
	return ret;
}

TEST(a_known_change_beyond_the_bound_breaks_it)
{
	assert_int_equal(verdict(0.1, "func:f > +2%"), FLAME_BROKEN);
	assert_int_equal(verdict(0.1, "f > 50us"), FLAME_BROKEN);
	assert_int_equal(verdict(0.1, "group:app > 1%"), FLAME_BROKEN);
	assert_int_equal(verdict(0.1, "* > 2%"), FLAME_BROKEN);
	assert_int_equal(verdict(-0.1, "f < -2%"), FLAME_BROKEN);
}

/* 10 % more is not known to be more than 9.9 %. */
TEST(otherwise_it_holds)
{
	assert_int_equal(verdict(0.1, "f > 9.9%"), FLAME_HOLDS);
	assert_int_equal(verdict(0.1, "f > 200us"), FLAME_HOLDS);
	assert_int_equal(verdict(0.1, "f < 0%"), FLAME_HOLDS);
	assert_int_equal(verdict(0.1, "func:g > 0%"), FLAME_HOLDS);
	assert_int_equal(verdict(0.1, "off:h > 0%"), FLAME_HOLDS);
	assert_int_equal(verdict(0, "f > 0%"), FLAME_HOLDS);
}

TEST(what_was_not_compared_is_undecided)
{
	assert_int_equal(verdict(0.1, "nothing > 2%"), FLAME_UNDECIDED);
	assert_int_equal(verdict(0.1, "tiny > 2%"), FLAME_UNDECIDED);
	assert_int_equal(verdict(0.1, "func:app > 2%"), FLAME_UNDECIDED);
}

TEST(the_worst_of_several_counts)
{
	struct flame_gate gate = { 0 };
	struct flame *flame = compare(0.1);

	expect_ok(flame_gate_add(&gate, "func:g > 2%"));
	expect_ok(flame_gate_judge(&gate, flame));
	assert_int_equal(flame_gate_verdict(&gate), FLAME_HOLDS);
	expect_ok(flame_gate_add(&gate, "func:none > 2%"));
	expect_ok(flame_gate_judge(&gate, flame));
	assert_int_equal(flame_gate_verdict(&gate), FLAME_UNDECIDED);
	expect_ok(flame_gate_add(&gate, "func:f > 2%"));
	expect_ok(flame_gate_judge(&gate, flame));
	assert_int_equal(flame_gate_verdict(&gate), FLAME_BROKEN);
	flame_destroy(flame);
	flame_gate_deinit(&gate);
}

UNIT_TESTS(cmocka_unit_test(kinds_and_names), cmocka_unit_test(names_have_colons_and_operators),
	   cmocka_unit_test(wrong_conditions),
	   cmocka_unit_test(a_known_change_beyond_the_bound_breaks_it),
	   cmocka_unit_test(otherwise_it_holds),
	   cmocka_unit_test(what_was_not_compared_is_undecided),
	   cmocka_unit_test(the_worst_of_several_counts))
