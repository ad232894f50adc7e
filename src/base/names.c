/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void names_init(struct names *names, struct arena *arena)
{
	*names = (struct names){ .arena = arena };
}

/* The name that a slot's key is the text of. */
static const struct name *name_at(struct text key)
{
	return (const struct name *)(const void *)(key.bytes - offsetof(struct name, bytes));
}

const struct name *names_intern(struct names *names, const void *bytes, size_t length)
{
	const struct text text = { bytes, length };
	__typeof__(names->by_text.slots) slot;
	struct name *name = NULL;
	bool is_new;

	if (length > UINT32_MAX - 1)
		return NULL;
	slot = map_add_slot(&names->by_text, text, &is_new);
	if (!slot || !is_new)
		return slot ? name_at(slot->key) : NULL;
	name = arena_alloc(names->arena, sizeof(*name) + length + 1);
	if (!name) {
		map_remove(&names->by_text, text);
		return NULL;
	}
	name->length = (uint32_t)length;
	memcpy(name->bytes, bytes, length);
	slot->key = name_text(name);
	return name;
}

const struct name *names_find(const struct names *names, const void *bytes, size_t length)
{
	const struct text text = { bytes, length };
	__typeof__(names->by_text.slots) slot = map_find_slot(&names->by_text, text);

	return slot ? name_at(slot->key) : NULL;
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
