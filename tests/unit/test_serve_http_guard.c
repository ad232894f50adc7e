/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_guard.h"

#include "unit/unit.h"

TEST(own_hosts)
{
	static const char *const own[] = {
		"localhost",     "localhost:7070", "LocalHost:1", "127.0.0.1",       "127.0.0.1:80",
		"10.1.2.3:7070", "[::1]",          "[::1]:7070",  "[fe80::1]:65535",
	};

	for (size_t i = 0; i < array_length(own); i++)
		if (!http_host_is_own(own[i]))
			fail_msg("'%s' is refused", own[i]);
}

TEST(hosts_of_others)
{
	static const char *const others[] = {
		"",
		"evil.example",
		"evil.example:7070",
		"localhost.",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"web7",
		"web7:7070",
		":7070",
		"localhost:",
		"localhost:x",
		"localhost:65536",
		"localhost:000070",
		"localhost:7070 ",
		"localhost:1@evil",
		"[::1",
		"[::1]7070",
		"[localhost]",
		"[127.0.0.1]",
		"::1",
		"[]",
		"127.1",
		"0x7f000001",
		"2130706433",
		"127.0.0.1:+80",
		"[web7]:7070",
	};

	for (size_t i = 0; i < array_length(others); i++)
		if (http_host_is_own(others[i]))
			fail_msg("'%s' is accepted", others[i]);
}

TEST(sources)
{
	static const struct row {
		struct http_source source;
		bool is_own, is_own_to_navigate;
	} rows[] = {
		{ { "h:1", NULL, NULL, NULL }, true, true },
		{ { "h:1", "http://h:1", NULL, NULL }, true, true },
		{ { "h:1", "https://H:1", NULL, NULL }, true, true },
		{ { "h:1", "http://h:2", NULL, NULL }, false, false },
		{ { "h:1", "http://h", NULL, NULL }, false, false },
		{ { "h:1", "http://evil/h:1", NULL, NULL }, false, false },
		{ { "h:1", "null", NULL, NULL }, false, false },
		{ { "h:1", "", NULL, NULL }, false, false },
		{ { NULL, "http://h:1", NULL, NULL }, false, false },
		/* What Sec-Fetch-Site says is decided by the browser, also behind a proxy. */
		{ { "h:1", NULL, "same-origin", "cors" }, true, true },
		{ { "h:1", "https://public", "same-origin", "cors" }, true, true },
		{ { "h:1", NULL, "none", "navigate" }, true, true },
		{ { "h:1", NULL, "same-site", "cors" }, false, false },
		{ { "h:1", NULL, "cross-site", "no-cors" }, false, false },
		{ { "h:1", "http://h:1", "cross-site", "cors" }, false, false },
		{ { "h:1", NULL, "cross-site", "navigate" }, false, true },
		{ { "h:1", NULL, "", NULL }, false, false },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		assert_int_equal(http_source_is_own(&rows[i].source, false), rows[i].is_own);
		assert_int_equal(http_source_is_own(&rows[i].source, true),
				 rows[i].is_own_to_navigate);
	}
}

TEST(tokens)
{
	assert_true(http_token_equals("secret", "secret"));
	assert_false(http_token_equals("secreT", "secret"));
	assert_false(http_token_equals("Secret", "secret"));
	assert_false(http_token_equals("", "secret"));
	assert_false(http_token_equals("secre", "secret"));
	assert_false(http_token_equals("secretsecret", "secret"));
	assert_false(http_token_equals("x", ""));
}

TEST(bearers)
{
	assert_string_equal(http_bearer_token("Bearer abc"), "abc");
	assert_string_equal(http_bearer_token("bearer   abc"), "abc");
	assert_string_equal(http_bearer_token("Bearer "), "");
	assert_null(http_bearer_token("Bearer"));
	assert_null(http_bearer_token("Basic abc"));
	assert_null(http_bearer_token(NULL));
}

UNIT_TESTS(cmocka_unit_test(own_hosts), cmocka_unit_test(hosts_of_others),
	   cmocka_unit_test(sources), cmocka_unit_test(tokens), cmocka_unit_test(bearers))
