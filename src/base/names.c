/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

void names_init(struct names *names, struct arena *arena)
{
	*names = (struct names){ .arena = arena };
}

const struct name *names_intern(struct names *names, const void *bytes, size_t length)
{
	const struct text text = { bytes, length };
	const struct name **known = map_find(&names->by_text, text);
	struct name *name;

	if (known)
		return *known;
	if (length > UINT32_MAX - 1)
		return NULL;
	name = arena_alloc(names->arena, sizeof(*name) + length + 1);
	if (!name)
		return NULL;
	name->length = (uint32_t)length;
	memcpy(name->bytes, bytes, length);
	/* The map refers to the copy. */
	known = map_add(&names->by_text, name_text(name), NULL);
	if (!known)
		return NULL;
	*known = name;
	return name;
}

const struct name *names_find(const struct names *names, const void *bytes, size_t length)
{
	const struct name **known = map_find(&names->by_text, (struct text){ bytes, length });

	return known ? *known : NULL;
}

void names_deinit(struct names *names)
{
	map_deinit(&names->by_text);
}

int name_compare(const struct name *a, const struct name *b)
{
	size_t shorter;
	int order;

	if (a == b || !a || !b)
		return (a != NULL) - (b != NULL);
	shorter = a->length < b->length ? a->length : b->length;
	order = memcmp(a->bytes, b->bytes, shorter);
	return order ? order : (a->length > b->length) - (a->length < b->length);
}
