/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/spans.h"
#include "store/sql.h"

#include "unit/unit.h"

/* The text of a query, which is released. */
static void expect_sql(struct sql *sql, const char *text, const char *parameters)
{
	char *got = sql_text(sql);

	assert_non_null(got);
	assert_string_equal(got, text);
	expect_text(((struct text){ sql->parameters.count ? sql->parameters.items : "",
				    sql->parameters.count }),
		    parameters);
	free(got);
	sql_deinit(sql);
}

/* No byte of a value is a byte of the query. */
TEST(values)
{
	const struct text hostile = { "a'b\\c\n\t\0%{x}", 12 };
	struct sql sql = { .has_parameters = true };

	sql_add(&sql, "SELECT ");
	sql_add_value(&sql, hostile);
	expect_sql(&sql, "SELECT {p0:String}", "&param_p0=a%5C%27b%5C%5Cc%5Cn%5Ct%5C0%25%7Bx%7D");
	sql = (struct sql){ 0 };
	sql_add_value(&sql, hostile);
	expect_sql(&sql, "unhex('6127625c630a0900257b787d')", "");
	sql = (struct sql){ 0 };
	sql_add_value(&sql, (struct text){ "", 0 });
	expect_sql(&sql, "unhex('')", "");
}

/* A value that is there several times, as in each part of a time. */
TEST(values_are_sent_once)
{
	static const char *const values[] = { "a", "", "a=b&c", "a", "", "p0", "a=b&c", "b" };
	struct sql sql = { .has_parameters = true };

	for (size_t i = 0; i < array_length(values); i++)
		sql_add_value(&sql, text_of(values[i]));
	expect_sql(&sql,
		   "{p0:String}{p1:String}{p2:String}{p0:String}{p1:String}{p3:String}"
		   "{p2:String}{p4:String}",
		   "&param_p0=a&param_p1=&param_p2=a%3Db%26c&param_p3=p0&param_p4=b");
}

/* Patterns as they are in hexadecimal digits. */
static void expect_glob(const char *glob, const char *before, const char *pattern,
			const char *after)
{
	char *globs[] = { (char *)(uintptr_t)glob };
	struct sql sql = { 0 }, expected = { 0 };
	char *text;

	sql_add_globs(&sql, "host", globs, 1);
	sql_add(&expected, "(%s", before);
	sql_add_value(&expected, text_of(pattern));
	sql_add(&expected, "%s)", after);
	text = sql_text(&expected);
	expect_sql(&sql, text, "");
	free(text);
	sql_deinit(&expected);
}

TEST(globs)
{
	expect_glob("web-1", "host = ", "web-1", "");
	expect_glob("100%_'", "host = ", "100%_'", "");
	expect_glob("web-*", "host LIKE ", "web-%", "");
	expect_glob("we?_%*", "host LIKE ", "we_\\_\\%%", "");
	expect_glob("a\\*b\\\\", "host LIKE ", "a*b\\\\", "");
	expect_glob("web-[1-3]", "match(host, ", "^(?s:web\\-[1-3])$", ")");
	expect_glob("[!]a]*.?", "match(host, ", "^(?s:[^\\]a].*\\..)$", ")");
	expect_glob("[[\\]]x", "match(host, ", "^(?s:[\\[\\]]x)$", ")");
}

TEST(selections)
{
	struct store_url url = { 0 };
	struct sql sql = { .has_parameters = true };

	expect_ok(store_url_parse("ch://s/d?host=a&host=b*&comm=c&label.v=1&label.v=2&label.w=3",
				  1795177800, &url));
	sql_add_selection(&sql, &url, SQL_SELECT_HOSTS);
	expect_sql(&sql,
		   " AND (host = {p0:String} OR host LIKE {p1:String})"
		   " AND (host, facts) IN (SELECT host, facts FROM hosts WHERE arrayExists((n, v) "
		   "-> n = "
		   "{p2:String} AND (v = {p3:String} OR v = {p4:String}), label_names, "
		   "label_values))"
		   " AND (host, facts) IN (SELECT host, facts FROM hosts WHERE arrayExists((n, v) "
		   "-> n = "
		   "{p5:String} AND (v = {p6:String}), label_names, label_values))",
		   "&param_p0=a&param_p1=b%25&param_p2=v&param_p3=1&param_p4=2&param_p5=w&"
		   "param_p6=3");
	store_url_deinit(&url);
}

/* Tables without the facts of a time; and facts that are no labels. */
TEST(labels)
{
	struct store_url url = { 0 };
	struct sql sql = { .has_parameters = true };

	expect_ok(store_url_parse("ch://s/d?label.kernel=6.*", 1795177800, &url));
	sql_add_selection(&sql, &url, SQL_SELECT_HOST_NAMES);
	expect_sql(&sql,
		   " AND host IN (SELECT host FROM hosts WHERE (NOT has(label_names, {p0:String}) "
		   "AND (kernel LIKE {p1:String})) OR arrayExists((n, v) -> n = {p0:String} AND (v "
		   "LIKE {p1:String}), label_names, label_values))",
		   "&param_p0=kernel&param_p1=6.%25");
	store_url_deinit(&url);
}

/* Each table is read once, whatever parts of the time it has. */
TEST(rows)
{
	const struct store_rows rows = { "threads", "of_rows", "of_sums", SQL_SELECT_HOST_NAMES };
	struct store_url url = { 0 };
	struct sql sql = { .has_parameters = true };

	expect_ok(store_url_parse("ch://s/d?host=a", 1795177800, &url));
	url.from_s = 3539;
	url.to_s = 14461;
	sql_add_rows(&sql, &url, STORE_SUMS, &rows);
	expect_sql(&sql,
		   "(SELECT of_sums FROM threads WHERE (t >= toDateTime(3539) AND t < "
		   "toDateTime(3540) "
		   "OR t >= toDateTime(14460) AND t < toDateTime(14461)) AND (host = {p0:String})"
		   " UNION ALL SELECT of_sums FROM threads_1m WHERE (t >= toDateTime(3540) AND t < "
		   "toDateTime(3600) OR t >= toDateTime(14400) AND t < toDateTime(14460)) AND "
		   "(host = {p0:String})"
		   " UNION ALL SELECT of_sums FROM threads_1h WHERE (t >= toDateTime(3600) AND t < "
		   "toDateTime(14400)) AND (host = {p0:String}))",
		   "&param_p0=a");
	store_url_deinit(&url);
}

static void expect_spans(uint64_t from_s, uint64_t to_s, enum store_detail detail,
			 const struct store_span *expected, size_t count)
{
	struct store_span spans[STORE_SPANS_MAX];

	assert_int_equal(store_spans(from_s, to_s, detail, spans), count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(spans[i].suffix, expected[i].suffix);
		assert_int_equal(spans[i].from_s, expected[i].from_s);
		assert_int_equal(spans[i].to_s, expected[i].to_s);
	}
}

TEST(spans)
{
	expect_spans(3590, 11000, STORE_ROWS, (struct store_span[]){ { "", 3590, 11000 } }, 1);
	expect_spans(3590, 11000, STORE_SUMS,
		     (struct store_span[]){ { "", 3590, 3600 },
					    { "_1h", 3600, 10800 },
					    { "_1m", 10800, 10980 },
					    { "", 10980, 11000 } },
		     4);
	expect_spans(3539, 7261, STORE_SUMS,
		     (struct store_span[]){ { "", 3539, 3540 },
					    { "_1m", 3540, 3600 },
					    { "_1h", 3600, 7200 },
					    { "_1m", 7200, 7260 },
					    { "", 7260, 7261 } },
		     5);
	expect_spans(3601, 3602, STORE_SUMS, (struct store_span[]){ { "", 3601, 3602 } }, 1);
	expect_spans(3601, 3721, STORE_MINUTES, (struct store_span[]){ { "_1m", 3600, 3780 } }, 1);
	expect_spans(3601, 7201, STORE_HOURS, (struct store_span[]){ { "_1h", 3600, 10800 } }, 1);
}

/* Each second of a time is in one span. */
TEST(spans_add_up)
{
	for (uint64_t from = 0; from < 9000; from += 7)
		for (uint64_t length = 1; length < 20000; length += 611) {
			struct store_span spans[STORE_SPANS_MAX];
			const size_t count = store_spans(from, from + length, STORE_SUMS, spans);
			uint64_t at = from;

			for (size_t i = 0; i < count; i++) {
				assert_int_equal(spans[i].from_s, at);
				assert_true(spans[i].to_s > at);
				at = spans[i].to_s;
			}
			assert_int_equal(at, from + length);
		}
}

UNIT_TESTS(cmocka_unit_test(values), cmocka_unit_test(values_are_sent_once),
	   cmocka_unit_test(globs), cmocka_unit_test(selections), cmocka_unit_test(labels),
	   cmocka_unit_test(rows), cmocka_unit_test(spans), cmocka_unit_test(spans_add_up))
