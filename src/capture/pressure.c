/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "capture/cgroup_files.h"
#include "capture/session.h"

void capture_psi(struct capture *c, int dir, const char *prefix, const char *suffix,
		 struct psi *ret)
{
	const struct {
		const char *name;
		struct psi_resource *resource;
	} resources[] = {
		{ "cpu", &ret->cpu },
		{ "memory", &ret->memory },
		{ "io", &ret->io },
		{ "irq", &ret->irq },
	};

	for (size_t i = 0; i < array_length(resources); i++) {
		struct text bytes;
		char path[64];
		int failed;

		snprintf(path, sizeof(path), "%s%s%s", prefix, resources[i].name, suffix);
		failed = file_read(dir, path, &c->buffer, &bytes);
		if (failed && !capture_is_absent(failed))
			capture_count(c, FILE_PRESSURE, failed);
		if (!failed && !psi_take_file(bytes, resources[i].resource))
			c->counts.failed[FILE_PRESSURE]++;
	}
}

void capture_pressure(struct capture *c)
{
	struct psi *psi = &c->snapshot->psi;

	capture_psi(c, c->proc, "pressure/", "", psi);
	/* Undefined for a whole host, and printed as zero for compatibility
	 * (Documentation/accounting/psi.rst). */
	psi->cpu.full = (struct psi_half){ 0 };
}
