/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/go_functions.h"

/* The first words of the table, by version. All others are of eight bytes. */
#define MAGIC_116 0xfffffffa
#define MAGIC_118 0xfffffff0
#define MAGIC_120 0xfffffff1

enum { AT_POINTER_BYTES = 7, AT_COUNT = 8, AT_TEXT = 24, HEADER = 72 };

struct go_table {
	struct image *image;
	uint64_t at, size; /* of all of it, in the file */
	uint64_t count;
	uint64_t names, functions; /* within it */
	uint64_t text;             /* what entries are counted from */
	uint64_t code, code_end;   /* addresses of the section with the code */
	bool has_offsets;          /* entries are of four bytes each, else addresses */
};

static uint64_t word_at(struct text bytes, uint64_t at, size_t length)
{
	uint64_t word = 0;

	memcpy(&word, bytes.bytes + at, length);
	return word;
}

static struct text part_of(const struct go_table *table, uint64_t at, uint64_t size)
{
	if (at > table->size || size > table->size - at)
		return (struct text){ 0 };
	return image_bytes(table->image, table->at + at, size);
}

static uint64_t entry_bytes(const struct go_table *table)
{
	return table->has_offsets ? 4 : 8;
}

/* --- where functions are counted from --- */

struct go_wanted {
	uint64_t address, value;
	bool is_found;
};

static bool take_relocation(void *context, const Elf64_Rela *relocation)
{
	struct go_wanted *wanted = context;

	if (relocation->r_offset != wanted->address)
		return true;
	wanted->value = (uint64_t)relocation->r_addend;
	wanted->is_found = true;
	return false;
}

/* Is a function of that entry the one where Go programs begin? */
static bool begins_there(const struct go_table *table, struct text entries, uint64_t entry)
{
	static const struct text start = { "_rt0_", 5 };
	uint64_t low = 0, high = table->count;
	struct text function;
	const char *name;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (word_at(entries, middle * 8, 4) <= entry)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || word_at(entries, (low - 1) * 8, 4) != entry)
		return false;
	function = part_of(table, table->functions + word_at(entries, (low - 1) * 8 + 4, 4), 8);
	if (!function.bytes)
		return false;
	name = image_string(table->image, table->at + table->names + word_at(function, 4, 4), 64);
	return name && text_starts(text_of(name), start);
}

/* In a file that can be loaded anywhere a relocation says it, and from Go 1.26 on nothing does: it
 * is where the section begins, if the program begins where Go's do then. */
static bool find_text(const struct elf *elf, const Elf64_Shdr *section, struct text entries,
		      struct go_table *table)
{
	struct go_wanted wanted = { .address = section->sh_addr + AT_TEXT };

	if (table->text || !table->has_offsets)
		return true;
	elf_each_relocation(elf, take_relocation, &wanted);
	table->text = wanted.is_found ? wanted.value : table->code;
	return wanted.is_found || (elf->entry >= table->code &&
				   begins_there(table, entries, elf->entry - table->code));
}

/* --- reading it --- */

static bool read_header(const struct elf *elf, const Elf64_Shdr *section, struct go_table *ret)
{
	const Elf64_Shdr *code = elf_section_header(elf, ".text");
	struct go_table table = { .image = elf->image,
				  .at = section->sh_offset,
				  .size = section->sh_size };
	struct text header;
	uint64_t magic, names_at;

	header = part_of(&table, 0, HEADER);
	if (!code || __builtin_add_overflow(code->sh_addr, code->sh_size, &table.code_end) ||
	    section->sh_type == SHT_NOBITS || !header.bytes)
		return false;
	magic = word_at(header, 0, 4);
	if ((magic != MAGIC_116 && magic != MAGIC_118 && magic != MAGIC_120) ||
	    word_at(header, 4, 2) || word_at(header, AT_POINTER_BYTES, 1) != 8)
		return false;
	table.has_offsets = magic != MAGIC_116;
	table.code = code->sh_addr;
	table.text = table.has_offsets ? word_at(header, AT_TEXT, 8) : 0;
	names_at = table.has_offsets ? AT_TEXT + 8 : AT_TEXT;
	table.count = word_at(header, AT_COUNT, 8);
	table.names = word_at(header, names_at, 8);
	table.functions = word_at(header, names_at + 4 * 8, 8);
	if (table.count > FUNCTIONS_MAX || table.names > table.size || table.functions > table.size)
		return false;
	*ret = table;
	return true;
}

/* An entry has the start of the function and the offset of its description, which has the start
 * again, and its name. */
static bool add_go_function(struct functions *functions, const struct go_table *table,
			    struct text entries, uint64_t number)
{
	const uint64_t bytes = entry_bytes(table), at = number * 2 * bytes;
	uint64_t start = word_at(entries, at, bytes), end = word_at(entries, at + 2 * bytes, bytes);
	const uint64_t said_at = word_at(entries, at + bytes, bytes);
	struct text said;

	if (said_at > table->size || __builtin_add_overflow(start, table->text, &start) ||
	    __builtin_add_overflow(end, table->text, &end))
		return true;
	said = part_of(table, table->functions + said_at, bytes + 4);
	if (!said.bytes || start < table->code || end > table->code_end || start >= end)
		return true;
	return functions_add_named(functions, table->image, start, end,
				   table->at + table->names + word_at(said, bytes, 4), false);
}

bool go_functions_add(struct functions *functions, const struct elf *elf)
{
	/* The latter with -buildmode=pie. */
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	const Elf64_Shdr *section = NULL;
	struct text entries;
	struct go_table table;

	for (size_t i = 0; i < array_length(sections) && !section; i++)
		section = elf_section_header(elf, sections[i]);
	if (!section || !read_header(elf, section, &table))
		return true;
	/* Behind the last one is where it ends. */
	entries = part_of(&table, table.functions, (2 * table.count + 1) * entry_bytes(&table));
	if (!entries.bytes || !find_text(elf, section, entries, &table))
		return true;
	for (uint64_t i = 0; i < table.count; i++)
		if (!add_go_function(functions, &table, entries, i))
			return false;
	return true;
}
