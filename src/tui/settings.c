/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/settings.h"

#include <stdio.h>

#include "base/file.h"
#include "base/units.h"

static void parse_columns(struct text value, void *settings, struct settings_unknown *unknown)
{
	struct screen_settings *ret = settings;
	struct text word;

	ret->has_columns = column_choice_parse_known(value, &ret->columns, &word, &unknown->count);
	if (word.bytes && !unknown->first.bytes)
		unknown->first = word;
}

static void parse_sort(struct text value, void *settings, struct settings_unknown *unknown)
{
	struct screen_settings *ret = settings;
	struct error *err = state_sort_parse(value, &ret->sort);

	ret->has_sort = !err;
	if (err)
		settings_note_unknown(unknown, value);
	error_destroy(err);
}

static void parse_interval(struct text value, void *settings, struct settings_unknown *unknown)
{
	struct screen_settings *ret = settings;
	uint64_t ns;

	if (units_parse_duration(value, &ns) && ns >= SETTINGS_INTERVAL_MIN_NS)
		ret->interval_ns = ns;
	else
		settings_note_unknown(unknown, value);
}

static const struct setting_row setting_rows[] = {
	{ "columns", parse_columns },
	{ "sort", parse_sort },
	{ "interval", parse_interval },
};

void screen_settings_parse(struct text text, struct screen_settings *ret,
			   char note[SETTINGS_NOTE_MAX])
{
	*ret = (struct screen_settings){ .has_columns = false };
	settings_text_parse(text, setting_rows, array_length(setting_rows), ret, note);
}

/* --- writing --- */

static void print_columns(FILE *out, const struct column_choice *columns)
{
	const char *separator = "columns ";
	char word[COLUMN_WORD_MAX];

	for (size_t i = 0; i < TOP_COLUMN_COUNT; i++) {
		if (!columns->is_on[columns->order[i]])
			continue;
		fputs(separator, out);
		fputs(column_word(columns->order[i], word), out);
		separator = ",";
	}
	fputs(*separator == ',' ? "\n" : "", out);
}

char *screen_settings_print(const struct screen_settings *settings)
{
	char *bytes = NULL, interval[UNITS_TEXT_MAX], word[COLUMN_WORD_MAX];
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	if (!out)
		return NULL;
	fputs("# Of ctprof top, which writes this file when columns, the order or the interval "
	      "are\n"
	      "# changed by keys. Without it, all is as usual.\n",
	      out);
	if (settings->has_columns)
		print_columns(out, &settings->columns);
	if (settings->has_sort)
		fprintf(out, "sort %s%s\n", settings->sort.reverse ? "-" : "",
			state_sort_word(settings->sort, word));
	if (settings->interval_ns)
		fprintf(out, "interval %s\n",
			units_format(interval, UNIT_NS, (__int128)settings->interval_ns));
	return file_close_memory(out, &bytes) ? bytes : NULL;
}
