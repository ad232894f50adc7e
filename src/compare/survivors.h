/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that two snapshots of one boot both have: the same number and the same start time.
 */
#ifndef COMPARE_SURVIVORS_H
#define COMPARE_SURVIVORS_H

#include "snapshot/model.h"

#define NO_THREAD UINT32_MAX

struct survivors {
	uint32_t *before; /* for each thread of the later snapshot, its number in the earlier one */
	uint32_t *after;  /* the reverse */
};

/* A thread without a known start time is not a survivor. Of two with the same number and start
 * time, only the first is. */
struct error *survivors_init(struct survivors *survivors, const struct ctprof_snapshot *earlier,
			     const struct ctprof_snapshot *later) MUST_CHECK;

void survivors_deinit(struct survivors *survivors);

#endif
