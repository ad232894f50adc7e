/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of ClickHouse to an INSERT.
 *
 * A server that cannot take a request answers by an exception. Its code, and not the status of
 * HTTP, says why: a server with too many parts answers 500, one without the table 404 (18.16: 500),
 * and a proxy in front of it something else. The code is in the header X-ClickHouse-Exception-Code
 * and at the start of the body ("Code: 252. DB::Exception: ..."); 18.16 has it only there
 * ("Code: 252, e.displayText() = ...").
 */
#ifndef AGENT_CLICKHOUSE_ANSWER_H
#define AGENT_CLICKHOUSE_ANSWER_H

#include "agent/sink.h"

#define CLICKHOUSE_CODE_HEADER "X-ClickHouse-Exception-Code"

/* Why the server refused a request, by the code of its exception. */
enum clickhouse_cause {
	CLICKHOUSE_UNKNOWN, /* another code, or none: perhaps the request is the cause */
	CLICKHOUSE_DATA,    /* the bytes of the request: it would fail again */
	CLICKHOUSE_TABLES,  /* there is no such table or column */
	CLICKHOUSE_ACCESS,  /* the user may not do it */
	CLICKHOUSE_BUSY,    /* the server is overloaded, full, or about to end */
};

enum clickhouse_cause clickhouse_cause(unsigned code);
/* The name of a code in the server's source; NULL: another one. */
const char *clickhouse_code_name(unsigned code);
/* The code of an answer; 0: it has none. */
unsigned clickhouse_code(const struct sink_answer *answer);

/* As struct sink_type has it. */
void clickhouse_judge(const struct sink_answer *answer, struct sink_judgement *ret);

#endif
