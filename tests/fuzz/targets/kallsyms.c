/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/kallsyms: what is found starts at or before the address, and is one of the lines.
 */
#include "elf/kallsyms.h"
#include "fuzz.h"

static void check_lines(struct text bytes, const struct kallsyms *symbols)
{
	struct text rest = bytes, line;

	while (text_cut(&rest, '\n', &line)) {
		struct kallsym symbol, found;

		if (!kallsym_parse(line, &symbol))
			continue;
		must(fuzz_is_inside(symbol.name, line) && symbol.name.length);
		must(!symbol.module.length || fuzz_is_inside(symbol.module, line));
		if (symbol.address && memchr("tTwW", symbol.type, 4)) {
			must(kallsyms_find(symbols, symbol.address, &found));
			must(found.address == symbol.address);
		}
		if (kallsyms_find(symbols, symbol.address + 5, &found))
			must(found.address <= symbol.address + 5);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct kallsyms *symbols = NULL;
	struct error *err = kallsyms_parse(bytes, &symbols);

	if (err)
		fuzz_check_error(err);
	else
		check_lines(bytes, symbols);
	kallsyms_destroy(symbols);
	fuzz_release(bytes);
	return 0;
}
