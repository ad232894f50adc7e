/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame_tree.h"

#include <stdlib.h>

#include "base/sum.h"

/* --- nodes --- */

/* Nodes with several children, whose order is to be found. */
struct forks {
	ARRAY(uint32_t);
};

/* The children of a node are in reverse order: the last one comes first. */
static struct error *make_nodes(struct flame_builder *b, struct forks *forks)
{
	struct flame *flame = b->flame;

	if (!array_reserve(&flame->nodes, b->drafts.count))
		return &error_no_memory;
	for (uint32_t i = 0; i < b->drafts.count; i++) {
		const struct node *draft = &b->drafts.items[i];
		struct flame_node node = { .parent = draft->parent,
					   .first_child = NODE_NONE,
					   .next = NODE_NONE,
					   .face = draft->frame };

		if (i) {
			struct flame_node *parent = &flame->nodes.items[node.parent];

			node.depth = parent->depth + 1;
			node.next = parent->first_child;
			if (node.next != NODE_NONE &&
			    flame->nodes.items[node.next].next == NODE_NONE &&
			    !array_push(forks, node.parent))
				return &error_no_memory;
			parent->first_child = i;
		}
		if (flame->depth < node.depth)
			flame->depth = node.depth;
		flame->nodes.items[flame->nodes.count++] = node;
	}
	array_deinit(&b->drafts);
	return NULL;
}

/* --- order --- */

struct sibling {
	uint32_t rank; /* of its name among all names */
	uint32_t node;
};

struct siblings {
	ARRAY(struct sibling);
};

static int compare_labels(const void *a, const void *b, void *context)
{
	const struct name *const *names = context;

	return name_compare(names[*(const uint32_t *)a], names[*(const uint32_t *)b]);
}

/* The rank of each label, which is the caller's; NULL without memory. */
static uint32_t *rank_labels(const struct flame_builder *b)
{
	const size_t count = b->label_names.count;
	_cleanup_free_ uint32_t *order = malloc((count + 1) * sizeof(*order));
	uint32_t *ranks = malloc((count + 1) * sizeof(*ranks));

	if (!order || !ranks) {
		free(ranks);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_labels, b->label_names.items);
	for (uint32_t i = 0; i < count; i++)
		ranks[order[i]] = i;
	return ranks;
}

static int by_rank(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct error *sort_children(const struct flame_builder *b, const uint32_t *ranks,
				   struct siblings *siblings, struct flame_node *parent)
{
	struct flame_node *nodes = b->flame->nodes.items;
	uint32_t next = NODE_NONE;

	siblings->count = 0;
	for (uint32_t i = parent->first_child; i != NODE_NONE; i = nodes[i].next)
		if (!array_push(siblings,
				(struct sibling){ ranks[b->labels.items[nodes[i].face]], i }))
			return &error_no_memory;
	qsort(siblings->items, siblings->count, sizeof(*siblings->items), by_rank);
	for (size_t i = siblings->count; i-- > 0;) {
		nodes[siblings->items[i].node].next = next;
		next = siblings->items[i].node;
	}
	parent->first_child = next;
	return NULL;
}

/* Most nodes have one child, or none. */
static struct error *sort_all(const struct flame_builder *b, const struct forks *forks)
{
	_cleanup_free_ uint32_t *ranks = rank_labels(b);
	struct siblings siblings = { 0 };
	struct error *err = ranks ? NULL : &error_no_memory;

	for (size_t i = 0; i < forks->count && !err; i++)
		err = sort_children(b, ranks, &siblings, &b->flame->nodes.items[forks->items[i]]);
	array_deinit(&siblings);
	return err;
}

/* --- values --- */

/* The columns of the classes that a profile has. False: one of them is in another unit. */
static bool find_columns(struct flame *flame, const struct flame_side *candidate)
{
	bool is_own = true;

	for (size_t i = 0; i < candidate->wanted; i++) {
		const unsigned class = candidate->profile->samples.items[candidate->order[i]].class;

		if (flame->class_column[class])
			continue;
		flame->class_column[class] = ++flame->class_count;
		is_own = (class == CLASS_EVENT) == flame->is_events;
	}
	return is_own;
}

static struct error *allocate_values(struct flame_builder *b)
{
	struct flame *flame = b->flame;
	const size_t count = flame->nodes.count;
	bool is_own = true;

	if (flame->is_diff) {
		flame->baselines = calloc(count, sizeof(*flame->baselines));
		if (!flame->baselines)
			return &error_no_memory;
	}
	for (size_t i = 0; i < b->side_count; i++)
		if (!b->sides[i].is_baseline)
			is_own &= find_columns(flame, &b->sides[i]);
	if (flame->class_count == 0 || (flame->class_count == 1 && is_own))
		return NULL;
	flame->by_class = calloc(count * flame->class_count, sizeof(*flame->by_class));
	return flame->by_class ? NULL : &error_no_memory;
}

static struct flame_value *class_values(const struct flame *flame, size_t node)
{
	return &flame->by_class[node * flame->class_count];
}

static void count_sample(struct flame *flame, size_t number, const struct sample *sample,
			 bool is_baseline, uint64_t *largest)
{
	struct flame_node *node = &flame->nodes.items[number];
	const bool is_event = sample->class == CLASS_EVENT;
	const uint64_t value = is_event ? sample->count : sample->ns;
	const unsigned column = flame->class_column[sample->class];

	if (is_event == flame->is_events)
		sum_add(is_baseline ? &flame->baselines[number].self : &node->self, value);
	if (is_baseline)
		return;
	sum_add(&node->count, sample->count);
	if (largest[number] <= value) {
		largest[number] = value;
		node->state = sample->state;
	}
	if (flame->by_class)
		sum_add(&class_values(flame, number)[column - 1].self, value);
}

/* `largest` has the largest sample of each node. */
static void count_side(struct flame *flame, const struct flame_side *side, uint64_t *largest)
{
	for (size_t i = 0; i < side->wanted; i++) {
		const uint32_t sample = side->order[i];

		count_sample(flame, side->drafts[sample], &side->profile->samples.items[sample],
			     side->is_baseline, largest);
	}
}

size_t flame_count_runs(const struct flame_builder *b, bool is_baseline)
{
	size_t count = 0;

	for (size_t i = 0; i < b->side_count; i++)
		count += b->sides[i].is_baseline == is_baseline;
	return count;
}

static void divide(uint64_t *value, size_t by)
{
	*value = *value / by + (*value % by >= by - by / 2);
}

/* From sums over the profiles of each side to their means. */
static void take_means(struct flame_builder *b)
{
	struct flame *flame = b->flame;
	const size_t baselines = flame_count_runs(b, true), candidates = flame_count_runs(b, false);

	for (size_t i = 0; i < flame->nodes.count && candidates > 1; i++) {
		divide(&flame->nodes.items[i].self, candidates);
		for (unsigned c = 0; flame->by_class && c < flame->class_count; c++)
			divide(&class_values(flame, i)[c].self, candidates);
	}
	for (size_t i = 0; i < flame->nodes.count && baselines > 1; i++)
		divide(&flame->baselines[i].self, baselines);
}

static void add_value(struct flame_value *values, size_t node, size_t parent)
{
	sum_add(&values[node].total, values[node].self);
	if (node)
		sum_add(&values[parent].total, values[node].total);
}

static void take_state(struct flame *flame, size_t number, uint64_t *largest)
{
	const struct flame_node *node = &flame->nodes.items[number];

	if (largest[node->parent] > largest[number])
		return;
	largest[node->parent] = largest[number];
	flame->nodes.items[node->parent].state = node->state;
}

/* Children come after their parents, so from the last to the first each is complete. */
static void sum_up(struct flame *flame, uint64_t *largest)
{
	for (size_t i = flame->nodes.count; i-- > 0;) {
		struct flame_node *node = &flame->nodes.items[i];

		sum_add(&node->total, node->self);
		if (!i)
			break;
		sum_add(&flame->nodes.items[node->parent].total, node->total);
		sum_add(&flame->nodes.items[node->parent].count, node->count);
		take_state(flame, i, largest);
	}
	for (size_t i = flame->nodes.count; flame->baselines && i-- > 0;)
		add_value(flame->baselines, i, flame->nodes.items[i].parent);
	for (size_t i = flame->nodes.count; flame->by_class && i-- > 0;)
		for (unsigned c = 0; c < flame->class_count; c++)
			add_value(flame->by_class + c, i * flame->class_count,
				  (size_t)flame->nodes.items[i].parent * flame->class_count);
}

/* --- all of it --- */

struct error *flame_make_tree(struct flame_builder *b)
{
	_cleanup_free_ uint64_t *largest = NULL;
	struct forks forks = { 0 };
	struct error *err = make_nodes(b, &forks);

	if (!err)
		err = sort_all(b, &forks);
	array_deinit(&forks);
	if (!err)
		err = allocate_values(b);
	if (err)
		return err;
	largest = calloc(b->flame->nodes.count, sizeof(*largest));
	if (!largest)
		return &error_no_memory;
	for (size_t i = 0; i < b->side_count; i++)
		count_side(b->flame, &b->sides[i], largest);
	take_means(b);
	sum_up(b->flame, largest);
	return NULL;
}
