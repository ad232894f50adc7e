/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of pprof out of their bytes, within bounds.
 *
 * An empty sample takes two bytes, a thousandth of that when it is packed, and ninety bytes of
 * memory. So a small file could fill the memory of a machine.
 */
#ifndef PROFILE_PPROF_UNPACK_H
#define PROFILE_PPROF_UNPACK_H

#include <profile.pb-c.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* The most samples, locations, and parts of each other kind. */
#define PPROF_PARTS_MAX 4000000u

/* The messages live in `arena`, which is to be deinitialised after an error too. */
struct error *pprof_unpack(struct text bytes, struct arena *arena,
			   const Pprof__Profile **ret) MUST_CHECK;

#endif
