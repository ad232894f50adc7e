/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base64.h"

#include <string.h>

#include "unit/unit.h"

/* The vectors of RFC 4648, 10, and the last two digits. */
TEST(bytes_have_their_characters)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
		{ "\xff\xff\xfe", "///+" },
	};
	char text[BASE64_SIZE(6)];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *end = base64_write(text, rows[i].bytes, strlen(rows[i].bytes));

		assert_string_equal(text, rows[i].text);
		assert_ptr_equal(end, text + strlen(text));
		assert_int_equal(BASE64_SIZE(strlen(rows[i].bytes)), strlen(text) + 1);
	}
}

UNIT_TESTS(cmocka_unit_test(bytes_have_their_characters))
