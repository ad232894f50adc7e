/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct text text_trim(struct text text)
{
	while (text.length && is_space(text.bytes[0])) {
		text.bytes++;
		text.length--;
	}
	while (text.length && is_space(text.bytes[text.length - 1]))
		text.length--;
	return text;
}

bool text_cut(struct text *rest, char separator, struct text *ret)
{
	const char *end;
	size_t piece;

	if (!rest->length)
		return false;
	end = memchr(rest->bytes, separator, rest->length);
	piece = end ? (size_t)(end - rest->bytes) : rest->length;
	*ret = (struct text){ rest->bytes, piece };
	piece += end != NULL;
	rest->bytes += piece;
	rest->length -= piece;
	return true;
}

bool text_word(struct text *rest, struct text *ret)
{
	const char *p = rest->bytes, *end = p + rest->length, *start;

	while (p < end && is_space(*p))
		p++;
	start = p;
	while (p < end && !is_space(*p))
		p++;
	rest->bytes = p;
	rest->length = (size_t)(end - p);
	if (p == start)
		return false;
	*ret = (struct text){ start, (size_t)(p - start) };
	return true;
}

bool text_has_word(struct text text, struct text word)
{
	struct text found;

	while (text_word(&text, &found))
		if (text_starts(found, word) &&
		    (found.length == word.length || found.bytes[word.length] == '='))
			return true;
	return false;
}

uint64_t text_hash(struct text text, uint64_t seed)
{
	uint64_t hash = 14695981039346656037u ^ seed;

	for (size_t i = 0; i < text.length; i++)
		hash = (hash ^ (unsigned char)text.bytes[i]) * 1099511628211u;
	return hash;
}

bool text_u64(struct text text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!text.length)
		return false;
	for (size_t i = 0; i < text.length; i++) {
		unsigned digit = (unsigned char)text.bytes[i] - (unsigned)'0';

		if (digit > 9)
			return false;
		/* Nineteen digits cannot overflow. */
		if (i < 19)
			value = value * 10 + digit;
		else if (__builtin_mul_overflow(value, 10, &value) ||
			 __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret = value;
	return true;
}

bool text_u32(struct text text, uint32_t *ret)
{
	uint64_t value;

	if (!text_u64(text, &value) || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool text_i64(struct text text, int64_t *ret)
{
	bool negative = text.length && text.bytes[0] == '-';
	uint64_t magnitude;

	if (negative)
		text = (struct text){ text.bytes + 1, text.length - 1 };
	if (!text_u64(text, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

#define NEAREST_MAX 64

/* Levenshtein's distance, by rows. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[NEAREST_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t replace = diagonal + (a[i - 1] != b[j - 1]);
			size_t best = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = replace < best ? replace : best;
		}
	}
	return row[b_length];
}

const char *text_nearest(const char *wrong, const char *const *names, size_t count, size_t stride)
{
	const char *best = NULL;
	size_t best_distance = NEAREST_MAX, length = strlen(wrong);

	if (length > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *name =
			*(const char *const *)((const char *)(const void *)names + i * stride);
		size_t name_length = strlen(name), far;

		if (name_length > NEAREST_MAX)
			continue;
		far = distance(wrong, length, name, name_length);
		/* The beginning of a name is nearer to it than its length says. */
		if (length >= 3 && strncmp(name, wrong, length) == 0)
			far = 1;
		if (far > 1 + name_length / 3 || far > best_distance ||
		    (far == best_distance && best && name_length >= strlen(best)))
			continue;
		best = name;
		best_distance = far;
	}
	return best;
}

char *text_print_v(const char *format, va_list values)
{
	char *text;

	return vasprintf(&text, format, values) < 0 ? NULL : text;
}

char *text_print(const char *format, ...)
{
	va_list values;
	char *text;

	va_start(values, format);
	text = text_print_v(format, values);
	va_end(values);
	return text;
}

char *text_quoted(struct text text)
{
	char *quoted = malloc(text.length * 4 + 3), *at = quoted;

	if (!quoted)
		return NULL;
	*at++ = '\'';
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes[i] == '\'')
			at = stpcpy(at, "'\\''");
		else
			*at++ = text.bytes[i];
	}
	*at++ = '\'';
	*at = '\0';
	return quoted;
}

/* No shell gives these a meaning of its own. */
#define PLAIN_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+:,./@%"

char *text_shell_word(struct text text)
{
	for (size_t i = 0; i < text.length; i++)
		if (!memchr(PLAIN_BYTES, text.bytes[i], sizeof(PLAIN_BYTES) - 1))
			return text_quoted(text);
	return text.length ? strndup(text.bytes, text.length) : text_quoted(text);
}

bool text_make_safe(char *text)
{
	bool changed = false;

	for (; *text; text++) {
		unsigned char byte = (unsigned char)text[0], next = (unsigned char)text[1];
		bool one = byte < 0x20 || byte == 0x7f;
		/* U+0080 to U+009F are control characters too. */
		bool two = byte == 0xc2 && next >= 0x80 && next < 0xa0;

		if (one || two)
			text[0] = '?';
		if (two)
			text[1] = '?';
		changed |= one || two;
	}
	return changed;
}

char *text_safe_copy(struct text text)
{
	char *copy = strndup(text.length ? text.bytes : "", text.length);

	if (copy)
		text_make_safe(copy);
	return copy;
}
