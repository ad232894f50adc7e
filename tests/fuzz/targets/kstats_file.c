/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "kstats/file.h"
#include "kstats/v3.h"
#include "report/kstats_heat.h"
#include "report/kstats_report.h"
#include "report/kstats_shift_report.h"
#include "report/openmetrics.h"

/* --- what must hold of what was loaded --- */

static bool is_before(const struct kstats_row *a, const struct kstats_row *b)
{
	if (a->id != b->id)
		return a->id < b->id;
	if (a->born != b->born)
		return a->born < b->born;
	return strcmp(a->label ? a->label : "", b->label ? b->label : "") < 0;
}

static void check_table(const struct kstats_table *table)
{
	uint64_t count = 0;

	must(*table->name && table->frac_bits <= BUCKET_FRAC_BITS_MAX);
	must(table->by < KSTATS_BY_COUNT && !(table->losses_known >> KSTATS_LOSS_COUNT));
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct kstats_row *row = &table->rows.items[i];

		must(!i || is_before(&row[-1], row));
		must(!row->slots[BUCKET_SLOTS(table->frac_bits) - 1].count);
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
			must(!__builtin_add_overflow(count, row->slots[slot].count, &count));
	}
}

/* Whoever shows it finds nothing in it that cannot be shown. */
static void check_shown(const struct kstats_table *table, FILE *out)
{
	const struct kstats_style style = { .rows = true, .lines = 20 };
	struct kstats_heat heat = { 0 };
	struct kstats_heat_line line = { 0 };
	struct kstats_distribution all = { 0 };

	must(!kstats_report_text(out, table, &style));
	must(!kstats_report_csv(out, table));
	kstats_v3_print(table, out);
	must(!kstats_shift_text(out, table, table, 0));
	must(!kstats_distribution_of(table, NULL, &all));
	must(kstats_percentile(&all, 0.5).low <= kstats_percentile(&all, 1).high);
	line.values = all;
	must(array_push(&heat, line));
	must(!kstats_heat_svg(out, table, &heat));
	kstats_heat_clear(&heat);
}

static void check_exported(const struct kstats_tables *tables, FILE *out)
{
	for (int rows = 0; rows < 2; rows++) {
		struct error *err = openmetrics_print(out, tables, rows);

		/* The same metric twice. */
		if (err)
			fuzz_check_error(err);
	}
}

/* Fewer slots, and all of itself taken away. */
static void check_changed(struct kstats_table *table)
{
	struct kstats_table *same;

	must(!kstats_table_coarsen(table, table->frac_bits / 2));
	must(!kstats_table_copy_rows(table, &same));
	must(!kstats_table_subtract(table, same));
	must(!table->rows.count);
	/* What was measured elsewhere is refused. */
	same->start = table->start ? strdup(table->start) : NULL;
	same->end = table->end ? strdup(table->end) : NULL;
	must(!kstats_table_merge(table, same));
	kstats_table_destroy(same);
}

/* --- files --- */

static struct text write_tables(const struct kstats_tables *tables)
{
	char name[] = "/tmp/ctprof-fuzz-XXXXXX", *bytes = malloc(1 << 24);
	int fd = mkstemp(name);
	struct error *err;
	ssize_t length;

	must(fd >= 0 && bytes);
	close(fd);
	err = kstats_file_save(name, tables);
	must(!err);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	must(fd >= 0);
	length = read(fd, bytes, 1 << 24);
	must(length > 0);
	close(fd);
	unlink(name);
	return (struct text){ bytes, (size_t)length };
}

static bool load(const void *bytes, size_t length, struct kstats_tables *ret)
{
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct error *err;
	char path[40];

	must(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = kstats_file_load(path, ret);
	if (err) {
		must(strncmp(err->message, path, strlen(path)) == 0);
		fuzz_check_error(err);
	}
	return !err;
}

/* Written and read back it is the same, to the byte. */
static void check_round_trip(const struct kstats_tables *tables)
{
	struct text first = write_tables(tables), second;
	struct kstats_tables back = { 0 };

	must(load(first.bytes, first.length, &back));
	second = write_tables(&back);
	must(text_equal(first, second));
	fuzz_release(first);
	fuzz_release(second);
	kstats_tables_clear(&back);
}

static void check_bytes(const void *bytes, size_t length)
{
	struct kstats_tables tables = { 0 };
	FILE *out = fopen("/dev/null", "we");

	must(out);
	if (load(bytes, length, &tables)) {
		check_round_trip(&tables);
		check_exported(&tables, out);
		for (size_t i = 0; i < tables.count; i++) {
			check_table(tables.items[i]);
			check_shown(tables.items[i], out);
			check_changed(tables.items[i]);
		}
	}
	fclose(out);
	kstats_tables_clear(&tables);
}

/* The bytes as a file, and as what is inside one: a mutation of compressed bytes rarely gets past
 * the decompressor. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *compressed = malloc(room);

	must(compressed);
	check_bytes(data, size);
	check_bytes(compressed, ZSTD_compress(compressed, room, data, size, 1));
	free(compressed);
	return 0;
}
