/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/idle.h"

#include <stdio.h>
#include <string.h>

#include "profile/reason.h"
#include "state/reading.h"
#include "unit/profile_scene.h"

static void wait_for(struct profile *p, uint32_t thread, enum state what, const char *stack,
		     uint64_t ns)
{
	build_sample(p, thread, CLASS_INTERRUPTIBLE, stack, ns, 1)->state = (uint8_t)what;
}

/* A host: of a server that does nothing, one that does something, and threads of the kernel. */
static struct profile *host(void)
{
	struct profile *p = build_profile();
	uint32_t loop = build_profile_thread(p, 1, 1, "quiet", "loop", NULL);
	uint32_t client = build_profile_thread(p, 2, 2, "client", "client", NULL);
	uint32_t locked = build_profile_thread(p, 3, 3, "locked", "locked", NULL);
	uint32_t worker = build_profile_thread(p, 4, 4, "kworker", "kworker", NULL);

	wait_for(p, loop, STATE_IDLE_POLL, "main;epoll", 600);
	wait_for(p, loop, STATE_SLEEP_TIMER, "main;nap", 398);
	build_sample(p, loop, CLASS_RUNNABLE, "main;nap", 2, 1);
	wait_for(p, client, STATE_IDLE_POLL, "main;ask", 700);
	wait_for(p, client, STATE_SLEEP_NETWORK, "main;read", 300);
	wait_for(p, locked, STATE_LOCK_FUTEX, "main;lock", 1000);
	p->threads.items[worker].is_kernel = true;
	wait_for(p, worker, STATE_IDLE_WORKER, "worker_[k]", 500);
	wait_for(p, worker, STATE_SLEEP_DISK, "work_[k]", 500);
	return p;
}

TEST(threads_that_do_nothing_else_are_idle)
{
	struct profile *p = host();
	struct idle idle;

	expect_ok(idle_find(p, &idle));
	assert_int_equal(idle.thread_count, 1);
	assert_int_equal(idle.part_count, 1);
	assert_true(idle_has(&idle, 0, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL));
	assert_true(idle_has(&idle, 0, CLASS_INTERRUPTIBLE, STATE_SLEEP_TIMER));
	assert_false(idle_has(&idle, 0, CLASS_RUNNABLE, STATE_RUNNABLE));
	/* It waits for its database, as far as one can see. */
	assert_false(idle_has(&idle, 1, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL));
	assert_false(idle_has(&idle, 2, CLASS_INTERRUPTIBLE, STATE_LOCK_FUTEX));
	/* Work is waited for by choice, whatever else there is. */
	assert_true(idle_has(&idle, 3, CLASS_INTERRUPTIBLE, STATE_IDLE_WORKER));
	assert_false(idle_has(NULL, 3, CLASS_INTERRUPTIBLE, STATE_IDLE_WORKER));
	assert_true(idle.ns == 600 + 398 + 500);
	assert_true(idle.all_ns == 4000);
	idle_deinit(&idle);
	profile_destroy(p);
}

/* A name is looked up: that the thread does nothing else is no reason to leave it out. */
TEST(waits_for_answers_are_not_idle)
{
	struct profile *p = build_profile();
	uint32_t client = build_profile_thread(p, 1, 1, "client", "client", NULL);
	struct idle idle;

	wait_for(p, client, STATE_IDLE_POLL, "main;getaddrinfo;__res_context_send;poll", 1000);
	expect_ok(idle_find(p, &idle));
	assert_int_equal(idle.thread_count, 0);
	assert_true(idle.ns == 0);
	assert_false(idle_has(&idle, 0, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL));
	idle_deinit(&idle);
	profile_destroy(p);
}

/* Few of them, of a thread that is idle: what is left out is all that has the word. */
TEST(few_answers_are_idle)
{
	struct profile *p = build_profile();
	uint32_t loop = build_profile_thread(p, 1, 1, "loop", "loop", NULL);
	struct idle idle;

	wait_for(p, loop, STATE_IDLE_POLL, "main;epoll", 995);
	wait_for(p, loop, STATE_IDLE_POLL, "main;getaddrinfo;poll", 5);
	expect_ok(idle_find(p, &idle));
	assert_int_equal(idle.thread_count, 1);
	assert_true(idle_has(&idle, 0, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL));
	assert_true(idle.ns == 1000);
	idle_deinit(&idle);
	profile_destroy(p);
}

TEST(what_is_scarce_weighs_most)
{
	assert_true(reason_weight(REASON_LOCK, true) == reason_weight(REASON_CPU_WAIT, false));
	assert_true(reason_weight(REASON_LOCK, true) > reason_weight(REASON_NETWORK, false));
	assert_true(reason_weight(REASON_CHILD, false) > reason_weight(REASON_CHILD, true));
	assert_true(reason_weight(REASON_CHILD, true) >= reason_weight(REASON_IDLE, false));
}

TEST(a_wait_lasts_if_it_is_all_of_a_life)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 1, "shell", "shell", NULL);
	struct sample *sample;

	wait_for(p, thread, STATE_SLEEP_CHILD, "main;wait4", 960);
	sample = &p->samples.items[p->samples.count - 1];
	p->threads.items[thread].begun_ns = 5000;
	p->threads.items[thread].ended_ns = 6000;
	assert_true(sample_lasts(p, sample));
	sample->ns = 940;
	assert_false(sample_lasts(p, sample));
	sample->ns = 960;
	sample->count = 2;
	assert_false(sample_lasts(p, sample));
	/* Of imported profiles nothing is known. */
	sample->count = 1;
	p->threads.items[thread].ended_ns = 0;
	assert_false(sample_lasts(p, sample));
	profile_destroy(p);
}

/* Its run time is known, and not in the samples. */
TEST(threads_that_run_are_not_idle)
{
	struct profile *p = build_profile();
	uint32_t busy = build_profile_thread(p, 1, 1, "busy", "busy", NULL);
	struct idle idle;

	wait_for(p, busy, STATE_IDLE_POLL, "main;epoll", 900);
	p->threads.items[busy].is_accounted = true;
	p->threads.items[busy].ns[CLASS_ON_CPU] = 100;
	expect_ok(idle_find(p, &idle));
	assert_int_equal(idle.thread_count, 0);
	assert_true(idle.ns == 0);
	idle_deinit(&idle);
	p->threads.items[busy].ns[CLASS_ON_CPU] = 9;
	expect_ok(idle_find(p, &idle));
	assert_int_equal(idle.thread_count, 1);
	assert_true(idle.ns == 900);
	idle_deinit(&idle);
	profile_destroy(p);
}

static uint64_t total_of(const struct profile *p, struct flame_view view, const char *expected)
{
	struct flame *flame = NULL;
	uint64_t total;

	expect_ok(flame_create(p, NULL, &view, &flame));
	if (expected)
		assert_string_equal(flame_text(flame), expected);
	total = flame->nodes.items[0].total;
	flame_destroy(flame);
	return total;
}

TEST(what_is_shown_and_what_is_idle_are_all)
{
	struct profile *p = host();
	struct idle idle;

	expect_ok(idle_find(p, &idle));
	for (enum flame_group group = 0; group < FLAME_GROUP_COUNT; group++) {
		const struct flame_view left_out = { .group_by = group, .idle = &idle };
		const struct flame_view folded = { .group_by = group,
						   .idle = &idle,
						   .folds_idle = true };

		assert_true(total_of(p, left_out, NULL) + idle.ns == idle.all_ns);
		assert_true(total_of(p, folded, NULL) == idle.all_ns);
	}
	total_of(p, (struct flame_view){ .group_by = FLAME_BY_REASON, .idle = &idle },
		 "CPU wait;main;nap 2 lock;main;lock 1000 network;main;read 300 "
		 "poll;main;ask 700 storage;work 500");
	total_of(p, (struct flame_view){ .idle = &idle, .folds_idle = true },
		 "[idle: 1 thread all the time] 1498 main;ask 700 main;lock 1000 main;nap 2 "
		 "main;read 300 work 500");
	idle_deinit(&idle);
	profile_destroy(p);
}

TEST(threads_may_be_idle_in_part)
{
	struct profile *p = build_profile();
	uint32_t server = build_profile_thread(p, 1, 1, "server", "server", NULL);
	struct idle idle;

	wait_for(p, server, STATE_IDLE_ACCEPT, "main;accept", 60);
	wait_for(p, server, STATE_SLEEP_DISK, "main;read", 40);
	expect_ok(idle_find(p, &idle));
	total_of(p, (struct flame_view){ .idle = &idle, .folds_idle = true },
		 "[idle: 1 thread in part] 60 main;read 40");
	idle_deinit(&idle);
	profile_destroy(p);
}

/* Random profiles, of any states and times. */
TEST(nothing_is_lost)
{
	uint64_t seed = 5;

	for (int round = 0; round < 50; round++) {
		struct profile *p = build_profile();
		struct idle idle;

		for (uint32_t i = 0; i < 5; i++)
			build_profile_thread(p, i + 1, i + 1, "p", "t", NULL);
		for (int i = 0; i < 30; i++)
			build_sample(p, next_random(&seed) % 5, next_random(&seed) % CLASS_EVENT,
				     i % 7 == 0 ? "a;PQexec;poll"
				     : i % 2    ? "a;b"
						: "a;c",
				     next_random(&seed) % 1000, 1)
				->state = (uint8_t)(next_random(&seed) % STATE_COUNT);
		expect_ok(idle_find(p, &idle));
		assert_true(total_of(p, (struct flame_view){ .idle = &idle }, NULL) + idle.ns ==
			    idle.all_ns);
		assert_true(idle.all_ns == profile_total_ns(p, FLAME_ALL));
		idle_deinit(&idle);
		profile_destroy(p);
	}
}

/* Each state has a word, and each word selects the states that have it. */
TEST(reasons_and_states_agree)
{
	for (unsigned i = 0; i < STATE_COUNT + 2; i++) {
		const enum reason reason = reason_of_state(i);
		struct reason_selection selection = { 0 };

		assert_true(reason < REASON_COUNT);
		if (i >= STATE_COUNT || state_rows[i].main == STATE_EXEC || i == STATE_RUNNABLE)
			continue;
		assert_true(reason_select_named(&selection, text_of(state_rows[i].name)));
		assert_true(reason_selects(&selection, CLASS_INTERRUPTIBLE, i) ||
			    i == STATE_STOPPED || i == STATE_IDLE);
		selection = (struct reason_selection){ 0 };
		assert_true(reason_select_named(&selection, text_of(reason_rows[reason].name)));
		assert_true(reason_selects(&selection, CLASS_INTERRUPTIBLE, i) ||
			    reason == REASON_STOPPED);
	}
}

UNIT_TESTS(cmocka_unit_test(threads_that_do_nothing_else_are_idle),
	   cmocka_unit_test(waits_for_answers_are_not_idle), cmocka_unit_test(few_answers_are_idle),
	   cmocka_unit_test(what_is_scarce_weighs_most),
	   cmocka_unit_test(a_wait_lasts_if_it_is_all_of_a_life),
	   cmocka_unit_test(threads_that_run_are_not_idle),
	   cmocka_unit_test(what_is_shown_and_what_is_idle_are_all),
	   cmocka_unit_test(threads_may_be_idle_in_part), cmocka_unit_test(nothing_is_lost),
	   cmocka_unit_test(reasons_and_states_agree))
