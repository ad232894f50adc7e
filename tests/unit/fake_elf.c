/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/fake_elf.h"

#include <string.h>

static const char names[] = "allocated\0allocatedp\0deallocated\0deallocatedp";

struct writer {
	const struct fake_elf *fake;
	char bytes[FAKE_SIZE];
	size_t segments, sections, relocations;
};

static void put(struct writer *w, size_t at, const void *bytes, size_t length)
{
	if (!length)
		return;
	assert_true(at + length <= sizeof(w->bytes));
	memcpy(w->bytes + at, bytes, length);
}

static void put_segment(struct writer *w, uint32_t type, uint32_t flags, uint64_t start,
			uint64_t size)
{
	Elf64_Phdr segment = { .p_type = type,
			       .p_flags = flags,
			       .p_offset = start,
			       .p_vaddr = start,
			       .p_filesz = size,
			       .p_memsz = size,
			       .p_align = 0x10 };

	if (type == PT_TLS) {
		segment.p_filesz = 0;
		segment.p_memsz = w->fake->machine == EM_AARCH64 ? 0xa88 : 0xa48;
		if (w->fake->tls_size)
			segment.p_memsz = w->fake->tls_size;
		segment.p_align = 8;
	}
	put(w, sizeof(Elf64_Ehdr) + w->segments++ * sizeof(segment), &segment, sizeof(segment));
}

static void put_relocation(struct writer *w, uint64_t at, uint64_t info, uint64_t addend)
{
	Elf64_Rela relocation = { at, info, (int64_t)addend };

	put(w, FAKE_RELOCATIONS + w->relocations++ * sizeof(relocation), &relocation,
	    sizeof(relocation));
}

static void put_pointer(struct writer *w, uint64_t at, uint64_t value)
{
	uint64_t relative = w->fake->machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;

	if (w->fake->fixed)
		put(w, at, &value, sizeof(value));
	else
		put_relocation(w, at, ELF64_R_INFO(0, relative), value);
}

static void put_table(struct writer *w, uint64_t at)
{
	static const uint64_t offsets[] = { 0, 10, 21, 33 };
	const uint64_t functions[] = { 0, FAKE_ALLOCATEDP, 0, FAKE_DEALLOCATEDP };

	for (size_t i = 0; i < array_length(offsets); i++) {
		put_pointer(w, at + i * 40 + 8, FAKE_NAMES + offsets[i]);
		if (functions[i])
			put_pointer(w, at + i * 40 + 32, functions[i]);
	}
}

static void put_slots(struct writer *w)
{
	uint64_t type =
		w->fake->machine == EM_X86_64 ? R_X86_64_TPOFF64 : (uint64_t)R_AARCH64_TLS_TPREL;

	/* The second symbol of .dynsym is of another file. */
	for (size_t i = 0; i < w->fake->slot_count; i++)
		put_relocation(w, FAKE_SLOT + 8 * i,
			       ELF64_R_INFO(w->fake->slots[i].is_undefined ? 1 : 0, type),
			       w->fake->slots[i].value);
}

static void put_section(struct writer *w, uint32_t name, uint32_t type, uint64_t at, uint64_t size)
{
	Elf64_Shdr section = {
		.sh_name = name, .sh_type = type, .sh_offset = at, .sh_size = size, .sh_link = 2
	};

	put(w, FAKE_SECTIONS + w->sections++ * sizeof(section), &section, sizeof(section));
}

static void put_symbols(struct writer *w)
{
	size_t name = 1;

	for (size_t i = 0; i < array_length(w->fake->symbols); i++) {
		Elf64_Sym symbol = { .st_name = (uint32_t)name,
				     .st_info = ELF64_ST_INFO(STB_LOCAL, STT_TLS),
				     .st_shndx = 1,
				     .st_value = w->fake->symbols[i].value };
		const char *text = w->fake->symbols[i].name;

		if (!text)
			continue;
		put(w, FAKE_SYMBOLS + (i + 1) * sizeof(symbol), &symbol, sizeof(symbol));
		put(w, FAKE_SYMBOL_NAMES + name, text, strlen(text) + 1);
		name += strlen(text) + 1;
	}
}

static void put_sections(struct writer *w)
{
	static const char section_names[] = "\0.symtab\0.strtab\0.note\0.gnu_debuglink\0.names";
	const struct fake_elf *fake = w->fake;
	struct {
		Elf64_Nhdr header;
		char name[4], id[20];
	} note = { { 4, 0, NT_GNU_BUILD_ID }, "GNU", { 0 } };

	put(w, FAKE_SECTION_NAMES, section_names, sizeof(section_names));
	put_section(w, 0, SHT_NULL, 0, 0);
	put_section(w, 1, SHT_SYMTAB, FAKE_SYMBOLS, 3 * sizeof(Elf64_Sym));
	put_section(w, 9, SHT_STRTAB, FAKE_SYMBOL_NAMES, 0x100);
	put_section(w, 38, SHT_STRTAB, FAKE_SECTION_NAMES, sizeof(section_names));
	if (fake->build_id) {
		note.header.n_descsz = (uint32_t)strlen(fake->build_id);
		memcpy(note.id, fake->build_id, note.header.n_descsz);
		put(w, FAKE_NOTE, &note, sizeof(note));
		put_section(w, 17, SHT_NOTE, FAKE_NOTE, sizeof(note));
	}
	if (fake->link) {
		size_t length = (strlen(fake->link) + 4) & ~(size_t)3;

		put(w, FAKE_LINK, fake->link, strlen(fake->link) + 1);
		put(w, FAKE_LINK + length, &fake->link_crc, 4);
		put_section(w, 23, SHT_PROGBITS, FAKE_LINK, length + 4);
	}
}

/* or %r9,...; jne; add $0x338,%rdi; ret. On aarch64 the argument is moved first. */
static struct fake_code usual_code(uint16_t machine, bool deallocated)
{
	if (machine == EM_AARCH64)
		return deallocated ? CODE("\x00\x20\x0e\x91\xc0\x03\x5f\xd6")
				   : CODE("\xe2\x03\x00\xaa\x20\x00\x80\x52\x40\xe0\x0d\x91\xe1\xc3"
					  "\x00\x91");
	return deallocated ? CODE("\x48\x81\xc7\x48\x03\0\0\xc3")
			   : CODE("\x4c\x0b\x4c\x24\x20\x75\x26\x48\x81\xc7\x38\x03\0\0\xc3");
}

static void put_function(struct writer *w, size_t at, struct fake_code code, bool deallocated)
{
	if (!code.bytes)
		code = usual_code(w->fake->machine, deallocated);
	put(w, at, code.bytes, code.length);
}

static void put_code(struct writer *w)
{
	const struct fake_elf *fake = w->fake;
	const struct {
		uint8_t form[4];
		uint32_t frame, count;
		int32_t rows[4][2];
	} frames = { { 1, 0x1b, 0x03, 0x3b },
		     0,
		     4,
		     { { FAKE_ALLOCATEDP - FAKE_FRAMES, 0 },
		       { FAKE_DEALLOCATEDP - FAKE_FRAMES, 0 },
		       { FAKE_COUNTING - FAKE_FRAMES, 0 },
		       { FAKE_SLOT - FAKE_FRAMES, 0 } } };

	put(w, FAKE_FRAMES, &frames, sizeof(frames));
	put_function(w, FAKE_ALLOCATEDP, fake->allocatedp, false);
	put_function(w, FAKE_DEALLOCATEDP, fake->deallocatedp, true);
	put(w, FAKE_COUNTING, fake->counting.bytes, fake->counting.length);
}

struct text fake_elf_make(const struct fake_elf *fake)
{
	static struct writer w;
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			      .e_type = ET_DYN,
			      .e_machine = fake->machine,
			      .e_phoff = sizeof(header),
			      .e_shoff = FAKE_SECTIONS,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shstrndx = 3 };
	Elf64_Dyn dynamic[] = { { DT_RELA, { FAKE_RELOCATIONS } },
				{ DT_RELASZ, { 0 } },
				{ DT_SYMTAB, { FAKE_SYMBOLS + 0x80 } } };

	memset(&w, 0, sizeof(w));
	w.fake = fake;
	put(&w, FAKE_NAMES, names, sizeof(names));
	if (!fake->without_table)
		put_table(&w, FAKE_TABLE);
	if (fake->with_two_tables)
		put_table(&w, FAKE_TABLE_2);
	put_slots(&w);
	put_symbols(&w);
	put_sections(&w);
	put_code(&w);
	put_segment(&w, PT_LOAD, PF_R, 0, FAKE_FRAMES);
	put_segment(&w, PT_LOAD, PF_R | PF_X, FAKE_FRAMES, FAKE_SIZE - FAKE_FRAMES);
	if (!fake->without_frames)
		put_segment(&w, PT_GNU_EH_FRAME, PF_R, FAKE_FRAMES, 12 + 4 * 8);
	put_segment(&w, PT_DYNAMIC, PF_R, FAKE_DYNAMIC, sizeof(dynamic));
	if (!fake->without_tls)
		put_segment(&w, PT_TLS, PF_R, FAKE_SLOT, 0);
	dynamic[1].d_un.d_val = w.relocations * sizeof(Elf64_Rela);
	put(&w, FAKE_DYNAMIC, dynamic, sizeof(dynamic));
	header.e_phnum = (uint16_t)w.segments;
	header.e_shnum = (uint16_t)w.sections;
	put(&w, 0, &header, sizeof(header));
	return guarded(w.bytes, sizeof(w.bytes));
}
