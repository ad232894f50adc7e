/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_part.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/dwarf_bounds.h"
#include "elf/dwarf_cursor.h"

/* --- which units have the addresses --- */

/* The largest programs have some megabytes of ranges. */
#define RANGE_BYTES_MAX ((uint64_t)32 << 20)

struct unit {
	uint64_t at;                   /* in .debug_info */
	uint64_t abbreviations, lines; /* offsets; NO_LINES */
	size_t offset_size;
	bool is_compile; /* others have no lines that are read */
	struct text entries;
};

#define NO_LINES UINT64_MAX

/* That have any of the addresses. */
struct units {
	ARRAY(struct unit);
};

struct unit_search {
	const uint64_t *addresses; /* sorted */
	size_t count;
	/* For each address: the index itself while the address is missing; once found, a later
	 * index (find_missing()). */
	uint32_t *next;
	size_t found;
	struct units *units;
};

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The first address that is not below `start`. */
static size_t first_from(const struct unit_search *search, uint64_t start)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (search->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first address from there on that was not found yet; skips found ones at once. */
static size_t find_missing(uint32_t *next, size_t from)
{
	while (next[from] != from)
		from = next[from] = next[next[from]];
	return from;
}

static bool add_unit_range(struct unit_search *search, uint64_t unit, uint64_t start, uint64_t end)
{
	struct units *units = search->units;

	/* A look-up may use the byte after an address instead, so ranges that begin there count. */
	const size_t touched = first_from(search, start ? start - 1 : 0);

	if (touched == search->count || search->addresses[touched] >= end)
		return true;
	/* The ranges of a unit follow each other. */
	if ((!units->count || units->items[units->count - 1].at != unit) &&
	    (units->count >= DEBUG_UNITS_MAX ||
	     !array_push(units, (struct unit){ .at = unit, .lines = NO_LINES })))
		return false;
	for (size_t i = find_missing(search->next, first_from(search, start));
	     i < search->count && search->addresses[i] < end; i = find_missing(search->next, i)) {
		search->next[i] = (uint32_t)i + 1;
		search->found++;
	}
	return true;
}

/* A set of ranges of one unit (DWARF 5, 6.1.2): pairs of an address and a length, to a pair of
 * zeros, each where a multiple of its size is from the start of the set. */
static bool read_range_set(struct unit_search *search, struct text *rest)
{
	const char *begin = rest->bytes;
	uint64_t length, version, unit, address_size, segment_size, start, bytes;
	struct text set;
	size_t offset_size, padding;

	if (!dwarf_cut_length(rest, &length, &offset_size) || length > rest->length)
		return false;
	set = (struct text){ rest->bytes, (size_t)length };
	rest->bytes += length;
	rest->length -= (size_t)length;
	if (!dwarf_cut_fixed(&set, 2, &version) || version != 2 ||
	    !dwarf_cut_fixed(&set, offset_size, &unit) ||
	    !dwarf_cut_fixed(&set, 1, &address_size) || address_size != sizeof(uint64_t) ||
	    !dwarf_cut_fixed(&set, 1, &segment_size) || segment_size)
		return false;
	padding = (size_t)(begin - set.bytes) & 15;
	if (padding > set.length)
		return false;
	set.bytes += padding;
	set.length -= padding;
	while (dwarf_cut_fixed(&set, 8, &start) && dwarf_cut_fixed(&set, 8, &bytes) &&
	       (start || bytes))
		if (start && bytes <= UINT64_MAX - start &&
		    !add_unit_range(search, unit, start, start + bytes))
			return false;
	return true;
}

static bool search_ranges(const struct elf *elf, struct unit_search *search)
{
	struct dwarf_section ranges;
	bool is_read = dwarf_section_open(elf, ".debug_aranges", &ranges);
	_cleanup_free_ char *bytes =
		is_read && ranges.size <= RANGE_BYTES_MAX ? malloc(ranges.size) : NULL;
	struct text rest;

	ranges.bytes = bytes;
	is_read = bytes && dwarf_section_read(&ranges, ranges.size);
	rest = dwarf_section_from(&ranges, 0);
	while (is_read && rest.length)
		is_read = read_range_set(search, &rest);
	dwarf_section_close(&ranges);
	return is_read && search->found == search->count;
}

/* The most bytes of the function where a program begins, which is a part of the C library without
 * debug information. */
#define START_BYTES 64

/* Code that linkers make, or start with: no unit has it. */
static bool is_without_unit(const struct elf *elf, uint64_t address)
{
	static const char *const stubs[] = { ".plt", ".plt.sec", ".plt.got" };

	if (elf->entry && address >= elf->entry && address - elf->entry < START_BYTES)
		return true;
	for (size_t i = 0; i < array_length(stubs); i++) {
		const Elf64_Shdr *section = elf_section_header(elf, stubs[i]);

		if (section && address >= section->sh_addr &&
		    address - section->sh_addr < section->sh_size)
			return true;
	}
	return false;
}

/* False: an address belongs to no known unit, or none of them has a unit at all. */
static bool find_units(const struct elf *elf, const struct dwarf_addresses *addresses,
		       struct units *units)
{
	const size_t room = addresses->count;
	_cleanup_free_ uint64_t *sorted = malloc((room + 1) * sizeof(*sorted));
	_cleanup_free_ uint32_t *next = malloc((room + 1) * sizeof(*next));
	struct unit_search search = { .addresses = sorted, .next = next, .units = units };

	if (room >= UINT32_MAX || !sorted || !next)
		return false;
	for (size_t i = 0; i < room; i++)
		if (!is_without_unit(elf, addresses->items[i]))
			sorted[search.count++] = addresses->items[i];
	qsort(sorted, search.count, sizeof(*sorted), by_address);
	for (size_t i = 0; i <= search.count; i++)
		next[i] = (uint32_t)i;
	return search.count && search_ranges(elf, &search);
}

/* --- what the units need --- */

static int by_place(const void *a, const void *b)
{
	const uint64_t x = ((const struct unit *)a)->at, y = ((const struct unit *)b)->at;

	return (x > y) - (x < y);
}

static int by_table(const void *a, const void *b)
{
	const uint64_t x = ((const struct unit *)a)->abbreviations,
		       y = ((const struct unit *)b)->abbreviations;

	return (x > y) - (x < y);
}

static int by_lines(const void *a, const void *b)
{
	const uint64_t x = ((const struct unit *)a)->lines, y = ((const struct unit *)b)->lines;

	return (x > y) - (x < y);
}

/* Read what begins with its length, at that offset: `ret` is what follows the length. */
static bool read_lengthy(struct dwarf_section *section, uint64_t at, struct text *ret,
			 size_t *ret_offset_size)
{
	uint64_t length;
	struct text rest;

	if (at > section->size ||
	    !dwarf_section_read(section, section->size - at < 12 ? section->size : at + 12))
		return false;
	rest = dwarf_section_from(section, at);
	if (!dwarf_cut_length(&rest, &length, ret_offset_size) || length > section->size ||
	    !dwarf_section_read(section, section->to - rest.length + length))
		return false;
	*ret = (struct text){ rest.bytes, (size_t)length };
	return true;
}

/* The unit itself, with its header (DWARF 5, 7.5.1). */
static bool read_unit(struct dwarf_section *info, struct unit *unit)
{
	uint64_t version, type = DW_UT_compile, address_size;
	struct text rest;
	bool is_read;

	if (!dwarf_section_skip(info, unit->at, true) ||
	    !read_lengthy(info, unit->at, &rest, &unit->offset_size) ||
	    !dwarf_cut_fixed(&rest, 2, &version) || version < 2 || version > 5)
		return false;
	if (version < 5)
		is_read = dwarf_cut_fixed(&rest, unit->offset_size, &unit->abbreviations) &&
			  dwarf_cut_fixed(&rest, 1, &address_size);
	else
		is_read = dwarf_cut_fixed(&rest, 1, &type) &&
			  dwarf_cut_fixed(&rest, 1, &address_size) &&
			  dwarf_cut_fixed(&rest, unit->offset_size, &unit->abbreviations);
	unit->is_compile = type == DW_UT_compile;
	unit->entries = rest;
	return is_read && address_size == sizeof(uint64_t);
}

/* A table of abbreviations has no length: read on until its end is there. */
static bool measure_table(struct dwarf_section *abbrev, uint64_t offset, struct abbreviations *ret)
{
	const uint64_t step = 4 << 10;

	while (!dwarf_measure_abbreviations(dwarf_section_from(abbrev, offset), 0, ret)) {
		const uint64_t left = abbrev->size - abbrev->to;

		/* Tables are small, and a file of one large one is not worth the search. */
		if (!left || abbrev->to - offset > 256 * step ||
		    !dwarf_section_read(abbrev, abbrev->to + (left < step ? left : step)))
			return false;
	}
	return true;
}

/* How many bytes the value of a form has (DWARF 5, 7.5.6), or one of the four constants below; only
 * forms that entries of units use. */
enum { IN_OFFSET_SIZE = 0x80, IN_LEB128, IN_STRING, IN_NOTHING };

static const uint8_t form_sizes[] = {
	[DW_FORM_addr] = 8,
	[DW_FORM_data1] = 1,
	[DW_FORM_data2] = 2,
	[DW_FORM_data4] = 4,
	[DW_FORM_data8] = 8,
	[DW_FORM_flag] = 1,
	[DW_FORM_flag_present] = IN_NOTHING,
	[DW_FORM_implicit_const] = IN_NOTHING,
	[DW_FORM_string] = IN_STRING,
	[DW_FORM_strp] = IN_OFFSET_SIZE,
	[DW_FORM_line_strp] = IN_OFFSET_SIZE,
	[DW_FORM_sec_offset] = IN_OFFSET_SIZE,
	[DW_FORM_udata] = IN_LEB128,
	[DW_FORM_sdata] = IN_LEB128,
	[DW_FORM_strx] = IN_LEB128,
	[DW_FORM_addrx] = IN_LEB128,
	[DW_FORM_rnglistx] = IN_LEB128,
	[DW_FORM_strx1] = 1,
	[DW_FORM_strx2] = 2,
	[DW_FORM_strx4] = 4,
	[DW_FORM_addrx1] = 1,
	[DW_FORM_addrx2] = 2,
	[DW_FORM_addrx4] = 4,
};

/* `ret` is the value where it is a number in bytes or an offset. */
static bool cut_form(struct text *rest, uint64_t form, size_t offset_size, uint64_t *ret)
{
	const uint8_t size = form < array_length(form_sizes) ? form_sizes[form] : 0;
	struct text string;

	switch (size) {
	case 0:
		return false;
	case IN_NOTHING:
		return true;
	case IN_STRING:
		return rest->length && text_cut(rest, 0, &string);
	case IN_LEB128:
		return dwarf_cut_leb128(rest, DWARF_CONSTANT_MAX, ret);
	case IN_OFFSET_SIZE:
		return dwarf_cut_fixed(rest, offset_size, ret);
	default:
		return dwarf_cut_fixed(rest, size, ret);
	}
}

/* Move to the attributes of the abbreviation with that code, in a table that was measured. */
static bool find_abbreviation(struct text *table, uint64_t wanted)
{
	uint64_t code, tag, children, name, form, constant;

	while (dwarf_cut_leb128(table, DWARF_SMALL_MAX, &code) && code &&
	       dwarf_cut_leb128(table, DWARF_SMALL_MAX, &tag) &&
	       dwarf_cut_leb128(table, 1, &children)) {
		if (code == wanted)
			return true;
		do {
			if (!dwarf_cut_leb128(table, DWARF_SMALL_MAX, &name) ||
			    !dwarf_cut_leb128(table, DWARF_SMALL_MAX, &form) ||
			    (form == DW_FORM_implicit_const &&
			     !dwarf_cut_leb128(table, DWARF_CONSTANT_MAX, &constant)))
				return false;
		} while (name);
	}
	return false;
}

/* Where the lines of a unit are, by its first entry. */
static bool find_lines(struct unit *unit, struct text table)
{
	struct text entry = unit->entries;
	uint64_t code, name, form, constant, value = 0;

	if (!dwarf_cut_leb128(&entry, DWARF_SMALL_MAX, &code) || !find_abbreviation(&table, code))
		return false;
	for (;;) {
		if (!dwarf_cut_leb128(&table, DWARF_SMALL_MAX, &name) ||
		    !dwarf_cut_leb128(&table, DWARF_SMALL_MAX, &form) ||
		    (form == DW_FORM_implicit_const &&
		     !dwarf_cut_leb128(&table, DWARF_CONSTANT_MAX, &constant)))
			return false;
		if (!name)
			return true;
		if (!cut_form(&entry, form, unit->offset_size, &value))
			return false;
		if (name == DW_AT_stmt_list) {
			unit->lines = value;
			return true;
		}
	}
}

/* Units often share a table. */
static bool read_tables(struct dwarf_section *abbrev, struct units *units)
{
	struct abbreviations table = { 0 };
	uint64_t bytes = 0;

	qsort(units->items, units->count, sizeof(*units->items), by_table);
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->items[i];
		const uint64_t at = unit->abbreviations;

		if (!i || at != units->items[i - 1].abbreviations) {
			if (at >= abbrev->to && !dwarf_section_skip(abbrev, at, false))
				return false;
			if (!measure_table(abbrev, at, &table))
				return false;
		}
		bytes += table.length;
		if (table.has_references || bytes > DEBUG_ABBREVIATIONS_MAX ||
		    (unit->is_compile && !find_lines(unit, dwarf_section_from(abbrev, at))))
			return false;
	}
	return true;
}

static bool read_lines(struct dwarf_section *line, struct units *units)
{
	struct text program;
	size_t offset_size;

	qsort(units->items, units->count, sizeof(*units->items), by_lines);
	for (size_t i = 0; i < units->count && units->items[i].lines != NO_LINES; i++) {
		const uint64_t at = units->items[i].lines;

		if (at >= line->to && !dwarf_section_skip(line, at, false))
			return false;
		if (!read_lengthy(line, at, &program, &offset_size))
			return false;
	}
	return true;
}

/* A unit may have several sets of ranges. */
static void drop_repetitions(struct units *units)
{
	size_t kept = 0;

	for (size_t i = 0; i < units->count; i++)
		if (!kept || units->items[i].at != units->items[kept - 1].at)
			units->items[kept++] = units->items[i];
	units->count = kept;
}

static bool read_units(struct dwarf_section *info, struct units *units)
{
	qsort(units->items, units->count, sizeof(*units->items), by_place);
	drop_repetitions(units);
	for (size_t i = 0; i < units->count; i++)
		if (!read_unit(info, &units->items[i]))
			return false;
	return true;
}

bool dwarf_part_read(const struct elf *elf, const struct dwarf_addresses *addresses,
		     struct dwarf_section *info, struct dwarf_section *abbrev,
		     struct dwarf_section *line)
{
	struct units units = { 0 };
	bool is_read = info->image && abbrev->image && line->image &&
		       find_units(elf, addresses, &units) && read_units(info, &units) &&
		       read_tables(abbrev, &units) && read_lines(line, &units);

	array_deinit(&units);
	return is_read;
}
