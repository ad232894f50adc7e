/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/clickhouse_answer.h"

#include <stdio.h>

#include "base/array.h"

/* Codes and names are those of ClickHouse's src/Common/ErrorCodes.cpp, which keeps them for all
 * versions. */
static const struct {
	unsigned code;
	enum clickhouse_cause cause;
	const char *name;
} codes[] = {
	{ 3, CLICKHOUSE_DATA, "UNEXPECTED_END_OF_FILE" },
	{ 6, CLICKHOUSE_DATA, "CANNOT_PARSE_TEXT" },
	{ 8, CLICKHOUSE_TABLES, "THERE_IS_NO_COLUMN" },
	{ 10, CLICKHOUSE_TABLES, "NOT_FOUND_COLUMN_IN_BLOCK" },
	{ 16, CLICKHOUSE_TABLES, "NO_SUCH_COLUMN_IN_TABLE" },
	{ 20, CLICKHOUSE_TABLES, "NUMBER_OF_COLUMNS_DOESNT_MATCH" },
	{ 27, CLICKHOUSE_DATA, "CANNOT_PARSE_INPUT_ASSERTION_FAILED" },
	{ 32, CLICKHOUSE_DATA, "ATTEMPT_TO_READ_AFTER_EOF" },
	{ 33, CLICKHOUSE_DATA, "CANNOT_READ_ALL_DATA" },
	{ 44, CLICKHOUSE_TABLES, "ILLEGAL_COLUMN" },
	{ 47, CLICKHOUSE_TABLES, "UNKNOWN_IDENTIFIER" },
	{ 53, CLICKHOUSE_TABLES, "TYPE_MISMATCH" },
	{ 60, CLICKHOUSE_TABLES, "UNKNOWN_TABLE" },
	{ 75, CLICKHOUSE_BUSY, "CANNOT_WRITE_TO_FILE_DESCRIPTOR" },
	{ 76, CLICKHOUSE_BUSY, "CANNOT_OPEN_FILE" },
	{ 81, CLICKHOUSE_TABLES, "UNKNOWN_DATABASE" },
	{ 117, CLICKHOUSE_DATA, "INCORRECT_DATA" },
	{ 128, CLICKHOUSE_DATA, "TOO_LARGE_ARRAY_SIZE" },
	{ 131, CLICKHOUSE_DATA, "TOO_LARGE_STRING_SIZE" },
	{ 159, CLICKHOUSE_BUSY, "TIMEOUT_EXCEEDED" },
	{ 160, CLICKHOUSE_BUSY, "TOO_SLOW" },
	{ 164, CLICKHOUSE_ACCESS, "READONLY" },
	{ 172, CLICKHOUSE_BUSY, "CANNOT_CREATE_DIRECTORY" },
	{ 173, CLICKHOUSE_BUSY, "CANNOT_ALLOCATE_MEMORY" },
	{ 192, CLICKHOUSE_ACCESS, "UNKNOWN_USER" },
	{ 193, CLICKHOUSE_ACCESS, "WRONG_PASSWORD" },
	{ 194, CLICKHOUSE_ACCESS, "REQUIRED_PASSWORD" },
	{ 195, CLICKHOUSE_ACCESS, "IP_ADDRESS_NOT_ALLOWED" },
	{ 201, CLICKHOUSE_BUSY, "QUOTA_EXPIRED" },
	{ 202, CLICKHOUSE_BUSY, "TOO_MANY_SIMULTANEOUS_QUERIES" },
	{ 203, CLICKHOUSE_BUSY, "NO_FREE_CONNECTION" },
	{ 204, CLICKHOUSE_BUSY, "CANNOT_FSYNC" },
	{ 209, CLICKHOUSE_BUSY, "SOCKET_TIMEOUT" },
	{ 210, CLICKHOUSE_BUSY, "NETWORK_ERROR" },
	{ 218, CLICKHOUSE_TABLES, "TABLE_IS_DROPPED" },
	{ 225, CLICKHOUSE_BUSY, "NO_ZOOKEEPER" },
	{ 236, CLICKHOUSE_BUSY, "ABORTED" },
	{ 241, CLICKHOUSE_BUSY, "MEMORY_LIMIT_EXCEEDED" },
	{ 242, CLICKHOUSE_BUSY, "TABLE_IS_READ_ONLY" },
	{ 243, CLICKHOUSE_BUSY, "NOT_ENOUGH_SPACE" },
	{ 252, CLICKHOUSE_BUSY, "TOO_MANY_PARTS" },
	{ 271, CLICKHOUSE_DATA, "CANNOT_DECOMPRESS" },
	{ 279, CLICKHOUSE_BUSY, "ALL_CONNECTION_TRIES_FAILED" },
	{ 285, CLICKHOUSE_BUSY, "TOO_FEW_LIVE_REPLICAS" },
	{ 286, CLICKHOUSE_BUSY, "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE" },
	{ 290, CLICKHOUSE_BUSY, "LIMIT_EXCEEDED" },
	{ 291, CLICKHOUSE_ACCESS, "DATABASE_ACCESS_DENIED" },
	{ 319, CLICKHOUSE_BUSY, "UNKNOWN_STATUS_OF_INSERT" },
	{ 354, CLICKHOUSE_DATA, "ZLIB_INFLATE_FAILED" },
	{ 364, CLICKHOUSE_BUSY, "RECEIVED_ERROR_TOO_MANY_REQUESTS" },
	{ 394, CLICKHOUSE_BUSY, "QUERY_WAS_CANCELLED" },
	{ 396, CLICKHOUSE_BUSY, "TOO_MANY_ROWS_OR_BYTES" },
	{ 425, CLICKHOUSE_BUSY, "SYSTEM_ERROR" },
	{ 439, CLICKHOUSE_BUSY, "CANNOT_SCHEDULE_TASK" },
	{ 497, CLICKHOUSE_ACCESS, "ACCESS_DENIED" },
	{ 516, CLICKHOUSE_ACCESS, "AUTHENTICATION_FAILED" },
	{ 999, CLICKHOUSE_BUSY, "KEEPER_EXCEPTION" },
};

static size_t find(unsigned code)
{
	size_t i = 0;

	while (i < array_length(codes) && codes[i].code != code)
		i++;
	return i;
}

enum clickhouse_cause clickhouse_cause(unsigned code)
{
	const size_t found = find(code);

	return found < array_length(codes) ? codes[found].cause : CLICKHOUSE_UNKNOWN;
}

const char *clickhouse_code_name(unsigned code)
{
	const size_t found = find(code);

	return found < array_length(codes) ? codes[found].name : NULL;
}

unsigned clickhouse_code(const struct sink_answer *answer)
{
	struct text said = text_of(answer->said);
	uint32_t code;
	size_t digits = 0;

	if (text_u32(text_of(answer->header), &code))
		return code;
	if (!text_starts(said, TEXT("Code: ")))
		return 0;
	said = (struct text){ said.bytes + strlen("Code: "), said.length - strlen("Code: ") };
	while (digits < said.length && said.bytes[digits] >= '0' && said.bytes[digits] <= '9')
		digits++;
	return text_u32((struct text){ said.bytes, digits }, &code) ? code : 0;
}

/* Without an exception, a proxy answers. It knows nothing of the data, but may have a limit of
 * their size. */
static void judge_proxy(const struct sink_answer *answer, struct sink_judgement *ret)
{
	sink_judge_status(answer, ret);
	if (ret->verdict == SINK_REFUSED && answer->status != 413)
		ret->verdict = SINK_FAILED;
}

void clickhouse_judge(const struct sink_answer *answer, struct sink_judgement *ret)
{
	static const enum sink_verdict verdicts[] = {
		[CLICKHOUSE_UNKNOWN] = SINK_FAILED, [CLICKHOUSE_DATA] = SINK_REFUSED,
		[CLICKHOUSE_TABLES] = SINK_WAITS,   [CLICKHOUSE_ACCESS] = SINK_WAITS,
		[CLICKHOUSE_BUSY] = SINK_BUSY,
	};
	static const char *const advice[array_length(verdicts)] = {
		[CLICKHOUSE_TABLES] = "create or upgrade the tables: ctprof agent --create-schema "
				      "--clickhouse URL",
		[CLICKHOUSE_ACCESS] = "check the user, its password (--netrc-file) and its rights",
	};
	const unsigned code = clickhouse_code(answer);
	const enum clickhouse_cause cause = clickhouse_cause(code);
	const char *name = clickhouse_code_name(code);

	if (answer->status / 100 == 2 || !code) {
		judge_proxy(answer, ret);
		/* An INSERT is answered by nothing; a proxy that asks for a login answers a page.
		 */
		if (ret->verdict == SINK_TAKEN && answer->body.length) {
			ret->verdict = SINK_WAITS;
			snprintf(ret->said, sizeof(ret->said),
				 "the server answers an INSERT with text: it is not ClickHouse");
		}
		return;
	}
	*ret = (struct sink_judgement){ .verdict = verdicts[cause], .advice = advice[cause] };
	/* 18.16 does not name it. */
	if (name && !strstr(answer->said, name))
		snprintf(ret->said, sizeof(ret->said), "%s: %s", name, answer->said);
}
