/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/data.h"

#include <stdio.h>

#include "fleet/finding.h"
#include "statistics/statistics.h"
#include "unit/unit.h"

#define HOSTS    37
#define PROGRAMS 5
#define STATES   3
#define MEASURES (PROGRAMS * STATES)
#define SLICES   6

static double uniform(uint64_t *random)
{
	return (double)(next_random(random) >> 11) / 9007199254740992.0;
}

/* The same amounts in plain arrays. */
struct plain {
	double amounts[MEASURES][HOSTS][SLICES], bases[MEASURES][HOSTS][SLICES];
};

static struct fleet_amount sum_of(const struct plain *plain, size_t measure, size_t host,
				  size_t from, size_t to)
{
	struct fleet_amount sum = { 0 };

	for (size_t slice = from; slice < to; slice++) {
		sum.amount += plain->amounts[measure][host][slice];
		sum.base += plain->bases[measure][host][slice];
	}
	return sum;
}

/* What fleet_data_values() documents: no value where the base is below the least one of its kind,
 * or below a quarter of the median of those that are not 0. */
static size_t values_of(const struct plain *plain, size_t measure, size_t from, size_t to,
			double *values)
{
	double bases[HOSTS], least;
	size_t count = 0;

	for (size_t host = 0; host < HOSTS; host++) {
		const double base = sum_of(plain, measure, host, from, to).base;

		if (base > 0)
			bases[count++] = base;
	}
	least = count ? sort_for_median(bases, count) / 4 : 0;
	least = fmax(least, fleet_kinds[FLEET_STATE].base_least);
	count = 0;
	for (size_t host = 0; host < HOSTS; host++) {
		const struct fleet_amount sum = sum_of(plain, measure, host, from, to);

		values[host] = sum.base >= least ? sum.amount / sum.base : NAN;
		count += sum.base >= least;
	}
	return count;
}

static void expect_same(const struct fleet_data *data, const struct plain *plain, size_t from,
			size_t to)
{
	double values[HOSTS], expected[HOSTS];

	for (size_t measure = 0; measure < MEASURES; measure++) {
		for (size_t host = 0; host < HOSTS; host++) {
			const struct fleet_amount sum =
				fleet_data_sum(data, measure, host, from, to);
			const struct fleet_amount plain_sum =
				sum_of(plain, measure, host, from, to);

			assert_true(sum.amount == plain_sum.amount);
			assert_true(sum.base == plain_sum.base);
		}
		assert_int_equal(fleet_data_values(data, measure, from, to, values),
				 values_of(plain, measure, from, to, expected));
		for (size_t host = 0; host < HOSTS; host++)
			assert_true(isnan(values[host]) ? isnan(expected[host])
							: values[host] == expected[host]);
	}
}

static void name_hosts(struct fleet_data *data)
{
	char name[16];

	for (uint32_t host = 0; host < HOSTS; host++) {
		snprintf(name, sizeof(name), "h%u", host);
		assert_int_equal(fleet_data_host(data, text_of(name)), host);
	}
}

/* A third of the cells have something, in any order; measures of a program share its base. */
TEST(amounts_of_some_hosts)
{
	static const char *const states[STATES] = { "exec", "lock", "sleep_disk" };
	static struct plain plain;
	struct fleet_data data;
	uint64_t random = 1;

	assert_true(fleet_data_init(&data, SLICES));
	name_hosts(&data);
	for (uint32_t measure = 0; measure < MEASURES; measure++) {
		const char program[2] = { (char)('a' + measure / STATES) };
		const uint32_t base = fleet_data_base(&data, FLEET_STATE, text_of(program), 0);

		assert_int_equal(base, measure / STATES);
		assert_int_equal(fleet_data_measure(&data, FLEET_STATE, text_of(program),
						    text_of(states[measure % STATES])),
				 measure);
		assert_true(fleet_data_use_base(&data, measure, base));
		assert_true(fleet_data_use_base(&data, measure, base));
	}
	for (size_t i = 0; i < HOSTS * PROGRAMS * SLICES / 3; i++) {
		const uint32_t host = (uint32_t)(next_random(&random) % HOSTS);
		const uint32_t program = (uint32_t)(next_random(&random) % PROGRAMS);
		const size_t slice = next_random(&random) % SLICES;
		const double busy = 10 * uniform(&random);

		assert_true(fleet_data_add_base(&data, program, host, slice, busy));
		for (uint32_t measure = program * STATES; measure < (program + 1) * STATES;
		     measure++) {
			const bool has_none = measure % STATES == 1 && host % 2;
			const double amount = has_none ? 0 : busy * uniform(&random) / 3;

			assert_true(fleet_data_add(&data, measure, host, slice, amount));
			plain.amounts[measure][host][slice] += amount;
			plain.bases[measure][host][slice] += busy;
		}
	}
	expect_same(&data, &plain, 0, SLICES);
	expect_same(&data, &plain, 0, 2);
	expect_same(&data, &plain, 2, SLICES);
	expect_same(&data, &plain, 3, 3);
	fleet_data_clear_host(&data, 5);
	for (size_t measure = 0; measure < MEASURES; measure++)
		for (size_t slice = 0; slice < SLICES; slice++)
			plain.amounts[measure][5][slice] = plain.bases[measure][5][slice] = 0;
	expect_same(&data, &plain, 0, SLICES);
	fleet_data_deinit(&data);
}

/* What may not be measured together: the base of each measure is the sum of those that it has. */
TEST(several_bases)
{
	struct fleet_data data;
	uint32_t reads, faults, both, alone;

	assert_true(fleet_data_init(&data, 1));
	name_hosts(&data);
	reads = fleet_data_measure(&data, FLEET_METRIC, TEXT("p"), TEXT("syscr"));
	faults = fleet_data_measure(&data, FLEET_METRIC, TEXT("p"), TEXT("majflt"));
	both = fleet_data_base(&data, FLEET_METRIC, TEXT("p"), 3);
	alone = fleet_data_base(&data, FLEET_METRIC, TEXT("p"), 1);
	assert_true(both != alone);
	assert_true(fleet_data_use_base(&data, faults, both));
	assert_true(fleet_data_use_base(&data, reads, both));
	assert_true(fleet_data_use_base(&data, faults, alone));
	assert_true(fleet_data_add_base(&data, both, 1, 0, 10));
	assert_true(fleet_data_add_base(&data, alone, 1, 0, 6));
	assert_true(fleet_data_add(&data, faults, 1, 0, 32));
	assert_true(fleet_data_sum(&data, faults, 1, 0, 1).base == 16);
	assert_true(fleet_data_sum(&data, reads, 1, 0, 1).base == 10);
	assert_true(fleet_data_sum(&data, reads, 1, 0, 1).amount == 0);
	assert_true(fleet_data_sum(&data, faults, 0, 0, 1).base == 0);
	/* A function's own time has the base of its time with what it calls. */
	assert_int_equal(fleet_data_base(&data, FLEET_CPU, TEXT("p"), 0),
			 fleet_data_base(&data, FLEET_CPU_OWN, TEXT("p"), 0));
	fleet_data_deinit(&data);
}

TEST(amounts_that_are_none)
{
	struct fleet_data data;
	uint32_t measure, base;

	assert_true(fleet_data_init(&data, 2));
	name_hosts(&data);
	measure = fleet_data_measure(&data, FLEET_STATE, TEXT("p"), TEXT("lock"));
	base = fleet_data_base(&data, FLEET_STATE, TEXT("p"), 0);
	assert_true(fleet_data_use_base(&data, measure, base));
	assert_true(fleet_data_add(&data, measure, 0, 0, NAN));
	assert_true(fleet_data_add(&data, measure, 0, 0, -1));
	assert_true(fleet_data_add(&data, measure, 0, 0, INFINITY));
	assert_true(fleet_data_add(&data, measure, 0, 2, 1));
	assert_true(fleet_data_sum(&data, measure, 0, 0, SIZE_MAX).amount == 0);
	assert_false(fleet_data_add(&data, measure, HOSTS, 0, 1));
	assert_false(fleet_data_add(&data, measure + 1, 0, 0, 1));
	assert_false(fleet_data_add_base(&data, base + 1, 0, 0, 1));
	assert_false(fleet_data_use_base(&data, measure, FLEET_NONE));
	assert_false(fleet_data_use_base(&data, FLEET_NONE, base));
	fleet_data_deinit(&data);
}

#define TESTS 3000

/* Findings keep only tests with a small p. What is found, and each q, is that of all tests. */
TEST(findings_of_small_p)
{
	struct fleet_findings findings = { 0 }, others = { 0 };
	uint64_t random = 3;
	double q[TESTS];
	size_t found = 0;

	for (uint32_t i = 0; i < TESTS; i++) {
		const double u = uniform(&random);
		const struct fleet_finding finding = { .measure = i,
						       .weight = 1,
						       .p = i % 10 ? u : u * u * u * 0.01 };

		q[i] = finding.p;
		assert_true(fleet_findings_add(i % 3 ? &findings : &others, &finding));
	}
	assert_true(benjamini_hochberg(q, TESTS));
	for (size_t i = 0; i < TESTS; i++)
		found += q[i] <= FLEET_Q_MOST;
	assert_true(found > 100 && found < TESTS / 2);
	assert_true(fleet_findings_settle(&findings));
	assert_true(fleet_findings_join(&findings, &others));
	assert_int_equal(findings.tests, TESTS);
	assert_int_equal(findings.count, found);
	for (size_t i = 0; i < findings.count; i++)
		assert_true(findings.items[i].q == q[findings.items[i].measure]);
	fleet_findings_deinit(&findings);
}

UNIT_TESTS(cmocka_unit_test(amounts_of_some_hosts), cmocka_unit_test(several_bases),
	   cmocka_unit_test(amounts_that_are_none), cmocka_unit_test(findings_of_small_p))
