/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_file.h"

#include <elf.h>
#include <string.h>
#include <zlib.h>

#include "unit/unit.h"

#define INFLATED       (1u << 20)
#define SECTIONS_AT    54 /* the table of sections begins within the header of the file */
#define NAMES_AT       1024
#define INFORMATION_AT 1280
#define STRINGS_AT     1344

/* e_phentsize is in the place of the name of section 0, which is at that offset of the names. */
#define HIDDEN_NAME 56

static char made[16384];

static void put_section(unsigned number, const char *name, uint32_t type, uint64_t flags,
			uint64_t offset, uint64_t size)
{
	static uint32_t next = 80;
	const Elf64_Shdr section = {
		.sh_name = next,
		.sh_type = type,
		.sh_flags = flags,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 1,
	};

	strcpy(made + NAMES_AT + next, name);
	next += (uint32_t)strlen(name) + 1;
	memcpy(made + SECTIONS_AT + number * sizeof(section), &section, sizeof(section));
}

/* Strings of a thousand times their size in the file, in a section that the header does not count:
 * that section 0 counts it is only seen once the header has no count. */
static size_t make_hidden_strings(void)
{
	static char zeros[INFLATED];
	const Elf64_Chdr compressed = {
		.ch_type = ELFCOMPRESS_ZLIB,
		.ch_size = INFLATED,
		.ch_addralign = 1,
	};
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = SECTIONS_AT,
		.e_ehsize = sizeof(header),
		.e_phentsize = HIDDEN_NAME,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1,
	};
	const uint64_t sections = 6;
	uLongf length = sizeof(made) - STRINGS_AT - sizeof(compressed);

	memcpy(made, &header, sizeof(header));
	strcpy(made + NAMES_AT + HIDDEN_NAME, ".debug_loc");
	memcpy(made + STRINGS_AT, &compressed, sizeof(compressed));
	assert_int_equal(compress2((Bytef *)made + STRINGS_AT + sizeof(compressed), &length,
				   (const Bytef *)zeros, sizeof(zeros), 9),
			 Z_OK);
	put_section(1, ".shstrtab", SHT_STRTAB, 0, NAMES_AT, 256);
	put_section(2, ".debug_info", SHT_PROGBITS, 0, INFORMATION_AT, 16);
	put_section(3, ".debug_abbrev", SHT_PROGBITS, 0, INFORMATION_AT + 16, 16);
	put_section(4, ".debug_line", SHT_PROGBITS, 0, INFORMATION_AT + 32, 16);
	put_section(5, ".debug_str", SHT_PROGBITS, SHF_COMPRESSED, STRINGS_AT,
		    sizeof(compressed) + length);
	memcpy(made + SECTIONS_AT + offsetof(Elf64_Shdr, sh_size), &sections, sizeof(sections));
	return STRINGS_AT + sizeof(compressed) + length;
}

static void what_is_hidden_in_a_file_does_not_change_its_bounds(void **state)
{
	struct image image = image_of((struct text){ made, make_hidden_strings() });
	struct dwarf_file file;

	(void)state;
	assert_int_equal(dwarf_file_open(&image, NULL, &file), DWARF_FILE_REFUSED);
	dwarf_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_hidden_in_a_file_does_not_change_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
