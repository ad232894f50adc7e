/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/outliers.h"

#include <stdio.h>

#include "fleet/outlier_score.h"
#include "fleet/scale.h"
#include "unit/fleet_scene.h"
#include "unit/unit.h"

static struct fleet_findings outliers_of(const struct fleet_data *data)
{
	struct fleet_findings findings;

	expect_ok(fleet_outliers(data, 0, data->slices, &findings));
	return findings;
}

static bool is_of(const struct fleet_data *data, const struct fleet_finding *finding,
		  const char *program, const char *name, size_t host)
{
	const struct fleet_measure *measure = &data->measures.items[finding->measure];

	return finding->host == host && text_equal(name_text(measure->program), text_of(program)) &&
	       text_equal(name_text(measure->name), text_of(name));
}

/* --- false alarms --- */

/* Hosts are compared by the sums of their slices. One slice whose noise is that of the mean of four
 * has the distribution of these, and is drawn in less than half of the time. */
static struct fleet_scene scene_of_sums(uint64_t seed)
{
	struct fleet_scene scene = fleet_scene_usual(seed);

	scene.noise /= sqrt((double)scene.slices);
	scene.slices = 1;
	return scene;
}

static void count_false(enum fleet_scene_tails tails, size_t hosts, size_t runs, size_t most)
{
	size_t flagged = 0;

	for (size_t run = 0; run < runs; run++) {
		struct fleet_scene scene = scene_of_sums(run * 1000003 + hosts);
		struct fleet_findings findings;
		struct fleet_data data;

		scene.tails = tails;
		scene.hosts = hosts;
		fleet_scene_draw(&scene, &data);
		findings = outliers_of(&data);
		flagged += findings.count > 0;
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# %zu hosts: %zu of %zu runs flagged a host\n", hosts, flagged, runs);
	assert_true(flagged <= most);
}

TEST(hosts_that_do_not_differ)
{
	count_false(FLEET_SCENE_NORMAL, 100, 1000, 50);
}

TEST(hosts_with_heavy_tails)
{
	count_false(FLEET_SCENE_HEAVY, 100, 200, 10);
}

TEST(hosts_that_are_skewed)
{
	count_false(FLEET_SCENE_GAMMA, 100, 200, 10);
}

TEST(few_hosts_that_do_not_differ)
{
	count_false(FLEET_SCENE_NORMAL, 4, 300, 15);
	count_false(FLEET_SCENE_NORMAL, 6, 300, 15);
	count_false(FLEET_SCENE_NORMAL, 12, 300, 15);
	count_false(FLEET_SCENE_NORMAL, 30, 300, 15);
}

/* Hosts are alike, and have so many events of this size in 20 CPU seconds on average. */
static size_t count_false_of_events(enum fleet_kind kind, const char *of, double events,
				    double size)
{
	size_t flagged = 0;

	for (size_t run = 0; run < 20; run++) {
		uint64_t random = run * 7919 + 1;
		struct fleet_findings findings;
		struct fleet_data data;

		assert_true(fleet_data_init(&data, 1));
		for (size_t program = 0; program < 50; program++) {
			char name[16];
			uint32_t measure;

			snprintf(name, sizeof(name), "p%zu", program);
			measure = fleet_data_measure(&data, kind, text_of(name), text_of(of));
			for (size_t host = 0; host < 100; host++) {
				double amount = 0, product = fleet_scene_uniform(&random);

				/* Poisson's distribution, by the product of uniform numbers. */
				for (; product > exp(-events); amount += size)
					product *= fleet_scene_uniform(&random);
				snprintf(name, sizeof(name), "h%zu", host);
				fleet_scene_add(&data, measure,
						fleet_data_host(&data, text_of(name)), 0, amount,
						20);
			}
		}
		findings = outliers_of(&data);
		flagged += findings.count > 0;
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	return flagged;
}

TEST(rare_events)
{
	static const double events[] = { 0.01, 0.1, 0.35, 2, 3, 10 };

	for (size_t i = 0; i < array_length(events); i++) {
		const size_t pages =
			count_false_of_events(FLEET_METRIC, "read_bytes", events[i], 4096);
		const size_t faults = count_false_of_events(FLEET_METRIC, "majflt", events[i], 1);
		const size_t bursts =
			count_false_of_events(FLEET_METRIC, "read_bytes", events[i], 1 << 20);
		const size_t waits = count_false_of_events(FLEET_STATE, "lock", events[i], 0.1);

		print_message(
			"# %g events: of 20 runs flagged a host: pages %zu, faults %zu, bursts "
			"%zu, waits %zu\n",
			events[i], pages, faults, bursts, waits);
		assert_true(pages <= 1 && faults <= 1 && bursts <= 1 && waits <= 1);
	}
}

/* --- outliers that are there --- */

/* Three hosts of a hundred differ, each by something else. */
static size_t find_planted(uint64_t seed, size_t found[3])
{
	struct fleet_scene scene = fleet_scene_usual(seed);
	struct fleet_findings findings;
	struct fleet_data data;
	size_t others = 0;

	fleet_scene_draw(&scene, &data);
	fleet_scene_add_time(&data, "p1", "lock", 17, 0.2, 0);
	fleet_scene_slow_down(&data, "p2", "f1", 42, 2, 0);
	for (size_t program = 0; program < 5; program++) {
		char name[16];

		snprintf(name, sizeof(name), "p%zu", program);
		fleet_scene_add_time(&data, name, "runnable", 63, 0.06, 0);
	}
	findings = outliers_of(&data);
	for (size_t i = 0; i < findings.count; i++) {
		const struct fleet_finding *finding = &findings.items[i];

		found[0] += is_of(&data, finding, "p1", "lock", 17);
		found[1] += is_of(&data, finding, "p2", "f1", 42);
		found[2] += is_of(&data, finding, "p3", "runnable", 63);
		others += finding->host != 17 && finding->host != 42 && finding->host != 63;
	}
	fleet_findings_deinit(&findings);
	fleet_data_deinit(&data);
	return others;
}

TEST(hosts_that_differ)
{
	size_t found[3] = { 0 }, others = 0;

	for (uint64_t run = 0; run < 200; run++)
		others += find_planted(run * 7919 + 3, found);
	print_message("# of 200: lock %zu, function %zu, runnable %zu; %zu others\n", found[0],
		      found[1], found[2], others);
	assert_true(found[0] >= 190 && found[1] >= 190 && found[2] >= 190);
	/* Of some 7 findings a run. */
	assert_true(others <= 70);
}

/* Ten programs have about as many faults on each host; of one program, one host has five times as
 * many as the others, and another has none. */
TEST(counters_that_differ)
{
	size_t found[2] = { 0 }, others = 0;

	for (uint64_t run = 0; run < 100; run++) {
		uint64_t random = run * 6151 + 1;
		struct fleet_findings findings;
		struct fleet_data data;

		assert_true(fleet_data_init(&data, 1));
		for (uint32_t i = 0; i < 1000; i++) {
			const uint32_t program = i / 100, number = i % 100;
			double faults = 1000 * exp(0.2 * fleet_scene_normal(&random));
			uint32_t measure, host;
			char name[16];

			snprintf(name, sizeof(name), "p%u", program);
			measure = fleet_data_measure(&data, FLEET_METRIC, text_of(name),
						     TEXT("majflt"));
			snprintf(name, sizeof(name), "h%u", number);
			host = fleet_data_host(&data, text_of(name));
			if (program == 4 && number == 5)
				faults *= 5;
			if (program == 4 && number == 6)
				faults = 0;
			fleet_scene_add(&data, measure, host, 0, faults, 20);
		}
		findings = outliers_of(&data);
		for (size_t i = 0; i < findings.count; i++) {
			const struct fleet_finding *finding = &findings.items[i];

			found[0] += is_of(&data, finding, "p4", "majflt", 5);
			found[1] += is_of(&data, finding, "p4", "majflt", 6);
			others += finding->host != 5 && finding->host != 6;
		}
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# of 100: more %zu, none %zu; %zu others\n", found[0], found[1], others);
	assert_true(found[0] >= 95 && found[1] >= 70 && others <= 10);
}

/* Some outliers of the same kind do not hide each other. */
TEST(several_alike)
{
	size_t found = 0;

	for (uint64_t run = 0; run < 100; run++) {
		struct fleet_scene scene = fleet_scene_usual(run * 104729 + 11);
		struct fleet_findings findings;
		struct fleet_data data;

		fleet_scene_draw(&scene, &data);
		for (size_t host = 30; host < 33; host++)
			fleet_scene_add_time(&data, "p0", "lock", host, 0.2, 0);
		findings = outliers_of(&data);
		for (size_t i = 0; i < findings.count; i++)
			for (size_t host = 30; host < 33; host++)
				found += is_of(&data, &findings.items[i], "p0", "lock", host);
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# %zu of 300\n", found);
	assert_true(found >= 285);
}

TEST(the_numbers_of_a_finding)
{
	struct fleet_scene scene = fleet_scene_usual(5);
	const struct fleet_finding *first;
	struct fleet_findings findings;
	struct fleet_data data;

	fleet_scene_draw(&scene, &data);
	fleet_scene_add_time(&data, "p1", "lock", 17, 0.38, 0);
	findings = outliers_of(&data);
	assert_true(findings.count >= 1);
	first = &findings.items[0];
	assert_true(is_of(&data, first, "p1", "lock", 17));
	/* 0.03 and 0.38 of 0.124 and 0.38, where its load is the usual one. */
	assert_true(first->value > 0.7 && first->value < 0.9);
	assert_true(first->other > 0.22 && first->other < 0.26);
	assert_true(first->other_low > 0.12 && first->other_low < first->other);
	assert_true(first->other_high > first->other && first->other_high < 0.4);
	assert_true(fabs(first->effect - (first->value - first->other)) < 1e-12);
	assert_true(fabs(first->effect_low - (first->value - first->other_high)) < 1e-12);
	assert_int_equal(first->peers, 99);
	assert_true(first->p < first->q && first->q < 1e-6);
	/* 4 states, 20 functions and a metric of 5 programs. */
	assert_int_equal(findings.measures, 125);
	assert_int_equal(findings.tests, 12500);
	fleet_findings_deinit(&findings);
	fleet_data_deinit(&data);
}

/* --- what is too little to tell --- */

TEST(sure_and_too_small_to_matter)
{
	struct fleet_findings findings;
	struct fleet_data data;
	uint32_t measure;

	assert_true(fleet_data_init(&data, 1));
	measure = fleet_data_measure(&data, FLEET_STATE, TEXT("p"), TEXT("lock"));
	for (size_t host = 0; host < 100; host++) {
		char name[16];

		snprintf(name, sizeof(name), "h%zu", host);
		/* All hosts are the same but one, which has a tenth more. */
		fleet_scene_add(&data, measure, fleet_data_host(&data, text_of(name)), 0,
				host == 50 ? 1100 : 1000, 10000);
	}
	findings = outliers_of(&data);
	assert_int_equal(findings.count, 0);
	fleet_findings_deinit(&findings);
	/* Twice as much is more than enough. */
	fleet_scene_add(&data, measure, 50, 0, 900, 0);
	findings = outliers_of(&data);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.items[0].host, 50);
	fleet_findings_deinit(&findings);
	fleet_data_deinit(&data);
}

TEST(too_few_hosts)
{
	for (size_t hosts = 0; hosts <= 3; hosts++) {
		struct fleet_scene scene = fleet_scene_usual(hosts);
		struct fleet_findings findings;
		struct fleet_data data;

		scene.hosts = hosts;
		fleet_scene_draw(&scene, &data);
		findings = outliers_of(&data);
		assert_int_equal(findings.count, 0);
		assert_int_equal(findings.tests, 0);
		assert_int_equal(findings.measures_too_few, data.measures.count);
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
}

/* A host on which a program ran for a moment has no value. */
TEST(too_little_time)
{
	struct fleet_findings findings;
	struct fleet_data data;
	uint32_t measure;

	assert_true(fleet_data_init(&data, 1));
	measure = fleet_data_measure(&data, FLEET_STATE, TEXT("p"), TEXT("lock"));
	for (size_t host = 0; host < 20; host++) {
		char name[16];

		snprintf(name, sizeof(name), "h%zu", host);
		fleet_scene_add(&data, measure, fleet_data_host(&data, text_of(name)), 0,
				host == 5 ? 50 : 100 + (double)host, host == 5 ? 100 : 10000);
	}
	findings = outliers_of(&data);
	assert_int_equal(findings.count, 0);
	assert_int_equal(findings.too_little, 1);
	assert_int_equal(findings.tests, 19);
	fleet_findings_deinit(&findings);
	fleet_data_deinit(&data);
}

/* --- values alone --- */

TEST(one_value_and_its_peers)
{
	/* The peers of the last have the mean 3 and the standard deviation sqrt(2.5). */
	static const double values[] = { 1, 2, 3, 4, 5, 9 };
	struct outlier_score scores[6];

	assert_true(fleet_outlier_scores(values, NULL, 6, 0, scores));
	assert_int_equal(scores[5].peers, 5);
	assert_true(fabs(scores[5].mean - 3) < 1e-12);
	assert_true(fabs(scores[5].deviation - sqrt(2.5)) < 1e-12);
	assert_true(scores[5].df == 4);
	assert_true(fabs(scores[5].p - student_two_sided((6 - SCALE_LEAST) / sqrt(3), 4)) < 1e-12);
	/* t(4) at 5 % is 2.776. */
	assert_true(fabs(fleet_prediction_half_width(&scores[5]) - 2.7764451 * sqrt(3)) < 1e-6);
}

TEST(values_that_are_all_the_same)
{
	static const double same[] = { 2, 2, 2, 2, 2 }, but_one[] = { 2, 2, 2, 2, 5 };
	struct outlier_score scores[5];

	assert_true(fleet_outlier_scores(same, NULL, 5, 0, scores));
	assert_true(scores[0].p == 1 && scores[4].p == 1);
	assert_true(fleet_outlier_scores(but_one, NULL, 5, 0, scores));
	assert_true(scores[4].p == 0 && scores[4].peers == 4);
	/* It is no peer of the others. */
	assert_true(scores[0].p == 1 && scores[0].deviation == 0);
	/* Unless its own error is known. */
	assert_true(fleet_outlier_scores(but_one, (const double[]){ 0, 0, 0, 0, 2 }, 5, 0, scores));
	assert_true(fabs(scores[4].p - student_two_sided((3 - SCALE_LEAST) / 2, 3)) < 1e-12);
}

TEST(tails)
{
	double excess, values[1000];
	uint64_t random = 1;

	for (size_t i = 0; i < 1000; i++)
		values[i] = fleet_scene_normal(&random);
	assert_true(fleet_excess(values, 1000, &excess));
	assert_true(fabs(excess) < 0.4);
	/* Those of Laplace's distribution have an excess of 3. */
	for (size_t i = 0; i < 1000; i++)
		values[i] = log(fleet_scene_uniform(&random)) - log(fleet_scene_uniform(&random));
	assert_true(fleet_excess(values, 1000, &excess));
	assert_true(excess > 1.5);
	assert_true(fleet_excess(values, 5, &excess));
	assert_true(isnan(excess));
}

TEST(the_scale)
{
	static const double shares[] = { 0, 1e-6, 0.01, 0.3, 0.5, 0.99, 1 };
	struct fleet_scale share = fleet_scale_of(FLEET_STATE, NULL, 0);
	static const double rates[] = { 100, 200, NAN, 300 };
	struct fleet_scale rate = fleet_scale_of(FLEET_METRIC, rates, 4);

	for (size_t i = 0; i < array_length(shares); i++)
		assert_true(fabs(fleet_scale_from(&share, fleet_scale_to(&share, shares[i])) -
				 shares[i]) < 1e-12);
	assert_true(rate.start == 20);
	assert_true(fabs(fleet_scale_from(&rate, fleet_scale_to(&rate, 1e9)) - 1e9) < 1);
	for (size_t i = 1; i <= 100; i++) {
		rate.start = (double)i / 7;
		assert_true(fleet_scale_from(&rate, fleet_scale_to(&rate, 0)) == 0);
	}
	assert_true(fleet_scale_from(&share, INFINITY) == 1);
	assert_true(fleet_scale_from(&share, -INFINITY) == 0);
	/* A share is as uncertain as its complement. */
	assert_true(fabs(fleet_scale_error(&share, 99, 100, 0.1) /
				 fleet_scale_error(&share, 1, 100, 0.1) -
			 1) < 1e-9);
	assert_true(fleet_scale_error(&share, 101, 100, 0.1) ==
		    fleet_scale_error(&share, 100, 100, 0.1));
	assert_true(fleet_scale_beyond(0.18) == 0 && fleet_scale_beyond(-1) == SCALE_LEAST - 1);
}

UNIT_TESTS(cmocka_unit_test(hosts_that_do_not_differ), cmocka_unit_test(hosts_with_heavy_tails),
	   cmocka_unit_test(hosts_that_are_skewed), cmocka_unit_test(few_hosts_that_do_not_differ),
	   cmocka_unit_test(rare_events), cmocka_unit_test(hosts_that_differ),
	   cmocka_unit_test(counters_that_differ), cmocka_unit_test(several_alike),
	   cmocka_unit_test(the_numbers_of_a_finding),
	   cmocka_unit_test(sure_and_too_small_to_matter), cmocka_unit_test(too_few_hosts),
	   cmocka_unit_test(too_little_time), cmocka_unit_test(one_value_and_its_peers),
	   cmocka_unit_test(values_that_are_all_the_same), cmocka_unit_test(tails),
	   cmocka_unit_test(the_scale))
