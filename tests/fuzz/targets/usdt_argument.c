/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a USDT probe has its arguments: the first byte is which one, and of which machine; the
 * text follows.
 */
#include "elf/usdt_argument.h"

#include <elf.h>

#include "fuzz.h"

static bool is_register(uint8_t number)
{
	return number == USDT_NO_REGISTER || number < USDT_REGISTERS_MAX;
}

static void check(struct text text, unsigned number, uint16_t machine)
{
	struct usdt_argument found = { .bytes = 77 };
	struct error *err = usdt_argument_parse(text, number, machine, &found);

	if (err) {
		must(found.bytes == 77);
		fuzz_check_error(err);
		return;
	}
	must(number > 0);
	must(found.bytes == 1 || found.bytes == 2 || found.bytes == 4 || found.bytes == 8);
	must(is_register(found.base) && is_register(found.index));
	must(found.shift <= 3 && (!found.shift || found.index != USDT_NO_REGISTER));
	/* An address is that of something. */
	must(!found.is_memory || found.base != USDT_NO_REGISTER || found.index != USDT_NO_REGISTER);
	must(!found.symbol.length || (found.is_memory && fuzz_is_inside(found.symbol, text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes;
	const uint8_t first = size ? data[0] : 0;

	if (!size)
		return 0;
	bytes = fuzz_copy(data + 1, size - 1);
	check(bytes, first & 0xf, first & 0x80 ? EM_AARCH64 : EM_X86_64);
	fuzz_release(bytes);
	return 0;
}
