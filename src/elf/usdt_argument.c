/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/usdt_argument.h"

#include <elf.h>
#include <errno.h>

#include "base/array.h"

/* --- words and characters --- */

/* Cut the next argument off. One of aarch64 has spaces in its brackets. */
static bool cut_argument(struct text *rest, struct text *ret)
{
	unsigned open = 0;
	size_t length = 0;

	while (rest->length && *rest->bytes == ' ') {
		rest->bytes++;
		rest->length--;
	}
	for (; length < rest->length && (open || rest->bytes[length] != ' '); length++) {
		const char c = rest->bytes[length];

		if (c == '[' || c == '(')
			open++;
		else if ((c == ']' || c == ')') && open)
			open--;
	}
	/* An empty text may have no bytes. */
	if (!length)
		return false;
	*ret = (struct text){ rest->bytes, length };
	rest->bytes += length;
	rest->length -= length;
	return true;
}

static bool take_char(struct text *rest, char c)
{
	if (!rest->length || *rest->bytes != c)
		return false;
	rest->bytes++;
	rest->length--;
	return true;
}

/* Cut off the longest piece of characters for which `is_part` is true; it may be empty. */
static struct text take_while(struct text *rest, bool (*is_part)(char c))
{
	const char *begin = rest->bytes;

	while (rest->length && is_part(*rest->bytes)) {
		rest->bytes++;
		rest->length--;
	}
	return (struct text){ begin, (size_t)(rest->bytes - begin) };
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_of_register(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z');
}

/* GCC puts '.' into the names of variables that are static in a function. */
static bool is_of_symbol(char c)
{
	return is_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '$';
}

/* Decimal, from INT64_MIN to UINT64_MAX, which compilers write of one and the same 64 bits. */
static bool take_number(struct text *rest, int64_t *ret)
{
	struct text copy = *rest;
	const bool is_negative = take_char(&copy, '-');
	uint64_t magnitude;

	if (!text_u64(take_while(&copy, is_digit), &magnitude) ||
	    (is_negative && magnitude > (uint64_t)INT64_MAX + 1))
		return false;
	*ret = (int64_t)(is_negative ? 0 - magnitude : magnitude);
	*rest = copy;
	return true;
}

/* --- registers --- */

struct usdt_register {
	uint8_t number, bytes;
};

/* arch/x86/include/uapi/asm/ptrace.h; the names for 64, 32, 16 and 8 bits. */
static const struct {
	uint8_t number;
	const char *names[4];
} x86_registers[] = {
	{ 0, { "r15", "r15d", "r15w", "r15b" } }, { 1, { "r14", "r14d", "r14w", "r14b" } },
	{ 2, { "r13", "r13d", "r13w", "r13b" } }, { 3, { "r12", "r12d", "r12w", "r12b" } },
	{ 4, { "rbp", "ebp", "bp", "bpl" } },     { 5, { "rbx", "ebx", "bx", "bl" } },
	{ 6, { "r11", "r11d", "r11w", "r11b" } }, { 7, { "r10", "r10d", "r10w", "r10b" } },
	{ 8, { "r9", "r9d", "r9w", "r9b" } },     { 9, { "r8", "r8d", "r8w", "r8b" } },
	{ 10, { "rax", "eax", "ax", "al" } },     { 11, { "rcx", "ecx", "cx", "cl" } },
	{ 12, { "rdx", "edx", "dx", "dl" } },     { 13, { "rsi", "esi", "si", "sil" } },
	{ 14, { "rdi", "edi", "di", "dil" } },    { 19, { "rsp", "esp", "sp", "spl" } },
};
#define X86_RIP 16

static bool take_x86_register(struct text *rest, struct usdt_register *ret)
{
	struct text copy = *rest, name;

	if (!take_char(&copy, '%'))
		return false;
	name = take_while(&copy, is_of_register);
	for (size_t i = 0; i < array_length(x86_registers); i++)
		for (unsigned size = 0; size < array_length(x86_registers[i].names); size++)
			if (text_equal(name, text_of(x86_registers[i].names[size]))) {
				*ret = (struct usdt_register){ x86_registers[i].number,
							       (uint8_t)(8u >> size) };
				*rest = copy;
				return true;
			}
	return false;
}

/* arch/arm64/include/uapi/asm/ptrace.h: x0 to x30, sp. */
#define ARM64_SP 31

static bool take_arm64_register(struct text *rest, struct usdt_register *ret)
{
	struct text copy = *rest, name = take_while(&copy, is_of_register);
	const bool is_half = text_starts(name, TEXT("w"));
	uint32_t number = ARM64_SP;

	if (!text_equal(name, TEXT("sp"))) {
		if (!is_half && !text_starts(name, TEXT("x")))
			return false;
		if (!text_u32((struct text){ name.bytes + 1, name.length - 1 }, &number) ||
		    number >= ARM64_SP)
			return false;
	}
	*ret = (struct usdt_register){ (uint8_t)number, is_half ? 4 : 8 };
	*rest = copy;
	return true;
}

/* --- operands; false: of another form --- */

static void put_register(struct usdt_register from, struct usdt_argument *ret)
{
	ret->base = from.number;
	/* Bits above are those of another value. */
	if (from.bytes < ret->bytes)
		ret->bytes = from.bytes;
}

/* Addresses have 64 bits. */
static bool take_address_register(struct text *rest, uint8_t *ret)
{
	struct usdt_register found;

	if (!take_x86_register(rest, &found) || found.bytes != 8)
		return false;
	*ret = found.number;
	return true;
}

/* ",%index" and ",scale", each of which may be missing. */
static bool take_x86_index(struct text *rest, struct usdt_argument *ret)
{
	int64_t scale = 1;

	if (!take_char(rest, ','))
		return true;
	if (!take_address_register(rest, &ret->index))
		return false;
	if (take_char(rest, ',') && !take_number(rest, &scale))
		return false;
	for (; scale > 1 && ret->shift < 3 && scale % 2 == 0; scale /= 2)
		ret->shift++;
	return scale == 1;
}

/* "symbol", "symbol+8", "symbol(%rip)": of the same file, so it is as far from the probe in each
 * process. */
static bool take_x86_variable(struct text *rest, struct usdt_argument *ret)
{
	ret->symbol = take_while(rest, is_of_symbol);
	if (rest->length && (*rest->bytes == '-' || *rest->bytes == '+')) {
		take_char(rest, '+');
		if (!take_number(rest, &ret->offset))
			return false;
	}
	ret->base = X86_RIP;
	if (text_starts(*rest, TEXT("(%rip)"))) {
		rest->bytes += strlen("(%rip)");
		rest->length -= strlen("(%rip)");
	}
	return true;
}

static bool take_x86_memory(struct text *rest, struct usdt_argument *ret)
{
	ret->is_memory = true;
	if (rest->length && is_of_symbol(*rest->bytes) && !is_digit(*rest->bytes))
		return take_x86_variable(rest, ret);
	take_number(rest, &ret->offset);
	if (!take_char(rest, '('))
		return false;
	/* Without a base there is an index. */
	if (!take_address_register(rest, &ret->base) && (!rest->length || *rest->bytes != ','))
		return false;
	return take_x86_index(rest, ret) && take_char(rest, ')') &&
	       (ret->base != USDT_NO_REGISTER || ret->index != USDT_NO_REGISTER);
}

static bool take_x86(struct text *rest, struct usdt_argument *ret)
{
	struct usdt_register found;

	if (take_char(rest, '$'))
		return take_number(rest, &ret->offset);
	if (!take_x86_register(rest, &found))
		return take_x86_memory(rest, ret);
	put_register(found, ret);
	return true;
}

static void skip_space(struct text *rest)
{
	while (take_char(rest, ' '))
		;
}

static bool take_arm64_memory(struct text *rest, struct usdt_argument *ret)
{
	struct usdt_register found;

	ret->is_memory = true;
	if (!take_arm64_register(rest, &found) || found.bytes != 8)
		return false;
	ret->base = found.number;
	skip_space(rest);
	if (take_char(rest, ',')) {
		skip_space(rest);
		take_char(rest, '#');
		if (!take_number(rest, &ret->offset))
			return false;
	}
	skip_space(rest);
	return take_char(rest, ']');
}

static bool take_arm64(struct text *rest, struct usdt_argument *ret)
{
	struct usdt_register found;

	if (take_char(rest, '['))
		return take_arm64_memory(rest, ret);
	if (text_equal(*rest, TEXT("xzr")) || text_equal(*rest, TEXT("wzr"))) {
		rest->length = 0;
		return true;
	}
	if (take_arm64_register(rest, &found)) {
		put_register(found, ret);
		return true;
	}
	take_char(rest, '#');
	return take_number(rest, &ret->offset);
}

/* --- arguments --- */

static bool take_size(struct text *rest, struct usdt_argument *ret)
{
	int64_t size;

	if (!take_number(rest, &size) || !take_char(rest, '@'))
		return false;
	ret->is_signed = size < 0;
	if (size != 1 && size != 2 && size != 4 && size != 8 && size != -1 && size != -2 &&
	    size != -4 && size != -8)
		return false;
	ret->bytes = (uint8_t)(size < 0 ? -size : size);
	return true;
}

static struct error *parse_argument(struct text argument, unsigned number, uint16_t machine,
				    struct usdt_argument *ret)
{
	struct usdt_argument found = { .base = USDT_NO_REGISTER, .index = USDT_NO_REGISTER };
	struct text rest = argument;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return error_coded(EINVAL, "arguments of probes for machine %u cannot be read",
				   machine);
	if (!take_size(&rest, &found) ||
	    !(machine == EM_X86_64 ? take_x86 : take_arm64)(&rest, &found) || rest.length)
		return error_coded(EINVAL, "arg%u is in a place that cannot be read: '%.*s'",
				   number, argument.length < 60 ? (int)argument.length : 60,
				   argument.bytes);
	*ret = found;
	return NULL;
}

struct error *usdt_argument_parse(struct text text, unsigned number, uint16_t machine,
				  struct usdt_argument *ret)
{
	struct text argument = { 0 };
	unsigned count = 0;

	while (count < number && cut_argument(&text, &argument))
		count++;
	if (number && count == number)
		return parse_argument(argument, number, machine, ret);
	return error_coded(EINVAL, "it has no arg%u, but %u argument%s", number, count,
			   count == 1 ? "" : "s");
}
