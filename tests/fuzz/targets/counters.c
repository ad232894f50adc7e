/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/counters.h"

/* A key stands once in a row. */
static void check_keys(const struct counter_row *row)
{
	must(row->count <= COUNTER_ROW_MAX);
	for (size_t i = 0; i < row->count; i++) {
		must(row->items[i].key.length > 0);
		for (size_t j = 0; j < i; j++)
			must(!text_equal(row->items[i].key, row->items[j].key));
	}
}

/* The sum is of numbers that are there. */
static void check_cpu(const struct counter_row *row)
{
	uint64_t sum = 0;
	uint32_t number;

	must(counters_cpu_number(row->name, &number));
	must(row->count >= 5);
	for (size_t i = 0; i + 1 < row->count && i < 8; i++)
		if (i != 3 && i != 4)
			sum += row->items[i].value;
	must(sum == row->items[row->count - 1].value);
}

static void check_schedstat(const struct counter_row *row)
{
	uint32_t number;

	must(counters_cpu_number(row->name, &number));
	must(row->count == 3);
}

/* Sectors are whole, and a device that did nothing is none. */
static void check_block(const struct counter_row *row)
{
	uint64_t any = 0;

	must(row->count >= 11);
	must(row->items[2].value % 512 == 0 && row->items[6].value % 512 == 0);
	for (size_t i = 0; i < row->count; i++)
		any |= row->items[i].value;
	must(any);
}

static void check_net(const struct counter_row *row)
{
	must(row->count == 16);
}

static void check_rows(struct text bytes,
		       enum row_found (*next)(struct text *rest, struct counter_row *ret),
		       void (*check)(const struct counter_row *row))
{
	struct text rest = bytes, name;
	struct counter_row row;
	enum row_found found;

	while ((found = next(&rest, &row)) != ROW_NONE) {
		must(fuzz_is_inside(rest, bytes));
		if (found == ROW_BAD)
			continue;
		name = row.name;
		must(fuzz_is_inside(name, bytes));
		must(text_word(&name, &name) && text_equal(name, row.name));
		check_keys(&row);
		check(&row);
	}
}

/* Two decimals, so printed again it is the same, but for zeros at its head. */
static void check_hundredths(struct text text)
{
	uint64_t value = 0xdead;
	char again[32];

	if (!counters_hundredths(text, &value)) {
		must(value == 0xdead);
		return;
	}
	snprintf(again, sizeof(again), "%llu.%02llu", (unsigned long long)(value / 100),
		 (unsigned long long)(value % 100));
	while (text.length > 4 && text.bytes[0] == '0') {
		text.bytes++;
		text.length--;
	}
	must(text_equal(text, text_of(again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes;
	struct counter_row row;

	check_rows(bytes, counters_next_cpu, check_cpu);
	check_rows(bytes, counters_next_schedstat, check_schedstat);
	check_rows(bytes, counters_next_block, check_block);
	check_rows(bytes, counters_next_net, check_net);
	if (counters_schedstat_begin(&rest))
		must(text_starts(text_trim(bytes), TEXT("version")));
	counters_parse_stat(bytes, &row);
	check_keys(&row);
	must(row.count <= 6);
	must(counters_parse_loadavg(bytes, &row) ? row.count == 4 : row.count == 0);
	check_keys(&row);
	check_hundredths(bytes);
	fuzz_release(bytes);
	return 0;
}
