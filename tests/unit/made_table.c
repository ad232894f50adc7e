/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/made_table.h"

#include <string.h>

uint32_t made_rule(struct unwind_table *table, struct unwind_rule rule)
{
	assert_true(array_push(&table->rules, rule));
	return 4 + (uint32_t)table->rules.count - 1;
}

void made_block(struct unwind_table *table, const struct made_row *rows, size_t count)
{
	uint32_t at = count ? (uint32_t)table->words.count : UNWIND_NO_BLOCK;

	assert_true(array_push(&table->blocks, at));
	for (uint32_t half = 0; count && half < 258; half += 2) {
		uint32_t before[2] = { 0 };

		for (uint32_t i = 0; i < 2; i++)
			for (size_t row = 0; row < count && half + i < 257; row++)
				before[i] += rows[row].at < (half + i) * 256;
		assert_true(array_push(&table->words, before[0] | before[1] << 16));
	}
	for (size_t i = 0; i < count; i++)
		assert_true(array_push(&table->words, (rows[i].at & 255) << 24 | rows[i].rule));
	table->rows += count;
}

static void random_block(uint64_t *seed, uint32_t rules, struct made_rows *rows)
{
	uint32_t at = 0, step = 1u << next_random(seed) % 10;

	for (; at < 65536; at += 1 + (uint32_t)(next_random(seed) % step)) {
		/* Dense ones would have 256 in a page. */
		if (at % 256 == 255)
			continue;
		assert_true(array_push(
			rows, (struct made_row){ at, (uint32_t)(next_random(seed) % rules) }));
	}
}

struct unwind_table made_random(uint64_t *seed, size_t blocks, struct made_rows *rows_of)
{
	struct unwind_table table = { .base = next_random(seed) >> 20 << 16,
				      .functions = 1,
				      .refused = 2,
				      .overlapping = 3 };

	for (int i = 1; i <= 30; i++)
		made_rule(&table, (struct unwind_rule){ .kind = UNWIND_RULE_FRAME,
							.cfa_offset = 8 * i,
							.ra = UNWIND_AT_CFA,
							.ra_offset = -1 });
	for (size_t i = 0; i < blocks; i++) {
		struct made_rows rows = { 0 };

		if (next_random(seed) % 4)
			random_block(seed, 34, &rows);
		made_block(&table, rows.items, rows.count);
		if (rows_of)
			rows_of[i] = rows;
		else
			array_deinit(&rows);
	}
	return table;
}

static bool same(const void *a, const void *b, size_t length)
{
	return !length || memcmp(a, b, length) == 0;
}

bool made_equal(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->base == b->base && a->functions == b->functions && a->rows == b->rows &&
	       a->refused == b->refused && a->overlapping == b->overlapping &&
	       a->blocks.count == b->blocks.count && a->words.count == b->words.count &&
	       a->rules.count == b->rules.count &&
	       same(a->blocks.items, b->blocks.items, a->blocks.count * 4) &&
	       same(a->words.items, b->words.items, a->words.count * 4) &&
	       same(a->rules.items, b->rules.items, a->rules.count * 16);
}
