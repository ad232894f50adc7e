/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds of any two snapshots, tried on pairs that are drawn from a fixed seed: threads that
 * live on, move, change their names, end and begin, and whose number is used again.
 */
#include "compare/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/compare_scene.h"

#define PAIRS   40
#define NUMBERS 70 /* of threads; four make a process */

/* How a pair is drawn. */
struct draw {
	uint64_t seed;
	bool holes;       /* some values are not measured */
	bool steady;      /* threads keep their names and cgroups */
	bool everybody;   /* nobody ends or begins */
	unsigned threads; /* in a hundred numbers */
};

static unsigned pick(struct draw *d, unsigned below)
{
	return (unsigned)(next_random(&d->seed) >> 33) % below;
}

static const char *pick_text(struct draw *d, const char *const *texts, size_t count)
{
	return texts[pick(d, (unsigned)count)];
}
#define pick_from(d, ...)                                  \
	pick_text(d, (const char *const[]){ __VA_ARGS__ }, \
		  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *pick_cgroup(struct draw *d)
{
	return pick_from(d, "/", "", "/system.slice/cron.service", "/system.slice/run-1.scope",
			 "/system.slice/run-22.scope", "/user.slice/user@1000.service",
			 "/user.slice/user@1001.service", "/docker/" ID, "/k/pod-a/c", "/k/pod-b/c",
			 "/k/\xff\x01 \t|");
}

/* What has passed of its wait; nothing where that was not measured. */
static uint64_t in_progress(const struct ctprof_thread *t, enum metric_id id)
{
	enum metric_id part = metrics[id].in_progress;

	return part && is_measured(t, part) ? metric_load_u64(&t->record.values, &metrics[part])
					    : 0;
}

/* A thread's numbers: new, or grown. Waits that were in progress have ended, and were accounted. */
static void fill(struct draw *d, struct ctprof_snapshot *s, struct ctprof_thread *t,
		 const struct ctprof_thread *earlier)
{
	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		uint64_t value = next_random(&d->seed) >> (14 + pick(d, 48));

		if (i == METRIC_thread_count || (d->holes && !pick(d, 12)))
			continue;
		if (earlier && is_measured(earlier, i) && metrics[i].family == FAMILY_SUM)
			value += metric_load_u64(&earlier->record.values, &metrics[i]) +
				 in_progress(earlier, i);
		if (metrics[i].family == FAMILY_SUM || metrics[i].family == FAMILY_MAX)
			build_number(t, i, value);
		else if (i == METRIC_rt_priority)
			build_number(t, i, value % 100);
		else if (metrics[i].family == FAMILY_RANGE)
			build_signed(t, i, (int64_t)(value % 40) - 20);
	}
	build_label(s, t, METRIC_policy, pick_from(d, "SCHED_OTHER", "SCHED_FIFO"));
	build_cpus(s, t, pick_from(d, "0-3", "0", "2-3,8"));
}

static struct ctprof_thread *be_born(struct draw *d, struct ctprof_snapshot *s, uint32_t tid)
{
	uint32_t tgid = tid / 4 * 4 + 4;
	struct ctprof_thread *t = live_in(
		s, tgid, tid + 4, 100 + pick(d, 3) * 100,
		pick_from(d, "nginx", "pg-1", "pg-2", "kworker/0:1", "", "a > b", "\x1b[31m"),
		pick_from(d, "w-1", "w-2", "w-3", "main", "", "\xc3(", "w-1 > x", "=cmd"),
		pick_cgroup(d));

	fill(d, s, t, NULL);
	return t;
}

static void live_on(struct draw *d, struct ctprof_snapshot *s, const struct ctprof_thread *earlier)
{
	bool renamed = !d->steady && !pick(d, 8), moved = !d->steady && !pick(d, 8);
	bool another = !d->everybody && !pick(d, 10);
	struct ctprof_thread *t =
		live_in(s, earlier->tgid, earlier->tid,
			earlier->start_time_clock_ticks.value + (another ? SCENE_UPTIME : 0),
			earlier->pcomm->bytes, renamed ? "w-9" : earlier->comm->bytes,
			moved ? pick_cgroup(d) : earlier->cgroup->bytes);

	fill(d, s, t, another ? NULL : earlier);
}

static void add_processes(struct draw *d, struct ctprof_snapshot *s)
{
	build_process(s, 2, 0, 0);
	for (uint32_t tgid = 4; tgid <= NUMBERS + 4; tgid += 4) {
		/* What does not change while a process lives. */
		struct draw of_process = { .seed = tgid };
		struct process *p;

		if (!pick(&of_process, 6))
			continue;
		p = build_process(s, tgid, pick(&of_process, 4) ? 1 : 2,
				  (int64_t)pick(&of_process, 4) - 1);
		if (!pick(&of_process, 3))
			p->exe = snapshot_name(s,
					       text_of(pick_from(&of_process, "/bin/a", "/bin/b")));
		if (!pick(&of_process, 3))
			p->cmdline = snapshot_name(s, TEXT("a --b"));
	}
	assert_true(label_pairs_add(s, &s->users, TEXT("0"), TEXT("root")));
	(void)d;
}

static void draw_pair(struct draw *d, struct comparison *c)
{
	comparison_begin(c);
	for (uint32_t tid = 0; tid < NUMBERS; tid++) {
		struct ctprof_thread *t;

		if (pick(d, 100) < d->threads) {
			t = be_born(d, c->before[0], tid);
			if (d->everybody || pick(d, 5))
				live_on(d, c->after[0], t);
		} else if (!d->everybody && !pick(d, 4)) {
			t = be_born(d, c->after[0], tid);
			t->start_time_clock_ticks.value += SCENE_UPTIME;
		}
	}
	for (int side = 0; side < 2; side++)
		add_processes(d, side ? c->after[0] : c->before[0]);
	c->view.all_rows = true;
	c->view.sections = 1u << SECTION_PRIMARY | 1u << SECTION_TASKSTATS_DELAY |
			   1u << SECTION_DERIVED | 1u << SECTION_THREAD_STATES;
}

typedef void on_pair(struct comparison *c, enum axis_id axis);

/* Try it on all axes of all pairs. */
static void try_pairs(struct draw how, on_pair *check)
{
	for (uint64_t i = 0; i < PAIRS; i++) {
		struct draw d = how;
		struct comparison c;

		d.seed = how.seed * 1000 + i;
		d.threads = 100 * (unsigned)i / PAIRS;
		draw_pair(&d, &c);
		for (enum axis_id axis = 0; axis < GROUP_AXIS_COUNT; axis++) {
			c.view.axis = &group_axes[axis];
			check(&c, axis);
		}
		comparison_end(&c);
	}
}

/* --- a snapshot against itself --- */

static void check_self(struct comparison *c, enum axis_id axis)
{
	struct ctprof_snapshot *after = c->after[0];

	(void)axis;
	c->after[0] = c->before[0];
	for (int window = 0; window < 2; window++) {
		c->view.window = window;
		comparison_run(c);
		assert_int_equal(c->report->only_before.count, 0);
		assert_int_equal(c->report->only_after.count, 0);
		for (enum section s = 0; s < SECTION_COUNT; s++) {
			for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
				const struct row_group *group =
					&c->report->sections[s].row_groups[b];

				for (size_t i = 0; i < group->count; i++) {
					const struct row *row = &group->items[i];
					bool quotient = window && measure_is_derived(row->measure);

					assert_true(quotient || !row->change.differs);
					assert_true(quotient || row->change.delta == 0);
					assert_true(row->change.real || !row->change.twice);
					assert_int_equal(row->threads_before, row->threads_after);
				}
			}
		}
	}
	c->view.window = false;
	/* Two sides that one snapshot is on are cleared before it goes. */
	comparison_run(c);
	c->after[0] = after;
}

TEST(a_snapshot_is_like_itself)
{
	try_pairs((struct draw){ .seed = 1 }, check_self);
	try_pairs((struct draw){ .seed = 2, .holes = true }, check_self);
}

/* --- swapped sides --- */

struct kept {
	char group[256];
	unsigned measure;
	struct datum_change change;
	uint32_t before, after;
};

struct keeps {
	ARRAY(struct kept);
};

static int by_group(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = strcmp(x->group, y->group);

	if (order)
		return order;
	if (x->measure != y->measure)
		return x->measure < y->measure ? -1 : 1;
	return 0;
}

static void keep_rows(const struct comparison *c, struct keeps *keeps)
{
	for (enum section s = 0; s < SECTION_COUNT; s++) {
		for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
			const struct row_group *group = &c->report->sections[s].row_groups[b];

			for (size_t i = 0; i < group->count; i++) {
				const struct row *row = &group->items[i];
				struct kept kept = { .measure = row->measure->number,
						     .change = row->change,
						     .before = row->threads_before,
						     .after = row->threads_after };

				snprintf(kept.group, sizeof(kept.group), "%s", row->group->bytes);
				assert_true(array_push(keeps, kept));
			}
		}
	}
	if (keeps->count)
		qsort(keeps->items, keeps->count, sizeof(*keeps->items), by_group);
}

static void check_swapped(struct comparison *c, enum axis_id axis)
{
	struct keeps x = { 0 }, y = { 0 };
	char *before, *after;

	(void)axis;
	comparison_run(c);
	assert_int_equal(c->sides.renamed.count, 0);
	keep_rows(c, &x);
	before = strdup(unmatched_text(c, &c->report->only_before));
	after = strdup(unmatched_text(c, &c->report->only_after));
	comparison_swap(c);
	comparison_run(c);
	keep_rows(c, &y);
	assert_int_equal(x.count, y.count);
	for (size_t i = 0; i < x.count; i++) {
		const struct datum_change *p = &x.items[i].change, *q = &y.items[i].change;

		assert_string_equal(x.items[i].group, y.items[i].group);
		assert_int_equal(x.items[i].measure, y.items[i].measure);
		assert_int_equal(x.items[i].before, y.items[i].after);
		assert_int_equal(x.items[i].after, y.items[i].before);
		assert_int_equal(p->has_delta, q->has_delta);
		assert_int_equal(p->differs, q->differs);
		assert_true(p->delta == -q->delta);
		assert_true(p->twice == -q->twice);
	}
	assert_string_equal(unmatched_text(c, &c->report->only_before), after);
	assert_string_equal(unmatched_text(c, &c->report->only_after), before);
	free(before);
	free(after);
	array_deinit(&x);
	array_deinit(&y);
	comparison_swap(c);
}

/* Threads keep their names here: on the axis "thread" a label is the name that was first seen. */
TEST(swapped_sides_negate_every_delta)
{
	try_pairs((struct draw){ .seed = 3, .steady = true }, check_swapped);
	try_pairs((struct draw){ .seed = 4, .steady = true, .holes = true }, check_swapped);
}

/* --- groups add up to the host --- */

typedef __int128 totals[METRIC_COUNT];

/* Waits in progress count only where both captures have some: one of few threads may have none. */
static void add_thread(totals sums, const struct comparison *c, const struct ctprof_thread *t)
{
	const struct metric_set *with_waits = &c->report->sides->waits.added;

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].family == FAMILY_SUM && is_measured(t, i))
			sums[i] += (__int128)metric_load_u64(&t->record.values, &metrics[i]) +
				   (metric_set_has(with_waits, i) ? in_progress(t, i) : 0);
}

static void add_snapshot(totals sums, const struct comparison *c, const struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->threads.count; i++)
		add_thread(sums, c, snapshot_thread(s, i));
}

static void add_unmatched(totals sums, const struct comparison *c,
			  const struct unmatched *unmatched)
{
	for (size_t i = 0; i < unmatched->count; i++)
		for (size_t t = 0; t < unmatched->items[i].group->count; t++)
			add_thread(sums, c, unmatched->items[i].group->threads[t]);
}

typedef void on_row(void *context, enum metric_id id, const struct row *row);

/* Visit the rows of metrics that are sums. */
static void each_sum(const struct comparison *c, on_row *visit, void *context)
{
	for (size_t n = 0; n < 2 * ROW_GROUP_COUNT; n++) {
		enum section section = n % 2 ? SECTION_PRIMARY : SECTION_THREAD_STATES;
		const struct row_group *group = &c->report->sections[section].row_groups[n / 2];

		for (size_t i = 0; i < group->count; i++) {
			const struct row *row = &group->items[i];
			const struct metric *metric = row->measure->metric;

			if (metric && metric->family == FAMILY_SUM)
				visit(context, metric_id(metric), row);
		}
	}
}

static __int128 number_of(const struct datum *datum)
{
	return datum->kind == DATUM_NUMBER ? datum->number : 0;
}

struct both {
	totals before, after;
	uint64_t threads_before, threads_after;
};

static void add_values(void *context, enum metric_id id, const struct row *row)
{
	struct both *both = context;

	both->before[id] += number_of(&row->before);
	both->after[id] += number_of(&row->after);
	if (id == METRIC_thread_count) {
		both->threads_before += row->threads_before;
		both->threads_after += row->threads_after;
	}
}

static void check_partition(struct comparison *c, enum axis_id axis)
{
	struct both groups = { 0 }, host = { 0 };

	(void)axis;
	comparison_run(c);
	add_snapshot(host.before, c, c->before[0]);
	add_snapshot(host.after, c, c->after[0]);
	each_sum(c, add_values, &groups);
	add_unmatched(groups.before, c, &c->report->only_before);
	add_unmatched(groups.after, c, &c->report->only_after);
	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		assert_true(groups.before[i] == host.before[i]);
		assert_true(groups.after[i] == host.after[i]);
	}
	for (size_t i = 0; i < c->report->only_before.count; i++)
		groups.threads_before += c->report->only_before.items[i].group->count;
	for (size_t i = 0; i < c->report->only_after.count; i++)
		groups.threads_after += c->report->only_after.items[i].group->count;
	assert_int_equal(groups.threads_before, c->before[0]->threads.count);
	assert_int_equal(groups.threads_after, c->after[0]->threads.count);
}

TEST(groups_add_up_to_the_host)
{
	try_pairs((struct draw){ .seed = 5 }, check_partition);
	try_pairs((struct draw){ .seed = 6, .holes = true }, check_partition);
}

/* --- windows --- */

static void add_delta(void *context, enum metric_id id, const struct row *row)
{
	__int128 *sums = context;

	assert_true(row->change.has_delta && !row->change.real);
	/* A thread does not take back what it did. */
	assert_true(row->change.twice >= 0);
	sums[id] += row->change.twice / 2;
}

/* What the living did, and the new ones brought, less what the dead took, is all the difference. */
static void check_window(struct comparison *c, enum axis_id axis)
{
	totals found = { 0 }, before = { 0 }, after = { 0 }, born = { 0 }, gone = { 0 };

	(void)axis;
	c->view.window = true;
	comparison_run(c);
	assert_int_equal(c->report->strangers, 0);
	each_sum(c, add_delta, found);
	add_unmatched(born, c, &c->report->only_after);
	add_unmatched(gone, c, &c->report->only_before);
	add_snapshot(before, c, c->before[0]);
	add_snapshot(after, c, c->after[0]);
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		assert_true(found[i] + born[i] - gone[i] == after[i] - before[i]);
}

TEST(windows_births_and_deaths_are_all_the_difference)
{
	try_pairs((struct draw){ .seed = 7 }, check_window);
}

/* --- shares --- */

struct shares {
	double share[METRIC_COUNT], size[METRIC_COUNT];
	bool any[METRIC_COUNT];
	const struct both *host;
};

static void add_share(void *context, enum metric_id id, const struct row *row)
{
	struct shares *shares = context;
	double change = (double)(shares->host->after[id] - shares->host->before[id]);

	assert_int_equal(row->has_host_share, change != 0);
	if (!row->has_host_share)
		return;
	assert_true(fabs(row->host_share - row->change.delta / change) <=
		    1e-12 * fabs(row->host_share));
	shares->share[id] += row->host_share;
	shares->size[id] += fabs(row->host_share);
	shares->any[id] = true;
}

/* Nobody ended or began: all shares make a whole. */
static void check_shares(struct comparison *c, enum axis_id axis)
{
	struct both host = { 0 };
	struct shares shares = { .host = &host };

	(void)axis;
	c->view.shares = true;
	comparison_run(c);
	assert_int_equal(c->report->only_before.count + c->report->only_after.count, 0);
	add_snapshot(host.before, c, c->before[0]);
	add_snapshot(host.after, c, c->after[0]);
	each_sum(c, add_share, &shares);
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		assert_true(!shares.any[i] ||
			    fabs(shares.share[i] - 1) <= 1e-12 * (shares.size[i] + 1));
}

TEST(shares_make_a_whole)
{
	try_pairs((struct draw){ .seed = 8, .everybody = true, .steady = true }, check_shares);
}

UNIT_TESTS(cmocka_unit_test(a_snapshot_is_like_itself),
	   cmocka_unit_test(swapped_sides_negate_every_delta),
	   cmocka_unit_test(groups_add_up_to_the_host),
	   cmocka_unit_test(windows_births_and_deaths_are_all_the_difference),
	   cmocka_unit_test(shares_make_a_whole))
