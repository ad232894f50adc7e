/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/async_writer.h"

#include <pthread.h>
#include <unistd.h>

#include "unit/unit.h"

/* Numbers that follow each other, and the thread that brings them. */
struct taken {
	uint32_t next;
	size_t calls, fail_at;
	pthread_t by;
	bool slow;
};

static struct error *take(void *context, const void *bytes, size_t length)
{
	struct taken *taken = context;

	taken->by = pthread_self();
	if (taken->slow)
		usleep(2000);
	if (++taken->calls == taken->fail_at)
		return error_create("the disk is full");
	for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
		uint32_t number;

		memcpy(&number, (const char *)bytes + at, sizeof(number));
		assert_int_equal(number, taken->next);
		taken->next++;
	}
	return NULL;
}

static struct error *write_numbers(struct async_writer *writer, uint32_t count, size_t at_once)
{
	_cleanup_free_ uint32_t *numbers = calloc(at_once, sizeof(*numbers));
	struct error *err = NULL;

	assert_non_null(numbers);
	for (uint32_t first = 0; first < count && !err; first += (uint32_t)at_once) {
		for (size_t i = 0; i < at_once; i++)
			numbers[i] = first + (uint32_t)i;
		err = async_writer_write(writer, numbers, at_once * sizeof(*numbers));
	}
	return err;
}

TEST(all_bytes_arrive_in_order_by_another_thread)
{
	/* Small pieces, one buffer, and more than a buffer at once. */
	static const size_t sizes[] = { 1, 1000, 32768, 100000 };

	for (size_t i = 0; i < array_length(sizes); i++) {
		struct taken taken = { .slow = i == 2 };
		struct async_writer *writer;

		assert_null(async_writer_open(take, &taken, &writer));
		assert_null(async_writer_close(writer, write_numbers(writer, 300000, sizes[i])));
		assert_true(taken.next >= 300000);
		assert_false(pthread_equal(taken.by, pthread_self()));
	}
}

TEST(the_error_of_the_next_sink_comes_back_and_ends_the_writing)
{
	struct taken taken = { .fail_at = 3 };
	struct async_writer *writer;
	struct error *err;

	assert_null(async_writer_open(take, &taken, &writer));
	err = write_numbers(writer, 10000000, 32768);
	assert_non_null(err);
	err = async_writer_close(writer, err);
	assert_string_equal(err->message, "the disk is full");
	error_destroy(err);
	assert_true(taken.calls < 10);
}

TEST(an_error_of_before_is_kept)
{
	struct taken taken = { 0 };
	struct async_writer *writer;
	struct error *err;

	assert_null(async_writer_open(take, &taken, &writer));
	err = async_writer_close(writer, error_create("before"));
	assert_string_equal(err->message, "before");
	error_destroy(err);
	assert_int_equal(taken.calls, 0);
	assert_null(async_writer_close(NULL, NULL));
}

UNIT_TESTS(cmocka_unit_test(all_bytes_arrive_in_order_by_another_thread),
	   cmocka_unit_test(the_error_of_the_next_sink_comes_back_and_ends_the_writing),
	   cmocka_unit_test(an_error_of_before_is_kept))
