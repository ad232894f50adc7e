/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/perf_map.h"

#include "base/hex.h"

/* The largest number of earlier functions that are checked for whether they reach an address. */
#define OVERLAPS_MAX 64

static bool parse_entry(struct text line, struct perf_map_entry *ret)
{
	struct perf_map_entry entry = { 0 };
	uint64_t size;

	if (!hex_cut(&line, &entry.start) || !text_starts(line, TEXT(" ")))
		return false;
	line = text_trim(line);
	if (!hex_cut(&line, &size) || !text_starts(line, TEXT(" ")))
		return false;
	entry.name = text_trim(line);
	if (!size || !entry.name.length || __builtin_add_overflow(entry.start, size, &entry.end))
		return false;
	*ret = entry;
	return true;
}

bool perf_map_next(struct text *rest, struct perf_map_entry *ret)
{
	struct text line;

	while (text_cut(rest, '\n', &line))
		if (parse_entry(line, ret))
			return true;
	return false;
}

static int entry_by_start(const void *a, const void *b)
{
	const struct perf_map_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

struct error *perf_map_parse(struct text bytes, struct perf_map *ret)
{
	struct perf_map map = { 0 };
	struct perf_map_entry entry;

	while (map.count < PERF_MAP_LINES_MAX && perf_map_next(&bytes, &entry)) {
		entry.line = (uint32_t)map.count;
		if (!array_push(&map, entry)) {
			perf_map_deinit(&map);
			return &error_no_memory;
		}
	}
	if (map.count)
		qsort(map.items, map.count, sizeof(*map.items), entry_by_start);
	*ret = map;
	return NULL;
}

void perf_map_deinit(struct perf_map *map)
{
	array_deinit(map);
}

const struct perf_map_entry *perf_map_find(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *best = NULL;
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < OVERLAPS_MAX && back < low; back++) {
		const struct perf_map_entry *entry = &map->items[low - 1 - back];

		if (address < entry->end && (!best || entry->line > best->line))
			best = entry;
	}
	return best;
}
