/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/url.h"

#include "unit/unit.h"

/* 2026-11-20 12:30:00 UTC. */
#define NOW UINT64_C(1795177800)

static struct store_url parsed(const char *text)
{
	struct store_url url = { 0 };

	expect_ok(store_url_parse(text, NOW, &url));
	return url;
}

TEST(defaults)
{
	struct store_url url = parsed("ch://store/fleet");

	assert_string_equal(url.server, "http://store:8123/");
	assert_string_equal(url.database, "fleet");
	assert_int_equal(url.to_s, NOW);
	assert_int_equal(url.from_s, NOW - 3600);
	assert_false(url.by_host);
	assert_int_equal(url.globs[STORE_SELECT_HOST].count + url.labels.count, 0);
	store_url_deinit(&url);
}

TEST(servers)
{
	static const struct {
		const char *text, *server, *database, *user;
	} rows[] = {
		{ "chs://store/d", "https://store:8443/", "d", NULL },
		{ "ch://store:9/d/", "http://store:9/", "d", NULL },
		{ "ch://me@store/d", "http://store:8123/", "d", "me" },
		{ "ch://[::1]/d", "http://[::1]:8123/", "d", NULL },
		{ "ch://me@[fe80::1]:80/d?by=host", "http://[fe80::1]:80/", "d", "me" },
		{ "ch://10.0.0.1/a%2Fb%27", "http://10.0.0.1:8123/", "a/b'", NULL },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct store_url url = parsed(rows[i].text);

		assert_string_equal(url.server, rows[i].server);
		assert_string_equal(url.database, rows[i].database);
		assert_true(strings_equal(url.user, rows[i].user));
		store_url_deinit(&url);
	}
}

TEST(selections)
{
	struct store_url url = parsed("ch://s/d?host=web-*&host=db&process=a%26b&comm=%25&"
				      "cgroup=/x/*&label.version=1.2&label.a.b=c&by=host");

	assert_int_equal(url.globs[STORE_SELECT_HOST].count, 2);
	assert_string_equal(url.globs[STORE_SELECT_HOST].items[1], "db");
	assert_string_equal(url.globs[STORE_SELECT_PROCESS].items[0], "a&b");
	assert_string_equal(url.globs[STORE_SELECT_COMM].items[0], "%");
	assert_string_equal(url.globs[STORE_SELECT_CGROUP].items[0], "/x/*");
	assert_int_equal(url.labels.count, 2);
	assert_string_equal(url.labels.items[1].name, "a.b");
	assert_string_equal(url.labels.items[1].glob, "c");
	assert_true(url.by_host);
	store_url_deinit(&url);
}

TEST(times)
{
	static const struct {
		const char *text;
		uint64_t from_s, to_s;
	} rows[] = {
		{ "ch://s/d?from=-30m", NOW - 1800, NOW },
		{ "ch://s/d?from=-2h&to=-1h", NOW - 7200, NOW - 3600 },
		{ "ch://s/d?to=-1h", NOW - 7200, NOW - 3600 },
		{ "ch://s/d?from=2026-11-20T12:00:00&to=now", NOW - 1800, NOW },
		{ "ch://s/d?from=2026-11-20%2012:00Z", NOW - 1800, NOW },
		{ "ch://s/d?from=12:00&to=12:30", NOW - 1800, NOW },
		{ "ch://s/d?from=13:00", NOW - 86400 + 1800, NOW },
		{ "ch://s/d?from=1795177700&to=1795177701", 1795177700, 1795177701 },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct store_url url = parsed(rows[i].text);

		assert_int_equal(url.from_s, rows[i].from_s);
		assert_int_equal(url.to_s, rows[i].to_s);
		store_url_deinit(&url);
	}
}

TEST(errors)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "http://s/d", "expected ch[s]://[USER@]HOST[:PORT]/DATABASE" },
		{ "ch://", "invalid host" },
		{ "ch://s", "expected ch[s]://[USER@]HOST[:PORT]/DATABASE" },
		{ "ch://s/a/b", "expected ch[s]://[USER@]HOST[:PORT]/DATABASE" },
		{ "ch://s:0/d", "invalid port '0'" },
		{ "ch://s:99999/d", "invalid port" },
		{ "ch://s\r\nx/d", "invalid host" },
		{ "ch://me:secret@s/d", "~/.netrc" },
		{ "ch://@s/d", "the user before @ is empty" },
		{ "ch://s/d?frm=-1h", "parameter 'frm': unknown parameter" },
		{ "ch://s/d?from=soon", "parameter 'from': invalid time 'soon'" },
		{ "ch://s/d?from=last", "parameter 'from': invalid time" },
		{ "ch://s/d?from=99999999999", "parameter 'from': invalid time" },
		{ "ch://s/d?from=-1h&from=-2h", "parameter 'from': given twice" },
		{ "ch://s/d?from=-1h&to=-2h", "parameter 'from': the time is not before 'to'" },
		{ "ch://s/d?host=", "parameter 'host': the value is empty" },
		{ "ch://s/d?host=[a", "parameter 'host'" },
		{ "ch://s/d?host=a%0", "two hexadecimal digits" },
		{ "ch://s/d?host=a%00", "two hexadecimal digits" },
		{ "ch://s/d?by=comm", "parameter 'by': expected 'host'" },
		{ "ch://s/d?label.=x", "label.NAME=VALUE" },
	};
	struct store_url url = { 0 };

	for (size_t i = 0; i < array_length(rows); i++)
		expect_error(store_url_parse(rows[i].text, NOW, &url), rows[i].message);
	assert_null(url.written);
}

/* A password is not printed, whatever is wrong. */
TEST(passwords_stay_secret)
{
	struct store_url url = { 0 };
	struct error *err = store_url_parse("ch://me:secret@s/d", NOW, &url);

	assert_non_null(err);
	assert_null(strstr(err->message, "secret"));
	error_destroy(err);
}

UNIT_TESTS(cmocka_unit_test(defaults), cmocka_unit_test(servers), cmocka_unit_test(selections),
	   cmocka_unit_test(times), cmocka_unit_test(errors),
	   cmocka_unit_test(passwords_stay_secret))
