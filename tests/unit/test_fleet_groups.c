/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/groups.h"

#include <stdio.h>

#include "fleet/outliers.h"
#include "unit/fleet_scene.h"
#include "unit/unit.h"

#define HOSTS_MOST 100

/* Halves, or all others against the first `first`. */
static void part(uint8_t *groups, size_t hosts, size_t first)
{
	for (size_t i = 0; i < hosts; i++)
		groups[i] = i < first ? FLEET_FIRST : FLEET_SECOND;
}

static const struct fleet_finding *find(const struct fleet_data *data,
					const struct fleet_findings *findings, const char *program,
					const char *name, uint32_t host)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct fleet_finding *finding = &findings->items[i];
		const struct fleet_measure *measure = &data->measures.items[finding->measure];

		if (finding->host == host &&
		    text_equal(name_text(measure->program), text_of(program)) &&
		    text_equal(name_text(measure->name), text_of(name)))
			return finding;
	}
	return NULL;
}

/* --- two groups --- */

static void groups_that_do_not_differ(size_t hosts, size_t first, size_t runs)
{
	uint8_t groups[HOSTS_MOST];
	size_t flagged = 0;

	part(groups, hosts, first);
	for (size_t run = 0; run < runs; run++) {
		struct fleet_scene scene = fleet_scene_usual(run * 1000033 + hosts);
		struct fleet_findings findings;
		struct fleet_data data;

		scene.hosts = hosts;
		scene.tails = run % 2 ? FLEET_SCENE_GAMMA : FLEET_SCENE_NORMAL;
		fleet_scene_draw(&scene, &data);
		expect_ok(fleet_compare_groups(&data, groups, &findings));
		assert_int_equal(findings.measures, data.measures.count);
		flagged += findings.count > 0;
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# %zu and %zu hosts: %zu of %zu runs flagged\n", first, hosts - first,
		      flagged, runs);
	assert_true(flagged * 20 <= runs);
}

TEST(versions_that_do_not_differ)
{
	groups_that_do_not_differ(4, 2, 300);
	groups_that_do_not_differ(10, 5, 300);
	groups_that_do_not_differ(40, 36, 300);
	groups_that_do_not_differ(100, 50, 100);
}

TEST(versions_that_differ)
{
	size_t found[2] = { 0 };

	for (uint64_t run = 0; run < 100; run++) {
		struct fleet_scene scene = fleet_scene_usual(run * 31 + 7);
		uint8_t groups[HOSTS_MOST];
		struct fleet_findings findings;
		const struct fleet_finding *lock;
		struct fleet_data data;

		scene.hosts = 20;
		part(groups, 20, 10);
		fleet_scene_draw(&scene, &data);
		for (size_t host = 10; host < 20; host++) {
			fleet_scene_add_time(&data, "p1", "lock", host, 0.05, 0);
			fleet_scene_slow_down(&data, "p2", "f1", host, 1.6, 0);
		}
		expect_ok(fleet_compare_groups(&data, groups, &findings));
		lock = find(&data, &findings, "p1", "lock", FLEET_NONE);
		found[0] += lock != NULL;
		found[1] += find(&data, &findings, "p2", "f1", FLEET_NONE) != NULL;
		if (lock) {
			assert_true(lock->hosts == 10 && lock->peers == 10);
			assert_true(lock->effect > 0 && lock->effect_low > 0 &&
				    lock->effect_low < lock->effect &&
				    lock->effect < lock->effect_high);
			assert_true(lock->other_low < lock->other &&
				    lock->other < lock->other_high);
		}
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# of 100: lock %zu, function %zu\n", found[0], found[1]);
	assert_true(found[0] >= 95 && found[1] >= 95);
}

/* The interval of the effect has the true one in 95 of 100 runs. */
TEST(intervals_cover)
{
	size_t covered = 0, runs = 0;

	for (uint64_t run = 0; run < 400; run++) {
		struct fleet_findings findings;
		uint8_t groups[HOSTS_MOST];
		struct fleet_data data;
		uint64_t random = run + 1;
		uint32_t measure;

		assert_true(fleet_data_init(&data, 1));
		measure = fleet_data_measure(&data, FLEET_METRIC, TEXT("p"), TEXT("majflt"));
		part(groups, 12, 6);
		/* Medians of 1000 and 3000 in 1000 seconds. */
		for (uint32_t host = 0; host < 12; host++) {
			char name[32];

			snprintf(name, sizeof(name), "h%u", host);
			fleet_scene_add(&data, measure, fleet_data_host(&data, text_of(name)), 0,
					(host < 6 ? 1e6 : 3e6) *
						exp(0.1 * fleet_scene_normal(&random)),
					1000);
		}
		expect_ok(fleet_compare_groups(&data, groups, &findings));
		if (findings.count == 1) {
			const struct fleet_finding *finding = &findings.items[0];

			runs++;
			covered += finding->effect_low + finding->other <= 3000 &&
				   finding->effect_high + finding->other >= 3000;
			/* Of a ratio, which the scale is of, where it starts above nothing. */
			assert_true(finding->effect_low < finding->effect);
		}
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# %zu of %zu\n", covered, runs);
	assert_true(runs == 400);
	assert_true(covered >= 372);
}

TEST(groups_of_one_host)
{
	struct fleet_scene scene = fleet_scene_usual(1);
	struct fleet_findings findings;
	uint8_t groups[HOSTS_MOST];
	struct fleet_data data;

	scene.hosts = 5;
	part(groups, 5, 1);
	fleet_scene_draw(&scene, &data);
	expect_ok(fleet_compare_groups(&data, groups, &findings));
	assert_int_equal(findings.count, 0);
	assert_int_equal(findings.tests, 0);
	assert_int_equal(findings.measures_too_few, data.measures.count);
	fleet_findings_deinit(&findings);
	fleet_data_deinit(&data);
}

/* --- before and after --- */

static struct fleet_scene scene_of_times(uint64_t seed, size_t hosts)
{
	struct fleet_scene scene = fleet_scene_usual(seed);

	scene.hosts = hosts;
	scene.slices = 16;
	scene.programs = 3;
	scene.functions = 8;
	return scene;
}

TEST(times_that_do_not_differ)
{
	size_t all = 0, single = 0, slices = 0;

	for (uint64_t run = 0; run < 200; run++) {
		struct fleet_scene scene = scene_of_times(run * 97 + 1, 20);
		struct fleet_findings findings;
		struct fleet_data data;

		fleet_scene_draw(&scene, &data);
		expect_ok(fleet_compare_times(&data, 8, &findings));
		all += findings.count > 0;
		fleet_findings_deinit(&findings);
		expect_ok(fleet_outlier_changes(&data, 8, &findings));
		single += findings.count > 0;
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
		scene = scene_of_times(run * 97 + 2, 2);
		fleet_scene_draw(&scene, &data);
		expect_ok(fleet_compare_slices(&data, 8, &findings));
		slices += findings.count > 0;
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message("# of 200 runs flagged: all hosts %zu, a host %zu, one by slices %zu\n", all,
		      single, slices);
	assert_true(all <= 10 && single <= 10 && slices <= 10);
}

TEST(times_that_differ)
{
	size_t all = 0, single = 0, joined = 0, slices = 0, wrong = 0;

	for (uint64_t run = 0; run < 100; run++) {
		struct fleet_scene scene = scene_of_times(run * 89 + 1, 20);
		struct fleet_findings findings, both;
		size_t tests;
		const struct fleet_finding *found;
		struct fleet_data data;

		fleet_scene_draw(&scene, &data);
		for (size_t host = 0; host < 20; host++)
			fleet_scene_add_time(&data, "p1", "lock", host, 0.03, 8);
		fleet_scene_slow_down(&data, "p2", "f2", 7, 2, 8);
		expect_ok(fleet_compare_times(&data, 8, &findings));
		found = find(&data, &findings, "p1", "lock", FLEET_NONE);
		all += found && found->effect > 0 && found->hosts >= 18;
		wrong += find(&data, &findings, "p2", "f2", FLEET_NONE) != NULL;
		fleet_findings_deinit(&findings);
		expect_ok(fleet_outlier_changes(&data, 8, &findings));
		found = find(&data, &findings, "p2", "f2", 7);
		single += found && found->effect > 0;
		tests = findings.tests;
		expect_ok(fleet_compare_times(&data, 8, &both));
		tests += both.tests;
		assert_true(fleet_findings_join(&both, &findings));
		assert_int_equal(both.tests, tests);
		joined += find(&data, &both, "p1", "lock", FLEET_NONE) &&
			  find(&data, &both, "p2", "f2", 7);
		for (size_t i = 1; i < both.count; i++)
			assert_true(both.items[i].weight <= both.items[i - 1].weight);
		fleet_findings_deinit(&both);
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
		scene = scene_of_times(run * 89 + 2, 1);
		fleet_scene_draw(&scene, &data);
		fleet_scene_add_time(&data, "p1", "lock", 0, 0.1, 8);
		expect_ok(fleet_compare_slices(&data, 8, &findings));
		slices += find(&data, &findings, "p1", "lock", 0) != NULL;
		fleet_findings_deinit(&findings);
		fleet_data_deinit(&data);
	}
	print_message(
		"# of 100: all hosts %zu, one host %zu, both together %zu, one by slices %zu; "
		"%zu wrong\n",
		all, single, joined, slices, wrong);
	assert_true(all >= 95 && single >= 95 && joined >= 95 && slices >= 95 && wrong <= 5);
}

UNIT_TESTS(cmocka_unit_test(versions_that_do_not_differ), cmocka_unit_test(versions_that_differ),
	   cmocka_unit_test(intervals_cover), cmocka_unit_test(groups_of_one_host),
	   cmocka_unit_test(times_that_do_not_differ), cmocka_unit_test(times_that_differ))
