/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interned byte strings: equal bytes are one object, so names compare as pointers.
 *
 * A host has few distinct names: a hundred thousand threads share some hundred. Names may hold
 * any byte (the kernel does not promise UTF-8) but are also terminated by a NUL for printing.
 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"

struct name {
	uint32_t length;
	_Alignas(8) char bytes[]; /* `length` bytes, then a NUL */
};

struct names {
	struct arena *arena; /* holds the names; not owned */
	struct {
		MAP(struct text, struct {}); /* the bytes of each name */
	} by_text;
};

/* The names will live in `arena`, and as long as it. */
void names_init(struct names *names, struct arena *arena);

/* The one name with these bytes. NULL: no memory, or the arena's limit. */
const struct name *names_intern(struct names *names, const void *bytes, size_t length);

/* The same if it is there already, else NULL. */
const struct name *names_find(const struct names *names, const void *bytes, size_t length);

/* Forgets the table; the names themselves go with the arena. */
void names_deinit(struct names *names);

/* The bytes of a name; of NULL none. */
static inline struct text name_text(const struct name *name)
{
	return name ? (struct text){ name->bytes, name->length } : (struct text){ "", 0 };
}

/* Order by bytes, shorter first; NULL sorts first. For qsort on `const struct name *` members. */
int name_compare(const struct name *a, const struct name *b);

#endif
