/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats_reference BITS [COUNT]: what the values of tests/kstats_values.h are in slots, by the
 * library's own arithmetic: "SLOT COUNT SUM" for each that has any. Values begin again after
 * KSTATS_VALUE_COUNT.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "histogram/bucket.h"

#include "../../kstats_values.h"

int main(int argc, char **argv)
{
	static struct {
		uint64_t count, sum;
	} slots[BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX)];
	unsigned bits = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : KSTATS_VALUE_COUNT;

	if (bits > BUCKET_FRAC_BITS_MAX)
		return 2;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = kstats_value(i % KSTATS_VALUE_COUNT);
		unsigned slot = bucket_slot(value, bits);

		slots[slot].count++;
		slots[slot].sum += value >> bucket_shift(slot, bits);
	}
	for (unsigned slot = 0; slot < BUCKET_SLOTS(bits); slot++)
		if (slots[slot].count)
			printf("%u %" PRIu64 " %" PRIu64 "\n", slot, slots[slot].count,
			       slots[slot].sum);
	return 0;
}
