/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/psi.h"

/* A line that was not measured says nothing. */
static void check_line(const struct psi_line *line)
{
	must(line->measured || !(line->avg10 || line->avg60 || line->avg300 || line->total_usec));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct psi_lines lines;
	uint16_t hundredths = 0xdead;

	psi_parse(bytes, &lines);
	check_line(&lines.some);
	check_line(&lines.full);
	if (!psi_percent(bytes, &hundredths))
		must(hundredths == 0xdead);
	fuzz_release(bytes);
	return 0;
}
