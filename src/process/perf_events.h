/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of perf events: forks, execs, exits and executable mappings of all processes, in the
 * order of time.
 *
 *	struct perf_events events = PERF_EVENTS_NONE;
 *	err = perf_events_open(&events, ring_bytes, wake_bytes);
 *	while (...)
 *		perf_events_poll(&events, take_record, context);
 *	perf_events_drain(&events, take_record, context);
 *	perf_events_close(&events);
 *
 * Each CPU has an event of the software's dummy, which counts nothing, and a ring that the kernel
 * writes records into (perf_event_open(2), "MMAP layout"). Records of one ring are in the order of
 * time; records of several rings are not. A record that is older than the start of a pass over all
 * rings cannot appear after that pass, so perf_events_poll() sorts and shows exactly these.
 *
 * Mappings have build-ids (Linux 5.12; before, devices and inodes). CPUs that come online later are
 * not watched. Needs CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8). Not for several threads at once.
 */
#ifndef PROCESS_PERF_EVENTS_H
#define PROCESS_PERF_EVENTS_H

#include "base/array.h"
#include "base/error.h"
#include "process/perf_record.h"

/* Records that wait until they can be sorted. All zero is an empty queue. */
struct record_queue {
	struct record_batch {
		struct {
			ARRAY(char);
		} bytes;
		struct {
			ARRAY(struct queued_record);
		} records;
	} waiting, spare;
};

/* Keep a copy of a record. False without memory. */
bool record_queue_add(struct record_queue *queue, uint64_t time_ns, struct text record);

typedef void record_visit(void *context, struct text record);

/* Show all records before that time, by time; records of the same time in the order in which they
 * were added. Returns how many of the others were dropped without memory: usually none. */
size_t record_queue_take(struct record_queue *queue, uint64_t before_ns, record_visit *visit,
			 void *context);

void record_queue_deinit(struct record_queue *queue);

struct perf_events {
	struct {
		ARRAY(struct perf_ring);
	} rings;
	struct record_queue queue;
	char *batch;   /* room for one ring */
	uint64_t lost; /* records */
	int epoll;     /* readable when a ring has `wake_bytes` */
};
#define PERF_EVENTS_NONE ((struct perf_events){ .epoll = -1 })

/* `ring_bytes` for each CPU are rounded up to a power of two, and halved where the kernel does not
 * allow as much. `wake_bytes` in a ring make `epoll` readable (once, so poll then); 0: half a
 * ring. On failure, close it too. */
struct error *perf_events_open(struct perf_events *events, size_t ring_bytes,
			       size_t wake_bytes) MUST_CHECK;

/* Read all rings and show the records that are complete up to their time. Never waits. A ring of
 * 256 KiB holds about 2000 mappings. */
void perf_events_poll(struct perf_events *events, record_visit *visit, void *context);

/* Show what has been read and was left for the next poll. */
void perf_events_drain(struct perf_events *events, record_visit *visit, void *context);

bool perf_events_has_waiting(const struct perf_events *events);

void perf_events_close(struct perf_events *events);

/* Copy the bytes between two positions of a ring of `bytes` bytes, a power of two, to `ret`, which
 * has room for all of it. A writer that overtook its reader leaves the newest `bytes`. Returns the
 * number of bytes. */
size_t perf_ring_copy(const char *ring, size_t bytes, uint64_t tail, uint64_t head, char *ret);

#endif
