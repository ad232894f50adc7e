/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file whose unwind table is made: the table is in its form, whatever the file says, and no
 * larger than the file's code and what is said of it can justify.
 */
#include "fuzz.h"
#include "unwind/build.h"

static uint32_t starts_at(const uint32_t *block, uint32_t page)
{
	return block[page / 2] >> (page % 2 * 16) & 0xffff;
}

static size_t check_block(const struct unwind_table *table, uint32_t place)
{
	const uint32_t *block = table->words.items + place;
	uint32_t at = 0, last = UINT32_MAX;

	must(table->words.count - place > UNWIND_BLOCK_HEAD);
	must(unwind_block_words(block) <= table->words.count - place);
	must(!starts_at(block, 0) && !(block[UNWIND_PAGES / 2] >> 16));
	for (uint32_t page = 0; page < UNWIND_PAGES; page++) {
		uint32_t end = starts_at(block, page + 1);
		int offset = -1;

		must(end >= at && end - at <= UNWIND_PAGE_ROWS);
		for (; at < end; at++) {
			uint32_t row = block[UNWIND_BLOCK_HEAD + at];

			must((int)UNWIND_ROW_OFFSET(row) > offset);
			must(page || at || !UNWIND_ROW_OFFSET(row));
			must(UNWIND_ROW_RULE(row) < table->rules.count + 4);
			must(UNWIND_ROW_RULE(row) != last);
			offset = (int)UNWIND_ROW_OFFSET(row);
			last = UNWIND_ROW_RULE(row);
		}
	}
	must(at && unwind_block_words(block) == UNWIND_BLOCK_HEAD + at);
	return at;
}

static void check_rule(const struct unwind_rule *rule)
{
	must(rule->kind == UNWIND_RULE_FRAME && rule->base <= UNWIND_BASE_OTHER);
	must(!(rule->flags & ~(UNWIND_SIGNAL | UNWIND_DEREF | UNWIND_PLT)));
	must(rule->ra != UNWIND_SAME && rule->ra < UNWIND_UNKNOWN);
	must(rule->bp <= UNWIND_UNKNOWN && rule->bp != UNWIND_IN_REG);
	must(rule->bx <= UNWIND_UNKNOWN && rule->bx != UNWIND_IN_REG);
	must(!rule->unused && rule->number < 33);
	must(!(rule->flags & UNWIND_PLT) || rule->number < 16);
}

static void check(const struct elf *elf, const struct unwind_table *table)
{
	size_t size = elf->image->size, rows = 0, words = 0;

	must(table->base % 0x10000 == 0);
	must(table->blocks.count <= UNWIND_BLOCKS_MAX && table->rules.count <= UNWIND_RULES_MAX);
	for (size_t i = 0; i < table->blocks.count; i++) {
		if (!unwind_is_block(table->blocks.items[i]))
			continue;
		must(table->blocks.items[i] == words);
		rows += check_block(table, table->blocks.items[i]);
		words += unwind_block_words(table->words.items + words);
	}
	must(words == table->words.count && rows == table->rows);
	must(!table->rows || elf->segment_count);
	/* Code is at most twice the file; each piece of it may begin and end in a block. */
	must(rows <= 2 * size + 4 * elf->segment_count + 2 * size / 0x10000);
	for (size_t i = 0; i < table->rules.count; i++)
		check_rule(&table->rules.items[i]);
}

static bool is_same(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->base == b->base && a->words.count == b->words.count &&
	       (!a->words.count ||
		!memcmp(a->words.items, b->words.items, a->words.count * sizeof(uint32_t)));
}

/* Parts where the file has code, and where it has none. */
static void check_parts(const struct elf *elf, uint64_t base, size_t count)
{
	struct unwind_table part, outline;

	for (uint64_t i = 0; i < count + 2 && i < 8; i += 1 + i % 3) {
		const uint32_t blocks = 1 + i % 3;
		const uint64_t start = (base & ~(uint64_t)0xffff) + (i << 16);

		must(!unwind_build_part(elf, start, blocks, &part));
		must(part.base == start && part.blocks.count == blocks);
		check(elf, &part);
		unwind_table_deinit(&part);
	}
	must(!unwind_build_outline(elf, &outline));
	must(outline.blocks.count <= UNWIND_BLOCKS_MAX && !outline.words.count);
	unwind_table_deinit(&outline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct image image = image_of(bytes);
	struct unwind_table table, again;
	struct elf elf;
	struct error *err;

	if (elf_open(&image, &elf)) {
		err = unwind_build(&elf, &table);
		if (err) {
			fuzz_check_error(err);
		} else {
			check(&elf, &table);
			must(!unwind_build(&elf, &again));
			must(is_same(&table, &again));
			check_parts(&elf, table.base, table.blocks.count);
			unwind_table_deinit(&again);
			unwind_table_deinit(&table);
		}
	}
	elf_close(&elf);
	fuzz_release(bytes);
	return 0;
}
