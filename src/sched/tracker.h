/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user side of the scheduler tracker (track.bpf.h): memory for its records, attaching its
 * programs, and reading records that the programs may be writing.
 *
 *	struct tracker tracker;
 *	struct error *err = tracker_init(&tracker, &bss->track, records_map, sizeof(record), most);
 *	if (!err)
 *		err = tracker_start(&tracker, programs, array_length(programs));
 *	while (...) {
 *		tracker_scan_again(&tracker);
 *		err = tracker_grow(&tracker, chunks);
 *	}
 *	tracker_deinit(&tracker);
 */
#ifndef SCHED_TRACKER_H
#define SCHED_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/memory_chunks.h"
#include "sched/task_record.h"

struct bpf_link;
struct bpf_program;
struct btf;

struct tracker {
	struct track_state *state;    /* shared with the programs */
	struct memory_chunks records; /* likewise */
	uint64_t most;                /* records */
	uint64_t least_free;          /* records, in tracker_grow() */
	const struct bpf_link *scan;  /* of the task iterator; NULL before the start */
	uint64_t scanned_ns;          /* when tasks without storage were looked for last */
};

/* Configure the programs for the kernel with this BTF; NULL: it has none. */
void tracker_configure(struct track_config *config, const struct btf *kernel);

/* `records_map` is the array of maps that records are in, `record_bytes` the size of one. Makes
 * room for the tasks that exist and some thousand more, but for no more than `most`, nor than
 * `limit` (borrowed; NULL: none) allows. On an error the tracker can be deinitialised as well. */
struct error *tracker_init(struct tracker *tracker, struct track_state *state, int records_map,
			   size_t record_bytes, uint64_t most,
			   struct memory_limit *limit) MUST_CHECK;
void tracker_deinit(struct tracker *tracker);

/* A program of an object, and the pointer to its link. */
struct tracker_program {
	struct bpf_program *program;
	struct bpf_link **link;
};

/*
 * Attach the programs in this order, leaving out those that were not loaded, and run the last one,
 * which is the task iterator. The one at fork must come first: so each task has storage by one of
 * these two before it is looked up.
 */
struct error *tracker_start(struct tracker *tracker, const struct tracker_program *programs,
			    size_t count) MUST_CHECK;

/* Run the iterator again if tasks got no storage; at most once a second. */
void tracker_scan_again(struct tracker *tracker);

/* Make room for tasks that are about to begin, in up to `chunks_most` chunks. */
struct error *tracker_grow(struct tracker *tracker, size_t chunks_most) MUST_CHECK;

/* Records that belong to tasks, or have not been read since. */
uint64_t tracker_used(const struct tracker *tracker);

/* Numbers that are or were in use are below. */
uint32_t tracker_count(const struct tracker *tracker);

/* NULL: there is no such record. */
struct task_record *tracker_record(const struct tracker *tracker, uint32_t number);

/* Copy the `bytes` of a record as it was at one moment. False: it was written at each attempt, and
 * the copy may have an interval twice or not at all. */
bool tracker_copy(const struct task_record *t, void *ret, size_t bytes);

/* The task of the record has ended, so no program writes it: zero it, and let another task have the
 * number. False: there is no room for the number now. */
bool tracker_give_back(struct tracker *tracker, uint32_t number);

#endif
