/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dwarf_part.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "elf/binary.h"
#include "elf/dwarf_file.h"
#include "unit/built.h"

#define UNITS 9

/* Units of different lengths, each with an inlined function. */
#define SOURCE                                                                     \
	"#include <stdlib.h>\n"                                                    \
	"static inline __attribute__((always_inline)) int NAME(inner)(int a)\n"    \
	"{\n"                                                                      \
	"	for (volatile int i = 0; i < a; i++)\n"                                  \
	"		a ^= rand() + i;\n"                                                     \
	"	return a;\n"                                                             \
	"}\n"                                                                      \
	"struct NAME(items) { int a, b, c; };\n"                                   \
	"__attribute__((noinline, used)) int NAME(outer)(int a)\n"                 \
	"{\n"                                                                      \
	"	struct NAME(items) items = { NAME(inner)(a), NAME(inner)(a + 1), 0 };\n" \
	"	return items.a + items.b * 2;\n"                                         \
	"}\n"

static void write_units(struct scratch *scratch)
{
	char name[32], text[4096], *end;

	scratch_init(scratch);
	for (int i = 0; i < UNITS; i++) {
		end = text + snprintf(text, sizeof(text), "#define NAME(x) x##_%d\n" SOURCE, i);
		for (int k = 0; k < i * 3; k++)
			end += sprintf(end, "int more_%d_%d(int a) { return a + %d; }\n", i, k, k);
		snprintf(name, sizeof(name), "u%d.c", i);
		scratch_write(scratch, name, (struct text){ text, (size_t)(end - text) });
	}
	scratch_write(scratch, "main.c", TEXT("int main(void) { return 0; }\n"));
}

static bool build_units(struct scratch *scratch, const char *compiler)
{
	char command[256];

	write_units(scratch);
	snprintf(command, sizeof(command), "%s -O2 -o a main.c u?.c", compiler);
	if (built(scratch, command))
		return true;
	scratch_deinit(scratch);
	return false;
}

struct opened {
	int fd;
	struct image image;
	struct dwarf_file file;
};

static void open_file_for(const struct scratch *scratch, const struct dwarf_addresses *addresses,
			  struct opened *ret)
{
	ret->fd = openat(scratch->dir, "a", O_RDONLY | O_CLOEXEC);
	assert_true(ret->fd >= 0);
	assert_int_equal(image_open(ret->fd, &ret->image), 0);
	assert_int_equal(dwarf_file_open(&ret->image, addresses, &ret->file), DWARF_FILE_OPEN);
}

static void close_opened(struct opened *opened)
{
	dwarf_file_close(&opened->file);
	image_close(&opened->image);
	close(opened->fd);
}

/* The bytes of the sections that may be cut. */
static size_t length_for(const struct scratch *scratch, const struct dwarf_addresses *addresses)
{
	struct opened opened;
	size_t length;

	open_file_for(scratch, addresses, &opened);
	length = opened.file.abbreviations.length + opened.file.lines.length +
		 dwarf_file_section(&opened.file, ".debug_info").length;
	close_opened(&opened);
	return length;
}

static uint64_t address_of(const struct scratch *scratch, const char *function)
{
	char command[256], *line;
	uint64_t address;

	snprintf(command, sizeof(command), "nm a | awk '$3 == \"%s\" { print $1 }'", function);
	line = printed(scratch, command);
	address = strtoull(line, NULL, 16);
	assert_true(address != 0);
	free(line);
	return address;
}

/* All that is said about an address, which is the only one that is prepared. */
static void describe(const struct scratch *scratch, uint64_t address, bool prepare, char out[4096])
{
	const struct dwarf_addresses wanted = { .items = &address, .count = 1 };
	uint64_t work = INLINED_WORK_MAX;
	const struct binary_options options = { .inlined_work = &work };
	struct binary *binary;
	struct binary_found found;
	int fd = openat(scratch->dir, "a", O_RDONLY | O_CLOEXEC);
	char *end = out;

	assert_int_equal(binary_open(fd, &options, &binary), 0);
	if (prepare)
		binary_prepare(binary, &wanted);
	assert_true(binary_find(binary, address, &found));
	end += sprintf(end, "%s", found.name);
	for (size_t i = 0; i < found.inlined.count; i++)
		end += sprintf(end, " %s %s:%u", found.inlined.functions[i].name,
			       found.inlined.functions[i].source, found.inlined.functions[i].line);
	binary_destroy(binary);
	close(fd);
}

/* How many of its addresses have an inlined function. */
static int compare_function(const struct scratch *scratch, uint64_t start)
{
	char part[4096], whole[4096];
	int inlined = 0;

	for (uint64_t address = start; address < start + 120; address++) {
		describe(scratch, address, true, part);
		describe(scratch, address, false, whole);
		assert_string_equal(part, whole);
		inlined += strstr(part, "inner") != NULL;
	}
	return inlined;
}

static void compare_parts(const char *compiler, bool is_cut)
{
	struct scratch scratch;
	size_t whole, before = 0;
	int inlined = 0;

	if (!build_units(&scratch, compiler))
		return;
	whole = length_for(&scratch, NULL);
	for (int i = 0; i < UNITS; i++) {
		char name[32];
		const uint64_t address = address_of(&scratch, (sprintf(name, "outer_%d", i), name));
		const struct dwarf_addresses one = { .items = &address, .count = 1 };
		const size_t length = length_for(&scratch, &one);

		if (is_cut)
			assert_true(length > before);
		if (is_cut && i < UNITS - 1)
			assert_true(length < whole);
		else if (!is_cut)
			assert_int_equal(length, whole);
		before = length;
		inlined += compare_function(&scratch, address);
	}
	assert_true(inlined > UNITS);
	scratch_deinit(&scratch);
}

TEST(a_part_says_the_same_as_the_whole)
{
	compare_parts("gcc -g", true);
	compare_parts("gcc -g -gz=zlib", true);
	compare_parts("gcc -gdwarf-4", true);
	compare_parts("gcc -gdwarf-4 -gz=zlib", true);
}

TEST(without_ranges_of_units_all_is_read)
{
	compare_parts("clang -g", false);
	compare_parts("clang -g -gz=zlib", false);
}

TEST(units_that_refer_to_each_other_are_all_read)
{
	compare_parts("gcc -g -flto -fno-ipa-icf -Wl,-z,norelro", false);
}

TEST(an_address_in_no_unit_needs_all)
{
	struct scratch scratch;
	uint64_t addresses[2] = { 0, 1 };
	const struct dwarf_addresses two = { .items = addresses, .count = 2 };
	const struct dwarf_addresses first = { .items = addresses, .count = 1 };
	size_t whole, one;

	if (!build_units(&scratch, "gcc -g"))
		skip();
	whole = length_for(&scratch, NULL);
	addresses[0] = address_of(&scratch, "outer_0");
	one = length_for(&scratch, &first);
	assert_true(one < whole);
	assert_int_equal(length_for(&scratch, &two), whole);
	/* The same one again, and the start of the program. */
	addresses[1] = addresses[0];
	assert_int_equal(length_for(&scratch, &two), one);
	addresses[1] = address_of(&scratch, "_start");
	assert_int_equal(length_for(&scratch, &two), one);
	/* In whichever order. */
	addresses[1] = addresses[0];
	addresses[0] = address_of(&scratch, "outer_3");
	assert_true(length_for(&scratch, &two) > one);
	assert_true(length_for(&scratch, &two) < whole);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(a_part_says_the_same_as_the_whole),
	   cmocka_unit_test(without_ranges_of_units_all_is_read),
	   cmocka_unit_test(units_that_refer_to_each_other_are_all_read),
	   cmocka_unit_test(an_address_in_no_unit_needs_all))
