/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/renamed.h"

#include <stdio.h>

#include "unit/compare_scene.h"

/* Kinds of thread `first` to `end` (excluded) in a cgroup, one thread of each. The letters are far
 * from digits, which patterns would take together. */
static void fill(struct ctprof_snapshot *s, const char *cgroup, unsigned first, unsigned end)
{
	static uint32_t tid = 100;

	for (unsigned i = first; i < end; i++) {
		char name[16];

		snprintf(name, sizeof(name), "kind%c%c", 'g' + i / 10, 'g' + i % 10);
		tid++;
		live_in(s, tid, tid, 1, "p", name, cgroup);
	}
}

static void run_all(struct comparison *c)
{
	c->view.axis = &group_axes[AXIS_ALL];
	comparison_run(c);
}

static const char *pair_text(const struct comparison *c, size_t i)
{
	static char text[256];
	const struct renamed_pair *pair;

	assert_true(i < c->sides.renamed.count);
	pair = &c->sides.renamed.items[i];
	snprintf(text, sizeof(text), "%s is %s %zu/%zu", pair->baseline->bytes,
		 pair->candidate->bytes, pair->common, pair->all);
	return text;
}

/* How many kinds each side has in all, and how many of them both: is it found? */
static void check_boundary(unsigned old, unsigned new, unsigned common, bool expected)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/old", 0, old);
	fill(c.after[0], "/new", old - common, old - common + new);
	run_all(&c);
	if (c.sides.renamed.count != (expected ? 1 : 0))
		fail_msg("%u and %u kinds, %u common: %zu pairs", old, new, common,
			 c.sides.renamed.count);
	if (expected) {
		assert_int_equal(c.sides.renamed.items[0].common, common);
		assert_int_equal(c.sides.renamed.items[0].all, old + new - common);
	}
	comparison_end(&c);
}

TEST(ten_kinds_at_least)
{
	check_boundary(9, 9, 9, false);
	check_boundary(10, 10, 10, true);
	check_boundary(0, 10, 0, false);
	check_boundary(9, 10, 9, false);
	check_boundary(10, 9, 9, false);
}

TEST(nine_in_ten_at_least)
{
	check_boundary(10, 11, 10, true);  /* 10 of 11 = 0.909 */
	check_boundary(11, 10, 10, true);  /* the same from the other side */
	check_boundary(10, 10, 9, false);  /* 9 kinds common */
	check_boundary(10, 12, 10, false); /* 10 of 12 = 0.833 */
	check_boundary(11, 11, 10, false); /* 10 of 12 */
	check_boundary(18, 20, 18, true);  /* 18 of 20 = 0.9, which is enough */
	check_boundary(20, 18, 18, true);
	check_boundary(19, 19, 18, true);  /* 18 of 20 */
	check_boundary(18, 21, 18, false); /* 18 of 21 = 0.857 */
	check_boundary(90, 100, 90, true);
	check_boundary(95, 95, 90, true);  /* 90 of 100 */
	check_boundary(95, 96, 90, false); /* 90 of 101 = 0.891 */
	check_boundary(50, 50, 0, false);
}

/* The name says what it was and what it became; the groups join. */
TEST(a_renamed_cgroup_is_one_group)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/k/old", 0, 10);
	fill(c.after[0], "/k/new", 0, 10);
	run_all(&c);
	assert_string_equal(pair_text(&c, 0), "/k/old is /k/new 10/10");
	assert_int_equal(c.report->shared, 10);
	assert_string_equal(c.sides.keys.items[c.sides.by_name[0]].label->bytes,
			    "/k/old [renamed: new] > p > kindgg");
	assert_int_equal(c.report->only_before.count, 0);
	assert_int_equal(c.report->only_after.count, 0);
	comparison_end(&c);
}

/* Of kinds, not of threads; patterns of both names make a kind. */
TEST(kinds_are_patterns_of_names)
{
	struct comparison c;

	comparison_begin(&c);
	for (uint32_t i = 0; i < 40; i++) {
		live_in(c.before[0], 1, 1 + i, 1, "p", i % 2 ? "worker-1" : "worker-2", "/old");
		live_in(c.after[0], 1, 1 + i, 1, "p", "worker-3", "/new");
	}
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 0);
	comparison_end(&c);

	comparison_begin(&c);
	for (unsigned i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "q%c-%u", 'g' + i, i);
		live_in(c.before[0], 1, 10 + i, 1, name, "t", "/old");
		snprintf(name, sizeof(name), "q%c-%u", 'g' + i, i + 77);
		live_in(c.after[0], 1, 10 + i, 1, name, "t", "/new");
	}
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 1);
	c.view.keys.literal_threads = true;
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 0);
	comparison_end(&c);
}

TEST(cgroups_of_both_sides_are_not_renamed)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/same", 0, 10);
	fill(c.after[0], "/same", 0, 10);
	fill(c.after[0], "/new", 0, 10);
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 0);
	assert_int_equal(c.report->only_after.count, 10);
	comparison_end(&c);
}

TEST(only_on_the_axis_all)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/old", 0, 10);
	fill(c.after[0], "/new", 0, 10);
	c.view.axis = &group_axes[AXIS_CGROUP];
	comparison_run(&c);
	assert_int_equal(c.sides.renamed.count, 0);
	assert_string_equal(unmatched_text(&c, &c.report->only_before), "/old");
	comparison_end(&c);
}

/* "/b" shares 19 of 20 kinds with the new one, "/a" 19 of 21 (0.905). */
TEST(the_best_match_counts)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/a", 0, 19);
	fill(c.before[0], "/a", 40, 41);
	fill(c.before[0], "/b", 1, 20);
	fill(c.after[0], "/new", 0, 20);
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 1);
	assert_string_equal(pair_text(&c, 0), "/b is /new 19/20");
	assert_int_equal(c.report->only_before.count, 20); /* all of "/a" */
	comparison_end(&c);
}

/* The most alike; of two that are as much so, the first by name. */
TEST(equal_matches)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/b", 0, 10);
	fill(c.before[0], "/a", 0, 10);
	fill(c.after[0], "/new", 0, 10);
	run_all(&c);
	assert_string_equal(pair_text(&c, 0), "/a is /new 10/10");
	comparison_end(&c);

	comparison_begin(&c);
	fill(c.before[0], "/a", 0, 10);
	fill(c.before[0], "/b", 0, 10);
	fill(c.before[0], "/b", 50, 51);
	fill(c.after[0], "/new", 0, 10);
	run_all(&c);
	assert_string_equal(pair_text(&c, 0), "/a is /new 10/10");
	comparison_end(&c);

	/* More in it does not make up for less alike. */
	comparison_begin(&c);
	fill(c.before[0], "/a", 0, 20);
	fill(c.before[0], "/b", 1, 22);
	fill(c.after[0], "/new", 0, 21);
	run_all(&c);
	/* "/a": 20 of 21; "/b": 20 of 22. */
	assert_string_equal(pair_text(&c, 0), "/a is /new 20/21");
	comparison_end(&c);
}

/* 180 kinds of 200: ten are of one only and ten of the other, wherever they come. */
TEST(many_kinds)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/first", 190, 200);
	fill(c.before[0], "/old", 0, 190);
	fill(c.after[0], "/new", 10, 200);
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 1);
	assert_string_equal(pair_text(&c, 0), "/old is /new 180/200");
	comparison_end(&c);
}

/* Several may have come out of one: they add up. */
TEST(several_candidates_of_one_baseline)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/old", 0, 10);
	fill(c.after[0], "/new-b", 0, 10);
	fill(c.after[0], "/new-a", 0, 11);
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 2);
	assert_string_equal(pair_text(&c, 0), "/old is /new-a 10/11");
	assert_string_equal(pair_text(&c, 1), "/old is /new-b 10/10");
	expect_delta(&c, SECTION_PRIMARY, "/old [renamed: new-a] > p > kindgg", "thread_count", 1);
	assert_int_equal(c.report->only_after.count, 1); /* the eleventh kind */
	comparison_end(&c);
}

/* "sidecar" has one kind, and "c/d" another each time: they go with the pod they are in. */
TEST(children_are_renamed_too)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/k/pod-x/app", 0, 10);
	fill(c.before[0], "/k/pod-x/sidecar", 50, 51);
	fill(c.before[0], "/k/pod-x/app/deep", 52, 53);
	fill(c.before[0], "/k/pod-x/gone", 53, 54);
	fill(c.before[0], "/k/other/sidecar", 54, 55);
	fill(c.before[0], "/k/pod-xy/sidecar", 55, 56);
	fill(c.after[0], "/k/pod-y/app", 0, 10);
	fill(c.after[0], "/k/pod-y/sidecar", 60, 61);
	fill(c.after[0], "/k/pod-y/app/deep", 62, 63);
	fill(c.after[0], "/k/pod-y/fresh", 63, 64);
	fill(c.after[0], "/k/pod-yy/sidecar", 64, 65); /* not below, though it begins alike */
	run_all(&c);
	assert_int_equal(c.sides.renamed.count, 3);
	assert_string_equal(pair_text(&c, 0), "/k/pod-x/app is /k/pod-y/app 10/10");
	assert_string_equal(pair_text(&c, 1), "/k/pod-x/app/deep is /k/pod-y/app/deep 0/0");
	assert_string_equal(pair_text(&c, 2), "/k/pod-x/sidecar is /k/pod-y/sidecar 0/0");
	comparison_end(&c);
}

/* Swapped, the same pair is found the other way round. */
TEST(swapped_sides)
{
	struct comparison c;

	comparison_begin(&c);
	fill(c.before[0], "/old", 0, 10);
	fill(c.after[0], "/new", 0, 11);
	run_all(&c);
	assert_string_equal(pair_text(&c, 0), "/old is /new 10/11");
	comparison_swap(&c);
	run_all(&c);
	assert_string_equal(pair_text(&c, 0), "/new is /old 10/11");
	comparison_end(&c);
}

/* The first, with the most kinds, are looked at; the note says so. */
TEST(there_is_a_limit)
{
	struct comparison c;

	comparison_begin(&c);
	for (unsigned i = 0; i < RENAMED_CGROUPS_MOST + 1; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%c%c%c", 'g' + i % 19, 'g' + i / 19 % 19,
			 'g' + i / 361);
		fill(c.after[0], path, 0, 10);
	}
	fill(c.after[0], "/real", 0, 11);
	fill(c.before[0], "/old", 0, 11);
	run_all(&c);
	assert_int_equal(c.sides.renamed.not_looked_at, 2);
	assert_int_equal(c.sides.renamed.count, RENAMED_CGROUPS_MOST);
	assert_int_equal(c.report->notes.count, 1);
	assert_non_null(strstr(c.report->notes.items[0], "1024"));
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(ten_kinds_at_least), cmocka_unit_test(nine_in_ten_at_least),
	   cmocka_unit_test(a_renamed_cgroup_is_one_group),
	   cmocka_unit_test(kinds_are_patterns_of_names),
	   cmocka_unit_test(cgroups_of_both_sides_are_not_renamed),
	   cmocka_unit_test(only_on_the_axis_all), cmocka_unit_test(the_best_match_counts),
	   cmocka_unit_test(equal_matches), cmocka_unit_test(many_kinds),
	   cmocka_unit_test(several_candidates_of_one_baseline),
	   cmocka_unit_test(children_are_renamed_too), cmocka_unit_test(swapped_sides),
	   cmocka_unit_test(there_is_a_limit))
