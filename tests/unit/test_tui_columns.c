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
	assert_true(column_layout_has(&wide, COLUMN_CGROUP) &&
		    column_layout_has(&wide, COLUMN_USER));
	assert_false(column_layout_has(&narrow, COLUMN_CGROUP) ||
		     column_layout_has(&narrow, COLUMN_USER));
	assert_true(column_layout_has(&narrow, COLUMN_HISTORY) &&
		    column_layout_has(&narrow, COLUMN_NOW));
	assert_true(column_layout_has(&tiny, COLUMN_TID) && column_layout_has(&tiny, COLUMN_NAME) &&
		    column_layout_has(&tiny, COLUMN_STATES));
	assert_int_equal(tiny.count, 3);
	/* Nothing is drawn over something else, and what it does now stays longer than how often it
	 * switches. */
	for (unsigned width = 40; width <= 60; width++) {
		const struct column_layout layout = layout_of(&choice, STATE_BY_THREAD, width);
		const struct column_place *last = &layout.places[layout.count - 1];

		assert_true((unsigned)last->x + last->width <= width);
		assert_false(column_layout_has(&layout, COLUMN_SWITCHES) &&
			     !column_layout_has(&layout, COLUMN_NOW));
	}
	narrow = layout_of(&choice, STATE_BY_THREAD, 60);
	assert_true(column_layout_has(&narrow, COLUMN_ACTIVE) &&
		    column_layout_has(&narrow, COLUMN_NOW));
}

TEST(groups_have_columns_of_their_own)
{
	struct column_choice choice;
	struct column_layout threads, cgroups;

	column_choice_init(&choice);
	threads = layout_of(&choice, STATE_BY_THREAD, 200);
	cgroups = layout_of(&choice, STATE_BY_CGROUP, 200);
	assert_false(column_layout_has(&threads, COLUMN_THREADS));
	assert_true(column_layout_has(&cgroups, COLUMN_THREADS));
	assert_false(column_layout_has(&cgroups, COLUMN_TID) ||
		     column_layout_has(&cgroups, COLUMN_CGROUP));
}

TEST(numbers_stand_where_the_bar_was)
{
	struct column_choice choice;
	struct column_layout layout;
	size_t at = 0;

	column_choice_init(&choice);
	choice.numbers = true;
	choice.is_on[COLUMN_STATE_FIRST + STATE_LOCK_FUTEX] = true;
	layout = layout_of(&choice, STATE_BY_THREAD, 200);
	assert_false(column_layout_has(&layout, COLUMN_STATES));
	while (layout.places[at].column != COLUMN_ACTIVE)
		at++;
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		assert_true(column_layout_has(&layout, COLUMN_STATE_FIRST + state_mains[i]));
	assert_int_equal(layout.places[at + 1].column, COLUMN_STATE_FIRST + STATE_EXEC);
	assert_int_equal(layout.places[at + STATE_MAIN_COUNT + 2].column, COLUMN_NOW);
	choice.is_on[COLUMN_STATES] = false;
	layout = layout_of(&choice, STATE_BY_THREAD, 200);
	assert_false(column_layout_has(&layout, COLUMN_STATE_FIRST + STATE_EXEC));
	assert_true(column_layout_has(&layout, COLUMN_STATE_FIRST + STATE_LOCK_FUTEX));
}

TEST(every_order_has_a_column)
{
	bool keys[STATE_SORT_KEYS] = { false }, states[STATE_COUNT] = { false };

	for (enum tui_column column = 0; column < COLUMN_COUNT; column++) {
		struct state_sort sorts[COLUMN_SORTS_MAX];
		size_t count = column_sorts(column, sorts);

		assert_non_null(column_rows[column].draw);
		assert_non_null(column_rows[column].prose);
		for (size_t i = 0; i < count; i++) {
			keys[sorts[i].key] = true;
			if (sorts[i].key == STATE_SORT_STATE)
				states[sorts[i].state] = true;
		}
	}
	/* BUSY is for programs. */
	for (unsigned i = 0; i < STATE_SORT_KEYS; i++)
		assert_true(keys[i] != (i == STATE_SORT_BUSY));
	for (unsigned i = 0; i < STATE_COUNT; i++)
		assert_true(states[i]);
}

/* The list of columns would not tell them apart. */
TEST(no_two_columns_share_a_head)
{
	for (enum tui_column a = 0; a < COLUMN_COUNT; a++)
		for (enum tui_column b = a + 1; b < COLUMN_COUNT; b++)
			assert_string_not_equal(column_rows[a].head, column_rows[b].head);
}

UNIT_TESTS(cmocka_unit_test(any_width_is_used_and_never_passed),
	   cmocka_unit_test(the_least_important_column_is_dropped_first),
	   cmocka_unit_test(groups_have_columns_of_their_own),
	   cmocka_unit_test(numbers_stand_where_the_bar_was),
	   cmocka_unit_test(every_order_has_a_column),
	   cmocka_unit_test(no_two_columns_share_a_head))
