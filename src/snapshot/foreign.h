/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of other tools: the same fields, but without a word about what was measured.
 */
#ifndef SNAPSHOT_FOREIGN_H
#define SNAPSHOT_FOREIGN_H

#include "snapshot/model.h"

/* The later spelling's booleans, each for a family of rows. */
enum family_boolean {
	BOOLEAN_TASKSTATS,
	BOOLEAN_CPU_DELAY,
	BOOLEAN_BLOCK_DELAY,
	BOOLEAN_XACCT,
	BOOLEAN_JEMALLOC,
	BOOLEAN_COUNT
};

/* Marks that the reader found in the threads of such a file. */
struct foreign_marks {
	bool flat;             /* members that only .hst.zst has */
	bool booleans;         /* the five booleans of the later spelling */
	uint8_t true_booleans; /* which of them were true for some thread: a bit for each */
};

/*
 * Decide which values of a complete foreign snapshot count as measured, bring them to our units,
 * and leave one remark that says what was done. The reader has set the bit of every member it saw.
 *
 *  - Rows that come from the same source and need the same kernel option form a family. A family
 *    counts as measured when some thread of the file has a value other than zero in it: a zero is
 *    then a zero. Otherwise nothing says that the kernel had it, and it is unmeasured.
 *  - Where the file carries booleans for a family of a thread, they decide. Without them, a thread
 *    whose seven block delays are all zero has them unmeasured unless the kernel's command line
 *    turned delay accounting on.
 *  - Empty texts, state "~" and empty CPU sets are unmeasured.
 *  - A cgroup number is measured when it is not zero, or when another number of the same kernel
 *    file is not; null is unmeasured.
 *  - .hst.zst: wait_sum and iowait_sum are milliseconds in a field that says ns, and become ns;
 *    block times, nr_wakeups_idle and heap bytes were never filled.
 */
struct error *snapshot_adopt_foreign(struct ctprof_snapshot *snapshot,
				     const struct foreign_marks *marks) MUST_CHECK;

/* Clear the measured bits of the rows that a false boolean stands for. */
void foreign_apply_boolean(struct ctprof_thread *thread, enum family_boolean which);

#endif
