/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/few_samples.h"

/* From fewer, their spread is hardly known. */
#define SAMPLES_FEW 4

void few_samples_print(FILE *out, size_t before, size_t after, const char *what, const char *end)
{
	if (before < SAMPLES_FEW || after < SAMPLES_FEW)
		fprintf(out, "From fewer than %d %s, only large differences are known.%s",
			SAMPLES_FEW, what, end);
}
