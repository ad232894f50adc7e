/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of groups of threads against those of the readings themselves.
 */
#include "serve/metrics.h"

#include <stdio.h>

#include "base/file.h"
#include "report/exposition.h"
#include "unit/kstats_scene.h"
#include "unit/profile_scene.h"

#define SECOND ((uint64_t)1000000000)
#define T0     (1700000000 * SECOND)

struct scene {
	struct tick_store *store;
	struct metrics metrics;
	uint64_t readings, seed;
	uint64_t sums[STATE_COUNT];   /* what all threads did */
	struct kstats_changes kstats; /* of the reading that is made */
};

static void open_scene(struct scene *s, size_t series_most, size_t bytes_most)
{
	const struct tick_store_options options = { .kept_ns = 5 * SECOND,
						    .bytes_most = bytes_most };

	*s = (struct scene){ .seed = 5 };
	expect_ok(store_create(&options, &s->store));
	metrics_init(&s->metrics, series_most);
}

static void close_scene(struct scene *s)
{
	metrics_deinit(&s->metrics);
	store_destroy(s->store);
}

static struct profile *begin_reading(struct scene *s)
{
	struct profile *p = build_profile();

	p->meta.captured_at_unix_ns = T0 + s->readings++ * SECOND;
	p->meta.duration_ns = SECOND;
	p->meta.losses.lost = 2;
	return p;
}

/* A thread that ran, and waited, for the whole reading if `lasts`. */
static void put_thread(struct scene *s, struct profile *p, const char *cgroup, const char *name,
		       uint64_t run_ns, enum profile_class class, bool lasts)
{
	const uint32_t number = (uint32_t)p->threads.count + 1;
	const uint32_t thread = build_profile_thread(p, number, number, "process", name, cgroup);
	const uint64_t ns = lasts ? SECOND : 1 + next_random(&s->seed) % (SECOND / 2);
	struct sample *sample = build_sample(p, thread, class, lasts ? "main;wait" : "", ns, 1);

	sample->is_in_progress = lasts;
	s->sums[profile_settle_state(class, sample->state)] += ns;
	p->threads.items[thread].ns[CLASS_ON_CPU] = run_ns;
	p->threads.items[thread].is_accounted = true;
	s->sums[STATE_EXEC] += run_ns;
}

static void end_reading(struct scene *s, struct profile *p)
{
	const struct tick_host host = {
		.cpu_ns = 7, .pressure_ns = { [TICK_PRESSURE_IO_FULL] = TICK_UNMEASURED }
	};
	struct tick_buffer buffer = { 0 };
	struct tick tick;

	expect_ok(tick_pack(p, &host, &s->kstats, &buffer));
	expect_ok(tick_unpack(buffer.bytes, buffer.length, &tick));
	expect_ok(store_take(s->store, &tick));
	expect_ok(metrics_take(&s->metrics, s->store, &tick));
	free(buffer.bytes);
	kstats_changes_clear(&s->kstats);
	profile_destroy(p);
}

static uint64_t shown_ns(const struct scene *s, const char *cgroup, const char *threads,
			 enum state state)
{
	const struct metric_groups *g = &s->metrics.groups;

	for (size_t i = 0; i < g->shown.count; i++)
		if (strcmp(g->shown.items[i].threads->bytes, threads) == 0 &&
		    strings_equal(g->shown.items[i].cgroup ? g->shown.items[i].cgroup->bytes : NULL,
				  cgroup))
			return g->shown.items[i].ns[state];
	return 0;
}

/* The sum over all series is what all threads did, and there are no more series than may be. */
static void expect_sums(const struct scene *s)
{
	const struct metric_groups *g = &s->metrics.groups;
	uint64_t sums[STATE_COUNT] = { 0 };
	size_t series = 0;

	for (unsigned state = 0; state < STATE_COUNT; state++) {
		for (size_t i = 0; i < g->shown.count; i++) {
			sums[state] += g->shown.items[i].ns[state];
			series += g->shown.items[i].ns[state] != 0;
		}
		for (size_t i = 0; i < GROUPS_SPECIAL; i++)
			sums[state] += g->special[i][state];
		assert_true(sums[state] == s->sums[state]);
	}
	assert_int_equal(series, g->series);
	assert_true(series <= g->series_most);
}

TEST(threads_are_grouped_by_cgroup_and_pattern)
{
	struct scene s;

	open_scene(&s, METRICS_SERIES, (size_t)1 << 30);
	for (int i = 0; i < 3; i++) {
		struct profile *p = begin_reading(&s);

		put_thread(&s, p, "/a", "worker-1", 10, CLASS_INTERRUPTIBLE, true);
		put_thread(&s, p, "/a", "worker-22", 20, CLASS_INTERRUPTIBLE, true);
		put_thread(&s, p, "/b", "worker-1", 40, CLASS_IO_WAIT, false);
		put_thread(&s, p, NULL, "x", 80, CLASS_IO_WAIT, false);
		end_reading(&s, p);
		expect_sums(&s);
	}
	assert_true(shown_ns(&s, "/a", "worker-{N}", STATE_EXEC) == 3 * 30);
	assert_true(shown_ns(&s, "/b", "worker-{N}", STATE_EXEC) == 3 * 40);
	assert_true(shown_ns(&s, NULL, "x", STATE_EXEC) == 3 * 80);
	assert_true(shown_ns(&s, "/a", "worker-{N}", STATE_SLEEP) == 6 * SECOND);
	assert_int_equal(s.metrics.groups.shown.count, 3);
	assert_int_equal(metric_groups_in_other(&s.metrics.groups), 0);
	assert_true(s.metrics.lost == 6 && s.metrics.cpu_ns == 21);
	assert_true(s.metrics.pressure_ns[TICK_PRESSURE_IO_FULL] == TICK_UNMEASURED);
	assert_true(s.metrics.pressure_ns[TICK_PRESSURE_CPU_SOME] == 0);
	close_scene(&s);
}

/* A name that is another one's pattern only by itself: letters, so that digits do not join them. */
static const char *name_of(unsigned number)
{
	static char name[16];

	for (size_t i = 0; i < 6; i++, number /= 16)
		name[i] = (char)('g' + number % 16);
	name[6] = 0;
	return name;
}

/* The busiest are shown, whatever their order. */
TEST(a_hundred_thousand_groups)
{
	enum { GROUPS = 100000, BUSY = 20 };
	struct scene s;

	open_scene(&s, METRICS_SERIES, (size_t)1 << 30);
	for (int reading = 0; reading < 2; reading++) {
		struct profile *p = begin_reading(&s);

		for (unsigned i = 0; i < GROUPS; i++)
			put_thread(&s, p, i % 2 ? "/a" : "/b", name_of(i),
				   i % (GROUPS / BUSY) == 77 ? SECOND + i : 1 + i % 50,
				   CLASS_INTERRUPTIBLE, i % 3);
		end_reading(&s, p);
		expect_sums(&s);
	}
	for (unsigned i = 77; i < GROUPS; i += GROUPS / BUSY)
		assert_true(shown_ns(&s, "/a", name_of(i), STATE_EXEC) == 2 * (SECOND + i));
	assert_true(s.metrics.groups.series > METRICS_SERIES / 2);
	assert_int_equal(metric_groups_in_other(&s.metrics.groups),
			 GROUPS - s.metrics.groups.shown.count);
	close_scene(&s);
}

/* What each shown group had; a group whose threads have ended is gone, and no other is less. */
static void expect_growth(const struct scene *s, struct metric_group_time *before, size_t *count)
{
	const struct metric_groups *g = &s->metrics.groups;

	for (size_t i = 0; i < *count; i++)
		for (size_t k = 0; k < g->shown.count; k++) {
			const struct metric_group_time *now = &g->shown.items[k];

			if (strcmp((const char *)(uintptr_t)before[i].threads,
				   now->threads->bytes) != 0)
				continue;
			for (size_t state = 0; state < STATE_COUNT; state++)
				assert_true(now->ns[state] >= before[i].ns[state]);
		}
	for (size_t i = 0; i < *count; i++)
		free((void *)(uintptr_t)before[i].threads);
	*count = g->shown.count;
	for (size_t i = 0; i < *count; i++) {
		before[i] = g->shown.items[i];
		before[i].threads = (const void *)strdup(before[i].threads->bytes);
		assert_non_null(before[i].threads);
	}
}

/* Groups come and go all the time, the dictionary is made anew, and every sum is exact and grows.
 */
TEST(ended_groups_are_folded)
{
	static struct metric_group_time before[METRICS_SERIES];
	uint64_t special[GROUPS_SPECIAL][STATE_COUNT] = { 0 }, generation;
	size_t count = 0;
	struct scene s;

	open_scene(&s, METRICS_SERIES_LEAST, (size_t)200 << 10);
	generation = s.store->generation;
	for (unsigned i = 0; i < 400; i++) {
		static const enum profile_class classes[] = { CLASS_INTERRUPTIBLE, CLASS_IO_WAIT,
							      CLASS_RUNNABLE };
		struct profile *p = begin_reading(&s);

		for (unsigned k = 0; k < 30; k++)
			put_thread(&s, p, k % 2 ? "/a" : NULL, name_of(k < 5 ? k : i * 2 + k),
				   k < 5 ? SECOND : next_random(&s.seed) % 1000,
				   classes[next_random(&s.seed) % array_length(classes)],
				   next_random(&s.seed) % 2);
		end_reading(&s, p);
		expect_sums(&s);
		expect_growth(&s, before, &count);
		for (size_t g = 0; g < GROUPS_SPECIAL; g++)
			for (size_t what = 0; what < STATE_COUNT; what++) {
				assert_true(s.metrics.groups.special[g][what] >= special[g][what]);
				special[g][what] = s.metrics.groups.special[g][what];
			}
	}
	assert_true(s.store->generation != generation);
	assert_true(special[GROUPS_ENDED][STATE_EXEC] > 0);
	assert_true(special[GROUPS_OTHER][STATE_EXEC] > 0);
	for (unsigned k = 0; k < 5; k++)
		assert_true(shown_ns(&s, k % 2 ? "/a" : NULL, name_of(k), STATE_EXEC) ==
			    400 * SECOND);
	for (size_t i = 0; i < count; i++)
		free((void *)(uintptr_t)before[i].threads);
	close_scene(&s);
}

/* --- latencies --- */

static void put_latency(struct profile *p, const char *cgroup, enum latency_kind kind, uint64_t ns,
			uint64_t count)
{
	struct profile_latency latency = { .kind = kind,
					   .histogram = histogram_create(LATENCY_FRAC_BITS) };

	if (cgroup)
		latency.cgroup = profile_name(p, cgroup, strlen(cgroup));
	histogram_record(latency.histogram, ns, count);
	assert_true(array_push(&p->latencies, latency));
}

static const struct metric_latency *latency_of(const struct scene *s, const char *cgroup)
{
	const struct metric_latencies *l = &s->metrics.latencies;

	for (size_t i = LATENCIES_SPECIAL; i < l->all.count; i++)
		if (strcmp(l->all.items[i].cgroup, cgroup) == 0)
			return &l->all.items[i];
	return NULL;
}

TEST(latencies_are_added_up_by_cgroup)
{
	struct scene s;

	open_scene(&s, METRICS_SERIES, (size_t)1 << 30);
	for (int i = 0; i < 3; i++) {
		struct profile *p = begin_reading(&s);

		put_thread(&s, p, "/a", "x", 1, CLASS_IO_WAIT, false);
		put_latency(p, NULL, LATENCY_RUN_QUEUE, 5, 2);
		put_latency(p, "/a", LATENCY_RUN_QUEUE, 1000, 1);
		put_latency(p, "/a", LATENCY_BLOCK_IO, 3000000, 4);
		put_latency(p, "/b", LATENCY_BLOCK_IO, UINT64_MAX, 1);
		end_reading(&s, p);
	}
	assert_int_equal(s.metrics.latencies.all.count, LATENCIES_SPECIAL + 2);
	assert_int_equal(s.metrics.latencies.all.items[LATENCIES_OTHER].kinds[0]->count, 6);
	assert_int_equal(latency_of(&s, "/a")->kinds[LATENCY_RUN_QUEUE]->count, 3);
	assert_int_equal(latency_of(&s, "/a")->kinds[LATENCY_BLOCK_IO]->count, 12);
	assert_int_equal(latency_of(&s, "/a")->kinds[LATENCY_BLOCK_IO]->sum, 36000000);
	assert_int_equal(latency_of(&s, "/b")->kinds[LATENCY_BLOCK_IO]->count, 3);
	close_scene(&s);
}

/* Cgroups come and go; all values are there, in no more histograms than may be. */
TEST(latencies_are_bounded)
{
	uint64_t all = 0;
	struct scene s;

	open_scene(&s, METRICS_SERIES, (size_t)1 << 30);
	for (int i = 0; i < 400; i++) {
		struct profile *p = begin_reading(&s);
		uint64_t count = 0;

		for (int k = 0; k < 20; k++) {
			char cgroup[32];

			snprintf(cgroup, sizeof(cgroup), "/%d", k < 3 ? k : i / 100 * 100 + k);
			put_latency(p, cgroup, LATENCY_RUN_QUEUE, 1000, 1);
			all++;
		}
		end_reading(&s, p);
		for (size_t c = 0; c < s.metrics.latencies.all.count; c++)
			count += s.metrics.latencies.all.items[c].kinds[LATENCY_RUN_QUEUE]->count;
		assert_true(count == all);
		assert_true(s.metrics.latencies.all.count <= s.metrics.latencies.most);
		assert_true(s.metrics.latencies.all.count * METRIC_HISTOGRAM_SERIES *
				    LATENCY_KINDS <=
			    METRICS_SERIES / 4);
	}
	assert_int_equal(latency_of(&s, "/1")->kinds[LATENCY_RUN_QUEUE]->count, 400);
	assert_non_null(latency_of(&s, "/303"));
	assert_null(latency_of(&s, "/3"));
	assert_true(s.metrics.latencies.all.items[LATENCIES_ENDED].kinds[0]->count > 0);
	close_scene(&s);
}

/* --- metrics of kstats --- */

static void put_metric(struct scene *s, const char *name, const char *start, unsigned frac_bits,
		       uint64_t values, uint64_t value)
{
	struct kstats_table *table = scene_kstats(name, frac_bits);

	scene_kstats_word(&table->host, "h");
	scene_kstats_word(&table->start, start);
	table->losses_known = 1u << KSTATS_LOSS_full;
	table->losses[KSTATS_LOSS_full] = values;
	for (uint64_t i = 0; i < values; i++)
		scene_kstats_record(table, 0, NULL, value);
	assert_true(array_push(&s->kstats.tables, table));
}

static char *printed_kstats(const struct scene *s)
{
	struct metric_kstats_families owned = { 0 };
	struct metric_families families = { 0 };
	char *text = NULL;
	size_t length, series = 0;
	FILE *out = open_memstream(&text, &length);

	expect_ok(metric_kstats_families(&s->metrics.kstats, &families, &owned));
	expect_ok(expositions[EXPOSITION_TEXT].print(out, &families));
	assert_true(file_close_memory(out, &text));
	metric_families_deinit(&families);
	metric_kstats_families_clear(&owned);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		series += at[1] && at[1] != '#';
	assert_true(series <= s->metrics.kstats.most * METRIC_KSTATS_SERIES);
	return text;
}

/* A metric that is removed and created again, with other bits, goes on; in another place it has
 * series of its own. */
TEST(metrics_go_on)
{
	struct scene s;
	char *text;

	open_scene(&s, METRICS_SERIES, (size_t)1 << 30);
	for (int i = 0; i < 6; i++) {
		struct profile *p = begin_reading(&s);

		put_thread(&s, p, "/a", "x", 1, CLASS_IO_WAIT, false);
		if (i != 2)
			put_metric(&s, "reads", "syscall:read", i < 2 ? 5 : 3, 3, 1000);
		end_reading(&s, p);
	}
	text = printed_kstats(&s);
	assert_non_null(strstr(text, "# HELP ctprof_kstats_reads_seconds syscall:read\n"));
	assert_non_null(strstr(text, "_seconds_bucket{host=\"h\",le=\"2.55e-07\"} 0\n"));
	assert_non_null(strstr(text, "_seconds_bucket{host=\"h\",le=\"1.023e-06\"} 15\n"));
	assert_non_null(strstr(text, "_seconds_sum{host=\"h\"} 0.000015000\n"));
	assert_non_null(strstr(text, "ctprof_kstats_lost_total{metric=\"reads\",host=\"h\","
				     "cause=\"full\"} 15\n"));
	free(text);
	{
		struct profile *p = begin_reading(&s);

		put_metric(&s, "reads", "syscall:write", 3, 1, 5);
		end_reading(&s, p);
	}
	text = printed_kstats(&s);
	assert_non_null(strstr(text, "_count{host=\"h\",start=\"syscall:read\"} 15\n"));
	assert_non_null(strstr(text, "_count{host=\"h\",start=\"syscall:write\"} 1\n"));
	free(text);
	close_scene(&s);
}

/* Metrics come and go: no more have series than may, those that stay keep theirs, and groups of
 * threads make room without losing time. */
TEST(metrics_are_bounded)
{
	struct scene s;
	char *text;

	open_scene(&s, METRICS_SERIES_LEAST, (size_t)1 << 30);
	assert_int_equal(s.metrics.kstats.most, 2);
	for (unsigned i = 0; i < 200; i++) {
		struct profile *p = begin_reading(&s);
		char name[16];

		for (unsigned k = 0; k < 200; k++)
			put_thread(&s, p, "/a", name_of(k), k, CLASS_IO_WAIT, false);
		snprintf(name, sizeof(name), "other%u", i / 50);
		if (i >= 10) {
			put_metric(&s, "stays", "a", 3, 1, 5000);
			put_metric(&s, name, "b", 3, 1, 5000);
			put_metric(&s, "third", "b", 3, 1, 5000);
		}
		end_reading(&s, p);
		expect_sums(&s);
		assert_true(s.metrics.kstats.all.count <= 2);
		assert_true(s.metrics.groups.series +
				    s.metrics.kstats.all.count * METRIC_KSTATS_SERIES <=
			    s.metrics.series_of_groups);
		assert_int_equal(s.metrics.kstats.left_out >= 1, i >= 10);
	}
	assert_true(s.metrics.groups.special[GROUPS_ENDED][STATE_EXEC] > 0);
	text = printed_kstats(&s);
	assert_non_null(strstr(text, "ctprof_kstats_stays_seconds_count{host=\"h\"} 190\n"));
	free(text);
	close_scene(&s);
}

UNIT_TESTS(cmocka_unit_test(threads_are_grouped_by_cgroup_and_pattern),
	   cmocka_unit_test(a_hundred_thousand_groups), cmocka_unit_test(ended_groups_are_folded),
	   cmocka_unit_test(latencies_are_added_up_by_cgroup),
	   cmocka_unit_test(latencies_are_bounded), cmocka_unit_test(metrics_go_on),
	   cmocka_unit_test(metrics_are_bounded))
