/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/jemalloc_code.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

/* --- the table of names --- */

#define NODE_SIZE     40
#define NODE_NAME     8
#define NODE_FUNCTION 32

static const struct text node_names[] = { TEXT("allocated"), TEXT("allocatedp"),
					  TEXT("deallocated"), TEXT("deallocatedp") };
#define NODES array_length(node_names)

/* The offset of the name of the last node in a candidate; the search looks for that name. */
#define LAST_NAME ((NODES - 1) * NODE_SIZE + NODE_NAME)

/* More places that look like it are not remembered. */
#define CANDIDATES_MAX 16

struct table_search {
	const struct elf *elf;
	const Elf64_Phdr *segment; /* being scanned */
	uint64_t names[CANDIDATES_MAX];
	uint64_t tables[CANDIDATES_MAX];
	uint64_t words[CANDIDATES_MAX][NODES * NODE_SIZE / 8];
	size_t name_count, table_count;
};

static void remember_address(uint64_t *addresses, size_t *count, size_t room, uint64_t address)
{
	for (size_t i = 0; i < *count; i++)
		if (addresses[i] == address)
			return;
	if (*count < room)
		addresses[(*count)++] = address;
}

static bool see_name(void *context, struct text window, uint64_t offset)
{
	struct table_search *search = context;
	static const char last[] = "deallocatedp";
	const char *at = window.bytes, *end = at + window.length;

	while ((at = memmem(at, (size_t)(end - at), last, sizeof(last)))) {
		uint64_t in_file = offset + (uint64_t)(at - window.bytes);

		remember_address(search->names, &search->name_count, CANDIDATES_MAX,
				 search->segment->p_vaddr + (in_file - search->segment->p_offset));
		at++;
	}
	return true;
}

static void consider_word(struct table_search *search, uint64_t address, uint64_t word)
{
	for (size_t i = 0; i < search->name_count; i++)
		if (search->names[i] == word && address % 8 == 0 && address >= LAST_NAME)
			remember_address(search->tables, &search->table_count, CANDIDATES_MAX,
					 address - LAST_NAME);
}

/* Words as a program that is loaded at a fixed address has them. */
static bool see_words(void *context, struct text window, uint64_t offset)
{
	struct table_search *search = context;
	uint64_t address = search->segment->p_vaddr + (offset - search->segment->p_offset);
	uint64_t low = UINT64_MAX, high = 0, word;

	for (size_t i = 0; i < search->name_count; i++) {
		low = search->names[i] < low ? search->names[i] : low;
		high = search->names[i] > high ? search->names[i] : high;
	}
	for (size_t at = -address % 8; at + sizeof(word) <= window.length; at += sizeof(word)) {
		memcpy(&word, window.bytes + at, sizeof(word));
		if (word >= low && word <= high)
			consider_word(search, address + at, word);
	}
	return true;
}

/* Does the dynamic linker put the load bias and `addend` there, and nothing else? */
static bool is_relative(const struct elf *elf, const Elf64_Rela *relocation)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	return type ==
	       (elf->machine == EM_X86_64 ? R_X86_64_RELATIVE : (uint32_t)R_AARCH64_RELATIVE);
}

static bool see_pointer(void *context, const Elf64_Rela *relocation)
{
	struct table_search *search = context;

	if (is_relative(search->elf, relocation))
		consider_word(search, relocation->r_offset, (uint64_t)relocation->r_addend);
	return true;
}

/* The words of the candidates, as a process that is not moved has them. */
static bool see_relocated(void *context, const Elf64_Rela *relocation)
{
	struct table_search *search = context;

	for (size_t i = 0; i < search->table_count; i++) {
		uint64_t at = relocation->r_offset - search->tables[i];

		if (at < NODES * NODE_SIZE && at % 8 == 0 && is_relative(search->elf, relocation))
			search->words[i][at / 8] = (uint64_t)relocation->r_addend;
	}
	return true;
}

static void scan_segments(struct table_search *search, image_visit *visit, uint32_t without)
{
	for (size_t i = 0; i < search->elf->segment_count; i++) {
		const Elf64_Phdr *segment = search->segment = &search->elf->segments[i];

		if (segment->p_type == PT_LOAD && !(segment->p_flags & without))
			image_scan(search->elf->image, segment->p_offset, segment->p_filesz, 15,
				   visit, search);
	}
}

static bool is_table(const struct table_search *search, size_t i)
{
	for (size_t node = 0; node < NODES; node++) {
		struct text name = node_names[node];
		uint64_t word = search->words[i][(node * NODE_SIZE + NODE_NAME) / 8];
		const char *bytes = elf_at(search->elf, word, name.length + 1);

		if (!bytes || memcmp(bytes, name.bytes, name.length + 1) != 0)
			return false;
	}
	return true;
}

/* A linker that makes a segment for what is only read puts the names there: no need to search the
 * code, which is most of a large file. */
static uint32_t without_names(const struct elf *elf)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_LOAD && elf->segments[i].p_flags == PF_R)
			return PF_W | PF_X;
	return PF_W;
}

unsigned jemalloc_find_table(const struct elf *elf, struct jemalloc_handlers *ret)
{
	struct table_search search = { .elf = elf };
	unsigned tables = 0;

	scan_segments(&search, see_name, without_names(elf));
	if (!search.name_count)
		return 0;
	scan_segments(&search, see_words, 0);
	elf_each_relocation(elf, see_pointer, &search);
	for (size_t i = 0; i < search.table_count; i++) {
		const char *bytes = elf_at(elf, search.tables[i], sizeof(search.words[i]));

		if (bytes)
			memcpy(search.words[i], bytes, sizeof(search.words[i]));
	}
	elf_each_relocation(elf, see_relocated, &search);
	for (size_t i = 0; i < search.table_count; i++) {
		if (!is_table(&search, i))
			continue;
		if (tables < 2)
			tables++;
		for (size_t node = 0; node < NODES; node++)
			ret->functions[node] =
				search.words[i][(node * NODE_SIZE + NODE_FUNCTION) / 8];
	}
	return tables;
}

/* --- the functions behind the names --- */

/* The addition is near the start, before anything that is copied to the caller. */
#define FUNCTION_MAX ((uint64_t)512)
#define UNKNOWN_END  ((uint64_t)96)

struct answers {
	unsigned count; /* of different ones */
	uint64_t value;
};

static void answer(struct answers *answers, uint64_t value)
{
	if (answers->count && answers->value == value)
		return;
	answers->count++;
	answers->value = value;
}

/* `add $imm,%rdi` and `lea imm(%rdi),%reg`, with imm of 8 or 32 bits (Intel SDM, volume 2). */
static void additions_x86_64(struct text code, struct answers *answers)
{
	for (size_t i = 0; i + 4 <= code.length; i++) {
		const uint8_t *at = (const uint8_t *)code.bytes + i;
		bool wide = i + 7 <= code.length;
		int32_t imm32 = 0;

		/* REX.W, and REX.WR where a register is written */
		if (at[0] != 0x48 && !(at[0] == 0x4c && at[1] == 0x8d))
			continue;
		if (wide)
			memcpy(&imm32, at + 3, sizeof(imm32));
		if (wide && imm32 > 0 &&
		    ((at[1] == 0x81 && at[2] == 0xc7) || (at[1] == 0x8d && (at[2] & 0xc7) == 0x87)))
			answer(answers, (uint64_t)imm32);
		else if ((int8_t)at[3] > 0 && ((at[1] == 0x83 && at[2] == 0xc7) ||
					       (at[1] == 0x8d && (at[2] & 0xc7) == 0x47)))
			answer(answers, at[3]);
	}
}

/* `add xD, xN, #imm{, lsl #12}`, where xN is x0, or one that x0 was moved to before it got another
 * value (Arm ARM, C6.2: ADD (immediate), MOV (register), MOVZ). */
static void additions_aarch64(struct text code, struct answers *answers)
{
	uint32_t holders = 1; /* a bit for each register that is x0 as it was passed */

	for (size_t i = 0; i + 4 <= code.length; i += 4) {
		uint32_t word, to;

		memcpy(&word, code.bytes + i, sizeof(word));
		to = (uint32_t)1 << (word & 31);
		if ((word & 0xffe0ffe0) == 0xaa0003e0)
			holders = holders >> (word >> 16 & 31) & 1 ? holders | to : holders & ~to;
		else if ((word & 0x7f800000) == 0x52800000)
			holders &= ~to;
		else if ((word & 0xff800000) == 0x91000000 && (word & 31) != 31 &&
			 holders >> (word >> 5 & 31) & 1)
			answer(answers, (uint64_t)(word >> 10 & 0xfff)
						<< (word >> 22 & 1 ? 12 : 0));
	}
}

/* The code of the function. Where no table says how long it is, as in most static programs, it ends
 * before the next one of the four. */
static struct text function_at(const struct elf *elf, const struct jemalloc_handlers *handlers,
			       uint64_t address)
{
	uint64_t start, end, size = UNKNOWN_END;
	const char *bytes;

	for (size_t i = 0; i < NODES; i++)
		if (handlers->functions[i] > address && handlers->functions[i] - address < size)
			size = handlers->functions[i] - address;
	if (elf_function(elf, address, &start, &end) && start == address)
		size = end - start < FUNCTION_MAX ? end - start : FUNCTION_MAX;
	bytes = elf_at(elf, address, size);
	return (struct text){ bytes, bytes ? (size_t)size : 0 };
}

static enum jemalloc_refusal read_handler(const struct elf *elf,
					  const struct jemalloc_handlers *handlers, size_t i,
					  uint32_t *ret)
{
	struct text code = function_at(elf, handlers, handlers->functions[i]);
	struct answers answers = { 0 };

	if (elf->machine == EM_X86_64)
		additions_x86_64(code, &answers);
	else if (elf->machine == EM_AARCH64)
		additions_aarch64(code, &answers);
	if (answers.count > 1)
		return JEMALLOC_TWO_ANSWERS;
	if (!answers.count || answers.value >= JEMALLOC_OFFSET_MAX)
		return JEMALLOC_NO_OFFSETS;
	*ret = (uint32_t)answers.value;
	return JEMALLOC_FOUND;
}

enum jemalloc_refusal jemalloc_read_handlers(const struct elf *elf,
					     const struct jemalloc_handlers *handlers,
					     struct jemalloc_layout *ret)
{
	uint32_t allocated, deallocated;
	enum jemalloc_refusal refusal = read_handler(elf, handlers, 1, &allocated);

	if (!refusal)
		refusal = read_handler(elf, handlers, 3, &deallocated);
	if (refusal)
		return refusal;
	ret->allocated = allocated;
	ret->deallocated = deallocated;
	return JEMALLOC_FOUND;
}

/* --- the code that counts --- */

/* The range before an access in which its register is loaded. */
#define LOOK_BACK 64

/* More words of static thread-local storage than a library with jemalloc in it has. */
#define SLOTS_MAX 64

struct access_search {
	const struct elf *elf;
	const struct jemalloc_layout *layout;
	const Elf64_Phdr *segment; /* being scanned */
	int64_t lowest, highest;   /* what the block may be */
	struct {
		uint64_t slot, value;
	} known[SLOTS_MAX]; /* words of the GOT that hold such distances, and of what */
	size_t known_count;
	struct answers constants, variables;
	uint64_t slot; /* a word of that variable */
};

/* A `mov imm32(%reg)` or the like with %fs and a 64-bit operand: the register, -1 for another. */
static int accessed_register(const uint8_t *at, const struct jemalloc_layout *layout)
{
	uint32_t displacement;

	if (at[0] != 0x64 || (at[1] & 0xf8) != 0x48 || at[1] & 2 || (at[3] & 0xc0) != 0x80 ||
	    (at[3] & 7) == 4)
		return -1;
	memcpy(&displacement, at + 4, sizeof(displacement));
	if (displacement != layout->allocated && displacement != layout->deallocated)
		return -1;
	return (at[3] & 7) | (at[1] & 1) << 3;
}

static bool see_tls_slot(void *context, const Elf64_Rela *relocation)
{
	struct access_search *search = context;
	uint64_t value;

	if (!elf_is_tls_slot(search->elf, relocation, &value))
		return true;
	search->known[search->known_count].slot = relocation->r_offset;
	search->known[search->known_count].value = value;
	return ++search->known_count < SLOTS_MAX;
}

/* A load from any other word of the GOT is not of this variable. */
static bool see_slot(struct access_search *search, uint64_t slot)
{
	for (size_t i = 0; i < search->known_count; i++)
		if (search->known[i].slot == slot) {
			answer(&search->variables, search->known[i].value);
			search->slot = slot;
			return true;
		}
	return false;
}

/* The instruction at `at`, of 7 bytes, whose next one is at address `next`: does it load the
 * register? */
static bool see_load(struct access_search *search, const uint8_t *at, int reg, uint64_t next)
{
	int32_t number;

	memcpy(&number, at + 3, sizeof(number));
	/* mov $imm32,%reg: REX.W, REX.B for the upper registers */
	if (at[0] == (0x48 | reg >> 3) && at[1] == 0xc7 && at[2] == (0xc0 | (reg & 7))) {
		if (number < search->lowest || number > search->highest)
			return false;
		answer(&search->constants, (uint64_t)(int64_t)number);
		return true;
	}
	/* mov disp32(%rip),%reg: REX.R for the upper registers */
	if (at[0] == (0x48 | reg >> 3 << 2) && at[1] == 0x8b && at[2] == (0x05 | (reg & 7) << 3)) {
		return see_slot(search, next + (uint64_t)(int64_t)number);
	}
	return false;
}

static bool see_code(void *context, struct text window, uint64_t offset)
{
	struct access_search *search = context;
	const uint8_t *code = (const uint8_t *)window.bytes;
	uint64_t address = search->segment->p_vaddr + (offset - search->segment->p_offset);

	for (size_t i = 0; i + 8 <= window.length; i++) {
		int reg = accessed_register(code + i, search->layout);

		/* The nearest load before it is the one. */
		for (size_t back = 7; reg >= 0 && back <= LOOK_BACK && back <= i; back++)
			if (see_load(search, code + i - back, reg, address + i - back + 7))
				break;
	}
	return search->constants.count + search->variables.count < 2;
}

enum jemalloc_refusal jemalloc_read_accesses(const struct elf *elf, struct jemalloc_layout *ret)
{
	const Elf64_Phdr *tls = elf_segment(elf, PT_TLS);
	struct access_search search = { .elf = elf, .layout = ret };

	if (elf->machine != EM_X86_64 || !tls ||
	    !jemalloc_block_of(elf->machine, tls, 0, &search.lowest))
		return JEMALLOC_NO_BLOCK;
	search.highest = search.lowest + (int64_t)tls->p_memsz - ret->deallocated - 8;
	elf_each_relocation(elf, see_tls_slot, &search);
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = search.segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			image_scan(elf->image, segment->p_offset, segment->p_filesz, LOOK_BACK + 16,
				   see_code, &search);
	}
	if (search.constants.count + search.variables.count > 1)
		return JEMALLOC_TWO_ANSWERS;
	if (search.variables.count) {
		if (search.variables.value > tls->p_memsz - ret->deallocated - 8)
			return JEMALLOC_TLS_ARITHMETIC;
		ret->by_slot = true;
		ret->slot = search.slot;
		return JEMALLOC_FOUND;
	}
	if (!search.constants.count)
		return JEMALLOC_NO_BLOCK;
	ret->block = (int64_t)search.constants.value;
	return JEMALLOC_FOUND;
}
