/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that wait for their turn.
 *
 * Each CPU has a ring of its own, so the records of one ring come in the order of time, and those
 * of several do not. What is older than the start of a look at all rings can no longer come after
 * that look; so it is taken then, sorted.
 */
#ifndef PROCESS_RECORD_QUEUE_H
#define PROCESS_RECORD_QUEUE_H

#include "base/array.h"
#include "base/text.h"

struct record_batch {
	struct {
		ARRAY(char);
	} bytes;
	struct {
		ARRAY(struct queued_record);
	} records;
};

/* All zero is an empty one. */
struct record_queue {
	struct record_batch waiting, spare;
};

/* Keep a copy of a record. False without memory. */
bool record_queue_add(struct record_queue *queue, uint64_t time_ns, struct text record);

/* How many bytes are waiting. */
size_t record_queue_bytes(const struct record_queue *queue);

typedef void record_visit(void *context, struct text record);

/* Show all records before that time, by time; those of the same time in the order in which they
 * were added. Returns how many others were dropped for want of memory: none, most of the time. */
size_t record_queue_take(struct record_queue *queue, uint64_t before_ns, record_visit *visit,
			 void *context);

void record_queue_deinit(struct record_queue *queue);

#endif
