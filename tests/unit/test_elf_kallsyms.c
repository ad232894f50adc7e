/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/kallsyms.h"

#include <stdio.h>
#include <string.h>

#include "unit/unit.h"

static struct kallsyms *parsed(const char *lines)
{
	struct text bytes = guarded(lines, strlen(lines));
	struct kallsyms *symbols = NULL;

	expect_ok(kallsyms_parse(bytes, &symbols));
	unguard(bytes);
	return symbols;
}

static const char *found(const struct kallsyms *symbols, uint64_t address)
{
	static char text[256];
	struct kallsym symbol;

	if (!kallsyms_find(symbols, address, &symbol))
		return "-";
	snprintf(text, sizeof(text), "%.*s+%#lx [%.*s]", (int)symbol.name.length, symbol.name.bytes,
		 (unsigned long)(address - symbol.address), (int)symbol.module.length,
		 symbol.module.length ? symbol.module.bytes : "");
	return text;
}

#define EXAMPLE                                           \
	"ffffffff81000000 T _stext\n"                     \
	"ffffffff81000400 t helper\n"                     \
	"ffffffff81000400 T __x64_sys_read\n"             \
	"ffffffff81000400 T ksys_read\n"                  \
	"ffffffff81000440 d some_data\n"                  \
	"ffffffff81000500 t helper.isra.0\n"              \
	"ffffffffc0100000 t init_module\t[xfs]\n"         \
	"ffffffffc0000000 t bpf_prog_12ab_entry\t[bpf]\n" \
	"0000000000000000 A fixed_percpu_data\n"

TEST(an_address_is_in_the_function_before_it)
{
	struct kallsyms *symbols = parsed(EXAMPLE);

	assert_string_equal(found(symbols, 0xffffffff81000010), "_stext+0x10 []");
	assert_string_equal(found(symbols, 0xffffffff810003ff), "_stext+0x3ff []");
	/* Data is no function; of several names the plainest that is global. */
	assert_string_equal(found(symbols, 0xffffffff81000450), "ksys_read+0x50 []");
	assert_string_equal(found(symbols, 0xffffffff81000500), "helper.isra.0+0 []");
	assert_string_equal(found(symbols, 0xffffffffc0100004), "init_module+0x4 [xfs]");
	assert_string_equal(found(symbols, 0xffffffffc0000001), "bpf_prog_12ab_entry+0x1 [bpf]");
	kallsyms_destroy(symbols);
}

TEST(the_code_of_a_function_ends_where_the_next_begins)
{
	struct kallsyms *symbols = parsed(EXAMPLE);
	uint64_t begin = 0, end = 0;

	assert_true(kallsyms_code_of(symbols, TEXT("ksys_read"), &begin, &end));
	assert_int_equal(begin, 0xffffffff81000400);
	assert_int_equal(end, 0xffffffff81000500);
	/* Another name of the same code, none, and one that nothing follows. */
	assert_false(kallsyms_code_of(symbols, TEXT("helper"), &begin, &end));
	assert_false(kallsyms_code_of(symbols, TEXT("ksys_rea"), &begin, &end));
	assert_false(kallsyms_code_of(symbols, TEXT("init_module"), &begin, &end));
	kallsyms_destroy(symbols);
}

TEST(addresses_far_from_functions_are_in_none)
{
	struct kallsyms *symbols = parsed(EXAMPLE);

	assert_string_equal(found(symbols, 0xffffffff80ffffff), "-");
	assert_string_equal(found(symbols, 0xffffffff91000000), "-");
	assert_string_equal(found(symbols, UINT64_MAX), "-");
	assert_string_equal(found(symbols, 0), "-");
	kallsyms_destroy(symbols);
}

TEST(hidden_addresses_are_said)
{
	struct kallsyms *symbols;

	expect_error(
		kallsyms_parse(TEXT("0000000000000000 T _stext\n0000000000000000 T x\n"), &symbols),
		"kernel.kptr_restrict");
	expect_error(kallsyms_parse(TEXT(""), &symbols), "addresses are hidden");
	expect_error(kallsyms_read("/nonexistent/kallsyms", &symbols), "/nonexistent/kallsyms: No");
}

TEST(lines_that_are_none_are_passed_over)
{
	struct kallsyms *symbols = parsed("ffffffff81000000 T\n\nffffffff81000000\nz T name\n"
					  "ffffffff81000000 TT name\n"
					  "10ffffffff81000000 T name\n"
					  "ffffffff81000010 T name xfs\n"
					  "ffffffff81000010 T name []\n"
					  "ffffffff81000020 T good");

	assert_string_equal(found(symbols, 0xffffffff81000020), "good+0 []");
	assert_string_equal(found(symbols, 0xffffffff81000010), "-");
	kallsyms_destroy(symbols);
}

/* Every function that the kernel shows, asked for by its own address, is one of those there. BPF
 * programs are left out, for they come and go between the two readings. */
TEST(this_kernel_is_read_whole)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	struct kallsyms *symbols = NULL;
	struct error *err = kallsyms_read("/proc/kallsyms", &symbols);
	unsigned long address;
	char type, name[512], rest[128];
	size_t count = 0;

	if (!file || err) {
		error_destroy(err);
		if (file)
			fclose(file);
		skip();
	}
	for (;;) {
		struct kallsym symbol;

		rest[0] = '\0';
		if (fscanf(file, "%lx %c %511s%127[^\n]", &address, &type, name, rest) < 3)
			break;
		if (!address || !strchr("tTwW", type) || strstr(rest, "[bpf]"))
			continue;
		count++;
		assert_true(kallsyms_find(symbols, address, &symbol));
		assert_true(symbol.address == address);
	}
	assert_true(count > 1000);
	fclose(file);
	kallsyms_destroy(symbols);
}

UNIT_TESTS(cmocka_unit_test(an_address_is_in_the_function_before_it),
	   cmocka_unit_test(the_code_of_a_function_ends_where_the_next_begins),
	   cmocka_unit_test(addresses_far_from_functions_are_in_none),
	   cmocka_unit_test(hidden_addresses_are_said),
	   cmocka_unit_test(lines_that_are_none_are_passed_over),
	   cmocka_unit_test(this_kernel_is_read_whole))
