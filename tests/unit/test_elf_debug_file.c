/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/debug_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/struct_fields.h"
#include "unit/fake_elf.h"
#include "unit/twins.h"

/* --- separate files --- */

/* A file system with one file in it, and all the paths that were asked for. */
struct files {
	struct scratch scratch;
	const char *path;
	char asked[2048];
};

static int open_there(void *context, const char *path)
{
	struct files *files = context;

	strcat(strcat(files->asked, path), "\n");
	if (!files->path || strcmp(path, files->path) != 0)
		return -1;
	return open(scratch_path(&files->scratch, "debug"), O_RDONLY | O_CLOEXEC);
}

/* Is the debug file of `fake`, which is /opt/a b/program, found at `path`? */
static bool is_found(const struct fake_elf *fake, const struct fake_elf *debug, const char *path,
		     struct files *files)
{
	struct text bytes = fake_elf_make(fake), debug_bytes = fake_elf_make(debug);
	struct image image = image_of(bytes);
	struct elf elf;
	int fd;

	*files = (struct files){ .path = path };
	scratch_init(&files->scratch);
	scratch_write(&files->scratch, "debug", debug_bytes);
	assert_true(elf_open(&image, &elf));
	fd = debug_file_open(&elf, "/opt/a b/program", open_there, files);
	if (fd >= 0)
		close(fd);
	elf_close(&elf);
	unguard(bytes);
	unguard(debug_bytes);
	scratch_deinit(&files->scratch);
	return fd >= 0;
}

#define EVERYWHERE                                 \
	"/usr/lib/debug/.build-id/61/62ff.debug\n" \
	"/opt/a b/program.debug\n"                 \
	"/opt/a b/.debug/program.debug\n"          \
	"/usr/lib/debug/opt/a b/program.debug\n"

static const struct fake_elf with_both = { .machine = EM_X86_64,
					   .build_id = "ab\xff",
					   .link = "program.debug" };

TEST(it_is_looked_for_in_order)
{
	const struct fake_elf other = { .machine = EM_X86_64, .build_id = "abc" };
	const struct fake_elf foreign = { .machine = EM_AARCH64, .build_id = "ab\xff" };
	struct files files;

	assert_false(is_found(&with_both, &with_both, NULL, &files));
	assert_string_equal(files.asked, EVERYWHERE);
	for (char *rest = (char[]){ EVERYWHERE }, *path; (path = strsep(&rest, "\n")) && *path;)
		assert_true(is_found(&with_both, &with_both, path, &files));
	assert_false(is_found(&with_both, &other, "/opt/a b/program.debug", &files));
	assert_false(is_found(&with_both, &foreign, "/opt/a b/program.debug", &files));
}

TEST(without_a_build_id_the_checksum_counts)
{
	/* The checksum is that of the debug file, as zlib has it. */
	const struct fake_elf debug = { .machine = EM_X86_64 };
	struct fake_elf fake = { .machine = EM_X86_64, .link = "x" };
	struct text bytes = fake_elf_make(&debug);
	struct files files;
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < bytes.length; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			bool low = (crc ^ (uint8_t)bytes.bytes[i] >> bit) & 1;

			crc = crc >> 1 ^ (low ? 0xedb88320 : 0);
		}
	unguard(bytes);
	fake.link_crc = ~crc;
	assert_true(is_found(&fake, &debug, "/opt/a b/x", &files));
	assert_string_equal(files.asked, "/opt/a b/x\n");
	fake.link_crc ^= 1;
	assert_false(is_found(&fake, &debug, "/opt/a b/x", &files));
}

/* A file full of holes, of which not even the checksum is asked for. */
TEST(a_file_that_is_too_large_is_said)
{
	const struct fake_elf fake = { .machine = EM_X86_64, .link = "x" };
	struct text bytes = fake_elf_make(&fake);
	struct image image = image_of(bytes);
	struct files files = { .path = "/opt/a b/x" };
	struct elf elf;

	scratch_init(&files.scratch);
	scratch_write(&files.scratch, "debug", bytes);
	assert_true(elf_open(&image, &elf));
	assert_int_equal(debug_file_open(&elf, "/opt/a b/program", open_there, &files),
			 DEBUG_FILE_NONE);
	assert_int_equal(
		truncate(scratch_path(&files.scratch, "debug"), (off_t)DEBUG_FILE_SIZE_MAX + 1), 0);
	assert_int_equal(debug_file_open(&elf, "/opt/a b/program", open_there, &files),
			 DEBUG_FILE_TOO_LARGE);
	elf_close(&elf);
	unguard(bytes);
	scratch_deinit(&files.scratch);
}

TEST(a_name_leads_to_no_other_directory)
{
	static const char *const names[] = { "../x", "/x", "a/b", ".", "..", "" };

	for (size_t i = 0; i < array_length(names); i++) {
		const struct fake_elf fake = { .machine = EM_X86_64, .link = names[i] };
		struct files files;

		assert_false(is_found(&fake, &fake, NULL, &files));
		assert_string_equal(files.asked, "");
	}
}

/* --- structures --- */

/* Debug information says of this very program what the compiler says. */
static unsigned find(const char *structure, const char *member, uint64_t *ret)
{
	const char *const members[] = { "first", member };
	const struct struct_fields wanted = { structure, members, 2 };
	struct image image;
	unsigned answers;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(image_open(fd, &image), 0);
	answers = struct_fields_find(&image, &wanted, ret);
	image_close(&image);
	close(fd);
	return answers;
}

struct lonely {
	char before;
	struct {
		uint64_t first;
	} inner;
	uint64_t first;
	char name[100];
	uint16_t last;
};

TEST(members_are_where_the_compiler_has_them)
{
	static volatile struct lonely lonely;
	uint64_t offsets[2] = { 7, 7 };

	lonely.last = 1;
	assert_int_equal(lonely.last, 1);
	assert_int_equal(find("lonely", "last", offsets), 1);
	assert_int_equal(offsets[0], offsetof(struct lonely, first));
	assert_int_equal(offsets[1], offsetof(struct lonely, last));
	offsets[0] = 7;
	assert_int_equal(find("lonely", "missing", offsets), 0);
	assert_int_equal(find("nobody", "last", offsets), 0);
	assert_int_equal(offsets[0], 7);
}

TEST(one_name_may_mean_two_structures)
{
	static volatile struct twin twin;
	uint64_t offsets[2] = { 7, 7 };

	twin.last = 1;
	assert_true(twin_size() > sizeof(twin) + twin.last);
	assert_int_equal(find("twin", "last", offsets), 2);
	assert_int_equal(offsets[0], 7);
}

/* A file with this owner and mode. */
static int made(const struct scratch *scratch, const char *name, uid_t owner, mode_t mode)
{
	int fd;

	scratch_write(scratch, name, TEXT("x"));
	fd = open(scratch_path(scratch, name), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, owner, 0), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	return fd;
}

TEST(a_debug_file_is_trusted_as_its_program)
{
	static const struct {
		uid_t program;
		mode_t program_mode;
		uid_t debug;
		mode_t debug_mode;
		bool fits;
	} rows[] = {
		{ 0, 0755, 0, 0644, true },        { 0, 0755, 4242, 0644, false },
		{ 0, 0755, 0, 0664, false },       { 0, 0755, 0, 0646, false },
		{ 4242, 0755, 4242, 0644, true },  { 4242, 0755, 0, 0644, true },
		{ 4242, 0755, 4243, 0644, false },
	};
	struct scratch scratch;

	if (geteuid() != 0)
		skip();
	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(rows); i++) {
		int program = made(&scratch, "program", rows[i].program, rows[i].program_mode);
		int debug = made(&scratch, "debug", rows[i].debug, rows[i].debug_mode), fd;

		fd = debug_file_check(debug, program);
		assert_int_equal(fd, rows[i].fits ? debug : -1);
		if (fd >= 0)
			close(fd);
		close(program);
	}
	assert_int_equal(debug_file_check(-1, 0), -1);
	scratch_deinit(&scratch);
}

TEST(a_file_without_debug_information_has_no_structures)
{
	static const char *const members[] = { "first" };
	const struct struct_fields wanted = { "lonely", members, 1 };
	struct text bytes = fake_elf_make(&with_both);
	struct image image = image_of(bytes);
	uint64_t offset;

	assert_int_equal(struct_fields_find(&image, &wanted, &offset), 0);
	unguard(bytes);
}

UNIT_TESTS(cmocka_unit_test(it_is_looked_for_in_order),
	   cmocka_unit_test(without_a_build_id_the_checksum_counts),
	   cmocka_unit_test(a_file_that_is_too_large_is_said),
	   cmocka_unit_test(a_name_leads_to_no_other_directory),
	   cmocka_unit_test(a_debug_file_is_trusted_as_its_program),
	   cmocka_unit_test(members_are_where_the_compiler_has_them),
	   cmocka_unit_test(one_name_may_mean_two_structures),
	   cmocka_unit_test(a_file_without_debug_information_has_no_structures))
