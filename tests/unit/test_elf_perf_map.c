/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/perf_map.h"

#include "unit/unit.h"

static void expect_found(const struct perf_map *map, uint64_t address, const char *name)
{
	const struct perf_map_entry *entry = perf_map_find(map, address);

	if (!name) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	expect_text(entry->name, name);
}

#define LINES                                              \
	"1000 20 first one\n"                              \
	"0x2000 0x10 LazyCompile:~second /a b.js:1\n"      \
	"1800 0 empty\n3000 10\nxyz 10 no\n4000 zz no\n\n" \
	"fffffffffffffff0 20 wraps\n"                      \
	"10000000000000000 1 too long\n"                   \
	"5000 8 last"

TEST(lines_are_functions)
{
	struct text bytes = guarded(LINES, sizeof(LINES) - 1);
	struct perf_map map;

	expect_ok(perf_map_parse(bytes, &map));
	assert_int_equal(map.count, 3);
	expect_found(&map, 0xfff, NULL);
	expect_found(&map, 0x1000, "first one");
	expect_found(&map, 0x101f, "first one");
	expect_found(&map, 0x1020, NULL);
	expect_found(&map, 0x200f, "LazyCompile:~second /a b.js:1");
	expect_found(&map, 0x5007, "last");
	expect_found(&map, 0x5008, NULL);
	perf_map_deinit(&map);
	unguard(bytes);
}

TEST(of_functions_that_overlap_the_later_line_counts)
{
	struct perf_map map;

	expect_ok(perf_map_parse(TEXT("2000 100 old\n1000 2000 older\n1000 10 newer\n"
				      "2040 10 newest\n"),
				 &map));
	expect_found(&map, 0x1005, "newer");
	expect_found(&map, 0x1015, "older");
	expect_found(&map, 0x2045, "newest");
	expect_found(&map, 0x2055, "older");
	expect_found(&map, 0x2ffe, "older");
	perf_map_deinit(&map);
}

TEST(nothing_has_no_functions)
{
	struct perf_map map;

	expect_ok(perf_map_parse(TEXT(""), &map));
	expect_found(&map, 0, NULL);
	perf_map_deinit(&map);
}

UNIT_TESTS(cmocka_unit_test(lines_are_functions),
	   cmocka_unit_test(of_functions_that_overlap_the_later_line_counts),
	   cmocka_unit_test(nothing_has_no_functions))
