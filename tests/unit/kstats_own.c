/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/kstats_own.h"

#include <stdio.h>
#include <unistd.h>

#include "unit/unit.h"

const char *kstats_own_name(const char *name)
{
	static char own[128];

	snprintf(own, sizeof(own), "%d:%s", getpid(), name);
	return own;
}

struct kstats_table *kstats_read_own(const char *name)
{
	struct kstats_table *table = NULL;

	expect_ok(kstats_user.read(kstats_own_name(name), &table));
	assert_non_null(table);
	return table;
}

void kstats_command_own(const char *name, enum kstats_command command)
{
	expect_ok(kstats_user.command(kstats_own_name(name), command));
}

struct kstats_slot kstats_total_of_own(const char *name)
{
	struct kstats_table *table = kstats_read_own(name);
	struct kstats_slot total = { 0 };

	for (size_t row = 0; row < table->rows.count; row++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
			total.count += table->rows.items[row].slots[slot].count;
			total.sum += table->rows.items[row].slots[slot].sum;
		}
	kstats_table_destroy(table);
	return total;
}

/* Twenty bits and the fractional ones stay, with the leading one. */
uint64_t kstats_amount(uint64_t value, unsigned frac_bits)
{
	while (value >> (20 + frac_bits))
		value >>= 1;
	return value;
}
