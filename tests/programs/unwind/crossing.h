/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library of crossing.c.
 */
#ifndef PROGRAMS_UNWIND_CROSSING_H
#define PROGRAMS_UNWIND_CROSSING_H

#include "acts.h"

/* Call library_2, and that calls `last`. */
void library_1(act *last);
/* Call `last` itself. */
void library_3(act *last);

/* What is done while library_chosen is looked up. */
void library_set(act *at_choice);
void library_chosen(void);

int library_small(int number);

#endif
