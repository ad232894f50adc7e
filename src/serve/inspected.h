/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /api/thread: what a thread waits for, as `top --inspect` says it.
 *
 * The web process asks the collector (serve/request.h) only about threads that are in the readings
 * it keeps, and keeps the answers: those who ask within INSPECTED_FRESH_NS get the same one. At
 * most REQUEST_THREADS_MOST threads wait to be inspected; who asks about more is refused.
 */
#ifndef SERVE_INSPECTED_H
#define SERVE_INSPECTED_H

#include "base/units.h"
#include "serve/http.h"
#include "serve/request.h"

#define INSPECTED_FRESH_NS    ((uint64_t)1500 * 1000000)
#define INSPECTED_PATIENCE_NS (60 * NS_PER_S) /* of a request */

/* Answers that are kept. */
#define INSPECTED_MOST 32

struct inspected {
	uint32_t tid;      /* 0: this place is free */
	uint64_t asked_ns; /* CLOCK_MONOTONIC; 0: nothing is on its way */
	uint64_t came_ns;  /* of the answer; 0: there is none yet */
	enum reply_status status;
	char *bytes; /* a NUL follows */
	size_t length;
};

/* All zero is empty. */
struct inspecteds {
	struct inspected items[INSPECTED_MOST];
};

void inspecteds_deinit(struct inspecteds *inspecteds);

/* Is there an answer of a thread that came at that time or later? NULL: no. */
const struct inspected *inspecteds_find(const struct inspecteds *inspecteds, uint32_t tid,
					uint64_t least_ns);

/* Note that a thread is asked about. *ret_is_new is false if it is on its way already; an error
 * (EBUSY) if too many are. */
struct error *inspecteds_ask(struct inspecteds *inspecteds, uint32_t tid, uint64_t now,
			     bool *ret_is_new) MUST_CHECK;

/* Take a reply to REQUEST_THREAD. */
struct error *inspecteds_take(struct inspecteds *inspecteds, const struct reply_header *header,
			      const char *bytes, uint64_t now) MUST_CHECK;

/* The handler of /api/thread; the context is a struct web. */
http_handler answer_thread;

#endif
