/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices of text in memory of the caller, exact numbers out of them, and strings made of both.
 *
 * Parsers of /proc and of JSON work on `struct text`: no NUL is needed, nothing is copied, nothing
 * beyond `length` is read.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *bytes;
	size_t length;
};

#define TEXT(literal) ((struct text){ "" literal, sizeof(literal) - 1 })

static inline struct text text_of(const char *string)
{
	return (struct text){ string, strlen(string) };
}

static inline uint64_t text_eight_(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Are both strings the same? NULL counts as "". */
static inline bool strings_equal(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Names of members are compared by the million, and have 8 to 32 bytes: without a call for those.
 */
static inline bool text_equal(struct text a, struct text b)
{
	size_t length = a.length, last = length - 8;

	if (length != b.length)
		return false;
	if (length < 8 || length > 32)
		return !length || memcmp(a.bytes, b.bytes, length) == 0;
	if (text_eight_(a.bytes) != text_eight_(b.bytes) ||
	    text_eight_(a.bytes + last) != text_eight_(b.bytes + last))
		return false;
	return length <= 16 ||
	       (text_eight_(a.bytes + 8) == text_eight_(b.bytes + 8) &&
		(length <= 24 || text_eight_(a.bytes + 16) == text_eight_(b.bytes + 16)));
}

static inline bool text_starts(struct text text, struct text prefix)
{
	return text.length >= prefix.length &&
	       (!prefix.length || memcmp(text.bytes, prefix.bytes, prefix.length) == 0);
}

static inline bool text_ends(struct text text, struct text suffix)
{
	return text.length >= suffix.length &&
	       (!suffix.length ||
		memcmp(text.bytes + text.length - suffix.length, suffix.bytes, suffix.length) == 0);
}

/* The text without spaces, tabs and newlines at its ends. */
struct text text_trim(struct text text);

/* Cut the piece before the first `separator` off the front of `rest`; the whole when there is
 * none. False when `rest` is empty. "a\n\nb" gives "a", "", "b". */
bool text_cut(struct text *rest, char separator, struct text *ret);

/* The next run of bytes that are not spaces, tabs or newlines. False at the end. */
bool text_word(struct text *rest, struct text *ret);

/* Is one of the words `word`, or does one start with it and "="? */
bool text_has_word(struct text text, struct text word);

/* FNV-1a, 64 bits: the same in every run. Texts hash
 * differently under another `seed`. */
uint64_t text_hash(struct text text, uint64_t seed);

/* Decimal digits and nothing else, up to UINT64_MAX. False leaves `ret` untouched. */
bool text_u64(struct text text, uint64_t *ret);

/* As text_u64, and also at most UINT32_MAX. */
bool text_u32(struct text text, uint32_t *ret);

/* Decimal digits after an optional '-'. */
bool text_i64(struct text text, int64_t *ret);

/* A string of its own, as asprintf(3) makes it, to be freed; NULL: no memory. */
char *text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_print_v(const char *format, va_list values) __attribute__((format(printf, 1, 0)));

/* Replace control characters by '?', so that the text stays one line and tells a terminal nothing.
 * Returns whether there were any. */
bool text_make_safe(char *text);

/* A copy for which that is done, to be freed; NULL: no memory. */
char *text_safe_copy(struct text text);

/* The text, quoted as one word for a shell. NULL without memory; the caller frees it. */
char *text_quoted(struct text text);

/* The same without quotes where a shell needs none: for commands that people read. */
char *text_shell_word(struct text text);

/* Return the one of `count` strings at `names` (`stride` bytes from one to the next) that `wrong`
 * most likely meant; NULL when none is near. */
const char *text_nearest(const char *wrong, const char *const *names, size_t count, size_t stride);

#endif
