/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot on request: every thread's counters now, as the file that ctprof capture writes.
 *
 * It is the one thing that the web process asks of the collector: one byte, which has no contents,
 * so that a broken web process can ask for nothing else. The collector takes at most one snapshot
 * in SNAPSHOT_PAUSE_NS, and sends it behind a header; all requests that wait get it.
 */
#ifndef SERVE_SNAPSHOT_H
#define SERVE_SNAPSHOT_H

#include <stdint.h>

#include "serve/http.h"

#define SNAPSHOT_PAUSE_NS    ((uint64_t)5 * 1000000000)
#define SNAPSHOT_PATIENCE_NS ((uint64_t)60 * 1000000000) /* of a request */
#define SNAPSHOT_BYTES_MAX   ((size_t)1 << 30)
#define SNAPSHOT_MAGIC       0x3170616e73707463 /* "ctpsnap1" */

/* Stands before the bytes of the file, or of a message that says why there is none. */
struct snapshot_header {
	uint64_t magic;
	uint64_t length; /* of all, with the header */
	uint64_t has_failed;
};

/* In the web process: the last one that came. All zero is none. */
struct snapshots {
	uint64_t number; /* that have come */
	char *bytes;     /* of the file or of the message; a NUL follows */
	size_t length;
	bool has_failed;
	uint64_t asked_ns; /* CLOCK_MONOTONIC; 0: none is on its way */
};

/* The handler of /api/snapshot; the context is a struct web. */
http_handler answer_snapshot;

#endif
