/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For targets that read several files: an input is cut into them, and they are put into a directory
 * in memory that goes with the process.
 */
#ifndef TESTS_FILES_FUZZ_H
#define TESTS_FILES_FUZZ_H

#include "fuzz.h"

/* Between two parts of an input. */
#define FUZZ_BETWEEN TEXT("\n--\n")

/* The part in front, cut off `rest`; false: there is none left. */
bool fuzz_cut_part(struct text *rest, struct text *ret);

/* The path of the directory, the same for all calls. */
const char *fuzz_dir(void);

/* Write a file of that path in it. Directories on the way are made. False: one of them, or the path
 * itself, is there as something else. */
bool fuzz_put_file(const char *path, struct text bytes);

/* Remove all that is in it. */
void fuzz_clear_dir(void);

/* The bytes as a file that has no name; the caller's. */
int fuzz_open_bytes(struct text bytes);

#endif
