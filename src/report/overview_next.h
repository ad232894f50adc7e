/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of an overview: the commands that go on from it.
 */
#ifndef REPORT_OVERVIEW_NEXT_H
#define REPORT_OVERVIEW_NEXT_H

#include "report/overview_line.h"
#include "report/report.h"

#define OVERVIEW_NEXT_MOST 3

/*
 * The lines, the last the most important one. Of the first group that has a process in the
 * candidate: on that process if it runs here, otherwise on the files. And of a group that stands
 * still, and of what comes and goes, where these matter. Returns their number.
 */
size_t overview_next(const struct report *report, const struct report_style *style,
		     struct overview_line lines[OVERVIEW_NEXT_MOST]);

/* Is the host of the candidate this one, since the same boot? */
bool overview_is_here(const struct report *report, const struct report_style *style);

#endif
