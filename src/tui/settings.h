/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user chose of the screen, as text: the columns and their order, the order of rows and the
 * interval. The file "top" (tui/settings_file.h) keeps them from run to run.
 *
 *	columns tid,name,active,states,memory
 *	sort -runnable
 *	interval 2s
 */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "base/units.h"
#include "tui/columns.h"
#include "tui/settings_text.h"

#define SCREEN_SETTINGS_FILE "top"

struct screen_settings {
	bool has_columns, has_sort;
	struct column_choice columns;
	struct state_sort sort;
	uint64_t interval_ns; /* 0: none */
};

/* Shorter windows would be of ctprof itself. */
#define SETTINGS_INTERVAL_MIN_NS (NS_PER_S / 20)

/* `note` as of settings_text_parse(). */
void screen_settings_parse(struct text text, struct screen_settings *ret,
			   char note[SETTINGS_NOTE_MAX]);

/* Allocated; NULL: no memory. */
char *screen_settings_print(const struct screen_settings *settings);

#endif
