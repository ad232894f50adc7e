/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that reading every thread of a host through /proc can cost: the files that a capture
 * opens, opened, read and closed in the way a capture does, and nothing done with what they say.
 */
#ifndef BENCH_BARE_READING_H
#define BENCH_BARE_READING_H

/* Returns the number of threads. */
unsigned bare_reading(void);

#endif
