/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request in a file of the spool: lines of text that say what it is, an empty line, and the body.
 *
 *	ctprof-request 1
 *	interrupted: 0
 *	what: rows of samples
 *	count: 1234
 *	target: ?query=INSERT...
 *	type: application/octet-stream
 *	encoding: zstd
 *	header: X-Scope-OrgID: team
 *	check: ?query=SELECT...
 *	lifetime: ?query=SELECT...
 *	time: 1790000000
 *	sums: sums of samples
 *	others: ?query=SELECT...
 *	body: 56789
 *
 * "interrupted" becomes 1 in its place when the server, or the connection, has failed while the
 * request was sent: it may have arrived. The number after "body" is the length of the body, by
 * which a file that was cut off is known. The file has no URL and no passwords. The reader takes
 * any bytes; one that does not know a line takes the file for a damaged one.
 */
#ifndef AGENT_REQUEST_FILE_H
#define AGENT_REQUEST_FILE_H

#include "agent/sink.h"

/* The most bytes before the body. */
#define REQUEST_HEADER_MOST ((size_t)64 << 10)

/* Texts are without control characters; an empty one is not there. */
struct request_header {
	struct text what, target, content_type, content_encoding, header, check, lifetime, sums,
		others;
	uint64_t interrupted, count, time, body_length;
	size_t length; /* of the header: where the body begins */
};

/* The lines before the body, which the caller frees. Fails if a text has control characters or is
 * too long. */
struct error *request_header_write(const struct sink_request *request, struct text *ret) MUST_CHECK;
/* The same of a request that is interrupted, from the header of its file. */
struct error *request_header_write_marked(const struct request_header *header,
					  struct text *ret) MUST_CHECK;

/* Parse the start of a file, of which at most REQUEST_HEADER_MOST bytes are given. The texts point
 * into it. False: it is not the start of a request, or of another version. */
bool request_header_parse(struct text start, struct request_header *ret);

/* Read the header of an open file into `bytes`, which has room for REQUEST_HEADER_MOST. False: the
 * file is damaged: there is no header, or the body is not as long as it says. */
bool request_header_read(int fd, char *bytes, struct request_header *ret);

/* Mark the request in a file that is open for reading and writing as interrupted. False: the file
 * has no place for that, as one of an earlier version (errno is 0), or cannot be written (errno).
 */
bool request_file_mark(int fd);

#endif
