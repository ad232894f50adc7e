/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of symbols: what is shown is short, and one line.
 */
#include "elf/demangle.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *symbol = malloc(size + 1), *shown = malloc(FUNCTION_NAME_MAX);
	size_t length;

	must(symbol && shown);
	memcpy(symbol, data, size);
	symbol[size] = 0;
	length = demangle(symbol, shown);
	must(length < FUNCTION_NAME_MAX && strlen(shown) == length);
	for (size_t i = 0; i < length; i++)
		must((unsigned char)shown[i] >= 0x20 && shown[i] != 0x7f);
	must(length || !*symbol);
	free(symbol);
	free(shown);
	return 0;
}
