/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/thread_task.h"

#include <stdlib.h>
#include <string.h>

#include "unit/scene.h"

#define MS ((uint64_t)1000000)

static struct task_plan *task_plan;
static struct iterator_record *record;
static __u64 cpus[TASK_CPU_WORDS];

/* A kernel that has everything, and 64 CPUs at most. */
static struct task_facts all_facts(void)
{
	return (struct task_facts){
		.counters = { UINT64_MAX, UINT64_MAX },
		.features = UINT64_MAX,
		.statistics = true,
		.irq_accounting = true,
		.cpu_words = 1,
		.page_bytes = 4096,
	};
}

/* A thread of no particular kind: 10, as the scene has it. */
static void reset(const struct task_facts *facts)
{
	scene->thread->record = (struct thread_record){ 0 };
	scene->thread->comm = NULL;
	task_plan_init(task_plan, facts);
	*record = (struct iterator_record){
		.tid = 10,
		.tgid = 10,
		.is_leader = 1,
		.has_mm = 1,
		.has_delays = 1,
		.priority = 120,
		.static_priority = 120,
		.cpus = 3,
		.name = "worker",
	};
}

static int set(void **state)
{
	struct task_facts facts = all_facts();

	scene_set(state);
	task_plan = calloc(1, sizeof(*task_plan));
	record = calloc(1, sizeof(*record));
	reset(&facts);
	return 0;
}

static int clear(void **state)
{
	free(task_plan);
	free(record);
	return scene_clear(state);
}

#undef CASE
#define CASE(test) cmocka_unit_test_setup_teardown(test, set, clear)

static void take_it(void)
{
	assert_true(take_task(&scene->taker, task_plan, record, cpus, scene->thread));
}

/* --- rows --- */

TEST(every_row_has_a_field)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const struct metric_source *task = &metrics[id].task;

		if (task->key && task_field_find(text_of(task->key)) < 0)
			fail_msg("%s: there is no %s", metrics[id].name, task->key);
		if (task->less && task_field_find(text_of(task->less)) < 0)
			fail_msg("%s: there is no %s", metrics[id].name, task->less);
	}
	assert_int_equal(task_field_find(TEXT("nothing")), -1);
	assert_int_equal(task_field_find(TEXT("")), -1);
}

/* Each counter has a number of its own, and its row takes that one. */
TEST(counters_go_to_their_rows)
{
	for (unsigned i = 0; i < TASK_COUNTER_COUNT; i++)
		record->counters[i] = 1000 + i;
	take_it();
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const struct metric_source *task = &metrics[id].task;
		int field = task->key ? task_field_find(text_of(task->key)) : -1;

		if (field >= 0 && field < TASK_COUNTER_COUNT && !task->less &&
		    metric_is_of(&metrics[id], true, false))
			expect_number(id, 1000 + field);
	}
	/* sum_sleep_runtime less sum_block_runtime */
	record->counters[TASK_sum_sleep_runtime] = 70;
	record->counters[TASK_sum_block_runtime] = 20;
	take_it();
	expect_number(METRIC_voluntary_sleep_ns, 50);
	record->counters[TASK_sum_block_runtime] = 90;
	take_it();
	expect_number(METRIC_voluntary_sleep_ns, 0);
}

TEST(missing_kernel_fields_are_unmeasured)
{
	struct task_facts facts = all_facts();

	facts.counters[TASK_slice / 64] &= ~((uint64_t)1 << TASK_slice % 64);
	facts.counters[TASK_sum_block_runtime / 64] &=
		~((uint64_t)1 << TASK_sum_block_runtime % 64);
	facts.features &=
		~((uint64_t)1 << TASK_HAS_EXT_CLASS | (uint64_t)1 << TASK_HAS_RSS |
		  (uint64_t)1 << TASK_HAS_SHOWN_TIMES | (uint64_t)1 << TASK_HAS_QUEUED_SINCE);
	reset(&facts);
	take_it();
	expect_unmeasured(METRIC_fair_slice_ns);
	expect_unmeasured(METRIC_block_sum);
	expect_unmeasured(METRIC_voluntary_sleep_ns);
	expect_unmeasured(METRIC_ext_enabled);
	expect_unmeasured(METRIC_hiwater_rss_bytes);
	expect_unmeasured(METRIC_utime_clock_ticks);
	expect_unmeasured(METRIC_stime_clock_ticks);
	expect_unmeasured(METRIC_wait_in_progress_ns);
	expect_number(METRIC_sleep_max, 0);
	expect_number(METRIC_hiwater_vm_bytes, 0);
	expect_number(METRIC_blkio_in_progress_ns, 0);
}

TEST(nothing_is_known_of_a_kernel_without_anything)
{
	struct task_facts facts = { .cpu_words = 1, .page_bytes = 4096 };

	reset(&facts);
	take_it();
	expect_unmeasured(METRIC_run_time_ns);
	expect_unmeasured(METRIC_cpu_delay_count);
	expect_number(METRIC_nice, 0);
	assert_true(is_measured(scene->thread, METRIC_policy));
	assert_true(is_measured(scene->thread, METRIC_cpu_affinity));
}

TEST(statistics_need_their_switch)
{
	struct task_facts facts = all_facts();

	facts.statistics = false;
	reset(&facts);
	record->counters[TASK_wait_sum] = 5;
	take_it();
	expect_unmeasured(METRIC_wait_sum);
	expect_unmeasured(METRIC_core_forceidle_sum);
	expect_unmeasured(METRIC_sleep_in_progress_ns);
	expect_unmeasured(METRIC_wait_sum_in_progress_ns);
	expect_number(METRIC_wait_in_progress_ns, 0);
	expect_number(METRIC_nr_migrations, 0);
}

TEST(facts_of_a_process_are_its_leaders)
{
	record->threads = 7;
	take_it();
	expect_number(METRIC_nr_threads, 7);
	reset(&task_plan->facts);
	record->tid = 11;
	take_it();
	expect_unmeasured(METRIC_nr_threads);
}

TEST(delays_are_measured_where_there_is_a_record)
{
	record->counters[TASK_blkio_delay] = 5;
	take_it();
	expect_number(METRIC_blkio_delay_total_ns, 5);
	expect_number(METRIC_swapin_delay_count, 0);
	expect_number(METRIC_blkio_in_progress_ns, 0);
	reset(&task_plan->facts);
	record->has_delays = 0;
	take_it();
	expect_unmeasured(METRIC_blkio_delay_total_ns);
	expect_unmeasured(METRIC_wpcopy_delay_min_ns);
	expect_unmeasured(METRIC_blkio_in_progress_ns);
	/* The CPU's are the scheduler's. */
	expect_number(METRIC_cpu_delay_count, 0);
	expect_number(METRIC_cpu_delay_max_ns, 0);
}

TEST(interrupts_count_where_they_are_accounted)
{
	struct task_facts facts = all_facts();

	facts.irq_accounting = false;
	reset(&facts);
	take_it();
	expect_unmeasured(METRIC_irq_delay_total_ns);
	reset(&facts);
	record->counters[TASK_irq_count] = 1;
	take_it();
	expect_number(METRIC_irq_delay_count, 1);
	reset(&facts);
	record->counters[TASK_irq_count] = 1;
	record->has_delays = 0;
	take_it();
	expect_unmeasured(METRIC_irq_delay_count);
}

TEST(slices_are_of_fair_policies)
{
	static const struct {
		uint32_t policy;
		const char *name;
		bool fair;
	} policies[] = {
		{ 0, "SCHED_OTHER", true }, { 1, "SCHED_FIFO", false },
		{ 2, "SCHED_RR", false },   { 3, "SCHED_BATCH", true },
		{ 5, "SCHED_IDLE", false }, { 6, "SCHED_DEADLINE", false },
		{ 7, "SCHED_EXT", true },
	};

	for (size_t i = 0; i < array_length(policies); i++) {
		reset(&task_plan->facts);
		record->policy = policies[i].policy;
		take_it();
		assert_int_equal(is_measured(scene->thread, METRIC_fair_slice_ns),
				 policies[i].fair);
		assert_string_equal(scene->thread->record.values.policy.v->bytes, policies[i].name);
	}
}

/* --- what a thread is --- */

TEST(identity)
{
	struct task_facts facts = all_facts();

	facts.boottime_offset = -2000000000;
	reset(&facts);
	record->tid = 4194304;
	record->start_boottime = 1239 * 10 * MS + 9999999;
	record->priority = -1;
	record->static_priority = 100;
	record->rt_priority = 99;
	record->cpu = 5;
	record->is_ext = 1;
	take_it();
	assert_int_equal(scene->thread->tid, 4194304);
	assert_int_equal(scene->thread->tgid, 10);
	assert_true(scene->thread->start_time_clock_ticks.measured);
	assert_int_equal(scene->thread->start_time_clock_ticks.value, 1039);
	expect_number(METRIC_priority, -101);
	expect_number(METRIC_nice, -20);
	expect_number(METRIC_rt_priority, 99);
	expect_number(METRIC_processor, 5);
	expect_number(METRIC_ext_enabled, 1);
	expect_number(METRIC_thread_count, 1);
}

/* `name` has no end when it is full. */
TEST(names)
{
	static const char *const names[] = { "", " two  spaces ", "new\nline", "bad\xff\xc3",
					     "kworker/u8:2+events_unbound" };
	char longest[TASK_NAME_MAX + 1];

	for (size_t i = 0; i < array_length(names); i++) {
		memset(record->name, 'x', sizeof(record->name));
		memcpy(record->name, names[i], strlen(names[i]) + 1);
		take_it();
		assert_string_equal(scene->thread->comm->bytes, names[i]);
	}
	memset(record->name, 'x', sizeof(record->name));
	memset(longest, 'x', TASK_NAME_MAX);
	longest[TASK_NAME_MAX] = '\0';
	take_it();
	assert_string_equal(scene->thread->comm->bytes, longest);
}

/* include/linux/sched.h and fs/proc/array.c. */
TEST(state_letters)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
		bool unclear;
	} states[] = {
		{ 0, 0, 'R', false },         { 1, 0, 'S', false },
		{ 2, 0, 'D', false },         { 4, 0, 'T', false },
		{ 8, 0, 't', false },         { 0x80, 0x10, 'X', false },
		{ 0x80, 0x20, 'Z', false },   { 0x40, 0, 'P', false },
		{ 0x402, 0, 'I', false },     { 0x102, 0, 'D', false },
		{ 0x2402, 0, 'I', false },    { 0x2001, 0, 'S', false },
		{ 0x200, 0, 'R', false },     { 0x800, 0, 'R', false },
		{ 0x1000, 0, 'D', false },    { 0x1002, 0, 'D', false },
		{ 0x104, 0, 'T', false },     { 0x108, 0, 't', false },
		{ 1, 0x30, 'Z', false },      { 0x8000, 0, 'R', true },
		{ 0x8002, 0, 'D', true },     { 0x400, 0, 'R', false },
		{ UINT32_MAX, 0, 'I', true }, { 0x80, 0, 'R', false },
	};

	for (size_t i = 0; i < array_length(states); i++) {
		record->state = states[i].state;
		record->exit_state = states[i].exit_state;
		take_it();
		expect_number(METRIC_state, states[i].letter);
		assert_int_equal(task_state_is_unclear(record), states[i].unclear);
	}
}

static void expect_cpus(const struct name *set, const uint32_t *wanted, size_t count)
{
	assert_int_equal(cpu_set_count(set), count);
	assert_memory_equal(cpu_set_cpus(set), wanted, count * sizeof(*wanted));
}

TEST(cpus_are_those_that_are_active)
{
	static const uint32_t first[] = { 1, 63 }, both[] = { 0, 1, 63 }, gone[] = { 2 };
	const __u64 active[1] = { (__u64)1 << 63 | 2 };
	struct task_facts facts = all_facts();

	record->cpus = (__u64)1 << 63 | 3;
	take_it();
	expect_cpus(scene->thread->record.values.cpu_affinity.v, both, 3);
	facts.active_cpus = active;
	reset(&facts);
	record->cpus = (__u64)1 << 63 | 3;
	take_it();
	expect_cpus(scene->thread->record.values.cpu_affinity.v, first, 2);
	/* Bound to one that is offline: what it is bound to. */
	record->cpus = 4;
	take_it();
	expect_cpus(scene->thread->record.values.cpu_affinity.v, gone, 1);
}

TEST(more_cpus_than_a_word_has)
{
	static const uint32_t wanted[] = { 0, 64, 8191 }, changed[] = { 0, 64, 8190 };
	struct task_facts facts = all_facts();
	const struct name *set;

	facts.cpu_words = TASK_CPU_WORDS;
	reset(&facts);
	record->cpus = UINT64_MAX;
	memset(cpus, 0, sizeof(cpus));
	cpus[0] = cpus[1] = 1;
	cpus[TASK_CPU_WORDS - 1] = (__u64)1 << 63;
	take_it();
	set = scene->thread->record.values.cpu_affinity.v;
	expect_cpus(set, wanted, 3);
	scene->thread->record = (struct thread_record){ 0 };
	take_it();
	assert_ptr_equal(scene->thread->record.values.cpu_affinity.v, set);
	cpus[TASK_CPU_WORDS - 1] = (__u64)1 << 62;
	take_it();
	expect_cpus(scene->thread->record.values.cpu_affinity.v, changed, 3);
}

/* The plan lives longer than a snapshot: names are of the one that is taken. */
TEST(names_of_another_snapshot_are_not_kept)
{
	struct ctprof_snapshot *first = scene->taker.snapshot;
	const struct name *cpu_set, *policy;

	take_it();
	cpu_set = scene->thread->record.values.cpu_affinity.v;
	policy = scene->thread->record.values.policy.v;
	scene->taker.snapshot = build_snapshot();
	scene->thread = snapshot_add_thread(scene->taker.snapshot);
	take_it();
	/* While the first is there: its memory could be given to the second. */
	assert_ptr_not_equal(scene->thread->record.values.cpu_affinity.v, cpu_set);
	assert_ptr_not_equal(scene->thread->record.values.policy.v, policy);
	snapshot_destroy(first);
	assert_string_equal(scene->thread->record.values.policy.v->bytes, "SCHED_OTHER");
}

/* --- what /proc computes --- */

struct times {
	uint64_t run, utime, stime, shown_utime, shown_stime;
	uint64_t user_ticks, system_ticks;
};

static void expect_times(const struct times *times, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct times *t = &times[i];

		record->counters[TASK_run_time] = t->run;
		record->utime = t->utime;
		record->stime = t->stime;
		record->shown_utime = t->shown_utime;
		record->shown_stime = t->shown_stime;
		take_it();
		expect_number(METRIC_utime_clock_ticks, (int64_t)t->user_ticks);
		expect_number(METRIC_stime_clock_ticks, (int64_t)t->system_ticks);
	}
}

/* Records of threads that stood still, of Linux 6.18, and what their /proc/<tid>/stat showed. */
TEST(times_are_those_that_proc_showed)
{
	static const struct times recorded[] = {
		{ 103051673, 24000000, 56000000, 30915502, 72136171, 3, 7 },
		{ 134666976, 52000000, 40000000, 0, 0, 7, 5 },
		{ 148754967, 24000000, 52000000, 0, 0, 4, 10 },
		{ 177550839, 40000000, 104000000, 38714351, 120982343, 4, 12 },
		{ 2448689776, 2159936606, 84000000, 0, 0, 235, 9 },
		{ 37331523, 36000000, 12000000, 0, 0, 2, 0 },
		{ 52629247, 8000000, 40000000, 0, 0, 0, 4 },
		{ 7367284, 4000000, 4000000, 0, 0, 0, 0 },
		{ 76880899438, 84919947203, 279971407, 56525648368, 158049958, 7662, 25 },
		{ 898686208, 387986169, 418579542, 397335912, 423433351, 43, 46 },
	};

	expect_times(recorded, array_length(recorded));
}

TEST(times_at_their_corners)
{
	static const struct times corners[] = {
		/* No tick hit it: all of it counts as the user's. */
		{ 95 * MS, 0, 0, 0, 0, 9, 0 },
		{ 95 * MS, 40 * MS, 0, 0, 0, 9, 0 },
		{ 95 * MS, 0, 40 * MS, 0, 0, 0, 9 },
		/* What was shown is never taken back: of the system, of the user. */
		{ 100 * MS, 90 * MS, 10 * MS, 0, 30 * MS, 7, 3 },
		{ 100 * MS, 10 * MS, 90 * MS, 50 * MS, 0, 5, 5 },
		/* Shown was more than it has run, or just that. */
		{ 100 * MS, 50 * MS, 50 * MS, 80 * MS, 40 * MS, 8, 4 },
		{ 100 * MS, 90 * MS, 10 * MS, 20 * MS, 80 * MS, 2, 8 },
		{ 0, 0, 0, 0, 0, 0, 0 },
		/* The product has more than 64 bits. */
		{ 1000000000000000000, (uint64_t)1 << 62, (uint64_t)1 << 62, 0, 0, 50000000000,
		  50000000000 },
	};

	expect_times(corners, array_length(corners));
}

TEST(memory)
{
	record->hiwater_rss = 5;
	record->rss = 7;
	record->hiwater_vm = 9;
	record->total_vm = 8;
	take_it();
	expect_number(METRIC_hiwater_rss_bytes, 7 * 4096);
	expect_number(METRIC_hiwater_vm_bytes, 9 * 4096);
	record->hiwater_vm = UINT64_MAX;
	take_it();
	expect_number(METRIC_hiwater_vm_bytes, -1);
	record->has_mm = 0;
	take_it();
	expect_number(METRIC_hiwater_rss_bytes, 0);
	expect_number(METRIC_hiwater_vm_bytes, 0);
}

/* --- waits in progress --- */

/* The scheduler's clock shows 300 less than CLOCK_MONOTONIC. */
static void take_waits(uint64_t now)
{
	struct task_facts facts = all_facts();

	facts.clock_offset = -300;
	reset(&facts);
	record->now = now;
	record->queued_since = 600;
	record->wait_since = 610;
	record->sleep_since = 620;
	record->block_since = 630;
	record->blkio_since = 640;
	take_it();
}

TEST(waits_are_dated_by_the_scheduler)
{
	take_waits(1000);
	expect_number(METRIC_wait_in_progress_ns, 100);
	expect_number(METRIC_wait_sum_in_progress_ns, 90);
	expect_number(METRIC_sleep_in_progress_ns, 80);
	expect_number(METRIC_block_in_progress_ns, 70);
	expect_number(METRIC_blkio_in_progress_ns, 60);
	/* It blocks, but not for I/O. */
	expect_number(METRIC_iowait_in_progress_ns, 0);
	record->in_iowait = 1;
	take_it();
	expect_number(METRIC_iowait_in_progress_ns, 70);
}

/* A worker without work sleeps in TASK_IDLE, which the kernel books as it does blocking. */
TEST(idle_kernel_threads_do_not_block)
{
	take_waits(1000);
	record->kernel_flags = 0x00200000; /* PF_KTHREAD */
	record->state = 0x402;
	record->counters[TASK_sum_block_runtime] = 5000;
	record->counters[TASK_block_max] = 4000;
	scene->thread->record = (struct thread_record){ 0 };
	take_it();
	expect_unmeasured(METRIC_block_sum);
	expect_unmeasured(METRIC_block_max);
	expect_number(METRIC_block_in_progress_ns, 0);
	expect_number(METRIC_kthread_block_sum, 5000);
	expect_number(METRIC_kthread_block_max, 4000);
	expect_number(METRIC_kthread_block_in_progress_ns, 70);
	/* Blocked in earnest: its wait in progress says so, its total cannot. */
	record->state = 0x2;
	take_it();
	expect_number(METRIC_block_in_progress_ns, 70);
	expect_number(METRIC_kthread_block_in_progress_ns, 70);
	/* Others of that state, which are few, block. */
	record->kernel_flags = 0;
	record->state = 0x402;
	scene->thread->record = (struct thread_record){ 0 };
	take_it();
	expect_number(METRIC_block_sum, 5000);
	expect_number(METRIC_block_in_progress_ns, 70);
	expect_unmeasured(METRIC_kthread_block_sum);
	expect_unmeasured(METRIC_kthread_block_in_progress_ns);
}

TEST(a_wait_that_begins_later_than_now_has_not_begun)
{
	take_waits(900);
	expect_number(METRIC_wait_in_progress_ns, 0);
	take_waits(935);
	expect_number(METRIC_sleep_in_progress_ns, 15);
	expect_number(METRIC_blkio_in_progress_ns, 0);
	/* No clock was read. */
	take_waits(0);
	expect_number(METRIC_wait_in_progress_ns, 0);
}

UNIT_TESTS(CASE(every_row_has_a_field), CASE(counters_go_to_their_rows),
	   CASE(missing_kernel_fields_are_unmeasured),
	   CASE(nothing_is_known_of_a_kernel_without_anything), CASE(statistics_need_their_switch),
	   CASE(facts_of_a_process_are_its_leaders),
	   CASE(delays_are_measured_where_there_is_a_record),
	   CASE(interrupts_count_where_they_are_accounted), CASE(slices_are_of_fair_policies),
	   CASE(identity), CASE(names), CASE(state_letters), CASE(cpus_are_those_that_are_active),
	   CASE(more_cpus_than_a_word_has), CASE(names_of_another_snapshot_are_not_kept),
	   CASE(times_are_those_that_proc_showed), CASE(times_at_their_corners), CASE(memory),
	   CASE(waits_are_dated_by_the_scheduler), CASE(idle_kernel_threads_do_not_block),
	   CASE(a_wait_that_begins_later_than_now_has_not_begun))
