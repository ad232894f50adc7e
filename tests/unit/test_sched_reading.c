/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "unit/unit.h"

TEST(a_record_that_nobody_writes)
{
	static const struct thread_record record = { .tid = 7, .since = 5, .ns = { 1, 2 } };
	struct thread_record copy;

	assert_true(reading_copy(&record, &copy));
	assert_memory_equal(&copy, &record, sizeof(copy));
}

static atomic_bool is_over;

static void *write_always(void *record)
{
	volatile struct thread_record *t = record;

	while (!atomic_load_explicit(&is_over, memory_order_relaxed))
		t->since++;
	return NULL;
}

/* On a busy host it takes seconds until both run at once. */
#define LOOKS_MAX ((size_t)1000 * 1000 * 1000)

/* Its writer needs a CPU of its own: until it has one, copies are good. */
TEST(a_record_that_is_always_written)
{
	static struct thread_record record;
	struct thread_record copy;
	pthread_t writer;
	size_t looks = 0;

	assert_int_equal(pthread_create(&writer, NULL, write_always, &record), 0);
	while (reading_copy(&record, &copy) && looks < LOOKS_MAX)
		looks++;
	atomic_store(&is_over, true);
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_true(looks < LOOKS_MAX);
	assert_true(reading_copy(&record, &copy));
}

UNIT_TESTS(cmocka_unit_test(a_record_that_nobody_writes),
	   cmocka_unit_test(a_record_that_is_always_written))
