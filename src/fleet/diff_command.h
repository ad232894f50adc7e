/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command that shows the stacks behind a finding: those of both of its sides, as a difference.
 */
#ifndef FLEET_DIFF_COMMAND_H
#define FLEET_DIFF_COMMAND_H

#include "fleet/findings_report.h"

/*
 * "ctprof flame --diff 'ch://...' 'ch://...'", as the words of a shell, to be freed. The first side
 * is a typical peer, the first group or the time before. NULL: no memory, or no peer.
 */
char *fleet_diff_command(const struct fleet_report *report, const struct fleet_finding *finding);

#endif
