/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user chose of the screen of flame graphs, whatever they are of. The file "flame"
 * (tui/settings_file.h) keeps it from run to run:
 *
 *	layout flame
 *	functions total
 *	readings halved
 */
#ifndef TUI_FLAME_SETTINGS_H
#define TUI_FLAME_SETTINGS_H

#include <stdbool.h>

#include "tui/flame_screen.h"
#include "tui/settings_text.h"

#define FLAME_SETTINGS_FILE "flame"

struct flame_settings {
	bool root_is_below; /* flame, not icicle: callees are above their callers */
	bool by_total;      /* order of the list of functions */
	enum flame_sum sum;
};

/* What has no line is as usual. `note` as of settings_text_parse(). */
void flame_settings_parse(struct text text, struct flame_settings *ret,
			  char note[SETTINGS_NOTE_MAX]);

/* Allocated; NULL: no memory. */
char *flame_settings_print(const struct flame_settings *settings);

#endif
