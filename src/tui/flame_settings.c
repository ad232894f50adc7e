/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/flame_settings.h"

/* The words of values; the first is the usual one. */
static const char *const layout_words[] = { "icicle", "flame" };
static const char *const function_words[] = { "own", "total" };
static const char *const sum_words[FLAME_SUM_COUNT] = {
	[FLAME_SUM_ALL] = "all",
	[FLAME_SUM_DECAY] = "halved",
	[FLAME_SUM_LAST] = "last",
};

static unsigned choose(struct text value, const char *const *words, unsigned count,
		       struct settings_unknown *unknown)
{
	for (unsigned i = 0; i < count; i++)
		if (text_equal(value, text_of(words[i])))
			return i;
	settings_note_unknown(unknown, value);
	return 0;
}

static void parse_layout(struct text value, void *settings, struct settings_unknown *unknown)
{
	struct flame_settings *ret = settings;

	ret->root_is_below = choose(value, layout_words, array_length(layout_words), unknown);
}

static void parse_functions(struct text value, void *settings, struct settings_unknown *unknown)
{
	struct flame_settings *ret = settings;

	ret->by_total = choose(value, function_words, array_length(function_words), unknown);
}

static void parse_readings(struct text value, void *settings, struct settings_unknown *unknown)
{
	struct flame_settings *ret = settings;

	ret->sum = (enum flame_sum)choose(value, sum_words, FLAME_SUM_COUNT, unknown);
}

static const struct setting_row rows[] = {
	{ "layout", parse_layout },
	{ "functions", parse_functions },
	{ "readings", parse_readings },
};

void flame_settings_parse(struct text text, struct flame_settings *ret,
			  char note[SETTINGS_NOTE_MAX])
{
	*ret = (struct flame_settings){ .sum = FLAME_SUM_ALL };
	settings_text_parse(text, rows, array_length(rows), ret, note);
}

char *flame_settings_print(const struct flame_settings *settings)
{
	return text_print("# Of the flame graphs of ctprof on the terminal, which write this file\n"
			  "# when one of these is changed by a key. Without it, all is as usual.\n"
			  "layout %s\n"
			  "functions %s\n"
			  "readings %s\n",
			  layout_words[settings->root_is_below], function_words[settings->by_total],
			  sum_words[settings->sum]);
}
