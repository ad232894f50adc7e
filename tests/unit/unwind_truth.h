/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What elfutils says of the code of a real file, against its table. Both are computed with made-up
 * registers and memory: where the caller is must be the same numbers.
 */
#ifndef UNIT_UNWIND_TRUTH_H
#define UNIT_UNWIND_TRUTH_H

#include "unit/unit.h"

struct unwind_truth {
	size_t rows;      /* that were compared */
	size_t looks;     /* at what elfutils says */
	size_t differing; /* the first few are printed */
	size_t other;     /* rows with UNWIND_RULE_OTHER */
	size_t lost; /* with a register that is UNWIND_UNKNOWN, and of which something is said */
};

/* False: there is no such file, or elfutils finds nothing in it. Of `every` blocks of the table,
 * one is compared. */
bool unwind_truth_compare(const char *path, bool debug_frame, unsigned every,
			  struct unwind_truth *ret);

#endif
