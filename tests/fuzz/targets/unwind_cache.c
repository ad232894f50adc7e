/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables on disk: what is read is sound, writes the same bytes again, and can be put into a
 * store and walked by. The checksum is put right first, for it is no defence.
 */
#include <lzma.h>
#include <string.h>

#include "fuzz.h"
#include "unwind/table_file.h"
#include "unwind/user_unwind.h"

#define ID TEXT("fuzz")

static struct error *compare(void *context, const void *bytes, size_t length)
{
	struct text *rest = context;

	must(rest->length >= length && memcmp(rest->bytes, bytes, length) == 0);
	*rest = (struct text){ rest->bytes + length, rest->length - length };
	return NULL;
}

static bool any_word(void *context, uint64_t address, uint64_t *ret)
{
	uint64_t base = *(const uint64_t *)context;

	*ret = address % 3 ? address + 64 : base + address % 0x3ff00;
	return true;
}

static void walk_by(const struct unwind_table *table)
{
	struct unwind_store *store = NULL;
	struct unwind_process process = { .count = 1 };
	uint64_t base = 0x550000000000u, frames[16];
	const struct unwind_reader reader = { .word = any_word, .context = &base };
	uint32_t place;

	must(!unwind_store_create(&(struct unwind_store_options){ .max_bytes = 0 }, &store));
	must(!unwind_store_put(store, table, &place));
	must(!unwind_store_take(store, UNWIND_MAPPING_WORDS, &process.space));
	*(struct unwind_mapping *)unwind_store_at(store, process.space) = (struct unwind_mapping){
		.start = base, .end = base + (1u << 20), .delta = base, .table = place
	};
	for (uint64_t at = 0; at < 1u << 18; at += 61) {
		const struct unwind_registers registers = { .ip = base + at,
							    .sp = 0x7000,
							    .bp = 0x7100,
							    .bx = 0x7200,
							    .has_others = at & 1 };
		enum unwind_stop stop = UNWIND_GOES_ON;
		size_t count = user_unwind(store, &process, &registers, &reader, frames, 16, &stop);

		must(count >= 1 && count <= 16 && stop > UNWIND_GOES_ON && stop < UNWIND_STOPS);
	}
	unwind_store_remove(store, place);
	unwind_store_give_back(store, process.space, UNWIND_MAPPING_WORDS);
	must(unwind_store_use(store).used_bytes == 0);
	unwind_store_destroy(store);
}

static void check(struct text bytes)
{
	struct unwind_table table = { .base = 1 };
	struct text rest = bytes;

	if (!unwind_table_parse(bytes, ID, &table)) {
		must(table.base == 1 && !table.words.items);
		return;
	}
	must(unwind_table_is_sound(&table));
	must(!unwind_table_write(&table, ID, compare, &rest));
	must(!rest.length);
	walk_by(&table);
	unwind_table_deinit(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	uint64_t sum;

	check(bytes);
	if (size > sizeof(sum)) {
		sum = lzma_crc64(data, size - sizeof(sum), 0);
		memcpy((char *)(uintptr_t)bytes.bytes + size - sizeof(sum), &sum, sizeof(sum));
		check(bytes);
	}
	fuzz_release(bytes);
	return 0;
}
