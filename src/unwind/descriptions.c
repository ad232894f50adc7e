/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/descriptions.h"

#include <elfutils/libdw.h>

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

static bool add_description(struct cfi_reading *reading, const Dwarf_FDE *fde)
{
	struct descriptions *d = reading->to;
	struct cursor rest = { fde->start, fde->end };
	uint32_t number = word_map_find(&d->common_at, (struct words){ { fde->CIE_pointer } });
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
	range = code_find(reading->code, start);
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
				(uint64_t)(rest.at - (const uint8_t *)d->section.bytes.bytes),
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
	return dwarf_cfi_cie_p(&entry) ? add_common(reading, offset, &entry.cie)
				       : add_description(reading, &entry.fde);
}

static bool read_entries(struct cfi_reading *reading)
{
	struct descriptions *d = reading->to;
	struct cursor rest = cursor_of(d->section.bytes), entry;
	const uint8_t *start = rest.at, *at;
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
		} else if (!is_readable(d, entry, is_wide)) {
			d->refused++;
		} else if (!read_entry(reading, (uint64_t)(at - start))) {
			return false;
		}
	}
	return true;
}

static int description_by_start(const void *a, const void *b)
{
	const struct description *x = a, *y = b;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	return (x->instructions > y->instructions) - (x->instructions < y->instructions);
}

bool descriptions_read(struct descriptions *descriptions, struct frame_section section,
		       const struct cfi_machine *machine, const struct code *code)
{
	struct cfi_reading reading = { descriptions, machine, code };

	*descriptions = (struct descriptions){ .section = section };
	if (!read_entries(&reading))
		return false;
	if (descriptions->functions.count)
		qsort(descriptions->functions.items, descriptions->functions.count,
		      sizeof(*descriptions->functions.items), description_by_start);
	return true;
}

void descriptions_deinit(struct descriptions *descriptions)
{
	frame_section_deinit(&descriptions->section);
	array_deinit(&descriptions->functions);
	array_deinit(&descriptions->commons);
	word_map_deinit(&descriptions->common_at);
	*descriptions = (struct descriptions){ 0 };
}
