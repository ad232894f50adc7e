/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pressure stall information as rows: "cpu.some.avg10" to "irq.full.total", of a cgroup or of the
 * host.
 */
#ifndef COMPARE_PSI_ROWS_H
#define COMPARE_PSI_ROWS_H

#include "compare/report.h"

/* The number of values: four resources, "some" and "full", three averages and the total. */
#define PSI_NUMBERS 32

/*
 * Call `take` for each number, with its measure in `section`, in the order resource, some and full,
 * averages and total. Averages are in hundredths of a percent, totals in microseconds. False when
 * `take` returned false, or without memory.
 */
bool psi_each(struct report *report, enum section section, const struct psi *psi,
	      bool (*take)(void *context, const struct measure *measure, bool is_total,
			   struct reading reading),
	      void *context);

#endif
