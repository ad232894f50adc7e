/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user chose of the screen, as text: the columns and their order, the order of rows and the
 * interval. A file of it keeps them from run to run.
 *
 *	columns tid,name,active,states,memory
 *	sort -runnable
 *	interval 2s
 */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "base/units.h"
#include "tui/columns.h"

/* Of longer files, and further lines, nothing is read. */
#define SETTINGS_BYTES_MAX 4096
#define SETTINGS_LINES_MAX 32

struct screen_settings {
	bool has_columns, has_sort;
	struct column_choice columns;
	struct state_sort sort;
	uint64_t interval_ns; /* 0: none */
};

/* Shorter windows would be of ctprof itself. */
#define SETTINGS_INTERVAL_MIN_NS (NS_PER_S / 20)

#define SETTINGS_NOTE_MAX        120

/* Words that are not known, as of another version, are passed over; `note` says how many, and which
 * is the first, or is "". */
void screen_settings_parse(struct text text, struct screen_settings *ret,
			   char note[SETTINGS_NOTE_MAX]);

/* Allocated; NULL: no memory. */
char *screen_settings_print(const struct screen_settings *settings);

#endif
