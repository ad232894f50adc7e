/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/text.h"

/* U+FFFD, in place of a byte that belongs to no character. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The length (1 to 4) of the character that starts at `bytes`; 0 when it is not one. */
size_t utf8_sequence(const char *bytes, size_t length);

bool utf8_is_valid(struct text text);

/* Is it how the locale that was set (setlocale(3)) writes characters? */
bool utf8_is_locale(void);

/* Copy with U+FFFD for every byte that belongs to no character; returns the length. `out` has room
 * for UTF8_REPLACEMENT_LENGTH times that of `text`. */
#define UTF8_REPLACEMENT_LENGTH (sizeof(UTF8_REPLACEMENT) - 1)
size_t utf8_clean(struct text text, char *out);

#endif
