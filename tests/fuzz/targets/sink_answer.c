/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of servers to the agent's requests: "STATUS\nHEADER\n" and the body, or its first line.
 */
#include <string.h>

#include "agent/clickhouse_answer.h"
#include "agent/otlp_answer.h"
#include "fuzz.h"

static void check_judgement(const struct sink_judgement *judgement)
{
	must(judgement->verdict >= SINK_TAKEN && judgement->verdict <= SINK_WAITS);
	must(memchr(judgement->said, '\0', sizeof(judgement->said)));
	must(!judgement->refused || judgement->verdict == SINK_TAKEN);
}

/* The status does not change what an exception means. */
static void check_clickhouse(const struct sink_answer *answer)
{
	static const enum sink_verdict verdicts[] = {
		[CLICKHOUSE_UNKNOWN] = SINK_FAILED, [CLICKHOUSE_DATA] = SINK_REFUSED,
		[CLICKHOUSE_TABLES] = SINK_WAITS,   [CLICKHOUSE_ACCESS] = SINK_WAITS,
		[CLICKHOUSE_BUSY] = SINK_BUSY,
	};
	const unsigned code = clickhouse_code(answer);
	const char *name = clickhouse_code_name(code);
	struct sink_judgement judgement;

	clickhouse_judge(answer, &judgement);
	check_judgement(&judgement);
	must(!judgement.refused);
	if (answer->status / 100 == 2) {
		must(judgement.verdict == (answer->body.length ? SINK_WAITS : SINK_TAKEN));
	} else if (code) {
		must(judgement.verdict == verdicts[clickhouse_cause(code)]);
		must(!name || !*judgement.said || strstr(judgement.said, name));
	}
	must(!code || strpbrk(answer->header, "0123456789") || strpbrk(answer->said, "0123456789"));
}

static void check_otlp(const struct sink_answer *answer)
{
	struct sink_judgement judgement;

	otlp_judge(answer, &judgement);
	check_judgement(&judgement);
	must((judgement.verdict == SINK_TAKEN) == (answer->status / 100 == 2));
	must(!judgement.refused || answer->body.length);
	must(judgement.refused <= INT64_MAX);
}

static char *cut_line(struct text *rest)
{
	struct text line = TEXT("");
	char *string;

	text_cut(rest, '\n', &line);
	string = strndup(line.length ? line.bytes : "", line.length);
	must(string);
	return string;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, first;
	char *status = cut_line(&rest), *header = cut_line(&rest), *said;
	const struct text body = rest;
	struct sink_answer answer = { .header = header };
	uint32_t number;

	first = rest;
	said = cut_line(&first);
	answer.status = text_u32(text_of(status), &number) ? (long)(number % 600) : 200;
	if (answer.status / 100 == 2) {
		answer.said = "";
		answer.body = body;
		if (answer.body.length > SINK_BODY_MOST)
			answer.body.length = SINK_BODY_MOST;
	} else {
		answer.said = said;
	}
	check_clickhouse(&answer);
	check_otlp(&answer);
	free(said);
	free(header);
	free(status);
	fuzz_release(bytes);
	return 0;
}
