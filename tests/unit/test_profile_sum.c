/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/profile_sum.h"

#include "unit/profile_scene.h"

#define S UINT64_C(1000000000)

/* A second of two stacks of one thread. */
static struct profile *reading(uint64_t a_ns, uint64_t b_ns)
{
	struct profile *p = build_profile();
	const uint32_t thread = build_profile_thread(p, 10, 11, "server", "worker", "/app");

	p->meta.duration_ns = S;
	p->threads.items[thread].is_accounted = true;
	p->threads.items[thread].begun_ns = 5 * S;
	p->threads.items[thread].ended_ns = 6 * S;
	p->threads.items[thread].ns[CLASS_ON_CPU] = a_ns + b_ns;
	if (a_ns)
		build_sample(p, thread, CLASS_ON_CPU, "main;a", a_ns, 10);
	if (b_ns)
		build_sample(p, thread, CLASS_ON_CPU, "main;b", b_ns, 10);
	return p;
}

static void add(struct profile_sum *sum, uint64_t a_ns, uint64_t b_ns)
{
	struct profile *p = reading(a_ns, b_ns);

	expect_ok(profile_sum_add(sum, p));
	profile_destroy(p);
}

static uint64_t total(const struct profile_sum *sum)
{
	return profile_total_ns(sum->profile, FLAME_ALL);
}

static void all_readings_add_up(void **state)
{
	struct profile_sum sum = { .half_life_ns = 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		add(&sum, 1000, i % 2 ? 500 : 0);
	assert_int_equal(total(&sum), 12500);
	assert_int_equal(sum.profile->samples.count, 2);
	assert_int_equal(sum.profile->threads.count, 1);
	assert_int_equal(sum.profile->meta.duration_ns, 10 * S);
	assert_int_equal(sum.profile->threads.items[0].ns[CLASS_ON_CPU], 12500);
	profile_sum_deinit(&sum);
}

static void old_readings_count_less(void **state)
{
	struct profile_sum sum = { .half_life_ns = 2 * S };

	(void)state;
	add(&sum, S, 0);
	add(&sum, 0, S);
	add(&sum, 0, S);
	/* After two seconds the first counts half, the one after it 0.7. */
	assert_int_equal(sum.profile->samples.count, 2);
	assert_in_range(sum.profile->samples.items[0].ns, S / 2 - 2, S / 2 + 2);
	assert_in_range(sum.profile->samples.items[1].ns, 1707106780, 1707106782);
	/* In the end nothing is left of it, and what is added to a steady load stays the same. */
	for (int i = 0; i < 100; i++)
		add(&sum, 0, S);
	assert_int_equal(sum.profile->samples.count, 1);
	assert_in_range(total(&sum), 3414213550, 3414213570);
	/* It comes back. */
	add(&sum, S, 0);
	assert_int_equal(sum.profile->samples.count, 2);
	profile_sum_deinit(&sum);
}

static void the_last_reading_alone(void **state)
{
	struct profile_sum sum = { .only_last = true };

	(void)state;
	add(&sum, 1000, 0);
	add(&sum, 0, 70);
	assert_int_equal(total(&sum), 70);
	sum.only_last = false;
	add(&sum, 1, 0);
	assert_int_equal(total(&sum), 71);
	profile_sum_deinit(&sum);
}

static void a_copy_stays(void **state)
{
	struct profile_sum sum = { .half_life_ns = 0 };
	struct profile *copy = NULL;

	(void)state;
	expect_ok(profile_sum_copy(&sum, &copy));
	assert_null(copy);
	add(&sum, 1000, 0);
	expect_ok(profile_sum_copy(&sum, &copy));
	add(&sum, 1000, 0);
	assert_int_equal(profile_total_ns(copy, FLAME_ALL), 1000);
	assert_int_equal(total(&sum), 2000);
	profile_destroy(copy);
	profile_sum_reset(&sum);
	assert_null(sum.profile);
	add(&sum, 3, 0);
	assert_int_equal(total(&sum), 3);
	profile_sum_deinit(&sum);
}

/* Of a reading with everything, what has no place in a flame graph goes, and all time stays. */
static void stacks_are_kept_alone(void **state)
{
	struct profile_sum sum = { .half_life_ns = 0 };
	struct profile *full = full_profile(5);
	const size_t samples = full->samples.count;
	const uint64_t ns = profile_total_ns(full, FLAME_ALL);

	(void)state;
	expect_ok(profile_sum_add(&sum, full));
	profile_destroy(full);
	assert_int_equal(sum.profile->samples.count, samples);
	assert_int_equal(total(&sum), ns);
	assert_int_equal(sum.profile->images.count + sum.profile->mappings.count +
				 sum.profile->longest.count + sum.profile->preemptors.count +
				 sum.profile->histograms.count + sum.profile->wakers.count,
			 0);
	profile_sum_deinit(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_readings_add_up),    cmocka_unit_test(old_readings_count_less),
		cmocka_unit_test(the_last_reading_alone), cmocka_unit_test(a_copy_stays),
		cmocka_unit_test(stacks_are_kept_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
