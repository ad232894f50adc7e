/* SPDX-License-Identifier: BSD-2-Clause */
#include "crossing.h"

/* The library has no other counter. */
static volatile unsigned long library_calls;
#define calls library_calls

LEVEL(library_2, 72, last())
LEVEL(library_1, 8, library_2(last))
LEVEL(library_3, 16, last())

static act *at_choice;

void library_set(act *wanted)
{
	at_choice = wanted;
}

static void chosen(void)
{
	calls++;
}

LEVEL(choosing, 24, last())

/* Called by the dynamic linker, which asks which function that name means. */
NOT_INLINED __attribute__((used)) static void *choose(void)
{
	choosing(at_choice);
	return (void *)chosen;
}

void library_chosen(void) __attribute__((ifunc("choose")));

int library_small(int number)
{
	return number + 1;
}
