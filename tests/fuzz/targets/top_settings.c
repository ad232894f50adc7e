/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "tui/flame_settings.h"
#include "tui/settings.h"

/* Each column has one place. */
static void check_columns(const struct column_choice *columns)
{
	bool is_there[TOP_COLUMN_COUNT] = { false };
	size_t on = 0;

	for (size_t i = 0; i < TOP_COLUMN_COUNT; i++) {
		must(columns->order[i] < TOP_COLUMN_COUNT && !is_there[columns->order[i]]);
		is_there[columns->order[i]] = true;
		on += columns->is_on[i];
	}
	must(on);
}

/* What is written of it is read as the same. */
static void check_again(const struct screen_settings *settings)
{
	char note[SETTINGS_NOTE_MAX], *text = screen_settings_print(settings);
	struct screen_settings again;

	must(text);
	screen_settings_parse(text_of(text), &again, note);
	must(!*note && again.has_columns == settings->has_columns &&
	     again.has_sort == settings->has_sort);
	must(!settings->has_columns || column_choice_is(&again.columns, &settings->columns));
	must(!settings->has_sort || again.sort.key == settings->sort.key);
	must(!settings->interval_ns == !again.interval_ns);
	free(text);
}

static void check_note(const char note[SETTINGS_NOTE_MAX])
{
	must(memchr(note, '\0', SETTINGS_NOTE_MAX));
	for (const char *at = note; *at; at++)
		must((unsigned char)*at >= ' ');
}

static void check_flame(struct text bytes)
{
	struct flame_settings settings, again;
	char note[SETTINGS_NOTE_MAX], *text;

	flame_settings_parse(bytes, &settings, note);
	check_note(note);
	text = flame_settings_print(&settings);
	must(text);
	flame_settings_parse(text_of(text), &again, note);
	must(!*note && again.root_is_below == settings.root_is_below &&
	     again.by_total == settings.by_total && again.sum == settings.sum);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct screen_settings settings;
	char note[SETTINGS_NOTE_MAX];

	screen_settings_parse(bytes, &settings, note);
	check_note(note);
	if (settings.has_columns)
		check_columns(&settings.columns);
	must(!settings.interval_ns || settings.interval_ns >= SETTINGS_INTERVAL_MIN_NS);
	check_again(&settings);
	check_flame(bytes);
	fuzz_release(bytes);
	return 0;
}
