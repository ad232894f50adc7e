/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame.h"

#include <stdio.h>

#include "unit/profile_scene.h"

static struct flame *flame_of(const struct profile *profile, const struct profile *baseline,
			      struct flame_view view)
{
	struct flame *flame = NULL;

	expect_ok(flame_create(profile, baseline, &view, &flame));
	return flame;
}

static void expect_flame(const struct profile *profile, struct flame_view view,
			 const char *expected)
{
	struct flame *flame = flame_of(profile, NULL, view);

	assert_string_equal(flame_text(flame), expected);
	flame_destroy(flame);
}

/* The node at the end of a path of names, from the root. */
static const struct flame_node *find(const struct flame *flame, const char *path)
{
	struct text rest = text_of(path), piece;
	const struct flame_node *node = flame->nodes.items;

	while (text_cut(&rest, ';', &piece)) {
		uint32_t child = node->first_child;

		while (child != NODE_NONE &&
		       !text_equal(
			       (struct text){
				       flame_name(flame, &flame->nodes.items[child])->bytes,
				       flame_name(flame, &flame->nodes.items[child])->length },
			       piece))
			child = flame->nodes.items[child].next;
		assert_true(child != NODE_NONE);
		node = &flame->nodes.items[child];
	}
	return node;
}

static const struct flame_face *face(const struct flame *flame, const char *path)
{
	return flame_face(flame, find(flame, path));
}

/* What the header promises of every tree. */
static void expect_sound(const struct flame *flame)
{
	const struct flame_node *nodes = flame->nodes.items;
	uint32_t deepest = 0;
	size_t reached = 0;

	assert_int_equal(nodes[0].parent, NODE_NONE);
	for (uint32_t i = 0; i < flame->nodes.count; i++) {
		uint64_t total = nodes[i].self, baseline = flame_baseline(flame, &nodes[i]).self;
		uint64_t classes = 0;

		if (i)
			assert_true(nodes[i].parent < i);
		if (deepest < nodes[i].depth)
			deepest = nodes[i].depth;
		for (uint32_t child = nodes[i].first_child; child != NODE_NONE;
		     child = nodes[child].next) {
			reached++;
			assert_int_equal(nodes[child].parent, i);
			assert_int_equal(nodes[child].depth, nodes[i].depth + 1);
			if (nodes[child].next != NODE_NONE)
				assert_true(
					name_compare(flame_name(flame, &nodes[child]),
						     flame_name(flame, &nodes[nodes[child].next])) <
					0);
			total += nodes[child].total;
			baseline += flame_baseline(flame, &nodes[child]).total;
		}
		assert_int_equal(nodes[i].total, total);
		assert_int_equal(flame_baseline(flame, &nodes[i]).total, baseline);
		for (size_t class = 0; class < CLASS_COUNT; class ++)
			if ((class == CLASS_EVENT) == flame->is_events)
				classes += flame_of_class(flame, &nodes[i], class).total;
		assert_int_equal(nodes[i].total, classes);
	}
	assert_int_equal(reached, flame->nodes.count - 1);
	assert_int_equal(flame->depth, deepest);
}

TEST(nothing_is_a_root)
{
	struct profile *p = build_profile();
	struct flame *flame = flame_of(p, NULL, (struct flame_view){ 0 });

	assert_int_equal(flame->nodes.count, 1);
	assert_string_equal(flame_name(flame, &flame->nodes.items[0])->bytes, "all");
	assert_string_equal(flame_text(flame), "");
	expect_sound(flame);
	flame_destroy(flame);
	flame_destroy(NULL);
	profile_destroy(p);
}

static struct profile *small(void)
{
	struct profile *p = build_profile();
	uint32_t a = build_profile_thread(p, 10, 10, "db", "db", "/db");
	uint32_t b = build_profile_thread(p, 10, 11, "db", "flush", "/db");
	uint32_t c = build_profile_thread(p, 20, 20, "web", "web", NULL);

	build_sample(p, a, CLASS_ON_CPU, "main;work", 100, 1);
	build_sample(p, a, CLASS_IO_WAIT, "main;work;read;vfs_read_[k]", 40, 2);
	build_sample(p, b, CLASS_IO_WAIT, "main;work;read;vfs_read_[k]", 5, 1);
	build_sample(p, b, CLASS_RUNNABLE, "main;work", 7, 3);
	build_sample(p, c, CLASS_INTERRUPTIBLE, "main;poll", 1000, 4);
	build_sample(p, c, CLASS_EVENT, "main;malloc", 0, 9);
	return p;
}

TEST(stacks_become_one_tree)
{
	struct profile *p = small();
	struct flame *flame = flame_of(p, NULL, (struct flame_view){ 0 });
	const struct flame_node *work = find(flame, "main;work");

	assert_string_equal(flame_text(flame),
			    "main;poll 1000 main;work 107 main;work;read;vfs_read 45");
	assert_int_equal(flame->nodes.items[0].total, 1152);
	assert_int_equal(work->total, 152);
	assert_int_equal(work->self, 107);
	assert_int_equal(work->count, 7);
	assert_int_equal(flame_of_class(flame, work, CLASS_ON_CPU).total, 100);
	assert_int_equal(flame_of_class(flame, work, CLASS_IO_WAIT).total, 45);
	assert_int_equal(flame_of_class(flame, work, CLASS_IO_WAIT).self, 0);
	assert_int_equal(flame_of_class(flame, work, CLASS_RUNNABLE).self, 7);
	assert_int_equal(flame_face(flame, work)->kind, FRAME_USER);
	assert_int_equal(face(flame, "main;work;read;vfs_read")->kind, FRAME_KERNEL);
	assert_false(flame->is_events);
	expect_sound(flame);
	flame_destroy(flame);
	profile_destroy(p);
}

TEST(classes_choose)
{
	struct profile *p = small();

	expect_flame(p, (struct flame_view){ .classes = FLAME_ON_CPU }, "main;work 100");
	expect_flame(p, (struct flame_view){ .classes = FLAME_OFF_CPU },
		     "main;poll 1000 main;work 7 main;work;read;vfs_read 45");
	expect_flame(p, (struct flame_view){ .classes = FLAME_EVENTS }, "main;malloc 9");
	profile_destroy(p);
}

/* Without a wish, hits are shown where there is no time. */
TEST(only_events)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 1, "a", "a", NULL);
	struct flame *flame;

	build_sample(p, thread, CLASS_EVENT, "main;malloc", 0, 3);
	flame = flame_of(p, NULL, (struct flame_view){ 0 });
	assert_true(flame->is_events);
	assert_string_equal(flame_text(flame), "main;malloc 3");
	assert_int_equal(flame_of_class(flame, find(flame, "main"), CLASS_EVENT).total, 3);
	expect_sound(flame);
	flame_destroy(flame);
	profile_destroy(p);
}

TEST(groups)
{
	struct profile *p = small();

	p->samples.items[0].cpu = 3;
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_PROCESS },
		     "db (10);main;work 107 db (10);main;work;read;vfs_read 45"
		     " web (20);main;poll 1000");
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_THREAD },
		     "db (10);db (10);main;work 100 db (10);db (10);main;work;read;vfs_read 40"
		     " db (10);flush (11);main;work 7"
		     " db (10);flush (11);main;work;read;vfs_read 5"
		     " web (20);web (20);main;poll 1000");
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_PROGRAM },
		     "db;main;work 107 db;main;work;read;vfs_read 45 web;main;poll 1000");
	p->threads.items[2].is_kernel = true;
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_PROGRAM },
		     "[kernel threads];main;poll 1000 db;main;work 107"
		     " db;main;work;read;vfs_read 45");
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_CGROUP },
		     "/db;main;work 107 /db;main;work;read;vfs_read 45"
		     " [unknown];main;poll 1000");
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_STATE },
		     "interruptible;main;poll 1000 io-wait;main;work;read;vfs_read 45"
		     " on-cpu;main;work 100 runnable;main;work 7");
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_CPU, .classes = FLAME_ON_CPU },
		     "cpu 3;main;work 100");
	profile_destroy(p);
}

/* The same stack in one group, then in another, then in the first again. */
TEST(groups_do_not_mix)
{
	struct profile *p = build_profile();
	struct flame *flame;

	for (uint32_t i = 0; i < 6; i++) {
		uint32_t thread = build_profile_thread(p, 1 + i % 2, 10 + i, "p", "t", NULL);

		build_sample(p, thread, CLASS_ON_CPU, i < 3 ? "a;b" : "a;b;c", 1, 1);
	}
	flame = flame_of(p, NULL, (struct flame_view){ .group_by = FLAME_BY_PROCESS });
	assert_string_equal(flame_text(flame),
			    "p (1);a;b 2 p (1);a;b;c 1 p (2);a;b 1 p (2);a;b;c 2");
	expect_sound(flame);
	flame_destroy(flame);
	profile_destroy(p);
}

TEST(no_stack)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 2, "a", "b", NULL);

	build_sample(p, thread, CLASS_ON_CPU, "", 5, 1);
	expect_flame(p, (struct flame_view){ 0 }, "[no stack] 5");
	expect_flame(p, (struct flame_view){ .group_by = FLAME_BY_THREAD }, "a (1);b (2) 5");
	profile_destroy(p);
}

TEST(inlined_frames)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 1, "a", "a", NULL);
	struct flame *flame;

	build_sample(p, thread, CLASS_ON_CPU, "main;tiny_[i];leaf", 5, 1);
	build_sample(p, thread, CLASS_ON_CPU, "main;tiny_[i]", 3, 1);
	flame = flame_of(p, NULL, (struct flame_view){ 0 });
	assert_true(face(flame, "main;tiny")->inlined);
	assert_false(face(flame, "main;tiny;leaf")->inlined);
	flame_destroy(flame);
	expect_flame(p, (struct flame_view){ .no_inlined = true }, "main 3 main;leaf 5");
	profile_destroy(p);
}

static void add_frame_sample(struct profile *p, struct frame frame, uint64_t ns)
{
	struct sample sample = { .class = CLASS_ON_CPU, .cpu = CPU_ANY, .ns = ns, .count = 1 };
	uint32_t number;

	expect_ok(profile_frame(p, &frame, &number));
	expect_ok(profile_node(p, NODE_NONE, number, &sample.node));
	expect_ok(profile_add(p, &sample));
}

#define NAME(text) profile_name(p, text, strlen(text))

TEST(names_of_frames)
{
	struct profile *p = build_profile();
	struct frame read = { .name = NAME("read"), .module = NAME("/lib/libc.so.6") };

	build_profile_thread(p, 1, 1, "a", "a", NULL);
	read.offset = 0x1a;
	add_frame_sample(p, read, 1);
	read.offset = 0x2b;
	add_frame_sample(p, read, 2);
	add_frame_sample(p, (struct frame){ .name = NAME("--"), .kind = FRAME_NOTE }, 3);
	add_frame_sample(p, (struct frame){ .name = NAME("tiny"), .inlined = true }, 4);
	add_frame_sample(p, (struct frame){ .module = NAME("/lib/libc.so.6"), .address = 0xbeef },
			 5);
	add_frame_sample(
		p,
		(struct frame){ .module = NAME("[ext4]"), .address = 0x10, .kind = FRAME_KERNEL },
		6);
	add_frame_sample(p, (struct frame){ .address = 0x1234 }, 7);
	add_frame_sample(p, (struct frame){ .address = 0x5678, .module = NAME("") }, 8);
	/* As they are when no symbol was found, and when it was as odd as this. */
	add_frame_sample(p, (struct frame){ .name = NAME("[unknown]") }, 9);
	add_frame_sample(p, (struct frame){ .name = NAME("[a+0x7]"), .address = 7, .offset = 1 },
			 10);
	add_frame_sample(p, (struct frame){ .name = NAME("[]::f"), .offset = 3 }, 11);
	expect_flame(p, (struct flame_view){ 0 },
		     "-- 3 []::f 11 [a+0x7] 10 [ext4+0x10] 6 [libc.so.6+0xbeef] 5 [unknown] 24 "
		     "read 3 tiny 4");
	expect_flame(p, (struct flame_view){ .offsets = true },
		     "-- 3 []::f+0x3 11 [a+0x7] 10 [ext4+0x10] 6 [libc.so.6+0xbeef] 5 [unknown] 24 "
		     "read+0x1a 1"
		     " read+0x2b 2 tiny 4");
	profile_destroy(p);
}

TEST(two_sides)
{
	struct profile *before = small(), *after = small();
	struct flame *flame;

	build_sample(after, 0, CLASS_ON_CPU, "main;more", 11, 1);
	build_sample(before, 0, CLASS_ON_CPU, "main;less", 13, 1);
	flame = flame_of(after, before, (struct flame_view){ .classes = FLAME_ON_CPU });
	assert_true(flame->is_diff);
	assert_string_equal(flame_text(flame), "main;less 13/0 main;more 0/11 main;work 100/100");
	assert_int_equal(flame_baseline(flame, find(flame, "main")).total, 113);
	assert_int_equal(find(flame, "main")->total, 111);
	/* Classes and counts are the candidate's. */
	assert_int_equal(flame_of_class(flame, find(flame, "main"), CLASS_ON_CPU).total, 111);
	assert_int_equal(find(flame, "main")->count, 2);
	expect_sound(flame);
	flame_destroy(flame);
	profile_destroy(before);
	profile_destroy(after);
}

TEST(sums_stop_at_their_largest)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 1, "a", "a", NULL);
	struct flame *flame;

	build_sample(p, thread, CLASS_ON_CPU, "main;a", UINT64_MAX, 1);
	build_sample(p, thread, CLASS_ON_CPU, "main;b", 5, 1);
	flame = flame_of(p, NULL, (struct flame_view){ 0 });
	assert_true(find(flame, "main")->total == UINT64_MAX);
	flame_destroy(flame);
	profile_destroy(p);
}

/* As deep as stacks are with both sides, and far deeper: no recursion. */
TEST(deep_stacks)
{
	enum { DEEP = 200000 };
	struct profile *p = build_profile();
	struct sample sample = { .class = CLASS_ON_CPU, .cpu = CPU_ANY, .ns = 1, .count = 1 };
	struct frame frame = { .name = NAME("again") };
	uint32_t number, node = NODE_NONE;
	struct flame *flame;

	build_profile_thread(p, 1, 1, "a", "a", NULL);
	expect_ok(profile_frame(p, &frame, &number));
	for (int i = 0; i < DEEP; i++) {
		expect_ok(profile_node(p, node, number, &node));
		if (i % 1000)
			continue;
		sample.node = node;
		expect_ok(profile_add(p, &sample));
	}
	flame = flame_of(p, NULL, (struct flame_view){ 0 });
	assert_int_equal(flame->depth, DEEP - 999);
	assert_int_equal(flame->nodes.items[1].total, DEEP / 1000);
	expect_sound(flame);
	flame_destroy(flame);
	profile_destroy(p);
}

static bool stop_at_second(void *context, const struct flame_line *line)
{
	(void)line;
	return ++*(unsigned *)context < 2;
}

TEST(a_visit_may_end)
{
	struct profile *p = small();
	struct flame *flame = flame_of(p, NULL, (struct flame_view){ 0 });
	unsigned visits = 0;

	expect_ok(flame_each_line(flame, stop_at_second, &visits));
	assert_int_equal(visits, 2);
	flame_destroy(flame);
	profile_destroy(p);
}

/* Random stacks, against a plain sum of the same lines. */
TEST(nothing_gets_lost)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct profile *p = build_profile();
		uint64_t stream = seed, total = 0;
		struct flame *flame;

		for (uint32_t i = 0; i < 4; i++)
			build_profile_thread(p, 1 + i / 2, i, "p", "t", i % 2 ? "/a" : "/b");
		for (int i = 0; i < 300; i++) {
			char stack[64] = "";
			uint64_t random = next_random(&stream), ns = random % 1000;

			for (uint64_t d = 0; d < random % 7; d++)
				sprintf(stack + strlen(stack), "%s%c", d ? ";" : "",
					(char)('a' + (random >> (8 + 3 * d)) % 3));
			build_sample(p, random >> 40 & 3, (random >> 48) % CLASS_EVENT, stack, ns,
				     1);
			total += ns;
		}
		for (enum flame_group group = 0; group < FLAME_GROUP_COUNT; group++) {
			flame = flame_of(p, NULL, (struct flame_view){ .group_by = group });
			assert_int_equal(flame->nodes.items[0].total, total);
			assert_int_equal(flame->nodes.items[0].count, 300);
			expect_sound(flame);
			flame_destroy(flame);
		}
		profile_destroy(p);
	}
}

UNIT_TESTS(cmocka_unit_test(nothing_is_a_root), cmocka_unit_test(stacks_become_one_tree),
	   cmocka_unit_test(classes_choose), cmocka_unit_test(only_events),
	   cmocka_unit_test(groups), cmocka_unit_test(groups_do_not_mix),
	   cmocka_unit_test(no_stack), cmocka_unit_test(inlined_frames),
	   cmocka_unit_test(names_of_frames), cmocka_unit_test(two_sides),
	   cmocka_unit_test(sums_stop_at_their_largest), cmocka_unit_test(deep_stacks),
	   cmocka_unit_test(a_visit_may_end), cmocka_unit_test(nothing_gets_lost))
