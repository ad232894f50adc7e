/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/settings_text.h"

#include <stdio.h>

void settings_note_unknown(struct settings_unknown *unknown, struct text word)
{
	if (!unknown->count++)
		unknown->first = word;
}

static void parse_line(struct text line, const struct setting_row *rows, size_t count,
		       void *settings, struct settings_unknown *unknown)
{
	struct text word;

	if (!text_word(&line, &word) || word.bytes[0] == '#')
		return;
	for (size_t i = 0; i < count; i++)
		if (text_equal(word, text_of(rows[i].word))) {
			rows[i].parse(text_trim(line), settings, unknown);
			return;
		}
	settings_note_unknown(unknown, word);
}

void settings_text_parse(struct text text, const struct setting_row *rows, size_t count,
			 void *settings, char note[SETTINGS_NOTE_MAX])
{
	struct settings_unknown unknown = { 0 };
	struct text line;

	*note = '\0';
	if (text.length > SETTINGS_BYTES_MAX)
		text.length = SETTINGS_BYTES_MAX;
	for (size_t i = 0; i < SETTINGS_LINES_MAX && text_cut(&text, '\n', &line); i++)
		parse_line(line, rows, count, settings, &unknown);
	if (!unknown.count)
		return;
	snprintf(note, SETTINGS_NOTE_MAX, "Settings ignored: '%.*s'%s",
		 (int)(unknown.first.length < 40 ? unknown.first.length : 40), unknown.first.bytes,
		 unknown.count > 1 ? " and others" : "");
	text_make_safe(note);
}
