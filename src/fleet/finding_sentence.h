/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A finding in words.
 */
#ifndef FLEET_FINDING_SENTENCE_H
#define FLEET_FINDING_SENTENCE_H

#include "fleet/findings_report.h"

/* "web-17: shopd waits 41 % of its busy time in take_order, 38 % for a lock of its program; its 99
 * peers 3.1 % (2.0 % to 5.1 %); q = 1e-09", to be freed; NULL: no memory. */
char *fleet_finding_sentence(const struct fleet_report *report,
			     const struct fleet_finding *finding);

#endif
