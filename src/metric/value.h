/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of quantities, and the operations that each allows.
 *
 * The type of a metric is its meaning. Each type is a struct, so a peak and a total are as
 * different to the compiler as an int and a FILE; and a type allows exactly one aggregation rule,
 * which keeps its meaning. A row of metrics.def names both, and the program does not compile unless
 * they agree: summing peaks, or bytes as nanoseconds, is not possible.
 */
#ifndef METRIC_VALUE_H
#define METRIC_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/units.h"

/* The aggregation rules by family, under the names they have in the format,
 * as RULE(name, family, prose). */
#define RULES(RULE)                                 \
	RULE(NONE, NONE, "not aggregated")          \
	RULE(SUM_COUNT, SUM, "sum")                 \
	RULE(SUM_NS, SUM, "sum")                    \
	RULE(SUM_TICKS, SUM, "sum")                 \
	RULE(SUM_BYTES, SUM, "sum")                 \
	RULE(MAX_PEAK, MAX, "largest")              \
	RULE(MAX_PEAK_BYTES, MAX, "largest")        \
	RULE(MAX_GAUGE_NS, MAX, "largest")          \
	RULE(MAX_GAUGE_COUNT, MAX, "largest")       \
	RULE(RANGE_I32, RANGE, "smallest..largest") \
	RULE(RANGE_U32, RANGE, "smallest..largest") \
	RULE(MODE, MODE, "most frequent")           \
	RULE(MODE_CHAR, MODE, "most frequent")      \
	RULE(MODE_BOOL, MODE, "most frequent")      \
	RULE(AFFINITY, AFFINITY, "CPU sets")

enum metric_rule {
#define RULE_ENUM(name, family, prose) RULE_##name,
	RULES(RULE_ENUM)
#undef RULE_ENUM
};

enum metric_family {
	FAMILY_NONE,
	FAMILY_SUM,
	FAMILY_MAX,
	FAMILY_RANGE,
	FAMILY_MODE,
	FAMILY_AFFINITY
};

enum metric_kind {
	KIND_TOTAL,
	KIND_PEAK,
	KIND_GAUGE,
	KIND_ORDINAL,
	KIND_CATEGORY,
	KIND_SET,
	KIND_DEAD
};

/* VALUE(type, representation, kind, unit, the rule that keeps its meaning) */
#define VALUE_TYPES(VALUE)                                                    \
	VALUE(total_ns, uint64_t, KIND_TOTAL, UNIT_NS, SUM_NS)                \
	VALUE(total_count, uint64_t, KIND_TOTAL, UNIT_COUNT, SUM_COUNT)       \
	VALUE(total_bytes, uint64_t, KIND_TOTAL, UNIT_BYTES, SUM_BYTES)       \
	VALUE(total_ticks, uint64_t, KIND_TOTAL, UNIT_TICKS, SUM_TICKS)       \
	VALUE(peak_ns, uint64_t, KIND_PEAK, UNIT_NS, MAX_PEAK)                \
	VALUE(peak_bytes, uint64_t, KIND_PEAK, UNIT_BYTES, MAX_PEAK_BYTES)    \
	VALUE(gauge_ns, uint64_t, KIND_GAUGE, UNIT_NS, MAX_GAUGE_NS)          \
	VALUE(gauge_count, uint64_t, KIND_GAUGE, UNIT_COUNT, MAX_GAUGE_COUNT) \
	VALUE(ordinal_i32, int32_t, KIND_ORDINAL, UNIT_NONE, RANGE_I32)       \
	VALUE(ordinal_u32, uint32_t, KIND_ORDINAL, UNIT_NONE, RANGE_U32)      \
	VALUE(label, const struct name *, KIND_CATEGORY, UNIT_NONE, MODE)     \
	VALUE(letter, char, KIND_CATEGORY, UNIT_NONE, MODE_CHAR)              \
	VALUE(flag, bool, KIND_CATEGORY, UNIT_NONE, MODE_BOOL)                \
	VALUE(cpu_set, const struct name *, KIND_SET, UNIT_NONE, AFFINITY)    \
	VALUE(dead_count, uint64_t, KIND_DEAD, UNIT_COUNT, NONE)

#define VALUE_STRUCT(type, repr, kind, unit, rule) \
	struct type {                              \
		repr v;                            \
	};
VALUE_TYPES(VALUE_STRUCT)
#undef VALUE_STRUCT

enum value_type {
#define VALUE_ENUM(type, repr, kind, unit, rule) VALUE_##type,
	VALUE_TYPES(VALUE_ENUM)
#undef VALUE_ENUM
};

/* Properties of an expression's type, as integer constant expressions. */
#define VALUE_KIND_(type, repr, kind, unit, rule) , struct type : (kind)
#define VALUE_UNIT_(type, repr, kind, unit, rule) , struct type : (unit)
#define VALUE_RULE_(type, repr, kind, unit, rule) , struct type : (RULE_##rule)
#define kind_of(expression)                       _Generic((expression)VALUE_TYPES(VALUE_KIND_))
#define unit_of(expression)                       _Generic((expression)VALUE_TYPES(VALUE_UNIT_))
#define rule_of(expression)                       _Generic((expression)VALUE_TYPES(VALUE_RULE_))

/*
 * A cpu_set's name holds its CPUs as uint32_t numbers, ascending and without repetition; a set is
 * interned like any name, so equal sets are equal pointers.
 */
static inline size_t cpu_set_count(const struct name *set)
{
	return set ? set->length / sizeof(uint32_t) : 0;
}

static inline const uint32_t *cpu_set_cpus(const struct name *set)
{
	return (const uint32_t *)(const void *)set->bytes;
}

#endif
