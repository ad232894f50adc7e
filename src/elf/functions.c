/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/functions.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "elf/preference.h"

#define NONE UINT32_MAX

/* The largest nesting depth: a hostile table could nest all functions. */
#define NESTING_MAX 64

/* The largest number of names of one address that are compared. */
#define ALIASES_MAX 256

/* --- adding --- */

/* False: no memory, or there may be no more. */
static bool push(struct functions *functions, struct function function)
{
	return (!functions->most || functions->count < functions->most) &&
	       array_push(functions, function);
}

/* Code with a type, rather than a label of assembly; what others may call, rather than what they
 * may not. */
static uint8_t symbol_rank(const Elf64_Sym *symbol)
{
	return (uint8_t)((ELF64_ST_TYPE(symbol->st_info) != STT_NOTYPE) << 2 |
			 (symbol->st_size != 0) << 1 |
			 (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL));
}

/* Labels of assembly have no type and no size. */
static bool is_code_symbol(const struct elf *elf, const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_name && symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx < elf->section_count &&
	       elf->sections[symbol->st_shndx].sh_flags & SHF_EXECINSTR;
}

static bool make_function(const struct elf *elf, const Elf64_Sym *symbol, struct function *ret)
{
	const Elf64_Shdr *section = &elf->sections[symbol->st_shndx];
	uint64_t limit;

	if (__builtin_add_overflow(section->sh_addr, section->sh_size, &limit) ||
	    symbol->st_value < section->sh_addr || symbol->st_value >= limit)
		return false;
	ret->start = symbol->st_value;
	ret->end = limit;
	ret->is_sized = symbol->st_size != 0;
	if (symbol->st_size && symbol->st_size < limit - symbol->st_value)
		ret->end = symbol->st_value + symbol->st_size;
	ret->rank = symbol_rank(symbol);
	ret->around = NONE;
	return true;
}

/* The number of the image among the tables; false: there are too many. */
static bool table_of(struct functions *functions, struct image *image, uint8_t *ret)
{
	for (uint8_t i = 0; i < functions->table_count; i++)
		if (functions->tables[i] == image) {
			*ret = i;
			return true;
		}
	if (functions->table_count == FUNCTIONS_TABLES_MAX)
		return false;
	functions->tables[functions->table_count] = image;
	*ret = functions->table_count++;
	return true;
}

/* A label that tools put there: "$x" and "$d" tell code from data on aarch64. */
static bool is_marker(struct image *image, const struct function *function)
{
	struct text first = image_bytes(image, function->name, 1);

	return !first.bytes || first.bytes[0] == '$' || first.bytes[0] == '.';
}

static bool add_symbol(struct functions *functions, const struct elf *elf, uint64_t names,
		       uint8_t table, const Elf64_Sym *symbol)
{
	struct function function = { .table = table };

	if (!is_code_symbol(elf, symbol) || !make_function(elf, symbol, &function) ||
	    __builtin_add_overflow(names, symbol->st_name, &function.name))
		return true;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE && is_marker(elf->image, &function))
		return true;
	return push(functions, function);
}

/* Read without being kept: large programs have tables of many megabytes. */
#define SYMBOLS_AT_ONCE 2048

static bool add_table(struct functions *functions, const struct elf *elf, const Elf64_Shdr *table)
{
	_cleanup_free_ Elf64_Sym *symbols = malloc(SYMBOLS_AT_ONCE * sizeof(*symbols));
	uint64_t count = table->sh_size / sizeof(*symbols);
	struct image *image = elf->image;
	uint8_t number;

	if (!symbols)
		return false;
	if (table->sh_link >= elf->section_count || !table_of(functions, image, &number))
		return true;
	if (count > FUNCTIONS_MAX)
		count = FUNCTIONS_MAX;
	if (table->sh_offset > image->size ||
	    count > (image->size - table->sh_offset) / sizeof(*symbols))
		return true;
	for (uint64_t first = 0, some; first < count; first += some) {
		uint64_t bytes;

		some = count - first < SYMBOLS_AT_ONCE ? count - first : SYMBOLS_AT_ONCE;
		bytes = some * sizeof(*symbols);
		if ((image->there && bytes > image->room) ||
		    !image_read(image, table->sh_offset + first * sizeof(*symbols), bytes,
				(char *)symbols))
			break;
		if (image->there)
			image->room -= bytes;
		for (uint64_t i = 0; i < some; i++)
			if (!add_symbol(functions, elf, elf->sections[table->sh_link].sh_offset,
					number, &symbols[i]))
				return false;
	}
	return true;
}

bool functions_add(struct functions *functions, const struct elf *elf)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t t = 0; t < array_length(types); t++)
		for (size_t i = 0; i < elf->section_count; i++) {
			if (elf->sections[i].sh_type != types[t])
				continue;
			if (!add_table(functions, elf, &elf->sections[i]))
				return false;
			functions->has_static |= types[t] == SHT_SYMTAB;
			break;
		}
	return true;
}

bool functions_add_named(struct functions *functions, struct image *image, uint64_t start,
			 uint64_t end, uint64_t name, bool is_plt)
{
	struct function function = { .start = start,
				     .end = end,
				     .name = name,
				     .around = NONE,
				     .is_sized = true,
				     .is_plt = is_plt };

	return !table_of(functions, image, &function.table) || push(functions, function);
}

/* --- sorting --- */

/* Within an address as they were added: one's own names before those of other files. */
static int function_by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static struct text function_symbol_name(const struct functions *functions,
					const struct function *function)
{
	const char *name =
		image_string(functions->tables[function->table], function->name, MANGLED_NAME_MAX);

	return name ? text_of(name) : (struct text){ 0 };
}

/* The plainest of those with the same address and rank, which are next to each other. */
static struct function best_of(const struct functions *functions, size_t first, size_t count)
{
	struct function best = functions->items[first];
	struct text name = { 0 };

	for (size_t i = 1; i < count && i < ALIASES_MAX; i++) {
		struct text other = function_symbol_name(functions, &functions->items[first + i]);

		if (!name.bytes)
			name = function_symbol_name(functions, &best);
		if (functions->items[first + i].rank != best.rank)
			break;
		if (other.length && (!name.length || name_is_plainer(other, name))) {
			best = functions->items[first + i];
			name = other;
		}
	}
	return best;
}

static void drop_aliases(struct functions *functions)
{
	size_t kept = 0;

	for (size_t i = 0, next; i < functions->count; i = next) {
		for (next = i + 1; next < functions->count &&
				   functions->items[next].start == functions->items[i].start;)
			next++;
		functions->items[kept++] = best_of(functions, i, next - i);
	}
	functions->count = kept;
}

/* Labels without a size end where the next function starts. In a file with only exported symbols
 * there may be unknown functions in between: there a label covers only its start. */
static void end_labels(struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		struct function *function = &functions->items[i];

		if (function->is_sized)
			continue;
		if (!functions->has_static)
			function->end = function->start + 1;
		else if (i + 1 < functions->count && function->end > functions->items[i + 1].start)
			function->end = functions->items[i + 1].start;
	}
}

static void find_around(struct functions *functions)
{
	struct function *items = functions->items;

	for (size_t i = 1; i < functions->count; i++) {
		uint32_t around = (uint32_t)i - 1;

		for (unsigned depth = 0; around != NONE && items[around].end <= items[i].start;
		     depth++)
			around = depth < NESTING_MAX ? items[around].around : NONE;
		items[i].around = around;
	}
}

void functions_sort(struct functions *functions)
{
	if (!functions->count)
		return;
	qsort(functions->items, functions->count, sizeof(*functions->items), function_by_start);
	drop_aliases(functions);
	array_fit(functions);
	end_labels(functions);
	find_around(functions);
}

/* --- search --- */

const struct function *functions_find(const struct functions *functions, uint64_t address)
{
	size_t low = 0, high = functions->count;
	uint32_t at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	at = low ? (uint32_t)low - 1 : NONE;
	for (unsigned depth = 0; at != NONE && depth < NESTING_MAX; depth++) {
		if (address < functions->items[at].end)
			return &functions->items[at];
		at = functions->items[at].around;
	}
	return NULL;
}

size_t function_name(const struct functions *functions, const struct function *function,
		     char ret[FUNCTION_NAME_MAX])
{
	static const char plt[] = "@plt";
	struct text symbol = function_symbol_name(functions, function);
	size_t length = symbol.length ? demangle(symbol.bytes, ret) : 0;

	if (!length || !function->is_plt)
		return length;
	if (length > FUNCTION_NAME_MAX - sizeof(plt))
		length = FUNCTION_NAME_MAX - sizeof(plt);
	memcpy(ret + length, plt, sizeof(plt));
	return length + sizeof(plt) - 1;
}

void functions_deinit(struct functions *functions)
{
	array_deinit(functions);
	functions->table_count = 0;
}
