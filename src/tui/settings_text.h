/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of settings that a screen keeps: lines of a word and its value; "#" begins a comment.
 */
#ifndef TUI_SETTINGS_TEXT_H
#define TUI_SETTINGS_TEXT_H

#include "base/text.h"

/* Of longer files, and further lines, nothing is read. */
#define SETTINGS_BYTES_MAX 4096
#define SETTINGS_LINES_MAX 32

#define SETTINGS_NOTE_MAX  120

/* Words that were passed over, as of another version. */
struct settings_unknown {
	size_t count;
	struct text first;
};

void settings_note_unknown(struct settings_unknown *unknown, struct text word);

struct setting_row {
	const char *word;
	/* `settings` is what settings_text_parse() got. */
	void (*parse)(struct text value, void *settings, struct settings_unknown *unknown);
};

/* `note` says how many words are not known, and which is the first, or is "". */
void settings_text_parse(struct text text, const struct setting_row *rows, size_t count,
			 void *settings, char note[SETTINGS_NOTE_MAX]);

#endif
