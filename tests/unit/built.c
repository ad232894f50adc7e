/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/built.h"

#include <stdio.h>
#include <stdlib.h>

/* Programs for another machine than ours are none of ours: in an emulated process the compiler is
 * that of the machine around it. */
static bool compiler_is_ours(void)
{
#ifdef __aarch64__
	return system("gcc -dumpmachine | grep -q ^aarch64") == 0;
#else
	return system("gcc -dumpmachine | grep -q ^x86_64") == 0;
#endif
}

bool built(const struct scratch *scratch, const char *command)
{
	if (!compiler_is_ours())
		return false;
	char line[2048];

	assert_true((size_t)snprintf(line, sizeof(line), "{ cd %s && { %s; }; } > /dev/null 2>&1",
				     scratch->path, command) < sizeof(line));
	return system(line) == 0;
}

char *printed(const struct scratch *scratch, const char *command)
{
	struct {
		ARRAY(char);
	} text = { 0 };
	char line[2048];
	FILE *output;
	int byte;

	assert_true((size_t)snprintf(line, sizeof(line), "cd %s && { %s; } 2> /dev/null",
				     scratch->path, command) < sizeof(line));
	output = popen(line, "r");
	assert_non_null(output);
	while ((byte = getc(output)) != EOF)
		assert_true(array_push(&text, (char)byte));
	assert_true(array_push(&text, 0));
	pclose(output);
	return text.items;
}
