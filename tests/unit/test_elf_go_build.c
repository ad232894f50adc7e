/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/go_build.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "unit/built.h"

/* --- by hand: one segment, and no sections --- */

#define AT_DATA   0x200
#define FILE_SIZE 0x1000
#define ADDRESS   0x400000
#define MAGIC     "\xff Go buildinf:"

struct made {
	uint32_t type, flags; /* of the segment */
	size_t at;            /* of the data in the segment */
	const char *data;
	size_t length;
};

static struct go_build find_in(const struct made *made)
{
	static char bytes[FILE_SIZE];
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_machine = EM_X86_64,
		.e_type = ET_EXEC,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	const Elf64_Phdr segment = {
		.p_type = made->type,
		.p_flags = made->flags,
		.p_offset = AT_DATA,
		.p_vaddr = ADDRESS,
		.p_filesz = FILE_SIZE - AT_DATA,
	};
	struct image image;
	struct text copy;
	struct go_build build;
	struct elf elf;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(bytes + AT_DATA + made->at, made->data, made->length);
	copy = guarded(bytes, sizeof(bytes));
	image = image_of(copy);
	assert_true(elf_open(&image, &elf));
	go_build_find(&elf, &build);
	elf_close(&elf);
	unguard(copy);
	return build;
}

#define DATA(literal) .data = literal, .length = sizeof(literal) - 1
#define INLINE        MAGIC "\x08\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static void expect_build(const struct made *made, bool is_go, uint32_t major, uint32_t minor)
{
	const struct go_build build = find_in(made);

	assert_int_equal(build.is_go, is_go);
	assert_int_equal(build.major, major);
	assert_int_equal(build.minor, minor);
}

static void build_information_without_sections(void **state)
{
	(void)state;
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40, DATA(INLINE "\x08go1.19.8") },
		     true, 1, 19);
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40,
				     DATA(INLINE "\x17"
						 "devel go1.21-b3ffb1e Mo") },
		     true, 1, 21);
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40, DATA(INLINE "\x08go1.x.yz") },
		     true, 0, 0);
	/* A length that no version has. */
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40, DATA(INLINE "\xffgo1.19") }, true,
		     0, 0);
}

/* Go 1.13 to 1.17: the address of a string. */
static void build_information_with_pointers(void **state)
{
	static char data[0x80] = MAGIC "\x08\0";
	const uint64_t string = ADDRESS + 0x40 + 0x30, text[2] = { ADDRESS + 0x40 + 0x60, 8 };

	(void)state;
	memcpy(data + 16, &string, sizeof(string));
	memcpy(data + 0x30, text, sizeof(text));
	memcpy(data + 0x60, "go1.17.3", 8);
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40, data, sizeof(data) }, true, 1, 17);
	/* Of a position-independent file it may be nowhere. */
	memset(data + 16, 0xee, sizeof(string));
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40, data, sizeof(data) }, true, 0, 0);
}

/* Programs that look for it have the same text: in what cannot be written, or anywhere. */
static void the_text_alone_is_no_mark(void **state)
{
	(void)state;
	expect_build(&(struct made){ PT_LOAD, PF_R, 0x40, DATA(INLINE "\x08go1.19.8") }, false, 0,
		     0);
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x41, DATA(INLINE "\x08go1.19.8") },
		     false, 0, 0);
	expect_build(&(struct made){ PT_LOAD, PF_R | PF_W, 0x40, DATA("Go buildinf:") }, false, 0,
		     0);
}

/* The last bytes of the file: what would follow is not there. */
static void cut_build_information_is_a_mark(void **state)
{
	(void)state;
	for (size_t length = sizeof(MAGIC) - 1; length <= sizeof(INLINE "\x08go1.19.8") - 1;
	     length++) {
		/* Only at a multiple of 16 is it one. */
		const size_t at = (FILE_SIZE - AT_DATA - length) & ~(size_t)15;
		struct made made = { PT_LOAD, PF_R | PF_W, at, INLINE "\x08go1.19.8", length };

		assert_true(find_in(&made).is_go);
	}
}

static void the_note_is_a_mark(void **state)
{
	(void)state;
	expect_build(&(struct made){ PT_NOTE, PF_R, 0, DATA("\4\0\0\0\4\0\0\0\4\0\0\0Go\0\0abcd") },
		     true, 0, 0);
	expect_build(&(struct made){ PT_NOTE, PF_R, 0, DATA("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd") },
		     false, 0, 0);
}

/* --- real files --- */

static struct go_build build_of(const struct scratch *scratch, const char *name, bool *ret_has_code)
{
	int fd = open(scratch_path(scratch, name), O_RDONLY | O_CLOEXEC);
	struct go_build build;
	struct image image;
	uint64_t start, end;
	struct elf elf;
	char *nm;

	assert_return_code(fd, 0);
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	go_build_find(&elf, &build);
	nm = printed(scratch, "nm program 2>/dev/null | awk '$3 == \"main.main\" { print $1 }'");
	*ret_has_code = go_build_code(&elf, &start, &end) && start <= strtoull(nm, NULL, 16) &&
			end > strtoull(nm, NULL, 16);
	free(nm);
	elf_close(&elf);
	image_close(&image);
	close(fd);
	return build;
}

static void programs_of_go_are_found(void **state)
{
	static const struct {
		const char *command;
		bool has_symbols;
	} builds[] = {
		{ "go build -o program a.go", true },
		{ "go build -buildmode=pie -o program a.go", true },
		{ "go build -ldflags='-s -w' -o program a.go", false },
		{ "go build -o program a.go && strip program", false },
		{ "go build -o program a.go && objcopy --rename-section .go.buildinfo=.x "
		  "--rename-section .gopclntab=.y --rename-section .note.go.buildid=.z program",
		  true },
		{ "CGO_ENABLED=1 go build -o program cgo.go", true },
		{ "CGO_ENABLED=1 go build -buildmode=c-shared -o program library.go", true },
	};
	struct scratch scratch;
	struct go_build build;
	bool has_code;

	(void)state;
	scratch_init(&scratch);
	scratch_write(&scratch, "a.go", TEXT("package main\nfunc main() { println(1) }\n"));
	scratch_write(&scratch, "cgo.go",
		      TEXT("package main\n// int one(void) { return 1; }\nimport \"C\"\n"
			   "func main() { println(C.one()) }\n"));
	scratch_write(&scratch, "library.go",
		      TEXT("package main\nimport \"C\"\n//export One\n"
			   "func One() int { return 1 }\nfunc main() {}\n"));
	scratch_write(&scratch, "a.c", TEXT("int main(void) { return 0; }\n"));
	if (!built(&scratch, "go version")) {
		scratch_deinit(&scratch);
		skip();
	}
	for (size_t i = 0; i < array_length(builds); i++) {
		char command[512];

		snprintf(command, sizeof(command), "export GO111MODULE=off; rm -f program; %s",
			 builds[i].command);
		assert_true(built(&scratch, command));
		build = build_of(&scratch, "program", &has_code);
		assert_true(build.is_go);
		assert_int_equal(build.major, 1);
		assert_in_range(build.minor, 1, 99);
		assert_int_equal(has_code, builds[i].has_symbols);
	}
	assert_true(built(&scratch, "cc -o program a.c"));
	assert_false(build_of(&scratch, "program", &has_code).is_go);
	scratch_deinit(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_information_without_sections),
		cmocka_unit_test(build_information_with_pointers),
		cmocka_unit_test(the_text_alone_is_no_mark),
		cmocka_unit_test(cut_build_information_is_a_mark),
		cmocka_unit_test(the_note_is_a_mark),
		cmocka_unit_test(programs_of_go_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
