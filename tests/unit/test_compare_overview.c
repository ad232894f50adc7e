/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which groups an overview names, in which order, and that its sums are those of the rows.
 */
#include "compare/overview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/compare_scene.h"

#define SECOND   1000000000.0
#define WINDOW_S (SCENE_DISTANCE / (double)TICKS_PER_S)
#define LIFE_S   ((SCENE_UPTIME - 10) / (double)TICKS_PER_S)

static const struct overview *overview_of(struct comparison *c)
{
	c->view.overview = true;
	comparison_run(c);
	assert_non_null(c->report->overview);
	return c->report->overview;
}

/* The place of a group, or the number of all. */
static size_t place_of(const struct overview *overview, const char *name)
{
	size_t i = 0;

	while (i < overview->groups.count &&
	       !text_equal(name_text(overview->groups.items[i].label), text_of(name)))
		i++;
	return i;
}

static const struct overview_group *group_of(const struct overview *overview, const char *name)
{
	size_t place = place_of(overview, name);

	assert_true(place < overview->groups.count);
	return &overview->groups.items[place];
}

/* Both sides of a metric, by the rates of the life before and of the window. */
static void rates(struct comparison *c, uint32_t tid, const char *name, enum metric_id id,
		  double before, double after)
{
	uint64_t life = (uint64_t)(before * LIFE_S);

	grow(c, tid, name, id, life, life + (uint64_t)(after * WINDOW_S));
}

/* --- planted changes --- */

static double uniform(uint64_t *seed)
{
	return (double)(next_random(seed) >> 11) / (double)(1ull << 53);
}

/* A normal variable, by the sum of twelve. */
static double normal(uint64_t *seed)
{
	double sum = -6;

	for (size_t i = 0; i < 12; i++)
		sum += uniform(seed);
	return sum;
}

/* Each of the usual metrics of a group, and how much a busy one has of it, per second. */
static const struct {
	enum metric_id id;
	double usual;
} busy[] = {
	{ METRIC_run_time_ns, 0.02 * SECOND },
	{ METRIC_wait_time_ns, 0.03 * SECOND },
	{ METRIC_minflt, 300 },
	{ METRIC_majflt, 0.2 },
	{ METRIC_voluntary_csw, 100 },
	{ METRIC_read_bytes, 20000 },
	{ METRIC_write_bytes, 50000 },
	{ METRIC_blkio_delay_total_ns, 0.002 * SECOND },
};

static struct ctprof_thread *last_of(struct ctprof_snapshot *s)
{
	return snapshot_thread(s, s->threads.count - 1);
}

/* The memory of a process in MiB, as smaps_rollup tells it. */
static void build_memory(struct ctprof_snapshot *s, struct ctprof_thread *thread, double resident,
			 double swapped)
{
	thread->smaps_rollup_kib = arena_alloc(&s->arena, sizeof(*thread->smaps_rollup_kib));
	assert_non_null(thread->smaps_rollup_kib);
	*thread->smaps_rollup_kib = (struct counts){ .measured = true };
	build_count(s, thread->smaps_rollup_kib, "Rss", (uint64_t)(2 * resident * 1024));
	build_count(s, thread->smaps_rollup_kib, "Pss", (uint64_t)(resident * 1024));
	build_count(s, thread->smaps_rollup_kib, "SwapPss", (uint64_t)(swapped * 1024));
}

/* One process on both sides. */
static void memories(struct comparison *c, uint32_t tid, const char *name, double before,
		     double after)
{
	build_memory(c->before[0], live(c->before[0], tid, tid, 10, name), before, 0);
	build_memory(c->after[0], live(c->after[0], tid, tid, 10, name), after, 0);
}

/* Sixty groups that do what they always did, from a hundredth to a hundred times as much as usual,
 * give or take a third of it. */
static void add_noise(struct comparison *c, uint64_t *seed)
{
	for (uint32_t tid = 1000; tid < 1060; tid++) {
		double size = exp(1.5 * normal(seed)), memory;
		char name[16];

		snprintf(name, sizeof(name), "noise-%u", tid);
		for (size_t i = 0; i < array_length(busy); i++) {
			double rate = busy[i].usual * size * exp(0.5 * normal(seed));
			double most = busy[i].id == METRIC_run_time_ns ? 0.4 * SECOND : HUGE_VAL;

			rate = fmin(rate, most);
			rates(c, tid, name, busy[i].id, rate, rate * exp(0.3 * normal(seed)));
		}
		memory = 50 * size;
		build_memory(c->before[0], last_of(c->before[0]), memory, 0);
		build_memory(c->after[0], last_of(c->after[0]), memory * exp(0.01 * normal(seed)),
			     0);
	}
}

struct plant {
	const char *what;
	enum metric_id id;    /* METRIC_COUNT: memory, in MiB */
	double before, after; /* per second */
	bool is_new;
};

static const struct plant plants[] = {
	{ "burns", METRIC_run_time_ns, 0.01 * SECOND, 0.6 * SECOND, false },
	{ "burns, new", METRIC_run_time_ns, 0, 0.6 * SECOND, true },
	{ "starves", METRIC_wait_time_ns, 0.02 * SECOND, 1.2 * SECOND, false },
	{ "writes", METRIC_write_bytes, 1e4, 150e6, false },
	{ "reads", METRIC_read_bytes, 0, 150e6, false },
	{ "waits for storage", METRIC_blkio_delay_total_ns, 0.001 * SECOND, 0.8 * SECOND, false },
	{ "faults", METRIC_minflt, 100, 600e3, false },
	{ "faults from storage", METRIC_majflt, 0, 8000, false },
	{ "locks", METRIC_voluntary_csw, 200, 150e3, false },
	{ "leaks", METRIC_COUNT, 1.3, 76.4, false },
	{ "leaks, new", METRIC_COUNT, 0, 200, true },
	{ "stands still", METRIC_run_time_ns, 1.9 * SECOND, 0, false },
};

static size_t planted_place(const struct plant *plant, uint64_t seed)
{
	struct comparison c;
	size_t place;

	comparison_begin(&c);
	add_noise(&c, &seed);
	if (plant->id == METRIC_COUNT && plant->is_new)
		build_memory(c.after[0], live(c.after[0], 7, 7, SCENE_UPTIME + 1, "planted"),
			     plant->after, 0);
	else if (plant->id == METRIC_COUNT)
		memories(&c, 7, "planted", plant->before, plant->after);
	else if (plant->is_new)
		build_number(live(c.after[0], 7, 7, SCENE_UPTIME + 1, "planted"), plant->id,
			     (uint64_t)(plant->after * WINDOW_S));
	else
		rates(&c, 7, "planted", plant->id, plant->before, plant->after);
	only_metrics(&c, METRIC_run_time_ns, -1);
	place = place_of(overview_of(&c), "planted");
	comparison_end(&c);
	return place;
}

/* The change is among the first five rows in 95 runs of 100. */
TEST(planted_changes_are_found)
{
	for (size_t i = 0; i < array_length(plants); i++) {
		size_t found = 0;

		for (uint64_t seed = 1; seed <= 100; seed++)
			found += planted_place(&plants[i], seed * 7919) < 5;
		if (found < 95)
			fail_msg("'%s' is found in %zu of 100 runs", plants[i].what, found);
	}
}

/* --- the order --- */

/* Of two that take as much, the one that did not before. */
TEST(a_change_goes_before_a_level)
{
	struct comparison c;
	const struct overview *overview;

	comparison_begin(&c);
	rates(&c, 1, "always", METRIC_run_time_ns, 0.5 * SECOND, 0.5 * SECOND);
	rates(&c, 2, "now", METRIC_run_time_ns, 0.01 * SECOND, 0.5 * SECOND);
	rates(&c, 3, "idle", METRIC_run_time_ns, 0, 0.0001 * SECOND);
	overview = overview_of(&c);
	assert_int_equal(overview->groups.count, 2);
	assert_int_equal(place_of(overview, "now"), 0);
	assert_int_equal(place_of(overview, "always"), 1);
	assert_int_equal(overview->groups.items[0].pid, 2);
	comparison_end(&c);
}

/* What waits is not as bad as what waits no more is good. */
TEST(a_rise_goes_before_a_fall)
{
	struct comparison c;
	const struct overview *overview;

	comparison_begin(&c);
	rates(&c, 1, "fell", METRIC_wait_time_ns, 0.9 * SECOND, 0);
	rates(&c, 2, "rose", METRIC_wait_time_ns, 0, 0.5 * SECOND);
	overview = overview_of(&c);
	assert_int_equal(place_of(overview, "rose"), 0);
	assert_int_equal(place_of(overview, "fell"), 1);
	comparison_end(&c);
}

TEST(new_and_ended_groups)
{
	struct comparison c;
	const struct overview *overview;
	const struct overview_group *group;

	comparison_begin(&c);
	rates(&c, 1, "stays", METRIC_run_time_ns, 0.1 * SECOND, 0.1 * SECOND);
	build_number(live(c.before[0], 2, 2, 10, "went"), METRIC_run_time_ns,
		     (uint64_t)(0.5 * SECOND * LIFE_S));
	build_number(live(c.after[0], 3, 3, SCENE_UPTIME + 1, "came"), METRIC_run_time_ns,
		     (uint64_t)(3 * SECOND));
	overview = overview_of(&c);
	group = group_of(overview, "came");
	assert_int_equal(group->presence, PRESENCE_NEW);
	assert_int_equal(group->pid, 3);
	assert_float_equal(group->values[CAUSE_CPU].after * WINDOW_S, 3 * SECOND, 1);
	assert_float_equal(group->values[CAUSE_CPU].before, 0, 0);
	group = group_of(overview, "went");
	assert_int_equal(group->presence, PRESENCE_ENDED);
	assert_int_equal(group->pid, 0);
	assert_float_equal(group->values[CAUSE_CPU].before, 0.5 * SECOND, 10);
	assert_int_equal(group_of(overview, "stays")->presence, PRESENCE_BOTH);
	comparison_end(&c);
}

/* The process to look at is the one that did most in between, not in its life. */
TEST(the_process_of_the_change)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "web", METRIC_run_time_ns, 90 * NS_PER_S, 90 * NS_PER_S);
	grow(&c, 2, "web", METRIC_run_time_ns, NS_PER_S, 9 * NS_PER_S);
	grow(&c, 3, "web", METRIC_run_time_ns, 0, NS_PER_S);
	assert_int_equal(group_of(overview_of(&c), "web")->pid, 2);
	comparison_end(&c);
}

TEST(ctprof_does_not_lead)
{
	struct comparison c;
	const struct overview *overview;

	comparison_begin(&c);
	rates(&c, 1, "ctprof", METRIC_run_time_ns, 0, 0.9 * SECOND);
	rates(&c, 2, "web", METRIC_run_time_ns, 0, 0.1 * SECOND);
	overview = overview_of(&c);
	assert_int_equal(overview->groups.count, 1);
	assert_int_equal(overview->own, 1);
	assert_float_equal(overview->own_cpu, 0.9 * SECOND, 1);
	/* Unless it is asked for. */
	assert_true(array_push(&c.view.match, "ctprof"));
	overview = overview_of(&c);
	assert_int_equal(place_of(overview, "ctprof"), 0);
	assert_int_equal(overview->own, 0);
	comparison_end(&c);
}

/* --- memory --- */

#define MIB (1024 * 1024.0)

/* Of a group, that of all its processes, but not of each thread; what was swapped out is not gone;
 * and a level does not matter, but its change, by the size of that. */
TEST(memory_of_a_group)
{
	struct comparison c;
	const struct overview *overview;
	const struct overview_group *group;

	comparison_begin(&c);
	memories(&c, 1, "db", 8000, 8000);
	memories(&c, 2, "leaks", 10, 75);
	memories(&c, 3, "leaks", 100, 110);
	for (uint32_t tid = 30; tid < 40; tid++) {
		live(c.before[0], 3, tid, 10, "leaks");
		live(c.after[0], 3, tid, 10, "leaks");
	}
	memories(&c, 4, "shrinks", 200, 100);
	build_memory(c.before[0], live(c.before[0], 5, 5, 10, "swapped"), 500, 0);
	build_memory(c.after[0], live(c.after[0], 5, 5, 10, "swapped"), 100, 400);
	overview = overview_of(&c);
	assert_int_equal(overview->groups.count, 2);
	group = group_of(overview, "leaks");
	assert_int_equal(place_of(overview, "leaks"), 0);
	assert_int_equal(group->order[0], CAUSE_MEMORY);
	assert_true(overview_is_reason(group, 0));
	assert_false(overview_is_reason(group, 1));
	assert_int_equal(group->pid, 2);
	assert_float_equal(group->values[CAUSE_MEMORY].before, 110 * MIB, 0);
	assert_float_equal(group->values[CAUSE_MEMORY].after, 185 * MIB, 0);
	assert_float_equal(group->seconds, 5 * 75 * MIB / NS_PER_S, 1e-9);
	assert_float_equal(group_of(overview, "shrinks")->seconds, 5 * 100 * MIB / NS_PER_S / 4,
			   1e-9);
	comparison_end(&c);
}

/* What one side does not tell of each process is not known, and did not change. */
TEST(memory_that_is_not_measured)
{
	struct comparison c;

	comparison_begin(&c);
	memories(&c, 1, "web", 10, 10);
	build_memory(c.after[0], live(c.after[0], 2, 2, 10, "part"), 500, 0);
	live(c.before[0], 2, 2, 10, "part");
	memories(&c, 3, "part", 10, 10);
	assert_int_equal(overview_of(&c)->groups.count, 0);
	/* One capture has no change. */
	comparison_alone(&c);
	assert_int_equal(overview_of(&c)->groups.count, 0);
	comparison_end(&c);
}

/* --- sums --- */

static double sum_of_rows(const struct comparison *c, const char *name, bool after)
{
	double sum = 0, value;

	for (size_t g = 0; g < ROW_GROUP_COUNT; g++) {
		const struct row_group *rows = &c->report->sections[SECTION_PRIMARY].row_groups[g];

		for (size_t i = 0; i < rows->count; i++) {
			if (strcmp(rows->items[i].measure->name, name) != 0)
				continue;
			if (after && datum_magnitude(&rows->items[i].after, &value))
				sum += value;
			else if (!after)
				sum += rows->items[i].change.delta;
		}
	}
	return sum;
}

/* Of a window, what threads did that lived through it is in rows, and what those did that began in
 * it is listed apart. */
TEST(totals_are_those_of_the_table)
{
	struct comparison c;
	const struct overview *overview;
	uint64_t seed = 5;
	double born = 0;

	comparison_begin(&c);
	add_noise(&c, &seed);
	build_number(live(c.after[0], 3, 3, SCENE_UPTIME + 1, "came"), METRIC_run_time_ns, 12345);
	build_number(live(c.after[0], 1000, 4, SCENE_UPTIME + 1, "noise-1000"), METRIC_run_time_ns,
		     777);
	rates(&c, 9, "ctprof", METRIC_run_time_ns, 0, 0.2 * SECOND);
	c.view.window = true;
	overview = overview_of(&c);
	for (size_t i = 0; i < c.report->only_after.count; i++)
		born += (double)c.report->only_after.items[i].rank;
	assert_float_equal(born, 12345 + 777, 0);
	assert_int_equal(overview->total_metrics[CAUSE_CPU], METRIC_run_time_ns);
	assert_float_equal((double)overview->totals[CAUSE_CPU],
			   sum_of_rows(&c, "run_time_ns", false) + born, 0);
	assert_float_equal((double)overview->totals[CAUSE_WRITE],
			   sum_of_rows(&c, "write_bytes", false), 0);
	comparison_alone(&c);
	overview = overview_of(&c);
	assert_float_equal((double)overview->totals[CAUSE_CPU],
			   sum_of_rows(&c, "run_time_ns", true), 0);
	assert_float_equal((double)overview->totals[CAUSE_FAULT], sum_of_rows(&c, "minflt", true),
			   0);
	comparison_end(&c);
}

TEST(nothing_changed)
{
	struct comparison c;
	const struct overview *overview;
	size_t telling = 0;

	comparison_begin(&c);
	rates(&c, 1, "web", METRIC_run_time_ns, 0.5 * SECOND, 0);
	c.after[0]->host->uptime_clock_ticks = c.before[0]->host->uptime_clock_ticks;
	c.after[0]->captured_at_unix_ns = c.before[0]->captured_at_unix_ns;
	overview = overview_of(&c);
	assert_int_equal(overview->groups.count, 0);
	for (enum section i = 0; i < SECTION_COUNT; i++)
		telling += c.report->sections[i].telling;
	assert_int_equal(telling, 0);
	comparison_end(&c);
}

/* --- other pairs of captures --- */

/* Of different boots, lives are compared: the second host is up for a tenth as long. */
TEST(different_boots)
{
	struct comparison c;
	const struct overview *overview;
	const struct overview_value *cpu;

	comparison_begin(&c);
	c.after[0]->host->boot_id = snapshot_name(c.after[0], TEXT("other"));
	c.after[0]->host->uptime_clock_ticks = reading_of(10010);
	build_number(live(c.before[0], 1, 1, 0, "web"), METRIC_run_time_ns, 100 * NS_PER_S);
	build_number(live(c.after[0], 9, 9, 10, "web"), METRIC_run_time_ns, 50 * NS_PER_S);
	build_number(live(c.before[0], 2, 2, 0, "same"), METRIC_run_time_ns, 100 * NS_PER_S);
	build_number(live(c.after[0], 8, 8, 10, "same"), METRIC_run_time_ns, 10 * NS_PER_S);
	overview = overview_of(&c);
	assert_float_equal(overview->window_s, 0, 0);
	assert_int_equal(overview->groups.count, 1);
	cpu = &group_of(overview, "web")->values[CAUSE_CPU];
	assert_float_equal(cpu->before, 0.1 * SECOND, 1);
	assert_float_equal(cpu->after, 0.5 * SECOND, 1);
	comparison_end(&c);
}

TEST(an_older_candidate_is_not_ranked)
{
	struct comparison c;

	comparison_begin(&c);
	rates(&c, 1, "web", METRIC_run_time_ns, 0, 0.5 * SECOND);
	comparison_swap(&c);
	assert_non_null(overview_of(&c)->why_not);
	comparison_end(&c);
}

/* Of several captures, medians: one odd interval is none; and what varies anyway is no change. */
TEST(several_captures)
{
	static const double steady[] = { 1, 1.1, 0.9, 1, 1.05, 3, 3.1, 2.9, 3, 3 };
	static const double wild[] = { 1, 9, 2, 12, 4, 8, 1, 10, 9, 8.5 };
	uint64_t sums[2] = { 0, 0 };
	const struct overview *overview;
	struct comparison c;

	comparison_begin_many(&c, 5, 5);
	for (size_t i = 0; i < 10; i++) {
		struct ctprof_snapshot *s = i < 5 ? c.before[i] : c.after[i - 5];

		build_number(live(s, 1, 1, 10, "steady"), METRIC_run_time_ns, sums[0]);
		build_number(live(s, 2, 2, 10, "wild"), METRIC_run_time_ns, sums[1]);
		sums[0] += (uint64_t)(steady[i] * 0.1 * SECOND * WINDOW_S);
		sums[1] += (uint64_t)(wild[i] * 0.1 * SECOND * WINDOW_S);
	}
	overview = overview_of(&c);
	assert_int_equal(place_of(overview, "steady"), 0);
	assert_float_equal(group_of(overview, "steady")->values[CAUSE_CPU].before, 0.1 * SECOND,
			   0.006 * SECOND);
	assert_float_equal(group_of(overview, "steady")->values[CAUSE_CPU].after, 0.3 * SECOND,
			   0.006 * SECOND);
	comparison_end(&c);
}

TEST(one_capture)
{
	struct comparison c;
	const struct overview *overview;

	comparison_begin(&c);
	rates(&c, 1, "web", METRIC_run_time_ns, 0.5 * SECOND, 0);
	rates(&c, 2, "idle", METRIC_run_time_ns, 0, 0);
	comparison_alone(&c);
	overview = overview_of(&c);
	assert_int_equal(overview->groups.count, 1);
	assert_int_equal(overview->groups.items[0].pid, 1);
	assert_float_equal(overview->groups.items[0].values[CAUSE_CPU].after * overview->window_s,
			   0.5 * SECOND * LIFE_S, 10);
	comparison_end(&c);
}

/* A group that is asked for is named, however little it did of the host's time. */
TEST(one_group_of_one_capture)
{
	struct comparison c;
	const struct overview *overview;

	comparison_begin(&c);
	rates(&c, 1, "web", METRIC_run_time_ns, 0.5 * SECOND, 0);
	comparison_alone(&c);
	build_number(live(c.after[0], 2, 2, SCENE_UPTIME + SCENE_DISTANCE - 300, "young"),
		     METRIC_run_time_ns, NS_PER_S / 100);
	assert_int_equal(overview_of(&c)->groups.count, 1);
	assert_int_equal(c.report->overview->named_threads, 0);
	assert_true(array_push(&c.view.match, "young"));
	overview = overview_of(&c);
	assert_int_equal(overview->groups.count, 1);
	assert_int_equal(overview->named_threads, 1);
	assert_float_equal(group_of(overview, "young")->age_s, 3, 0.001);
	assert_true(overview_is_reason(group_of(overview, "young"), 0));
	comparison_end(&c);
}

/* States are known since a thread is watched: before that nothing is said of them. */
TEST(locks_of_a_recording)
{
	struct comparison c;
	const struct overview_value *lock;

	comparison_begin(&c);
	rates(&c, 1, "burns", METRIC_run_time_ns, 0, 0.2 * SECOND);
	grow(&c, 2, "new", METRIC_state_lock_ns, NS_PER_S / 10, 9 * NS_PER_S);
	grow(&c, 2, "new", METRIC_state_watched_ns, NS_PER_S / 10, 10 * NS_PER_S);
	grow(&c, 3, "old", METRIC_state_lock_ns, 10 * NS_PER_S, 19 * NS_PER_S);
	grow(&c, 3, "old", METRIC_state_watched_ns, 100 * NS_PER_S, 110 * NS_PER_S);
	lock = &group_of(overview_of(&c), "new")->values[CAUSE_LOCK];
	assert_false(overview_is_missing(c.report->overview, CAUSE_LOCK));
	assert_true(overview_is_missing(c.report->overview, CAUSE_STORAGE));
	assert_int_equal(place_of(c.report->overview, "new"), 0);
	assert_true(lock->is_first);
	lock = &group_of(c.report->overview, "old")->values[CAUSE_LOCK];
	assert_float_equal(lock->before, 0.1 * SECOND, 10);
	assert_float_equal(lock->after, 0.9 * SECOND, 10);
	comparison_end(&c);
}

/* A program of queries of 100 s, whose threads have a number if it is known: its five threads wait
 * for a lock for 380 s, of 498 s together, and before they used a CPU for 170 s and waited for one
 * for 280 s. */
static void build_query(struct comparison *c, uint64_t threads)
{
	for (size_t side = 0; side < 2; side++) {
		struct ctprof_snapshot *s = side ? c->after[0] : c->before[0];
		struct ctprof_thread *thread = live(s, 1000, 1000, 0, "shopd");

		s->observed_ns = s->longest_observed_ns = 100 * NS_PER_S;
		if (threads)
			build_number(thread, METRIC_thread_count, threads);
		else
			metric_set_remove(&thread->record.measured, METRIC_thread_count);
		build_number(thread, METRIC_run_time_ns, (side ? 20 : 170) * NS_PER_S);
		build_number(thread, METRIC_wait_time_ns, (side ? 30 : 280) * NS_PER_S);
		build_number(thread, METRIC_state_lock_ns, (side ? 380 : 0) * NS_PER_S);
		build_number(thread, METRIC_state_watched_ns, 498 * NS_PER_S);
	}
}

TEST(a_new_wait_of_a_query_leads)
{
	for (uint64_t threads = 0; threads <= 5; threads += 5) {
		struct comparison c;
		const struct overview_group *group;

		comparison_begin(&c);
		build_query(&c, threads);
		group = group_of(overview_of(&c), "shopd");
		assert_int_equal(group->order[0], CAUSE_LOCK);
		assert_float_equal(group->values[CAUSE_LOCK].before, 0, 0);
		assert_float_equal(group->values[CAUSE_LOCK].after, 3.8 * SECOND, 1);
		assert_float_equal(group->values[CAUSE_LOCK].seconds, 3.8, 1e-9);
		assert_float_equal(group->values[CAUSE_CPU_WAIT].seconds, 2.5, 1e-9);
		assert_false(overview_is_idle(group));
		comparison_end(&c);
	}
}

/* A value that cannot be leads to nothing. */
TEST(impossible_values_do_not_lead)
{
	struct comparison c;

	comparison_begin(&c);
	for (size_t side = 0; side < 2; side++) {
		struct ctprof_snapshot *s = side ? c.after[0] : c.before[0];

		s->capture = arena_alloc(&s->arena, sizeof(*s->capture));
		assert_non_null(s->capture);
		*s->capture = (struct capture_info){ .duration_ns = reading_of(1000) };
	}
	rates(&c, 1, "web", METRIC_run_time_ns, 0.1 * SECOND, 0.5 * SECOND);
	grow(&c, 2, "odd", METRIC_run_time_ns, 0, 900 * NS_PER_S);
	assert_int_equal(place_of(overview_of(&c), "odd"), 1);
	assert_int_equal(c.report->overview->groups.count, 1);
	/* A wait that began before the window may be in it, and counts for as long as that was. */
	grow(&c, 3, "long", METRIC_blkio_delay_total_ns, 0, 900 * NS_PER_S);
	assert_int_equal(overview_of(&c)->groups.count, 2);
	assert_true(group_of(c.report->overview, "long")->seconds < 1.3);
	comparison_end(&c);
}

TEST(facts_that_were_not_measured)
{
	const struct overview *overview;
	struct comparison c;

	comparison_begin(&c);
	overview = overview_of(&c);
	for (enum overview_fact i = 0; i < FACT_COUNT; i++) {
		assert_true(isnan(overview->host.before[i]));
		assert_true(isnan(overview->host.after[i]));
	}
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(planted_changes_are_found),
	   cmocka_unit_test(a_change_goes_before_a_level),
	   cmocka_unit_test(a_rise_goes_before_a_fall), cmocka_unit_test(new_and_ended_groups),
	   cmocka_unit_test(the_process_of_the_change), cmocka_unit_test(ctprof_does_not_lead),
	   cmocka_unit_test(memory_of_a_group), cmocka_unit_test(memory_that_is_not_measured),
	   cmocka_unit_test(totals_are_those_of_the_table), cmocka_unit_test(nothing_changed),
	   cmocka_unit_test(different_boots), cmocka_unit_test(an_older_candidate_is_not_ranked),
	   cmocka_unit_test(several_captures), cmocka_unit_test(locks_of_a_recording),
	   cmocka_unit_test(a_new_wait_of_a_query_leads), cmocka_unit_test(one_capture),
	   cmocka_unit_test(one_group_of_one_capture),
	   cmocka_unit_test(impossible_values_do_not_lead),
	   cmocka_unit_test(facts_that_were_not_measured))
