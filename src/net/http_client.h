/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder net/: requests to HTTP servers, by libcurl. The library is opened when the first
 * client is (dlopen(3)), since loading it with its thirty libraries takes longer than most commands
 * run.
 */

/*
 * A client sends one request at a time. It belongs to one thread.
 *
 *	err = http_client_open(&options, &client);
 *	err = http_client_send(client, &request, &answer);
 *	if (!err && answer.status / 100 != 2)
 *		...
 *	http_client_close(client);
 *
 * Answers are hostile: their sizes and times are bounded, and redirections are not followed.
 */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include "base/error.h"
#include "base/text.h"

struct http_client_options {
	uint64_t connect_ns; /* the longest time to connect; 0: 5 s */
	uint64_t stalled_ns; /* the longest time without a byte; 0: 30 s */
	uint64_t total_ns;   /* the longest time of a request; 0: 5 min */
	const char *netrc;   /* a file with passwords (netrc(5)); NULL: none */
	const char *user; /* letters, digits and -._~; NULL: the first that the file names for the
			   * server, or none */
	const char *ca_file; /* certificates to trust; NULL: those of the host */
	/* Send each request from a thread of its own that has no privileges (THREAD_CLIENT), which
	 * also calls `take`. The two files are read at once, by the caller. */
	bool is_confined;
};

struct http_request {
	const char *method;         /* NULL: POST with a body, GET without one */
	const char *url;            /* http or https */
	const char *const *headers; /* "Name: value" */
	size_t header_count;
	struct text body; /* used if `body_fd` is -1 */
	int body_fd; /* a file whose bytes from `body_from` to its end are the body; -1: none */
	uint64_t body_from;
	/* Called with each piece of the body of an answer with status 2xx. Its error ends the
	 * request, and is returned. NULL: the body is dropped. */
	struct error *(*take)(void *context, struct text piece);
	void *context;
	uint64_t answer_most;      /* bytes; 0: 64 KiB. A longer answer is an error. */
	const char *wanted_header; /* its name: its value is in the answer; NULL: none */
};

struct http_answer {
	long status;
	uint64_t retry_after_ns; /* of the header Retry-After; 0: none */
	uint64_t date;       /* of the header Date: the server's clock in Unix seconds; 0: none */
	int64_t ahead_s;     /* http_clock_ahead() of `date`; 0: none */
	uint64_t sent_bytes; /* of the body of the request */
	char header[64];     /* the start of the value of the wanted header: safe text; "": none */
	char said[512]; /* the start of the body of an answer that is not 2xx: one line of safe text
			 */
};

/*
 * By how many seconds a server's clock is ahead of this host's, or behind it (less than 0), at
 * least. `date` is in whole seconds, and the server may have written it at any time from `sent_s`
 * to `arrived_s`, by the clock of this host, which may be set meanwhile. 0: it may be the same.
 */
int64_t http_clock_ahead(uint64_t date, uint64_t sent_s, uint64_t arrived_s);

struct http_client;

/* Fails if libcurl is not installed. */
struct error *http_client_open(const struct http_client_options *options,
			       struct http_client **ret) MUST_CHECK;
/* An error if there is no complete answer; one with any status is none. */
struct error *http_client_send(struct http_client *client, const struct http_request *request,
			       struct http_answer *ret) MUST_CHECK;
/* Takes NULL. */
void http_client_close(struct http_client *client);
DEFINE_CLEANUP(http_client_close, struct http_client *)

#endif
