/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/lock_frames.h"

#include <string.h>

#include "profile/known_frames.h"
#include "unit/profile_scene.h"

/* All frames that have no file yet are of this one. */
static void of_file(struct profile *p, const char *path)
{
	for (size_t i = 0; i < p->frames.count; i++)
		if (!p->frames.items[i].module)
			p->frames.items[i].module = profile_name(p, path, strlen(path));
}

static void wait_for(struct profile *p, enum profile_class class, enum state what,
		     const char *stack, uint64_t ns)
{
	struct sample sample = { .node = build_stack(p, stack),
				 .class = (uint16_t) class,
				 .cpu = CPU_ANY,
				 .ns = ns,
				 .count = 1,
				 .state = (uint8_t)what };

	expect_ok(profile_add(p, &sample));
}

static struct profile *server(void)
{
	struct profile *p = build_profile();

	build_profile_thread(p, 1, 1, "postgres", "postgres", NULL);
	return p;
}

/* The time that waits for locks. */
static uint64_t lock_ns(const struct profile *p)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->samples.count; i++)
		if (p->samples.items[i].state == STATE_LOCK_FUTEX)
			ns += p->samples.items[i].ns;
	return ns;
}

TEST(servers_wait_for_locks_of_rows_at_their_files)
{
	struct profile *p = server();
	struct block block = { .class = CLASS_INTERRUPTIBLE, .state = STATE_IDLE_POLL };

	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL,
		 "heap_update;ProcSleep;WaitLatch;epoll_wait", 700);
	block.node = build_stack(p, "heap_update;ProcSleep;WaitLatch;epoll_wait");
	assert_true(array_push(&p->longest, block));
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND,
		 "BufferGet;LWLockAcquire;PGSemaphoreLock;sem_wait", 40);
	/* Its client, and storage, are what they were; so is the wait for a CPU. */
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL, "PostgresMain;WaitLatch;epoll_wait", 5);
	wait_for(p, CLASS_UNINTERRUPTIBLE, STATE_SLEEP_DISK, "heap_update;ProcSleep;log", 3);
	wait_for(p, CLASS_RUNNABLE, STATE_RUNNABLE, "heap_update;ProcSleep;WaitLatch;epoll_wait",
		 2);
	of_file(p, "/usr/lib/postgresql/15/bin/postgres");
	expect_ok(lock_frames_apply(p));
	assert_true(lock_ns(p) == 740);
	assert_int_equal(p->longest.items[0].state, STATE_LOCK_FUTEX);
	profile_destroy(p);
}

TEST(functions_of_other_programs_have_other_meanings)
{
	struct profile *p = server();

	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL, "main;ProcSleep;epoll_wait", 700);
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND, "main;pthread_cond_timedwait", 700);
	of_file(p, "/usr/bin/mine");
	expect_ok(lock_frames_apply(p));
	assert_true(lock_ns(p) == 0);
	profile_destroy(p);
}

/* Without symbols there is only the call of the C library. */
TEST(interpreters_have_one_condition)
{
	struct profile *p = server();

	build_stack(p, "[python3.11+0x4f94ee]");
	of_file(p, "/usr/bin/python3.11");
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND,
		 "[python3.11+0x4f94ee];pthread_cond_timedwait;futex", 60);
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND, "[python3.11+0x4f94ee];sem_wait;futex",
		 5);
	of_file(p, "/lib/x86_64-linux-gnu/libc.so.6");
	expect_ok(lock_frames_apply(p));
	assert_true(lock_ns(p) == 60);
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND, "worker;pthread_cond_timedwait;futex", 9);
	of_file(p, "/usr/lib/python3/dist-packages/numpy/core.so");
	expect_ok(lock_frames_apply(p));
	assert_true(lock_ns(p) == 60);
	profile_destroy(p);
}

/* On top of the stack is that of the thread that woke it. */
TEST(locks_of_wakers_are_theirs)
{
	struct profile *p = server();

	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL, "main;poll;--;futex_wake;take_gil", 60);
	for (size_t i = 0; i < p->frames.count; i++)
		if (strcmp(p->frames.items[i].name->bytes, "--") == 0)
			p->frames.items[i].kind = FRAME_NOTE;
	expect_ok(lock_frames_apply(p));
	assert_true(lock_ns(p) == 0);
	profile_destroy(p);
}

TEST(what_becomes_equal_adds_up)
{
	struct profile *p = server();
	struct lock_lead lead;

	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND, "main;take_gil", 60);
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_LOCK_FUTEX, "main;take_gil", 40);
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_SLEEP_NETWORK, "main;recv", 7);
	expect_ok(lock_frames_apply(p));
	assert_int_equal(p->samples.count, 2);
	assert_true(p->samples.items[0].ns == 100);
	assert_true(p->samples.items[0].count == 2);
	assert_true(profile_total_ns(p, ~0u) == 107);
	expect_ok(lock_frames_lead(p, &lead));
	assert_true(lead.ns == 100 && lead.all_ns == 107);
	assert_int_equal(lead.node, p->samples.items[0].node);
	expect_ok(lock_frames_apply(p));
	assert_int_equal(p->samples.count, 2);
	profile_destroy(p);
}

/* What may turn out to be for a lock is kept until it is known, and nothing else. */
TEST(selections_of_locks_are_wider)
{
	struct reason_selection selection = { 0 }, before;

	assert_true(reason_select_named(&selection, TEXT("storage")));
	before = selection;
	lock_frames_widen(&selection);
	assert_memory_equal(&selection, &before, sizeof(before));
	assert_true(reason_select_named(&selection, TEXT("lock")));
	assert_false(reason_selects(&selection, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL));
	lock_frames_widen(&selection);
	assert_true(reason_selects(&selection, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL));
	assert_true(reason_selects(&selection, CLASS_INTERRUPTIBLE, STATE_IDLE_COND));
	assert_false(reason_selects(&selection, CLASS_INTERRUPTIBLE, STATE_SLEEP_NETWORK));
	assert_false(reason_selects(&selection, CLASS_RUNNABLE, STATE_RUNNABLE));
}

TEST(there_may_be_nothing)
{
	struct profile *p = server();

	expect_ok(lock_frames_apply(p));
	wait_for(p, CLASS_INTERRUPTIBLE, STATE_IDLE_COND, "", 60);
	expect_ok(lock_frames_apply(p));
	assert_true(lock_ns(p) == 0);
	assert_false(frame_is_lock(NULL, NULL));
	profile_destroy(p);
}

UNIT_TESTS(cmocka_unit_test(servers_wait_for_locks_of_rows_at_their_files),
	   cmocka_unit_test(functions_of_other_programs_have_other_meanings),
	   cmocka_unit_test(interpreters_have_one_condition),
	   cmocka_unit_test(locks_of_wakers_are_theirs),
	   cmocka_unit_test(what_becomes_equal_adds_up),
	   cmocka_unit_test(selections_of_locks_are_wider), cmocka_unit_test(there_may_be_nothing))
