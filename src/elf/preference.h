/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses among several names of a function, such as read, __read and __libc_read: the plainest.
 */
#ifndef ELF_PREFERENCE_H
#define ELF_PREFERENCE_H

#include "base/text.h"

static inline size_t leading_underscores(struct text name)
{
	size_t count = 0;

	while (count < name.length && name.bytes[count] == '_')
		count++;
	return count;
}

/* Is `a` to be shown rather than `b`? Fewer underscores, then shorter, then by bytes. Mangled names
 * (_Z, _R) are as plain as any. */
static inline bool name_is_plainer(struct text a, struct text b)
{
	size_t marks_a = leading_underscores(a), marks_b = leading_underscores(b);

	if (text_starts(a, TEXT("_Z")) || text_starts(a, TEXT("_R")))
		marks_a = 0;
	if (text_starts(b, TEXT("_Z")) || text_starts(b, TEXT("_R")))
		marks_b = 0;
	if (marks_a != marks_b)
		return marks_a < marks_b;
	if (a.length != b.length)
		return a.length < b.length;
	return a.length && memcmp(a.bytes, b.bytes, a.length) < 0;
}

#endif
