/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that match starts with ends, groupings of values, and causes of losses: one row each. BPF
 * programs include this header too, and pinned metrics contain the numbers, so append new rows.
 */
#ifndef KSTATS_ENUMS_H
#define KSTATS_ENUMS_H

/* Keys by which an end finds its start. */
#define KSTATS_KEYS(KEY)                                       \
	KEY(TASK, "task", "the last start in the same thread") \
	KEY(CPU, "cpu", "the last start on the same CPU")      \
	KEY(ARGUMENT, "argN",                                  \
	    "the last with the same argument N, 1 to 6; of usdt, to 12 (argN,argM: M at the end)")

enum kstats_key {
#define KEY_ENUM(id, name, prose) KSTATS_KEY_##id,
	KSTATS_KEYS(KEY_ENUM)
#undef KEY_ENUM
		KSTATS_KEY_COUNT
};

/* The owner of each row of a table. */
#define KSTATS_BYS(BY)                                                              \
	BY(CPU, "cpu", "CPU", "each CPU on which values were recorded")             \
	BY(PROCESS, "process", "PID", "each process that recorded values")          \
	BY(CGROUP, "cgroup", "CGROUP", "each cgroup whose threads recorded values") \
	BY(RETVAL, "retval", "RETURNED", "each returned value")                     \
	BY(THREAD, "thread", "TID", "each thread that recorded values")

enum kstats_by {
#define BY_ENUM(id, name, heading, prose) KSTATS_BY_##id,
	KSTATS_BYS(BY_ENUM)
#undef BY_ENUM
		KSTATS_BY_COUNT
};

/* Why an event was not counted in a slot. */
#define KSTATS_LOSSES(LOSS)                                                            \
	LOSS(missed, "the kernel did not call the probe")                              \
	LOSS(unmatched, "an end without a recorded start")                             \
	LOSS(replaced, "a start before the end of the previous one, which is dropped") \
	LOSS(recursive, "hit inside another probe, where the kernel calls no probe")   \
	LOSS(backwards, "an end whose timestamp is before its start")                  \
	LOSS(full, "no room for another start in flight")

enum kstats_loss {
#define LOSS_ENUM(name, prose) KSTATS_LOSS_##name,
	KSTATS_LOSSES(LOSS_ENUM)
#undef LOSS_ENUM
		KSTATS_LOSS_COUNT
};

#endif
