/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/code.h"

#include <stdlib.h>

#include "unwind/pool.h"

static int part_by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Join ranges that touch, and drop those beyond `span`. */
static size_t join(struct code_range *ranges, size_t count, uint64_t span)
{
	uint64_t first = count ? ranges[0].start >> UNWIND_BLOCK_BITS << UNWIND_BLOCK_BITS : 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct code_range range = ranges[i];

		if (range.start - first >= span)
			break;
		if (range.end - first > span)
			range.end = first + span;
		if (!kept || range.start > ranges[kept - 1].end)
			ranges[kept++] = range;
		else if (range.end > ranges[kept - 1].end)
			ranges[kept - 1].end = range.end;
	}
	return kept;
}

bool code_init(struct code *code, const struct elf *elf, uint64_t span)
{
	size_t count = 0;

	*code = (struct code){ .ranges = calloc(elf->segment_count + 1, sizeof(*code->ranges)) };
	if (!code->ranges)
		return false;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		struct code_range range = { .start = segment->p_vaddr };

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    !segment->p_filesz ||
		    __builtin_add_overflow(range.start, segment->p_filesz, &range.end))
			continue;
		code->ranges[count++] = range;
	}
	qsort(code->ranges, count, sizeof(*code->ranges), part_by_start);
	code->count = join(code->ranges, count, span);
	return true;
}

/* From the first to the last byte of instructions in the range. */
static struct code_range clip_to_sections(const struct code_range *range, const struct elf *elf)
{
	struct code_range clipped = { .start = range->end, .end = range->start };

	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *section = &elf->sections[i];
		const uint64_t start = section->sh_addr;

		if (!(section->sh_flags & SHF_EXECINSTR) || section->sh_type == SHT_NOBITS ||
		    !section->sh_size || start < range->start || start >= range->end ||
		    section->sh_size > range->end - start)
			continue;
		if (start < clipped.start)
			clipped.start = start;
		if (start + section->sh_size > clipped.end)
			clipped.end = start + section->sh_size;
	}
	return clipped.start < clipped.end ? clipped : *range;
}

/* A search of all sections for each range is only worth it in usual files. */
#define RANGES_USUAL 16

bool code_init_instructions(struct code *instructions, const struct code *code,
			    const struct elf *elf)
{
	*instructions = (struct code){ .ranges = calloc(code->count + 1, sizeof(*code->ranges)),
				       .count = code->count };
	if (!instructions->ranges)
		return false;
	for (size_t i = 0; i < code->count; i++)
		instructions->ranges[i] = code->count > RANGES_USUAL
						  ? code->ranges[i]
						  : clip_to_sections(&code->ranges[i], elf);
	return true;
}

void code_deinit(struct code *code)
{
	free(code->ranges);
	*code = (struct code){ 0 };
}

const struct code_range *code_find(const struct code *code, uint64_t address)
{
	size_t low = 0, high = code->count;

	/* Ranges below `low` start at or before the address, those from `high` on after it. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < code->ranges[low - 1].end ? &code->ranges[low - 1] : NULL;
}
