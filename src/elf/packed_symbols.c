/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/packed_symbols.h"

#include <lzma.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Larger sections are refused: that of libLLVM would have some 2 MB. */
#define PACKED_MAX ((uint64_t)32 << 20)

/* To the end of the stream, into room that doubles. */
static bool unpack(lzma_stream *stream, struct text *ret)
{
	_cleanup_free_ char *room = NULL;
	size_t size = 0, used = 0;

	for (;;) {
		lzma_ret state;

		if (used == size) {
			char *larger;

			size = size ? 2 * size : (size_t)64 << 10;
			larger = size <= PACKED_SYMBOLS_MAX ? realloc(room, size) : NULL;
			if (!larger)
				return false;
			room = larger;
		}
		stream->next_out = (uint8_t *)room + used;
		stream->avail_out = size - used;
		state = lzma_code(stream, LZMA_FINISH);
		used = size - stream->avail_out;
		if (state == LZMA_STREAM_END) {
			*ret = (struct text){ take_ptr(room), used };
			return true;
		}
		if (state != LZMA_OK)
			return false;
	}
}

bool packed_symbols(const struct elf *elf, struct text *ret)
{
	const Elf64_Shdr *header = elf_section_header(elf, ".gnu_debugdata");
	struct text packed = { 0 };
	lzma_stream stream = LZMA_STREAM_INIT;
	bool done;

	if (header && header->sh_size <= PACKED_MAX)
		packed = elf_section(elf, ".gnu_debugdata");
	if (!packed.length || lzma_stream_decoder(&stream, PACKED_SYMBOLS_MEMORY_MAX, 0) != LZMA_OK)
		return false;
	stream.next_in = (const uint8_t *)packed.bytes;
	stream.avail_in = packed.length;
	done = unpack(&stream, ret);
	lzma_end(&stream);
	return done;
}
