/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/tree_index.h"

#include "base/word_map.h"
#include "unit/unit.h"

struct tree {
	struct tree_nodes nodes;
	struct tree_index index;
	const uint32_t *labels;
};

static uint32_t add(struct tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t number;

	expect_ok(tree_add(&tree->index, &tree->nodes, tree->labels, parent, frame, &number));
	return number;
}

static void deinit(struct tree *tree)
{
	tree_index_deinit(&tree->index);
	tree_index_deinit(&tree->index);
	array_deinit(&tree->nodes);
}

TEST(a_child_is_added_once)
{
	struct tree tree = { 0 };

	assert_int_equal(add(&tree, NODE_NONE, 7), 0);
	assert_int_equal(add(&tree, NODE_NONE, 7), 0);
	assert_int_equal(add(&tree, NODE_NONE, 8), 1);
	assert_int_equal(add(&tree, NODE_NONE, 8), 1);
	assert_int_equal(add(&tree, 0, 8), 2);
	assert_int_equal(add(&tree, 1, 8), 3);
	assert_int_equal(add(&tree, 0, 7), 4);
	assert_int_equal(add(&tree, 0, 8), 2);
	assert_int_equal(add(&tree, 0, 7), 4);
	assert_int_equal(tree.nodes.count, 5);
	assert_int_equal(tree.nodes.items[4].parent, 0);
	assert_int_equal(tree.nodes.items[4].frame, 7);
	deinit(&tree);
}

/* It has the frame of the first. */
TEST(frames_of_one_label_are_equal)
{
	static const uint32_t labels[] = { 0, 1, 1, 2 };
	struct tree tree = { .labels = labels };

	assert_int_equal(add(&tree, NODE_NONE, 3), 0);
	assert_int_equal(add(&tree, 0, 2), 1);
	assert_int_equal(add(&tree, 0, 1), 1);
	assert_int_equal(add(&tree, 0, 3), 2);
	assert_int_equal(add(&tree, 0, 0), 3);
	assert_int_equal(tree.nodes.items[1].frame, 2);
	deinit(&tree);
}

/* --- against a map --- */

static void expect_as_by_map(uint64_t seed, uint32_t count, uint32_t frames, uint32_t near)
{
	struct tree tree = { 0 };
	struct word_map map = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t nodes = (uint32_t)tree.nodes.count;
		const uint32_t back = 1 + (uint32_t)(next_random(&seed) % near);
		const uint32_t parent = back > nodes ? NODE_NONE : nodes - back;
		const uint32_t frame = (uint32_t)(next_random(&seed) % frames);
		uint32_t *known = word_map_at(&map, (struct words){ { parent, frame } });

		assert_non_null(known);
		if (*known == WORD_MAP_NEW)
			*known = nodes;
		assert_int_equal(add(&tree, parent, frame), *known);
		/* It is made again of the nodes. */
		if (!(next_random(&seed) % 64))
			tree_index_deinit(&tree.index);
	}
	word_map_deinit(&map);
	deinit(&tree);
}

TEST(it_finds_what_a_map_finds)
{
	for (uint64_t seed = 1; seed <= 300; seed++)
		expect_as_by_map(seed, 1 + (uint32_t)(seed * 7 % 500), 1 + seed % 5, 1 + seed % 17);
	expect_as_by_map(1, 2000, 3, 100000);
	expect_as_by_map(2, 2000, 1, 2);
	expect_as_by_map(3, 2000, 1000, 3);
}

UNIT_TESTS(cmocka_unit_test(a_child_is_added_once), cmocka_unit_test(frames_of_one_label_are_equal),
	   cmocka_unit_test(it_finds_what_a_map_finds))
