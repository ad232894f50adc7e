/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/counters.h"

#include "profile/thread_states.h"
#include "unit/build.h"
#include "unit/profile_scene.h"

/* A capture at an uptime, without threads. */
static struct ctprof_snapshot *capture_at(const char *boot, uint64_t ticks)
{
	struct ctprof_snapshot *s = build_snapshot();

	s->host = arena_alloc(&s->arena, sizeof(*s->host));
	assert_non_null(s->host);
	s->host->boot_id = snapshot_name(s, text_of(boot));
	s->host->uptime_clock_ticks = reading_of(ticks);
	return s;
}

static struct ctprof_thread *add(struct ctprof_snapshot *s, uint32_t tid, uint64_t started,
				 uint64_t run_ns)
{
	struct ctprof_thread *t = build_thread(s, tid, tid, "p", "c", "/g");

	t->start_time_clock_ticks = reading_of(started);
	build_number(t, METRIC_run_time_ns, run_ns);
	build_number(t, METRIC_nr_threads, 7);
	return t;
}

static uint64_t number_of(const struct ctprof_thread *t, enum metric_id id)
{
	assert_true(is_measured(t, id));
	return metric_load_u64(&t->record.values, &metrics[id]);
}

static struct counters_outcome take(struct agent_counters *c, struct ctprof_snapshot *s)
{
	struct counters_outcome outcome;

	expect_ok(counters_take(c, s, &outcome));
	return outcome;
}

static struct agent_counters *make(void)
{
	struct agent_counters *c;

	expect_ok(counters_create(&c));
	return c;
}

TEST(only_threads_that_did_something)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *a = capture_at("b", 100);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("b", 200);
	struct counters_outcome outcome;

	add(a, 1, 10, 1000);
	add(a, 2, 20, UINT64_MAX - 5);
	add(a, 3, 30, 3000);
	add(b, 1, 10, 1000);
	add(b, 2, 20, UINT64_MAX);
	add(b, 4, 200, 44);
	add(b, 3, 150, 33); /* another thread with the number of an ended one */
	outcome = take(c, a);
	assert_true(outcome.is_first);
	assert_int_equal(outcome.threads, 3);
	assert_int_equal(a->threads.count, 0);
	outcome = take(c, b);
	assert_false(outcome.is_first);
	assert_int_equal(outcome.threads, 4);
	assert_int_equal(outcome.ended, 1);
	assert_int_equal(outcome.without_past, 0);
	assert_int_equal(b->threads.count, 3);
	assert_int_equal(snapshot_thread(b, 0)->tid, 2);
	assert_int_equal(number_of(snapshot_thread(b, 0), METRIC_run_time_ns), 5);
	assert_int_equal(number_of(snapshot_thread(b, 0), METRIC_nr_threads), 7);
	assert_int_equal(snapshot_thread(b, 1)->tid, 4);
	assert_int_equal(number_of(snapshot_thread(b, 1), METRIC_run_time_ns), 44);
	assert_int_equal(number_of(snapshot_thread(b, 2), METRIC_run_time_ns), 33);
}

/* The thread with number `tid` of a capture at `ticks` that is being made. */
static bool is_idle_at(struct agent_counters *c, uint64_t ticks, uint32_t tid, uint64_t run_ns)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = capture_at("b", ticks);

	return counters_is_idle(c, add(s, tid, 10, run_ns));
}

/* Threads 1 and 2 did nothing; the former is left out while the capture is made. */
TEST(idle_threads_may_be_left_out)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *a = capture_at("b", 100);
	struct counters_outcome outcome;

	assert_false(is_idle_at(c, 100, 1, 1000));
	for (uint32_t tid = 1; tid <= 3; tid++)
		add(a, tid, 10, 1000 * tid);
	take(c, a);
	for (uint64_t round = 1; round <= 3; round++) {
		const uint64_t ticks = 100 + 100 * round;
		_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("b", ticks);

		/* The capture fails in its middle, and is made again. */
		assert_true(is_idle_at(c, ticks, 1, 1000));
		counters_forget_idle(c);
		assert_true(is_idle_at(c, ticks, 1, 1000));
		assert_false(is_idle_at(c, ticks, 3, 3000 + round));
		assert_false(is_idle_at(c, ticks, 4, 1000));
		add(b, 2, 10, 2000);
		add(b, 3, 10, 3000 + round);
		outcome = take(c, b);
		assert_int_equal(outcome.threads, 3);
		assert_int_equal(outcome.ended, 0);
		assert_int_equal(outcome.without_past, 0);
		assert_int_equal(b->threads.count, 1);
		assert_int_equal(number_of(snapshot_thread(b, 0), METRIC_run_time_ns), 1);
	}
	{
		_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("b", 500);

		assert_true(is_idle_at(c, 500, 2, 2000));
		add(b, 1, 10, 1001);
		outcome = take(c, b);
		assert_int_equal(outcome.ended, 1);
		assert_int_equal(b->threads.count, 1);
		assert_int_equal(snapshot_thread(b, 0)->tid, 1);
	}
}

/* A thread that was there all the time but is seen first now, as after a capture without time for
 * it, has totals of an unknown time. */
TEST(what_is_older_than_its_first_capture_is_left_out)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *a = capture_at("b", 100);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("b", 200);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *d = capture_at("b", 300);

	take(c, a);
	add(b, 1, 99, 1000);
	assert_int_equal(take(c, b).without_past, 1);
	assert_int_equal(b->threads.count, 0);
	add(d, 1, 99, 1003);
	take(c, d);
	assert_int_equal(d->threads.count, 1);
	assert_int_equal(number_of(snapshot_thread(d, 0), METRIC_run_time_ns), 3);
}

TEST(another_boot_has_no_past)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *a = capture_at("b", 100);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("other", 50);

	add(a, 1, 10, 1000);
	add(b, 1, 10, 2000);
	take(c, a);
	assert_true(take(c, b).is_first);
	assert_int_equal(b->threads.count, 0);
}

TEST(what_was_not_measured_before_has_no_change)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *a = capture_at("b", 100);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("b", 200);

	add(a, 1, 10, 1000);
	build_number(add(b, 1, 10, 1001), METRIC_rchar, 500);
	take(c, a);
	take(c, b);
	assert_int_equal(b->threads.count, 1);
	assert_false(is_measured(snapshot_thread(b, 0), METRIC_rchar));
	assert_int_equal(number_of(snapshot_thread(b, 0), METRIC_run_time_ns), 1);
}

/* The changes of all intervals add up to the difference of the last and the first capture, also
 * where a total falls in between. */
TEST(changes_are_conserved)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	enum { THREADS = 50, ROUNDS = 40 };
	uint64_t first[THREADS][METRIC_COUNT], last[THREADS][METRIC_COUNT];
	uint64_t sums[THREADS][METRIC_COUNT] = { { 0 } };
	uint64_t random = 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct ctprof_snapshot *s = capture_at("b", 100 + (uint64_t)round);

		for (uint32_t t = 0; t < THREADS; t++) {
			struct ctprof_thread *thread = add(s, t + 1, t, 0);

			for (enum metric_id id = 0; id < METRIC_state_exec_ns; id++) {
				if (metrics[id].kind != KIND_TOTAL || id == METRIC_thread_count)
					continue;
				random = random * 6364136223846793005u + 1442695040888963407u;
				if (!round)
					first[t][id] = last[t][id] = random >> (random >> 58);
				else if (random >> 62 == 0)
					last[t][id] += random >> (20 + (random & 31));
				build_number(thread, id, last[t][id]);
				/* Not in the last, which the sums are compared with. */
				if (round && round < ROUNDS - 1 && random >> 61 == 7 &&
				    last[t][id] > first[t][id])
					build_number(thread, id, last[t][id] - 1);
			}
		}
		take(c, s);
		for (size_t i = 0; i < s->threads.count; i++) {
			const struct ctprof_thread *thread = snapshot_thread(s, i);

			for (enum metric_id id = 0; id < METRIC_state_exec_ns; id++)
				if (metrics[id].kind == KIND_TOTAL && id != METRIC_thread_count)
					sums[thread->tid - 1][id] += number_of(thread, id);
		}
		snapshot_destroy(s);
	}
	for (uint32_t t = 0; t < THREADS; t++)
		for (enum metric_id id = 0; id < METRIC_state_exec_ns; id++)
			if (metrics[id].kind == KIND_TOTAL && id != METRIC_thread_count)
				assert_int_equal(sums[t][id], last[t][id] - first[t][id]);
}

static struct cgroup_counters *add_cgroup(struct ctprof_snapshot *s, const char *path,
					  uint64_t usage, uint64_t current)
{
	const struct cgroup_counters group = {
		.path = snapshot_name(s, text_of(path)),
		.cpu.usage_usec = reading_of(usage),
		.memory.current = reading_of(current),
	};

	assert_true(array_push(&s->cgroups, group));
	return &s->cgroups.items[s->cgroups.count - 1];
}

TEST(cgroups_and_pressure)
{
	_cleanup_(counters_destroy) struct agent_counters *c = make();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *a = capture_at("b", 100);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *b = capture_at("b", 200);

	add_cgroup(a, "/busy", 100, 1);
	add_cgroup(a, "/idle", 100, 1);
	a->psi.io.full.total_usec = reading_of(1000);
	add_cgroup(b, "/busy", 150, 2);
	add_cgroup(b, "/idle", 100, 2);
	add_cgroup(b, "/new", 300, 3);
	b->psi.io.full.total_usec = reading_of(1400);
	take(c, a);
	assert_int_equal(a->cgroups.count, 0);
	assert_false(a->psi.io.full.total_usec.measured);
	take(c, b);
	assert_int_equal(b->cgroups.count, 1);
	assert_string_equal(b->cgroups.items[0].path->bytes, "/busy");
	assert_int_equal(b->cgroups.items[0].cpu.usage_usec.value, 50);
	assert_int_equal(b->cgroups.items[0].memory.current.value, 2);
	assert_int_equal(b->psi.io.full.total_usec.value, 400);
}

/* --- states --- */

TEST(states_add_up_to_the_time_of_the_thread)
{
	_cleanup_(profile_destroy) struct profile *p = build_profile();
	_cleanup_free_ struct state_times *times = NULL;
	const uint32_t thread = build_profile_thread(p, 10, 11, "server", "worker", "/app");
	struct profile_thread *t = &p->threads.items[thread];

	t->ns[CLASS_ON_CPU] = 100;
	t->ns[CLASS_INTERRUPTIBLE] = 1000;
	t->ns[CLASS_IO_WAIT] = 50;
	/* On-CPU samples estimate. */
	build_sample(p, thread, CLASS_ON_CPU, "main", 900, 1);
	build_sample(p, thread, CLASS_INTERRUPTIBLE, "main", 600, 1)->state = STATE_SLEEP_NETWORK;
	build_sample(p, thread, CLASS_INTERRUPTIBLE, "main;f", 300, 1)->state = STATE_LOCK_FUTEX;
	expect_ok(profile_thread_states(p, &times));
	assert_int_equal(times[thread].ns[STATE_EXEC], 100);
	assert_int_equal(times[thread].ns[STATE_SLEEP_NETWORK], 600);
	assert_int_equal(times[thread].ns[STATE_LOCK_FUTEX], 300);
	assert_int_equal(times[thread].ns[STATE_SLEEP], 100);
	assert_int_equal(times[thread].ns[STATE_SLEEP_DISK], 50);
}

TEST(states_are_put_into_captures)
{
	_cleanup_(profile_destroy) struct profile *p = build_profile();
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = capture_at("b", 100);
	const uint32_t thread = build_profile_thread(p, 11, 11, "server", "worker", "/app");
	struct profile_thread *t = &p->threads.items[thread];
	const struct ctprof_thread *captured = add(s, 11, 50, 5);

	add(s, 12, 50, 5);
	p->meta.duration_ns = 1000;
	t->ns[CLASS_ON_CPU] = 100;
	t->ns[CLASS_INTERRUPTIBLE] = 900;
	t->counts[CLASS_ON_CPU] = 3;
	t->begun_ns = 5000;
	t->ended_ns = 6000;
	t->is_accounted = true;
	build_sample(p, thread, CLASS_INTERRUPTIBLE, "main", 600, 1)->state = STATE_SLEEP_NETWORK;
	/* Another one ended while threads were read: the others live on. */
	t = &p->threads.items[build_profile_thread(p, 13, 13, "late", "late", "/app")];
	t->begun_ns = 5500;
	t->ended_ns = 6001;
	t->is_accounted = true;
	expect_ok(counters_put_states(p, s));
	assert_int_equal(number_of(captured, METRIC_state_exec_ns), 100);
	/* A whole state has its parts. */
	assert_int_equal(number_of(captured, METRIC_state_sleep_ns), 900);
	assert_int_equal(number_of(captured, METRIC_state_sleep_network_ns), 600);
	assert_int_equal(number_of(captured, METRIC_state_watched_ns), 1000);
	assert_int_equal(number_of(captured, METRIC_state_switches), 3);
	assert_false(is_measured(captured, METRIC_state_exec_user_ns));
	assert_false(is_measured(snapshot_thread(s, 1), METRIC_state_exec_ns));
}

UNIT_TESTS(cmocka_unit_test(only_threads_that_did_something),
	   cmocka_unit_test(idle_threads_may_be_left_out),
	   cmocka_unit_test(what_is_older_than_its_first_capture_is_left_out),
	   cmocka_unit_test(another_boot_has_no_past),
	   cmocka_unit_test(what_was_not_measured_before_has_no_change),
	   cmocka_unit_test(changes_are_conserved), cmocka_unit_test(cgroups_and_pressure),
	   cmocka_unit_test(states_add_up_to_the_time_of_the_thread),
	   cmocka_unit_test(states_are_put_into_captures))
