/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/struct_fields.h"

#include <dwarf.h>

#include "elf/dwarf_bounds.h"
#include "elf/dwarf_file.h"

#define MEMBERS_MAX 8

/*
 * The limit on work for a file: bytes of debug information that are read, each time that they are
 * read, plus a charge for attributes that take no bytes. Entries may overlap, so a small file can
 * have many long paths through it. The C part of a large program is a tenth of this.
 */
#define WORK_MAX ((uint64_t)1 << 28)

/* Bytes of abbreviations: what libdw makes of one is ten times as large, and all of it is kept. */
#define ABBREVIATIONS_MAX ((uint64_t)8 << 20)

/* Units, of each of which libdw keeps a kilobyte. */
#define UNITS_MAX ((uint64_t)128 << 10)

struct field_search {
	const struct struct_fields *wanted;
	struct text abbreviations;
	/* Amounts used of the bounds above. */
	uint64_t work, abbreviation_bytes, units;
	/* The end of the unit being searched. */
	Dwarf_Off unit_end;
	uint64_t weight; /* of a byte of it */
	uint64_t found[MEMBERS_MAX];
	enum struct_fields_answer answer;
};

static bool is_budget_spent(const struct field_search *search)
{
	return search->answer == FIELDS_SEVERAL || search->answer == FIELDS_REFUSED;
}

/* `bytes` may be any number: the end of a unit is what its header says. */
static void spend_budget(struct field_search *search, uint64_t bytes)
{
	uint64_t cost;

	if (__builtin_mul_overflow(bytes, search->weight, &cost) || cost > WORK_MAX - search->work)
		search->answer = FIELDS_REFUSED;
	else
		search->work += cost;
}

/* To the next entry on the same level, over all that are below this one. */
static bool next_sibling(struct field_search *search, Dwarf_Die *entry)
{
	Dwarf_Off from = dwarf_dieoffset(entry), to = search->unit_end;
	bool is_there = dwarf_siblingof(entry, entry) == 0;

	if (is_there)
		to = dwarf_dieoffset(entry);
	if (to <= from)
		search->answer = FIELDS_REFUSED;
	else
		spend_budget(search, to - from);
	return is_there && !is_budget_spent(search);
}

/* libdw's convenience functions (dwarf_diename, dwarf_srclang) must not be used: they follow
 * references to other files, which an attacker may choose. */
static const char *entry_name(Dwarf_Die *entry)
{
	Dwarf_Attribute name;

	return dwarf_attr(entry, DW_AT_name, &name) ? dwarf_formstring(&name) : NULL;
}

/* A constant; before DWARF 3 an expression that adds one, here of two bytes at most: 128 * 128 is
 * more than any of these structures has. */
static bool member_offset(Dwarf_Die *member, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Block block;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
		return false;
	if (dwarf_formudata(&attribute, &value) == 0) {
		*ret = value;
		return true;
	}
	if (dwarf_formblock(&attribute, &block) || block.length < 2 || block.length > 3 ||
	    block.data[0] != DW_OP_plus_uconst)
		return false;
	*ret = block.data[1] & 0x7f;
	if (block.length == 3)
		*ret |= (uint64_t)block.data[2] << 7;
	return true;
}

/* All members that are wanted, or nothing. */
static bool read_members(struct field_search *search, Dwarf_Die *structure, uint64_t *ret)
{
	const struct struct_fields *wanted = search->wanted;
	Dwarf_Die member;
	size_t found = 0;

	if (dwarf_child(structure, &member))
		return false;
	do {
		const char *name = entry_name(&member);

		for (size_t i = 0; name && i < wanted->count; i++)
			if (strcmp(name, wanted->members[i]) == 0 &&
			    dwarf_tag(&member) == DW_TAG_member)
				found += member_offset(&member, &ret[i]);
	} while (next_sibling(search, &member));
	return found == wanted->count && !is_budget_spent(search);
}

static void take_structure(struct field_search *search, Dwarf_Die *structure)
{
	uint64_t offsets[MEMBERS_MAX] = { 0 };

	if (!read_members(search, structure, offsets))
		return;
	if (search->answer == FIELDS_NONE) {
		memcpy(search->found, offsets, sizeof(offsets));
		search->answer = FIELDS_ONE;
	} else if (memcmp(search->found, offsets, sizeof(offsets)) != 0) {
		search->answer = FIELDS_SEVERAL;
	}
}

/* Units in another language have no structure of C, and a large program most units in C++ or Rust.
 * What several units share (partial units) may name no language. */
static bool may_be_c(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word language;

	if (!dwarf_attr(unit, DW_AT_language, &attribute) || dwarf_formudata(&attribute, &language))
		return true;
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17, which <dwarf.h> of elfutils 0.188 does not have yet */
		return true;
	default:
		return false;
	}
}

static void search_unit(struct field_search *search, Dwarf_Die *unit)
{
	Dwarf_Die entry;

	if (!may_be_c(unit) || dwarf_child(unit, &entry))
		return;
	do {
		const char *name;

		if (dwarf_tag(&entry) != DW_TAG_structure_type)
			continue;
		name = entry_name(&entry);
		if (name && strcmp(name, search->wanted->structure) == 0)
			take_structure(search, &entry);
	} while (!is_budget_spent(search) && next_sibling(search, &entry));
}

/* Before libdw looks at the unit: it reads abbreviations until it finds the one of an entry. */
static bool may_be_searched(struct field_search *search, Dwarf_Off abbreviations)
{
	struct abbreviations table;

	if (++search->units > UNITS_MAX ||
	    !dwarf_measure_abbreviations(search->abbreviations, abbreviations, &table))
		return false;
	search->weight = 1 + table.most_free;
	search->abbreviation_bytes += table.length;
	return search->abbreviation_bytes <= ABBREVIATIONS_MAX;
}

static void search_units(struct field_search *search, Dwarf *dwarf)
{
	Dwarf_Off at = 0, next, abbreviations;
	size_t header;

	for (; !is_budget_spent(search) &&
	       dwarf_nextcu(dwarf, at, &next, &header, &abbreviations, NULL, NULL) == 0;
	     at = next) {
		Dwarf_Die unit;

		if (next <= at || !may_be_searched(search, abbreviations)) {
			search->answer = FIELDS_REFUSED;
			return;
		}
		search->unit_end = next;
		if (dwarf_offdie(dwarf, at + header, &unit))
			search_unit(search, &unit);
	}
}

/* --- the file --- */

enum struct_fields_answer struct_fields_find(struct image *image,
					     const struct struct_fields *wanted, uint64_t *ret)
{
	struct field_search search = { .wanted = wanted };
	struct dwarf_file file;
	enum dwarf_file_answer opened;

	if (wanted->count > MEMBERS_MAX)
		return FIELDS_NONE;
	opened = dwarf_file_open(image, NULL, &file);
	if (opened != DWARF_FILE_OPEN)
		return opened == DWARF_FILE_NONE ? FIELDS_NONE : FIELDS_REFUSED;
	search.abbreviations = file.abbreviations;
	search_units(&search, file.dwarf);
	dwarf_file_close(&file);
	if (search.answer == FIELDS_ONE)
		memcpy(ret, search.found, wanted->count * sizeof(*ret));
	return search.answer;
}
