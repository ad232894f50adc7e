/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "base/pattern.h"

/* The pattern, which fits its room. */
static struct text make(size_t (*pattern)(struct text, char *), struct text name)
{
	char *out = malloc(PATTERN_ROOM(name.length));
	size_t length;

	must(out);
	length = pattern(name, out);
	must(length <= PATTERN_ROOM(name.length));
	must(!length == !name.length);
	return (struct text){ out, length };
}

/* A pattern is its own pattern. */
static void check(size_t (*pattern)(struct text, char *), struct text name)
{
	struct text once = make(pattern, name), twice = make(pattern, once);

	must(text_equal(once, twice));
	fuzz_release(twice);
	fuzz_release(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), both;

	check(pattern_of_name, bytes);
	check(pattern_of_unit_instances, bytes);
	both = make(pattern_of_name, bytes);
	check(pattern_of_unit_instances, both);
	fuzz_release(both);
	fuzz_release(bytes);
	return 0;
}
