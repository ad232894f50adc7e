/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings through a tick into the store and out again, against the sum of the readings
 * themselves.
 */
#include <stdio.h>

#include "profile/files.h"
#include "serve/store.h"
#include "unit/kstats_scene.h"
#include "unit/profile_scene.h"

#define SECOND ((uint64_t)1000000000)
#define T0     (1700000000 * SECOND)

static const enum profile_class waits[] = { CLASS_INTERRUPTIBLE, CLASS_IO_WAIT, CLASS_RUNNABLE };

/* One of a few stacks, or of many where `rare`. */
static const char *a_stack(uint64_t *seed, bool rare)
{
	static char stack[64];
	const unsigned which = (unsigned)(next_random(seed) % (rare ? 5000 : 5));

	snprintf(stack, sizeof(stack), "main;f%u;g%u;schedule_[k]", which % 97, which);
	return which ? stack : "";
}

/* A wait that goes on through all of a reading, or ended in it. */
static void add_wait(struct profile *p, uint32_t thread, uint64_t *seed, bool lasts)
{
	const enum profile_class class = waits[next_random(seed) % array_length(waits)];
	const uint64_t ns = lasts ? p->meta.duration_ns : 1 + next_random(seed) % SECOND / 2;
	struct sample *sample = build_sample(p, thread, class, a_stack(seed, !lasts), ns, 1);

	sample->is_in_progress = lasts;
	sample->longest_ns = ns;
	p->threads.items[thread].ns[class] += ns;
}

/* A thread's wait in the last reading, which may go on. */
struct wait {
	bool lasts;
	uint64_t seed;
};

static struct profile *a_reading(uint64_t *seed, uint64_t number, struct wait *waits_of,
				 size_t threads)
{
	struct profile *p = build_profile();

	p->meta.captured_at_unix_ns = T0 + number * SECOND;
	p->meta.duration_ns = SECOND;
	p->meta.losses.lost = next_random(seed) % 3;
	for (uint32_t i = 0; i < threads; i++) {
		char name[16];
		uint32_t thread;
		uint64_t own;

		/* Threads come and go. */
		if (next_random(seed) % 8 == 0)
			continue;
		snprintf(name, sizeof(name), "t%u", i);
		thread = build_profile_thread(p, 100 + i / 4, 100 + i, "process", name,
					      i % 3 ? "/app" : NULL);
		if (!waits_of[i].lasts || next_random(seed) % 4 == 0)
			waits_of[i] = (struct wait){ next_random(seed) % 2, next_random(seed) };
		own = waits_of[i].seed;
		add_wait(p, thread, waits_of[i].lasts ? &own : seed, waits_of[i].lasts);
		if (!waits_of[i].lasts) {
			const uint64_t ns = next_random(seed) % 1000;

			p->threads.items[thread].ns[CLASS_ON_CPU] = ns;
			p->threads.items[thread].is_accounted = true;
			if (ns)
				build_sample(p, thread, CLASS_ON_CPU, "main;work", ns, 1);
		}
	}
	return p;
}

static void take_both(struct tick_store *store, const struct profile *p,
		      const struct kstats_changes *kstats)
{
	const struct tick_host host = { .cpu_ns = 7, .load_hundredths = 150 };
	struct tick_buffer buffer = { 0 };
	struct tick tick;

	expect_ok(tick_pack(p, &host, kstats, &buffer));
	expect_ok(tick_unpack(buffer.bytes, buffer.length, &tick));
	expect_ok(store_take(store, &tick));
	free(buffer.bytes);
	assert_int_equal(store->traits.count, store->book->frames.count);
}

static void take(struct tick_store *store, const struct profile *p)
{
	const struct kstats_changes none = { 0 };

	take_both(store, p, &none);
}

struct lines {
	ARRAY(char *);
};

static const struct flame *flame_of; /* whose lines are collected */

static bool add_line(void *context, const struct flame_line *line)
{
	struct lines *lines = context;
	struct sunk text = { 0 };
	char value[32];

	for (size_t i = 0; i < line->depth; i++) {
		const struct name *name = flame_name(flame_of, line->path[i]);

		expect_ok(sunk_write(&text, name->bytes, name->length));
		expect_ok(sunk_write(&text, ";", 1));
	}
	snprintf(value, sizeof(value), " %llu", (unsigned long long)line->value);
	expect_ok(sunk_write(&text, value, strlen(value) + 1));
	return array_push(lines, text.items);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The time of each stack by thread and by state, in one order. */
static struct lines all_times(const struct profile *p)
{
	static const enum flame_group groups[] = { FLAME_BY_THREAD, FLAME_BY_REASON };
	struct lines lines = { 0 };

	for (size_t i = 0; i < array_length(groups); i++) {
		const struct flame_view view = { .classes = FLAME_ALL, .group_by = groups[i] };
		struct flame *flame = NULL;

		expect_ok(flame_create(p, NULL, &view, &flame));
		flame_of = flame;
		expect_ok(flame_each_line(flame, add_line, &lines));
		flame_destroy(flame);
	}
	qsort(lines.items, lines.count, sizeof(*lines.items), compare_lines);
	return lines;
}

static void expect_same_times(const struct profile *a, const struct profile *b)
{
	struct lines of_a = all_times(a), of_b = all_times(b);

	assert_int_equal(of_a.count, of_b.count);
	for (size_t i = 0; i < of_a.count; i++) {
		assert_string_equal(of_a.items[i], of_b.items[i]);
		free(of_a.items[i]);
		free(of_b.items[i]);
	}
	array_deinit(&of_a);
	array_deinit(&of_b);
}

static struct tick_store *a_store(uint64_t kept_ns, size_t bytes_most)
{
	const struct tick_store_options options = { .kept_ns = kept_ns, .bytes_most = bytes_most };
	struct tick_store *store = NULL;

	expect_ok(store_create(&options, &store));
	return store;
}

enum { READINGS = 40, THREADS = 60 };

/* Every range of readings has what these have together. */
TEST(a_range_is_the_sum_of_its_readings)
{
	struct tick_store *store = a_store(1000 * SECOND, (size_t)1 << 30);
	struct profile *readings[READINGS];
	struct wait waits_of[THREADS] = { 0 };
	uint64_t seed = 7;

	for (size_t i = 0; i < READINGS; i++) {
		readings[i] = a_reading(&seed, i, waits_of, THREADS);
		take(store, readings[i]);
	}
	assert_int_equal(store->ticks.count, READINGS);
	for (size_t first = 0; first < READINGS; first += 7)
		for (size_t end = first + 1; end <= READINGS; end += 6) {
			struct profile *sum = build_profile(), *got = NULL;
			uint64_t lost = 0;

			for (size_t i = first; i < end; i++) {
				expect_ok(profile_merge(sum, readings[i]));
				lost += readings[i]->meta.losses.lost;
			}
			expect_ok(store_profile(store, first, end, &got));
			expect_same_times(sum, got);
			assert_true(got->meta.duration_ns == (end - first) * SECOND);
			assert_true(got->meta.losses.lost == lost);
			profile_destroy(sum);
			profile_destroy(got);
		}
	for (size_t i = 0; i < READINGS; i++)
		profile_destroy(readings[i]);
	store_destroy(store);
}

/* Threads have their exact time on CPUs, and all of it adds up to how long they were watched. */
TEST(times_of_threads_add_up)
{
	struct tick_store *store = a_store(1000 * SECOND, (size_t)1 << 30);
	struct wait waits_of[THREADS] = { 0 };
	struct profile *got = NULL;
	uint64_t seed = 3, cpu = 0, cpu_got = 0;

	for (size_t i = 0; i < READINGS; i++) {
		struct profile *reading = a_reading(&seed, i, waits_of, THREADS);

		for (size_t t = 0; t < reading->threads.count; t++)
			cpu += reading->threads.items[t].ns[CLASS_ON_CPU];
		take(store, reading);
		profile_destroy(reading);
	}
	expect_ok(store_profile(store, 0, READINGS, &got));
	for (size_t t = 0; t < got->threads.count; t++) {
		const struct profile_thread *thread = &got->threads.items[t];
		uint64_t sum = 0;

		for (size_t c = 0; c < CLASS_COUNT; c++)
			sum += thread->ns[c];
		assert_true(thread->ended_ns - thread->begun_ns == sum);
		cpu_got += thread->ns[CLASS_ON_CPU];
	}
	assert_true(cpu_got == cpu);
	profile_destroy(got);
	store_destroy(store);
}

/* What is too old, or too much, is forgotten; the dictionary is made anew, and the rest stays the
 * same under its new numbers. */
static void forget_and_compare(uint64_t kept_ns, size_t bytes_most, bool renews)
{
	enum { MANY = 200 };
	struct tick_store *store = a_store(kept_ns, bytes_most);
	struct profile *readings[MANY];
	struct wait waits_of[THREADS] = { 0 };
	uint64_t seed = 11, generation = store->generation;
	struct profile *sum = build_profile(), *got = NULL;

	for (size_t i = 0; i < MANY; i++) {
		readings[i] = a_reading(&seed, i, waits_of, THREADS);
		take(store, readings[i]);
	}
	assert_true(store->ticks.count < MANY);
	assert_true(store->ticks.count > 0);
	assert_int_equal(store->generation != generation, renews);
	assert_true(store->last_seq == MANY);
	for (size_t i = MANY - store->ticks.count; i < MANY; i++)
		expect_ok(profile_merge(sum, readings[i]));
	expect_ok(store_profile(store, 0, store->ticks.count, &got));
	expect_same_times(sum, got);
	assert_null(store_tick(store, MANY - store->ticks.count));
	assert_non_null(store_tick(store, MANY - store->ticks.count + 1));
	assert_null(store_tick(store, MANY + 1));
	profile_destroy(sum);
	profile_destroy(got);
	for (size_t i = 0; i < MANY; i++)
		profile_destroy(readings[i]);
	store_destroy(store);
}

TEST(forgets_what_is_old)
{
	forget_and_compare(20 * SECOND, (size_t)1 << 30, false);
}

TEST(forgets_what_is_too_much)
{
	forget_and_compare(1000 * SECOND, (size_t)600 << 10, true);
}

/* The stream sends what a wait is once, and then nothing of it. */
TEST(waits_that_last_are_kept_once)
{
	struct tick_store *store = a_store(1000 * SECOND, (size_t)1 << 30);
	struct profile *got = NULL;

	for (uint64_t i = 0; i < 10; i++) {
		struct profile *p = build_profile();
		const uint32_t thread = build_profile_thread(p, 1, 1, "sleeper", "sleeper", NULL);

		p->meta.captured_at_unix_ns = T0 + i * SECOND;
		p->meta.duration_ns = SECOND;
		build_sample(p, thread, CLASS_INTERRUPTIBLE, "main;sleep", SECOND, 1)
			->is_in_progress = true;
		take(store, p);
		profile_destroy(p);
	}
	assert_int_equal(store->ticks.items[0].begun.count, 1);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(store->ticks.items[i].samples.count, 0);
		assert_int_equal(store->ticks.items[i].begun.count, i == 0);
		assert_int_equal(store->ticks.items[i].ended.count, 0);
	}
	expect_ok(store_profile(store, 0, 10, &got));
	assert_int_equal(got->samples.count, 1);
	assert_true(got->samples.items[0].ns == 10 * SECOND);
	assert_true(got->samples.items[0].count == 1);
	profile_destroy(got);
	store_destroy(store);
}

/* --- metrics of kstats --- */

static struct kstats_table *a_metric(const char *name, unsigned frac_bits, uint64_t values,
				     uint64_t *seed)
{
	struct kstats_table *table = scene_kstats(name, frac_bits);

	scene_kstats_word(&table->start, "syscall:read");
	scene_kstats_word(&table->scope.only[KSTATS_FILTER_COMM], "nginx");
	table->is_active = values % 2;
	table->losses_known = 1u << KSTATS_LOSS_full;
	table->losses[KSTATS_LOSS_full] = values;
	for (uint64_t i = 0; i < values; i++)
		scene_kstats_record(table, 0, NULL, scene_kstats_value(seed));
	return table;
}

/* The part of a tick that a metric has is the metric. */
static void expect_metric(const struct tick_store *store, const struct store_tick *tick,
			  size_t number, const struct kstats_table *wanted)
{
	const struct store_kstats *metric = &tick->kstats.items[number];
	const struct kstats_table *table = store->metrics.items[metric->metric];
	struct kstats_distribution all = scene_kstats_all(wanted);
	const struct tick_value *value = tick->values.items;
	uint64_t count = 0;

	for (size_t i = 0; i < number; i++)
		value += tick->kstats.items[i].values;
	assert_string_equal(table->name, wanted->name);
	assert_string_equal(table->start, "syscall:read");
	assert_string_equal(table->scope.only[KSTATS_FILTER_COMM], "nginx");
	assert_int_equal(table->frac_bits, wanted->frac_bits);
	assert_int_equal(metric->is_active, wanted->is_active);
	assert_true(metric->losses[KSTATS_LOSS_full] == wanted->losses[KSTATS_LOSS_full]);
	for (uint32_t i = 0; i < metric->values; i++) {
		const struct kstats_slot *slot = &all.slots[value[i].slot];

		assert_true(value[i].count == slot->count && value[i].sum == slot->sum);
		count += value[i].count;
	}
	assert_true(count == all.count);
	kstats_distribution_clear(&all);
}

static struct profile *an_empty_reading(uint64_t number)
{
	struct profile *p = build_profile();

	p->meta.captured_at_unix_ns = T0 + number * SECOND;
	p->meta.duration_ns = SECOND;
	return p;
}

/* Metrics come and go, and one is created again with other bits. */
TEST(metrics_are_kept)
{
	enum { METRICS = 4 };
	struct tick_store *store = a_store(1000 * SECOND, (size_t)1 << 30);
	uint64_t seed = 5;

	for (uint64_t i = 0; i < 12; i++) {
		struct profile *p = an_empty_reading(i);
		struct kstats_changes kstats = { .omitted = i };

		for (uint64_t m = 0; m < METRICS; m++) {
			char name[8];

			snprintf(name, sizeof(name), "m%u", (unsigned)m);
			if (i % (m + 1) == 0)
				assert_true(array_push(
					&kstats.tables,
					a_metric(name, m == 3 && i > 5 ? 5 : 3, i * m, &seed)));
		}
		take_both(store, p, &kstats);
		assert_int_equal(store->ticks.items[i].kstats.count, kstats.tables.count);
		assert_true(store->ticks.items[i].kstats_omitted == i);
		for (size_t m = 0; m < kstats.tables.count; m++)
			expect_metric(store, &store->ticks.items[i], m, kstats.tables.items[m]);
		kstats_changes_clear(&kstats);
		profile_destroy(p);
	}
	assert_int_equal(store->metrics.count, METRICS + 1);
	assert_int_equal(store->ticks.items[11].after.metrics, METRICS + 1);
	store_destroy(store);
}

/* A new dictionary has those metrics that a tick has, under other numbers. */
TEST(metrics_are_forgotten)
{
	enum { MANY = 400 };
	struct tick_store *store = a_store(5 * SECOND, (size_t)200 << 10);
	const uint64_t generation = store->generation;
	struct wait waits_of[THREADS] = { 0 };
	uint64_t seed = 5;

	for (uint64_t i = 0; i < MANY; i++) {
		struct profile *p = a_reading(&seed, i, waits_of, THREADS);
		struct kstats_changes kstats = { 0 };
		const struct store_tick *last;
		char name[16];

		snprintf(name, sizeof(name), "m%u", (unsigned)i / 3);
		assert_true(array_push(&kstats.tables, a_metric("always", 3, 3, &seed)));
		assert_true(array_push(&kstats.tables, a_metric(name, 2, 4, &seed)));
		take_both(store, p, &kstats);
		last = &store->ticks.items[store->ticks.count - 1];
		for (size_t m = 0; m < kstats.tables.count; m++)
			expect_metric(store, last, m, kstats.tables.items[m]);
		assert_int_equal(last->after.metrics, store->metrics.count);
		kstats_changes_clear(&kstats);
		profile_destroy(p);
	}
	assert_true(store->generation > generation);
	assert_true(store->metrics.count < MANY / 3);
	store_destroy(store);
}

/* Nothing but what was packed is taken: any cut, and any number beyond its table. */
TEST(broken_ticks)
{
	struct profile *p = full_profile(5);
	const struct tick_host host = { 0 };
	struct kstats_changes kstats = { 0 };
	struct tick_buffer buffer = { 0 };
	struct tick tick;
	uint64_t seed = 1;

	for (size_t i = 0; i < p->samples.count; i++)
		p->samples.items[i].waker = 0;
	p->meta.duration_ns = SECOND;
	assert_true(array_push(&kstats.tables, a_metric("a", 3, 9, &seed)));
	assert_true(array_push(&kstats.tables, a_metric("b", 5, 2, &seed)));
	expect_ok(tick_pack(p, &host, &kstats, &buffer));
	kstats_changes_clear(&kstats);
	expect_ok(tick_unpack(buffer.bytes, buffer.length, &tick));
	for (size_t length = 0; length < buffer.length; length += 8) {
		char *cut = malloc(length + 1);

		memcpy(cut, buffer.bytes, length);
		expect_error(tick_unpack(cut, length, &tick), "malformed reading");
		free(cut);
	}
	for (size_t i = 0; i < 20000; i++) {
		struct tick_store *store = a_store(1000 * SECOND, (size_t)1 << 30);
		char *changed = malloc(buffer.length);
		struct error *err;

		memcpy(changed, buffer.bytes, buffer.length);
		changed[next_random(&seed) % buffer.length] ^= (char)(1u << next_random(&seed) % 8);
		err = tick_unpack(changed, buffer.length, &tick);
		/* What is taken can be worked with. */
		if (!err)
			err = store_take(store, &tick);
		error_destroy(err);
		free(changed);
		store_destroy(store);
	}
	free(buffer.bytes);
	profile_destroy(p);
}

/* What the page knows of frames beside their names. */
static void frames_have_traits(void **state)
{
	static const struct {
		const char *name;
		uint8_t traits;
	} rows[] = {
		{ "_start", TRAIT_START },        { "main", 0 },
		{ "getaddrinfo", TRAIT_ASKS },    { "pthread_cond_wait", TRAIT_LIBRARY },
		{ "do_syscall_64", TRAIT_ENTRY }, { "ep_poll", 0 },
		{ "schedule", TRAIT_ENTRY },
	};
	struct tick_store *store = a_store(1000 * SECOND, (size_t)1 << 30);
	struct profile *p = build_profile();
	const uint32_t thread = build_profile_thread(p, 1, 1, "process", "thread", NULL);

	(void)state;
	p->meta.duration_ns = SECOND;
	build_sample(p, thread, CLASS_INTERRUPTIBLE,
		     "_start;main;getaddrinfo;pthread_cond_wait;do_syscall_64_[k];ep_poll_[k];"
		     "schedule_[k]",
		     1000, 1);
	take(store, p);
	assert_int_equal(store->book->frames.count, array_length(rows));
	for (size_t i = 0; i < array_length(rows); i++)
		for (size_t f = 0; f < store->book->frames.count; f++)
			if (text_equal(name_text(store->book->frames.items[f].name),
				       text_of(rows[i].name)))
				assert_int_equal(store->traits.items[f], rows[i].traits);
	store_destroy(store);
	profile_destroy(p);
}

UNIT_TESTS(cmocka_unit_test(a_range_is_the_sum_of_its_readings),
	   cmocka_unit_test(times_of_threads_add_up), cmocka_unit_test(forgets_what_is_old),
	   cmocka_unit_test(forgets_what_is_too_much),
	   cmocka_unit_test(waits_that_last_are_kept_once), cmocka_unit_test(frames_have_traits),
	   cmocka_unit_test(metrics_are_kept), cmocka_unit_test(metrics_are_forgotten),
	   cmocka_unit_test(broken_ticks))
