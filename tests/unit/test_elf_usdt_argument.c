/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/usdt_argument.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

#include "unit/unit.h"

/* "SIZE base+index<<shift+offset symbol", in brackets if it is memory; "-": no register. */
static void describe(const struct usdt_argument *argument, char *ret, size_t size)
{
	char base[8] = "-", index[8] = "-";

	if (argument->base != USDT_NO_REGISTER)
		snprintf(base, sizeof(base), "%u", argument->base);
	if (argument->index != USDT_NO_REGISTER)
		snprintf(index, sizeof(index), "%u", argument->index);
	snprintf(ret, size, "%s%u %s%s+%s<<%u+%ld%s%.*s%s", argument->is_signed ? "-" : "",
		 argument->bytes, argument->is_memory ? "[" : "", base, index, argument->shift,
		 argument->offset, argument->symbol.length ? " " : "", (int)argument->symbol.length,
		 argument->symbol.bytes, argument->is_memory ? "]" : "");
}

static void expect_at(const char *written, unsigned number, uint16_t machine, const char *expected)
{
	struct text text = guarded(written, strlen(written));
	struct usdt_argument found;
	char said[160];

	expect_ok(usdt_argument_parse(text, number, machine, &found));
	describe(&found, said, sizeof(said));
	assert_string_equal(said, expected);
	unguard(text);
}

static void expect_wrong(const char *written, unsigned number, uint16_t machine, const char *why)
{
	struct text text = guarded(written, strlen(written));
	struct usdt_argument found = { .bytes = 77 };
	struct error *err = usdt_argument_parse(text, number, machine, &found);

	assert_non_null(err);
	assert_int_equal(err->errnum, EINVAL);
	assert_int_equal(found.bytes, 77);
	expect_error(err, why);
	unguard(text);
}

static void expect_x86(const char *written, const char *expected)
{
	expect_at(written, 1, EM_X86_64, expected);
}

static void expect_arm64(const char *written, const char *expected)
{
	expect_at(written, 1, EM_AARCH64, expected);
}

/* The numbers of registers are those of struct pt_regs: r15 is 0, rsp 19. */
TEST(registers_of_x86_64)
{
	expect_x86("8@%rax", "8 10+-<<0+0");
	expect_x86("-4@%eax", "-4 10+-<<0+0");
	expect_x86("-2@%si", "-2 13+-<<0+0");
	expect_x86("1@%sil", "1 13+-<<0+0");
	expect_x86("1@%bl", "1 5+-<<0+0");
	expect_x86("8@%r15", "8 0+-<<0+0");
	expect_x86("4@%r8d", "4 9+-<<0+0");
	expect_x86("1@%r11b", "1 6+-<<0+0");
	expect_x86("8@%rsp", "8 19+-<<0+0");
	/* The rest of the register is undefined. */
	expect_x86("-8@%ax", "-2 10+-<<0+0");
}

TEST(constants_of_x86_64)
{
	expect_x86("-4@$5", "-4 -+-<<0+5");
	expect_x86("-4@$-71", "-4 -+-<<0+-71");
	expect_x86("8@$18446744073709551615", "8 -+-<<0+-1");
	expect_x86("-8@$-9223372036854775808", "-8 -+-<<0+-9223372036854775808");
}

TEST(memory_of_x86_64)
{
	expect_x86("8@(%rax)", "8 [10+-<<0+0]");
	expect_x86("-4@-20(%rbp)", "-4 [4+-<<0+-20]");
	expect_x86("8@8(%rsp)", "8 [19+-<<0+8]");
	expect_x86("1@-96(%rbp,%rax,8)", "1 [4+10<<3+-96]");
	expect_x86("1@(%rbx,%rcx)", "1 [5+11<<0+0]");
	expect_x86("2@(%rbx,%rcx,1)", "2 [5+11<<0+0]");
	expect_x86("2@16(,%r12,4)", "2 [-+3<<2+16]");
}

/* At the same distance from the probe in each process. */
TEST(variables_of_x86_64)
{
	expect_x86("4@counter(%rip)", "4 [16+-<<0+0 counter]");
	expect_x86("4@table+24(%rip)", "4 [16+-<<0+24 table]");
	expect_x86("-8@count.2713-8(%rip)", "-8 [16+-<<0+-8 count.2713]");
	expect_x86("-8@_x", "-8 [16+-<<0+0 _x]");
}

TEST(places_of_aarch64)
{
	expect_arm64("8@x0", "8 0+-<<0+0");
	expect_arm64("-4@w30", "-4 30+-<<0+0");
	expect_arm64("-8@w3", "-4 3+-<<0+0");
	expect_arm64("8@sp", "8 31+-<<0+0");
	expect_arm64("-4@[sp, 16]", "-4 [31+-<<0+16]");
	expect_arm64("-4@[x29,-16]", "-4 [29+-<<0+-16]");
	expect_arm64("8@[x20]", "8 [20+-<<0+0]");
	expect_arm64("8@[x20, #8]", "8 [20+-<<0+8]");
	expect_arm64("-4@-100", "-4 -+-<<0+-100");
	expect_arm64("4@xzr", "4 -+-<<0+0");
}

TEST(one_of_several)
{
	const char *x86 = "-4@%eax 8@-16(%rbp, %rcx, 8)  4@%xmm0 -4@$5 ";
	const char *arm64 = "8@x0 -4@[sp, 16] 4@5";

	expect_at(x86, 1, EM_X86_64, "-4 10+-<<0+0");
	expect_at(x86, 4, EM_X86_64, "-4 -+-<<0+5");
	expect_wrong(x86, 5, EM_X86_64, "it has no arg5, but 4 arguments");
	expect_wrong(x86, 0, EM_X86_64, "it has no arg0");
	expect_at(arm64, 2, EM_AARCH64, "-4 [31+-<<0+16]");
	expect_at(arm64, 3, EM_AARCH64, "4 -+-<<0+5");
	expect_wrong("", 1, EM_X86_64, "it has no arg1, but 0 arguments");
	expect_wrong("8@x0", 2, EM_AARCH64, "it has no arg2, but 1 argument");
	expect_error(
		usdt_argument_parse((struct text){ 0 }, 1, EM_X86_64, &(struct usdt_argument){ 0 }),
		"it has no arg1, but 0 arguments");
}

TEST(what_cannot_be_read)
{
	static const char *const x86[] = {
		"8@%xmm0",
		"8f@%xmm0",
		"16@%rax",
		"3@%eax",
		"0@%eax",
		"%eax",
		"@%eax",
		"8@",
		"1@%ah",
		"8@%rip",
		"8@8(%rip)",
		"8@%r16",
		"8@%",
		"8@$",
		"8@$x",
		"8@$5x",
		"8@5",
		"8@(",
		"8@()",
		"8@(%eax)",
		"8@(%rax",
		"8@(%rax)x",
		"8@(%rax,5)",
		"8@(%rax,%rcx,3)",
		"8@(%rax,%rcx,16)",
		"8@(%rax,%rcx,0)",
		"8@(%rax,%rcx,-1)",
		"8@(,)",
		"8@%fs:8",
		"8@x@GOTPCREL(%rip)",
		"8@x(%rbx)",
		"8@x+(%rip)",
		"8@x+y",
		"8@99999999999999999999(%rax)",
		"8@$-9223372036854775809",
		"8@[sp, 8]",
	};
	static const char *const arm64[] = {
		"8@x31",
		"8@x",
		"8@w",
		"8@v0",
		"8@[sp",
		"8@[w0]",
		"8@[x0, x1]",
		"8@[x0, :lo12:x]",
		"8@[x0,]",
		"8@[]",
		"8@x0]",
		"8@counter",
		"8@%rax",
		"8@$5",
		"8@99999999999999999999",
	};

	for (size_t i = 0; i < array_length(x86); i++)
		expect_wrong(x86[i], 1, EM_X86_64, "arg1 is in a place that cannot be read: '");
	for (size_t i = 0; i < array_length(arm64); i++)
		expect_wrong(arm64[i], 1, EM_AARCH64, "arg1 is in a place that cannot be read: '");
	expect_wrong("8@%rax", 1, EM_386, "machine 3");
}

UNIT_TESTS(cmocka_unit_test(registers_of_x86_64), cmocka_unit_test(constants_of_x86_64),
	   cmocka_unit_test(memory_of_x86_64), cmocka_unit_test(variables_of_x86_64),
	   cmocka_unit_test(places_of_aarch64), cmocka_unit_test(one_of_several),
	   cmocka_unit_test(what_cannot_be_read))
