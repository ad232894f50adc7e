/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A FILE that folds lines which are wider than the terminal, between words.
 *
 * A terminal would break them within words. What follows the first line is indented by two more
 * than that, or in lists (two blanks stand between their columns) to the last column. Lines that
 * fit pass as they are, and so do words that do not fit: paths are to be copied as a whole, and so
 * are commands of ctprof, which begin a line rather than be parted. Escape sequences take no room.
 */
#ifndef CLI_FOLD_H
#define CLI_FOLD_H

#include <stdio.h>

/* Line by line to `out`, which stays the caller's. Close it with fclose(3), which passes on what is
 * left. NULL without memory. */
FILE *fold_open(FILE *out, size_t width);

#endif
