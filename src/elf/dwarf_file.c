/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_file.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "elf/dwarf_bounds.h"

/* --- the file that libdw sees --- */

/* All that ctprof uses. Locations of variables (.debug_loclists), for example, are a sixth of the
 * information on libc, and libdw inflates whatever is there. */
#define SECTIONS(SECTION)                   \
	SECTION(INFO, "info")               \
	SECTION(ABBREV, "abbrev")           \
	SECTION(LINE, "line")               \
	SECTION(STR, "str")                 \
	SECTION(LINE_STR, "line_str")       \
	SECTION(STR_OFFSETS, "str_offsets") \
	SECTION(ADDR, "addr")               \
	SECTION(RANGES, "ranges")           \
	SECTION(RNGLISTS, "rnglists")       \
	SECTION(TYPES, "types")

enum used_section {
#define USED_SECTION(id, name) USED_##id,
	SECTIONS(USED_SECTION)
#undef USED_SECTION
		USED_SECTIONS
};

/* As they are called today, and the compressed ones of older compilers. */
static const char *const section_names[USED_SECTIONS][2] = {
#define SECTION_NAME(id, name) [USED_##id] = { ".debug_" name, ".zdebug_" name },
	SECTIONS(SECTION_NAME)
#undef SECTION_NAME
};

/* The header, an empty section, the used ones, and the one with their names. */
#define NAME_BYTES   24
#define NAMES_NUMBER (1 + USED_SECTIONS)
struct file_head {
	Elf64_Ehdr file;
	Elf64_Shdr sections[NAMES_NUMBER + 1];
	char names[NAMES_NUMBER][NAME_BYTES];
};

/* How its sections become a file in memory. */
struct file_copying {
	const struct elf *elf;
	struct dwarf_section sections[USED_SECTIONS];
	const char *names[USED_SECTIONS];
	struct file_head *head; /* the start of the file */
	size_t size;
};

static void open_sections(struct file_copying *c)
{
	for (size_t i = 0; i < USED_SECTIONS; i++)
		for (size_t k = 0; k < array_length(section_names[i]) && !c->names[i]; k++)
			if (dwarf_section_open(c->elf, section_names[i][k], &c->sections[i]))
				c->names[i] = section_names[i][k];
			else
				dwarf_section_close(&c->sections[i]);
}

/* Zeros behind each section: libdw looks for the end of a string that a section has no end of. */
#define END_BYTES     8
#define ROOM_OF(size) (((size) + END_BYTES + 7) & ~(size_t)7)

/* A place for each section as a whole; only pages that are written take memory. */
static bool place_sections(struct file_copying *c)
{
	c->size = ROOM_OF(sizeof(*c->head));
	for (size_t i = 0; i < USED_SECTIONS; i++)
		c->size += ROOM_OF(c->sections[i].size);
	c->head = malloc(c->size);
	if (!c->head)
		return false;
	*c->head = (struct file_head){ 0 };
	for (size_t i = 0, at = ROOM_OF(sizeof(*c->head)); i < USED_SECTIONS; i++) {
		c->sections[i].bytes = (char *)c->head + at;
		at += ROOM_OF(c->sections[i].size);
	}
	return true;
}

static bool read_part(struct file_copying *c, const struct dwarf_addresses *addresses)
{
	if (dwarf_part_read(c->elf, addresses, &c->sections[USED_INFO], &c->sections[USED_ABBREV],
			    &c->sections[USED_LINE]))
		return true;
	/* From their starts again. */
	for (size_t i = USED_INFO; i <= USED_LINE; i++) {
		char *bytes = c->sections[i].bytes;

		dwarf_section_close(&c->sections[i]);
		if (c->names[i])
			(void)dwarf_section_open(c->elf, c->names[i], &c->sections[i]);
		c->sections[i].bytes = bytes;
	}
	return false;
}

static bool read_sections(struct file_copying *c, const struct dwarf_addresses *addresses)
{
	const bool is_part = addresses && read_part(c, addresses);

	for (size_t i = is_part ? USED_LINE + 1 : 0; i < USED_SECTIONS; i++)
		if (!dwarf_section_read(&c->sections[i], c->sections[i].size))
			return false;
	return true;
}

static void put_section(struct file_copying *c, unsigned number, const char *name,
			const Elf64_Shdr *header)
{
	c->head->sections[number] = *header;
	c->head->sections[number].sh_name = (number - 1) * NAME_BYTES;
	strcpy(c->head->names[number - 1], name);
}

static void put_headers(struct file_copying *c)
{
	const Elf64_Shdr names = { .sh_type = SHT_STRTAB,
				   .sh_offset = offsetof(struct file_head, names),
				   .sh_size = sizeof(c->head->names) };

	c->head->file = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = c->elf->type,
		.e_machine = c->elf->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shoff = offsetof(struct file_head, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NAMES_NUMBER + 1,
		.e_shstrndx = NAMES_NUMBER,
	};
	for (unsigned i = 0; i < USED_SECTIONS; i++) {
		const struct dwarf_section *section = &c->sections[i];
		const Elf64_Shdr header = {
			.sh_type = c->names[i] ? SHT_PROGBITS : SHT_NULL,
			.sh_flags = section->flags,
			.sh_offset = (size_t)(section->bytes - (char *)c->head),
			.sh_size = section->length,
			.sh_addralign = 8,
		};

		memset(section->bytes + section->length, 0, END_BYTES);
		put_section(c, 1 + i, c->names[i] ? c->names[i] : "", &header);
	}
	put_section(c, NAMES_NUMBER, ".shstrtab", &names);
}

static bool are_bounded(const struct elf *elf, uint64_t *ret_bytes)
{
	return dwarf_sections_are_bounded(elf, section_names[0],
					  sizeof(section_names) / sizeof(section_names[0][0]),
					  ret_bytes);
}

uint64_t dwarf_file_bytes_of_all(const struct elf *elf)
{
	uint64_t bytes;

	return are_bounded(elf, &bytes) ? bytes : UINT64_MAX;
}

/* REFUSED: they are too large. NONE: they cannot be read, or there is no memory. */
static enum dwarf_file_answer copy_sections(struct file_copying *c,
					    const struct dwarf_addresses *addresses)
{
	uint64_t bytes;

	if (!are_bounded(c->elf, &bytes))
		return DWARF_FILE_REFUSED;
	open_sections(c);
	if (!place_sections(c) || !read_sections(c, addresses))
		return DWARF_FILE_NONE;
	put_headers(c);
	return DWARF_FILE_OPEN;
}

/* --- opening --- */

/* Programs have none, most of the time. */
static bool has_information(const struct elf *elf)
{
	return elf_has_section(elf, section_names[USED_INFO][0]) ||
	       elf_has_section(elf, section_names[USED_INFO][1]);
}

/* As libelf has it, inflated; empty: there is none. */
static struct text read_section(Elf *elf, enum used_section section)
{
	Elf_Scn *found = elf_getscn(elf, 1 + (size_t)section);
	const Elf_Data *data = found ? elf_rawdata(found, NULL) : NULL;

	return data && data->d_buf ? (struct text){ data->d_buf, data->d_size }
				   : (struct text){ 0 };
}

static enum dwarf_file_answer open_copy(struct dwarf_file *file, size_t size)
{
	file->elf = elf_memory(file->copy, size);
	file->dwarf = file->elf ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL) : NULL;
	if (!file->dwarf)
		return DWARF_FILE_NONE;
	file->abbreviations = read_section(file->elf, USED_ABBREV);
	file->lines = read_section(file->elf, USED_LINE);
	if (!file->abbreviations.length)
		return DWARF_FILE_REFUSED;
	/* A file may name another one that has its strings (dwz), anywhere. With itself in that
	 * place libdw opens none. */
	dwarf_setalt(file->dwarf, file->dwarf);
	return DWARF_FILE_OPEN;
}

static enum dwarf_file_answer open_elf(const struct elf *elf,
				       const struct dwarf_addresses *addresses,
				       struct dwarf_file *ret)
{
	struct file_copying c = { .elf = elf };
	enum dwarf_file_answer answer = copy_sections(&c, addresses);

	for (size_t i = 0; i < USED_SECTIONS; i++)
		dwarf_section_close(&c.sections[i]);
	ret->copy = (char *)c.head;
	ret->size = c.size;
	return answer == DWARF_FILE_OPEN ? open_copy(ret, c.size) : answer;
}

enum dwarf_file_answer dwarf_file_open(struct image *image, const struct dwarf_addresses *addresses,
				       struct dwarf_file *ret)
{
	enum dwarf_file_answer answer = DWARF_FILE_NONE;
	struct elf elf;

	*ret = (struct dwarf_file){ 0 };
	if (elf_version(EV_CURRENT) == EV_NONE || !elf_open(image, &elf))
		return answer;
	if (has_information(&elf))
		answer = image->size <= DEBUG_SIZE_MAX ? open_elf(&elf, addresses, ret)
						       : DWARF_FILE_REFUSED;
	elf_close(&elf);
	if (answer != DWARF_FILE_OPEN)
		dwarf_file_close(ret);
	return answer;
}

struct text dwarf_file_section(const struct dwarf_file *file, const char *name)
{
	for (size_t i = 0; i < USED_SECTIONS; i++)
		if (strcmp(section_names[i][0], name) == 0)
			return read_section(file->elf, (enum used_section)i);
	return (struct text){ 0 };
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
	free(file->copy);
	*file = (struct dwarf_file){ 0 };
}
