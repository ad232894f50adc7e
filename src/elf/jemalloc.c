/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/jemalloc.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/jemalloc_code.h"
#include "elf/struct_fields.h"

/* The counters and how they lie: jemalloc had 8 bytes between them, and since 5.3.0 has 16. */
#define APART_MAX 64

/* TSD_MANGLE in jemalloc's include/jemalloc/internal/tsd.h. */
#define MANGLED "cant_access_tsd_items_directly_use_a_getter_or_setter_"

static const char *const mangled_members[] = { MANGLED "thread_allocated",
					       MANGLED "thread_deallocated" };

/* --- the block --- */

bool jemalloc_block_of(uint16_t machine, const Elf64_Phdr *tls, uint64_t value, int64_t *ret)
{
	uint64_t mask = tls->p_align ? tls->p_align - 1 : 0;
	uint64_t most = (uint64_t)1 << 31; /* what instructions can reach */
	uint64_t distance;

	if (mask & (mask + 1) || mask >= most || tls->p_memsz >= most || value >= tls->p_memsz)
		return false;
	switch (machine) {
	case EM_X86_64:
		distance = tls->p_memsz + ((-tls->p_vaddr - tls->p_memsz) & mask);
		*ret = (int64_t)value - (int64_t)distance;
		return true;
	case EM_AARCH64:
		distance = 16 + ((tls->p_vaddr - 16) & mask);
		*ret = (int64_t)(distance + value);
		return true;
	default:
		return false;
	}
}

/* --- the symbol --- */

struct tsd_symbol {
	unsigned answers;
	uint64_t value;
};

/* "tsd_tls", and with the prefixes that builds give it: "je_", "_rjem_je_". */
static bool see_symbol(void *context, const char *name, const Elf64_Sym *symbol)
{
	struct tsd_symbol *variable = context;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS || symbol->st_shndx == SHN_UNDEF)
		return true;
	if (strcmp(name, "tsd_tls") != 0 && !text_ends(text_of(name), TEXT("_tsd_tls")))
		return true;
	if (variable->answers && variable->value == symbol->st_value)
		return true;
	variable->answers++;
	variable->value = symbol->st_value;
	return true;
}

/* --- the word in the GOT --- */

struct jemalloc_slots {
	const struct elf *elf;
	const struct tsd_symbol *variable; /* the variable to find the word of; NULL: any */
	struct tsd_symbol found;
	uint64_t slot;
};

/* Several words of one variable are as good as one. */
static bool see_slot(void *context, const Elf64_Rela *relocation)
{
	struct jemalloc_slots *slots = context;
	uint64_t value;

	if (!elf_is_tls_slot(slots->elf, relocation, &value) ||
	    (slots->variable->answers && value != slots->variable->value))
		return true;
	slots->found.answers += !slots->found.answers || slots->found.value != value;
	slots->found.value = value;
	slots->slot = relocation->r_offset;
	return true;
}

/* --- all together --- */

struct jemalloc_search {
	const struct jemalloc_file *file;
	const struct elf *elf;
	const Elf64_Phdr *tls;
	struct jemalloc_handlers handlers;
	unsigned tables;
	struct tsd_symbol variable;
	struct jemalloc_layout layout;
};

static enum jemalloc_refusal check_offsets(const struct jemalloc_search *search)
{
	const struct jemalloc_layout *layout = &search->layout;

	if (layout->allocated % 8 || layout->deallocated % 8 ||
	    layout->allocated >= layout->deallocated ||
	    layout->deallocated - layout->allocated > APART_MAX ||
	    layout->deallocated >= JEMALLOC_OFFSET_MAX)
		return JEMALLOC_NO_OFFSETS;
	/* jemalloc_find() has seen that there is room for more than 8 bytes. */
	return layout->deallocated <= search->tls->p_memsz - 8 ? JEMALLOC_FOUND
							       : JEMALLOC_TLS_ARITHMETIC;
}

static enum struct_fields_answer offsets_by_debug(struct jemalloc_search *search,
						  struct image *image)
{
	const struct struct_fields wanted = { "tsd_s", mangled_members, 2 };
	uint64_t offsets[2];
	enum struct_fields_answer answer = struct_fields_find(image, &wanted, offsets);

	if (answer == FIELDS_ONE && offsets[1] < JEMALLOC_OFFSET_MAX &&
	    offsets[0] < JEMALLOC_OFFSET_MAX) {
		search->layout.allocated = (uint32_t)offsets[0];
		search->layout.deallocated = (uint32_t)offsets[1];
	}
	return answer;
}

/* A debug file has the structure, and symbols that were stripped. */
static enum struct_fields_answer ask_debug_file(struct jemalloc_search *search)
{
	const struct jemalloc_file *file = search->file;
	_cleanup_close_ int fd = -1;
	struct image image;
	struct elf elf;
	enum struct_fields_answer answer;

	fd = file->open ? debug_file_open(file->elf, file->path, file->open, file->context)
			: DEBUG_FILE_NONE;
	if (fd == DEBUG_FILE_TOO_LARGE)
		return FIELDS_REFUSED;
	if (fd < 0 || image_open(fd, &image))
		return FIELDS_NONE;
	answer = offsets_by_debug(search, &image);
	if (!search->variable.answers && elf_open(&image, &elf)) {
		elf_each_symbol(&elf, see_symbol, &search->variable);
		elf_close(&elf);
	}
	image_close(&image);
	return answer;
}

/* Code is as good as debug information, which may be refused. */
static enum jemalloc_refusal offsets_by_code(struct jemalloc_search *search, bool was_refused)
{
	enum jemalloc_refusal refusal = JEMALLOC_NO_OFFSETS;

	if (search->tables > 1)
		return JEMALLOC_TWO_ANSWERS;
	if (search->tables)
		refusal = jemalloc_read_handlers(search->elf, &search->handlers, &search->layout);
	return refusal == JEMALLOC_NO_OFFSETS && was_refused ? JEMALLOC_DEBUG_REFUSED : refusal;
}

static enum jemalloc_refusal find_offsets(struct jemalloc_search *search)
{
	enum struct_fields_answer answer = offsets_by_debug(search, search->elf->image);

	if (answer == FIELDS_NONE)
		answer = ask_debug_file(search);
	if (answer == FIELDS_SEVERAL)
		return JEMALLOC_TWO_ANSWERS;
	if (answer != FIELDS_ONE) {
		enum jemalloc_refusal refusal = offsets_by_code(search, answer == FIELDS_REFUSED);

		if (refusal)
			return refusal;
	}
	return check_offsets(search);
}

/* Are the counters of a variable at `value` within the storage? */
static bool fits(const struct jemalloc_search *search, uint64_t value)
{
	return value <= search->tls->p_memsz - search->layout.deallocated - 8;
}

static enum jemalloc_refusal find_block_in_program(struct jemalloc_search *search)
{
	if (search->variable.answers > 1)
		return JEMALLOC_TWO_ANSWERS;
	if (!search->variable.answers)
		return jemalloc_read_accesses(search->elf, &search->layout);
	if (!fits(search, search->variable.value) ||
	    !jemalloc_block_of(search->elf->machine, search->tls, search->variable.value,
			       &search->layout.block))
		return JEMALLOC_TLS_ARITHMETIC;
	return JEMALLOC_FOUND;
}

/* With several candidate words, or without a symbol, the code decides; if it uses none in a known
 * way, a single candidate still counts. */
static enum jemalloc_refusal find_block_in_library(struct jemalloc_search *search)
{
	struct jemalloc_slots slots = { .elf = search->elf, .variable = &search->variable };
	enum jemalloc_refusal refusal = JEMALLOC_NO_BLOCK;

	if (search->variable.answers > 1)
		return JEMALLOC_TWO_ANSWERS;
	elf_each_relocation(search->elf, see_slot, &slots);
	if (!slots.found.answers)
		return JEMALLOC_IN_DSO;
	if (!search->variable.answers || slots.found.answers > 1)
		refusal = jemalloc_read_accesses(search->elf, &search->layout);
	if (refusal == JEMALLOC_FOUND)
		return search->layout.by_slot ? JEMALLOC_FOUND : JEMALLOC_IN_DSO;
	if (refusal != JEMALLOC_NO_BLOCK)
		return refusal;
	if (slots.found.answers > 1)
		return JEMALLOC_TWO_ANSWERS;
	if (!fits(search, slots.found.value))
		return JEMALLOC_TLS_ARITHMETIC;
	search->layout.by_slot = true;
	search->layout.slot = slots.slot;
	return JEMALLOC_FOUND;
}

/*
 * Since 5.0, when it became one struct, thread-specific data holds a cache of the radix tree, of 24
 * pairs of words (include/jemalloc/internal/rtree_tsd.h). Most files with thread-local storage, the
 * C library among them, have less, and need not be searched.
 */
#define TSD_BYTES_LEAST (24 * 16)

enum jemalloc_refusal jemalloc_find(const struct jemalloc_file *file, struct jemalloc_layout *ret)
{
	struct jemalloc_search search = {
		.file = file,
		.elf = file->elf,
		.tls = elf_segment(file->elf, PT_TLS),
		.layout = { .machine = file->elf->machine },
	};
	enum jemalloc_refusal refusal;

	if (!search.tls || search.tls->p_memsz < TSD_BYTES_LEAST)
		return JEMALLOC_NOT_FOUND;
	search.tables = jemalloc_find_table(file->elf, &search.handlers);
	elf_each_symbol(file->elf, see_symbol, &search.variable);
	if (!search.tables && !search.variable.answers)
		return JEMALLOC_NOT_FOUND;
	if (file->elf->machine != EM_X86_64 && file->elf->machine != EM_AARCH64)
		return JEMALLOC_ARCH_MISMATCH;
	refusal = find_offsets(&search);
	if (!refusal)
		refusal = file->is_program ? find_block_in_program(&search)
					   : find_block_in_library(&search);
	if (!refusal)
		*ret = search.layout;
	return refusal;
}
