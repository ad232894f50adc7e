/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/schema.h"

#include <stdlib.h>

#include "metric/metric.h"
#include "unit/unit.h"

static const struct store_server current = { 26, 7, true, true }, old = { 18, 16, false, false };
static const struct schema_wanted wanted = { .database = "fleet", .program = "1" };

/* The first statement with these words, or NULL. */
static const char *statement(const struct schema_plan *plan, const char *words)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strstr(plan->items[i].query, words))
			return plan->items[i].query;
	return NULL;
}

static void expect_statement(const struct schema_plan *plan, const char *words)
{
	if (!statement(plan, words))
		fail_msg("no statement with '%s'", words);
}

TEST(versions_tell_what_a_server_has)
{
	struct store_server server;

	assert_true(store_server_parse(TEXT("26.7.2.1\n"), &server));
	assert_true(server.is_current && server.major == 26 && server.minor == 7);
	assert_true(store_server_parse(TEXT("22.3.1"), &server) && server.is_current);
	assert_true(store_server_parse(TEXT("22.2"), &server) && !server.is_current);
	assert_true(store_server_parse(TEXT("19.14"), &server) && server.has_parameters);
	assert_true(store_server_parse(TEXT("19.13"), &server) && !server.has_parameters);
	assert_true(store_server_parse(TEXT("18.16.1"), &server) && !server.is_current);
	assert_false(store_server_parse(TEXT(""), &server));
	assert_false(store_server_parse(TEXT("22"), &server));
	assert_false(store_server_parse(TEXT("<html>.1"), &server));
}

TEST(an_empty_database_gets_all_tables)
{
	const struct schema_present present = { 0 };
	struct schema_plan plan;

	expect_ok(schema_plan(&current, &wanted, &present, &plan));
	assert_int_equal(plan.created, STORE_TABLE_COUNT + 6 + 2);
	assert_string_equal(plan.items[0].query, "CREATE DATABASE IF NOT EXISTS `fleet`");
	expect_statement(&plan, "t DateTime('UTC') CODEC(DoubleDelta, ZSTD(1))");
	expect_statement(&plan, "TTL t + INTERVAL 14 DAY");
	expect_statement(&plan, "sum(ms) AS active_ms");
	expect_statement(&plan, "FROM `fleet`.samples GROUP BY host, t, process, comm, cgroup, "
				"class, state, stack");
	assert_null(statement(&plan, "ALTER"));
	/* The version is written when all else is there. */
	assert_non_null(strstr(plan.items[plan.count - 1].query, "schema_version"));
	assert_int_equal(plan.items[plan.count - 1].data.count, 4 + 4 + 2);
	schema_plan_deinit(&plan);
}

/* Lifetimes that are not given are those of the server: of HOUR the shortest, of others the
 * longest. */
TEST(lifetimes_that_stay_count)
{
	const struct schema_wanted raw = { .database = "fleet", .program = "1", .days = { 500 } };
	struct schema_present present = { 0 };
	struct schema_plan plan;

	expect_error(schema_plan(&current, &raw, &present, &plan),
		     "'raw' (500 days) is longer than 'hour' (400 days)");
	schema_present_add_lifetime(&present, TEXT("samples_1h"), 1000);
	schema_present_add_lifetime(&present, TEXT("stacks"), 0);
	schema_present_add_lifetime(&present, TEXT("samples"), 20);
	schema_present_add_lifetime(&present, TEXT("states"), 30);
	schema_present_add_lifetime(&present, TEXT("threads_1m"), UINT64_MAX);
	schema_present_add_lifetime(&present, TEXT("of others"), 7);
	expect_ok(schema_plan(&current, &raw, &present, &plan));
	expect_statement(&plan, "TTL t + INTERVAL 500 DAY");
	expect_statement(&plan, "TTL t + INTERVAL 90 DAY");
	expect_statement(&plan, "TTL seen + INTERVAL 1000 DAY");
	schema_plan_deinit(&plan);
	expect_ok(schema_plan(&current, &wanted, &present, &plan));
	expect_statement(&plan, "TTL t + INTERVAL 30 DAY");
	schema_plan_deinit(&plan);
	schema_present_add_lifetime(&present, TEXT("losses"), 499);
	expect_error(schema_plan(&current, &raw, &present, &plan),
		     "'raw' (500 days) is longer than 'hour' (499 days)");
	expect_ok(schema_plan(&old, &raw, &present, &plan));
	schema_plan_deinit(&plan);
}

TEST(old_servers_get_what_they_know)
{
	const struct schema_present present = { 0 };
	struct schema_plan plan;

	expect_ok(schema_plan(&old, &wanted, &present, &plan));
	assert_null(statement(&plan, "CODEC"));
	assert_null(statement(&plan, "TTL"));
	assert_null(statement(&plan, "SETTINGS"));
	schema_plan_deinit(&plan);
	assert_string_equal(schema_settings(&old), "&allow_experimental_low_cardinality_type=1");
	assert_string_equal(schema_settings(&current), "");
}

TEST(names_are_quoted)
{
	const struct schema_wanted hostile = { .database = "a`; DROP \\", .program = "1" };
	const struct schema_present present = { 0 };
	struct schema_plan plan;
	char *query = schema_columns_query("a'b");

	expect_ok(schema_plan(&old, &hostile, &present, &plan));
	assert_string_equal(plan.items[0].query, "CREATE DATABASE IF NOT EXISTS `a\\`; DROP \\\\`");
	schema_plan_deinit(&plan);
	assert_non_null(strstr(query, "= unhex('612762') "));
	free(query);
}

TEST(newer_tables_are_refused)
{
	const struct schema_present present = { .version = STORE_VERSION + 1 };
	struct schema_plan plan;

	expect_error(schema_plan(&current, &wanted, &present, &plan), "update ctprof");
}

/* A metric has its own bit, whose name is its own. */
TEST(metrics_have_bits)
{
	bool seen[STORE_METRIC_COUNT] = { false };

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		unsigned bit = store_metric_bit(i);

		assert_true(bit < STORE_METRIC_COUNT && !seen[bit]);
		seen[bit] = true;
		assert_string_equal(store_metric_names[bit], metrics[i].name);
	}
}

UNIT_TESTS(cmocka_unit_test(versions_tell_what_a_server_has),
	   cmocka_unit_test(an_empty_database_gets_all_tables),
	   cmocka_unit_test(lifetimes_that_stay_count),
	   cmocka_unit_test(old_servers_get_what_they_know), cmocka_unit_test(names_are_quoted),
	   cmocka_unit_test(newer_tables_are_refused), cmocka_unit_test(metrics_have_bits))
