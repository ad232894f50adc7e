/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "kstats/module_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct kstats_table *table;
	struct error *err = kstats_module_parse(bytes, &table);
	uint64_t count = 0;

	if (err) {
		fuzz_check_error(err);
	} else {
		must(table->name && table->unit && table->frac_bits <= BUCKET_FRAC_BITS_MAX);
		for (size_t i = 0; i < table->rows.count; i++) {
			must(table->rows.items[i].id < table->cpus);
			for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
				must(!__builtin_add_overflow(
					count, table->rows.items[i].slots[slot].count, &count));
		}
		kstats_table_destroy(table);
	}
	fuzz_release(bytes);
	return 0;
}
