/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/token.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "unit/unit.h"

/* The token of a file with these bytes and permissions. */
static struct error *read_from(const char *bytes, size_t length, mode_t mode, char **ret)
{
	struct scratch scratch;
	struct error *err;

	scratch_init(&scratch);
	scratch_write(&scratch, "token", (struct text){ bytes, length });
	assert_int_equal(fchmodat(scratch.dir, "token", mode, 0), 0);
	err = token_read(scratch_path(&scratch, "token"), ret);
	scratch_deinit(&scratch);
	return err;
}

TEST(first_lines_are_tokens)
{
	static const char *const files[] = { "s3cret", "s3cret\n", "s3cret\r\nnext\n" };

	for (size_t i = 0; i < array_length(files); i++) {
		_cleanup_free_ char *token = NULL;

		expect_ok(read_from(files[i], strlen(files[i]), 0600, &token));
		assert_string_equal(token, "s3cret");
	}
}

TEST(tokens_that_headers_cannot_carry)
{
	char long_line[TOKEN_LENGTH_MAX + 2];
	char *token = NULL;

	expect_error(read_from("", 0, 0600, &token), "1 to 256 bytes");
	expect_error(read_from("\nx\n", 3, 0600, &token), "1 to 256 bytes");
	expect_error(read_from("a b\n", 4, 0600, &token), "no spaces");
	expect_error(read_from("a\tb\n", 4, 0600, &token), "no spaces");
	memset(long_line, 'x', sizeof(long_line));
	expect_error(read_from(long_line, sizeof(long_line), 0600, &token), "1 to 256 bytes");
	expect_ok(read_from(long_line, TOKEN_LENGTH_MAX, 0600, &token));
	assert_int_equal(strlen(token), TOKEN_LENGTH_MAX);
	free(token);
}

TEST(files_that_all_users_read)
{
	char *token = NULL;

	expect_error(read_from("s3cret", 6, 0644, &token), "(mode 0644)");
	expect_error(read_from("s3cret", 6, 0602, &token), "(mode 0602)");
	expect_ok(read_from("s3cret", 6, 0640, &token));
	free(token);
}

TEST(made_tokens_differ)
{
	char a[TOKEN_TEXT_MAX], b[TOKEN_TEXT_MAX];

	expect_ok(token_make(a));
	expect_ok(token_make(b));
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	expect_ok(token_check(a));
}

UNIT_TESTS(cmocka_unit_test(first_lines_are_tokens),
	   cmocka_unit_test(tokens_that_headers_cannot_carry),
	   cmocka_unit_test(files_that_all_users_read), cmocka_unit_test(made_tokens_differ))
