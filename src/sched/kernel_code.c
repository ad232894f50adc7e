/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/kernel_code.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "elf/kallsyms.h"

bool kernel_code_find(const char *kallsyms, const char *function, uint64_t *ret_begin,
		      uint64_t *ret_end)
{
	_cleanup_free_ char *line = NULL;
	FILE *file = fopen(kallsyms, "re");
	uint64_t begin = 0, end = 0;
	struct kallsym symbol;
	size_t room = 0;
	ssize_t length;

	while (file && !end && (length = getline(&line, &room, file)) > 0) {
		if (!kallsym_parse((struct text){ line, (size_t)length }, &symbol))
			continue;
		if (begin && symbol.address > begin)
			end = symbol.address;
		else if (text_equal(symbol.name, text_of(function)))
			begin = symbol.address;
	}
	if (file)
		fclose(file);
	if (!end)
		return false;
	*ret_begin = begin;
	*ret_end = end;
	return true;
}
