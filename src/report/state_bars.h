/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture of how the groups of an overview spent their time: a bar for each group with a part for
 * each kind of time, and a thinner bar for the side before, if there is one.
 */
#ifndef REPORT_STATE_BARS_H
#define REPORT_STATE_BARS_H

#include <stdio.h>

#include "compare/overview.h"

/* Print a heading, a key and the SVG; nothing if no group of the overview has such times.
 * Recordings of `ctprof top` have all states; other captures have the kinds of time that the kernel
 * counts. Fails only without memory. */
struct error *state_bars_print(FILE *out, const struct report *report) MUST_CHECK;

#endif
