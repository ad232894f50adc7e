/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which findings a report has a line for.
 *
 * Findings of one host and program mostly have one cause, so to people each host and program has
 * one line: its largest finding, which is the first. Of functions that call each other and have
 * nearly the same values, the first stands for all. Where there is less waiting, or fewer events,
 * than elsewhere, the lines come last.
 */
#ifndef FLEET_FINDING_LINES_H
#define FLEET_FINDING_LINES_H

#include "fleet/findings_report.h"

struct finding_lines {
	struct {
		ARRAY(uint32_t);
	} findings; /* numbers of findings */
	struct {
		ARRAY(uint32_t);
	} also; /* how many more there are of its host and program, for each */
};

/* Select the findings that a report prints, by its `all` and `format`. `ret` must be all zero
 * before. False without memory; deinitialise `ret` in any case. */
bool fleet_finding_lines_find(const struct fleet_report *report,
			      struct finding_lines *ret) MUST_CHECK;
void fleet_finding_lines_deinit(struct finding_lines *lines);

#endif
