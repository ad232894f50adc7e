/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/slo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/kstats_scene.h"

static struct kstats_slo parsed(const char *text)
{
	struct text bytes = guarded(text, strlen(text));
	struct kstats_slo slo;

	expect_ok(kstats_slo_parse(bytes, &slo));
	unguard(bytes);
	return slo;
}

/* --- words --- */

static const struct {
	const char *text;
	enum kstats_quantity quantity;
	double percent; /* of percentiles */
	bool is_above, or_equal, is_time;
	double limit;
} objectives[] = {
	{ "p99<50us", KSTATS_QUANTITY_PERCENTILE, 99, false, false, true, 50000 },
	{ "p99.9<=1ms", KSTATS_QUANTITY_PERCENTILE, 99.9, false, true, true, 1000000 },
	{ "p99.99<1.5ms", KSTATS_QUANTITY_PERCENTILE, 99.99, false, false, true, 1500000 },
	{ "p50>3", KSTATS_QUANTITY_PERCENTILE, 50, true, false, false, 3 },
	{ "p0>=0", KSTATS_QUANTITY_PERCENTILE, 0, true, true, false, 0 },
	{ "p100<2s", KSTATS_QUANTITY_PERCENTILE, 100, false, false, true, 2e9 },
	{ "p.5<2K", KSTATS_QUANTITY_PERCENTILE, 0.5, false, false, false, 2000 },
	{ " max < 10ms ", KSTATS_QUANTITY_MAX, 0, false, false, true, 1e7 },
	{ "mean<3us", KSTATS_QUANTITY_MEAN, 0, false, false, true, 3000 },
	{ "mean<=3000ns", KSTATS_QUANTITY_MEAN, 0, false, true, true, 3000 },
	{ "count>100", KSTATS_QUANTITY_COUNT, 0, true, false, false, 100 },
	{ "count>=1M", KSTATS_QUANTITY_COUNT, 0, true, true, false, 1e6 },
	{ "lost<1", KSTATS_QUANTITY_LOST, 0, false, false, false, 1 },
};

TEST(objectives_are_read)
{
	for (size_t i = 0; i < array_length(objectives); i++) {
		struct kstats_slo slo = parsed(objectives[i].text);

		assert_int_equal(slo.aspect.quantity, objectives[i].quantity);
		if (slo.aspect.quantity == KSTATS_QUANTITY_PERCENTILE)
			assert_true(fabs(slo.aspect.fraction - objectives[i].percent / 100) <
				    1e-15);
		assert_int_equal(slo.is_above, objectives[i].is_above);
		assert_int_equal(slo.or_equal, objectives[i].or_equal);
		assert_int_equal(slo.is_time, objectives[i].is_time);
		assert_true(fabs(slo.limit - objectives[i].limit) <= objectives[i].limit * 1e-15);
	}
}

static const char *const no_objectives[] = {
	"",           "p99",    "p99=50us",
	"<50us",      "p<50us", "p101<1us",
	"p100.1<1us", "p-1<1",  "p1.2.3<1",
	"p9 9<1us",   "pp99<1", "P99<1us",
	"q99<1us",    "p.<1",   "median<1us",
	"max",        "Max<1",  "p1e1<1us",
	"p0x5<1",     "p+5<1",  "p99999999999999999999999999<1",
};

static const char *const no_limits[] = {
	"p99<",    "p99.<<1us",   "p99<=",       "p99<us",   "p99<-1us", "p99<5%",    "p99<1KiB",
	"p99<1B",  "p99<50us x",  "p99<50 us s", "p99<nan",  "p99<inf",  "p99<1e400", "p99<=>5",
	"p99<==5", "count>100us", "lost<1ms",    "count>5%", "mean<1x",  "p99< =5us",
};

static void expect_refused(struct text text, const char *message)
{
	struct text bytes = guarded(text.bytes, text.length);
	struct kstats_slo slo = { .limit = 42 };

	expect_error(kstats_slo_parse(bytes, &slo), message);
	assert_true(slo.limit == 42);
	unguard(bytes);
}

TEST(other_texts_are_refused)
{
	for (size_t i = 0; i < array_length(no_objectives); i++)
		expect_refused(text_of(no_objectives[i]), "expected e.g. p99<50us");
	for (size_t i = 0; i < array_length(no_limits); i++)
		expect_refused(text_of(no_limits[i]), "invalid SLO limit");
	/* A zero inside is no end. */
	expect_refused((struct text){ "p99\0\0<1us", 9 }, "invalid SLO");
	expect_refused((struct text){ "p9\0009<1us", 8 }, "invalid SLO");
	expect_refused((struct text){ "p99<1us\0", 8 }, "invalid SLO limit");
}

/* --- answers --- */

/* 100 values from 480 to 511 ns, one of 20000 to 20479: slots 55 and 97 with 3 bits. */
static struct kstats_table *known(void)
{
	struct kstats_table *table = scene_kstats("known", 3);

	for (unsigned i = 0; i < 100; i++)
		scene_kstats_record(table, i % 4, NULL, 480 + i % 32);
	scene_kstats_record(table, 0, NULL, 20000);
	return table;
}

static enum kstats_verdict judged(const char *objective, const struct kstats_table *table,
				  struct kstats_measured *ret)
{
	struct kstats_distribution all = scene_kstats_all(table);
	struct kstats_slo slo = parsed(objective);
	enum kstats_verdict verdict = kstats_slo_judge(&slo, table, &all, ret);

	kstats_distribution_clear(&all);
	return verdict;
}

static const struct {
	const char *objective;
	enum kstats_verdict verdict;
} answers[] = {
	/* 480 to 511 */
	{ "p99<512ns", KSTATS_KEPT },
	{ "p99<511ns", KSTATS_UNDECIDED },
	{ "p99<=511ns", KSTATS_KEPT },
	{ "p99<=510ns", KSTATS_UNDECIDED },
	{ "p99<=480ns", KSTATS_UNDECIDED },
	{ "p99<481ns", KSTATS_UNDECIDED },
	{ "p99<480ns", KSTATS_BROKEN },
	{ "p99<=479ns", KSTATS_BROKEN },
	{ "p99>479", KSTATS_KEPT },
	{ "p99>480", KSTATS_UNDECIDED },
	{ "p99>=480", KSTATS_KEPT },
	{ "p99>=481", KSTATS_UNDECIDED },
	{ "p99>=511", KSTATS_UNDECIDED },
	{ "p99>511", KSTATS_BROKEN },
	{ "p99>=512", KSTATS_BROKEN },
	/* 100 of 101 are 99.0099 % */
	{ "p99.00<=511ns", KSTATS_KEPT },
	{ "p99.01<=511ns", KSTATS_BROKEN },
	{ "p99.9<=20479ns", KSTATS_KEPT },
	{ "max<=20.479us", KSTATS_KEPT },
	{ "max<20.479us", KSTATS_UNDECIDED },
	{ "max<20us", KSTATS_UNDECIDED },
	{ "max<18us", KSTATS_BROKEN },
	{ "p100<=20.479us", KSTATS_KEPT },
	{ "p0>=480ns", KSTATS_KEPT },
	/* Sums of small values are whole: 69494 / 101 is 688.059... */
	{ "mean<688.06ns", KSTATS_KEPT },
	{ "mean<688.05ns", KSTATS_BROKEN },
	{ "count>100", KSTATS_KEPT },
	{ "count>101", KSTATS_BROKEN },
	{ "count>=101", KSTATS_KEPT },
	{ "count<=101", KSTATS_KEPT },
	{ "count<101", KSTATS_BROKEN },
};

TEST(kept_broken_undecided)
{
	struct kstats_table *table = known();

	for (size_t i = 0; i < array_length(answers); i++)
		if (judged(answers[i].objective, table, NULL) != answers[i].verdict)
			fail_msg("%s", answers[i].objective);
	kstats_table_destroy(table);
}

TEST(measured_values)
{
	struct kstats_table *table = known();
	struct kstats_measured measured;

	judged("p50<1us", table, &measured);
	assert_true(measured.low == 480 && measured.high == 511);
	judged("max<1us", table, &measured);
	assert_true(measured.low == 18432 && measured.high == 20479);
	judged("count<1", table, &measured);
	assert_true(measured.low == 101 && measured.high == 101);
	kstats_table_destroy(table);
}

/* A verdict that is not "undecided" is the one by the values themselves. */
TEST(verdicts_are_those_of_the_values)
{
	static const char *const signs[] = { "<", "<=", ">", ">=" };
	uint64_t stream = 17;
	unsigned decided = 0;

	for (unsigned i = 0; i < 4000; i++) {
		struct kstats_table *table = scene_kstats("one", i % 6);
		uint64_t value = scene_kstats_value(&stream) >> 12;
		uint64_t limit =
			i % 3 ? value + next_random(&stream) % (value / 4 + 3) - value / 8 : value;
		const bool truths[] = { value<limit, value <= limit, value> limit, value >= limit };
		char objective[64];
		enum kstats_verdict verdict;

		snprintf(objective, sizeof(objective), "%s%s%lluns",
			 i % 7 == 1   ? "mean"
			 : i % 7 == 2 ? "max"
				      : "p42",
			 signs[i % 4], (unsigned long long)limit);
		scene_kstats_record(table, 0, NULL, value);
		verdict = judged(objective, table, NULL);
		if (verdict != KSTATS_UNDECIDED) {
			assert_int_equal(verdict == KSTATS_KEPT, truths[i % 4]);
			decided++;
		}
		kstats_table_destroy(table);
	}
	assert_in_range(decided, 2000, 3999);
}

/* The bits that sums lose are in the bounds of the mean. */
TEST(means_that_lost_bits)
{
	struct kstats_table *table = scene_kstats("large", 3);
	struct kstats_measured measured;

	scene_kstats_record(table, 0, NULL, 1000000001);
	assert_int_equal(judged("mean<=1000000001ns", table, &measured), KSTATS_UNDECIDED);
	assert_true(measured.low == 1000000000 && measured.high == 1000000127);
	assert_int_equal(judged("mean>=1000000001ns", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("mean<=1000000127ns", table, NULL), KSTATS_KEPT);
	assert_int_equal(judged("mean>1000000127ns", table, NULL), KSTATS_BROKEN);
	kstats_table_destroy(table);
}

TEST(nothing_was_recorded)
{
	struct kstats_table *table = scene_kstats("empty", 3);

	assert_int_equal(judged("p99<1s", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("p99>=0", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("max<1s", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("mean<1s", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("count<1", table, NULL), KSTATS_KEPT);
	assert_int_equal(judged("count>0", table, NULL), KSTATS_BROKEN);
	kstats_table_destroy(table);
}

TEST(losses)
{
	struct kstats_table *table = known();

	/* Nobody counted: there may be any. */
	assert_int_equal(judged("lost<1", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("lost>=0", table, NULL), KSTATS_KEPT);
	table->losses[KSTATS_LOSS_unmatched] = 2;
	/* Or they began before recording did. */
	assert_int_equal(judged("lost<1", table, NULL), KSTATS_UNDECIDED);
	table->earlier_known = true;
	assert_int_equal(judged("lost<1", table, NULL), KSTATS_BROKEN);
	assert_int_equal(judged("lost<3", table, NULL), KSTATS_UNDECIDED);
	table->losses_known = 1u << KSTATS_LOSS_unmatched | 1u << KSTATS_LOSS_missed;
	table->losses[KSTATS_LOSS_missed] = 3;
	assert_int_equal(judged("lost<5", table, NULL), KSTATS_BROKEN);
	assert_int_equal(judged("lost<=5", table, NULL), KSTATS_KEPT);
	kstats_table_destroy(table);
}

TEST(times_for_metrics_without_a_unit)
{
	struct kstats_table *table = known();

	scene_kstats_word(&table->unit, "");
	assert_int_equal(judged("p99<1s", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("mean<1s", table, NULL), KSTATS_UNDECIDED);
	assert_int_equal(judged("p99<512", table, NULL), KSTATS_KEPT);
	assert_int_equal(judged("count>100", table, NULL), KSTATS_KEPT);
	kstats_table_destroy(table);
}

UNIT_TESTS(cmocka_unit_test(objectives_are_read), cmocka_unit_test(other_texts_are_refused),
	   cmocka_unit_test(kept_broken_undecided), cmocka_unit_test(measured_values),
	   cmocka_unit_test(verdicts_are_those_of_the_values),
	   cmocka_unit_test(means_that_lost_bits), cmocka_unit_test(nothing_was_recorded),
	   cmocka_unit_test(losses), cmocka_unit_test(times_for_metrics_without_a_unit))
