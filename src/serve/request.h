/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the web process asks of the collector, and the head of the replies.
 *
 *	err = request_send(socket, REQUEST_THREAD, tid);      in the web process
 *
 *	requests_take(&requests, bytes, length);              in the collector: whatever comes
 *	if (requests_take_snapshot(&requests)) ...
 *	while ((tid = requests_take_thread(&requests))) ...
 *
 * A request is eight bytes: a kind, and the number of a thread where the kind has one. The process
 * that sends it reads what strangers write and may be broken, so the collector trusts nothing of
 * it: bytes that are no request are dropped, a request that waits already is not kept twice, and of
 * more than REQUEST_THREADS_MOST threads those that came first wait. How often the collector does
 * what it is asked for is its own business (serve/collector.c).
 *
 * Replies come in the same socket as readings (serve/tick.h), each behind a header.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum request_kind {
	REQUEST_SNAPSHOT = 1, /* the file of a snapshot (serve/snapshot.h) */
	REQUEST_THREAD,       /* the inspection of a thread, as JSON (serve/thread_inspector.h) */
};

struct request {
	uint32_t kind;
	uint32_t tid; /* of REQUEST_THREAD; else 0 */
};

/* PID_MAX_LIMIT (include/linux/threads.h) on 64-bit hosts. */
#define REQUEST_TID_MAX (4u << 20)

/* An error when the collector has not taken earlier requests. */
struct error *request_send(int socket, enum request_kind kind, uint32_t tid) MUST_CHECK;

/* --- in the collector --- */

#define REQUEST_THREADS_MOST 8

/* Those that wait. All zero is none. */
struct requests {
	char part[sizeof(struct request)]; /* of one that has not come whole */
	size_t part_length;
	bool wants_snapshot;
	uint32_t tids[REQUEST_THREADS_MOST]; /* in the order in which they came */
	size_t tid_count;
};

void requests_take(struct requests *requests, const void *bytes, size_t length);
bool requests_take_snapshot(struct requests *requests);
/* The one that has waited longest; 0: none. */
uint32_t requests_take_thread(struct requests *requests);

/* --- replies --- */

#define REPLY_MAGIC 0x31796c7072707463 /* "ctprply1" */

enum reply_status {
	REPLY_DONE,   /* what was asked for follows */
	REPLY_FAILED, /* a message follows that says why it does not */
	REPLY_GONE,   /* the same: the thread is none that is measured */
};

/* Stands before the bytes. */
struct reply_header {
	uint64_t magic;
	uint64_t length; /* of all, with the header */
	uint32_t kind;   /* enum request_kind */
	uint32_t tid;    /* of REQUEST_THREAD */
	uint32_t status; /* enum reply_status */
	uint32_t unused;
};

/* The longest replies. */
#define REPLY_SNAPSHOT_MAX ((size_t)1 << 30)
#define REPLY_THREAD_MAX   ((size_t)256 << 10)

/* The length that a header tells; an error when it is malformed. */
struct error *reply_length(const struct reply_header *header, size_t *ret) MUST_CHECK;

/* The bytes behind a header that reply_length() has checked, and a NUL. To be freed; NULL: no
 * memory. */
char *reply_copy(const struct reply_header *header, const char *bytes, size_t *ret_length);

#endif
