/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "kstats/v3.h"

static char *print(const struct kstats_table *table)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	must(out);
	kstats_v3_print(table, out);
	fclose(out);
	return text;
}

/* What is printed of it can be read, and is printed the same again. */
static void check_round_trip(const struct kstats_table *table)
{
	_cleanup_free_ char *once = print(table), *twice = NULL;
	struct kstats_table *again;

	must(!kstats_v3_parse(text_of(once), "again", &again));
	twice = print(again);
	must(again->frac_bits != table->frac_bits || strcmp(once, twice) == 0);
	kstats_table_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct kstats_table *table;
	uint32_t possible;
	struct error *err = kstats_v3_parse_bits(bytes, "fuzz", &possible, &table);

	if (err) {
		fuzz_check_error(err);
	} else {
		must(table->frac_bits <= BUCKET_FRAC_BITS_MAX);
		must(possible >> table->frac_bits & 1);
		check_round_trip(table);
		kstats_table_destroy(table);
	}
	fuzz_release(bytes);
	return 0;
}
