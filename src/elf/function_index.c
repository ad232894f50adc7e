/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/function_index.h"

#include <string.h>

/* Version 1; a table that is sorted, of pairs of signed 32-bit numbers relative to the header. */
struct frame_header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	uint32_t frame, count;
};
#define ENCODED_U32          0x03 /* DW_EH_PE_udata4 */
#define ENCODED_S32_RELATIVE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

struct frame_row {
	int32_t start, frame;
};

bool function_index_open(const struct elf *elf, struct function_index *ret)
{
	const Elf64_Phdr *segment = elf_segment(elf, PT_GNU_EH_FRAME);
	struct frame_header header;
	const char *bytes;

	if (!segment || segment->p_filesz < sizeof(header))
		return false;
	bytes = elf_at(elf, segment->p_vaddr, sizeof(header));
	if (!bytes)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.version != 1 || header.count_encoding != ENCODED_U32 ||
	    header.table_encoding != ENCODED_S32_RELATIVE ||
	    header.count > (segment->p_filesz - sizeof(header)) / sizeof(struct frame_row))
		return false;
	*ret = (struct function_index){ elf, segment->p_vaddr, header.count };
	return true;
}

bool function_index_at(const struct function_index *index, uint32_t number, uint64_t *ret_start,
		       uint64_t *ret_description)
{
	const uint64_t at = sizeof(struct frame_header) + number * sizeof(struct frame_row);
	struct frame_row row;
	const char *bytes;
	uint64_t address;

	if (number >= index->count || __builtin_add_overflow(index->address, at, &address))
		return false;
	bytes = elf_at(index->elf, address, sizeof(row));
	if (!bytes)
		return false;
	memcpy(&row, bytes, sizeof(row));
	return !__builtin_add_overflow(index->address, row.start, ret_start) &&
	       !__builtin_add_overflow(index->address, row.frame, ret_description);
}

bool function_index_find(const struct function_index *index, uint64_t address, uint32_t *ret)
{
	uint32_t low = 0, high = index->count;

	/* Those below `low` start at or before the address, those from `high` on behind it. */
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		uint64_t start, description;

		if (!function_index_at(index, middle, &start, &description))
			return false;
		if (start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return true;
}
