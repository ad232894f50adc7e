/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/psi_rows.h"
#include "compare/report_fill.h"

#include <stdio.h>

static const struct {
	const char *name;
	size_t offset;
} resources[] = {
	{ "cpu", offsetof(struct psi, cpu) },
	{ "memory", offsetof(struct psi, memory) },
	{ "io", offsetof(struct psi, io) },
	{ "irq", offsetof(struct psi, irq) },
}, halves[] = {
	{ "some", offsetof(struct psi_resource, some) },
	{ "full", offsetof(struct psi_resource, full) },
}, numbers[] = {
	{ "avg10", offsetof(struct psi_half, avg10) },
	{ "avg60", offsetof(struct psi_half, avg60) },
	{ "avg300", offsetof(struct psi_half, avg300) },
	{ "total", offsetof(struct psi_half, total_usec) },
};

enum { TOTAL = 3 };

bool psi_each(struct report *report, enum section section, const struct psi *psi,
	      bool (*take)(void *context, const struct measure *measure, bool is_total,
			   struct reading reading),
	      void *context)
{
	_Static_assert(array_length(resources) * array_length(halves) * array_length(numbers) ==
			       PSI_NUMBERS,
		       "all of them");

	for (size_t i = 0; i < PSI_NUMBERS; i++) {
		size_t n = i % array_length(numbers);
		size_t h = i / array_length(numbers) % array_length(halves);
		size_t r = i / array_length(numbers) / array_length(halves);
		const char *at = (const char *)psi + resources[r].offset + halves[h].offset +
				 numbers[n].offset;
		struct measure *measure;
		char name[32];

		snprintf(name, sizeof(name), "%s.%s.%s", resources[r].name, halves[h].name,
			 numbers[n].name);
		measure = report_measure(report, section, text_of(name));
		if (!measure)
			return false;
		measure->unit = n == TOTAL ? UNIT_US : UNIT_PERCENT;
		measure->is_total = n == TOTAL;
		measure->is_ratio = n != TOTAL;
		if (!take(context, measure, n == TOTAL, *(const struct reading *)(const void *)at))
			return false;
	}
	return true;
}
