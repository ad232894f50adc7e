/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of uploaded files, in the web process. It keeps the files, has the report worker
 * (report_worker.h) make pages of them, one at a time, and sends the pages.
 *
 *	POST /api/files?name=NAME	a file; the answer has its id
 *	POST /api/report?files=ID,ID	makes a report; the answer has its id
 *	GET  /api/report/ID		the page
 *
 * Ids have 128 random bits, so a page needs no token, and its address has none. The browser puts a
 * page into a sandbox: it has no origin, and cannot reach this server.
 */
#ifndef SERVE_REPORTS_H
#define SERVE_REPORTS_H

#include "base/units.h"
#include "serve/file_store.h"
#include "serve/http.h"

/* The most reports that are queued or being made. */
#define REPORTS_MOST 4
/* The most uploads in progress; of one address, one. */
#define UPLOADS_MOST 4
/* Another upload may replace one that takes longer than this. */
#define UPLOAD_SLOW_NS (30 * NS_PER_S)

struct upload;
struct report_request;

struct reports {
	int worker;   /* its socket; -1: it has ended */
	char *policy; /* Content-Security-Policy of pages */
	struct file_store files;
	struct upload *uploads;        /* in progress */
	struct report_request *oldest; /* of the queue */
	bool is_running;               /* the worker makes the report of `oldest` */
};

struct error *reports_init(struct reports *reports, int worker) MUST_CHECK;
void reports_deinit(struct reports *reports);

/* Receive the worker's answer; call it when the socket is readable. True: wake the exchanges. */
bool reports_take(struct reports *reports);

/* Handlers; their context is a struct web. */
extern const struct http_upload upload_file;
http_handler answer_uploaded, answer_report, answer_page;

#endif
