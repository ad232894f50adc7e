/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/radix.h"

#include <stdlib.h>

#include "unit/unit.h"

static void expect_sorted(struct radix_key *keys, size_t count)
{
	struct radix_key *spare = calloc(count + 1, sizeof(*spare)), *sorted;
	uint8_t *seen = calloc(count + 1, 1);
	uint32_t *values = calloc(count + 1, sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		keys[i].index = (uint32_t)i;
		values[i] = keys[i].key;
	}
	sorted = radix_sort(keys, spare, count);
	assert_true(sorted == keys || sorted == spare);
	for (size_t i = 0; i < count; i++) {
		assert_true(sorted[i].index < count && !seen[sorted[i].index]);
		seen[sorted[i].index] = 1;
		assert_int_equal(sorted[i].key, values[sorted[i].index]);
		if (!i)
			continue;
		assert_true(sorted[i - 1].key <= sorted[i].key);
		if (sorted[i - 1].key == sorted[i].key)
			assert_true(sorted[i - 1].index < sorted[i].index);
	}
	free(values);
	free(seen);
	free(spare);
}

TEST(keys_are_sorted_and_equal_ones_keep_their_order)
{
	/* Bits that differ: none, in one digit, in two, in all of them. */
	static const uint32_t masks[] = { 0, 0x7, 0x7ff, 0xffe00000, 0x3ff800, 0xffff, UINT32_MAX };
	struct radix_key keys[3000];

	srandom(1);
	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
		for (size_t count = 0; count <= 3000; count = count * 3 + 1) {
			for (size_t i = 0; i < count; i++)
				keys[i].key =
					0x12345678 ^ ((uint32_t)random() * 2654435761u & masks[m]);
			expect_sorted(keys, count);
		}
}

UNIT_TESTS(cmocka_unit_test(keys_are_sorted_and_equal_ones_keep_their_order))
