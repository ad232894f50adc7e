/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of perf events about address spaces, as the kernel writes them into a ring (`enum
 * perf_event_type` in include/uapi/linux/perf_event.h; perf_event_open(2)).
 *
 * Only of events with sample_type PERF_SAMPLE_TIME alone and sample_id_all: then each record ends
 * with its time.
 */
#ifndef PROCESS_PERF_RECORD_H
#define PROCESS_PERF_RECORD_H

#include <linux/perf_event.h>

#include "base/text.h"

enum perf_record_kind {
	PERF_RECORD_OF_OTHERS, /* nothing that is wanted here */
	PERF_RECORD_OF_MAPPING,
	PERF_RECORD_OF_EXEC, /* comm is of no interest but for that */
	PERF_RECORD_OF_FORK, /* of a process, not of a thread */
	PERF_RECORD_OF_EXIT, /* of the first thread of a process: /proc shows no mappings then */
	PERF_RECORD_OF_LOSS,
};

struct perf_record {
	enum perf_record_kind kind;
	uint32_t pid;
	uint32_t parent;  /* of PERF_RECORD_OF_FORK */
	uint64_t time_ns; /* of the clock that the event was opened with */
	uint64_t lost;    /* records, of PERF_RECORD_OF_LOSS */
	/* PERF_RECORD_OF_MAPPING only: `end` is above `start`; either the device and the inode are
	 * known or the build-id. */
	uint64_t start, end, file_offset, inode;
	uint32_t major, minor;
	struct text path;     /* "" of memory without a file; points into the record */
	struct text build_id; /* at most 20 bytes; empty: unknown; points into the record */
};

/*
 * Parse one record with its header, as long as that says. False when it is shorter than what it
 * must have, or says what cannot be; `ret` is then untouched.
 */
bool perf_record_parse(struct text bytes, struct perf_record *ret);

/* Cut the next record, header and all, off the front of `rest`. False at the end, and when its
 * length cannot be right. */
bool perf_record_cut(struct text *rest, struct text *ret);

#endif
