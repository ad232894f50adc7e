/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/inlined.h"

#include <dwarf.h>

#include "base/array.h"
#include "elf/dwarf_bounds.h"
#include "elf/dwarf_file.h"

/* Bytes of lines, of each of which libdw makes up to 80. */
#define LINES_MAX ((uint64_t)8 << 20)

/* Ranges of addresses that are kept, and what one of them costs. */
#define RANGES_MAX ((size_t)4 << 20)
#define RANGE_COST 16

/* Entries inside of each other. */
#define DEPTH_MAX 200

/* From an entry to the one that has its name: a copy, its origin, what that specifies. */
#define HOPS_MAX 8

/* Estimates of the bytes that libdw allocates for each compilation unit, and for each byte of line
 * tables. */
#define UNIT_BYTES 1024
#define LINE_BYTES 16

/* A range of addresses, and the unit or entry that it belongs to. */
struct range {
	uint64_t start, end;
	uint64_t owner; /* a number of a unit, or the offset of an entry */
	uint32_t depth;
};

struct inlined_ranges {
	ARRAY(struct range);
};

struct inlined_unit {
	Dwarf_Off entry;
	unsigned weight;     /* of a byte of it */
	uint64_t line_bytes; /* 0: it has none that may be read */
	bool has_read_lines;
	bool is_looked_through;
	struct inlined_ranges functions; /* once looked through */
};

struct inlined {
	struct dwarf_file file;
	uint64_t *work;
	struct {
		ARRAY(struct inlined_unit);
	} units;
	struct inlined_ranges unit_ranges;
	struct inlined_unit *unit; /* that is walked */
	/* The function of the last query. */
	Dwarf_Off function;
	struct inlined_ranges inside;
	size_t range_count;  /* of all that are kept */
	uint64_t line_bytes; /* that were read */
	bool has_no_memory;
};

static bool spend_bytes(struct inlined *inlined, uint64_t bytes)
{
	uint64_t weight = inlined->unit ? inlined->unit->weight : 1, cost;

	if (__builtin_mul_overflow(bytes, weight, &cost) || cost > *inlined->work) {
		*inlined->work = 0;
		return false;
	}
	*inlined->work -= cost;
	return true;
}

/* --- what stands in entries --- */

/* Is the reference within this file, and not to a type unit? */
static bool is_here(Dwarf_Attribute *attribute)
{
	switch (dwarf_whatform(attribute)) {
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_strp_sup:
	case DW_FORM_ref_sig8:
		return false;
	default:
		return true;
	}
}

static const char *string_of(Dwarf_Die *entry, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, name, &attribute) && is_here(&attribute)
		       ? dwarf_formstring(&attribute)
		       : NULL;
}

static uint64_t unsigned_attribute(Dwarf_Die *entry, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(entry, name, &attribute) && dwarf_formudata(&attribute, &value) == 0
		       ? value
		       : 0;
}

static bool resolve_reference(Dwarf_Die *entry, unsigned name, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, name, &attribute) && is_here(&attribute) &&
	       dwarf_formref_die(&attribute, ret);
}

/* The name of linkage, wherever it stands, else the plain one. */
static const char *linkage_name(struct inlined *inlined, Dwarf_Die *entry)
{
	static const unsigned linkage[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	Dwarf_Die here = *entry, next;
	const char *plain = NULL;

	for (unsigned hops = 0; hops < HOPS_MAX && spend_bytes(inlined, 16); hops++) {
		for (size_t i = 0; i < array_length(linkage); i++) {
			const char *name = string_of(&here, linkage[i]);

			if (name)
				return name;
		}
		if (!plain)
			plain = string_of(&here, DW_AT_name);
		if (!resolve_reference(&here, DW_AT_abstract_origin, &next) &&
		    !resolve_reference(&here, DW_AT_specification, &next))
			break;
		here = next;
	}
	return plain;
}

/* Add the ranges of an entry. */
static void add_ranges(struct inlined *inlined, Dwarf_Die *entry, uint64_t owner, uint32_t depth,
		       struct inlined_ranges *ranges)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(entry, at, &base, &start, &end)) > 0 &&
	       spend_bytes(inlined, RANGE_COST)) {
		/* Code that the linker has discarded starts at 0. */
		if (!start || start >= end || inlined->range_count >= RANGES_MAX)
			continue;
		inlined->range_count++;
		if (!array_push(ranges, (struct range){ start, end, owner, depth }))
			inlined->has_no_memory = true;
	}
}

static int range_by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/* The largest number of earlier ranges that are checked for whether they reach an address. */
#define OVERLAPS_MAX 32

/* The shortest way to one that has the address, when they are sorted. */
static const struct range *find_range(const struct inlined_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < OVERLAPS_MAX && back < low; back++)
		if (address < ranges->items[low - 1 - back].end)
			return &ranges->items[low - 1 - back];
	return NULL;
}

static void sort_ranges(struct inlined_ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), range_by_start);
}

/* --- units --- */

static uint64_t measure_lines(const struct inlined *inlined, Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	uint64_t bytes;

	return dwarf_attr(entry, DW_AT_stmt_list, &attribute) &&
			       dwarf_formudata(&attribute, &offset) == 0 &&
			       dwarf_measure_lines(inlined->file.lines, offset, &bytes)
		       ? bytes
		       : 0;
}

/* Skeletons have their entries in another file. */
static bool is_compile_unit(Dwarf_Die *entry)
{
	uint8_t type = 0;

	return dwarf_cu_info(entry->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       type == DW_UT_compile;
}

static void add_unit(struct inlined *inlined, Dwarf_Off at, unsigned weight)
{
	struct inlined_unit unit = { .entry = at, .weight = weight };
	Dwarf_Die entry;

	if (!dwarf_offdie(inlined->file.dwarf, at, &entry) || !is_compile_unit(&entry))
		return;
	unit.line_bytes = measure_lines(inlined, &entry);
	add_ranges(inlined, &entry, inlined->units.count, 0, &inlined->unit_ranges);
	if (!array_push(&inlined->units, unit))
		inlined->has_no_memory = true;
}

/* Measured before libdw looks into it, for it reads abbreviations until it finds the one of an
 * entry. An entry may refer to any unit, so all are measured. Units often share a table (dwz). */
struct measured {
	Dwarf_Off offset;
	struct abbreviations table;
	uint64_t bytes, units;
	bool any;
};

static bool measure(struct inlined *inlined, Dwarf_Off offset, struct measured *measured)
{
	if (!measured->any || measured->offset != offset) {
		if (!dwarf_measure_abbreviations(inlined->file.abbreviations, offset,
						 &measured->table))
			return false;
		measured->offset = offset;
		measured->any = true;
	}
	measured->bytes += measured->table.length;
	return ++measured->units <= DEBUG_UNITS_MAX && measured->bytes <= DEBUG_ABBREVIATIONS_MAX &&
	       spend_bytes(inlined, measured->table.length + 64);
}

static bool read_units(struct inlined *inlined)
{
	struct measured measured = { 0 };
	Dwarf_Off at = 0, next, abbreviations;
	size_t header;

	for (;
	     dwarf_nextcu(inlined->file.dwarf, at, &next, &header, &abbreviations, NULL, NULL) == 0;
	     at = next)
		if (next <= at || !measure(inlined, abbreviations, &measured))
			return false;
	measured = (struct measured){ 0 };
	for (at = 0;
	     dwarf_nextcu(inlined->file.dwarf, at, &next, &header, &abbreviations, NULL, NULL) == 0;
	     at = next) {
		if (!measure(inlined, abbreviations, &measured))
			return false;
		add_unit(inlined, at + header, 1 + measured.table.most_free);
	}
	sort_ranges(&inlined->unit_ranges);
	return inlined->unit_ranges.count && !inlined->has_no_memory;
}

/* --- walking --- */

/* An entry may say where the next one on its level is; else libdw goes through all below it. */
#define JUMP_COST 32

static bool next_sibling(struct inlined *inlined, Dwarf_Die *entry, unsigned depth,
			 Dwarf_Off *ret_last);

/* The last entry below this one, or itself: as far as libdw went to see that there is no next. */
static Dwarf_Off last_below(struct inlined *inlined, Dwarf_Die *entry, unsigned depth)
{
	Dwarf_Off last = dwarf_dieoffset(entry);
	Dwarf_Die below;

	if (depth > DEPTH_MAX)
		*inlined->work = 0;
	if (!*inlined->work || dwarf_child(entry, &below))
		return last;
	while (next_sibling(inlined, &below, depth + 1, &last))
		;
	return last;
}

/* Move to the next entry on the same level, over all descendants. If there is none, return the last
 * descendant. */
static bool next_sibling(struct inlined *inlined, Dwarf_Die *entry, unsigned depth,
			 Dwarf_Off *ret_last)
{
	Dwarf_Off from = dwarf_dieoffset(entry), to;
	Dwarf_Die next;
	bool is_there = dwarf_siblingof(entry, &next) == 0;
	bool jumps = dwarf_hasattr(entry, DW_AT_sibling);

	if (is_there)
		to = dwarf_dieoffset(&next);
	else
		to = 1 + (jumps ? from : last_below(inlined, entry, depth));
	if (to <= from) {
		*inlined->work = 0;
		return false;
	}
	if (!spend_bytes(inlined, jumps || to - from < JUMP_COST ? JUMP_COST : to - from))
		return false;
	if (is_there)
		*entry = next;
	else
		*ret_last = to - 1;
	return is_there;
}

/* The same where the end does not matter. */
static bool next_of(struct inlined *inlined, Dwarf_Die *entry)
{
	Dwarf_Off last;

	return next_sibling(inlined, entry, 0, &last);
}

/* All functions that have code. Nested ones too, which follow the one they are in. */
static void collect_functions(struct inlined *inlined, Dwarf_Die *above, unsigned depth)
{
	Dwarf_Die entry;

	if (depth > DEPTH_MAX || dwarf_child(above, &entry))
		return;
	do {
		int tag = dwarf_tag(&entry);

		if (tag == DW_TAG_subprogram)
			add_ranges(inlined, &entry, dwarf_dieoffset(&entry), depth,
				   &inlined->unit->functions);
		/* Functions in functions are rare, and looking for them doubles the walk; C has
		 * none, and compilers of C++ and Rust place them outside. */
		if (tag == DW_TAG_namespace || tag == DW_TAG_module)
			collect_functions(inlined, &entry, depth + 1);
	} while (next_of(inlined, &entry));
}

/* All that was put into a function, each before what was put into it. */
static void collect_inlined(struct inlined *inlined, Dwarf_Die *above, uint32_t depth,
			    unsigned nesting)
{
	Dwarf_Die entry;

	if (nesting > DEPTH_MAX || dwarf_child(above, &entry))
		return;
	do {
		int tag = dwarf_tag(&entry);

		if (tag == DW_TAG_inlined_subroutine)
			add_ranges(inlined, &entry, dwarf_dieoffset(&entry), depth + 1,
				   &inlined->inside);
		if (tag == DW_TAG_inlined_subroutine)
			collect_inlined(inlined, &entry, depth + 1, nesting + 1);
		else if (tag == DW_TAG_lexical_block)
			collect_inlined(inlined, &entry, depth, nesting + 1);
	} while (next_of(inlined, &entry));
}

static struct inlined_unit *unit_at(struct inlined *inlined, uint64_t address)
{
	const struct range *range = find_range(&inlined->unit_ranges, address);
	Dwarf_Die entry;

	if (!range)
		return NULL;
	inlined->unit = &inlined->units.items[range->owner];
	if (!inlined->unit->is_looked_through) {
		inlined->unit->is_looked_through = true;
		if (dwarf_offdie(inlined->file.dwarf, inlined->unit->entry, &entry))
			collect_functions(inlined, &entry, 0);
		sort_ranges(&inlined->unit->functions);
	}
	return inlined->unit;
}

/* The function at the address, with `inside` of it. */
static bool function_at(struct inlined *inlined, struct inlined_unit *unit, uint64_t address,
			Dwarf_Die *ret)
{
	const struct range *range = find_range(&unit->functions, address);

	if (!range || !dwarf_offdie(inlined->file.dwarf, range->owner, ret))
		return false;
	if (inlined->function != range->owner) {
		inlined->function = range->owner;
		inlined->range_count -= inlined->inside.count;
		inlined->inside.count = 0;
		collect_inlined(inlined, ret, 0, 0);
	}
	return true;
}

/* --- lines --- */

/* May those of the unit be read? libdw does so once. */
static bool has_lines(struct inlined *inlined, struct inlined_unit *unit)
{
	if (!unit->has_read_lines && unit->line_bytes) {
		unit->has_read_lines = true;
		if (unit->line_bytes > LINES_MAX - inlined->line_bytes)
			unit->line_bytes = 0;
		inlined->line_bytes += unit->line_bytes;
	}
	return unit->line_bytes;
}

static void innermost_line(struct inlined *inlined, struct inlined_unit *unit, uint64_t address,
			   struct inlined_function *ret)
{
	Dwarf_Die entry;
	Dwarf_Line *line;
	int number;

	if (!has_lines(inlined, unit) || !dwarf_offdie(inlined->file.dwarf, unit->entry, &entry))
		return;
	line = dwarf_getsrc_die(&entry, address);
	if (!line || dwarf_lineno(line, &number) || number < 0)
		return;
	ret->source = dwarf_linesrc(line, NULL, NULL);
	ret->line = (uint32_t)number;
}

/* The line of the call of an inlined function, in the function around it. */
static void calling_line(struct inlined *inlined, struct inlined_unit *unit, Dwarf_Die *called,
			 struct inlined_function *ret)
{
	uint64_t line = unsigned_attribute(called, DW_AT_call_line),
		 file = unsigned_attribute(called, DW_AT_call_file);
	Dwarf_Files *files;
	Dwarf_Die entry;
	size_t count;

	if (!line || !has_lines(inlined, unit) || line > INT32_MAX ||
	    !dwarf_offdie(inlined->file.dwarf, unit->entry, &entry) ||
	    dwarf_getsrcfiles(&entry, &files, &count) || file >= count)
		return;
	ret->source = dwarf_filesrc(files, file, NULL, NULL);
	ret->line = (uint32_t)line;
}

/* --- asking --- */

void inlined_find(struct inlined *inlined, uint64_t address, struct inlined_stack *ret)
{
	struct inlined_stack stack = { 0 };
	struct inlined_unit *unit = *inlined->work ? unit_at(inlined, address) : NULL;
	Dwarf_Die function;
	size_t depth = 0;

	ret->count = 0;
	if (!unit || !function_at(inlined, unit, address, &function) ||
	    !spend_bytes(inlined, inlined->inside.count))
		return;
	stack.functions[stack.count++].name = linkage_name(inlined, &function);
	for (size_t i = 0; i < inlined->inside.count && stack.count <= INLINED_MAX; i++) {
		const struct range *range = &inlined->inside.items[i];
		Dwarf_Die entry;

		if (address < range->start || address >= range->end || range->depth != depth + 1 ||
		    !dwarf_offdie(inlined->file.dwarf, range->owner, &entry))
			continue;
		depth++;
		calling_line(inlined, unit, &entry, &stack.functions[stack.count - 1]);
		stack.functions[stack.count].name = linkage_name(inlined, &entry);
		/* A function without a name is left out, and its caller keeps its line. */
		if (stack.functions[stack.count].name)
			stack.count++;
	}
	innermost_line(inlined, unit, address, &stack.functions[stack.count - 1]);
	if (inlined->has_no_memory)
		return;
	*ret = stack;
}

bool inlined_open(struct image *image, const struct dwarf_addresses *addresses, uint64_t *work,
		  struct inlined **ret)
{
	struct inlined *inlined = calloc(1, sizeof(*inlined));

	if (!inlined)
		return false;
	inlined->work = work;
	if (dwarf_file_open(image, addresses, &inlined->file) != DWARF_FILE_OPEN ||
	    !read_units(inlined)) {
		inlined_destroy(inlined);
		return false;
	}
	*ret = inlined;
	return true;
}

size_t inlined_bytes(const struct inlined *inlined)
{
	return *inlined->work && !inlined->has_no_memory
		       ? inlined->file.size + inlined->units.count * UNIT_BYTES +
				 (size_t)inlined->line_bytes * LINE_BYTES +
				 inlined->range_count * sizeof(struct range)
		       : SIZE_MAX;
}

void inlined_resume(struct inlined *inlined, uint64_t *work)
{
	inlined->work = work;
}

void inlined_destroy(struct inlined *inlined)
{
	if (!inlined)
		return;
	for (size_t i = 0; i < inlined->units.count; i++)
		array_deinit(&inlined->units.items[i].functions);
	array_deinit(&inlined->units);
	array_deinit(&inlined->unit_ranges);
	array_deinit(&inlined->inside);
	dwarf_file_close(&inlined->file);
	free(inlined);
}
