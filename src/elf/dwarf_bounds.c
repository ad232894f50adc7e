/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_bounds.h"

#include <dwarf.h>
#include <endian.h>

#include "elf/dwarf_cursor.h"

/* --- sections --- */

/* The inflated size of a compressed section, by its section header (SHF_COMPRESSED) or in the older
 * format by its first bytes. Otherwise 0. */
static uint64_t inflated_size(const struct elf *elf, const Elf64_Shdr *section)
{
	Elf64_Chdr header;
	struct text bytes;
	uint64_t size;

	if (section->sh_flags & SHF_COMPRESSED) {
		bytes = image_bytes(elf->image, section->sh_offset, sizeof(header));
		if (!bytes.bytes || section->sh_size < sizeof(header))
			return 0;
		memcpy(&header, bytes.bytes, sizeof(header));
		return header.ch_size;
	}
	bytes = image_bytes(elf->image, section->sh_offset, 4 + sizeof(size));
	if (section->sh_size < bytes.length || !text_starts(bytes, TEXT("ZLIB")))
		return 0;
	memcpy(&size, bytes.bytes + 4, sizeof(size));
	return be64toh(size);
}

bool dwarf_sections_are_bounded(const struct elf *elf, const char *const *names, size_t count,
				uint64_t *ret_bytes)
{
	uint64_t total = 0, most = elf->image->size * DEBUG_RATIO_MAX;

	for (size_t i = 0; i < count; i++) {
		const Elf64_Shdr *section = elf_section_header(elf, names[i]);

		if (!section || section->sh_type == SHT_NOBITS)
			continue;
		if (__builtin_add_overflow(total, section->sh_size, &total) ||
		    __builtin_add_overflow(total, inflated_size(elf, section), &total))
			return false;
	}
	*ret_bytes = total;
	return total <= DEBUG_SIZE_MAX && total <= most;
}

/* --- abbreviations --- */

/* Pairs of a name and a form, to the pair of zeros. */
static bool cut_attributes(struct text *rest, struct abbreviations *table)
{
	unsigned without_room = 0;

	for (unsigned count = 0; count <= DEBUG_ATTRIBUTES_MAX; count++) {
		uint64_t name, form, constant;

		if (!dwarf_cut_leb128(rest, DWARF_SMALL_MAX, &name) ||
		    !dwarf_cut_leb128(rest, DWARF_SMALL_MAX, &form))
			return false;
		if (form == DW_FORM_implicit_const &&
		    !dwarf_cut_leb128(rest, DWARF_CONSTANT_MAX, &constant))
			return false;
		if (!name && !form) {
			if (without_room > table->most_free)
				table->most_free = without_room;
			return true;
		}
		/* libdw ends at either in one place, and at both in another. */
		if (!name || !form)
			return false;
		without_room += form == DW_FORM_implicit_const || form == DW_FORM_flag_present;
		table->has_references |= form == DW_FORM_ref_addr || form == DW_FORM_indirect;
	}
	return false;
}

bool dwarf_measure_abbreviations(struct text section, uint64_t offset, struct abbreviations *ret)
{
	struct abbreviations table = { 0 };
	struct text rest;

	if (offset >= section.length)
		return false;
	rest = (struct text){ section.bytes + offset, section.length - offset };
	for (;;) {
		uint64_t code, tag, has_children;

		/* Codes are counted from 1: other codes could be chosen to collide in libdw's hash
		 * table. */
		if (!dwarf_cut_leb128(&rest, DWARF_SMALL_MAX, &code) || code > section.length)
			return false;
		if (!code)
			break;
		if (!dwarf_cut_leb128(&rest, DWARF_SMALL_MAX, &tag) ||
		    !dwarf_cut_leb128(&rest, 1, &has_children) || !cut_attributes(&rest, &table))
			return false;
	}
	table.length = section.length - offset - rest.length;
	*ret = table;
	return true;
}

/* --- lines --- */

/* Cut the value of a form. These are the forms that compilers use for names, numbers and checksums;
 * all take room. `size` is that of an offset. */
static bool cut_value(struct text *rest, uint64_t form, size_t size)
{
	static const uint8_t sizes[] = { [DW_FORM_data1] = 1,
					 [DW_FORM_data2] = 2,
					 [DW_FORM_data4] = 4,
					 [DW_FORM_data8] = 8,
					 [DW_FORM_data16] = 16 };
	uint64_t value = form < sizeof(sizes) ? sizes[form] : 0;
	struct text string;

	switch (form) {
	case DW_FORM_string:
		return rest->length && text_cut(rest, 0, &string);
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		value = size;
		break;
	case DW_FORM_udata:
		return dwarf_cut_leb128(rest, DWARF_CONSTANT_MAX, &value);
	case DW_FORM_block:
		if (!dwarf_cut_leb128(rest, DWARF_CONSTANT_MAX, &value))
			return false;
		break;
	default:
		if (!value)
			return false;
	}
	if (value > rest->length)
		return false;
	rest->bytes += value;
	rest->length -= (size_t)value;
	return true;
}

/* Pairs of a kind and a form, then entries with a value for each. */
static bool cut_list(struct text *rest, size_t size)
{
	uint64_t formats, entries, kind, forms[UINT8_MAX];

	if (!dwarf_cut_fixed(rest, 1, &formats))
		return false;
	for (uint64_t i = 0; i < formats; i++)
		if (!dwarf_cut_leb128(rest, DWARF_SMALL_MAX, &kind) ||
		    !dwarf_cut_leb128(rest, DWARF_SMALL_MAX, &forms[i]))
			return false;
	if (!dwarf_cut_leb128(rest, DWARF_CONSTANT_MAX, &entries) || (entries && !formats))
		return false;
	for (; entries; entries--)
		for (uint64_t i = 0; i < formats; i++)
			if (!cut_value(rest, forms[i], size))
				return false;
	return true;
}

/* The lists of files, which version 5 gives forms to, behind sizes of an address and of a segment's
 * number, the length of the header, five small fields, and how many operands each opcode has. */
static bool has_bounded_lists(struct text rest, size_t size)
{
	uint64_t header, skipped, opcodes;

	if (!dwarf_cut_fixed(&rest, 2, &skipped) || !dwarf_cut_fixed(&rest, size, &header) ||
	    header > rest.length)
		return false;
	rest.length = (size_t)header;
	if (!dwarf_cut_fixed(&rest, 5, &skipped) || !dwarf_cut_fixed(&rest, 1, &opcodes) ||
	    !opcodes || opcodes - 1 > rest.length)
		return false;
	rest.bytes += opcodes - 1;
	rest.length -= (size_t)opcodes - 1;
	/* Directories, then files. */
	return cut_list(&rest, size) && cut_list(&rest, size);
}

bool dwarf_measure_lines(struct text section, uint64_t offset, uint64_t *ret)
{
	uint64_t length, version;
	struct text rest;
	size_t size;

	if (offset >= section.length)
		return false;
	rest = (struct text){ section.bytes + offset, section.length - offset };
	if (!dwarf_cut_length(&rest, &length, &size))
		return false;
	if (length > rest.length || !dwarf_cut_fixed(&rest, 2, &version))
		return false;
	if (version >= 5 && !has_bounded_lists(rest, size))
		return false;
	*ret = length;
	return true;
}
