/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/returns.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "elf/elf.h"
#include "unit/built.h"

/* --- by hand --- */

/* "state: places | restarts", what is expected of the code. */
static void expect_bytes(const char *bytes, size_t length, const char *expected)
{
	struct text code = guarded(bytes, length);
	struct returns returns = { 0 };
	enum returns_state state = returns_find(code, &returns);
	char said[256];
	size_t at = (size_t)snprintf(said, sizeof(said), "%d:", state);

	for (size_t i = 0; !state && i < returns.places.count; i++)
		at += (size_t)snprintf(said + at, sizeof(said) - at, " %d",
				       (int)returns.places.items[i]);
	at += (size_t)snprintf(said + at, sizeof(said) - at, " |");
	for (size_t i = 0; !state && i < returns.restarts.count; i++)
		at += (size_t)snprintf(said + at, sizeof(said) - at, " %d",
				       (int)returns.restarts.items[i]);
	if (state)
		snprintf(said + at, sizeof(said) - at, " %d", (int)returns.stop);
	assert_string_equal(said, expected);
	returns_deinit(&returns);
	unguard(code);
}

#define EXPECT(literal, expected) expect_bytes(literal, sizeof(literal) - 1, expected)

static void returns_are_found(void **state)
{
	(void)state;
	EXPECT("\xc3", "0: 0 |");
	/* ret 8; rep ret; nop */
	EXPECT("\xc2\x08\x00\xf3\xc3\x90", "0: 0 3 |");
	/* endbr64; push; a constant that has the byte of a RET in it; pop; ret */
	EXPECT("\xf3\x0f\x1e\xfa\x55\xb8\xc3\xc3\xc3\xc3\x5d\xc3", "0: 11 |");
	/* An instruction of AVX-512, and a far return, which is none. */
	EXPECT("\x62\xf1\x7c\x48\x58\xc1\xcb", "0: |");
	EXPECT("", "0: |");
}

/* What Go's functions begin with: cmp rsp,[r14+16]; jbe +1; ret; call; jmp to the start. */
static void jumps_to_the_start_are_found(void **state)
{
	(void)state;
	EXPECT("\x49\x3b\x66\x10\x76\x01\xc3\xe8\x00\x10\x00\x00\xeb\xf2", "0: 6 | 12");
	EXPECT("\x49\x3b\x66\x10\x76\x01\xc3\xe8\x00\x10\x00\x00\xe9\xef\xff\xff\xff", "0: 6 | 12");
	/* A call of itself is none. */
	EXPECT("\xe8\xfb\xff\xff\xff\xc3", "0: 5 |");
}

static void unknown_code_has_no_answer(void **state)
{
	(void)state;
	/* 06 is no instruction of 64 bits. */
	EXPECT("\x90\x06\xc3", "1: | 1");
	/* The last one is cut. */
	EXPECT("\xc3\xe8\x00\x00", "1: | 1");
	/* jmp into the constant of a mov, where another RET would be. */
	EXPECT("\xeb\x01\xb8\xc3\xc3\xc3\xc3\xc3", "2: | 3");
}

static void large_code_is_refused(void **state)
{
	const size_t size = RETURNS_CODE_MAX + 1;
	char *bytes = malloc(size);
	struct returns returns = { 0 };

	(void)state;
	memset(bytes, 0xc3, size);
	assert_int_equal(returns_find((struct text){ bytes, size }, &returns), RETURNS_TOO_LARGE);
	returns_deinit(&returns);
	returns = (struct returns){ 0 };
	assert_int_equal(returns_find((struct text){ bytes, RETURNS_MAX + 1 }, &returns),
			 RETURNS_TOO_LARGE);
	returns_deinit(&returns);
	free(bytes);
}

/* --- all functions of a program, beside objdump --- */

struct comparing {
	struct elf elf;
	const char *listing; /* addresses of all RETs, a line each */
	size_t functions, refused, returns;
};

static bool compare(void *context, const char *name, const Elf64_Sym *symbol)
{
	struct comparing *comparing = context;
	struct returns returns = { 0 };
	struct text code = { elf_at(&comparing->elf, symbol->st_value, symbol->st_size),
			     symbol->st_size };

	(void)name;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_size || !code.bytes)
		return true;
	comparing->functions++;
	if (returns_find(code, &returns) == RETURNS_FOUND) {
		for (size_t i = 0; i < returns.places.count; i++) {
			char line[32];

			snprintf(line, sizeof(line), "\n%llx\n",
				 (unsigned long long)(symbol->st_value + returns.places.items[i]));
			assert_non_null(strstr(comparing->listing, line));
		}
		comparing->returns += returns.places.count;
	} else {
		comparing->refused++;
	}
	returns_deinit(&returns);
	return true;
}

/* Each RET that is found is one, and few functions are refused: in the C library those with AVX-512
 * or shadow stacks, which capstone 4 does not know, and those that jump over a lock prefix. */
static void expect_as_objdump(const struct scratch *scratch, const char *name, size_t least,
			      size_t most_refused)
{
	int fd = open(scratch_path(scratch, name), O_RDONLY | O_CLOEXEC);
	struct comparing comparing = { 0 };
	char command[256], *listing;
	struct image image;

	snprintf(command, sizeof(command),
		 "echo; objdump -dw --no-show-raw-insn %s | sed -nE 's/^ *([0-9a-f]+):\\s+"
		 "((rep|repz|bnd) )?ret\\>.*/\\1/p'",
		 name);
	listing = printed(scratch, command);
	comparing.listing = listing;
	assert_return_code(fd, 0);
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &comparing.elf));
	elf_each_symbol(&comparing.elf, compare, &comparing);
	print_message("%s: %zu functions, %zu refused, %zu RETs\n", name, comparing.functions,
		      comparing.refused, comparing.returns);
	assert_true(comparing.functions > least);
	assert_true(comparing.returns > comparing.functions / 2);
	assert_true(comparing.refused <= most_refused);
	elf_close(&comparing.elf);
	image_close(&image);
	close(fd);
	free(listing);
}

static void real_programs_agree_with_objdump(void **state)
{
	struct scratch scratch;
	bool has_go;

	(void)state;
	scratch_init(&scratch);
	scratch_write(&scratch, "a.go", TEXT("package main\nfunc main() { println(1) }\n"));
	scratch_write(&scratch, "a.c", TEXT("int main(void) { return 0; }\n"));
	if (!built(&scratch, "gcc -static -o c a.c && objdump -v")) {
		scratch_deinit(&scratch);
		skip();
	}
	expect_as_objdump(&scratch, "c", 500, 60);
	has_go = built(&scratch, "GO111MODULE=off go build -o go a.go");
	if (has_go)
		expect_as_objdump(&scratch, "go", 1000, 5);
	scratch_deinit(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_are_found),
		cmocka_unit_test(jumps_to_the_start_are_found),
		cmocka_unit_test(unknown_code_has_no_answer),
		cmocka_unit_test(large_code_is_refused),
		cmocka_unit_test(real_programs_agree_with_objdump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
