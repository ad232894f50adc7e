/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

/* A session whose records the tests write, in place of BPF programs. */
static struct profile_record records[RECORD_CHUNK];
static struct track_state shared;

static void made_session(struct profile_session *ret, uint32_t count)
{
	memset(records, 0, sizeof(records));
	shared = (struct track_state){ .next = 1 + count, .room = RECORD_CHUNK };
	*ret = (struct profile_session){ .options = { .off_cpu = true, .runners = true },
					 .cgroups = -1 };
	ret->chunks.tracker.state = &shared;
	ret->chunks.tracker.records.entry_bytes = sizeof(records[0]);
	assert_true(array_push(&ret->chunks.tracker.records.mapped, records));
}

static void session_deinit(struct profile_session *session)
{
	array_deinit(&session->chunks.tracker.records.mapped);
	array_deinit(&session->totals);
}

static void record_init(uint32_t number, uint32_t state, uint32_t cpu, uint64_t begun,
			uint64_t since)
{
	struct task_record *t = &records[number].task;

	*t = (struct task_record){ .tid = number,
				   .tgid = number,
				   .flags = RECORD_WANTED,
				   .state = state,
				   .cpu = cpu,
				   .begun = begun,
				   .since = since };
	strcpy(t->name, "thread");
}

/* The threads as of `now`, as profile_session_read() reads them. */
static struct profile *read_at(struct profile_session *session, uint64_t now)
{
	struct profile_reading r = { .session = session, .now = now, .record_count = shared.next };

	expect_ok(profile_create(&r.profile));
	r.threads = malloc(r.record_count * sizeof(*r.threads));
	assert_non_null(r.threads);
	memset(r.threads, 0xff, r.record_count * sizeof(*r.threads));
	expect_ok(reading_threads(&r));
	session->read_at = now;
	free(r.threads);
	free(r.latest);
	word_map_deinit(&r.leaders);
	word_map_deinit(&r.cgroups);
	return r.profile;
}

/* It ends after the moment that the reading is about, and before the reading comes to it. */
TEST(a_thread_that_ends_during_a_reading_is_read_once)
{
	struct profile_session session;
	struct profile *first, *second;

	made_session(&session, 1);
	record_init(1, CLASS_INTERRUPTIBLE, 0, 100, 150);
	records[1].task.ns[CLASS_ON_CPU] = 50;
	records[1].task.ns[CLASS_INTERRUPTIBLE] = 60;
	records[1].task.ended = records[1].task.since = 210;
	records[1].task.flags |= RECORD_ENDED;
	first = read_at(&session, 200);
	second = read_at(&session, 300);
	assert_int_equal(first->threads.count, 1);
	assert_int_equal(first->threads.items[0].ended_ns, 210);
	assert_int_equal(first->threads.items[0].ns[CLASS_INTERRUPTIBLE], 60);
	assert_int_equal(second->threads.count, 0);
	profile_destroy(first);
	profile_destroy(second);
	session_deinit(&session);
}

static bool is_accounted(struct profile_session *session, uint64_t now)
{
	struct profile *profile = read_at(session, now);
	const bool is = profile->threads.items[0].is_accounted;

	profile_destroy(profile);
	return is;
}

/* A new thread waits for its first CPU where its parent runs, and one that sleeps from the start on
 * is where it ran last: neither has taken the CPU from the thread that runs. */
TEST(a_thread_that_runs_beside_new_records)
{
	struct profile_session session;

	made_session(&session, 3);
	record_init(1, CLASS_ON_CPU, 1, 100, 150);
	record_init(2, CLASS_RUNNABLE, 1, 160, 160);
	record_init(3, CLASS_INTERRUPTIBLE, 1, 170, 170);
	assert_true(is_accounted(&session, 200));
	/* On another CPU. */
	record_init(2, CLASS_ON_CPU, 0, 160, 180);
	assert_true(is_accounted(&session, 300));
	/* On that one: the first has left it unseen. */
	record_init(2, CLASS_ON_CPU, 1, 160, 310);
	assert_false(is_accounted(&session, 400));
	session_deinit(&session);
}

UNIT_TESTS(cmocka_unit_test(a_thread_that_ends_during_a_reading_is_read_once),
	   cmocka_unit_test(a_thread_that_runs_beside_new_records))
