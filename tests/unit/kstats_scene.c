/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/kstats_scene.h"

#include <stdlib.h>
#include <string.h>

struct kstats_table *scene_kstats(const char *name, unsigned frac_bits)
{
	struct kstats_table *table;

	expect_ok(kstats_table_create(name, frac_bits, "ns", &table));
	return table;
}

void scene_kstats_record(struct kstats_table *table, uint64_t id, const char *label, uint64_t value)
{
	scene_kstats_record_born(table, id, 0, label, value);
}

void scene_kstats_record_born(struct kstats_table *table, uint64_t id, uint64_t born,
			      const char *label, uint64_t value)
{
	unsigned slot = bucket_slot(value, table->frac_bits);
	struct kstats_row *row;

	expect_ok(kstats_table_row_born(table, id, born, label, &row));
	row->slots[slot].count++;
	row->slots[slot].sum += value >> bucket_shift(slot, table->frac_bits);
}

void scene_kstats_word(char **word, const char *value)
{
	free(*word);
	*word = value ? strdup(value) : NULL;
}

uint64_t scene_kstats_value(uint64_t *stream)
{
	unsigned bits = next_random(stream) % 64;

	return next_random(stream) >> bits;
}

static void expect_same_word(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

void expect_same_kstats(const struct kstats_table *a, const struct kstats_table *b)
{
	expect_same_word(a->name, b->name);
	expect_same_word(a->host, b->host);
	expect_same_word(a->boot, b->boot);
	expect_same_word(a->labels, b->labels);
	expect_same_word(a->instance, b->instance);
	expect_same_word(a->unit, b->unit);
	expect_same_word(a->recorder, b->recorder);
	expect_same_word(a->start, b->start);
	expect_same_word(a->end, b->end);
	expect_same_word(a->scope.key, b->scope.key);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		expect_same_word(a->scope.only[i], b->scope.only[i]);
	assert_int_equal(a->by, b->by);
	assert_int_equal(a->frac_bits, b->frac_bits);
	assert_int_equal(a->cpus, b->cpus);
	assert_int_equal(a->is_active, b->is_active);
	assert_true(a->taken_ns == b->taken_ns && a->overhead_ns == b->overhead_ns);
	assert_true(a->began_ns == b->began_ns && a->recorded_ns == b->recorded_ns);
	assert_int_equal(a->losses_known, b->losses_known);
	assert_int_equal(a->earlier, b->earlier);
	assert_int_equal(a->earlier_known, b->earlier_known);
	assert_memory_equal(a->losses, b->losses, sizeof(a->losses));
	assert_int_equal(a->rows.count, b->rows.count);
	for (size_t i = 0; i < a->rows.count; i++) {
		assert_true(a->rows.items[i].id == b->rows.items[i].id);
		assert_true(a->rows.items[i].born == b->rows.items[i].born);
		expect_same_word(a->rows.items[i].label, b->rows.items[i].label);
		assert_memory_equal(a->rows.items[i].slots, b->rows.items[i].slots,
				    BUCKET_SLOTS(a->frac_bits) * sizeof(struct kstats_slot));
	}
}

struct kstats_distribution scene_kstats_all(const struct kstats_table *table)
{
	struct kstats_distribution all;

	expect_ok(kstats_distribution_of(table, NULL, &all));
	return all;
}
