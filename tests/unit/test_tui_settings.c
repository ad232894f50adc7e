/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/settings.h"

#include "tui/flame_settings.h"

#include "unit/unit.h"

static struct screen_settings parse(const char *text, const char *wanted_note)
{
	struct text given = guarded(text, strlen(text));
	struct screen_settings settings;
	char note[SETTINGS_NOTE_MAX];

	screen_settings_parse(given, &settings, note);
	assert_string_equal(note, wanted_note);
	unguard(given);
	return settings;
}

TEST(what_is_written_is_read_again)
{
	struct screen_settings settings = {
		.has_columns = true,
		.has_sort = true,
		.sort = { .key = STATE_SORT_STATE, .state = STATE_LOCK, .reverse = true },
		.interval_ns = 2 * NS_PER_S
	};
	struct screen_settings again;
	char *text;

	assert_null(column_choice_parse(TEXT("now,tid,lock_futex,command"), &settings.columns));
	text = screen_settings_print(&settings);
	assert_non_null(strstr(text, "\ncolumns now,tid,lock_futex,command\nsort -lock\n"));
	again = parse(text, "");
	assert_true(again.has_columns && column_choice_is(&again.columns, &settings.columns));
	assert_true(again.has_sort && again.sort.key == STATE_SORT_STATE &&
		    again.sort.state == STATE_LOCK && again.sort.reverse);
	assert_int_equal(again.interval_ns, 2 * NS_PER_S);
	free(text);
}

TEST(every_order_has_a_word)
{
	for (enum state_sort_key key = 0; key < STATE_SORT_COUNT; key++)
		for (enum state s = 0; s < STATE_COUNT; s++) {
			const struct state_sort sort = { .key = key, .state = s };
			struct state_sort again;
			char word[COLUMN_WORD_MAX];

			assert_null(state_sort_parse(text_of(state_sort_word(sort, word)), &again));
			assert_int_equal(again.key, key);
			if (key == STATE_SORT_STATE)
				assert_int_equal(again.state, s);
		}
}

TEST(nothing_is_set_by_nothing)
{
	static const char *const texts[] = { "", "\n\n", "# columns tid\n", "columns\n", "  \n" };

	for (size_t i = 0; i < array_length(texts); i++) {
		const struct screen_settings settings = parse(texts[i], "");

		assert_false(settings.has_columns || settings.has_sort || settings.interval_ns);
	}
}

TEST(unknown_words_are_passed_over)
{
	struct screen_settings settings =
		parse("columns tid,gpu,name,tid,name\nsort best\ninterval 1ms\ncolour red\n",
		      "Settings ignored: 'gpu' and others");
	struct column_choice wanted;

	assert_null(column_choice_parse(TEXT("tid,name"), &wanted));
	assert_true(settings.has_columns && column_choice_is(&settings.columns, &wanted));
	assert_false(settings.has_sort || settings.interval_ns);
	settings = parse("columns gpu,tpu\n", "Settings ignored: 'gpu' and others");
	assert_false(settings.has_columns);
	settings = parse("interval 5s\nfan\x1b[2J 3\n", "Settings ignored: 'fan?[2J'");
	assert_int_equal(settings.interval_ns, 5 * NS_PER_S);
}

TEST(input_has_bounds)
{
	char *text = calloc(1, 2 * SETTINGS_BYTES_MAX);
	struct screen_settings settings;

	memset(text, 'x', 2 * SETTINGS_BYTES_MAX - 1);
	parse(text, "Settings ignored: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'");
	memset(text, '\n', SETTINGS_LINES_MAX);
	strcpy(text + SETTINGS_LINES_MAX, "interval 5s\n");
	settings = parse(text, "");
	assert_int_equal(settings.interval_ns, 0);
	settings = parse(text + 1, "");
	assert_int_equal(settings.interval_ns, 5 * NS_PER_S);
	free(text);
}

TEST(the_usual_columns_are_default)
{
	struct column_choice choice;

	assert_null(column_choice_parse(TEXT("default"), &choice));
	assert_true(column_choice_is_usual(&choice));
	choice.is_on[TOP_COLUMN_PID] = true;
	assert_false(column_choice_is_usual(&choice));
}

TEST(flame_graphs_keep_theirs)
{
	const struct flame_settings settings = { .root_is_below = true, .sum = FLAME_SUM_LAST };
	char note[SETTINGS_NOTE_MAX], *text = flame_settings_print(&settings);
	struct flame_settings again;

	flame_settings_parse(text_of(text), &again, note);
	assert_string_equal(note, "");
	assert_true(again.root_is_below && !again.by_total && again.sum == FLAME_SUM_LAST);
	free(text);
	flame_settings_parse(TEXT("layout sideways\nfunctions total\ndepth 3\n"), &again, note);
	assert_string_equal(note, "Settings ignored: 'sideways' and others");
	assert_true(!again.root_is_below && again.by_total && again.sum == FLAME_SUM_ALL);
}

UNIT_TESTS(cmocka_unit_test(what_is_written_is_read_again),
	   cmocka_unit_test(every_order_has_a_word), cmocka_unit_test(nothing_is_set_by_nothing),
	   cmocka_unit_test(unknown_words_are_passed_over), cmocka_unit_test(input_has_bounds),
	   cmocka_unit_test(the_usual_columns_are_default),
	   cmocka_unit_test(flame_graphs_keep_theirs))
