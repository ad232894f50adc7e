/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a program shares as libkstats would: a byte that says how many pages there are, the
 * header, and then slots, one to a page by turns.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kstats/distribution.h"
#include "kstats/user_region.h"

/* The number of values in a region. */
static struct error *count_region(struct kstats_region *region, uint64_t *ret)
{
	struct kstats_distribution sum;
	struct error *err = kstats_region_add_up(region, &sum);

	if (err)
		return err;
	*ret = sum.count;
	kstats_distribution_clear(&sum);
	return NULL;
}

#define SLOT sizeof(struct kstats_shared_slot)

/* Slots are as many as there are bytes for. */
static int make_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("kstats:fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	off_t pages = data[0];
	size_t header = size - 1 < sizeof(struct kstats_shared_header)
				? size - 1
				: sizeof(struct kstats_shared_header);

	must(fd >= 0 && ftruncate(fd, pages * KSTATS_SHARED_UNIT) == 0);
	must(pwrite(fd, data + 1, header, 0) == (ssize_t)header);
	data += 1 + header;
	size -= 1 + header;
	for (off_t slot = 0; pages > 1 && size >= SLOT; slot++, data += SLOT, size -= SLOT) {
		off_t page = 1 + slot % (pages - 1), within = slot / (pages - 1) * (off_t)SLOT;

		if (within < KSTATS_SHARED_UNIT)
			must(pwrite(fd, data, SLOT, page * KSTATS_SHARED_UNIT + within) == SLOT);
	}
	must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	return fd;
}

static void check_table(struct kstats_region *region)
{
	struct kstats_distribution all = { 0 };
	struct kstats_table *table;
	uint64_t count, rows = 0;
	struct error *err;

	must(!kstats_table_create("fuzz", region->header.frac_bits, "", &table));
	err = kstats_region_read(region, SIZE_MAX, table);
	if (err) {
		fuzz_check_error(err);
		kstats_table_destroy(table);
		return;
	}
	must(!count_region(region, &count));
	must(table->rows.count <= region->header.cpus);
	for (size_t row = 0; row < table->rows.count; row++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
			rows += table->rows.items[row].slots[slot].count;
	must(rows == count);
	must(!kstats_distribution_of(table, NULL, &all));
	must(all.count == count);
	for (double fraction = 0; fraction <= 1; fraction += 0.25) {
		struct kstats_percentile found = kstats_percentile(&all, fraction);

		must(found.low <= found.high && found.slot < BUCKET_SLOTS(table->frac_bits));
	}
	kstats_distribution_clear(&all);
	kstats_table_destroy(table);
}

static void check_commands(struct kstats_region *region)
{
	uint64_t count;

	for (enum kstats_command command = 0; command < KSTATS_COMMAND_COUNT; command++)
		must(!kstats_region_command(region, command));
	must(!kstats_region_is_active(region));
	must(!count_region(region, &count) && !count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kstats_region region;
	struct error *err;

	if (size < 1)
		return 0;
	err = kstats_region_map(make_file(data, size), true, &region);
	if (err) {
		fuzz_check_error(err);
		return 0;
	}
	check_table(&region);
	check_commands(&region);
	kstats_region_unmap(&region);
	return 0;
}
