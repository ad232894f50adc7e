/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of kstats with known values in them.
 */
#ifndef UNIT_KSTATS_SCENE_H
#define UNIT_KSTATS_SCENE_H

#include "kstats/distribution.h"
#include "kstats/table.h"
#include "unit/unit.h"

/* An empty one of ns, by CPU. */
struct kstats_table *scene_kstats(const char *name, unsigned frac_bits);

/* One value, as recorders do it. */
void scene_kstats_record(struct kstats_table *table, uint64_t id, const char *label,
			 uint64_t value);
void scene_kstats_record_born(struct kstats_table *table, uint64_t id, uint64_t born,
			      const char *label, uint64_t value);

/* A word of the table in place of what it was; NULL: none. */
void scene_kstats_word(char **word, const char *value);

/* Values of all lengths, as many of 3 bits as of 60. */
uint64_t scene_kstats_value(uint64_t *stream);

/* Everything in both is the same: words, numbers, rows, slots, sums. */
void expect_same_kstats(const struct kstats_table *a, const struct kstats_table *b);

/* Of all rows together. */
struct kstats_distribution scene_kstats_all(const struct kstats_table *table);

#endif
