/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/glob.h"

#include <fnmatch.h>
#include <stdio.h>

#include "unit/unit.h"

static bool matches(const char *glob, const char *path)
{
	struct text text = guarded(path, strlen(path));
	bool yes;

	expect_ok(glob_check(glob));
	yes = glob_matches(glob, text);
	unguard(text);
	return yes;
}

#define expect_match(glob, path) expect_(glob, path, true, __FILE__, __LINE__)
#define refuse_match(glob, path) expect_(glob, path, false, __FILE__, __LINE__)

static void expect_(const char *glob, const char *path, bool expected, const char *file, int line)
{
	if (matches(glob, path) == expected)
		return;
	print_error("'%s' %s '%s'\n", glob, expected ? "does not match" : "matches", path);
	_fail(file, line);
}

TEST(plain_paths)
{
	expect_match("/", "/");
	expect_match("/a", "/a");
	expect_match("/system.slice/cron.service", "/system.slice/cron.service");
	refuse_match("/", "/a");
	refuse_match("/a", "/");
	refuse_match("/a", "/A");
	refuse_match("/a", "/ab");
	refuse_match("/ab", "/a");
	refuse_match("/a", "/a/b");
	refuse_match("/a/b", "/a");
	refuse_match("/b", "/a/b");
	refuse_match("/a", "/a/");
	refuse_match("/a", "a");
	refuse_match("/a", "");
	refuse_match("/", "");
	refuse_match("/**", "");
	refuse_match("/**", "a/b");
}

TEST(one_segment)
{
	expect_match("/*", "/a");
	expect_match("/*", "/abc.service");
	refuse_match("/*", "/");
	refuse_match("/*", "/a/b");
	expect_match("/a*", "/a");
	expect_match("/*a", "/banana");
	expect_match("/a*b*c", "/aXbYc");
	expect_match("/a*b*c", "/abbcbc");
	refuse_match("/a*b*c", "/acb");
	expect_match("/*/b", "/a/b");
	refuse_match("/a*b", "/a/b");
	expect_match("/a?c", "/abc");
	refuse_match("/a?c", "/ac");
	refuse_match("/a?c", "/a/c");
	refuse_match("/a?", "/a");
	expect_match("/?*?", "/ab");
	refuse_match("/?*?", "/a");
	/* a hidden file is nothing special here */
	expect_match("/*", "/.a");
	/* a byte is a byte */
	expect_match("/??", "/\xc3\xa4");
	expect_match("/?", "/\xff");
	expect_match("/pod*/cri-*.scope", "/pod17/cri-0.scope");
}

#define S "**"

TEST(any_number_of_segments)
{
	expect_match("/" S, "/");
	expect_match("/" S, "/a");
	expect_match("/" S, "/a/b/c");
	expect_match("/a/" S "/b", "/a/b");
	expect_match("/a/" S "/b", "/a/x/b");
	expect_match("/a/" S "/b", "/a/x/y/z/b");
	expect_match("/a/" S "/b", "/a/b/b");
	refuse_match("/a/" S "/b", "/a/b/c");
	refuse_match("/a/" S "/b", "/ab");
	refuse_match("/a/" S "/b", "/a/xb");
	expect_match("/a/" S, "/a");
	expect_match("/a/" S, "/a/b/c");
	refuse_match("/a/" S, "/ab");
	expect_match("/" S "/b", "/b");
	expect_match("/" S "/b", "/a/b");
	refuse_match("/" S "/b", "/");
	expect_match("/" S "/" S "/" S, "/");
	expect_match("/" S "/" S "/x", "/x");
	expect_match("/" S "/*", "/a/b");
	refuse_match("/" S "/*", "/");
	refuse_match("/" S "/*/*", "/a");
	expect_match("/" S "/a/" S "/b/" S, "/x/a/y/b/z");
	refuse_match("/" S "/a/" S "/b/" S, "/x/b/y/a/z");
	/* what was taken first must be given back */
	expect_match("/" S "/a/b", "/a/a/b");
	expect_match("/" S "/a/?/c", "/a/a/a/b/c");
	refuse_match("/" S "/a/b", "/a/b/a");
	expect_match("/" S "/a*/b*/" S "/c", "/a/x/a/b/a/c");
}

TEST(classes)
{
	expect_match("/[abc]", "/b");
	refuse_match("/[abc]", "/d");
	refuse_match("/[abc]", "/ab");
	expect_match("/[a-c][0-9]", "/b7");
	refuse_match("/[a-c]", "/B");
	expect_match("/[a-a]", "/a");
	expect_match("/[!a-c]", "/d");
	refuse_match("/[!a-c]", "/b");
	refuse_match("/a[!x]b", "/a/b");
	refuse_match("/a[.-0]b", "/a/b");
	expect_match("/[-a]", "/-");
	expect_match("/[a-]", "/-");
	expect_match("/[a-]", "/a");
	refuse_match("/[a-]", "/b");
	expect_match("/[!-]", "/a");
	refuse_match("/[!-]", "/-");
	expect_match("/[a!]", "/!");
	expect_match("/[^a]", "/^");
	expect_match("/[^a]", "/a");
	expect_match("/[*?[]", "/*");
	expect_match("/[*?[]", "/[");
	refuse_match("/[*?[]", "/a");
	expect_match("/[**]", "/*");
	expect_match("/[\\]]", "/]");
	expect_match("/[\\\\]", "/\\");
	expect_match("/[\\!a]", "/!");
	expect_match("/[\\a-\\c]", "/b");
	expect_match("/[a\\-c]", "/-");
	refuse_match("/[a\\-c]", "/b");
	expect_match("/[\x80-\xff]", "/\xe4");
	refuse_match("/[\x80-\xff]", "/a");
	expect_match("/*[0-9]", "/cpu12");
	refuse_match("/*[0-9]", "/cpu12x");
	expect_match("/]", "/]");
}

TEST(escapes)
{
	expect_match("/\\*", "/*");
	refuse_match("/\\*", "/a");
	expect_match("/\\?", "/?");
	refuse_match("/\\?", "/a");
	expect_match("/\\[a]", "/[a]");
	expect_match("/\\a", "/a");
	expect_match("/a\\\\b", "/a\\b");
	/* systemd escapes with backslashes in names of units */
	expect_match("/dev-disk-by\\\\x2dlabel*", "/dev-disk-by\\x2dlabel-x.swap");
	/* stars that are none */
	expect_match("/\\**", "/*x");
	refuse_match("/\\**", "/x/y");
	expect_match("/*\\*", "/x*");
	expect_match("/*[*]*", "/a*b");
	expect_match("/\\*\\*", "/**");
	refuse_match("/\\*\\*", "/a/b");
}

TEST(invalid_globs)
{
	static const char *const globs[][2] = {
		{ "", "the glob is empty" },
		{ "a", "does not start with '/'" },
		{ "*/a", "does not start with '/'" },
		{ "\\/a", "does not start with '/'" },
		{ "/[a", "a [ without its ]" },
		{ "/[", "a [ without its ]" },
		{ "/[!", "a [ without its ]" },
		{ "/x/[a/b]", "a [ without its ]" },
		{ "/[a\\]", "a [ without its ]" },
		{ "/[a-", "a [ without its ]" },
		{ "/[]", "a class of nothing" },
		{ "/[!]", "a class of nothing" },
		{ "/[]a]", "a class of nothing" },
		{ "/a\\", "a backslash before nothing" },
		{ "/a\\/b", "a backslash before nothing" },
		{ "/[a\\", "a backslash before nothing" },
		{ "/[a-\\", "a backslash before nothing" },
		{ "/[z-a]", "a range that runs backwards" },
		{ "/a" S, "** that is not a whole segment" },
		{ "/" S "a", "** that is not a whole segment" },
		{ "/" S "*", "** that is not a whole segment" },
		{ "/a/" S "b/c", "** that is not a whole segment" },
		{ "/\\*" S, "** that is not a whole segment" },
		{ "//", "a segment of nothing" },
		{ "/a/", "a segment of nothing" },
		{ "/a//b", "a segment of nothing" },
	};

	for (size_t i = 0; i < array_length(globs); i++)
		expect_error(glob_check(globs[i][0]), globs[i][1]);
}

/* Patterns that fnmatch(3) takes, and what each of them matches. */
TEST(patterns)
{
	static const char *const patterns[][2] = {
		{ "", "" },           { "*", "a" },       { "a?c", "abc" },
		{ "[ab]", "b" },      { "[!a]", "b" },    { "[^a]", "b" },
		{ "[]a]", "]" },      { "[!]a]", "b" },   { "\\[", "[" },
		{ "\\[a", "[a" },     { "]", "]" },       { "a]", "a]" },
		{ "[[]", "[" },       { "[a][b]", "ab" }, { "\\\\", "\\" },
		{ "\\\\[a]", "\\a" }, { "[\\]]", "]" },   { "worker/\\[0\\]", "worker/[0]" },
	};

	for (size_t i = 0; i < array_length(patterns); i++) {
		expect_ok(pattern_check(patterns[i][0]));
		assert_int_equal(fnmatch(patterns[i][0], patterns[i][1], 0), 0);
	}
}

TEST(patterns_of_texts)
{
	static const char *const texts[] = { "", "web-1", "a*b?c[d]e\\", "[!a]", "\\*", "]-^" };

	for (size_t i = 0; i < array_length(texts); i++) {
		char *pattern = pattern_of_text(texts[i]);

		assert_non_null(pattern);
		expect_ok(pattern_check(pattern));
		assert_int_equal(fnmatch(pattern, texts[i], 0), 0);
		assert_int_equal(fnmatch(pattern, "axbxcde", 0), FNM_NOMATCH);
		free(pattern);
	}
}

/* It would take their [ for itself, and the backslash for nothing. */
TEST(invalid_patterns)
{
	static const char *const patterns[][2] = {
		{ "[", "a [ without its ]" },         { "a[b", "a [ without its ]" },
		{ "[]", "a [ without its ]" },        { "[!]", "a [ without its ]" },
		{ "[!", "a [ without its ]" },        { "[^]", "a [ without its ]" },
		{ "[a][b", "a [ without its ]" },     { "\\[[", "a [ without its ]" },
		{ "\\", "ends in a backslash" },      { "a\\", "ends in a backslash" },
		{ "a\\\\\\", "ends in a backslash" },
	};

	for (size_t i = 0; i < array_length(patterns); i++)
		expect_error(pattern_check(patterns[i][0]), patterns[i][1]);
}

/* A backslash that is escaped escapes nothing, and one in brackets escapes their end. */
TEST(patterns_with_backslashes_before_brackets)
{
	expect_error(pattern_check("\\\\[a"), "a [ without its ]");
	expect_error(pattern_check("[a\\]"), "a [ without its ]");
}

/* "/" and `count` times `part` and `end`, in memory of the caller. */
static char *repeat(const char *part, size_t count, const char *end)
{
	size_t length = strlen(part);
	char *text = malloc(1 + count * length + strlen(end) + 1);

	assert_non_null(text);
	text[0] = '/';
	for (size_t i = 0; i < count; i++)
		memcpy(text + 1 + i * length, part, length);
	strcpy(text + 1 + count * length, end);
	return text;
}

static void check_repeated(const char *const glob[2], size_t glob_count, const char *const path[2],
			   size_t path_count, bool expected)
{
	char *repeated_glob = repeat(glob[0], glob_count, glob[1]);
	char *repeated_path = repeat(path[0], path_count, path[1]);

	assert_int_equal(matches(repeated_glob, repeated_path), expected);
	free(repeated_path);
	free(repeated_glob);
}

#define PAIR(part, end) ((const char *const[]){ part, end })

/* Who tries every way would not come back. */
TEST(globs_that_could_take_for_ever)
{
	check_repeated(PAIR("a*", "b"), 5, PAIR("a", ""), 40, false);
	check_repeated(PAIR("a*", "b"), 2000, PAIR("a", ""), 4000, false);
	check_repeated(PAIR("a*", "b"), 2000, PAIR("a", "b"), 4000, true);
	check_repeated(PAIR("*?", "b"), 2000, PAIR("a", ""), 4000, false);
	check_repeated(PAIR("[!b]*", "b"), 800, PAIR("a", ""), 4000, false);
	check_repeated(PAIR(S "/", "b"), 1300, PAIR("a/", "a"), 2000, false);
	check_repeated(PAIR(S "/", "b"), 1300, PAIR("a/", "b"), 2000, true);
	check_repeated(PAIR(S "/a/", "b"), 800, PAIR("a/", "a"), 2000, false);
	check_repeated(PAIR(S "/a/", "b"), 800, PAIR("a/", "b"), 2000, true);
	check_repeated(PAIR(S "/a*a*a/", "b"), 400, PAIR("aaaaaa/", "a"), 580, false);
	check_repeated(PAIR(S "/a*/", S), 600, PAIR("a/", "a"), 598, false);
	check_repeated(PAIR(S "/a*/", S), 600, PAIR("a/", "a"), 599, true);
}

TEST(the_longest_glob)
{
	char *longest = repeat("a", GLOB_MAX - 1, ""), *longer = repeat("a", GLOB_MAX, "");

	assert_int_equal(strlen(longest), GLOB_MAX);
	assert_true(matches(longest, longest));
	expect_error(glob_check(longer), "longer than 4096 bytes");
	free(longer);
	free(longest);
}

/* --- against fnmatch(3), and every way to part the path --- */

static bool segment_by_fnmatch(const char *glob, size_t glob_length, const char *segment,
			       size_t length)
{
	char a[64], b[64];

	snprintf(a, sizeof(a), "%.*s", (int)glob_length, glob);
	snprintf(b, sizeof(b), "%.*s", (int)length, segment);
	return fnmatch(a, b, 0) == 0;
}

/* What is left of both starts with a slash or is empty. */
static bool path_by_fnmatch(const char *glob, const char *path)
{
	size_t glob_length, length;

	if (!*glob)
		return !*path;
	glob_length = 1 + strcspn(glob + 1, "/");
	length = *path ? 1 + strcspn(path + 1, "/") : 0;
	if (glob_length == 3 && strncmp(glob, "/" S, 3) == 0)
		return path_by_fnmatch(glob + 3, path) ||
		       (*path && path_by_fnmatch(glob, path + length));
	return *path && segment_by_fnmatch(glob + 1, glob_length - 1, path + 1, length - 1) &&
	       path_by_fnmatch(glob + glob_length, path + length);
}

static void random_text(const char *const *parts, size_t count, size_t most, uint64_t *seed,
			char *out)
{
	*out = '\0';
	for (size_t i = next_random(seed) % (most + 1); i; i--)
		strcat(out, parts[next_random(seed) % count]);
}

TEST(random_globs_as_fnmatch_has_it)
{
	static const char *const glob_parts[] = { "a",   "b",       "*",    "?",    "/",
						  "/",   "/" S "/", "[ab]", "[!a]", "[b-c]",
						  "\\*", "/a",      "/*" };
	static const char *const path_parts[] = { "a", "b", "c", "*", "/", "/a", "/b" };
	unsigned globs = 0, hits = 0;
	uint64_t seed = 11;

	for (int round = 0; round < 100000; round++) {
		char glob[64] = "/", path[64] = "/";
		struct error *err;
		bool expected;

		random_text(glob_parts, array_length(glob_parts), 8, &seed, glob + 1);
		err = glob_check(glob);
		error_destroy(err);
		if (err)
			continue;
		random_text(path_parts, array_length(path_parts), 9, &seed, path + 1);
		expected = path_by_fnmatch(glob[1] ? glob : "", path[1] ? path : "");
		expect_(glob, path, expected, __FILE__, __LINE__);
		globs++;
		hits += expected;
	}
	/* Both answers occur. */
	assert_in_range(globs, 5000, 100000);
	assert_in_range(hits, 300, globs - 300);
}

UNIT_TESTS(cmocka_unit_test(plain_paths), cmocka_unit_test(one_segment),
	   cmocka_unit_test(any_number_of_segments), cmocka_unit_test(classes),
	   cmocka_unit_test(escapes), cmocka_unit_test(invalid_globs), cmocka_unit_test(patterns),
	   cmocka_unit_test(patterns_of_texts), cmocka_unit_test(invalid_patterns),
	   cmocka_unit_test(patterns_with_backslashes_before_brackets),
	   cmocka_unit_test(globs_that_could_take_for_ever), cmocka_unit_test(the_longest_glob),
	   cmocka_unit_test(random_globs_as_fnmatch_has_it))
