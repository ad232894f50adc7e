/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/files.h"
#include "unit/profile_scene.h"

static const char *tree(const struct profile *p, enum flame_group group)
{
	static char text[4096];
	struct flame_view view = { .group_by = group };
	struct flame *flame = NULL;

	expect_ok(flame_create(p, NULL, &view, &flame));
	strcpy(text, flame_text(flame));
	flame_destroy(flame);
	return text;
}

/* Into nothing: a copy. */
TEST(copies)
{
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct profile *p = full_profile(seed), *into = build_profile();

		/* These are put into their order. */
		for (size_t i = 0; i < p->longest.count; i++)
			p->longest.items[i].ns = 100 - i;
		expect_ok(profile_merge(into, p));
		expect_same_profile(p, into);
		profile_destroy(p);
		profile_destroy(into);
	}
}

/* All of both, by names of the one profile only: the other is gone before anybody looks. */
TEST(everything_of_both)
{
	struct profile *a = full_profile(1), *b = full_profile(2);
	uint64_t ns = profile_total_ns(a, FLAME_ALL) + profile_total_ns(b, FLAME_ALL);
	size_t threads = a->threads.count, frames = a->frames.count;
	struct sunk sunk = { 0 };

	expect_ok(profile_merge(a, b));
	assert_true(profile_total_ns(a, FLAME_ALL) == ns);
	assert_int_equal(a->threads.count, threads + b->threads.count);
	assert_int_equal(a->images.items[2].first_mapping, 5);
	assert_int_equal(a->threads.items[threads + 1].image, 3);
	assert_int_equal(a->frames.count, frames + b->frames.count);
	for (size_t i = 0; i < b->frames.count; i++) {
		uint32_t image = b->frames.items[i].image;

		assert_int_equal(a->frames.items[frames + i].image, image ? image + 2 : 0);
	}
	assert_null(a->meta.host);
	profile_destroy(b);
	/* What points nowhere would be refused when it is read. */
	expect_ok(profile_write_json(a, sunk_write, &sunk));
	expect_ok(profile_parse_json(sunk_text(&sunk), &b));
	expect_same_profile(a, b);
	array_deinit(&sunk);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(the_same_threads)
{
	struct profile *a = build_profile(), *b = build_profile();

	build_profile_thread(a, 1, 1, "init", "init", NULL);
	build_profile_thread(b, 7, 8, "web", "worker", NULL);
	build_profile_thread(b, 1, 1, "init", "init", NULL);
	build_profile_thread(b, 1, 1, "init", "again", NULL); /* the number was used again */
	build_sample(a, 0, CLASS_ON_CPU, "main", 1, 1);
	build_sample(b, 0, CLASS_ON_CPU, "main", 10, 1);
	build_sample(b, 1, CLASS_ON_CPU, "main", 100, 1);
	build_sample(b, 2, CLASS_ON_CPU, "main", 1000, 1);
	expect_ok(profile_merge(a, b));
	assert_int_equal(a->threads.count, 3);
	assert_int_equal(a->samples.count, 3);
	assert_int_equal(a->frames.count, 1);
	assert_int_equal(a->samples.items[0].ns, 101);
	assert_string_equal(tree(a, FLAME_BY_PROCESS), "init (1);main 1101 web (7);main 10");
	profile_destroy(a);
	profile_destroy(b);
}

/* Classes add up to wall time afterwards, as they did before. */
TEST(accounts)
{
	struct profile *a = build_profile(), *b = build_profile();
	struct profile_thread *thread;

	build_profile_thread(a, 1, 1, "a", "a", NULL);
	build_profile_thread(b, 1, 1, "a", "a", NULL);
	a->threads.items[0].begun_ns = b->threads.items[0].begun_ns = 100;
	a->threads.items[0].ns[CLASS_ON_CPU] = 7; /* not measured: of no meaning */
	b->threads.items[0].ended_ns = 130;
	b->threads.items[0].is_accounted = true;
	b->threads.items[0].ns[CLASS_ON_CPU] = 10;
	b->threads.items[0].ns[CLASS_STOPPED] = 20;
	b->threads.items[0].counts[CLASS_STOPPED] = 3;
	b->threads.items[0].voluntary = 4;
	for (unsigned times = 1; times <= 2; times++) {
		expect_ok(profile_merge(a, b));
		thread = &a->threads.items[0];
		assert_true(thread->is_accounted);
		assert_int_equal(thread->ns[CLASS_ON_CPU], 10 * times);
		assert_int_equal(thread->ns[CLASS_STOPPED], 20 * times);
		assert_int_equal(thread->counts[CLASS_STOPPED], 3 * times);
		assert_int_equal(thread->voluntary, 4 * times);
		assert_int_equal(thread->ended_ns - thread->begun_ns, 30 * times);
	}
	profile_destroy(a);
	profile_destroy(b);
}

/* What was seen adds up, and what is more than fits is the most that does. */
TEST(losses_add_up)
{
	struct profile *a = build_profile(), *b = build_profile();
	struct profile_losses *losses = &a->meta.losses;

	a->meta.losses = (struct profile_losses){
		.kept = 1,
		.walks = { [WALK_END_COMPLETE] = 10, [WALK_END_NO_SENSE] = UINT64_MAX },
		.user_stacks_checked = 3,
	};
	b->meta.losses = (struct profile_losses){
		.walks = { [WALK_END_COMPLETE] = 5,
			   [WALK_END_NO_RULE] = 2,
			   [WALK_END_NO_SENSE] = 1 },
		.user_stacks_recognised = 7,
		.user_stacks_checked = 4,
		.user_stacks_wrong = 1,
	};
	expect_ok(profile_merge(a, b));
	assert_int_equal(losses->kept, 1);
	assert_int_equal(losses->walks[WALK_END_COMPLETE], 15);
	assert_int_equal(losses->walks[WALK_END_NO_RULE], 2);
	assert_true(losses->walks[WALK_END_NO_SENSE] == UINT64_MAX);
	assert_int_equal(losses->user_stacks_recognised, 7);
	assert_int_equal(losses->user_stacks_checked, 7);
	assert_int_equal(losses->user_stacks_wrong, 1);
	profile_destroy(a);
	profile_destroy(b);
}

/* Without measured times there is only when it was seen. */
TEST(sampled_threads_are_seen_from_first_to_last)
{
	static const uint64_t begun[] = { 200, 100, 300 };
	struct profile *all = build_profile();

	for (size_t i = 0; i < array_length(begun); i++) {
		struct profile *one = build_profile();

		build_profile_thread(one, 1, 2, "web", "worker", NULL);
		one->threads.items[0].begun_ns = begun[i];
		one->threads.items[0].ended_ns = begun[i] + 100;
		expect_ok(profile_merge(all, one));
		profile_destroy(one);
	}
	assert_int_equal(all->threads.count, 1);
	assert_false(all->threads.items[0].is_accounted);
	assert_int_equal(all->threads.items[0].begun_ns, 100);
	assert_int_equal(all->threads.items[0].ended_ns, 400);
	profile_destroy(all);
}

/* Each file of --interval begins where the last ended. */
TEST(intervals_are_of_one_thread)
{
	/* In this order: the first is not the earliest. */
	static const uint64_t begun[] = { 200, 100, 300 }, ran[] = { 70, 20, 1 };
	struct profile *all = build_profile();
	const struct profile_thread *thread;

	for (size_t i = 0; i < array_length(begun); i++) {
		struct profile *one = build_profile();
		struct profile_thread *of;
		struct preemptor preemptor = { .name = profile_name(one, "hog", 3), .ns = 5 };

		build_profile_thread(one, 1, 2, "web", "worker", NULL);
		of = &one->threads.items[0];
		of->is_accounted = true;
		of->begun_ns = begun[i];
		of->ended_ns = begun[i] + 100;
		of->ns[CLASS_ON_CPU] = ran[i];
		of->ns[CLASS_IO_WAIT] = 100 - ran[i];
		assert_true(array_push(&one->preemptors, preemptor));
		expect_ok(profile_merge(all, one));
		profile_destroy(one);
	}
	assert_int_equal(all->threads.count, 1);
	thread = &all->threads.items[0];
	assert_int_equal(thread->begun_ns, 100);
	assert_int_equal(thread->ended_ns - thread->begun_ns, 300);
	assert_int_equal(thread->ns[CLASS_ON_CPU], 91);
	assert_int_equal(thread->ns[CLASS_IO_WAIT], 209);
	/* The same one ran, while the same one waited. */
	assert_int_equal(all->preemptors.count, 1);
	assert_int_equal(all->preemptors.items[0].ns, 15);
	profile_destroy(all);
}

/* Who ended before it began was not watched, and nobody was watched for more than there is. */
TEST(times_that_cannot_be)
{
	static const struct {
		uint64_t a[2], b[2], merged[2];
	} cases[] = {
		{ { 100, 150 }, { 90, 10 }, { 90, 140 } },
		{ { 90, 10 }, { 100, 150 }, { 90, 140 } },
		{ { 90, 10 }, { UINT64_MAX, 0 }, { 90, 90 } },
		{ { 5, UINT64_MAX }, { 7, UINT64_MAX }, { 5, UINT64_MAX } },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct profile *a = build_profile(), *b = build_profile();

		build_profile_thread(a, 1, 1, "a", "a", NULL);
		build_profile_thread(b, 1, 1, "a", "a", NULL);
		a->threads.items[0].is_accounted = b->threads.items[0].is_accounted = true;
		a->threads.items[0].begun_ns = cases[i].a[0];
		a->threads.items[0].ended_ns = cases[i].a[1];
		b->threads.items[0].begun_ns = cases[i].b[0];
		b->threads.items[0].ended_ns = cases[i].b[1];
		expect_ok(profile_merge(a, b));
		assert_int_equal(a->threads.count, 1);
		assert_true(a->threads.items[0].begun_ns == cases[i].merged[0]);
		assert_true(a->threads.items[0].ended_ns == cases[i].merged[1]);
		profile_destroy(a);
		profile_destroy(b);
	}
}

/* Imported ones have names at most. */
TEST(threads_without_numbers)
{
	struct profile *a = build_profile(), *b = build_profile();

	build_profile_thread(a, 0, 0, "web", "one", NULL);
	build_profile_thread(b, 0, 0, "web", "two", NULL);
	build_profile_thread(b, 0, 0, "web", "one", NULL);
	build_profile_thread(b, 0, 0, "db", "one", NULL);
	expect_ok(profile_merge(a, b));
	assert_int_equal(a->threads.count, 3);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(histograms)
{
	for (unsigned fine = 0; fine < 2; fine++) {
		struct profile *a = build_profile(), *b = build_profile();
		struct thread_histogram of_a = { 0, CLASS_RUNNABLE,
						 histogram_create(fine ? 5 : 2) };
		struct thread_histogram of_b = { 0, CLASS_RUNNABLE,
						 histogram_create(fine ? 2 : 5) };
		struct thread_histogram other = { 0, CLASS_STOPPED, histogram_create(3) };

		build_profile_thread(a, 1, 1, "a", "a", NULL);
		build_profile_thread(b, 1, 1, "a", "a", NULL);
		histogram_record(of_a.histogram, 1000, 2);
		histogram_record(of_b.histogram, 1001, 3);
		assert_true(array_push(&a->histograms, of_a));
		assert_true(array_push(&b->histograms, of_b));
		assert_true(array_push(&b->histograms, other));
		expect_ok(profile_merge(a, b));
		assert_int_equal(a->histograms.count, 2);
		assert_int_equal(a->histograms.items[0].histogram->frac_bits, 2);
		assert_int_equal(a->histograms.items[0].histogram->slots[35], 5);
		assert_int_equal(a->histograms.items[0].histogram->sum, 5003);
		assert_int_equal(a->histograms.items[1].class, CLASS_STOPPED);
		profile_destroy(a);
		profile_destroy(b);
	}
}

TEST(events_by_name)
{
	struct profile *a = build_profile(), *b = build_profile();

	build_profile_thread(a, 1, 1, "a", "a", NULL);
	build_profile_thread(b, 1, 1, "a", "a", NULL);
	assert_true(array_push(&a->events, profile_name(a, "one", 3)));
	assert_true(array_push(&b->events, profile_name(b, "two", 3)));
	assert_true(array_push(&b->events, profile_name(b, "one", 3)));
	build_sample(a, 0, CLASS_EVENT, "main", 0, 1);
	build_sample(b, 0, CLASS_EVENT, "main", 0, 10);
	expect_ok(profile_merge(a, b));
	assert_int_equal(a->events.count, 2);
	assert_int_equal(a->samples.count, 2);
	assert_int_equal(a->samples.items[1].event, 1);
	profile_destroy(a);
	profile_destroy(b);
}

UNIT_TESTS(cmocka_unit_test(copies), cmocka_unit_test(everything_of_both),
	   cmocka_unit_test(the_same_threads), cmocka_unit_test(accounts),
	   cmocka_unit_test(losses_add_up),
	   cmocka_unit_test(sampled_threads_are_seen_from_first_to_last),
	   cmocka_unit_test(intervals_are_of_one_thread), cmocka_unit_test(times_that_cannot_be),
	   cmocka_unit_test(threads_without_numbers), cmocka_unit_test(histograms),
	   cmocka_unit_test(events_by_name))
