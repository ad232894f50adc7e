/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/columns.h"

#include "unit/unit.h"

static struct column_layout layout_of(const struct column_choice *choice,
				      enum state_grouping grouping, unsigned width)
{
	struct column_layout layout;

	column_layout_make(&layout, choice, grouping, width);
	return layout;
}

/* Columns stand side by side with a space between, and none is beyond its bounds. */
TEST(any_width_is_used_and_never_passed)
{
	struct column_choice choice;

	column_choice_init(&choice);
	for (unsigned width = 0; width < 400; width++)
		for (unsigned grouping = 0; grouping < STATE_GROUPINGS; grouping++) {
			struct column_layout layout = layout_of(&choice, grouping, width);
			int x = 0;

			for (size_t i = 0; i < layout.count; i++) {
				const struct column_row *row =
					&column_rows[layout.places[i].column];

				assert_int_equal(layout.places[i].x, x);
				assert_in_range(layout.places[i].width, row->least, row->most);
				x += (int)layout.places[i].width + 1;
			}
			/* Some stay however little room there is, and none grows without end. */
			if (width >= 60)
				assert_in_range(x - 1, 0, width);
			if (width >= 60 && width <= 180)
				assert_int_equal(x - 1, width);
		}
}

TEST(the_least_important_column_is_dropped_first)
{
	struct column_choice choice;
	struct column_layout wide, narrow, tiny;

	column_choice_init(&choice);
	wide = layout_of(&choice, STATE_BY_THREAD, 200);
	narrow = layout_of(&choice, STATE_BY_THREAD, 80);
	tiny = layout_of(&choice, STATE_BY_THREAD, 10);
	assert_true(column_layout_has(&wide, TOP_COLUMN_CGROUP) &&
		    column_layout_has(&wide, TOP_COLUMN_USER));
	assert_false(column_layout_has(&narrow, TOP_COLUMN_CGROUP) ||
		     column_layout_has(&narrow, TOP_COLUMN_USER));
	assert_true(column_layout_has(&narrow, TOP_COLUMN_HISTORY) &&
		    column_layout_has(&narrow, TOP_COLUMN_NOW));
	assert_true(column_layout_has(&tiny, TOP_COLUMN_TID) &&
		    column_layout_has(&tiny, TOP_COLUMN_NAME) &&
		    column_layout_has(&tiny, TOP_COLUMN_STATES));
	assert_int_equal(tiny.count, 3);
	/* Nothing is drawn over something else, and what it does now stays longer than how often it
	 * switches. */
	for (unsigned width = 40; width <= 60; width++) {
		const struct column_layout layout = layout_of(&choice, STATE_BY_THREAD, width);
		const struct column_place *last = &layout.places[layout.count - 1];

		assert_true((unsigned)last->x + last->width <= width);
		assert_false(column_layout_has(&layout, TOP_COLUMN_SWITCHES) &&
			     !column_layout_has(&layout, TOP_COLUMN_NOW));
	}
	narrow = layout_of(&choice, STATE_BY_THREAD, 60);
	assert_true(column_layout_has(&narrow, TOP_COLUMN_ACTIVE) &&
		    column_layout_has(&narrow, TOP_COLUMN_NOW));
}

TEST(groups_have_columns_of_their_own)
{
	struct column_choice choice;
	struct column_layout threads, cgroups;

	column_choice_init(&choice);
	threads = layout_of(&choice, STATE_BY_THREAD, 200);
	cgroups = layout_of(&choice, STATE_BY_CGROUP, 200);
	assert_false(column_layout_has(&threads, TOP_COLUMN_THREADS));
	assert_true(column_layout_has(&cgroups, TOP_COLUMN_THREADS));
	assert_false(column_layout_has(&cgroups, TOP_COLUMN_TID) ||
		     column_layout_has(&cgroups, TOP_COLUMN_CGROUP));
}

TEST(numbers_stand_where_the_bar_was)
{
	struct column_choice choice;
	struct column_layout layout;
	size_t at = 0;

	column_choice_init(&choice);
	choice.numbers = true;
	choice.is_on[TOP_COLUMN_STATE_FIRST + STATE_LOCK_FUTEX] = true;
	layout = layout_of(&choice, STATE_BY_THREAD, 200);
	assert_false(column_layout_has(&layout, TOP_COLUMN_STATES));
	while (layout.places[at].column != TOP_COLUMN_ACTIVE)
		at++;
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		assert_true(column_layout_has(&layout, TOP_COLUMN_STATE_FIRST + state_mains[i]));
	assert_int_equal(layout.places[at + 1].column, TOP_COLUMN_STATE_FIRST + STATE_EXEC);
	assert_int_equal(layout.places[at + STATE_MAIN_COUNT + 2].column, TOP_COLUMN_NOW);
	choice.is_on[TOP_COLUMN_STATES] = false;
	layout = layout_of(&choice, STATE_BY_THREAD, 200);
	assert_false(column_layout_has(&layout, TOP_COLUMN_STATE_FIRST + STATE_EXEC));
	assert_true(column_layout_has(&layout, TOP_COLUMN_STATE_FIRST + STATE_LOCK_FUTEX));
}

TEST(every_order_has_a_column)
{
	bool keys[STATE_SORT_COUNT] = { false }, states[STATE_COUNT] = { false };

	for (enum top_column column = 0; column < TOP_COLUMN_COUNT; column++) {
		struct state_sort sorts[COLUMN_SORTS_MAX];
		size_t count = column_sorts(column, sorts);

		assert_non_null(column_rows[column].prose);
		for (size_t i = 0; i < count; i++) {
			keys[sorts[i].key] = true;
			if (sorts[i].key == STATE_SORT_STATE)
				states[sorts[i].state] = true;
		}
	}
	/* BUSY is for programs. */
	for (unsigned i = 0; i < STATE_SORT_COUNT; i++)
		assert_true(keys[i] != (i == STATE_SORT_BUSY));
	for (unsigned i = 0; i < STATE_COUNT; i++)
		assert_true(states[i]);
}

TEST(columns_are_named)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "no column" },
		{ "tid,,name", "unknown column ''" },
		{ "tid,nmae", "unknown column 'nmae'" },
		{ "tid,lock_futx", "unknown column 'lock_futx'; did you mean 'lock_futex'?" },
		{ "tid,name,TID", "column 'TID' appears twice" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "unknown column" },
	};
	struct column_choice choice;
	struct column_layout layout;

	for (size_t i = 0; i < array_length(bad); i++) {
		struct error *err = column_choice_parse(text_of(bad[i].text), &choice);

		assert_non_null(err);
		if (!strstr(err->message, bad[i].message))
			fail_msg("%s: %s", bad[i].text, err->message);
		error_destroy(err);
	}
	assert_null(column_choice_parse(TEXT("now, tid,sleep_disk,Owner"), &choice));
	layout = layout_of(&choice, STATE_BY_THREAD, 200);
	assert_int_equal(layout.count, 4);
	assert_int_equal(layout.places[0].column, TOP_COLUMN_NOW);
	assert_int_equal(layout.places[1].column, TOP_COLUMN_TID);
	assert_int_equal(layout.places[2].column, TOP_COLUMN_STATE_FIRST + STATE_SLEEP_DISK);
	assert_int_equal(layout.places[3].column, TOP_COLUMN_USER);
	/* One that is turned on later has a place of its own. */
	choice.is_on[TOP_COLUMN_NAME] = true;
	layout = layout_of(&choice, STATE_BY_THREAD, 200);
	assert_int_equal(layout.count, 5);
	assert_int_equal(layout.places[4].column, TOP_COLUMN_NAME);
}

/* The list of columns would not tell them apart. */
TEST(no_two_columns_share_a_head)
{
	for (enum top_column a = 0; a < TOP_COLUMN_COUNT; a++)
		for (enum top_column b = a + 1; b < TOP_COLUMN_COUNT; b++)
			assert_string_not_equal(column_rows[a].head, column_rows[b].head);
}

UNIT_TESTS(cmocka_unit_test(any_width_is_used_and_never_passed),
	   cmocka_unit_test(the_least_important_column_is_dropped_first),
	   cmocka_unit_test(groups_have_columns_of_their_own),
	   cmocka_unit_test(numbers_stand_where_the_bar_was),
	   cmocka_unit_test(every_order_has_a_column), cmocka_unit_test(columns_are_named),
	   cmocka_unit_test(no_two_columns_share_a_head))
