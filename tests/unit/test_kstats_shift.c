/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/shift.h"

#include <math.h>
#include <stdlib.h>

#include "unit/kstats_scene.h"

/* Most slots there are, for tests that say themselves what is in which. */
#define SLOTS BUCKET_SLOTS(5)

/* --- how sure a percentile is --- */

/* That `count` tries of this probability succeed at most `most` times. */
static double binomial(unsigned count, double probability, unsigned most)
{
	double sum = 0;

	for (unsigned k = 0; k <= most && k <= count; k++)
		sum += exp(lgamma(count + 1.0) - lgamma(k + 1.0) - lgamma(count - k + 1.0) +
			   k * log(probability) + (count - k) * log1p(-probability));
	return sum;
}

/* How often the percentile of all is between the bounds, from the ranks that they are: with one
 * value in each slot, bounds tell which. The value of a rank is not above the percentile when at
 * least so many of the sample are not. */
static double coverage(unsigned count, double fraction)
{
	struct kstats_slot slots[SLOTS] = { 0 };
	const struct kstats_distribution of = { 5, count, slots };
	struct kstats_confidence bounds;
	unsigned low, high;

	for (unsigned slot = 0; slot < count; slot++)
		slots[slot].count = 1;
	bounds = kstats_confidence(&of, fraction);
	low = bounds.low ? bucket_slot(bounds.low, 5) + 1 : 0;
	high = bounds.high == UINT64_MAX ? count + 1 : bucket_slot(bounds.high, 5) + 1;
	return binomial(count, fraction, high - 1) - (low ? binomial(count, fraction, low - 1) : 0);
}

TEST(bounds_cover_the_true_percentile)
{
	static const double fractions[] = { 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999 };

	for (size_t i = 0; i < array_length(fractions); i++)
		for (unsigned count = 1; count < 1900; count += 1 + count / 7) {
			double covered = coverage(count, fractions[i]);

			assert_true(covered >= 0.95);
			/* And are not much wider than it takes, where there are enough values. */
			if (count * fractions[i] * (1 - fractions[i]) > 20)
				assert_true(covered < 0.98);
		}
}

/* Exponential values with a mean of 100000, whose percentiles are known. */
static uint64_t exponential(uint64_t *stream)
{
	return (uint64_t)(-100000 * log(((double)(next_random(stream) >> 11) + 0.5) * 0x1p-53));
}

static struct kstats_table *exponentials(unsigned count, double scale, uint64_t *stream)
{
	struct kstats_table *table = scene_kstats("exponential", 5);

	for (unsigned i = 0; i < count; i++)
		scene_kstats_record(table, 0, NULL,
				    (uint64_t)((double)exponential(stream) * scale));
	return table;
}

TEST(simulated_samples)
{
	static const double fractions[] = { 0.5, 0.9, 0.99 };
	unsigned covered[3] = { 0 };
	uint64_t stream = 3;

	for (unsigned i = 0; i < 1000; i++) {
		struct kstats_table *table = exponentials(500, 1, &stream);
		struct kstats_distribution all = scene_kstats_all(table);

		for (unsigned k = 0; k < 3; k++) {
			struct kstats_confidence c = kstats_confidence(&all, fractions[k]);
			double truth = -100000 * log1p(-fractions[k]);

			covered[k] += (double)c.low <= truth && truth <= (double)c.high;
		}
		kstats_distribution_clear(&all);
		kstats_table_destroy(table);
	}
	for (unsigned k = 0; k < 3; k++) {
		assert_in_range(covered[k], 950, 1000);
		/* Bounds that hold always say nothing. */
		assert_true(covered[k] < 1000);
	}
}

TEST(too_few_values)
{
	struct kstats_slot slots[BUCKET_SLOTS(3)] = { 0 };
	struct kstats_distribution of = { 3, 0, slots };
	struct kstats_confidence c = kstats_confidence(&of, 0.5);

	assert_true(c.low == 0 && c.high == UINT64_MAX);
	of.count = slots[55].count = 3;
	c = kstats_confidence(&of, 0.99);
	assert_true(c.high == UINT64_MAX);
	/* The largest of all may be larger than any that was seen, and is not smaller. */
	of.count = slots[55].count = 1000000;
	c = kstats_confidence(&of, 1);
	assert_true(c.low == 480 && c.high == UINT64_MAX);
	c = kstats_confidence(&of, 0);
	assert_true(c.low == 0 && c.high == 511);
	c = kstats_confidence(&of, 0.5);
	assert_true(c.low == 480 && c.high == 511);
	of.count = slots[55].count = UINT64_MAX;
	c = kstats_confidence(&of, 1);
	assert_true(c.low == 480);
	c = kstats_confidence(&of, 0.5);
	assert_true(c.low == 480 && c.high == 511);
}

/* --- shifts --- */

static struct kstats_shift shift_of(struct kstats_table *before, struct kstats_table *after,
				    double fraction)
{
	struct kstats_distribution old = scene_kstats_all(before), new = scene_kstats_all(after);
	struct kstats_shift shift = kstats_shift(&old, &new, fraction);

	kstats_distribution_clear(&old);
	kstats_distribution_clear(&new);
	kstats_table_destroy(before);
	kstats_table_destroy(after);
	return shift;
}

TEST(slower_and_faster)
{
	uint64_t stream = 8;
	struct kstats_shift shift;

	shift = shift_of(exponentials(3000, 1, &stream), exponentials(3000, 1.5, &stream), 0.5);
	assert_int_equal(shift.sureness, KSTATS_SLOWER);
	assert_true(shift.least > 0);
	shift = shift_of(exponentials(3000, 1.5, &stream), exponentials(3000, 1, &stream), 0.5);
	assert_int_equal(shift.sureness, KSTATS_FASTER);
	assert_true(shift.most < 0);
	/* The same change, of too few. */
	shift = shift_of(exponentials(8, 1, &stream), exponentials(8, 1.5, &stream), 0.9);
	assert_int_equal(shift.sureness, KSTATS_UNSURE);
	/* Of the largest there is never enough to be sure. */
	shift = shift_of(exponentials(3000, 1, &stream), exponentials(3000, 9, &stream), 1);
	assert_int_equal(shift.sureness, KSTATS_UNSURE);
}

TEST(the_same)
{
	uint64_t once = 8, again = 8;
	struct kstats_shift shift;

	shift = shift_of(exponentials(500, 1, &once), exponentials(500, 1, &again), 0.99);
	assert_int_equal(shift.sureness, KSTATS_SAME);
	assert_true(shift.before.slot == shift.after.slot);
	assert_true(shift.least < 0 && shift.most > 0 && shift.least == -shift.most);
}

/* Samples of the same are called different once in twenty times at most. */
TEST(chance_is_not_called_sure)
{
	unsigned sure = 0, unsure = 0;
	uint64_t stream = 21;

	for (unsigned i = 0; i < 400; i++) {
		struct kstats_shift shift =
			shift_of(exponentials(300, 1, &stream), exponentials(300, 1, &stream), 0.9);

		sure += shift.sureness == KSTATS_SLOWER || shift.sureness == KSTATS_FASTER;
		unsure += shift.sureness == KSTATS_UNSURE;
	}
	assert_in_range(sure, 0, 20);
	assert_in_range(unsure, 100, 400);
}

/* The difference of what was recorded is between the bounds, whatever it is. */
TEST(bounds_of_shifts)
{
	uint64_t stream = 6;

	for (unsigned i = 0; i < 500; i++) {
		struct kstats_table *before = scene_kstats("a", i % 6);
		struct kstats_table *after = scene_kstats("b", i % 6);
		uint64_t old = scene_kstats_value(&stream) >> 12;
		uint64_t new = scene_kstats_value(&stream) >> 12;
		struct kstats_shift shift;

		scene_kstats_record(before, 0, NULL, old);
		scene_kstats_record(after, 0, NULL, new);
		shift = shift_of(before, after, 0.5);
		assert_true(shift.least <= (double)new - (double)old);
		assert_true(shift.most >= (double)new - (double)old);
	}
}

/* --- wholes --- */

/* Of `count` values each, `old` and `new` of them in slot 1 and the others in slot 2. */
static struct kstats_distance distance_of(uint64_t count, uint64_t old, uint64_t new)
{
	struct kstats_slot a[BUCKET_SLOTS(3)] = { [1] = { old, 0 }, [2] = { count - old, 0 } };
	struct kstats_slot b[BUCKET_SLOTS(3)] = { [1] = { new, 0 }, [2] = { count - new, 0 } };
	const struct kstats_distribution before = { 3, count, a }, after = { 3, count, b };

	return kstats_distance(&before, &after);
}

/* N. Smirnov, "Table for estimating the goodness of fit of empirical distributions" (1948): the
 * probability of a distance as large as x / sqrt(n m / (n + m)). */
static const struct {
	double x, probability;
} smirnov[] = {
	{ 0.40, 0.997192 }, { 0.50, 0.963945 }, { 0.60, 0.864283 },
	{ 0.80, 0.544142 }, { 1.00, 0.270000 }, { 1.20, 0.112250 },
	{ 1.36, 0.049486 }, { 1.63, 0.009846 }, { 2.00, 0.000671 },
};

TEST(known_probabilities)
{
	const uint64_t count = 20000000000;

	for (size_t i = 0; i < array_length(smirnov); i++) {
		double distance = smirnov[i].x / sqrt((double)count / 2);
		struct kstats_distance d = distance_of(
			count, count / 2, count / 2 + (uint64_t)(distance * (double)count + 0.5));

		assert_true(fabs(d.distance - distance) < 1e-9);
		assert_true(fabs(d.probability - smirnov[i].probability) <
			    2e-6 + smirnov[i].probability * 1e-4);
	}
}

/* Exactly, of `old` and `new` values that are all different: the share of orders of them in which
 * the shares are `distance` / (old * new) or more apart somewhere. As paths from corner to corner.
 */
static double exact_probability(unsigned old, unsigned new, unsigned distance)
{
	double paths[64][64] = { 0 };
	double all = exp(lgamma(old + new + 1.0) - lgamma(old + 1.0) - lgamma(new + 1.0));

	for (unsigned i = 0; i <= old; i++)
		for (unsigned k = 0; k <= new; k++) {
			if ((unsigned)abs((int)(i * new) - (int)(k * old)) >= distance)
				continue;
			paths[i][k] = !i && !k;
			paths[i][k] += i ? paths[i - 1][k] : 0;
			paths[i][k] += k ? paths[i][k - 1] : 0;
		}
	return 1 - paths[old][new] / all;
}

/* `old` values in slot 1; as many of the `new` in slot 2 as are that far. */
static double said_probability(unsigned old, unsigned new, unsigned far)
{
	struct kstats_slot a[BUCKET_SLOTS(3)] = { [1] = { old, 0 } };
	struct kstats_slot b[BUCKET_SLOTS(3)] = { [1] = { new - far, 0 }, [2] = { far, 0 } };
	const struct kstats_distribution before = { 3, old, a }, after = { 3, new, b };

	return kstats_distance(&before, &after).probability;
}

/* What is said of few values is near to what is so, and not too small where it matters. */
TEST(probabilities_of_few)
{
	static const unsigned sizes[][2] = { { 10, 10 }, { 20, 20 }, { 50, 50 }, { 12, 20 },
					     { 40, 17 }, { 60, 45 }, { 7, 60 } };

	for (size_t i = 0; i < array_length(sizes); i++)
		for (unsigned far = 1; far <= sizes[i][1]; far++) {
			unsigned old = sizes[i][0], new = sizes[i][1];
			double exact = exact_probability(old, new, far * old);
			double said = said_probability(old, new, far);

			/* Too large between few possible distances. */
			assert_true(said > exact - 0.03 && said < exact + 0.2);
			if (exact < 0.2 && exact > 1e-9)
				assert_true(said > exact * 0.97);
			if (exact < 0.2 && exact > 0.001)
				assert_true(said < exact * 4);
		}
}

TEST(distances)
{
	struct kstats_distance d = distance_of(100, 70, 70);

	assert_true(d.distance == 0 && d.probability == 1);
	d = distance_of(100, 100, 0);
	assert_true(d.distance == 1 && d.probability < 1e-30);
	d = distance_of(100, 20, 50);
	assert_true(fabs(d.distance - 0.3) < 1e-12);
	d = distance_of(0, 0, 0);
	assert_true(d.distance == 0 && d.probability == 1);
}

/* In slots, it is the largest distance at their ends, by the values themselves. */
TEST(distances_of_values)
{
	uint64_t stream = 2;

	for (unsigned i = 0; i < 100; i++) {
		struct kstats_table *a = exponentials(50 + i, 1, &stream);
		struct kstats_table *b = exponentials(150 - i, 1.2, &stream);
		struct kstats_distribution old = scene_kstats_all(a), new = scene_kstats_all(b);
		uint64_t below_old = 0, below_new = 0;
		double largest = 0;

		for (unsigned slot = 0; slot < SLOTS; slot++) {
			below_old += old.slots[slot].count;
			below_new += new.slots[slot].count;
			largest = fmax(largest, fabs((double)below_old / (50 + i) -
						     (double)below_new / (150 - i)));
		}
		assert_true(fabs(kstats_distance(&old, &new).distance - largest) < 1e-12);
		kstats_distribution_clear(&old);
		kstats_distribution_clear(&new);
		kstats_table_destroy(a);
		kstats_table_destroy(b);
	}
}

UNIT_TESTS(cmocka_unit_test(bounds_cover_the_true_percentile), cmocka_unit_test(simulated_samples),
	   cmocka_unit_test(too_few_values), cmocka_unit_test(slower_and_faster),
	   cmocka_unit_test(the_same), cmocka_unit_test(chance_is_not_called_sure),
	   cmocka_unit_test(bounds_of_shifts), cmocka_unit_test(known_probabilities),
	   cmocka_unit_test(probabilities_of_few), cmocka_unit_test(distances),
	   cmocka_unit_test(distances_of_values))
