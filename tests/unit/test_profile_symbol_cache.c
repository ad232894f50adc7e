/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbol_cache.h"

#include <stdio.h>

#include "unit/unit.h"

/* More than two generations have. */
#define PLACES 400000

/* One that is asked for again and again. */
#define EACH 1000

static struct profile_mapping mapping = { .build_id_length = 20, .build_id = "of some file" };

static struct symbol_place place_at(uint64_t offset)
{
	return (struct symbol_place){ &mapping, offset, 0 };
}

static bool is_there(struct symbol_cache *cache, uint64_t offset, const char *name)
{
	const struct symbol_place place = place_at(offset);
	struct cached_symbol found;

	if (!symbol_cache_find(cache, &place, &found))
		return false;
	assert_string_equal(found.name->bytes, name);
	assert_int_equal(found.inlined_count, 1);
	assert_string_equal(found.inlined[0].name->bytes, "inner");
	assert_int_equal(found.inlined[0].line, offset & 0xffff);
	return true;
}

/* Files that are replaced and programs that end leave names that nothing asks for any more. */
TEST(what_is_not_asked_for_goes)
{
	struct symbol_cache *cache = symbol_cache_create();
	struct arena arena;
	struct names names;
	char name[32];

	arena_init(&arena, SIZE_MAX);
	names_init(&names, &arena);
	for (uint64_t i = 0; i < PLACES; i++) {
		const struct symbol_place place = place_at(i);
		const struct inlined_name inner = { .name = names_intern(&names, "inner", 5),
						    .line = i & 0xffff };
		struct cached_symbol symbol = { .inlined_count = 1, .inlined = &inner };
		int length = snprintf(name, sizeof(name), "f%llu", (unsigned long long)i);

		symbol.name = names_intern(&names, name, (size_t)length);
		assert_false(is_there(cache, i, name));
		symbol_cache_add(cache, &place, &symbol);
		assert_true(is_there(cache, i, name));
		if (i % EACH == 0)
			assert_true(is_there(cache, 0, "f0"));
	}
	assert_false(is_there(cache, 1, "f1"));
	assert_true(is_there(cache, 0, "f0"));
	assert_true(is_there(cache, PLACES - 100, "f399900"));
	names_deinit(&names);
	arena_deinit(&arena);
	symbol_cache_destroy(cache);
}

UNIT_TESTS(cmocka_unit_test(what_is_not_asked_for_goes))
