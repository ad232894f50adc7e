/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /api/thread: what a thread waits for, as `top --inspect` says it.
 *
 * The web process asks the collector (serve/request.h) only about threads that are in the readings
 * it keeps. It keeps the answers: requests about one thread within INSPECTED_FRESH_NS get the same
 * answer. At most REQUEST_THREADS_MOST threads wait to be inspected; further requests are refused.
 */
#ifndef SERVE_INSPECTED_H
#define SERVE_INSPECTED_H

#include "base/units.h"
#include "serve/http.h"
#include "serve/request.h"

#define INSPECTED_FRESH_NS    ((uint64_t)1500 * 1000000)
#define INSPECTED_PATIENCE_NS ((uint64_t)60 * 1000000000) /* then a request fails */

/* The number of answers that are kept. */
#define INSPECTED_MOST 32

struct inspected {
	uint32_t tid;      /* 0: this place is free */
	uint64_t asked_ns; /* CLOCK_MONOTONIC, of the pending request; 0: none is pending */
	uint64_t came_ns;  /* CLOCK_MONOTONIC, of the answer; 0: there is none yet */
	enum reply_status status;
	char *bytes; /* a NUL follows */
	size_t length;
};

/* All zero is empty. */
struct inspecteds {
	struct inspected items[INSPECTED_MOST];
};

void inspecteds_deinit(struct inspecteds *inspecteds);

/* The answer about a thread, if it arrived at `least_ns` or later; else NULL. */
const struct inspected *inspecteds_find(const struct inspecteds *inspecteds, uint32_t tid,
					uint64_t least_ns);

/* Note that a request about a thread is pending. *ret_is_new is false if one was pending already.
 * EBUSY: too many are pending. */
struct error *inspecteds_ask(struct inspecteds *inspecteds, uint32_t tid, uint64_t now,
			     bool *ret_is_new) MUST_CHECK;

/* Keep the reply to a REQUEST_THREAD. */
struct error *inspecteds_take(struct inspecteds *inspecteds, const struct reply_header *header,
			      const char *bytes, uint64_t now) MUST_CHECK;

/* The handler of /api/thread; the context is a struct web. */
http_handler answer_thread;

#endif
