/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/view.h"

#include <stdio.h>

#include "base/name_map.h"
#include "unit/state_scene.h"

/* --- groups --- */

static const struct state_line *line_of(const struct state_list *list, const char *label)
{
	for (size_t i = 0; i < list->lines.count; i++)
		if (text_equal(name_text(list->lines.items[i].label), text_of(label)))
			return &list->lines.items[i];
	fail_msg("there is no line '%s'", label);
	return NULL;
}

TEST(kinds_of_groups)
{
	struct state_view view = { .grouping = STATE_BY_PROCESS };
	const struct state_line *line;
	struct state_scene s;

	scene_of_letters(&s);
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.count, 3);
	line = line_of(&s.list, "java");
	assert_int_equal(line->threads, 1);
	assert_int_equal(line->ended, 1);
	assert_int_equal(line->thread->tid, 21);
	assert_int_equal(line->window_ns, 2000000);
	assert_int_equal(line->times.ns[STATE_SLEEP], 1000000);
	assert_int_equal(line_of(&s.list, "nginx")->thread->tid, 10);
	view.grouping = STATE_BY_CGROUP;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.count, 4);
	assert_int_equal(line_of(&s.list, "/web.slice/NGINX.service")->threads, 2);
	assert_int_equal(line_of(&s.list, "-")->thread->tid, 30);
	assert_int_equal(line_of(&s.list, "/")->threads, 0);
	assert_int_equal(line_of(&s.list, "/")->ended, 1);
	assert_int_equal(s.list.total.threads, 4);
	assert_int_equal(s.list.total.ended, 1);
	assert_null(s.list.total.thread);
	assert_null(s.list.total.label);
	/* By thread, one that has ended is a line too. */
	scene_list(&s, &scene_by_tid, "pid:22");
	assert_int_equal(s.list.lines.items[0].threads, 0);
	assert_int_equal(s.list.lines.items[0].ended, 1);
	state_scene_deinit(&s);
}

/* Each host has groups of its own, which keep their ids. */
TEST(groups_of_hosts)
{
	static const enum state_grouping groupings[] = { STATE_BY_PROCESS, STATE_BY_CGROUP,
							 STATE_BY_POOL };
	struct state_view view = { .no_kernel = false };
	struct state_scene s;

	state_scene_init(&s);
	scene_new(&s, 5, 5, "p", "p");
	scene_new(&s, 5, 5, "p", "p")->host = 1;
	scene_new(&s, 5, 6, "p", "p")->host = 1;
	s.now.threads.items[1].id = 1;
	scene_window(&s);
	for (size_t i = 0; i < array_length(groupings); i++) {
		const struct state_line *lines;
		uint64_t first;

		view.grouping = groupings[i];
		view.sort.key = STATE_SORT_HOST;
		scene_list(&s, &view, NULL);
		lines = s.list.lines.items;
		assert_int_equal(s.list.lines.count, 2);
		assert_int_equal(lines[0].thread->host, 0);
		assert_int_equal(lines[0].threads, 1);
		assert_int_equal(lines[1].thread->host, 1);
		assert_int_equal(lines[1].threads, 2);
		first = lines[0].id;
		assert_true(first != lines[1].id);
		view.sort.reverse = true;
		scene_list(&s, &view, NULL);
		assert_true(s.list.lines.items[1].id == first);
		view.sort.reverse = false;
	}
	/* Processes of one thread are folded by host. */
	view = (struct state_view){ .grouping = STATE_BY_PROCESS, .is_tree = true };
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.count, 4);
	state_scene_deinit(&s);
}

/* Who stands for a process: its leader, unless that has ended; else the lowest that lives. */
TEST(the_representative_of_a_group)
{
	struct state_view view = { .grouping = STATE_BY_PROCESS };
	struct state_scene s;
	struct state_thread *threads;

	state_scene_init(&s);
	scene_new(&s, 5, 7, "c", "renamed");
	scene_new(&s, 5, 3, "a", "p");
	scene_new(&s, 5, 5, "b", "leader's");
	scene_new(&s, 5, 2, "d", "ended")->has_ended = true;
	scene_window(&s);
	threads = s.now.threads.items;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.items[0].thread->tid, 5);
	assert_string_equal(s.list.lines.items[0].label->bytes, "leader's");
	threads[2].has_ended = true;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.items[0].thread->tid, 3);
	threads[0].has_ended = threads[1].has_ended = true;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.items[0].thread->tid, 5);
	assert_int_equal(s.list.lines.items[0].threads, 0);
	assert_int_equal(s.list.lines.items[0].ended, 4);
	state_scene_deinit(&s);
}

/* --- what holds of any window --- */

static void add_line(struct state_line *sum, const struct state_line *line)
{
	sum->threads += line->threads;
	sum->ended += line->ended;
	sum->window_ns += line->window_ns;
	sum->switches += line->switches;
	state_times_add(&sum->times, &line->times);
}

static void expect_same(const struct state_line *a, const struct state_line *b)
{
	assert_int_equal(a->threads, b->threads);
	assert_int_equal(a->ended, b->ended);
	assert_int_equal(a->window_ns, b->window_ns);
	assert_int_equal(a->switches, b->switches);
	assert_memory_equal(&a->times, &b->times, sizeof(a->times));
}

/* With none below it: in a tree, a thread, or a process of one. */
static bool is_leaf(const struct state_list *list, size_t i)
{
	return i + 1 == list->lines.count ||
	       list->lines.items[i + 1].depth <= list->lines.items[i].depth;
}

/* Lines of one depth add up to the total, and no two have the same id. */
static void check_sums(const struct state_list *list, uint32_t depth)
{
	struct state_line sum = { 0 };
	struct word_map ids = { 0 };

	for (size_t i = 0; i < list->lines.count; i++) {
		const struct state_line *line = &list->lines.items[i];
		uint32_t *place;

		assert_true(line->thread && line->label);
		if (line->depth == depth || (line->depth < depth && is_leaf(list, i)))
			add_line(&sum, line);
		place = word_map_at(&ids, (struct words){ { line->id } });
		assert_non_null(place);
		assert_int_equal(*place, WORD_MAP_NEW);
		*place = 0;
	}
	expect_same(&sum, &list->total);
	word_map_deinit(&ids);
}

TEST(names_of_pools)
{
	static const struct {
		const char *name, *process, *pool;
		bool is_kernel;
	} rows[] = {
		{ "nginx", "nginx", "nginx", false },
		/* Of two processes. */
		{ "worker-1", "nginx", "nginx:worker-{N}", false },
		{ "worker-22", "nginx", "nginx:worker-{N}", false },
		{ "worker-1", "java", "java:worker-{N}", false },
		/* A number in the name of a program is no number of a thread. */
		{ "python3", "python3", "python3", false },
		{ "python3", "python4", "python4:python{N}", false },
		{ "kworker/0:1", "kworker/0:1", "kworker/{N}:{N}", true },
		{ "kworker/7:13", "kworker/7:13", "kworker/{N}:{N}", true },
		{ "kthreadd", "kthreadd", "kthreadd", true },
		{ "kthreadd", "kthreadd", "kthreadd", false },
		{ "", "", "", false },
	};
	struct state_view view = { .grouping = STATE_BY_POOL, .is_tree = true };
	const struct state_line *pool = NULL;
	unsigned pools = 0, threads = 0;
	struct state_scene s;

	state_scene_init(&s);
	for (uint32_t i = 0; i < array_length(rows); i++)
		scene_new(&s, i, i, rows[i].name, rows[i].process)->is_kernel = rows[i].is_kernel;
	scene_window(&s);
	scene_list(&s, &view, NULL);
	for (size_t i = 0; i < s.list.lines.count; i++) {
		const struct state_line *line = &s.list.lines.items[i];

		if (line->depth) {
			assert_string_equal(pool->label->bytes, rows[line->thread->tid].pool);
			assert_int_equal(pool->thread->is_kernel, line->thread->is_kernel);
			threads++;
		} else {
			pool = line;
			pools++;
		}
	}
	assert_int_equal(threads, array_length(rows));
	assert_int_equal(pools, array_length(rows) - 2);
	check_sums(&s.list, 0);
	state_scene_deinit(&s);
}

/* Each group is the sum of the threads below it. */
static void check_tree(const struct state_list *list)
{
	for (size_t i = 0; i < list->lines.count;) {
		struct state_line sum = { 0 };
		const struct state_line *group = &list->lines.items[i++];

		assert_int_equal(group->depth, 0);
		/* A process of one thread. */
		if (is_leaf(list, i - 1)) {
			assert_int_equal(group->threads + group->ended, 1);
			assert_int_equal(group->thread->tid, group->thread->tgid);
			continue;
		}
		for (; i < list->lines.count && list->lines.items[i].depth; i++) {
			assert_int_equal(list->lines.items[i].depth, 1);
			add_line(&sum, &list->lines.items[i]);
		}
		expect_same(&sum, group);
	}
}

/* The lines of a tree that are of one depth, and next to each other for threads, are in the order
 * of switches. */
static void check_order(const struct state_list *list, bool is_tree)
{
	const struct state_line *last[2] = { NULL, NULL };

	for (size_t i = 0; i < list->lines.count; i++) {
		const struct state_line *line = &list->lines.items[i];
		const struct state_line *above = last[line->depth];

		if (above)
			assert_true(above->switches > line->switches ||
				    (above->switches == line->switches && above->id < line->id));
		last[line->depth] = line;
		if (is_tree && !line->depth)
			last[1] = NULL;
	}
}

/* The id of a label in `ids`, which hold those of earlier windows as numbers of `seen`. */
struct seen {
	struct name_map labels;
	struct {
		ARRAY(uint64_t);
	} ids;
	unsigned again;
};

static void check_ids(struct seen *seen, const struct state_list *list,
		      enum state_grouping grouping)
{
	for (size_t i = 0; i < list->lines.count; i++) {
		const struct state_line *line = &list->lines.items[i];
		char key[96];
		uint32_t number;

		/* Processes share their names. */
		snprintf(key, sizeof(key), "%d %u %d %s", grouping,
			 grouping == STATE_BY_PROCESS ? line->thread->tgid : 0,
			 grouping == STATE_BY_POOL && line->thread->is_kernel, line->label->bytes);
		number = name_map_find(&seen->labels, text_of(key));
		if (number != WORD_MAP_NEW) {
			assert_int_equal(seen->ids.items[number], line->id);
			seen->again++;
			continue;
		}
		assert_true(name_map_put(&seen->labels, text_of(key), (uint32_t)seen->ids.count));
		assert_true(array_push(&seen->ids, line->id));
	}
}

static void check_window(struct state_scene *s, struct seen *seen, const char *filter)
{
	for (enum state_grouping grouping = 0; grouping < STATE_GROUPINGS; grouping++)
		for (unsigned tree = 0; tree < 2; tree++) {
			struct state_view view = { .grouping = grouping,
						   .sort.key = STATE_SORT_SWITCHES,
						   .is_tree = tree };

			scene_list(s, &view, filter);
			check_sums(&s->list, 0);
			check_order(&s->list, tree);
			if (tree) {
				check_sums(&s->list, 1);
				check_tree(&s->list);
			} else if (grouping != STATE_BY_THREAD) {
				check_ids(seen, &s->list, grouping);
			}
		}
}

TEST(groups_add_up_and_keep_their_ids)
{
	static const char *const filters[] = { NULL, "worker", "state:lock",
					       "java|nginx user:0|1" };
	struct state_world *world = calloc(1, sizeof(*world));
	struct seen seen = { .again = 0 };
	struct state_scene s;

	assert_non_null(world);
	*world = (struct state_world){ .seed = 3, .now_ns = 1000 };
	name_map_init(&seen.labels);
	state_scene_init(&s);
	world_read(&s, world);
	for (unsigned round = 0; round < 20; round++) {
		world_pass(&s, world, 1 + next_random(&world->seed) % 1000000);
		world_read(&s, world);
		scene_window(&s);
		for (size_t i = 0; i < array_length(filters); i++)
			check_window(&s, &seen, filters[i]);
	}
	assert_true(seen.again > 500);
	state_scene_deinit(&s);
	name_map_deinit(&seen.labels);
	array_deinit(&seen.ids);
	free(world);
}

TEST(an_empty_window)
{
	struct state_scene s;

	state_scene_init(&s);
	scene_window(&s);
	for (enum state_grouping grouping = 0; grouping < STATE_GROUPINGS; grouping++) {
		struct state_view view = { .grouping = grouping, .is_tree = true };

		assert_non_null(state_grouping_names[grouping]);
		scene_list(&s, &view, NULL);
		assert_int_equal(s.list.lines.count, 0);
		assert_int_equal(s.list.total.threads, 0);
	}
	state_scene_deinit(&s);
}

/* They are in all sums. */
TEST(ended_threads_may_have_no_row)
{
	struct state_scene scene;
	struct state_view view = { .no_ended = true };

	state_scene_init(&scene);
	scene_new(&scene, 7, 7, "main", "main");
	scene_new(&scene, 7, 8, "lives", "main");
	scene_new(&scene, 7, 9, "ends", "main")->has_ended = true;
	scene_new(&scene, 10, 10, "gone", "gone")->has_ended = true;
	scene_window(&scene);
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 2);
	assert_int_equal(scene.list.total.threads, 2);
	assert_int_equal(scene.list.total.ended, 2);
	view.grouping = STATE_BY_PROCESS;
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 1);
	assert_int_equal(scene.list.lines.items[0].ended, 1);
	view.is_tree = true;
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 3);
	assert_int_equal(scene.list.lines.items[1].depth, 1);
	view.no_ended = false;
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 5);
	state_scene_deinit(&scene);
}

/* A process of one thread has one line; but for what that would not say. */
TEST(a_tree_folds_processes_of_one_thread)
{
	struct state_view view = { .is_tree = true };
	struct state_scene s;

	state_scene_init(&s);
	scene_new(&s, 1, 1, "a", "a");
	scene_new(&s, 2, 2, "b", "b");
	scene_new(&s, 2, 3, "c", "b")->state = STATE_LOCK;
	/* Its leader has gone; its name is another. */
	scene_new(&s, 4, 5, "d", "d");
	scene_new(&s, 6, 6, "e", "f");
	/* The number of one that ended is another's, in one window. */
	scene_new(&s, 7, 7, "g", "g")->has_ended = true;
	scene_new(&s, 7, 7, "g", "g")->id = 1;
	scene_window(&s);
	view.sort.key = STATE_SORT_TID;
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "abbcddfeggg");
	view.grouping = STATE_BY_PROCESS;
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "abbcddfeggg");
	view.no_folding = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "aabbcddfeggg");
	assert_int_equal(s.list.lines.items[0].depth, 0);
	assert_int_equal(s.list.lines.items[1].depth, 1);
	view.no_folding = false;
	/* What a filter leaves is not all of it. */
	scene_list(&s, &view, "state:lock");
	assert_string_equal(scene_letters(&s.list), "bc");
	scene_list(&s, &view, "a|c");
	assert_string_equal(scene_letters(&s.list), "abc");
	/* Other groups have names of their own. */
	view.grouping = STATE_BY_CGROUP;
	scene_list(&s, &view, "a");
	assert_string_equal(scene_letters(&s.list), "-a");
	/* No tree: as it was. */
	view = (struct state_view){ .sort.key = STATE_SORT_TID };
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "abcdegg");
	state_scene_deinit(&s);
}

UNIT_TESTS(cmocka_unit_test(kinds_of_groups), cmocka_unit_test(groups_of_hosts),
	   cmocka_unit_test(the_representative_of_a_group), cmocka_unit_test(names_of_pools),
	   cmocka_unit_test(groups_add_up_and_keep_their_ids), cmocka_unit_test(an_empty_window),
	   cmocka_unit_test(ended_threads_may_have_no_row),
	   cmocka_unit_test(a_tree_folds_processes_of_one_thread))
