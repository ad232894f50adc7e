/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that makes reports of uploaded files.
 *
 * It has no privileges and opens nothing (security/server_sandbox.h). It receives descriptors of
 * files (base/fd_channel.h), one job at a time, and sends the page back as a descriptor of memory.
 * It parses nothing itself, but starts a child for each job, with limits of time and memory. So a
 * file that crashes the parser, hangs it or unpacks to gigabytes only makes its own report fail.
 */
#ifndef SERVE_REPORT_WORKER_H
#define SERVE_REPORT_WORKER_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/fd_channel.h"
#include "base/file.h"

#define REPORT_FILES_MOST FD_CHANNEL_MOST
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

/* Prints the page of one file or more. Called in the child. */
typedef struct error *report_printer(FILE *out, const struct named_file *files, size_t count);

struct report_worker {
	int socket; /* of fd_channel_open() */
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
