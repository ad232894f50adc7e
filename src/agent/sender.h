/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes without privileges that send requests of the spool to servers, one for each sink.
 *
 *	err = senders_open(&options, &starter);        before privileges are dropped
 *	err = sender_start(starter, sink, &socket);    and again after it has crashed
 *	err = fd_channel_send(socket, &job, sizeof(job), &fd, 1);
 *	poll(socket)
 *	err = sender_receive(socket, &answer);
 *
 * They alone read what servers answer. They change their user, have no capabilities, may open files
 * only for reading and sockets only to networks, and run no programs
 * (security/server_sandbox.h). A job is a descriptor of a file (request_file.h), and its answer a
 * struct of a fixed size. Passwords of the netrc file are in these processes alone.
 *
 * The starter is such a process, too, for the agent has dropped the right to change its user by the
 * time that a sender crashes. It reads nothing but requests of the agent to start another one.
 */
#ifndef AGENT_SENDER_H
#define AGENT_SENDER_H

#include "agent/sink.h"
#include "net/http_client.h"

struct sender_sink {
	const char *url; /* the target of a request is appended; "?" becomes "&" after a query */
	const struct sink_type *type; /* judges answers */
};

struct sender_options {
	const struct sender_sink *sinks;
	size_t sink_count;
	/* Its files are read before the processes are confined. */
	struct http_client_options http;
	uint64_t memory_most; /* of a process, in bytes (RLIMIT_DATA); UINT64_MAX: no limit */
};

enum sender_kind {
	SENDER_SEND,
	SENDER_CHECK, /* has the request arrived? */
};

struct sender_job {
	uint32_t kind;
};

enum sender_outcome {
	SENDER_DONE,    /* the server has taken it; of a check: it has arrived */
	SENDER_ABSENT,  /* of a check: it has not arrived */
	SENDER_REFUSED, /* the server will never take it */
	SENDER_RETRY,   /* the server does not take it now */
	SENDER_FAILED,  /* the server failed at this request, perhaps after it had taken it */
	SENDER_UNSENT,  /* there is no connection */
	SENDER_UNKNOWN, /* there was no answer, or one that does not say whether it has arrived */
	SENDER_DAMAGED, /* the file is no request */
	SENDER_OUTCOMES
};

enum sender_loss {
	SENDER_LOSS_REFUSED,
	SENDER_LOSS_PART, /* of a check: only a part of the request was stored */
	SENDER_LOSS_OLD,  /* the server does not keep what is so old */
	SENDER_LOSSES
};

struct sender_answer {
	uint32_t outcome;
	uint64_t retry_after_ns; /* 0: not said */
	uint64_t lost;           /* of SENDER_DONE: so much of the request is not there */
	uint64_t found;          /* of a check that is SENDER_DONE: so much of it was stored */
	uint32_t loss;           /* why: enum sender_loss */
	int64_t ahead_s;         /* http_clock_ahead() of the server; 0: not known */
	uint32_t has_others;     /* another agent sends under the name of this host, too */
	/* The server may have started since the time of the request. Only checks set it. */
	uint32_t has_restarted;
	char said[512]; /* one line of safe text: why */
};

/* Start the starter and wait until it has loaded libcurl. This process must have a single thread.
 * `*ret` is a socket; the processes end when it closes. */
struct error *senders_open(const struct sender_options *options, int *ret) MUST_CHECK;

/* Start a sender. Its socket (SOCK_SEQPACKET, nonblocking) closes if it cannot be started or ends.
 */
struct error *sender_start(int starter, size_t sink, int *ret) MUST_CHECK;

/* Take the answer to a job, which is there. False: the sender has ended, or says what it may not.
 */
bool sender_receive(int socket, struct sender_answer *ret);

#endif
