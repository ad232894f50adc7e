/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/flame_boxes.h"
#include "tui/flame_walk.h"

#include <stdio.h>

#include "unit/profile_scene.h"

static struct flame *flame_of(const struct profile *profile, enum flame_group group)
{
	struct flame *flame = NULL;

	expect_ok(flame_create(profile, NULL, &(struct flame_view){ .group_by = group }, &flame));
	return flame;
}

/* The node of a name, the first from the root on. */
static uint32_t find(const struct flame *flame, const char *name)
{
	uint32_t node = 0;

	while (node != NODE_NONE &&
	       strcmp(flame_name(flame, &flame->nodes.items[node])->bytes, name) != 0)
		node = flame_next(flame, 0, node);
	assert_true(node != NODE_NONE);
	return node;
}

/* --- boxes --- */

/* Boxes of one caller leave no gap, begin where it does, and are as wide as their share of it: but
 * for one column, as the sum of those to the left is rounded. */
static void expect_row(const struct flame *flame, const struct flame_row *row,
		       const struct flame_box *caller)
{
	const struct flame_node *nodes = flame->nodes.items;
	const double whole = (double)nodes[caller->node].total;
	int x = caller->x;
	uint32_t drawn = 0, callees = 0;

	for (uint32_t i = nodes[caller->node].first_child; i != NODE_NONE; i = nodes[i].next)
		callees += nodes[i].total != 0;
	for (size_t i = 0; i < row->count; i++) {
		const struct flame_box *box = &row->items[i];
		double exact;

		if (box->caller != caller->node)
			continue;
		assert_int_equal(box->x, x);
		assert_true(box->width >= 1);
		x += box->width;
		if (box->node == NODE_NONE) {
			drawn += box->hidden;
			continue;
		}
		drawn++;
		exact = (double)nodes[box->node].total * caller->width / whole;
		/* But where sums ran over. */
		if (nodes[caller->node].total < UINT64_MAX)
			assert_true(box->width - exact < 1 && exact - box->width < 1);
	}
	assert_true(x <= caller->x + caller->width);
	assert_true(drawn <= callees);
	/* All of its time is that of its callees: they fill it, but for less than a column. */
	if (!nodes[caller->node].self && drawn == callees)
		assert_int_equal(x, caller->x + caller->width);
}

static void expect_rows(const struct flame *flame, uint32_t zoomed, int columns)
{
	struct flame_rows rows = { 0 };

	expect_ok(flame_rows_make(&rows, flame, zoomed, columns));
	for (size_t i = 0; i < rows.count; i++) {
		const struct flame_row *row = &rows.items[i];
		int x = 0;

		assert_true(row->count > 0);
		for (size_t k = 0; k < row->count; k++) {
			const struct flame_box *box = &row->items[k];

			assert_true(box->x >= x && box->x + box->width <= columns);
			x = box->x + box->width;
			if (box->node != NODE_NONE && flame_is_below(flame, zoomed, box->node) &&
			    i + 1 < rows.count)
				expect_row(flame, &rows.items[i + 1], box);
			if (box->node != NODE_NONE)
				assert_ptr_equal(flame_rows_find(&rows, flame, box->node), box);
			assert_ptr_equal(flame_rows_at(&rows, i, box->x + box->width - 1), box);
		}
	}
	flame_rows_deinit(&rows);
}

static struct profile *small_profile(void)
{
	struct profile *p = build_profile();
	const uint32_t a = build_profile_thread(p, 10, 11, "server", "worker", "/app");
	const uint32_t b = build_profile_thread(p, 20, 20, "client", "client", "/app");

	build_sample(p, a, CLASS_ON_CPU, "main;parse;next", 300, 3);
	build_sample(p, a, CLASS_ON_CPU, "main;parse", 100, 1);
	build_sample(p, a, CLASS_IO_WAIT, "main;read;vfs_read_[k];schedule_[k]", 500, 1);
	build_sample(p, a, CLASS_ON_CPU, "main;main;next", 50, 1);
	build_sample(p, b, CLASS_ON_CPU, "main;tiny", 1, 1);
	build_sample(p, b, CLASS_ON_CPU, "main;small", 49, 1);
	return p;
}

static void boxes_share_the_width_of_their_caller(void **state)
{
	struct profile *small = small_profile(), *full = full_profile(7);
	struct flame *flames[] = { flame_of(small, FLAME_BY_NONE),
				   flame_of(small, FLAME_BY_PROCESS),
				   flame_of(full, FLAME_BY_THREAD) };
	static const int widths[] = { 1, 2, 3, 7, 20, 80, 100, 511, 512 };

	(void)state;
	for (size_t f = 0; f < array_length(flames); f++) {
		for (size_t w = 0; w < array_length(widths); w++)
			for (uint32_t i = 0; i < flames[f]->nodes.count; i++)
				expect_rows(flames[f], i, widths[w]);
		flame_destroy(flames[f]);
	}
	profile_destroy(small);
	profile_destroy(full);
}

static void narrow_functions_are_one_box(void **state)
{
	struct profile *p = build_profile();
	const uint32_t thread = build_profile_thread(p, 1, 1, "p", "p", NULL);
	struct flame_rows rows = { 0 };
	struct flame *flame;
	char stack[32];

	(void)state;
	build_sample(p, thread, CLASS_ON_CPU, "main;large", 800, 1);
	for (int i = 0; i < 200; i++) {
		snprintf(stack, sizeof(stack), "main;f%03d", i);
		build_sample(p, thread, CLASS_ON_CPU, stack, 1, 1);
	}
	flame = flame_of(p, FLAME_BY_NONE);
	expect_ok(flame_rows_make(&rows, flame, 0, 100));
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.items[2].count, 2);
	assert_int_equal(rows.items[2].items[0].width, 80);
	assert_int_equal(rows.items[2].items[1].node, NODE_NONE);
	assert_int_equal(rows.items[2].items[1].hidden, 200);
	assert_int_equal(rows.items[2].items[1].width, 20);
	flame_rows_deinit(&rows);
	flame_destroy(flame);
	profile_destroy(p);
}

/* --- places --- */

static void a_place_is_found_again(void **state)
{
	struct profile *p = small_profile();
	struct flame *flame = flame_of(p, FLAME_BY_PROCESS), *other = flame_of(p, FLAME_BY_NONE);
	struct flame_path path = { 0 };

	(void)state;
	for (uint32_t i = 0; i < flame->nodes.count; i++) {
		assert_true(flame_path_set(&path, flame, i));
		assert_int_equal(flame_path_find(&path, flame), i);
	}
	/* Of one that is not there any more, the last of its callers that is. */
	assert_true(flame_path_set(&path, other, find(other, "vfs_read")));
	assert_int_equal(flame_path_find(&path, flame), 0);
	path.ends.count = 0;
	assert_int_equal(flame_path_find(&path, flame), 0);
	flame_path_deinit(&path);
	flame_destroy(flame);
	flame_destroy(other);
	profile_destroy(p);
}

static void a_walk_visits_each_node_once(void **state)
{
	struct profile *p = full_profile(3);
	struct flame *flame = flame_of(p, FLAME_BY_THREAD);
	size_t count = 0;

	(void)state;
	for (uint32_t i = 0; i != NODE_NONE; i = flame_next(flame, 0, i)) {
		assert_true(flame_is_below(flame, 0, i));
		count++;
	}
	assert_int_equal(count, flame->nodes.count);
	flame_destroy(flame);
	profile_destroy(p);
}

/* --- functions --- */

static const struct flame_function *function(const struct flame_functions *functions,
					     const char *name)
{
	for (size_t i = 0; i < functions->count; i++)
		if (strcmp(functions->items[i].name->bytes, name) == 0)
			return &functions->items[i];
	return NULL;
}

static void functions_add_up(void **state)
{
	struct profile *p = small_profile();
	struct flame *flame = flame_of(p, FLAME_BY_PROCESS);
	struct flame_functions functions = { 0 };
	uint64_t own = 0;

	(void)state;
	expect_ok(flame_functions_make(&functions, flame, 0, false));
	for (size_t i = 0; i < functions.count; i++) {
		own += functions.items[i].own;
		assert_true(functions.items[i].total >= functions.items[i].own);
		if (i)
			assert_true(functions.items[i - 1].own >= functions.items[i].own);
	}
	assert_int_equal(own, 1000);
	/* A call of itself counts once, */
	assert_int_equal(function(&functions, "main")->total, 1000);
	assert_int_equal(function(&functions, "main")->own, 0);
	assert_int_equal(function(&functions, "next")->own, 350);
	/* and the wait is that of the function of the program. */
	assert_int_equal(function(&functions, "read")->own, 500);
	assert_int_equal(function(&functions, "schedule")->own, 0);
	assert_int_equal(function(&functions, "schedule")->total, 500);
	assert_null(function(&functions, "all"));
	expect_ok(flame_functions_make(&functions, flame, find(flame, "parse"), true));
	assert_int_equal(functions.count, 2);
	assert_string_equal(functions.items[0].name->bytes, "parse");
	assert_int_equal(functions.items[0].total, 400);
	array_deinit(&functions);
	flame_destroy(flame);
	profile_destroy(p);
}

static void a_search_counts_no_time_twice(void **state)
{
	struct profile *p = small_profile();
	struct flame *flame = flame_of(p, FLAME_BY_NONE);
	bool *matches = flame_search(flame, TEXT("MAI"));

	(void)state;
	assert_int_equal(flame_matched(flame, 0, matches), 1000);
	free(matches);
	matches = flame_search(flame, TEXT("next"));
	assert_int_equal(flame_matched(flame, 0, matches), 350);
	assert_int_equal(flame_matched(flame, find(flame, "parse"), matches), 300);
	free(matches);
	flame_destroy(flame);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_share_the_width_of_their_caller),
		cmocka_unit_test(narrow_functions_are_one_box),
		cmocka_unit_test(a_place_is_found_again),
		cmocka_unit_test(a_walk_visits_each_node_once),
		cmocka_unit_test(functions_add_up),
		cmocka_unit_test(a_search_counts_no_time_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
