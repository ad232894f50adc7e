/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/percent.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

TEST(all_bytes_come_back)
{
	char bytes[256], *encoded;

	for (int i = 1; i < 256; i++)
		bytes[i - 1] = (char)i;
	bytes[255] = '\0';
	encoded = percent_encode((struct text){ bytes, 255 });
	assert_non_null(encoded);
	for (const char *at = encoded; *at; at++)
		assert_true(*at == '%' || percent_is_unreserved(*at));
	assert_true(percent_decode(encoded, true));
	assert_string_equal(encoded, bytes);
	free(encoded);
}

/* The second is RFC 3986, 2.5; "~" and "+" are 2.3 and 2.2. */
TEST(texts_are_encoded)
{
	static const struct {
		struct text text;
		const char *also, *encoded;
	} rows[] = {
		{ TEXT("aZ09-._~"), "", "aZ09-._~" },
		{ TEXT("\xe3\x82\xa2"), "", "%E3%82%A2" },
		{ { "a\xff/ \0+", 6 }, "", "a%FF%2F%20%00%2B" },
		{ TEXT("&=+%#?/\"\xc3\xa9"), "", "%26%3D%2B%25%23%3F%2F%22%C3%A9" },
		{ TEXT("count(),=%"), "(),=", "count(),=%25" },
		{ { "\0", 1 }, "(", "%00" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		char bytes[64] = "";
		FILE *out = fmemopen(bytes, sizeof(bytes), "w");

		assert_non_null(out);
		percent_print(out, rows[i].text, rows[i].also);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(bytes, rows[i].encoded);
	}
}

TEST(texts_are_decoded)
{
	static const struct {
		const char *encoded;
		bool plus_is_space;
		const char *decoded; /* NULL: it is malformed */
	} rows[] = {
		{ "a%2fb%2F", false, "a/b/" }, { "a+b", false, "a+b" },
		{ "a+b%2B", true, "a b+" },    { "%", false, NULL },
		{ "a%4", false, NULL },        { "%4g", false, NULL },
		{ "%g4", false, NULL },        { "a%00", false, NULL },
		{ "%%41", false, NULL },       { "", false, "" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		char *string = strdup(rows[i].encoded);
		const bool is_decoded = percent_decode(string, rows[i].plus_is_space);

		assert_int_equal(is_decoded, rows[i].decoded != NULL);
		if (is_decoded)
			assert_string_equal(string, rows[i].decoded);
		free(string);
	}
}

UNIT_TESTS(cmocka_unit_test(all_bytes_come_back), cmocka_unit_test(texts_are_encoded),
	   cmocka_unit_test(texts_are_decoded))
