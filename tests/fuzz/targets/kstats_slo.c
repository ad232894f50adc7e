/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <math.h>

#include "kstats/condition.h"
#include "kstats/slo.h"

/* A value of each size, and what is promised of it: a verdict is that of the value itself, unless
 * it is none. */
static void check_verdicts(const struct kstats_slo *slo)
{
	struct kstats_slot slots[BUCKET_SLOTS(3)];
	struct kstats_table table = { .unit = (char *)"ns", .frac_bits = 3 };
	const struct kstats_distribution of = { 3, 1, slots };

	for (unsigned bit = 0; bit < 50; bit++) {
		uint64_t value = 3ull << bit;
		unsigned slot = bucket_slot(value, 3);
		bool holds =
			slo->is_above ? (double)value > slo->limit : (double)value < slo->limit;
		enum kstats_verdict verdict;

		holds |= slo->or_equal && (double)value == slo->limit;
		memset(slots, 0, sizeof(slots));
		slots[slot] = (struct kstats_slot){ 1, value >> bucket_shift(slot, 3) };
		verdict = kstats_slo_judge(slo, &table, &of, NULL);
		must(verdict == KSTATS_UNDECIDED || (verdict == KSTATS_KEPT) == holds);
	}
}

/* Conditions of --fail-if have the same quantities. */
static void check_condition(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct kstats_condition condition = { .operator= CONDITION_AT_MOST + 1 };
	struct error *err = kstats_condition_parse(text, &condition);

	if (err) {
		must(condition.operator> CONDITION_AT_MOST);
		fuzz_check_error(err);
	} else {
		must(condition.operator<= CONDITION_AT_MOST && isfinite(condition.bound.value));
		must(condition.aspect.fraction >= 0 && condition.aspect.fraction <= 1);
		kstats_condition_is_about(&condition, "12:reads");
		kstats_condition_clear(&condition);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct kstats_slo slo = { .limit = -42 };
	struct error *err = kstats_slo_parse(bytes, &slo);

	if (err) {
		must(slo.limit == -42);
		fuzz_check_error(err);
	} else {
		must(isfinite(slo.limit) && slo.limit >= 0);
		must(slo.aspect.fraction >= 0 && slo.aspect.fraction <= 1);
		must(slo.aspect.quantity <= KSTATS_QUANTITY_LOST);
		must(!slo.is_time || slo.aspect.quantity < KSTATS_QUANTITY_COUNT);
		must(!memchr(bytes.bytes, '\0', bytes.length));
		if (slo.aspect.quantity < KSTATS_QUANTITY_COUNT)
			check_verdicts(&slo);
	}
	check_condition(data, size);
	fuzz_release(bytes);
	return 0;
}
