/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "compare/place.h"

static void check_unit(struct text path)
{
	struct text unit;

	if (!place_unit(path, &unit))
		return;
	must(unit.length >= 3 && unit.length < 256 && fuzz_is_inside(unit, path));
	must(memchr(unit.bytes, '.', unit.length));
	must(!memchr(unit.bytes, '/', unit.length) && !memchr(unit.bytes, '\0', unit.length));
}

static void check_container(struct text path)
{
	struct text id;

	if (!place_container(path, &id))
		return;
	must(id.length == CONTAINER_ID_LENGTH && fuzz_is_inside(id, path));
	for (size_t i = 0; i < id.length; i++)
		must(id.bytes[i] && strchr("0123456789abcdef", id.bytes[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text path = fuzz_copy(data, size);

	check_unit(path);
	check_container(path);
	fuzz_release(path);
	return 0;
}
