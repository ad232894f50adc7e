/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that makes reports of uploaded files.
 *
 * It has no privileges and opens nothing (security/server_sandbox.h). It receives descriptors of
 * files through a socket, one job at a time, and sends the page back as a descriptor of memory. It
 * parses nothing itself, but starts a child for each job, with limits of time and memory. So a file
 * that crashes the parser, hangs it or unpacks to gigabytes only makes its own report fail.
 */
#ifndef SERVE_REPORT_WORKER_H
#define SERVE_REPORT_WORKER_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file.h"

#define REPORT_FILES_MOST 8
#define REPORT_NAME_SIZE  128 /* with its NUL */

/* Limits of one job: its time, and the bytes of its page. */
#define REPORT_SECONDS   30
#define REPORT_PAGE_MOST ((uint64_t)64 << 20)

/* A job, with a descriptor for each file: the first is compared with each of the others. */
struct report_job {
	uint32_t count; /* 1 .. REPORT_FILES_MOST */
	char names[REPORT_FILES_MOST][REPORT_NAME_SIZE];
};

/* The answer, with the descriptor of the page or, if the job failed, of an error message. */
struct report_result {
	uint32_t has_failed;
	uint32_t signal; /* the signal that ended the child; 0: none */
};

/* Send a struct report_job or report_result with `count` descriptors. Does not wait. */
struct error *report_send(int socket, const void *message, size_t length, const int *fds,
			  size_t count) MUST_CHECK;
/* Receive a message with up to `most` descriptors, which are close-on-exec; waits for it, unless
 * the socket is nonblocking. `*ret_length` is 0 when the other end is closed. After an error there
 * are no descriptors to close. */
struct error *report_receive(int socket, void *message, size_t room, size_t *ret_length, int *fds,
			     size_t most, size_t *ret_count) MUST_CHECK;

/* Prints the page of one file or more. Called in the child. */
typedef struct error *report_printer(FILE *out, const struct named_file *files, size_t count);

struct report_worker {
	int socket; /* of type SOCK_SEQPACKET */
	report_printer *print;
	uint64_t memory_most; /* of a child, in bytes; UINT64_MAX: no limit */
};

/*
 * Confine this process and do jobs until the other end of the socket closes. The process gets the
 * lowest priority (nice), and is the first that the kernel kills when memory runs out.
 */
struct error *report_worker_run(const struct report_worker *worker) MUST_CHECK;

/* The error for the client when a signal ended the child. */
struct error *report_signal_error(uint32_t signal) MUST_CHECK;

#endif
