/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last windows of each row as a line of small columns: how busy it was.
 *
 *	history_begin(&history);                       a new window
 *	history_put(&history, line->id, share);        each row of it
 *	history_get(&history, line->id, levels, 12);   the last twelve, for the screen
 *
 * It keeps no more than HISTORY_ROWS rows; those that were not seen for HISTORY_LENGTH windows make
 * room for others.
 */
#ifndef TUI_SPARKLINE_H
#define TUI_SPARKLINE_H

#include "base/array.h"
#include "base/word_map.h"

#define HISTORY_LENGTH  64
#define HISTORY_ROWS    16384
#define HISTORY_UNKNOWN 255

/* Levels of a column: 0 for nothing, the last for all of it. */
#define SPARK_LEVELS 8

struct history_row {
	uint64_t id;
	uint64_t seen;                  /* the last window it was in */
	uint8_t shares[HISTORY_LENGTH]; /* by window modulo the length, in 254ths */
};

/* All zero is an empty one. */
struct history {
	struct word_map places;
	struct {
		ARRAY(struct history_row);
	} rows;
	uint64_t window; /* the number of the present one */
};

void history_deinit(struct history *history);

/* Forgets all, as rows of another kind have other ids. */
void history_clear(struct history *history);

void history_begin(struct history *history);

/* `share` is 0 to 1. Where there is no room, or no memory, the row has no history. */
void history_put(struct history *history, uint64_t id, double share);

/* The last `count` windows, the present one last: levels from 0 to SPARK_LEVELS - 1, or
 * HISTORY_UNKNOWN of those it was not in. */
void history_get(const struct history *history, uint64_t id, uint8_t *ret, unsigned count);

/* Whatever is more than nothing is seen as more. */
uint8_t spark_level(double share);

#endif
