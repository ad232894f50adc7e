/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pressure stall information (Documentation/accounting/psi.rst): /proc/pressure/<resource> and
 * <cgroup>/<resource>.pressure.
 *
 *	some avg10=1.50 avg60=0.41 avg300=0.16 total=2630583
 *	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
 */
#ifndef OS_PSI_H
#define OS_PSI_H

#include "base/text.h"

struct psi_line {
	bool measured;
	uint16_t avg10, avg60, avg300; /* hundredths of a percent; saturate */
	uint64_t total_usec;
};

struct psi_lines {
	struct psi_line some, full;
};

/* Lines and keys that are not known are passed over; a line with a bad number is not measured. */
void psi_parse(struct text bytes, struct psi_lines *ret);

/* "1.5" as 150: two decimals, further ones cut off. False when it is not such a number. */
bool psi_percent(struct text text, uint16_t *ret);

#endif
