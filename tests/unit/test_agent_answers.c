/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "agent/clickhouse_answer.h"
#include "agent/otlp_answer.h"
#include "unit/unit.h"

static struct sink_judgement judged(long status, const char *header, const char *said)
{
	const struct sink_answer answer = { .status = status, .header = header, .said = said };
	struct sink_judgement judgement;

	clickhouse_judge(&answer, &judgement);
	return judgement;
}

static unsigned code_of(const char *header, const char *said)
{
	const struct sink_answer answer = { .status = 500, .header = header, .said = said };

	return clickhouse_code(&answer);
}

TEST(codes)
{
	assert_int_equal(code_of("252", ""), 252);
	assert_int_equal(code_of("", "Code: 252. DB::Exception: Too many parts"), 252);
	assert_int_equal(code_of("", "Code: 60, e.displayText() = DB::Exception: x"), 60);
	assert_int_equal(code_of("60", "Code: 252. other"), 60);
	assert_int_equal(code_of("x", "Code: 252"), 252);
	assert_int_equal(code_of("", "Code: "), 0);
	assert_int_equal(code_of("", "Code: x"), 0);
	assert_int_equal(code_of("", "Code: 99999999999999999999."), 0);
	assert_int_equal(code_of("", "<html>Code: 252"), 0);
	assert_string_equal(clickhouse_code_name(252), "TOO_MANY_PARTS");
	assert_string_equal(clickhouse_code_name(243), "NOT_ENOUGH_SPACE");
	assert_null(clickhouse_code_name(0));
	assert_null(clickhouse_code_name(49));
}

/* The status does not matter where there is a code. */
TEST(causes)
{
	static const struct {
		unsigned code;
		enum sink_verdict verdict;
	} cases[] = {
		{ 252, SINK_BUSY },    { 241, SINK_BUSY },    { 202, SINK_BUSY },
		{ 159, SINK_BUSY },    { 243, SINK_BUSY },    { 236, SINK_BUSY },
		{ 242, SINK_BUSY },    { 60, SINK_WAITS },    { 16, SINK_WAITS },
		{ 81, SINK_WAITS },    { 516, SINK_WAITS },   { 194, SINK_WAITS },
		{ 497, SINK_WAITS },   { 164, SINK_WAITS },   { 33, SINK_REFUSED },
		{ 354, SINK_REFUSED }, { 117, SINK_REFUSED }, { 49, SINK_FAILED },
		{ 1002, SINK_FAILED },
	};
	static const long statuses[] = { 400, 403, 404, 500, 503 };

	for (size_t i = 0; i < array_length(cases); i++)
		for (size_t s = 0; s < array_length(statuses); s++) {
			char code[16];

			snprintf(code, sizeof(code), "%u", cases[i].code);
			assert_int_equal(judged(statuses[s], code, "").verdict, cases[i].verdict);
		}
	assert_non_null(strstr(judged(404, "60", "").advice, "--create-schema"));
	assert_non_null(strstr(judged(403, "516", "").advice, "--netrc-file"));
	assert_null(judged(500, "252", "").advice);
	assert_string_equal(judged(500, "", "Code: 243, e.displayText() = x").said,
			    "NOT_ENOUGH_SPACE: Code: 243, e.displayText() = x");
	assert_string_equal(judged(500, "", "Code: 243. x (NOT_ENOUGH_SPACE)").said, "");
}

TEST(proxies)
{
	assert_int_equal(judged(200, "", "").verdict, SINK_TAKEN);
	assert_int_equal(judged(400, "", "<html>").verdict, SINK_FAILED);
	assert_int_equal(judged(413, "", "<html>").verdict, SINK_REFUSED);
	assert_int_equal(judged(404, "", "").verdict, SINK_FAILED);
	assert_int_equal(judged(401, "", "").verdict, SINK_WAITS);
	assert_int_equal(judged(302, "", "").verdict, SINK_WAITS);
	assert_int_equal(judged(503, "", "").verdict, SINK_WAITS);
}

static struct sink_judgement judged_otlp(const void *body, size_t length)
{
	const struct sink_answer answer = {
		.status = 200, .header = "", .said = "", .body = { body, length }
	};
	struct sink_judgement judgement;

	otlp_judge(&answer, &judgement);
	return judgement;
}

TEST(partial_success)
{
	static const char rejected[] = "\x0a\x0b\x08\x02\x12\x07too old";
	const size_t length = sizeof(rejected) - 1;
	struct sink_judgement judgement = judged_otlp(rejected, length);

	assert_int_equal(judgement.verdict, SINK_TAKEN);
	assert_int_equal(judgement.refused, 2);
	assert_string_equal(judgement.said, "too old");
	/* What is cut off, or is something else, says nothing. */
	for (size_t i = 0; i < length; i++) {
		judgement = judged_otlp(rejected, i);
		assert_int_equal(judgement.verdict, SINK_TAKEN);
		assert_int_equal(judgement.refused, 0);
	}
	/* A negative number. */
	judgement = judged_otlp("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
	assert_int_equal(judgement.refused, 0);
	assert_int_equal(judged_otlp("{\"partialSuccess\":{}}", 21).refused, 0);
}

UNIT_TESTS(cmocka_unit_test(codes), cmocka_unit_test(causes), cmocka_unit_test(proxies),
	   cmocka_unit_test(partial_success))
