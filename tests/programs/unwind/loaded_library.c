/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mapped late by crossing.c.
 */
#include "acts.h"

static volatile unsigned long loaded_calls;
#define calls loaded_calls

LEVEL(loaded_2, 40, last())
LEVEL(loaded_1, 24, loaded_2(last))
