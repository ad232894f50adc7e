/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/table_file.h"

#include <elf.h>
#include <lzma.h>
#include <string.h>

#include "unwind/pool.h"

/* To be raised when the form changes, or what unwind_build makes of the same file. Up to 5 the file
 * that a table was made of could be any user's, with a forged build-id. */
#define FORM  8
#define MAGIC "ctunwind"

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

struct head {
	char magic[8];
	uint32_t form, machine;
	uint64_t base, functions, rows, overlapping, refused;
	uint64_t blocks, words, rules; /* how many there are */
	uint64_t build_id_bytes;
	uint8_t build_id[UNWIND_BUILD_ID_BYTES_MAX];
};
_Static_assert(sizeof(struct head) == 8 + 2 * 4 + 9 * 8 + UNWIND_BUILD_ID_BYTES_MAX,
	       "there is nothing between the members");

static bool take_build_id(struct text build_id, struct head *head)
{
	if (!build_id.length || build_id.length > sizeof(head->build_id))
		return false;
	head->build_id_bytes = build_id.length;
	memcpy(head->build_id, build_id.bytes, build_id.length);
	return true;
}

static struct error *no_build_id(void)
{
	return error_create("invalid build ID: expected 1 to %d bytes", UNWIND_BUILD_ID_BYTES_MAX);
}

struct error *unwind_table_write(const struct unwind_table *table, struct text build_id,
				 struct error *(*write)(void *context, const void *bytes,
							size_t length),
				 void *context)
{
	struct head head = {
		.magic = MAGIC,
		.form = FORM,
		.machine = MACHINE,
		.base = table->base,
		.functions = table->functions,
		.rows = table->rows,
		.overlapping = table->overlapping,
		.refused = table->refused,
		.blocks = table->blocks.count,
		.words = table->words.count,
		.rules = table->rules.count,
	};
	uint64_t sum = 0;
	const struct {
		const void *bytes;
		size_t length;
	} parts[] = {
		{ &head, sizeof(head) },
		{ table->blocks.items, table->blocks.count * sizeof(*table->blocks.items) },
		{ table->words.items, table->words.count * sizeof(*table->words.items) },
		{ table->rules.items, table->rules.count * sizeof(*table->rules.items) },
	};
	struct error *err = take_build_id(build_id, &head) ? NULL : no_build_id();

	for (size_t i = 0; i < array_length(parts) && !err; i++) {
		if (!parts[i].length)
			continue;
		sum = lzma_crc64(parts[i].bytes, parts[i].length, sum);
		err = write(context, parts[i].bytes, parts[i].length);
	}
	return err ? err : write(context, &sum, sizeof(sum));
}

/* --- reading --- */

/* A copy of so many bytes, which `rest` is known to have, cut off its front; NULL without memory.
 */
static void *take_copy(struct text *rest, size_t length)
{
	void *copy = malloc(length ? length : 1);

	if (copy)
		memcpy(copy, rest->bytes, length);
	*rest = (struct text){ rest->bytes + length, rest->length - length };
	return copy;
}

static bool take_arrays(const struct head *head, struct text rest, struct unwind_table *table)
{
	table->blocks.count = table->blocks.room = head->blocks;
	table->words.count = table->words.room = head->words;
	table->rules.count = table->rules.room = head->rules;
	table->blocks.items = take_copy(&rest, head->blocks * sizeof(*table->blocks.items));
	table->words.items = take_copy(&rest, head->words * sizeof(*table->words.items));
	table->rules.items = take_copy(&rest, head->rules * sizeof(*table->rules.items));
	return table->blocks.items && table->words.items && table->rules.items;
}

/* The length that a file of so many items has; 0: too many. */
static size_t length_of(const struct head *head)
{
	if (head->blocks > UNWIND_BLOCKS_MAX || head->words > UNWIND_TABLE_FILE_MAX / 4 ||
	    head->rules > UNWIND_RULES_MAX)
		return 0;
	return sizeof(*head) + (head->blocks + head->words) * sizeof(uint32_t) +
	       head->rules * sizeof(struct unwind_rule) + sizeof(uint64_t);
}

static bool is_head_of(const struct head *head, struct text build_id)
{
	const struct head like = { .magic = MAGIC, .form = FORM, .machine = MACHINE };
	struct head named = { .form = 0 };

	return memcmp(head, &like, offsetof(struct head, base)) == 0 &&
	       take_build_id(build_id, &named) && head->build_id_bytes == named.build_id_bytes &&
	       memcmp(head->build_id, named.build_id, sizeof(named.build_id)) == 0;
}

static bool is_valid_file(struct text bytes)
{
	uint64_t sum;
	size_t summed = bytes.length - sizeof(sum);

	memcpy(&sum, bytes.bytes + summed, sizeof(sum));
	return lzma_crc64((const uint8_t *)bytes.bytes, summed, 0) == sum;
}

bool unwind_table_parse(struct text bytes, struct text build_id, struct unwind_table *ret)
{
	struct unwind_table table;
	struct text rest;
	struct head head;

	if (bytes.length < sizeof(head))
		return false;
	memcpy(&head, bytes.bytes, sizeof(head));
	if (!is_head_of(&head, build_id) || bytes.length != length_of(&head) ||
	    !is_valid_file(bytes))
		return false;
	table = (struct unwind_table){
		.base = head.base,
		.functions = head.functions,
		.rows = head.rows,
		.overlapping = head.overlapping,
		.refused = head.refused,
	};
	rest = (struct text){ bytes.bytes + sizeof(head), bytes.length - sizeof(head) };
	if (!take_arrays(&head, rest, &table) || !unwind_table_is_sound(&table)) {
		unwind_table_deinit(&table);
		return false;
	}
	*ret = table;
	return true;
}

/* --- is it sound? --- */

#define PLT_NUMBER_MAX 16
#define ALL_FLAGS      (UNWIND_SIGNAL | UNWIND_DEREF | UNWIND_PLT)

static bool is_rule_sound(const struct unwind_rule *rule)
{
	bool names_register = rule->base == UNWIND_BASE_OTHER || rule->ra == UNWIND_IN_REG;

	if (rule->kind > UNWIND_RULE_FRAME || rule->flags & ~ALL_FLAGS ||
	    rule->base > UNWIND_BASE_OTHER || rule->unused)
		return false;
	if (rule->number > (names_register ? UNWIND_NUMBERS - 1 : PLT_NUMBER_MAX))
		return false;
	if (rule->bp > UNWIND_UNKNOWN || rule->bp == UNWIND_IN_REG || rule->bx > UNWIND_UNKNOWN ||
	    rule->bx == UNWIND_IN_REG)
		return false;
	return rule->kind != UNWIND_RULE_FRAME ||
	       (rule->ra >= UNWIND_AT_CFA && rule->ra <= UNWIND_IN_REG);
}

/* Rows of a page: by where they begin, and of rules that there are. */
static bool are_rows_sound(const uint32_t *rows, uint32_t count, uint32_t rules)
{
	int64_t before = -1;
	bool sound = count <= UNWIND_PAGE_ROWS;

	for (uint32_t i = 0; i < count && sound; i++) {
		int64_t offset = UNWIND_ROW_OFFSET(rows[i]);

		sound = offset > before && UNWIND_ROW_RULE(rows[i]) < rules;
		before = offset;
	}
	return sound;
}

static uint32_t rows_before(const uint32_t *block, uint32_t page)
{
	return UNWIND_ROWS_BEFORE(block[page >> 1], page);
}

/* A block of which the head, and the rows that it says it has, are there. */
static bool is_block_sound(const uint32_t *block, uint32_t rules)
{
	const uint32_t *rows = block + UNWIND_BLOCK_HEAD;

	/* An address before the first row would be searched for in the block before. */
	if (!rows_before(block, UNWIND_PAGES) || rows_before(block, 0) || !rows_before(block, 1) ||
	    UNWIND_ROW_OFFSET(rows[0]))
		return false;
	for (uint32_t page = 0; page < UNWIND_PAGES; page++) {
		uint32_t first = rows_before(block, page), end = rows_before(block, page + 1);

		/* The numbers must not decrease, and the last one bounds them all. */
		if (end < first || end > rows_before(block, UNWIND_PAGES) ||
		    !are_rows_sound(rows + first, end - first, rules))
			return false;
	}
	return true;
}

bool unwind_table_is_sound(const struct unwind_table *table)
{
	size_t end = 0, count = table->words.count;

	if (table->base % (1u << UNWIND_BLOCK_BITS) || table->blocks.count > UNWIND_BLOCKS_MAX ||
	    table->rules.count > UNWIND_RULES_MAX)
		return false;
	for (size_t i = 0; i < table->rules.count; i++)
		if (!is_rule_sound(&table->rules.items[i]))
			return false;
	for (size_t i = 0; i < table->blocks.count; i++) {
		uint32_t at = table->blocks.items[i];
		const uint32_t *block;

		/* A file has the whole table. */
		if (at == UNWIND_UNMADE_BLOCK)
			return false;
		if (!unwind_is_block(at))
			continue;
		if (at < end || at > count || count - at < UNWIND_BLOCK_HEAD)
			return false;
		block = table->words.items + at;
		if (count - at < unwind_block_words(block) ||
		    !is_block_sound(block, UNWIND_NUMBERS_FIXED + (uint32_t)table->rules.count))
			return false;
		end = at + unwind_block_words(block);
	}
	return true;
}
