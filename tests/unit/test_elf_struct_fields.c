/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/struct_fields.h"

#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/dwarf_bounds.h"
#include "unit/unit.h"

/* A file with debug information, made by hand: DWARF 4, as little of it as libdw takes. */
struct bytes {
	char *at;
	size_t length, room;
};

static void put(struct bytes *bytes, const void *from, size_t length)
{
	if (bytes->length + length > bytes->room) {
		bytes->room = 2 * (bytes->length + length);
		bytes->at = realloc(bytes->at, bytes->room);
		assert_non_null(bytes->at);
	}
	memcpy(bytes->at + bytes->length, from, length);
	bytes->length += length;
}

#define PUT(bytes, literal) put(bytes, literal, sizeof(literal) - 1)

static void put_number(struct bytes *bytes, uint64_t number, size_t length)
{
	put(bytes, &number, length);
}

struct debug_file {
	struct bytes info, abbreviations;
	uint64_t flags; /* of .debug_info */
	bool twice;     /* .debug_abbrev */
	size_t unit_start;
};

/* 1: a unit in C; 2: a structure with a sibling; 3: a member. */
#define ABBREVIATIONS                      \
	"\x01\x11\x01\x13\x0b\0\0"         \
	"\x02\x13\x01\x03\x08\x01\x13\0\0" \
	"\x03\x0d\0\x03\x08\x38\x0b\0\0"

static void start_unit(struct debug_file *file, uint64_t abbreviations)
{
	file->unit_start = file->info.length;
	put_number(&file->info, 0, 4);
	put_number(&file->info, 4, 2);
	put_number(&file->info, abbreviations, 4);
	put_number(&file->info, 8, 1);
	put_number(&file->info, 1, 1);
	put_number(&file->info, DW_LANG_C11, 1);
}

static void end_unit(struct debug_file *file)
{
	uint32_t length;

	PUT(&file->info, "\0");
	length = (uint32_t)(file->info.length - file->unit_start - 4);
	memcpy(file->info.at + file->unit_start, &length, 4);
}

/* The sibling is `ahead` bytes behind the end of this entry. */
static void put_structure(struct debug_file *file, size_t ahead)
{
	put_number(&file->info, 2, 1);
	PUT(&file->info, "tsd_s\0");
	put_number(&file->info, file->info.length - file->unit_start + 4 + ahead, 4);
}

static void put_tsd(struct debug_file *file, uint8_t offset)
{
	put_structure(file, 2 * 4 + 1);
	PUT(&file->info, "\x03"
			 "a\0");
	put_number(&file->info, offset, 1);
	PUT(&file->info, "\x03"
			 "b\0");
	put_number(&file->info, offset + 8u, 1);
	PUT(&file->info, "\0");
}

static struct text make(const struct debug_file *file)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev\0.names";
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					   EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shoff = sizeof(header),
			      .e_shnum = file->twice ? 5 : 4,
			      .e_shstrndx = 1 };
	uint64_t start = sizeof(header) + header.e_shnum * sizeof(Elf64_Shdr);
	uint64_t info = start + sizeof(names), abbreviations = info + file->info.length;
	Elf64_Shdr sections[5] = {
		{ 0 },
		{ .sh_name = 27,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = start,
		  .sh_size = sizeof(names) },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = file->flags,
		  .sh_offset = info,
		  .sh_size = file->info.length,
		  .sh_addralign = 1 },
		{ .sh_name = 13,
		  .sh_type = SHT_PROGBITS,
		  .sh_offset = abbreviations,
		  .sh_size = file->abbreviations.length,
		  .sh_addralign = 1 },
	};
	struct bytes whole = { 0 };
	struct text made;

	sections[4] = sections[3];
	put(&whole, &header, sizeof(header));
	put(&whole, sections, header.e_shnum * sizeof(sections[0]));
	put(&whole, names, sizeof(names));
	put(&whole, file->info.at, file->info.length);
	put(&whole, file->abbreviations.at, file->abbreviations.length);
	made = guarded(whole.at, whole.length);
	free(whole.at);
	return made;
}

static enum struct_fields_answer find(struct debug_file *file, uint64_t *ret)
{
	static const char *const members[] = { "a", "b" };
	const struct struct_fields wanted = { "tsd_s", members, 2 };
	struct text bytes = make(file);
	struct image image = image_of(bytes);
	enum struct_fields_answer answer = struct_fields_find(&image, &wanted, ret);

	unguard(bytes);
	free(file->info.at);
	free(file->abbreviations.at);
	return answer;
}

/* --- what is as it should be --- */

TEST(members_are_found)
{
	struct debug_file file = { 0 };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\0");
	start_unit(&file, 0);
	put_tsd(&file, 16);
	end_unit(&file);
	start_unit(&file, 0);
	put_tsd(&file, 16);
	end_unit(&file);
	assert_int_equal(find(&file, offsets), FIELDS_ONE);
	assert_int_equal(offsets[0], 16);
	assert_int_equal(offsets[1], 24);
}

TEST(two_units_may_disagree)
{
	struct debug_file file = { 0 };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\0");
	for (uint8_t i = 0; i < 2; i++) {
		start_unit(&file, 0);
		put_tsd(&file, 16 + i);
		end_unit(&file);
	}
	assert_int_equal(find(&file, offsets), FIELDS_SEVERAL);
}

/* --- what is made to cost --- */

/* Entries of a byte, each with attributes that take no room. */
static enum struct_fields_answer find_among(unsigned attributes, size_t entries)
{
	struct debug_file file = { 0 };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\x04\x34\0");
	for (unsigned i = 0; i < attributes; i++)
		PUT(&file.abbreviations, "\x3f\x19"); /* DW_AT_external, DW_FORM_flag_present */
	PUT(&file.abbreviations, "\0\0\0");
	start_unit(&file, 0);
	put_tsd(&file, 16);
	for (size_t i = 0; i < entries; i++)
		PUT(&file.info, "\x04");
	end_unit(&file);
	return find(&file, offsets);
}

TEST(attributes_without_room_are_bounded)
{
	assert_int_equal(find_among(10, 1000), FIELDS_ONE);
	assert_int_equal(find_among(DEBUG_ATTRIBUTES_MAX, 1000), FIELDS_ONE);
	assert_int_equal(find_among(DEBUG_ATTRIBUTES_MAX + 1, 10), FIELDS_REFUSED);
	assert_int_equal(find_among(20000, 36000), FIELDS_REFUSED);
	assert_int_equal(find_among(DEBUG_ATTRIBUTES_MAX, (size_t)4 << 20), FIELDS_REFUSED);
}

/* Each structure starts within the one before, and has all that follow as members. */
TEST(structures_within_each_other_are_bounded)
{
	struct debug_file file = { 0 };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\0");
	start_unit(&file, 0);
	for (size_t i = 0; i < 20000; i++)
		put_structure(&file, 0);
	put_tsd(&file, 16);
	end_unit(&file);
	assert_int_equal(find(&file, offsets), FIELDS_REFUSED);
}

/* Each structure has the next ones as members, and last a variable with a million entries in it, to
 * which no entry says where its end is. libdw goes through these to see that nothing follows, which
 * is paid for by the end of the unit. */
static enum struct_fields_answer find_before_many(bool lies)
{
	enum { STRUCTURES = 100, ENTRIES = 1 << 20 };
	/* Of 64 bits; four times this, since an entry's byte weighs 4, is the same modulo 2^64 as
	 * four times its lower bits. */
	uint64_t length = lies ? (uint64_t)1 << 62 : 0;
	struct debug_file file = { 0 };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\x04\x34\0\x3f\x19\x3c\x19\x34\x19\0\0"
					       "\x05\x34\x01\0\0"
					       "\0");
	put_number(&file.info, UINT32_MAX, 4);
	put_number(&file.info, 0, 8);
	put_number(&file.info, 4, 2);
	put_number(&file.info, 0, 8);
	put_number(&file.info, 8, 1);
	put_number(&file.info, 1, 1);
	put_number(&file.info, DW_LANG_C11, 1);
	for (size_t i = 0; i < STRUCTURES; i++)
		put_structure(&file, 0);
	PUT(&file.info, "\x05");
	/* What the lie leaves of the length ends here. */
	length += file.info.length - 12 + (lies ? 64 : 0);
	for (size_t i = 0; i < ENTRIES; i++)
		PUT(&file.info, "\x04");
	PUT(&file.info, "\0\0\0");
	if (!lies)
		length = file.info.length - 12;
	memcpy(file.info.at + 4, &length, sizeof(length));
	return find(&file, offsets);
}

TEST(the_length_of_a_unit_makes_nothing_cheaper)
{
	assert_int_equal(find_before_many(false), FIELDS_REFUSED);
	assert_int_equal(find_before_many(true), FIELDS_REFUSED);
}

/* All units have the same table, which libdw reads for each of them. */
TEST(abbreviations_of_all_units_are_bounded)
{
	struct debug_file file = { 0 };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS);
	for (uint32_t code = 0x80; code < 0x3fff; code++) {
		const uint8_t declared[] = {
			0x80 | (code & 0x7f), (uint8_t)(code >> 7), 0x34, 0, 0, 0
		};

		put(&file.abbreviations, declared, sizeof(declared));
	}
	PUT(&file.abbreviations, "\0");
	for (size_t i = 0; i < 200; i++) {
		start_unit(&file, 0);
		put_tsd(&file, 16);
		end_unit(&file);
	}
	assert_int_equal(find(&file, offsets), FIELDS_REFUSED);
}

TEST(abbreviations_that_libdw_could_read_otherwise_are_refused)
{
	static const struct text tables[] = {
		TEXT("\x01\x11\x01\x13\x0b\x03\0\0\0"), /* a name without a form */
		TEXT("\x01\x11\x01\x13\x0b\0\x08\0\0"), /* a form without a name */
		TEXT("\x01\x11\x01\x13\x0b\0\0"),       /* no end */
		TEXT("\xff\x7f\x11\x01\x13\x0b\0\0\0"), /* a code that nobody counted to */
		TEXT("\x81\x80\x80\x80\x80\0\x11\0\0\0\0"), TEXT(""),
	};
	struct abbreviations table;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		assert_false(dwarf_measure_abbreviations(tables[i], 0, &table));
	assert_true(dwarf_measure_abbreviations(TEXT("xx" ABBREVIATIONS "\0yy"), 2, &table));
	assert_int_equal(table.length, sizeof(ABBREVIATIONS));
	assert_int_equal(table.most_free, 0);
	/* DW_FORM_implicit_const has its value in the table. */
	assert_true(dwarf_measure_abbreviations(TEXT("\x01\x34\0\x3a\x21\x83\x01\x3f\x19\0\0\0"), 0,
						&table));
	assert_int_equal(table.most_free, 2);
	assert_false(dwarf_measure_abbreviations(TEXT("\0"), 1, &table));
}

TEST(of_two_tables_the_first_counts)
{
	struct debug_file file = { .twice = true };
	uint64_t offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\0");
	start_unit(&file, 0);
	put_tsd(&file, 16);
	end_unit(&file);
	assert_int_equal(find(&file, offsets), FIELDS_ONE);
}

/* --- what is to be inflated --- */

static enum struct_fields_answer find_inflated(uint64_t size, bool old_way)
{
	struct debug_file file = { .flags = old_way ? 0 : SHF_COMPRESSED };
	const Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB,
				    .ch_size = size,
				    .ch_addralign = 1 };
	uint64_t big_endian = __builtin_bswap64(size), offsets[2];

	PUT(&file.abbreviations, ABBREVIATIONS "\0");
	if (old_way) {
		PUT(&file.info, "ZLIB");
		put(&file.info, &big_endian, sizeof(big_endian));
	} else {
		put(&file.info, &header, sizeof(header));
	}
	for (size_t i = 0; i < 1000; i++)
		PUT(&file.info, "x");
	return find(&file, offsets);
}

TEST(inflated_sections_are_bounded)
{
	for (unsigned old_way = 0; old_way < 2; old_way++) {
		/* Not compressed after all: libdw refuses that itself. */
		assert_int_equal(find_inflated(5000, old_way), FIELDS_NONE);
		assert_int_equal(find_inflated(100 * 5000, old_way), FIELDS_REFUSED);
		assert_int_equal(find_inflated((uint64_t)1 << 30, old_way), FIELDS_REFUSED);
		assert_int_equal(find_inflated(UINT64_MAX, old_way), FIELDS_REFUSED);
	}
}

/* A file full of holes. */
TEST(a_large_file_is_not_read)
{
	static const char *const members[] = { "a" };
	const struct struct_fields wanted = { "tsd_s", members, 1 };
	struct debug_file file = { 0 };
	struct scratch scratch;
	struct text bytes;
	struct image image;
	uint64_t offset;
	int fd;

	PUT(&file.abbreviations, ABBREVIATIONS "\0");
	start_unit(&file, 0);
	put_tsd(&file, 16);
	end_unit(&file);
	bytes = make(&file);
	scratch_init(&scratch);
	scratch_write(&scratch, "large", bytes);
	fd = open(scratch_path(&scratch, "large"), O_RDWR);
	assert_int_equal(image_open(fd, &image), 0);
	assert_int_equal(struct_fields_find(&image, &wanted, &offset), FIELDS_ONE);
	image_close(&image);
	assert_int_equal(ftruncate(fd, (off_t)DEBUG_SIZE_MAX + 1), 0);
	assert_int_equal(image_open(fd, &image), 0);
	assert_int_equal(struct_fields_find(&image, &wanted, &offset), FIELDS_REFUSED);
	image_close(&image);
	close(fd);
	scratch_deinit(&scratch);
	unguard(bytes);
	free(file.info.at);
	free(file.abbreviations.at);
}

UNIT_TESTS(cmocka_unit_test(members_are_found), cmocka_unit_test(two_units_may_disagree),
	   cmocka_unit_test(attributes_without_room_are_bounded),
	   cmocka_unit_test(structures_within_each_other_are_bounded),
	   cmocka_unit_test(the_length_of_a_unit_makes_nothing_cheaper),
	   cmocka_unit_test(abbreviations_of_all_units_are_bounded),
	   cmocka_unit_test(abbreviations_that_libdw_could_read_otherwise_are_refused),
	   cmocka_unit_test(of_two_tables_the_first_counts),
	   cmocka_unit_test(inflated_sections_are_bounded),
	   cmocka_unit_test(a_large_file_is_not_read))
