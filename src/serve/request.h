/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the web process to the collector, and the header of the replies.
 *
 *	err = request_send(socket, REQUEST_THREAD, tid);      in the web process
 *
 *	requests_take(&requests, bytes, length);              in the collector: any bytes
 *	if (requests_take_snapshot(&requests)) ...
 *	while ((tid = requests_take_thread(&requests))) ...
 *
 * A request is eight bytes: a kind, and a thread ID if the kind has one. The web process parses
 * untrusted input and may be compromised, so the collector does not trust its requests. It drops
 * bytes that are no request, requests that are pending already, and requests about further threads
 * while REQUEST_THREADS_MOST are pending. The collector limits how often it serves requests
 * (serve/collector.c).
 *
 * Replies use the same socket as readings (serve/tick.h). Each begins with a header.
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

/* EBUSY: the collector has not read earlier requests yet. */
struct error *request_send(int socket, enum request_kind kind, uint32_t tid) MUST_CHECK;

/* --- in the collector --- */

#define REQUEST_THREADS_MOST 8

/* The pending requests. All zero is none. */
struct requests {
	char part[sizeof(struct request)]; /* of a request that has not arrived completely */
	size_t part_length;
	bool wants_snapshot;
	uint32_t tids[REQUEST_THREADS_MOST]; /* in the order in which they came */
	size_t tid_count;
};

void requests_take(struct requests *requests, const void *bytes, size_t length);
bool requests_take_snapshot(struct requests *requests);
/* The thread of the oldest request; 0: there is none. */
uint32_t requests_take_thread(struct requests *requests);

/* --- replies --- */

#define REPLY_MAGIC 0x31796c7072707463 /* "ctprply1" */

enum reply_status {
	REPLY_DONE,   /* the result follows */
	REPLY_FAILED, /* an error message follows */
	REPLY_GONE,   /* an error message follows: the thread is not measured, or has ended */
};

/* Precedes the bytes of a reply. */
struct reply_header {
	uint64_t magic;
	uint64_t length; /* of the reply, including this header */
	uint32_t kind;   /* enum request_kind */
	uint32_t tid;    /* of REQUEST_THREAD */
	uint32_t status; /* enum reply_status */
	uint32_t unused;
};

/* The longest replies. */
#define REPLY_SNAPSHOT_MAX ((size_t)1 << 30)
#define REPLY_THREAD_MAX   ((size_t)256 << 10)

/* The length of the reply that begins with this header; an error if the header is malformed. */
struct error *reply_length(const struct reply_header *header, size_t *ret) MUST_CHECK;

/* The bytes behind a header that reply_length() has checked, and a NUL. To be freed; NULL: no
 * memory. */
char *reply_copy(const struct reply_header *header, const char *bytes, size_t *ret_length);

#endif
