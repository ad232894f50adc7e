/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink: a store that gets every interval, as HTTP requests. Each type of store is a row of
 * `sink_types`, and a file that encodes intervals for it.
 *
 * Encoding happens in the process that measures, which reads nothing from the network. The requests
 * go to a spool on disk, from which another process sends them, so an encoder
 * neither waits nor fails because of a server.
 */
#ifndef AGENT_SINK_H
#define AGENT_SINK_H

#include "agent/interval.h"

struct sink_options {
	const char *url;    /* of the server, without user and password */
	const char *tenant; /* X-Scope-OrgID; NULL: none */
	const char *name;   /* of this sink in losses, which must stay; NULL: all are its own */
};

/* A POST. `target`, `check`, `lifetime` and `others` are relative to the URL of the sink: a path, a
 * query ("?a=b") or both. */
struct sink_request {
	const char *target;
	const char *content_type;
	const char *content_encoding; /* "gzip", "zstd"; NULL: none */
	const char *header;           /* one more, "Name: value" without control characters; NULL */
	/* A GET for when it is not known whether the request has arrived: the answer "0" means that
	 * it has not, and it is sent again. NULL: to send it twice does no harm. */
	const char *check;
	/* A GET for a request that was taken and is older than SINK_LIFETIME_LEAST by the clock of
	 * the server: the answer is how many days the server keeps what is in it, if that is older
	 * and so not kept, and otherwise "0". NULL: it keeps it, however old it is. */
	const char *lifetime;
	/* A GET for a request that was taken: the answer "1" means that another agent sends under
	 * the name of this host, too. NULL: not asked. */
	const char *others;
	uint64_t time;    /* of all that is in it, in Unix seconds, for `check` and `lifetime` */
	const char *what; /* is lost with it: "rows of samples" */
	/* May be missing if the server died while it took the request: "sums of samples". NULL:
	 * nothing that `check` does not find. */
	const char *sums;
	uint64_t count; /* so many */
	struct text body;
};

/* The shortest time in seconds that a server keeps what it takes. */
#define SINK_LIFETIME_LEAST 86400

/* Takes a request, whose memory the encoder keeps. */
typedef struct error *sink_emit(void *context, const struct sink_request *request);

/* The answer of a server to a request. */
struct sink_answer {
	long status;
	const char *said;   /* of an answer that is not 2xx: its first line */
	const char *header; /* the value of `answer_header`; "": it has none */
	struct text body;   /* of an answer that is 2xx: its start, of SINK_BODY_MOST bytes */
};
#define SINK_BODY_MOST ((size_t)16 << 10)

enum sink_verdict {
	SINK_TAKEN,
	SINK_REFUSED, /* for what is in the request: the server would refuse it again */
	SINK_FAILED,  /* it may have been stored; the request itself may be the reason */
	SINK_BUSY,    /* it may have been stored; the server is the reason */
	SINK_WAITS,   /* it was not stored, and is sent again later */
};

struct sink_judgement {
	enum sink_verdict verdict;
	const char *advice; /* what the user can do about it; NULL: nothing */
	uint64_t refused;   /* of SINK_TAKEN: so many of the request's `count` were not taken */
	char said[384];     /* why; "": the status and what the answer says */
};

/* Judge an answer by its HTTP status only. */
void sink_judge_status(const struct sink_answer *answer, struct sink_judgement *ret);

struct sink_type {
	const char *name;  /* "clickhouse": also its option and its word in losses */
	bool keeps_losses; /* it stores the losses of intervals */
	/* The URL that targets are appended to, to be freed. NULL: it is the one that users write.
	 */
	struct error *(*server)(const char *url, char **ret)MUST_CHECK;
	/* Decide from an answer whether the request arrived. Called in a process without
	 * privileges. */
	void (*judge)(const struct sink_answer *answer, struct sink_judgement *ret);
	const char *answer_header; /* of answers, that `judge` needs; NULL: none */
	struct error *(*open)(const struct sink_options *options, void **ret)MUST_CHECK;
	struct error *(*encode)(void *sink, const struct agent_interval *interval, sink_emit *emit,
				void *context)MUST_CHECK;
	void (*close)(void *sink);
};

/* The type that is built in under this name, which is also that of its option; NULL: it is not. */
const struct sink_type *sink_type_named(const char *name);

extern const struct sink_type sink_clickhouse, sink_pyroscope, sink_otlp, sink_parca;

#endif
