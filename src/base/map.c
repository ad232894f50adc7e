/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <string.h>
#include <sys/auxv.h>

/* The kernel gives every process sixteen random bytes, getauxval(3). Threads may both read them
 * first: they store the same. */
static uint64_t map_seed(void)
{
	static uint64_t known;
	uint64_t seed = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!seed) {
		memcpy(&seed, (const void *)getauxval(AT_RANDOM), sizeof(seed));
		seed |= 1;
		__atomic_store_n(&known, seed, __ATOMIC_RELAXED);
	}
	return seed;
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0xd6e8feb86659fd93u;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t four(const char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Multiply and fold, a round for each word of eight bytes. The last word may overlap the one
 * before, so that no bytes are copied one by one; the caller distinguishes keys of different
 * lengths. */
static inline uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t at = 0; at + 8 < length; at += 8)
		hash = mix(hash, text_eight_(bytes + at));
	if (length >= 8)
		return mix(hash, text_eight_(bytes + length - 8));
	if (length >= 4)
		return mix(hash, four(bytes) << 32 | four(bytes + length - 4));
	if (!length)
		return hash;
	return mix(hash, (uint64_t)(unsigned char)bytes[0] << 16 |
				 (uint64_t)(unsigned char)bytes[length / 2] << 8 |
				 (unsigned char)bytes[length - 1]);
}

/* Lengths that are known to the compiler, for the keys that are looked up by the million. */
static inline uint32_t tag_of(struct map_shape shape, const void *key)
{
	const struct text *text = key;
	uint64_t hash = map_seed();

	if (shape.is_text)
		hash = mix_bytes(mix(hash, text->length), text->bytes, text->length);
	else if (shape.key_bytes == 8)
		hash = mix_bytes(hash, key, 8);
	else if (shape.key_bytes == 24)
		hash = mix_bytes(hash, key, 24);
	else if (shape.key_bytes == 32)
		hash = mix_bytes(hash, key, 32);
	else
		hash = mix_bytes(hash, key, shape.key_bytes);
	return (uint32_t)hash ? (uint32_t)hash : 1;
}

static inline bool is_same_key(struct map_shape shape, const void *a, const void *b)
{
	if (shape.is_text)
		return text_equal(*(const struct text *)a, *(const struct text *)b);
	if (shape.key_bytes == 8)
		return memcmp(a, b, 8) == 0;
	if (shape.key_bytes == 24)
		return memcmp(a, b, 8) == 0 &&
		       memcmp((const char *)a + 8, (const char *)b + 8, 16) == 0;
	return memcmp(a, b, shape.key_bytes) == 0;
}

static inline char *slot_at(struct map_shape shape, const void *slots, size_t at)
{
	return (char *)(uintptr_t)slots + at * shape.slot_bytes;
}

static inline uint32_t *tag_at(struct map_shape shape, const void *slots, size_t at)
{
	return (uint32_t *)(void *)(slot_at(shape, slots, at) + shape.tag_offset);
}

/* The slot of the key, or the free one where it belongs. */
static inline size_t find_slot(struct map_shape shape, const void *slots, size_t room, uint32_t tag,
			       const void *key)
{
	size_t at = tag & (room - 1);

	for (uint32_t found; (found = *tag_at(shape, slots, at)); at = (at + 1) & (room - 1))
		if (found == tag && is_same_key(shape, slot_at(shape, slots, at), key))
			break;
	return at;
}

static bool move_slots(struct map_shape shape, void **slots, size_t *room, size_t wider)
{
	char *moved = calloc(wider, shape.slot_bytes);

	if (!moved)
		return false;
	for (size_t i = 0; i < *room; i++) {
		const uint32_t tag = *tag_at(shape, *slots, i);
		size_t at = tag & (wider - 1);

		if (!tag)
			continue;
		while (*tag_at(shape, moved, at))
			at = (at + 1) & (wider - 1);
		memcpy(slot_at(shape, moved, at), slot_at(shape, *slots, i), shape.slot_bytes);
	}
	free(*slots);
	*slots = moved;
	*room = wider;
	return true;
}

#define ROOM_LEAST ((size_t)16)
/* Tags of 32 bits tell no more slots apart. */
#define ROOM_MOST ((size_t)1 << 31)

bool map_reserve_(struct map_shape shape, void **slots, size_t *room, size_t count)
{
	size_t wanted = ROOM_LEAST;

	while (wanted / 5 * 4 < count) {
		if (wanted >= ROOM_MOST)
			return false;
		wanted *= 2;
	}
	return wanted <= *room || move_slots(shape, slots, room, wanted);
}

void *map_find_(struct map_shape shape, const void *slots, size_t room, const void *key)
{
	size_t at;

	if (!room)
		return NULL;
	at = find_slot(shape, slots, room, tag_of(shape, key), key);
	return *tag_at(shape, slots, at) ? slot_at(shape, slots, at) : NULL;
}

void *map_add_(struct map_shape shape, void **slots, size_t *count, size_t *room, size_t most,
	       const void *key, bool *is_new)
{
	const uint32_t tag = tag_of(shape, key);
	size_t at = *room ? find_slot(shape, *slots, *room, tag, key) : 0;

	if (is_new)
		*is_new = false;
	if (*room && *tag_at(shape, *slots, at))
		return slot_at(shape, *slots, at);
	if (most && *count >= most)
		return NULL;
	if (*count >= *room / 5 * 4) {
		if (!map_reserve_(shape, slots, room, *count + 1))
			return NULL;
		at = find_slot(shape, *slots, *room, tag, key);
	}
	/* A slot that is free is all zero. */
	memcpy(slot_at(shape, *slots, at), key, shape.key_bytes);
	*tag_at(shape, *slots, at) = tag;
	++*count;
	if (is_new)
		*is_new = true;
	return slot_at(shape, *slots, at);
}

/* Slots behind the one that becomes free move forward where their keys are looked up from it, so
 * there are no marks of removed keys and searches stay short. */
bool map_remove_(struct map_shape shape, void *slots, size_t *count, size_t room, const void *key)
{
	size_t at = room ? find_slot(shape, slots, room, tag_of(shape, key), key) : 0, next = at;
	uint32_t tag;

	if (!room || !*tag_at(shape, slots, at))
		return false;
	while ((tag = *tag_at(shape, slots, next = (next + 1) & (room - 1)))) {
		/* Its search starts at `tag` and passes the free slot on its way. */
		if (((next - tag) & (room - 1)) < ((next - at) & (room - 1)))
			continue;
		memcpy(slot_at(shape, slots, at), slot_at(shape, slots, next), shape.slot_bytes);
		at = next;
	}
	memset(slot_at(shape, slots, at), 0, shape.slot_bytes);
	--*count;
	return true;
}
