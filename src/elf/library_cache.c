/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/library_cache.h"

#define MAGIC "glibc-ld.so.cache1.1"

struct cache_header {
	char magic[20];
	uint32_t count, string_bytes, flags, extension, unused[3];
};
_Static_assert(sizeof(struct cache_header) == 48, "as glibc has it");

struct cache_entry {
	int32_t flags;
	uint32_t name, path, version;
	uint64_t hardware;
};

static const char *string_at(struct text bytes, uint32_t offset)
{
	/* Longer paths are invalid. */
	const size_t left = offset < bytes.length ? bytes.length - offset : 0,
		     most = left < 4096 ? left : 4096;

	if (!most || !memchr(bytes.bytes + offset, 0, most))
		return NULL;
	return bytes.bytes + offset;
}

void library_cache_each(struct text bytes, library_visit *visit, void *context)
{
	struct cache_header header;
	/* An older form may stand before it, for programs of that time. */
	const char *start =
		bytes.length ? memmem(bytes.bytes, bytes.length, MAGIC, strlen(MAGIC)) : NULL;

	if (!start)
		return;
	bytes.length -= (size_t)(start - bytes.bytes);
	bytes.bytes = start;
	if (bytes.length < sizeof(header))
		return;
	memcpy(&header, bytes.bytes, sizeof(header));
	if (header.count > (bytes.length - sizeof(header)) / sizeof(struct cache_entry))
		return;
	for (uint32_t i = 0; i < header.count; i++) {
		struct cache_entry entry;
		const char *name, *path;

		memcpy(&entry, bytes.bytes + sizeof(header) + i * sizeof(entry), sizeof(entry));
		name = string_at(bytes, entry.name);
		path = string_at(bytes, entry.path);
		if (name && path && !visit(context, name, path))
			return;
	}
}

bool library_is(const char *name, struct text wanted)
{
	struct text rest = text_of(name);

	if (text_equal(rest, wanted))
		return true;
	if (!text_starts(wanted, TEXT("lib")) && text_starts(rest, TEXT("lib"))) {
		rest.bytes += 3;
		rest.length -= 3;
	}
	if (!wanted.length || !text_starts(rest, wanted))
		return false;
	rest.bytes += wanted.length;
	rest.length -= wanted.length;
	return text_equal(rest, TEXT(".so")) || text_starts(rest, TEXT(".so."));
}
