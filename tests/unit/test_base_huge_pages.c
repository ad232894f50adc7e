/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/huge_pages.h"

#include <sys/mman.h>

#include "unit/unit.h"

#define ZONES                                                                                  \
	"Node 0, zone      DMA      0      0      0      0      0      0      0      0     1 " \
	"     1      3 \n"                                                                     \
	"Node 0, zone   Normal  37949  19030  13118  12188   6744   4261   2946   1661   808 " \
	"   203     85 \n"

TEST(blocks_of_huge_pages_are_counted)
{
	/* Columns nine and ten of pages of 4 KiB: 2 and 4 MiB. */
	assert_int_equal(huge_pages_free(TEXT(ZONES), 4096), 1 + 2 * 3 + 203 + 2 * 85);
	/* Column five of pages of 64 KiB, 2 MiB, to column ten, 64 MiB. */
	assert_int_equal(
		huge_pages_free(TEXT("Node 0, zone Normal 9 9 9 9 9 1 1 1 1 1 1\n"), 65536),
		1 + 2 + 4 + 8 + 16 + 32);
}

TEST(what_is_no_zone_has_none)
{
	assert_int_equal(huge_pages_free(TEXT(""), 4096), 0);
	assert_int_equal(huge_pages_free(TEXT("Node 0, zone Normal"), 4096), 0);
	assert_int_equal(huge_pages_free(TEXT("Node 0, zone Normal x 0 0 0 0 0 0 0 0 7"), 4096), 0);
}

TEST(memory_is_zero_and_writable)
{
	unsigned char *memory = huge_page_map();

	assert_non_null(memory);
	for (size_t i = 0; i < HUGE_PAGE_BYTES; i += 4096)
		assert_int_equal(memory[i]++, 0);
	munmap(memory, HUGE_PAGE_BYTES);
}

UNIT_TESTS(cmocka_unit_test(blocks_of_huge_pages_are_counted),
	   cmocka_unit_test(what_is_no_zone_has_none),
	   cmocka_unit_test(memory_is_zero_and_writable))
