/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_request.h"

#include "unit/unit.h"

static void expect_path(const char *uri, const char *path)
{
	struct http_target target;

	expect_ok(http_target_parse(uri, &target));
	assert_string_equal(target.path, path);
	http_target_deinit(&target);
}

static void expect_named(const char *uri, const char *name, const char *value)
{
	struct http_target target;

	expect_ok(http_target_parse(uri, &target));
	if (value)
		assert_string_equal(http_target_value(&target, name), value);
	else
		assert_null(http_target_value(&target, name));
	http_target_deinit(&target);
}

TEST(paths)
{
	expect_path("/", "/");
	expect_path("/a/b.c?x", "/a/b.c");
	expect_path("/a%20b+%c3%a4", "/a b+\xc3\xa4");
	expect_path("/a/", "/a/");
	expect_path("/..a/b..", "/..a/b..");
}

TEST(broken)
{
	static const char *const broken[] = {
		"",     "*",       "a",       "http://h/", "//",      "/a//b", "/.",      "/a/./b",
		"/..",  "/a/../b", "/%2e%2e", "/a%2f/b",   "/a%2f..", "/%00",  "/a%0ab",  "/a\\b",
		"/%5c", "/%",      "/%4",     "/%zz",      "/?a=%",   "/?%0",  "/?a=%00",
	};

	for (size_t i = 0; i < array_length(broken); i++) {
		struct http_target target;
		struct error *err = http_target_parse(broken[i], &target);

		if (!err)
			fail_msg("'%s' is accepted", broken[i]);
		error_destroy(err);
	}
}

TEST(queries)
{
	expect_named("/?a=1&b=2", "b", "2");
	expect_named("/?a=1&a=2", "a", "1");
	expect_named("/?a&&b=", "a", "");
	expect_named("/?a=1=2?3", "a", "1=2?3");
	expect_named("/?a%3d=%26+%2B", "a=", "& +");
	expect_named("/?a=1", "b", NULL);
	expect_named("/", "a", NULL);
}

TEST(many_names)
{
	char uri[2 + 2 * (HTTP_PAIRS_MOST + 1) + 1] = "/?";
	struct http_target target;

	for (int i = 0; i < HTTP_PAIRS_MOST; i++)
		strcat(uri, "a&");
	expect_ok(http_target_parse(uri, &target));
	assert_int_equal(target.query.count, HTTP_PAIRS_MOST);
	http_target_deinit(&target);
	strcat(uri, "a&");
	expect_error(http_target_parse(uri, &target), "more than 64 names");
}

TEST(choices)
{
	struct text header =
		TEXT("text/html, application/openmetrics-text; Version=\"1,0;0\";q=0.75"
		     " ,, */*;q=0.1");
	struct http_choice choice;
	struct text version;

	assert_true(http_choice_next(&header, &choice));
	expect_text(choice.name, "text/html");
	assert_int_equal(choice.weight, 1000);
	assert_false(http_choice_parameter(&choice, TEXT("version"), &version));
	assert_true(http_choice_next(&header, &choice));
	expect_text(choice.name, "application/openmetrics-text");
	assert_int_equal(choice.weight, 750);
	assert_true(http_choice_parameter(&choice, TEXT("version"), &version));
	expect_text(version, "1,0;0");
	assert_true(http_choice_next(&header, &choice));
	expect_text(choice.name, "*/*");
	assert_int_equal(choice.weight, 100);
	assert_false(http_choice_next(&header, &choice));
}

TEST(encodings)
{
	assert_false(http_accepts_encoding(NULL, TEXT("gzip")));
	assert_false(http_accepts_encoding("", TEXT("gzip")));
	assert_true(http_accepts_encoding("deflate, GZIP", TEXT("gzip")));
	assert_false(http_accepts_encoding("gzip;q=0, *", TEXT("gzip")));
	assert_false(http_accepts_encoding("gzip;q=0.0000", TEXT("gzip")));
	assert_false(http_accepts_encoding("gzip;q=-1", TEXT("gzip")));
	assert_false(http_accepts_encoding("gzip;q=1e9", TEXT("gzip")));
	assert_true(http_accepts_encoding("br, *;q=0.001", TEXT("gzip")));
	assert_false(http_accepts_encoding("gzipped", TEXT("gzip")));
}

UNIT_TESTS(cmocka_unit_test(paths), cmocka_unit_test(broken), cmocka_unit_test(queries),
	   cmocka_unit_test(many_names), cmocka_unit_test(choices), cmocka_unit_test(encodings))
