/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of this process in a reading that is made up, inspected as they are.
 */
#include "serve/thread_inspector.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "unit/profile_scene.h"

#define SECOND ((uint64_t)1000000000)
#define ALL    ((1u << STATE_COUNT) - 1)

/* A thread that reads a pipe until it is closed. */
struct reader {
	pthread_t thread;
	int ends[2];
	_Atomic uint32_t tid;
};

static void *read_pipe(void *context)
{
	struct reader *reader = context;
	char byte;

	reader->tid = (uint32_t)syscall(SYS_gettid);
	assert_int_equal(read(reader->ends[0], &byte, 1), 0);
	return NULL;
}

static void start(struct reader *reader)
{
	assert_int_equal(pipe(reader->ends), 0);
	assert_int_equal(pthread_create(&reader->thread, NULL, read_pipe, reader), 0);
	while (!reader->tid)
		usleep(1000);
}

static void end(struct reader *reader)
{
	close(reader->ends[1]);
	pthread_join(reader->thread, NULL);
	close(reader->ends[0]);
}

/* A reading of a second in which a thread waited at a pipe. */
static void make_reading(uint32_t tid, struct tick_buffer *buffer, struct tick *ret)
{
	_cleanup_(profile_destroy) struct profile *p = build_profile();
	const struct tick_host host = { 0 };
	const struct kstats_changes none = { 0 };
	struct sample *sample;
	uint32_t thread;

	p->meta.duration_ns = SECOND;
	p->meta.captured_at_unix_ns = 5 * SECOND;
	thread = build_profile_thread(p, (uint32_t)getpid(), tid, "test", "reader", "/app");
	sample = build_sample(p, thread, CLASS_INTERRUPTIBLE, "read", SECOND, 1);
	sample->state = STATE_SLEEP_PIPE;
	expect_ok(tick_pack(p, &host, &none, buffer));
	expect_ok(tick_unpack(buffer->bytes, buffer->length, ret));
}

static struct inspection inspect(struct thread_inspector *inspector, uint32_t of_reading,
				 uint32_t tid)
{
	struct tick_buffer buffer = { 0 };
	struct inspection result;
	struct tick tick;
	struct pollfd done = { .fd = thread_inspector_fd(inspector), .events = POLLIN };

	make_reading(of_reading, &buffer, &tick);
	assert_false(thread_inspector_end(inspector, &result));
	expect_ok(thread_inspector_begin(inspector, &tick, 17, ALL, tid));
	/* It has copies. */
	memset(buffer.bytes, 0xff, buffer.length);
	free(buffer.bytes);
	assert_int_equal(thread_inspector_due(inspector), UINT64_MAX);
	do
		assert_int_equal(poll(&done, 1, 20000), 1);
	while (!thread_inspector_end(inspector, &result));
	assert_int_equal(result.tid, tid);
	assert_true(thread_inspector_due(inspector) > clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(poll(&done, 1, 0), 0);
	return result;
}

static void expect_text_in(const struct inspection *inspection, const char *text)
{
	if (!memmem(inspection->bytes, inspection->length, text, strlen(text)))
		fail_msg("'%s' is not in %.*s", text, (int)inspection->length, inspection->bytes);
}

TEST(threads_are_explained)
{
	struct thread_inspector *inspector;
	struct reader reader = { .tid = 0 };
	struct inspection result;
	char text[64];

	expect_ok(thread_inspector_create(&inspector));
	start(&reader);
	/* It may be asked about again. */
	for (int i = 0; i < 2; i++) {
		result = inspect(inspector, reader.tid, reader.tid);
		assert_int_equal(result.status, REPLY_DONE);
		expect_text_in(&result, "\"window\":17,\"at_unix_ns\":6000000000,");
		expect_text_in(&result, "\"comm\":\"reader\"");
		expect_text_in(&result, "\"sleep_pipe\":1000000000");
		/* The system call is known where the kernel runs the instructions of the test. */
		expect_text_in(&result, "\"answer\":\"100 % ");
		expect_text_in(&result, " at a pipe");
		expect_text_in(&result, "\"limits\":{\"policy\":\"SCHED_OTHER\"");
		snprintf(text, sizeof(text), "\"tid\":%u,", reader.tid);
		expect_text_in(&result, text);
		free(result.bytes);
	}
	end(&reader);
	thread_inspector_close(inspector);
}

TEST(others_are_not_looked_at)
{
	struct thread_inspector *inspector;
	struct reader reader = { .tid = 0 };
	struct inspection result;

	expect_ok(thread_inspector_create(&inspector));
	start(&reader);
	result = inspect(inspector, reader.tid, 1);
	assert_int_equal(result.status, REPLY_GONE);
	free(result.bytes);
	end(&reader);
	/* In the reading, and gone since. */
	result = inspect(inspector, reader.tid, reader.tid);
	assert_int_equal(result.status, REPLY_GONE);
	expect_text_in(&result, "has ended");
	free(result.bytes);
	thread_inspector_close(inspector);
}

TEST(can_be_closed_in_between)
{
	struct tick_buffer buffer = { 0 };
	struct thread_inspector *inspector;
	struct tick tick;

	make_reading((uint32_t)getpid(), &buffer, &tick);
	expect_ok(thread_inspector_create(&inspector));
	expect_ok(thread_inspector_begin(inspector, &tick, 1, ALL, (uint32_t)getpid()));
	thread_inspector_close(inspector);
	thread_inspector_close(NULL);
	free(buffer.bytes);
}

UNIT_TESTS(cmocka_unit_test(threads_are_explained), cmocka_unit_test(others_are_not_looked_at),
	   cmocka_unit_test(can_be_closed_in_between))
