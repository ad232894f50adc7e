/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/utf8.h"

#include <locale.h>
#include <stdlib.h>

#include "unit/unit.h"

/* What RFC 3629 says from the other side: from the character to its bytes. */
static size_t encode(uint32_t code, unsigned char out[4])
{
	if (code >= 0xd800 && code <= 0xdfff)
		return 0;
	if (code < 0x80) {
		out[0] = (unsigned char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (unsigned char)(0xc0 | code >> 6);
		out[1] = (unsigned char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (unsigned char)(0xe0 | code >> 12);
		out[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (unsigned char)(0x80 | (code & 0x3f));
		return 3;
	}
	if (code > 0x10ffff)
		return 0;
	out[0] = (unsigned char)(0xf0 | code >> 18);
	out[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (unsigned char)(0x80 | (code & 0x3f));
	return 4;
}

/* The bytes are a character when some character has just these bytes. */
static size_t expected_sequence(const unsigned char *b)
{
	const uint32_t codes[] = {
		b[0],
		(b[0] & 0x1fu) << 6 | (b[1] & 0x3fu),
		(b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu),
		(b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 | (b[3] & 0x3fu),
	};

	for (size_t wide = 1; wide <= 4; wide++) {
		unsigned char again[4];

		if (encode(codes[wide - 1], again) == wide && memcmp(again, b, wide) == 0)
			return wide;
	}
	return 0;
}

TEST(every_character_has_its_length)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		unsigned char bytes[4];
		size_t wide = encode(code, bytes);

		if (wide)
			assert_int_equal(utf8_sequence((const char *)bytes, wide), wide);
	}
}

/* All first and second bytes there are; third and fourth around their ranges. */
TEST(every_boundary)
{
	static const unsigned char edges[] = { 0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff };
	unsigned char b[4];

	for (unsigned i = 0; i < 65536u * 36; i++) {
		b[0] = (unsigned char)(i / 36 >> 8);
		b[1] = (unsigned char)(i / 36);
		b[2] = edges[i % 36 / 6];
		b[3] = edges[i % 6];
		if (utf8_sequence((const char *)b, 4) != expected_sequence(b))
			fail_msg("%02x %02x %02x %02x", b[0], b[1], b[2], b[3]);
	}
}

TEST(a_character_cut_short_is_none)
{
	static const uint32_t codes[] = { 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff };

	for (size_t i = 0; i < array_length(codes); i++) {
		unsigned char bytes[4];
		size_t wide = encode(codes[i], bytes);

		for (size_t length = 0; length < wide; length++) {
			struct text cut = guarded(bytes, length);

			assert_int_equal(utf8_sequence(cut.bytes, cut.length), 0);
			assert_int_equal(utf8_is_valid(cut), length == 0);
			unguard(cut);
		}
	}
}

TEST(whole_texts)
{
	assert_true(utf8_is_valid(TEXT("")));
	assert_true(utf8_is_valid(TEXT("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80\n\0")));
	assert_false(utf8_is_valid(TEXT("ok\xff")));
	assert_false(utf8_is_valid(TEXT("\xc0\xaf")));
	assert_false(utf8_is_valid(TEXT("\xed\xa0\x80")));
	assert_false(utf8_is_valid(TEXT("\xf4\x90\x80\x80")));
}

static void check_clean(struct text dirty, const char *clean)
{
	size_t room = dirty.length * UTF8_REPLACEMENT_LENGTH;
	char *out = malloc(room ? room : 1);
	size_t length = utf8_clean(dirty, out);

	expect_text(((struct text){ out, length }), clean);
	free(out);
}

#define R UTF8_REPLACEMENT

TEST(each_bad_byte_is_replaced)
{
	check_clean(TEXT(""), "");
	check_clean(TEXT("plain \xe2\x82\xac"), "plain \xe2\x82\xac");
	check_clean(TEXT("\xff"), R);
	check_clean(TEXT("a\xc3("), "a" R "(");
	check_clean(TEXT("\xe2\x82"), R R);
	check_clean(TEXT("\xed\xa0\x80"), R R R);
	check_clean(TEXT("\xff\xfe\xfd\xfc"), R R R R);
	/* A name cut to fifteen bytes in the middle of a character. */
	check_clean(TEXT("Werkst\xc3\xa4tte-\xe2\x82"), "Werkst\xc3\xa4tte-" R R);
}

TEST(locales)
{
	assert_non_null(setlocale(LC_CTYPE, "C"));
	assert_false(utf8_is_locale());
	if (setlocale(LC_CTYPE, "C.UTF-8"))
		assert_true(utf8_is_locale());
	setlocale(LC_CTYPE, "C");
}

UNIT_TESTS(cmocka_unit_test(locales), cmocka_unit_test(every_character_has_its_length),
	   cmocka_unit_test(every_boundary), cmocka_unit_test(a_character_cut_short_is_none),
	   cmocka_unit_test(whole_texts), cmocka_unit_test(each_bad_byte_is_replaced))
