/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/frame_section.h"

#include <endian.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/dwarf_bounds.h"
#include "unwind/cursor.h"

/* --- .eh_frame --- */

/* The bytes loaded at `address`, up to the end of the segment in the file. */
static struct text loaded_from(const struct elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		uint64_t within = address - segment->p_vaddr, size = segment->p_filesz - within;
		const char *bytes;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    within >= segment->p_filesz)
			continue;
		if (size > IMAGE_STRETCH_MAX)
			size = IMAGE_STRETCH_MAX;
		bytes = elf_at(elf, address, size);
		return (struct text){ bytes, bytes ? (size_t)size : 0 };
	}
	return (struct text){ 0 };
}

/* Four bytes, and a pointer in any encoding. */
#define HEADER_MAX 32

/* .eh_frame_hdr begins with a version, three encodings, and where .eh_frame is (LSB 5, core,
 * 10.6.2). */
static struct frame_section found_by_header(const struct elf *elf)
{
	const Elf64_Phdr *segment = elf_segment(elf, PT_GNU_EH_FRAME);
	const uint64_t size = !segment                         ? 0
			      : segment->p_filesz < HEADER_MAX ? segment->p_filesz
							       : HEADER_MAX;
	const char *bytes = segment ? elf_at(elf, segment->p_vaddr, size) : NULL;
	struct cursor rest = cursor_of((struct text){ bytes, bytes ? (size_t)size : 0 });
	uint64_t version, encoding, others;
	struct frame_section section = { .has_end = true };

	if (cursor_fixed(&rest, 1, &version) && version == 1 && cursor_fixed(&rest, 1, &encoding) &&
	    cursor_fixed(&rest, 2, &others) &&
	    cursor_pointer(&rest, (uint8_t)encoding, segment->p_vaddr + 4, &section.address))
		section.bytes = loaded_from(elf, section.address);
	return section;
}

struct frame_section frame_section_loaded(const struct elf *elf)
{
	const Elf64_Shdr *header = elf_section_header(elf, ".eh_frame");

	if (!header)
		return found_by_header(elf);
	if (header->sh_flags & SHF_COMPRESSED)
		return (struct frame_section){ 0 };
	return (struct frame_section){ .bytes = elf_section(elf, ".eh_frame"),
				       .address = header->sh_addr };
}

struct frame_section frame_section_unread(const struct elf *elf)
{
	const Elf64_Shdr *header = elf_section_header(elf, ".eh_frame");
	uint64_t offset;

	if (!header || header->sh_type == SHT_NOBITS || header->sh_flags & SHF_COMPRESSED ||
	    !header->sh_size || header->sh_size > IMAGE_STRETCH_MAX ||
	    !elf_stretch(elf, header->sh_addr, header->sh_size, &offset))
		return (struct frame_section){ 0 };
	return (struct frame_section){ .bytes = { elf->image->bytes + offset, header->sh_size },
				       .address = header->sh_addr,
				       .offset = offset };
}

/* --- .debug_frame --- */

/* All `size` bytes into `ret`, or false. */
typedef bool inflate_into(struct text packed, char *ret, size_t size);

static bool inflate_zlib(struct text packed, char *ret, size_t size)
{
	uLongf length = size;

	return uncompress((Bytef *)ret, &length, (const Bytef *)packed.bytes, packed.length) ==
		       Z_OK &&
	       length == size;
}

static bool inflate_zstd(struct text packed, char *ret, size_t size)
{
	return ZSTD_decompress(ret, size, packed.bytes, packed.length) == size;
}

/* Elf64_Chdr.ch_type; the elf.h of old systems does not have the second. */
static const struct {
	uint32_t type;
	inflate_into *inflate;
} packings[] = { { ELFCOMPRESS_ZLIB, inflate_zlib }, { 2, inflate_zstd } };

/* Use the size of the section, not of the file, which may have holes. */
static void take_inflated(struct frame_section *section, struct text packed, uint64_t size,
			  inflate_into *into)
{
	_cleanup_free_ char *bytes = NULL;

	if (!size || size > IMAGE_STRETCH_MAX || size / DEBUG_RATIO_MAX > packed.length)
		return;
	bytes = malloc(size);
	if (!bytes || !into(packed, bytes, (size_t)size))
		return;
	section->bytes = (struct text){ bytes, (size_t)size };
	section->inflated = take_ptr(bytes);
}

static void inflate_by_header(struct frame_section *section, struct text packed)
{
	struct cursor rest = cursor_of(packed);
	Elf64_Chdr header;

	if (!cursor_skip(&rest, sizeof(header)))
		return;
	memcpy(&header, packed.bytes, sizeof(header));
	packed = (struct text){ packed.bytes + sizeof(header), packed.length - sizeof(header) };
	for (size_t i = 0; i < array_length(packings); i++)
		if (packings[i].type == header.ch_type)
			take_inflated(section, packed, header.ch_size, packings[i].inflate);
}

/* The older way: "ZLIB", and how much it becomes, highest byte first. */
static void inflate_old(struct frame_section *section, struct text packed)
{
	uint64_t size;

	if (!text_starts(packed, TEXT("ZLIB")) || packed.length < 4 + sizeof(size))
		return;
	memcpy(&size, packed.bytes + 4, sizeof(size));
	packed = (struct text){ packed.bytes + 12, packed.length - 12 };
	take_inflated(section, packed, be64toh(size), inflate_zlib);
}

struct frame_section frame_section_debug(const struct elf *elf)
{
	const Elf64_Shdr *header = elf_section_header(elf, ".debug_frame");
	struct frame_section section = { .is_debug = true };

	if (!header)
		inflate_old(&section, elf_section(elf, ".zdebug_frame"));
	else if (header->sh_flags & SHF_COMPRESSED)
		inflate_by_header(&section, elf_section(elf, ".debug_frame"));
	else
		section.bytes = elf_section(elf, ".debug_frame");
	return section;
}

void frame_section_deinit(struct frame_section *section)
{
	free(section->inflated);
	*section = (struct frame_section){ 0 };
}
