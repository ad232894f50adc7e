/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Amounts in sentences: as few digits as say it, in the units that people use. (Tables have those
 * of base/units.h, which are precise.)
 *
 *	char text[AMOUNT_MAX];
 *
 *	printf("%s of CPU", amount_time(text, 3.0612));		// 3.06 s
 *
 * Of finite numbers that are not negative. Each returns `buffer`.
 */
#ifndef REPORT_AMOUNT_H
#define REPORT_AMOUNT_H

#define AMOUNT_MAX 64

/* "0.31 ms", "12 ms", "3.06 s", "43.5 s", "12 min 5 s", "3 h 12 min", "3 d 4 h" */
char *amount_time(char buffer[AMOUNT_MAX], double seconds);

/* "512 B", "43.2 MiB", "512 MiB" */
char *amount_bytes(char buffer[AMOUNT_MAX], double bytes);

/* "43,534" */
char *amount_count(char buffer[AMOUNT_MAX], double count);

#endif
