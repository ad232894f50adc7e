/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_section.h"

#include <stdlib.h>

#include "elf/dwarf_bounds.h"

/* The size of the header of a stream of zlib (RFC 1950). Behind it is the stream without the
 * checksum, which a part of it does not have. */
#define ZLIB_HEADER 2

#define WINDOW      ((uint64_t)128 << 10)

static bool take_bytes(struct dwarf_section *section, char *to, uint64_t size)
{
	if (!image_read(section->image, section->offset, size, to))
		return false;
	section->offset += size;
	section->left -= size;
	return true;
}

/* The older format (.zdebug_*), and other ways to compress, are left to libelf. */
static bool open_packed(struct dwarf_section *section)
{
	Elf64_Chdr header;

	if (section->left < sizeof(header) + ZLIB_HEADER)
		return false;
	if (!take_bytes(section, (char *)&header, sizeof(header)))
		return false;
	if (header.ch_type != ELFCOMPRESS_ZLIB) {
		section->offset -= sizeof(header);
		section->left += sizeof(header);
		return true;
	}
	section->offset += ZLIB_HEADER;
	section->left -= ZLIB_HEADER;
	section->flags &= ~(uint64_t)SHF_COMPRESSED;
	section->size = header.ch_size;
	section->is_packed = true;
	section->window = malloc(2 * WINDOW);
	return section->window && inflateInit2(&section->stream, -MAX_WBITS) == Z_OK;
}

bool dwarf_section_open(const struct elf *elf, const char *name, struct dwarf_section *ret)
{
	const Elf64_Shdr *header = elf_section_header(elf, name);

	*ret = (struct dwarf_section){ 0 };
	if (!header || header->sh_type == SHT_NOBITS || header->sh_size > DEBUG_SIZE_MAX)
		return false;
	*ret = (struct dwarf_section){
		.image = elf->image,
		.flags = header->sh_flags,
		.size = header->sh_size,
		.offset = header->sh_offset,
		.left = header->sh_size,
	};
	if (header->sh_flags & SHF_COMPRESSED && !open_packed(ret))
		return false;
	return ret->size <= DEBUG_SIZE_MAX;
}

static bool inflate_into(struct dwarf_section *section, char *to, uint64_t size)
{
	z_stream *stream = &section->stream;
	int status = Z_OK;

	stream->next_out = (Bytef *)to;
	stream->avail_out = (uInt)size;
	while (status == Z_OK && stream->avail_out) {
		const uint64_t step = section->left < WINDOW ? section->left : WINDOW;

		if (!stream->avail_in) {
			if (!step || !take_bytes(section, section->window, step))
				return false;
			stream->next_in = (Bytef *)section->window;
			stream->avail_in = (uInt)step;
		}
		status = inflate(stream, Z_SYNC_FLUSH);
	}
	return !stream->avail_out;
}

bool dwarf_section_read(struct dwarf_section *section, uint64_t end)
{
	char *to = section->bytes + section->length;
	uint64_t size = end - section->to;

	if (end > section->size)
		return false;
	if (end <= section->to)
		return true;
	if (!(section->is_packed ? inflate_into(section, to, size) : take_bytes(section, to, size)))
		return false;
	section->length += size;
	section->to = end;
	return true;
}

static bool skip_packed(struct dwarf_section *section, uint64_t size)
{
	while (size) {
		const uint64_t step = size < WINDOW ? size : WINDOW;

		if (!inflate_into(section, section->window + WINDOW, step))
			return false;
		size -= step;
	}
	return true;
}

bool dwarf_section_skip(struct dwarf_section *section, uint64_t from, bool without_gap)
{
	const uint64_t size = from - section->to;

	if (from < section->to || from > section->size)
		return false;
	if (section->is_packed) {
		if (!skip_packed(section, size))
			return false;
	} else {
		section->offset += size;
		section->left -= size;
	}
	section->from = section->to = from;
	if (!without_gap)
		section->length += size;
	return true;
}

struct text dwarf_section_from(const struct dwarf_section *section, uint64_t offset)
{
	if (offset < section->from || offset >= section->to)
		return (struct text){ 0 };
	return (struct text){ section->bytes + section->length - (section->to - offset),
			      (size_t)(section->to - offset) };
}

void dwarf_section_close(struct dwarf_section *section)
{
	if (section->window)
		inflateEnd(&section->stream);
	free(section->window);
	*section = (struct dwarf_section){ 0 };
}
