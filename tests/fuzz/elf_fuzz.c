/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf_fuzz.h"

#include <string.h>
#include <zlib.h>

#include "elf/elf.h"

/* Sections begin at multiples of it. */
#define ALIGN 16

struct maker {
	char *bytes;
	size_t used;
	Elf64_Shdr headers[FUZZ_SECTIONS_MAX + 2];
	size_t count;
};

static size_t aligned(size_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static void add(struct maker *maker, uint32_t type, size_t name, struct text bytes)
{
	maker->headers[maker->count++] = (Elf64_Shdr){
		.sh_name = (uint32_t)name,
		.sh_type = type,
		.sh_flags = SHF_ALLOC,
		.sh_addr = maker->used,
		.sh_offset = maker->used,
		.sh_size = bytes.length,
		.sh_addralign = ALIGN,
	};
	if (bytes.length)
		memcpy(maker->bytes + maker->used, bytes.bytes, bytes.length);
	maker->used += aligned(bytes.length);
}

static void put_headers(struct maker *maker, size_t size)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = maker->used,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)maker->count,
		.e_shstrndx = (uint16_t)(maker->count - 1),
	};
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = ALIGN,
	};

	memcpy(maker->bytes, &header, sizeof(header));
	memcpy(maker->bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(maker->bytes + maker->used, maker->headers, maker->count * sizeof(*maker->headers));
}

struct text fuzz_make_elf(const struct fuzz_section *sections, size_t count)
{
	struct maker maker = { .used = aligned(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)),
			       .count = 1 };
	char names[FUZZ_SECTIONS_MAX * 32] = "\0.shstrtab";
	size_t used = 1 + sizeof(".shstrtab"), size = maker.used + aligned(sizeof(names));

	must(count <= FUZZ_SECTIONS_MAX);
	for (size_t i = 0; i < count; i++)
		size += aligned(sections[i].bytes.length);
	size += (count + 2) * sizeof(Elf64_Shdr);
	maker.bytes = calloc(1, size);
	must(maker.bytes);
	for (size_t i = 0; i < count; i++) {
		must(used + strlen(sections[i].name) < sizeof(names));
		strcpy(names + used, sections[i].name);
		add(&maker, sections[i].type, used, sections[i].bytes);
		used += strlen(sections[i].name) + 1;
	}
	add(&maker, SHT_STRTAB, 1, (struct text){ names, sizeof(names) });
	put_headers(&maker, size);
	must(maker.used + maker.count * sizeof(*maker.headers) == size);
	return (struct text){ maker.bytes, size };
}

void fuzz_mend_link(struct text program, struct text debug)
{
	const uint32_t crc = (uint32_t)crc32(0, (const Bytef *)debug.bytes, (uInt)debug.length);
	struct image image = image_of(program);
	struct text name;
	uint32_t before;
	struct elf elf;

	/* It is behind the name, whose end is padded. */
	if (elf_open(&image, &elf) && elf_debuglink(&elf, &name, &before))
		memcpy((char *)(uintptr_t)name.bytes + (name.length + 4) / 4 * 4, &crc,
		       sizeof(crc));
	elf_close(&elf);
}
