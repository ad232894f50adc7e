/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct taskstats (include/uapi/linux/taskstats.h) as kernels send it, by version and length.
 *
 * The structure installed with a C library says nothing about the kernel that runs: fields are
 * found by what the reply itself says.
 *
 *	version  bytes  what changed
 *	8        328    what everything here starts from
 *	9        344    thrashing
 *	11       368    compact (10 added a start time)
 *	13       416    wpcopy (12 added identity)
 *	14       432    irq
 *	15       496    max beside each total, in the middle: every later field moved (658eb5ab916d)
 *	15       560    max and min beside each total (f65c64f311ee); some say 14 (the number came
 *	                with b016d0873777)
 *	16       560    max and min moved to the end; all else as in 14 (0bf2d838de1f)
 *	17       688    times of the max, after everything
 */
#ifndef OS_TASKSTATS_H
#define OS_TASKSTATS_H

#include "base/text.h"

/* The categories of delay in the order of the structure: CATEGORY(name, offset of its count in
 * version 14 and 16, version that brought it, offset of its max in version 16). */
#define TASKSTATS_CATEGORIES(CATEGORY)   \
	CATEGORY(cpu, 16, 1, 432)        \
	CATEGORY(blkio, 32, 1, 448)      \
	CATEGORY(swapin, 48, 1, 464)     \
	CATEGORY(freepages, 312, 7, 480) \
	CATEGORY(thrashing, 328, 9, 496) \
	CATEGORY(compact, 352, 11, 512)  \
	CATEGORY(wpcopy, 400, 13, 528)   \
	CATEGORY(irq, 416, 14, 544)

enum taskstats_category {
#define CATEGORY(name, ...) TASKSTATS_##name,
	TASKSTATS_CATEGORIES(CATEGORY)
#undef CATEGORY
		TASKSTATS_CATEGORY_COUNT
};

enum taskstats_part {
	TASKSTATS_COUNT,
	TASKSTATS_TOTAL,
	TASKSTATS_MAX,
	TASKSTATS_MIN,
	TASKSTATS_PART_COUNT
};

/* Numbers that stand for themselves, after three categories: SINGLE(id, name, offset where these
 * have no peaks inside). Watermarks are in KiB, the time since its start in microseconds. */
#define TASKSTATS_SINGLES(SINGLE)                      \
	SINGLE(HIWATER_RSS, hiwater_rss, 200)          \
	SINGLE(HIWATER_VM, hiwater_vm, 208)            \
	SINGLE(RUN_VIRTUAL, cpu_run_virtual_total, 72) \
	SINGLE(ETIME, ac_etime, 144)                   \
	SINGLE(NVCSW, nvcsw, 272)                      \
	SINGLE(NIVCSW, nivcsw, 280)

/* Fields are numbered category * TASKSTATS_PART_COUNT + part; then these. */
enum {
	TASKSTATS_SINGLE_FIRST = TASKSTATS_CATEGORY_COUNT * TASKSTATS_PART_COUNT - 1,
#define SINGLE_ENUM(id, ...) TASKSTATS_##id,
	TASKSTATS_SINGLES(SINGLE_ENUM)
#undef SINGLE_ENUM
		TASKSTATS_FIELD_COUNT
};

#define taskstats_field(category, part) ((category)*TASKSTATS_PART_COUNT + (unsigned)(part))

struct taskstats_values {
	uint16_t version;
	uint64_t values[TASKSTATS_FIELD_COUNT];
	uint64_t present; /* bit n: the payload held field n */
	uint32_t uid;     /* its real one; UINT32_MAX: not held */
	char comm[33];    /* "": not held */
};

/* The number of a field by name, "cpu_count", "irq_delay_max", "hiwater_rss", as the kernel's; -1
 * for none. */
int taskstats_field_find(struct text name);

/* Read the payload of a TASKSTATS_TYPE_STATS attribute. False when it is too short to have a
 * version. */
bool taskstats_parse(struct text payload, struct taskstats_values *ret);

/*
 * A reply of the kernel: a generic netlink message (with its nlmsghdr) of the family taskstats, or
 * an error instead.
 */
struct taskstats_reply {
	uint32_t sequence; /* of the request it answers */
	int failed;        /* errno of this one thread, ESRCH when it is gone; 0 with values */
	uint32_t tid;
	struct taskstats_values stats;
};

/*
 * Read the message at the front of `datagram` and cut it off. False when there is none that is
 * whole. EBADMSG in `failed` marks one that is of another family or holds no statistics.
 */
bool taskstats_next_reply(struct text *datagram, uint16_t family, struct taskstats_reply *ret);

/*
 * Put every reply of a datagram in its place: request `first` was of tids[0], the next one of
 * tids[1]. Places without an answer so far have ETIMEDOUT in `failed`; others are left alone, and
 * what answers another request is passed over. Returns how many replies got a place.
 */
size_t taskstats_sort_replies(struct text datagram, uint16_t family, uint32_t first,
			      const uint32_t *tids, size_t count, struct taskstats_reply *ret);

#endif
