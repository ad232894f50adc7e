/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/descriptions.h"

#include <elfutils/libdw.h>

#include "base/cleanup.h"
#include "base/radix.h"

/* The parsed form of an entry can be larger than the entry, so their number is bounded. libLLVM has
 * 95,000 functions with one CIE; a linker that does not merge CIEs leaves one per object file. */
#define FUNCTIONS_MAX ((size_t)4 << 20)
#define COMMONS_MAX   ((size_t)256 << 10)

struct cfi_reading {
	struct descriptions *to;
	const struct cfi_machine *machine;
	const struct code *code;
};

static const unsigned char ident[EI_NIDENT] = { [EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB };

static uint64_t address_of(const struct descriptions *d, const uint8_t *at)
{
	return d->section.address + (uint64_t)(at - (const uint8_t *)d->section.bytes.bytes);
}

/* --- what functions have in common --- */

/* The letters behind a "z" (LSB 5, core, 10.6.1.1.1): of pointers only that of addresses is of use.
 * False: there is a letter that is not known, which may mean anything. */
static bool read_augmentation(struct descriptions *d, const Dwarf_CIE *cie,
			      struct cfi_program *program)
{
	struct cursor rest = { cie->augmentation_data,
			       cie->augmentation_data + cie->augmentation_data_size };
	const char *letter = cie->augmentation;
	uint64_t encoding, ignored;

	if (*letter)
		letter++;
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R':
			if (!cursor_fixed(&rest, 1, &encoding))
				return false;
			program->encoding = (uint8_t)encoding;
			break;
		case 'L':
			if (!cursor_skip(&rest, 1))
				return false;
			break;
		case 'P':
			/* For an indirect pointer, this is the size of the pointer to it. */
			if (!cursor_fixed(&rest, 1, &encoding) ||
			    !cursor_pointer(&rest, encoding & 0x7f, address_of(d, rest.at),
					    &ignored))
				return false;
			break;
		case 'S':
			program->is_signal = true;
			break;
		case 'B': /* another key signs return addresses */
		case 'G': /* memory is tagged */
			break;
		default:
			return false;
		}
	}
	return true;
}

/* In version 4 sizes of an address and of a segment's number follow the letters. */
static bool has_our_sizes(const Dwarf_CIE *cie)
{
	const char *behind = cie->augmentation + strlen(cie->augmentation) + 1;

	return cie->augmentation[-1] != 4 || (behind[0] == 8 && behind[1] == 0);
}

static bool add_common(struct cfi_reading *reading, uint64_t offset, const Dwarf_CIE *cie)
{
	struct descriptions *d = reading->to;
	struct common common = { .has_size = *cie->augmentation };
	struct cfi_program *program = &common.program;
	const uint8_t *from = cie->initial_instructions;
	uint32_t *number;

	program->machine = reading->machine;
	program->code_factor = cie->code_alignment_factor;
	program->data_factor = cie->data_alignment_factor;
	program->ra = cie->return_address_register;
	program->encoding = DW_EH_PE_absptr;
	if (!has_our_sizes(cie) || !read_augmentation(d, cie, program) ||
	    from > cie->initial_instructions_end ||
	    cfi_begin(program, (struct text){ (const char *)from,
					      (size_t)(cie->initial_instructions_end - from) }) !=
		    CFI_DONE) {
		d->refused++;
		return true;
	}
	if (d->commons.count == COMMONS_MAX) {
		d->refused++;
		return true;
	}
	number = word_map_at(&d->common_at, (struct words){ { offset } });
	if (!number)
		return false;
	*number = (uint32_t)d->commons.count;
	return array_push(&d->commons, common);
}

/* --- functions --- */

static uint32_t number_of_common(struct descriptions *d, uint64_t offset)
{
	if (offset != d->last_common_at || d->last_common == WORD_MAP_NEW) {
		d->last_common_at = offset;
		d->last_common = word_map_find(&d->common_at, (struct words){ { offset } });
	}
	return d->last_common;
}

static const struct code_range *range_of(const struct cfi_reading *reading, uint64_t address)
{
	const struct code *code = reading->code;

	/* Most files have one range. */
	if (code->count && address >= code->ranges[0].start && address < code->ranges[0].end)
		return &code->ranges[0];
	return code_find(code, address);
}

/* The function of an entry, whose bytes behind the offset of its CIE are `rest`. */
static bool add_description(struct cfi_reading *reading, uint64_t common_at, struct cursor rest)
{
	struct descriptions *d = reading->to;
	uint32_t number = number_of_common(d, common_at);
	const struct common *common = number == WORD_MAP_NEW ? NULL : &d->commons.items[number];
	uint8_t encoding = common ? common->program.encoding : 0;
	const struct code_range *range;
	uint64_t start, size, skipped;

	if (!common || !cursor_pointer(&rest, encoding, address_of(d, rest.at), &start) ||
	    !cursor_pointer(&rest, encoding & 0x07, 0, &size) ||
	    (common->has_size && (!cursor_uleb(&rest, &skipped) || !cursor_skip(&rest, skipped)))) {
		d->refused++;
		return true;
	}
	/* Linkers leave those of functions that they dropped. */
	if (!start || !size)
		return true;
	range = range_of(reading, start);
	if (!range) {
		d->refused++;
		return true;
	}
	if (size > range->end - start)
		size = range->end - start;
	if (d->functions.count == FUNCTIONS_MAX) {
		d->refused++;
		return true;
	}
	return array_push(
		&d->functions,
		(struct description){
			.start = start,
			.end = start + size,
			.instructions =
				(uint32_t)(rest.at - (const uint8_t *)d->section.bytes.bytes),
			.length = (uint32_t)(rest.end - rest.at),
			.common = number,
		});
}

/* --- entries --- */

/*
 * libdw 0.188 reads letters without a size before them as long as there are any, whether their data
 * end before or not. No compiler of today writes such: they are refused before. False, too, when
 * the entry does not fit into the section.
 */
static bool is_readable(const struct descriptions *d, struct cursor entry, bool is_wide)
{
	uint64_t id, version, letter;

	if (!cursor_fixed(&entry, is_wide ? 8 : 4, &id))
		return false;
	if (d->section.is_debug ? id != (is_wide ? UINT64_MAX : UINT32_MAX) : id)
		return true;
	return cursor_fixed(&entry, 1, &version) && cursor_fixed(&entry, 1, &letter) &&
	       (!letter || letter == 'z');
}

/* The entry at the front of `rest`, whose length comes first. False: there is no whole one. */
static bool cut_entry(struct cursor *rest, struct cursor *ret, bool *ret_is_wide)
{
	uint64_t length;

	if (!cursor_fixed(rest, 4, &length))
		return false;
	*ret_is_wide = length == UINT32_MAX;
	if (*ret_is_wide && !cursor_fixed(rest, 8, &length))
		return false;
	ret->at = rest->at;
	if (!cursor_skip(rest, length))
		return false;
	ret->end = rest->at;
	return true;
}

/* False without memory. */
static bool read_entry(struct cfi_reading *reading, uint64_t offset)
{
	const struct text *bytes = &reading->to->section.bytes;
	Elf_Data data = { .d_buf = (void *)(uintptr_t)bytes->bytes, .d_size = bytes->length };
	bool is_loaded = !reading->to->section.is_debug;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (dwarf_next_cfi(ident, &data, is_loaded, offset, &next, &entry)) {
		reading->to->refused++;
		return true;
	}
	return dwarf_cfi_cie_p(&entry)
		       ? add_common(reading, offset, &entry.cie)
		       : add_description(reading, entry.fde.CIE_pointer,
					 (struct cursor){ entry.fde.start, entry.fde.end });
}

/* Nearly all entries are descriptions in the form of 32 bits, which need none of libdw: one of
 * .eh_frame says how far before itself the offset of its CIE is, one of .debug_frame where in the
 * section the CIE is. False: it is none of these, or does not fit, which libdw says. */
static bool cut_description(const struct descriptions *d, struct cursor *entry, bool is_wide,
			    uint64_t *ret_common_at)
{
	const uint64_t at = (uint64_t)(entry->at - (const uint8_t *)d->section.bytes.bytes);
	struct cursor rest = *entry;
	uint64_t id;

	/* Without a byte behind it libdw refuses it. */
	if (is_wide || !cursor_fixed(&rest, 4, &id) || rest.at == rest.end)
		return false;
	if (d->section.is_debug ? id == UINT32_MAX : !id || id > at)
		return false;
	*ret_common_at = d->section.is_debug ? id : at - id;
	*entry = rest;
	return true;
}

static bool read_entries(struct cfi_reading *reading)
{
	struct descriptions *d = reading->to;
	struct cursor rest = cursor_of(d->section.bytes), entry;
	const uint8_t *start = rest.at, *at;
	uint64_t common_at;
	bool is_wide;

	while (rest.at < rest.end) {
		at = rest.at;
		if (!cut_entry(&rest, &entry, &is_wide)) {
			d->refused++;
			break;
		}
		if (entry.at == entry.end) {
			if (d->section.has_end)
				break;
		} else if (cut_description(d, &entry, is_wide, &common_at)) {
			if (!add_description(reading, common_at, entry))
				return false;
		} else if (!is_readable(d, entry, is_wide)) {
			d->refused++;
		} else if (!read_entry(reading, (uint64_t)(at - start))) {
			return false;
		}
	}
	return true;
}

/* --- order --- */

/* Is it by start? `ret_first` is the lowest. */
static bool is_sorted(const struct descriptions *d, uint64_t *ret_first)
{
	uint64_t first = UINT64_MAX, before = 0;
	bool sorted = true;

	for (size_t i = 0; i < d->functions.count; i++) {
		const uint64_t start = d->functions.items[i].start;

		sorted &= start >= before;
		before = start;
		first = start < first ? start : first;
	}
	*ret_first = first;
	return sorted;
}

/* By start, and by where they are in the section, which is their order so far. A linker writes them
 * in the order of object files, whose functions it may have spread over several sections. Starts
 * are less than 4 GiB apart, as is the code. */
static bool sort_functions(struct descriptions *d)
{
	const size_t count = d->functions.count;
	_cleanup_free_ struct radix_key *keys = NULL;
	struct description *sorted;
	const struct radix_key *by_start;
	uint64_t first;

	if (is_sorted(d, &first))
		return true;
	keys = calloc(2 * count, sizeof(*keys));
	sorted = calloc(count, sizeof(*sorted));
	if (!keys || !sorted) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct radix_key){ (uint32_t)(d->functions.items[i].start - first),
					      (uint32_t)i };
	by_start = radix_sort(keys, keys + count, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = d->functions.items[by_start[i].index];
	free(d->functions.items);
	d->functions.items = sorted;
	d->functions.room = count;
	return true;
}

bool descriptions_read(struct descriptions *descriptions, struct frame_section section,
		       const struct cfi_machine *machine, const struct code *code)
{
	struct cfi_reading reading = { descriptions, machine, code };

	*descriptions = (struct descriptions){ .section = section, .last_common = WORD_MAP_NEW };
	return read_entries(&reading) && sort_functions(descriptions);
}

/* --- some of them --- */

/* Are these bytes of the section in memory now? */
static bool are_there(const struct descriptions *d, const struct elf *elf, uint64_t offset,
		      uint64_t size)
{
	return offset <= d->section.bytes.length && size <= d->section.bytes.length - offset &&
	       image_bytes(elf->image, d->section.offset + offset, size).bytes;
}

/* The entry at `offset`, with its length in front. */
static bool cut_entry_at(const struct descriptions *d, const struct elf *elf, uint64_t offset,
			 struct cursor *ret, bool *ret_is_wide)
{
	struct cursor rest = cursor_of(d->section.bytes);
	const uint64_t left = d->section.bytes.length - offset;
	uint64_t length;

	/* As long as the length may be, and what says which kind of entry it is. */
	if (!are_there(d, elf, offset, left < 20 ? left : 20) || !cursor_skip(&rest, offset))
		return false;
	if (!cut_entry(&rest, ret, ret_is_wide))
		return false;
	length = (uint64_t)(ret->end - ret->at);
	return are_there(d, elf, (uint64_t)(ret->at - (const uint8_t *)d->section.bytes.bytes),
			 length);
}

/* False without memory. */
static bool read_common_at(struct cfi_reading *reading, const struct elf *elf, uint64_t offset)
{
	struct descriptions *d = reading->to;
	struct cursor entry;
	bool is_wide;

	if (number_of_common(d, offset) != WORD_MAP_NEW)
		return true;
	if (!cut_entry_at(d, elf, offset, &entry, &is_wide) || !is_readable(d, entry, is_wide))
		return true;
	return read_entry(reading, offset);
}

/* False without memory. */
static bool read_description_at(struct cfi_reading *reading, const struct elf *elf, uint64_t offset)
{
	struct descriptions *d = reading->to;
	struct cursor entry;
	uint64_t common_at;
	bool is_wide;

	if (offset > d->section.bytes.length || !cut_entry_at(d, elf, offset, &entry, &is_wide) ||
	    !cut_description(d, &entry, is_wide, &common_at)) {
		d->refused++;
		return true;
	}
	return read_common_at(reading, elf, common_at) &&
	       add_description(reading, common_at, entry);
}

bool descriptions_read_some(struct descriptions *descriptions, const struct function_index *index,
			    uint32_t first, uint32_t count, const struct cfi_machine *machine,
			    const struct code *code)
{
	struct cfi_reading reading = { descriptions, machine, code };

	*descriptions = (struct descriptions){ .section = frame_section_unread(index->elf),
					       .last_common = WORD_MAP_NEW };
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start, at;

		if (!function_index_at(index, first + i, &start, &at))
			descriptions->refused++;
		else if (!read_description_at(&reading, index->elf,
					      at - descriptions->section.address))
			return false;
	}
	return sort_functions(descriptions);
}

void descriptions_deinit(struct descriptions *descriptions)
{
	frame_section_deinit(&descriptions->section);
	array_deinit(&descriptions->functions);
	array_deinit(&descriptions->commons);
	word_map_deinit(&descriptions->common_at);
	*descriptions = (struct descriptions){ 0 };
}
