/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/flame_walk.h"

#include <stdlib.h>
#include <strings.h>

#include "base/sum.h"
#include "profile/known_frames.h"

uint32_t flame_next_beside(const struct flame *flame, uint32_t root, uint32_t node)
{
	const struct flame_node *nodes = flame->nodes.items;

	while (node != root && nodes[node].next == NODE_NONE)
		node = nodes[node].parent;
	return node == root ? NODE_NONE : nodes[node].next;
}

uint32_t flame_next(const struct flame *flame, uint32_t root, uint32_t node)
{
	const uint32_t child = flame->nodes.items[node].first_child;

	return child != NODE_NONE ? child : flame_next_beside(flame, root, node);
}

bool flame_is_below(const struct flame *flame, uint32_t caller, uint32_t node)
{
	const struct flame_node *nodes = flame->nodes.items;

	while (node != caller && nodes[node].depth > nodes[caller].depth)
		node = nodes[node].parent;
	return node == caller;
}

uint32_t flame_widest(const struct flame *flame, uint32_t node)
{
	const struct flame_node *nodes = flame->nodes.items;
	uint32_t widest = NODE_NONE;

	for (uint32_t i = nodes[node].first_child; i != NODE_NONE; i = nodes[i].next)
		if (widest == NODE_NONE || nodes[i].total > nodes[widest].total)
			widest = i;
	return widest;
}

/* --- a place --- */

void flame_path_deinit(struct flame_path *path)
{
	array_deinit(&path->bytes);
	array_deinit(&path->ends);
}

bool flame_path_set(struct flame_path *path, const struct flame *flame, uint32_t node)
{
	const struct flame_node *nodes = flame->nodes.items;
	const size_t depth = nodes[node].depth;
	size_t length = 0;

	path->bytes.count = path->ends.count = 0;
	for (uint32_t i = node; i; i = nodes[i].parent)
		length += flame_name(flame, &nodes[i])->length;
	if (!array_reserve(&path->bytes, length + 1) || !array_reserve(&path->ends, depth + 1))
		return false;
	path->bytes.count = length;
	path->ends.count = depth;
	for (uint32_t i = node; i; i = nodes[i].parent) {
		const struct name *name = flame_name(flame, &nodes[i]);

		path->ends.items[nodes[i].depth - 1] = length;
		length -= name->length;
		memcpy(path->bytes.items + length, name->bytes, name->length);
	}
	return true;
}

static uint32_t find_child(const struct flame *flame, uint32_t parent, struct text name)
{
	const struct flame_node *nodes = flame->nodes.items;
	uint32_t child = nodes[parent].first_child;

	while (child != NODE_NONE && !text_equal(name_text(flame_name(flame, &nodes[child])), name))
		child = nodes[child].next;
	return child;
}

uint32_t flame_path_find(const struct flame_path *path, const struct flame *flame)
{
	uint32_t node = 0, child = 0;
	size_t begin = 0;

	for (size_t i = 0; i < path->ends.count && child != NODE_NONE; i++) {
		const struct text name = { path->bytes.items + begin, path->ends.items[i] - begin };

		begin = path->ends.items[i];
		node = child;
		child = find_child(flame, node, name);
	}
	return child == NODE_NONE ? node : child;
}

/* --- functions --- */

/* The state of counting functions. */
struct counting {
	const struct flame *flame;
	struct flame_functions *functions;
	struct word_map numbers; /* of each name in `functions` */
	uint32_t *by_face;       /* the same by face; NODE_NONE: not asked for yet */
	uint32_t *open;          /* by function: how often it is among the callers */
	unsigned char *known;    /* of each face: enum known_frame */
};

/* The function that waits when `leaf` does: the innermost of the program itself, or of a library
 * where all are; without any, of the kernel, but for its scheduler. */
static uint32_t place_of(const struct counting *c, uint32_t leaf)
{
	const struct flame_node *nodes = c->flame->nodes.items;
	uint32_t of_library = NODE_NONE, of_kernel = NODE_NONE;

	for (uint32_t i = leaf; i != NODE_NONE; i = nodes[i].parent) {
		const enum frame_kind kind = flame_face(c->flame, &nodes[i])->kind;
		const enum known_frame known = c->known[nodes[i].face];

		if (kind == FRAME_USER && known == FRAME_OTHER)
			return i;
		if (kind == FRAME_USER && of_library == NODE_NONE)
			of_library = i;
		if (kind == FRAME_KERNEL && known != FRAME_SCHEDULER && of_kernel == NODE_NONE)
			of_kernel = i;
	}
	return of_library != NODE_NONE ? of_library : of_kernel != NODE_NONE ? of_kernel : leaf;
}

static struct error *function_of(struct counting *c, const struct flame_node *node, uint32_t *ret)
{
	const struct flame_face *face = flame_face(c->flame, node);
	uint32_t *number = &c->by_face[node->face];

	if (*number == NODE_NONE) {
		const struct flame_function function = { .name = face->name,
							 .module = face->module,
							 .kind = face->kind };
		uint32_t *known =
			word_map_at(&c->numbers, (struct words){ { (uintptr_t)face->name } });

		if (!known)
			return &error_no_memory;
		if (*known == WORD_MAP_NEW) {
			if (!array_push(c->functions, function))
				return &error_no_memory;
			*known = (uint32_t)c->functions->count - 1;
		}
		*number = *known;
	}
	*ret = *number;
	return NULL;
}

/* A node runs itself, and waits for its caller. */
static struct error *count_own(struct counting *c, uint32_t number, uint32_t which)
{
	const struct flame_node *node = &c->flame->nodes.items[number];
	const uint64_t ran = c->flame->is_events
				     ? node->self
				     : flame_of_class(c->flame, node, CLASS_ON_CPU).self;
	struct error *err = NULL;

	sum_add(&c->functions->items[which].own, ran);
	if (node->self <= ran)
		return NULL;
	err = function_of(c, &c->flame->nodes.items[place_of(c, number)], &which);
	if (!err)
		sum_add(&c->functions->items[which].own, node->self - ran);
	return err;
}

static struct error *count_node(struct counting *c, uint32_t number)
{
	const struct flame_node *node = &c->flame->nodes.items[number];
	struct flame_function *function;
	uint32_t which;
	struct error *err = function_of(c, node, &which);

	if (err)
		return err;
	err = count_own(c, number, which);
	if (err)
		return err;
	function = &c->functions->items[which];
	if (c->open[which]++)
		return NULL;
	sum_add(&function->total, node->total);
	if (function->largest <= node->total) {
		function->largest = node->total;
		function->state = node->state;
		function->node = number;
	}
	return NULL;
}

static void leave_node(struct counting *c, uint32_t number)
{
	c->open[c->by_face[c->flame->nodes.items[number].face]]--;
}

static struct error *count_all(struct counting *c, uint32_t root)
{
	const struct flame_node *nodes = c->flame->nodes.items;
	struct error *err = NULL;

	for (uint32_t i = root; i != NODE_NONE && !err;) {
		err = count_node(c, i);
		if (err)
			break;
		if (nodes[i].first_child != NODE_NONE) {
			i = nodes[i].first_child;
			continue;
		}
		leave_node(c, i);
		while (i != root && nodes[i].next == NODE_NONE) {
			i = nodes[i].parent;
			leave_node(c, i);
		}
		i = i == root ? NODE_NONE : nodes[i].next;
	}
	return err;
}

static int by_own(const void *a, const void *b)
{
	const struct flame_function *x = a, *y = b;

	if (x->own != y->own)
		return x->own < y->own ? 1 : -1;
	return x->total != y->total ? (x->total < y->total ? 1 : -1)
				    : name_compare(x->name, y->name);
}

static int by_total_first(const void *a, const void *b)
{
	const struct flame_function *x = a, *y = b;

	return x->total != y->total ? (x->total < y->total ? 1 : -1) : by_own(a, b);
}

/* Groups and what stands for frames are no functions. */
static void drop_notes(struct flame_functions *functions)
{
	size_t kept = 0;

	for (size_t i = 0; i < functions->count; i++)
		if (functions->items[i].kind != FRAME_NOTE && functions->items[i].total)
			functions->items[kept++] = functions->items[i];
	functions->count = kept;
}

struct error *flame_functions_make(struct flame_functions *functions, const struct flame *flame,
				   uint32_t root, bool by_total)
{
	const size_t faces = flame->faces.count;
	struct counting c = {
		.flame = flame,
		.functions = functions,
		.by_face = malloc((faces + 1) * sizeof(*c.by_face)),
		.open = calloc(faces + 1, sizeof(*c.open)),
		.known = known_faces_of(flame),
	};
	struct error *err = c.by_face && c.open && c.known ? NULL : &error_no_memory;

	functions->count = 0;
	for (size_t i = 0; c.by_face && i < faces; i++)
		c.by_face[i] = NODE_NONE;
	if (!err)
		err = count_all(&c, root);
	word_map_deinit(&c.numbers);
	free(c.by_face);
	free(c.open);
	free(c.known);
	if (err)
		return err;
	drop_notes(functions);
	if (functions->count)
		qsort(functions->items, functions->count, sizeof(*functions->items),
		      by_total ? by_total_first : by_own);
	return NULL;
}

/* --- searches --- */

static bool contains(struct text text, struct text part)
{
	for (size_t i = 0; part.length <= text.length && i <= text.length - part.length; i++)
		if (strncasecmp(text.bytes + i, part.bytes, part.length) == 0)
			return true;
	return false;
}

bool *flame_search(const struct flame *flame, struct text text)
{
	bool *matches = calloc(flame->faces.count + 1, sizeof(*matches));

	for (size_t i = 0; matches && i < flame->faces.count; i++)
		matches[i] = contains(name_text(flame->faces.items[i].name), text);
	return matches;
}

uint64_t flame_matched(const struct flame *flame, uint32_t root, const bool *matches)
{
	uint64_t sum = 0;
	uint32_t i = root;

	while (i != NODE_NONE) {
		const struct flame_node *node = &flame->nodes.items[i];
		const bool is_match = matches[node->face];

		sum_add(&sum, is_match ? node->total : 0);
		i = is_match ? flame_next_beside(flame, root, i) : flame_next(flame, root, i);
	}
	return sum;
}
