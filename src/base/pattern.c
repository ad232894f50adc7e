/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pattern.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/utf8.h"

/* --- tokens and separators --- */

/* White_Space beyond ASCII, as UTF-8. Characters of one row differ in their last byte. */
static const struct white_space {
	char bytes[4];
	unsigned char length, more; /* how many characters follow the first */
} white_spaces[] = {
	{ "\xc2\x85", 2, 0 },      /* U+0085 */
	{ "\xc2\xa0", 2, 0 },      /* U+00A0 */
	{ "\xe1\x9a\x80", 3, 0 },  /* U+1680 */
	{ "\xe2\x80\x80", 3, 10 }, /* U+2000 to U+200A */
	{ "\xe2\x80\xa8", 3, 1 },  /* U+2028, U+2029 */
	{ "\xe2\x80\xaf", 3, 0 },  /* U+202F */
	{ "\xe2\x81\x9f", 3, 0 },  /* U+205F */
	{ "\xe3\x80\x80", 3, 0 },  /* U+3000 */
};

static bool is_white_space(const char *bytes, size_t length)
{
	unsigned char last = (unsigned char)bytes[length - 1];

	for (size_t i = 0; i < array_length(white_spaces); i++) {
		const struct white_space *row = &white_spaces[i];
		unsigned char first = (unsigned char)row->bytes[row->length - 1];

		if (length == row->length && memcmp(bytes, row->bytes, length - 1) == 0 &&
		    last >= first && last - first <= row->more)
			return true;
	}
	return false;
}

/* The length of the separator at the front of `text`, 0 when there is none. */
static size_t separator_length(struct text text)
{
	size_t length = utf8_sequence(text.bytes, text.length);

	if (length > 1)
		return is_white_space(text.bytes, length) ? length : 0;
	return length && text.bytes[0] && strchr(".-_/:@+[] \t\n\v\f\r", text.bytes[0]);
}

static size_t token_length(struct text text)
{
	size_t length = 0;

	while (length < text.length &&
	       !separator_length((struct text){ text.bytes + length, text.length - length }))
		length++;
	return length;
}

/* --- what a token becomes --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
	return hex_digit(c) >= 0;
}

/* The number of bytes of this kind from `start` on. */
static size_t span(struct text token, size_t start, bool (*is)(char))
{
	size_t end = start;

	while (end < token.length && is(token.bytes[end]))
		end++;
	return end - start;
}

/* With a digit in it: one alone is a number before it is this. */
static bool is_hexadecimal(struct text token)
{
	return span(token, 0, is_hex) == token.length && span(token, 0, is_letter) < token.length;
}

static size_t append_bytes(char *out, size_t used, const char *bytes, size_t length)
{
	memcpy(out + used, bytes, length);
	return used + length;
}

#define PUT(out, used, literal) append_bytes(out, used, "" literal, sizeof(literal) - 1)

static size_t put_token(char *out, size_t used, struct text token)
{
	size_t digits = span(token, 0, is_digit), letters = span(token, 0, is_letter);

	if (digits == token.length)
		return PUT(out, used, "{N}");
	if (is_hexadecimal(token))
		return PUT(out, used, "{H}");
	if (letters && letters + span(token, letters, is_digit) == token.length &&
	    letters < token.length) {
		used = append_bytes(out, used, token.bytes, letters);
		return PUT(out, used, "{N}");
	}
	if (digits && digits + span(token, digits, is_letter) == token.length) {
		used = PUT(out, used, "{N}");
		return append_bytes(out, used, token.bytes + digits, token.length - digits);
	}
	return append_bytes(out, used, token.bytes, token.length);
}

/* --- identifiers that are longer than a token, or look like a name and a number --- */

/* "2f3c1c88-1111-4aaa-8bbb-0123456789ab", as kubelet names pods' cgroups with the driver cgroupfs;
 * with underscores by that of systemd. Each part may have digits alone, or letters alone. */
static size_t uuid_length(struct text text)
{
	static const size_t parts[] = { 8, 4, 4, 4, 12 };
	size_t at = 0;

	for (size_t i = 0; i < array_length(parts); i++) {
		if (i && (at >= text.length || (text.bytes[at] != '-' && text.bytes[at] != '_')))
			return 0;
		at += i != 0;
		if (span(text, at, is_hex) < parts[i])
			return 0;
		at += parts[i];
	}
	return at;
}

#define HASH_DIGITS 32

/* Find an identifier at the start of a name. Returns its length, 0 if there is none, and the
 * pattern that replaces it. Identifiers of static pods and of units of `systemd-run` (run-r...) are
 * 32 digits without a dash. */
static size_t find_identifier(struct text text, size_t *ret_prefix, const char **ret_pattern)
{
	static const struct text prefixes[] = { TEXT(""), TEXT("pod"), TEXT("r") };

	for (size_t i = 0; i < array_length(prefixes); i++) {
		const struct text prefix = prefixes[i];
		struct text rest;
		size_t length;

		if (text.length < prefix.length ||
		    memcmp(text.bytes, prefix.bytes, prefix.length) != 0)
			continue;
		rest = (struct text){ text.bytes + prefix.length, text.length - prefix.length };
		length = uuid_length(rest);
		*ret_pattern = "{UUID}";
		if (!length && prefix.length && span(rest, 0, is_hex) == HASH_DIGITS) {
			length = HASH_DIGITS;
			*ret_pattern = "{H}";
		}
		*ret_prefix = prefix.length;
		if (length &&
		    token_length((struct text){ rest.bytes + length, rest.length - length }) == 0)
			return prefix.length + length;
	}
	return 0;
}

size_t pattern_of_name(struct text name, char *out)
{
	const char *pattern;
	size_t prefix;
	size_t used = 0;

	while (name.length) {
		size_t length = separator_length(name);

		if (length) {
			used = append_bytes(out, used, name.bytes, length);
		} else if ((length = find_identifier(name, &prefix, &pattern))) {
			used = append_bytes(out, used, name.bytes, prefix);
			used = append_bytes(out, used, pattern, strlen(pattern));
		} else {
			length = token_length(name);
			used = put_token(out, used, (struct text){ name.bytes, length });
		}
		name = (struct text){ name.bytes + length, name.length - length };
	}
	return used;
}

/* --- instances of units --- */

/* The instance in a segment of a path: between its first '@' and ".service" at its end. */
static bool find_instance(struct text segment, struct text *ret)
{
	static const char suffix[] = ".service";
	const size_t suffix_length = sizeof(suffix) - 1;
	struct text rest = segment, before;

	if (!text_cut(&rest, '@', &before) || rest.length <= suffix_length ||
	    memcmp(rest.bytes + rest.length - suffix_length, suffix, suffix_length) != 0)
		return false;
	*ret = (struct text){ rest.bytes, rest.length - suffix_length };
	return true;
}

static bool varies(struct text instance)
{
	return !memchr(instance.bytes, '.', instance.length) &&
	       !memchr(instance.bytes, '_', instance.length) &&
	       !memchr(instance.bytes, '-', instance.length);
}

size_t pattern_of_unit_instances(struct text path, char *out)
{
	struct text rest = path, segment, instance;
	const char *copied = path.bytes;
	size_t used = 0;

	if (!path.length)
		return 0;
	while (text_cut(&rest, '/', &segment)) {
		if (!find_instance(segment, &instance) || !varies(instance))
			continue;
		used = append_bytes(out, used, copied, (size_t)(instance.bytes - copied));
		used = PUT(out, used, "{I}");
		copied = instance.bytes + instance.length;
	}
	return append_bytes(out, used, copied, (size_t)(path.bytes + path.length - copied));
}
