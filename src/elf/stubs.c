/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/stubs.h"

/* Stubs have this size, on either machine; some of x86_64 (.plt.got) half of it. */
#define STUB_SIZE 16

/* The largest number of stubs; a library with more is ignored. */
#define SLOTS_MAX ((uint64_t)256 << 10)

/* A word of the GOT, and where in the file the name of its function is. */
struct stub_slot {
	uint64_t address, name;
};

struct stub_slots {
	ARRAY(struct stub_slot);
};

static bool add_slots(struct stub_slots *slots, const struct elf *elf, const Elf64_Shdr *section)
{
	const Elf64_Shdr *symbols =
		section->sh_link < elf->section_count ? &elf->sections[section->sh_link] : NULL;
	uint64_t count = section->sh_size / sizeof(Elf64_Rela), names;
	struct text bytes;

	if (!symbols || symbols->sh_type != SHT_DYNSYM || symbols->sh_link >= elf->section_count ||
	    count > SLOTS_MAX)
		return true;
	names = elf->sections[symbols->sh_link].sh_offset;
	bytes = image_bytes(elf->image, section->sh_offset, count * sizeof(Elf64_Rela));
	for (uint64_t i = 0; bytes.bytes && i < count; i++) {
		Elf64_Rela relocation;
		Elf64_Sym symbol;
		struct stub_slot slot;
		struct text entry;
		uint64_t number, at;

		memcpy(&relocation, bytes.bytes + i * sizeof(relocation), sizeof(relocation));
		number = ELF64_R_SYM(relocation.r_info);
		if (!number ||
		    __builtin_add_overflow(symbols->sh_offset, number * sizeof(symbol), &at))
			continue;
		entry = image_bytes(elf->image, at, sizeof(symbol));
		if (!entry.bytes)
			continue;
		memcpy(&symbol, entry.bytes, sizeof(symbol));
		slot.address = relocation.r_offset;
		if (!symbol.st_name || __builtin_add_overflow(names, symbol.st_name, &slot.name))
			continue;
		if (!array_push(slots, slot))
			return false;
	}
	return true;
}

static int stub_by_address(const void *a, const void *b)
{
	const struct stub_slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* "jmp *offset(%rip)" (ff 25), behind an endbr64 and a prefix or not. */
static bool decode_x86(const uint8_t *code, size_t size, uint64_t address, uint64_t *ret)
{
	for (unsigned at = 0; at + 6 <= size && at < 6; at++) {
		int32_t offset;

		if (code[at] != 0xff || code[at + 1] != 0x25)
			continue;
		memcpy(&offset, code + at + 2, sizeof(offset));
		*ret = address + at + 6 + (uint64_t)(int64_t)offset;
		return true;
	}
	return false;
}

/* "adrp x16, page; ldr x17, [x16, #offset]", behind a "bti c" or not (Arm ARM, C6.2). */
static bool decode_arm(const uint8_t *code, uint64_t address, uint64_t *ret)
{
	uint32_t words[3], adrp, load;
	int64_t page;

	memcpy(words, code, sizeof(words));
	adrp = words[0] == 0xd503245f ? words[1] : words[0];
	load = words[0] == 0xd503245f ? words[2] : words[1];
	address += words[0] == 0xd503245f ? 4 : 0;
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	page = (int64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
	page = (int64_t)((uint64_t)page << 43) >> 31;
	*ret = (address & ~(uint64_t)0xfff) + (uint64_t)page + (load >> 10 & 0xfff) * 8;
	return true;
}

static bool add_stubs(struct functions *functions, const struct stub_slots *slots,
		      const struct elf *elf, const Elf64_Shdr *section)
{
	struct text code = image_bytes(elf->image, section->sh_offset, section->sh_size);

	size_t size = elf->machine == EM_X86_64 && section->sh_entsize == 8 ? 8 : STUB_SIZE;

	for (size_t at = 0; code.bytes && at + size <= code.length; at += size) {
		uint64_t address = section->sh_addr + at, target;
		const uint8_t *bytes = (const uint8_t *)code.bytes + at;
		struct stub_slot wanted = { 0 }, *slot;

		if (elf->machine == EM_AARCH64 ? !decode_arm(bytes, address, &target)
					       : !decode_x86(bytes, size, address, &target))
			continue;
		wanted.address = target;
		slot = bsearch(&wanted, slots->items, slots->count, sizeof(wanted),
			       stub_by_address);
		if (slot && !functions_add_named(functions, elf->image, address, address + size,
						 slot->name, true))
			return false;
	}
	return true;
}

/* Sections of stubs are small, have code, and are called .plt or .plt.something. */
static bool has_stubs(const struct elf *elf, const Elf64_Shdr *section)
{
	uint64_t at;
	const char *name = __builtin_add_overflow(elf->section_names, section->sh_name, &at)
				   ? NULL
				   : image_string(elf->image, at, 16);

	return section->sh_flags & SHF_EXECINSTR && section->sh_type == SHT_PROGBITS && name &&
	       strncmp(name, ".plt", 4) == 0 && section->sh_size <= SLOTS_MAX * STUB_SIZE;
}

bool stubs_add(struct functions *functions, const struct elf *elf)
{
	struct stub_slots slots = { 0 };
	unsigned tables = 0, codes = 0;
	bool done = true;

	if (elf->machine != EM_X86_64 && elf->machine != EM_AARCH64)
		return true;
	for (size_t i = 0; i < elf->section_count && done && tables < 4; i++)
		if (elf->sections[i].sh_type == SHT_RELA) {
			done = add_slots(&slots, elf, &elf->sections[i]);
			tables++;
		}
	if (slots.count)
		qsort(slots.items, slots.count, sizeof(*slots.items), stub_by_address);
	for (size_t i = 0; i < elf->section_count && done && slots.count && codes < 4; i++)
		if (has_stubs(elf, &elf->sections[i])) {
			done = add_stubs(functions, &slots, elf, &elf->sections[i]);
			codes++;
		}
	array_deinit(&slots);
	return done;
}
