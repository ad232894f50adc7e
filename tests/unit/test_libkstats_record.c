/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs record, read as others read it: through /proc. The same with more of everything is
 * in tests/live.
 */
#include <kstats.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "histogram/histogram.h"
#include "kstats_values.h"
#include "unit/bucket_vectors.h"
#include "unit/kstats_own.h"
#include "unit/unit.h"

TEST(values_are_in_the_slots_of_the_vectors)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++)
		for (size_t i = 0; i < array_length(bucket_vectors); i++) {
			struct kstats *key = kstats_new("vector", frac);
			struct kstats_table *table;
			const struct kstats_slot *slot;

			kstats_record(key, bucket_vectors[i].value);
			table = kstats_read_own("vector");
			assert_int_equal(table->rows.count, 1);
			slot = &table->rows.items[0].slots[bucket_vectors[i].slots[frac]];
			assert_true(slot->count == 1);
			assert_true(slot->sum == kstats_amount(bucket_vectors[i].value, frac));
			assert_true(kstats_total_of_own("vector").count == 1);
			kstats_table_destroy(table);
			kstats_delete(key);
		}
}

TEST(sums_are_scaled_as_the_vectors_say)
{
	static const struct {
		uint64_t value, sum;
	} known[] = {
		{ 4194303, 4194303 },
		{ 4194304, 4194304 },
		{ 8388608, 4194304 },
		{ 8388609, 4194304 },
		{ 1000000000, 7812500 },
		{ 1000000000000, 7629394 },
		{ UINT32_MAX, 8388607 },
		{ (uint64_t)1 << 32, 4194304 },
		{ UINT64_MAX, 8388607 },
		{ (uint64_t)1 << 63, 4194304 },
		{ 0, 0 },
	};
	struct kstats *key = kstats_new("sums", 3);

	for (size_t i = 0; i < array_length(known); i++) {
		kstats_record(key, known[i].value);
		assert_true(kstats_total_of_own("sums").sum == known[i].sum);
		kstats_command_own("sums", KSTATS_RESET);
	}
	kstats_delete(key);
}

/* Slot for slot against the histogram, whose sums are unscaled and so are worked out here. */
static void compare_million(unsigned frac)
{
	struct kstats *key = kstats_new("million", frac);
	struct histogram *histogram = histogram_create(frac);
	uint64_t *sums = calloc(BUCKET_SLOTS(frac), sizeof(*sums));
	struct kstats_table *table;

	for (unsigned i = 0; i < KSTATS_VALUE_COUNT; i++) {
		uint64_t value = kstats_value(i);

		kstats_record(key, value);
		histogram_record(histogram, value, 1);
		sums[bucket_slot(value, frac)] += kstats_amount(value, frac);
	}
	table = kstats_read_own("million");
	for (unsigned slot = 0; slot < BUCKET_SLOTS(frac); slot++) {
		struct kstats_slot all = { 0 };

		for (size_t row = 0; row < table->rows.count; row++) {
			all.count += table->rows.items[row].slots[slot].count;
			all.sum += table->rows.items[row].slots[slot].sum;
		}
		assert_true(all.count == histogram->slots[slot]);
		assert_true(all.sum == sums[slot]);
	}
	kstats_table_destroy(table);
	histogram_destroy(histogram);
	free(sums);
	kstats_delete(key);
}

TEST(a_million_values_are_as_in_a_histogram)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++)
		compare_million(frac);
}

static void pin(unsigned cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		skip();
}

TEST(rows_are_cpus)
{
	cpu_set_t before;
	struct kstats *key = kstats_new("rows", 3);
	struct kstats_table *table;
	unsigned pinned = 0;

	sched_getaffinity(0, sizeof(before), &before);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && pinned < 2; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		pin(cpu);
		for (unsigned i = 0; i <= pinned; i++)
			kstats_record(key, 5);
		table = kstats_read_own("rows");
		assert_int_equal(table->rows.count, ++pinned);
		assert_true(table->rows.items[pinned - 1].id == cpu);
		assert_true(table->rows.items[pinned - 1].slots[5].count == pinned);
		assert_true(table->cpus > cpu);
		kstats_table_destroy(table);
	}
	sched_setaffinity(0, sizeof(before), &before);
	kstats_delete(key);
}

/* --- many at once --- */

#define THREADS 4
#define RECORDS 200000

static void *record_many(void *key)
{
	for (uint64_t i = 0; i < RECORDS; i++)
		kstats_record(key, i % 1000);
	return NULL;
}

/* Of RECORDS values 0 to 999 by turns. */
#define RECORDS_SUM ((uint64_t)RECORDS / 1000 * 999 * 500)

TEST(threads_lose_nothing)
{
	struct kstats *key = kstats_new("threads", 3);
	pthread_t threads[THREADS];
	struct kstats_slot total;

	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, record_many, key), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	total = kstats_total_of_own("threads");
	assert_true(total.count == THREADS * RECORDS);
	assert_true(total.sum == THREADS * RECORDS_SUM);
	kstats_delete(key);
}

static struct kstats *of_handler;
static volatile uint64_t handled;

static void record_in_handler(int signal)
{
	(void)signal;
	kstats_record(of_handler, 3);
	handled++;
}

/* The handler interrupts records into the very slot that it records into. */
TEST(signal_handlers_lose_nothing)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = record_in_handler }, before;
	uint64_t recorded = 0;
	struct kstats_slot total;

	of_handler = kstats_new("handler", 3);
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 2000 && recorded < 400000000) {
		kstats_record(of_handler, 3);
		recorded++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_true(handled > 0);
	total = kstats_total_of_own("handler");
	assert_true(total.count == recorded + handled);
	assert_true(total.sum == 3 * (recorded + handled));
	kstats_delete(of_handler);
}

/* Both processes count into the same, and may make others afterwards. */
TEST(counting_goes_on_over_forks)
{
	struct kstats *key = kstats_new("forked", 3), *other;
	int status;
	pid_t child = fork();

	if (!child) {
		record_many(key);
		other = kstats_new("of_child", 3);
		kstats_record(other, 1);
		_exit(!other || kstats_total_of_own("of_child").count != 1 ||
		      kstats_total_of_own("forked").count < RECORDS);
	}
	record_many(key);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(kstats_total_of_own("forked").count == 2 * RECORDS);
	assert_true(kstats_total_of_own("forked").sum == 2 * RECORDS_SUM);
	kstats_delete(key);
}

/* --- commands --- */

TEST(commands_do_what_they_say)
{
	struct kstats *key = kstats_new("commands", 3);
	struct kstats_table *table;

	kstats_record(key, 1);
	kstats_command_own("commands", KSTATS_STOP);
	kstats_record(key, 1);
	table = kstats_read_own("commands");
	assert_false(table->is_active);
	kstats_table_destroy(table);
	assert_true(kstats_total_of_own("commands").count == 1);
	kstats_command_own("commands", KSTATS_START);
	kstats_record(key, 1);
	assert_true(kstats_total_of_own("commands").count == 2);
	for (unsigned turn = 0; turn < 5; turn++) {
		kstats_command_own("commands", KSTATS_RESET);
		assert_true(kstats_total_of_own("commands").count == 0);
		assert_true(kstats_total_of_own("commands").sum == 0);
		kstats_record(key, 7 + turn);
		assert_true(kstats_total_of_own("commands").count == 1);
		assert_true(kstats_total_of_own("commands").sum == 7 + turn);
	}
	kstats_delete(key);
}

/* --- spans --- */

TEST(spans_are_times)
{
	struct kstats *key = kstats_new_time("spans", 3);
	struct kstats_span span = kstats_span_start(key);
	struct kstats_table *table;
	uint64_t took;

	usleep(2000);
	took = kstats_span_stop(span);
	assert_true(took >= 2000000);
	table = kstats_read_own("spans");
	assert_string_equal(table->unit, "ns");
	assert_string_equal(table->recorder, "user");
	assert_true(table->overhead_ns > 0 && table->overhead_ns < 1000000);
	assert_true(table->rows.items[0].slots[bucket_slot(took, 3)].count == 1);
	kstats_table_destroy(table);
	kstats_delete(key);
	/* Without a metric, too. */
	assert_true(kstats_span_stop(kstats_span_start(NULL)) < 1000000000);
}

UNIT_TESTS(cmocka_unit_test(values_are_in_the_slots_of_the_vectors),
	   cmocka_unit_test(sums_are_scaled_as_the_vectors_say),
	   cmocka_unit_test(a_million_values_are_as_in_a_histogram),
	   cmocka_unit_test(rows_are_cpus), cmocka_unit_test(threads_lose_nothing),
	   cmocka_unit_test(signal_handlers_lose_nothing),
	   cmocka_unit_test(counting_goes_on_over_forks),
	   cmocka_unit_test(commands_do_what_they_say), cmocka_unit_test(spans_are_times))
