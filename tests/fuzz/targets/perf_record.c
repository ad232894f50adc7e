/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "process/address_space.h"
#include "process/process_table.h"

static void take(struct process_table *table, struct text bytes)
{
	struct perf_record record;

	if (!perf_record_parse(bytes, &record))
		return;
	must(!record.path.length || fuzz_is_inside(record.path, bytes));
	must(record.build_id.length <= BUILD_ID_MAX);
	must(!record.build_id.length || fuzz_is_inside(record.build_id, bytes));
	must(record.kind != PERF_RECORD_OF_MAPPING || record.start < record.end);
	process_table_apply(table, &record);
	/* Some as if they were read. */
	if (record.time_ns % 8 == 0 && process_table_read_begin(table)) {
		if (record.kind == PERF_RECORD_OF_MAPPING)
			process_table_read_mapping(table, &record);
		process_table_read_end(table, record.pid, record.file_offset);
	}
	if (record.time_ns % 8 == 1)
		process_table_mark(table, record.pid);
	process_table_find_image(table, record.pid, record.time_ns);
}

static void check_image(const struct profile *profile, const struct profile_image *image)
{
	uint64_t end = 0;

	must(image->mapping_count);
	must(image->first_mapping + image->mapping_count <= profile->mappings.count);
	for (uint32_t i = 0; i < image->mapping_count; i++) {
		const struct profile_mapping *mapping =
			&profile->mappings.items[image->first_mapping + i];

		must(mapping->start >= end && mapping->end > mapping->start);
		end = mapping->end;
	}
}

static void check_now(const struct process_table *table, uint32_t pid)
{
	const struct process_image *now;
	uint64_t end = 0;

	if (!(now = process_table_now(table, pid)) || !process_image_now(now))
		return;
	for (size_t i = 0; i < process_image_now(now)->count; i++) {
		const struct profile_mapping *mapping = &process_image_now(now)->items[i];

		must(mapping->start >= end && mapping->end > mapping->start);
		end = mapping->end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, record;
	struct process_table *table;
	struct profile *profile;
	uint32_t pid;

	must(!process_table_create(size % 2, (size_t)1 << 20, &table));
	must(!profile_create(&profile));
	process_table_record_changes(table);
	process_table_begin(table, 1, 0, TEXT("/bin/one"));
	while (perf_record_cut(&rest, &record))
		take(table, record);
	while (process_table_next_changed(table, &pid))
		check_now(table, pid);
	must(!process_table_put(table, profile));
	for (size_t i = 0; i < profile->images.count; i++)
		check_image(profile, &profile->images.items[i]);
	process_table_forget(table, UINT64_MAX);
	profile_destroy(profile);
	process_table_destroy(table);
	fuzz_release(bytes);
	return 0;
}
