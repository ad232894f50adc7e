/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the groups of an overview did with their time, as a picture for pages: a bar for each group,
 * with a part for each kind of time; and a thinner one for the time before, where there is any.
 */
#ifndef REPORT_STATE_BARS_H
#define REPORT_STATE_BARS_H

#include <stdio.h>

#include "compare/overview.h"

/* SVG under a heading, with a key; nothing where the overview has no group with such time. Of
 * recordings of ctprof top, all states that the groups were in; of other captures, the kinds of
 * time that the kernel counts. */
struct error *state_bars_print(FILE *out, const struct report *report) MUST_CHECK;

#endif
