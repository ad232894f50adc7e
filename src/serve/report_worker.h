/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that makes reports of uploaded files.
 *
 * It has no privileges and opens nothing (security/server_sandbox.h). Descriptors of files come
 * through a socket, one job at a time, and the page goes back as a descriptor of memory. It parses
 * nothing itself: a child does, for each job a new one, whose time and memory are limited. So a
 * file that crashes the parser, hangs it or unpacks to gigabytes costs no more than its own report.
 */
#ifndef SERVE_REPORT_WORKER_H
#define SERVE_REPORT_WORKER_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file.h"

#define REPORT_FILES_MOST 8
#define REPORT_NAME_SIZE  128 /* with its NUL */

/* Of one job. */
#define REPORT_SECONDS   30
#define REPORT_PAGE_MOST ((uint64_t)64 << 20)

/* A job, with a descriptor for each file: the first is compared with each of the others. */
struct report_job {
	uint32_t count; /* 1 .. REPORT_FILES_MOST */
	char names[REPORT_FILES_MOST][REPORT_NAME_SIZE];
};

/* The answer, with the descriptor of the page or, where it has failed, of a message. */
struct report_result {
	uint32_t has_failed;
	uint32_t signal; /* that ended the child; 0: none */
};

/* Send a message with descriptors, and receive one: a struct report_job or report_result. Sending
 * does not wait. */
struct error *report_send(int socket, const void *message, size_t length, const int *fds,
			  size_t count) MUST_CHECK;
/* At most `most` descriptors, close-on-exec. `*ret_length` is 0 at the end. After an error there
 * are none. Receiving waits, unless the socket does not block. */
struct error *report_receive(int socket, void *message, size_t room, size_t *ret_length, int *fds,
			     size_t most, size_t *ret_count) MUST_CHECK;

/* Print the page of these files, at least one; called in the child. */
typedef struct error *report_printer(FILE *out, const struct named_file *files, size_t count);

struct report_worker {
	int socket; /* of type SOCK_SEQPACKET */
	report_printer *print;
	uint64_t memory_most; /* of a child, in bytes; UINT64_MAX: no limit */
};

/*
 * Confine this process and do jobs until the other end of the socket closes. Its priority is the
 * lowest (nice), and the kernel ends it before others when memory runs out.
 */
struct error *report_worker_run(const struct report_worker *worker) MUST_CHECK;

/* What to tell the client about the end of a child by a signal. */
struct error *report_signal_error(uint32_t signal) MUST_CHECK;

#endif
