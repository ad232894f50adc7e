/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of files that clients send, in the web process: it keeps the files, has the process of
 * report_worker.h make pages of them, one after the other, and sends these.
 *
 *	POST /api/files?name=NAME	a file; the answer has its id
 *	POST /api/report?files=ID,ID	waits for the page; the answer has its id
 *	GET  /api/report/ID		the page
 *
 * Ids have 128 random bits, so that a page needs no token, and its address has none. A page is in a
 * sandbox: it has no origin, and reaches nothing of this server.
 */
#ifndef SERVE_REPORTS_H
#define SERVE_REPORTS_H

#include "base/units.h"
#include "serve/file_store.h"
#include "serve/http.h"

/* Reports that wait or are being made. */
#define REPORTS_MOST 4
/* Files that are being sent: one of an address, and of all. */
#define UPLOADS_MOST 4
/* An upload that takes longer makes room for another one. */
#define UPLOAD_SLOW_NS (30 * NS_PER_S)

struct upload;
struct report_request;

struct reports {
	int worker;   /* its socket; -1: it has ended */
	char *policy; /* of pages */
	struct file_store files;
	struct upload *uploads;        /* that are being sent */
	struct report_request *oldest; /* the one that is being made, if any is */
	bool is_running;
};

struct error *reports_init(struct reports *reports, int worker) MUST_CHECK;
void reports_deinit(struct reports *reports);

/* Take the worker's answer, once there is something to read. True: wake the exchanges. */
bool reports_take(struct reports *reports);

/* Handlers; their context is a struct web. */
extern const struct http_upload upload_file;
http_handler answer_uploaded, answer_report, answer_page;

#endif
