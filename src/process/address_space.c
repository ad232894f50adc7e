/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/address_space.h"

#include <stdlib.h>
#include <string.h>

struct address_space *address_space_create(void)
{
	struct address_space *space = calloc(1, sizeof(*space));

	if (space)
		space->users = 1;
	return space;
}

struct address_space *address_space_share(struct address_space *space)
{
	if (space)
		space->users++;
	return space;
}

void address_space_release(struct address_space *space)
{
	if (!space || --space->users)
		return;
	array_deinit(space);
	free(space);
}

size_t address_space_bytes(const struct address_space *space)
{
	return sizeof(*space) + space->room * sizeof(*space->items);
}

/* A space that is the caller's alone. */
static struct address_space *own(struct address_space *space)
{
	struct address_space *copy;

	if (space->users == 1)
		return space;
	copy = address_space_create();
	if (!copy)
		return NULL;
	if (space->count) {
		if (!array_reserve(copy, space->count + 1)) {
			address_space_release(copy);
			return NULL;
		}
		memcpy(copy->items, space->items, space->count * sizeof(*space->items));
		copy->count = space->count;
	}
	return copy;
}

/* The first one that ends behind `address`. */
static size_t first_beyond(const struct address_space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (space->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_nameless(const struct profile_mapping *mapping)
{
	return !mapping->path->length && !mapping->inode && !mapping->build_id_length;
}

/* Code that is made while a program runs is mapped page by page. */
static bool goes_on(const struct address_space *space, size_t at,
		    const struct profile_mapping *mapping)
{
	const struct profile_mapping *before = at ? &space->items[at - 1] : NULL;

	return before && before->end == mapping->start && is_nameless(before) &&
	       is_nameless(mapping) &&
	       (at == space->count || space->items[at].start >= mapping->end);
}

/* Keep what `mapping` does not cover of the mappings from `first` to below `last`: a head and a
 * tail. */
static size_t make_pieces(const struct address_space *space, size_t first, size_t last,
			  const struct profile_mapping *mapping, struct profile_mapping ret[3])
{
	size_t count = 0;

	if (first < last && space->items[first].start < mapping->start) {
		ret[count] = space->items[first];
		ret[count++].end = mapping->start;
	}
	ret[count++] = *mapping;
	if (first < last && space->items[last - 1].end > mapping->end) {
		ret[count] = space->items[last - 1];
		ret[count].file_offset += mapping->end - ret[count].start;
		ret[count++].start = mapping->end;
	}
	return count;
}

static bool is_same_mapping(const struct profile_mapping *a, const struct profile_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->file_offset == b->file_offset &&
	       a->path == b->path && a->major == b->major && a->minor == b->minor &&
	       a->inode == b->inode && a->build_id_length == b->build_id_length &&
	       memcmp(a->build_id, b->build_id, a->build_id_length) == 0;
}

static bool append_mapping(struct address_space *space, const struct profile_mapping *mapping)
{
	size_t first = first_beyond(space, mapping->start), last = first, count;
	struct profile_mapping pieces[3];

	if (goes_on(space, first, mapping)) {
		space->items[first - 1].end = mapping->end;
		return true;
	}
	while (last < space->count && space->items[last].start < mapping->end)
		last++;
	count = make_pieces(space, first, last, mapping, pieces);
	if (space->count - (last - first) + count > ADDRESS_SPACE_MAPPINGS_MAX ||
	    !array_reserve(space, count))
		return false;
	memmove(space->items + first + count, space->items + last,
		(space->count - last) * sizeof(*space->items));
	memcpy(space->items + first, pieces, count * sizeof(*pieces));
	space->count = space->count - (last - first) + count;
	return true;
}

bool address_space_has(const struct address_space *space, const struct profile_mapping *mapping)
{
	size_t at = first_beyond(space, mapping->start);

	return at < space->count && is_same_mapping(&space->items[at], mapping);
}

const struct profile_mapping *address_space_at(const struct address_space *space, uint64_t start)
{
	size_t at = first_beyond(space, start);

	return at < space->count && space->items[at].start == start ? &space->items[at] : NULL;
}

bool address_space_equal(const struct address_space *a, const struct address_space *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!is_same_mapping(&a->items[i], &b->items[i]))
			return false;
	return true;
}

bool address_space_put(struct address_space **space, const struct profile_mapping *mapping)
{
	struct address_space *mine;

	/* Said again, as of each process that was there before us. */
	if (address_space_has(*space, mapping))
		return true;
	mine = own(*space);
	if (!mine)
		return false;
	if (!append_mapping(mine, mapping)) {
		if (mine != *space)
			address_space_release(mine);
		return false;
	}
	if (mine != *space) {
		address_space_release(*space);
		*space = mine;
	}
	return true;
}
