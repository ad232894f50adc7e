/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that a test builds with the tools of the system, and what those tools say about them.
 *
 *	struct scratch scratch;
 *	scratch_init(&scratch);
 *	scratch_write(&scratch, "a.c", TEXT("int main(void) { return 0; }"));
 *	if (!built(&scratch, "gcc -O2 -g -o a a.c"))
 *		skip();
 */
#ifndef UNIT_BUILT_H
#define UNIT_BUILT_H

#include "unit/unit.h"

/* Run it in the scratch directory, silently: did it succeed? */
bool built(const struct scratch *scratch, const char *command);

/* What it prints, in memory of its own (free). */
char *printed(const struct scratch *scratch, const char *command);

#endif
