/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/pprof_unpack.h"

#include <stdbool.h>

#include "base/array.h"
#include "base/varint.h"

/* Bounds of memory. The messages of real profiles take five to ten times their bytes; the shortest
 * possible ones, forty times. */
#define BYTES_FLAT_MAX ((size_t)16 << 20)
#define BYTES_PER_BYTE 24
#define BYTES_MAX      ((size_t)2 << 30)

/* --- counting --- */

/* The fields of Profile in profile.proto; what has no name is counted together. */
static const char *const part_names[] = {
	"parts of other kinds",
	"sample types",
	"samples",
	"mappings",
	"locations",
	"functions",
	"strings",
};

/* The field's number, of which 0 is none; its value is skipped. False: no more, or nonsense. */
static bool take_field(struct text *rest, uint32_t *ret)
{
	uint64_t tag, length;

	if (!varint_cut(rest, VARINT_MAX, &tag))
		return false;
	*ret = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case 0:
		return varint_cut(rest, VARINT_MAX, &length);
	case 1:
		length = 8;
		break;
	case 2:
		if (!varint_cut(rest, VARINT_MAX, &length))
			return false;
		break;
	case 5:
		length = 4;
		break;
	default:
		return false;
	}
	if (length > rest->length)
		return false;
	*rest = (struct text){ rest->bytes + length, rest->length - (size_t)length };
	return true;
}

/* Malformed data ends the count: the library rejects it. */
static struct error *check_counts(struct text message)
{
	uint32_t counts[array_length(part_names)] = { 0 }, field;

	while (take_field(&message, &field)) {
		if (field >= array_length(part_names))
			field = 0;
		if (++counts[field] > PPROF_PARTS_MAX)
			return error_create("more than %u %s", PPROF_PARTS_MAX, part_names[field]);
	}
	return NULL;
}

/* --- making --- */

/* Limits the memory of protobuf-c, and records why it failed, which protobuf-c does not tell. */
struct room {
	struct arena *arena;
	bool is_full;
};

static void *room_alloc(void *context, size_t size)
{
	struct room *room = context;
	void *memory = arena_alloc(room->arena, size);

	room->is_full |= !memory;
	return memory;
}

static void room_free(void *context, void *bytes)
{
	(void)context, (void)bytes;
}

struct error *pprof_unpack(struct text bytes, struct arena *arena, const Pprof__Profile **ret)
{
	struct room room = { .arena = arena };
	ProtobufCAllocator allocator = { room_alloc, room_free, &room };
	size_t most = BYTES_FLAT_MAX + BYTES_PER_BYTE * bytes.length;
	const Pprof__Profile *message;
	struct error *err = check_counts(bytes);

	if (err)
		return err;
	arena_init(arena, most < BYTES_MAX ? most : BYTES_MAX);
	message = pprof__profile__unpack(&allocator, bytes.length, (const uint8_t *)bytes.bytes);
	if (room.is_full)
		return error_create("its %zu bytes would take more than %zu MiB", bytes.length,
				    arena->limit >> 20);
	if (!message)
		return error_create("not a pprof profile");
	*ret = message;
	return NULL;
}
