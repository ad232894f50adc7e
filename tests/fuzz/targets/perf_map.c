/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: an entry that is found has the address.
 */
#include "elf/perf_map.h"
#include "fuzz.h"

static void check_at(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *found = perf_map_find(map, address);

	must(!found || (found->start <= address && address < found->end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct perf_map map = { 0 };
	struct error *err = perf_map_parse(bytes, &map);

	must(!err);
	for (size_t i = 0; i < map.count; i++) {
		const struct perf_map_entry *entry = &map.items[i];

		must(fuzz_is_inside(entry->name, bytes) && entry->name.length);
		must(entry->start < entry->end);
		must(!i || entry[-1].start <= entry->start);
		must(perf_map_find(&map, entry->start));
		check_at(&map, entry->end);
		check_at(&map, entry->start - 1);
	}
	perf_map_deinit(&map);
	fuzz_release(bytes);
	return 0;
}
