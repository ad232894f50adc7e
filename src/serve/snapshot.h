/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot on request: every thread's counters now, as the file that ctprof capture writes.
 *
 * The web process requests it from the collector (serve/request.h), which takes at most one
 * snapshot in SNAPSHOT_PAUSE_NS. All HTTP requests that wait for a snapshot get the same one.
 */
#ifndef SERVE_SNAPSHOT_H
#define SERVE_SNAPSHOT_H

#include <stdint.h>

#include "base/units.h"
#include "serve/http.h"
#include "serve/request.h"

#define SNAPSHOT_PAUSE_NS    (5 * NS_PER_S)
#define SNAPSHOT_PATIENCE_NS (60 * NS_PER_S) /* of a request */

/* In the web process: the last one that came. All zero is none. */
struct snapshots {
	uint64_t number; /* how many snapshots have arrived */
	char *bytes;     /* of the file, or of the error message; a NUL follows */
	size_t length;
	bool has_failed;
	uint64_t asked_ns; /* CLOCK_MONOTONIC, of the pending request; 0: none is pending */
};

/* Keep the reply to a REQUEST_SNAPSHOT. */
struct error *snapshots_take(struct snapshots *snapshots, const struct reply_header *header,
			     const char *bytes) MUST_CHECK;

/* The handler of /api/snapshot; the context is a struct web. */
http_handler answer_snapshot;

#endif
