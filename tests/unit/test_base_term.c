/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/term.h"

#include <stdio.h>

#include "unit/unit.h"

static const char *const kinds[] = { "user", "thread", NULL };

/* "!user|root": good until the next. */
static const char *parsed(const char *text)
{
	static char shown[128];
	struct term term;

	expect_ok(term_parse(text_of(text), kinds, &term));
	snprintf(shown, sizeof(shown), "%s%s|%.*s", term.is_negated ? "!" : "",
		 term.kind == TERM_NAME ? "" : kinds[term.kind], (int)term.text.length,
		 term.text.bytes);
	return shown;
}

TEST(terms)
{
	static const char *const rows[][2] = {
		{ "nginx", "|nginx" },
		{ "user:root", "user|root" },
		{ "!user:root", "!user|root" },
		{ "! thread:a", "!thread|a" },
		{ "thread: a", "thread| a" },
		{ "!nginx", "!|nginx" },
		/* Colons of names. */
		{ "std::thread", "|std::thread" },
		{ "thread::spawn", "|thread::spawn" },
		{ "user:a:b", "user|a:b" },
		{ "label:", "|label:" },
		{ "k8s:x", "|k8s:x" },
		{ "Thread:x", "|Thread:x" },
		{ ":x", "|:x" },
		{ "!!x", "!|!x" },
	};

	for (size_t i = 0; i < array_length(rows); i++)
		assert_string_equal(parsed(rows[i][0]), rows[i][1]);
}

TEST(invalid_terms)
{
	static const char *const rows[][2] = {
		{ "", "empty term" },
		{ "!", "empty term" },
		{ "user:", "missing name after ':'" },
		{ "!thread:", "missing name after ':'" },
		{ "usr:root", "unknown 'usr:'; did you mean 'user:'?" },
		{ "xyzzy:root", "unknown 'xyzzy:'; expected user:, thread:, or a glob of names" },
	};
	struct term term = { .kind = 42 };

	for (size_t i = 0; i < array_length(rows); i++)
		expect_error(term_parse(text_of(rows[i][0]), kinds, &term), rows[i][1]);
	assert_int_equal(term.kind, 42);
}

TEST(styles)
{
	static const struct {
		const char *pattern, *name;
		bool any_case, function, whole;
	} rows[] = {
		{ "park", "park", true, true, true },
		{ "park", "parking", true, true, false },
		{ "PARK", "parking", true, false, false },
		{ "park*", "parking", true, true, true },
		{ "PARK*", "parking", true, false, false },
		{ "*king", "parking", true, true, true },
		{ "p?rk", "park", true, true, true },
		{ "*rk", "parking", false, false, false },
		{ "p[a]rk", "park", true, false, true },
		{ "operator[]", "my::operator[]", false, true, false },
		{ "*", "", true, true, true },
		{ "a*b*c", "a1b2b3c", true, true, true },
		{ "a*b*c", "a1b2b3cd", false, false, false },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		const struct text name = text_of(rows[i].name);

		if (term_matches(rows[i].pattern, name, TERM_ANY_CASE) != rows[i].any_case ||
		    term_matches(rows[i].pattern, name, TERM_FUNCTION) != rows[i].function ||
		    term_matches(rows[i].pattern, name, TERM_WHOLE) != rows[i].whole)
			fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].name);
	}
}

UNIT_TESTS(cmocka_unit_test(terms), cmocka_unit_test(invalid_terms), cmocka_unit_test(styles))
