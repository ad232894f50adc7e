/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The web process: it takes readings from the collector, keeps them, and answers requests.
 *
 * It has no privileges, opens no files and runs no programs. It reads only the sockets of the
 * collector, of the report worker (report_worker.h) and of HTTP clients.
 */
#ifndef SERVE_WEB_H
#define SERVE_WEB_H

#include "serve/http.h"
#include "serve/inspected.h"
#include "serve/metrics.h"
#include "serve/reports.h"
#include "serve/snapshot.h"
#include "serve/store.h"

struct web_options {
	int socket; /* from the collector */
	int worker; /* the socket of the report worker */
	struct http_options http;
	struct tick_store_options store;
	uint64_t interval_ns;
	unsigned classes;   /* the classes that are measured: bits, as FLAME_ON_CPU */
	size_t series_most; /* of /metrics */
	bool no_inspection; /* refuse /api/thread */
};

/* The context of all handlers. */
struct web {
	const struct web_options *options;
	struct tick_store *store;
	struct metrics metrics;
	struct http_server *server;
	struct tick_buffer buffer; /* the reading or reply that is being received */
	struct snapshots snapshots;
	struct reports reports;
	struct inspecteds inspecteds;
};

/* Until the collector closes the socket, or a signal that `mask` of sleep lets in has set
 * `*is_over`. */
struct error *web_run(const struct web_options *options) MUST_CHECK;

#endif
