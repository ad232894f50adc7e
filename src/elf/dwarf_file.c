/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_file.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "elf/dwarf_bounds.h"

/* The section of that name that libdw has taken, whatever was done to inflate it. With two of them
 * it is not said which: false. */
static bool find_section(Elf *elf, struct text name, struct text *ret)
{
	struct text found = { 0 };
	unsigned count = 0;
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);
		const char *here = header ? elf_strptr(elf, names, header->sh_name) : NULL;
		const Elf_Data *data;

		if (!here || !text_ends(text_of(here), name))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			found = (struct text){ data->d_buf, data->d_size };
		count++;
	}
	*ret = found;
	return count <= 1;
}

static bool copy_window(void *context, struct text window, uint64_t offset)
{
	memcpy((char *)context + offset, window.bytes, window.length);
	return true;
}

/* Sections that ctprof does not use, such as locations of variables: a sixth of the information on
 * libc. */
static const char *const unread_sections[] = {
	".debug_aranges",  ".debug_frame",   ".debug_loc",
	".debug_loclists", ".debug_macinfo", ".debug_macro"
};

/* libdw inflates all sections when it opens a file, but none that is not in the file. */
static void hide_unread_sections(char *copy, const struct elf *elf)
{
	const uint32_t type = SHT_NOBITS;
	Elf64_Ehdr header;

	memcpy(&header, copy, sizeof(header));
	for (size_t i = 0; i < array_length(unread_sections); i++) {
		const Elf64_Shdr *section = elf_section_header(elf, unread_sections[i]);

		if (section)
			memcpy(copy + header.e_shoff +
				       (size_t)(section - elf->sections) * sizeof(*section) +
				       offsetof(Elf64_Shdr, sh_type),
			       &type, sizeof(type));
	}
}

static bool prepare_copy(char *copy, size_t size)
{
	struct image image = image_of((struct text){ copy, size });
	struct elf elf;
	bool bounded;

	if (elf_open(&image, &elf))
		hide_unread_sections(copy, &elf);
	elf_close(&elf);
	/* Only now: the table of sections may lie in the header, or in what it describes. libelf
	 * would also take sections that are counted in another place: up to 2^64 of them. */
	bounded = elf_open(&image, &elf) && elf.section_count && dwarf_sections_are_bounded(&elf);
	elf_close(&elf);
	return bounded;
}

/* Programs have none, most of the time, and need not be read for that. */
static bool has_information(struct image *image)
{
	struct elf elf;
	bool has = elf_open(image, &elf) &&
		   (elf_has_section(&elf, ".debug_info") || elf_has_section(&elf, ".zdebug_info"));

	elf_close(&elf);
	return has;
}

static enum dwarf_file_answer open_copy(struct dwarf_file *file, size_t size)
{
	file->elf = elf_memory(file->copy, size);
	file->dwarf = file->elf ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL) : NULL;
	if (!file->dwarf)
		return DWARF_FILE_NONE;
	if (!find_section(file->elf, TEXT("debug_abbrev"), &file->abbreviations) ||
	    !file->abbreviations.length ||
	    !find_section(file->elf, TEXT("debug_line"), &file->lines))
		return DWARF_FILE_REFUSED;
	/* A file may name another one that has its strings (dwz), anywhere. With itself in that
	 * place libdw opens none. */
	dwarf_setalt(file->dwarf, file->dwarf);
	return DWARF_FILE_OPEN;
}

enum dwarf_file_answer dwarf_file_open(struct image *image, struct dwarf_file *ret)
{
	enum dwarf_file_answer answer;

	*ret = (struct dwarf_file){ 0 };
	if (elf_version(EV_CURRENT) == EV_NONE || !has_information(image))
		return DWARF_FILE_NONE;
	if (image->size > DEBUG_SIZE_MAX)
		return DWARF_FILE_REFUSED;
	/* libelf writes into what it is given when it inflates a section. */
	ret->copy = malloc(image->size);
	if (!ret->copy || !image_scan(image, 0, image->size, 0, copy_window, ret->copy))
		answer = DWARF_FILE_NONE;
	else if (!prepare_copy(ret->copy, image->size))
		answer = DWARF_FILE_REFUSED;
	else
		answer = open_copy(ret, image->size);
	if (answer != DWARF_FILE_OPEN)
		dwarf_file_close(ret);
	return answer;
}

struct text dwarf_file_section(const struct dwarf_file *file, struct text name)
{
	struct text found;

	return find_section(file->elf, name, &found) ? found : (struct text){ 0 };
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
