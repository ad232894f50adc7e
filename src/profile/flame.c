/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "profile/import.h"

const char *const flame_group_names[FLAME_GROUP_COUNT] = {
#define GROUP_NAME(id, name, prose) [FLAME_BY_##id] = name,
	FLAME_GROUPS(GROUP_NAME)
#undef GROUP_NAME
};

#define NAME_BYTES_MAX ((size_t)1 << 30)

/* The state of building a tree. */
struct flame_builder {
	struct flame *flame;
	const struct flame_view *view;
	unsigned classes;
	struct word_map children; /* parent and name to a node */
};

/* One of the profiles that are added to the tree. */
struct flame_side {
	const struct profile *profile;
	bool is_baseline;
	const struct name **shown; /* of each frame; NULL: not asked for yet */
	uint32_t *groups;          /* of each sample: the node of its group */
	uint32_t *order;           /* samples of wanted classes, by group */
	size_t wanted;
	/* For each node of the profile, its node in the tree for the current group, or NODE_NONE:
	 * each node is placed once per group, however many stacks share it. `touched` lists the
	 * nodes that the group has placed. */
	uint32_t *places;
	struct {
		ARRAY(uint32_t);
	} touched, path;
};

/* --- names --- */

static const struct name *intern_text(struct flame_builder *b, const char *text)
{
	return names_intern(&b->flame->names, text, strlen(text));
}

static const struct name *copy_frame_name(struct flame_builder *b, const struct name *name)
{
	return name ? names_intern(&b->flame->names, name->bytes, name->length) : NULL;
}

/* The name of a text, which is freed. */
static const struct name *intern_and_free(struct flame_builder *b, char *text)
{
	const struct name *name = text ? intern_text(b, text) : NULL;

	free(text);
	return name;
}

/* "[libc.so.6+0x1a]"; modules of the kernel may be in brackets already. */
static const struct name *name_in_module(struct flame_builder *b, const struct frame *frame)
{
	const char *slash = strrchr(frame->module->bytes, '/');
	const char *base = slash ? slash + 1 : frame->module->bytes;

	base += *base == '[';
	return intern_and_free(b, text_print("[%.*s+0x%" PRIx64 "]", (int)strcspn(base, "]"), base,
					     frame->address));
}

/* "[unknown]", "[libc.so.6+0x1a]": no function, so there is no place in it. */
static bool is_function_frame(const struct frame *frame)
{
	return frame->kind != FRAME_NOTE && import_kind(frame->name) != FRAME_NOTE;
}

static const struct name *frame_name(struct flame_builder *b, const struct frame *frame)
{
	if (!frame->name)
		return frame->module && frame->module->length ? name_in_module(b, frame)
							      : intern_text(b, "[unknown]");
	if (b->view->offsets && !frame->inlined && is_function_frame(frame))
		return intern_and_free(
			b, text_print("%s+0x%" PRIx64, frame->name->bytes, frame->offset));
	return copy_frame_name(b, frame->name);
}

static const struct name *shown_name(struct flame_builder *b, struct flame_side *side,
				     uint32_t frame)
{
	if (!side->shown[frame])
		side->shown[frame] = frame_name(b, &side->profile->frames.items[frame]);
	return side->shown[frame];
}

/* --- nodes --- */

static struct error *child_of(struct flame_builder *b, uint32_t parent, struct flame_node node,
			      uint32_t *ret)
{
	uint32_t *number;

	if (!node.name)
		return &error_no_memory;
	number = word_map_at(&b->children, (struct words){ { parent, (uintptr_t)node.name } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		node.parent = parent;
		node.first_child = node.next = NODE_NONE;
		node.depth = b->flame->nodes.items[parent].depth + 1;
		if (b->flame->nodes.count >= NODE_NONE - 1 || !array_push(&b->flame->nodes, node))
			return &error_no_memory;
		*number = (uint32_t)b->flame->nodes.count - 1;
		if (b->flame->depth < node.depth)
			b->flame->depth = node.depth;
	}
	*ret = *number;
	return NULL;
}

static struct error *note(struct flame_builder *b, uint32_t parent, const struct name *name,
			  uint32_t *ret)
{
	return child_of(b, parent, (struct flame_node){ .name = name, .kind = FRAME_NOTE }, ret);
}

/* --- groups --- */

/* Thread IDs differ between the runs of two profiles: only the name identifies both. */
static const struct name *task_name(struct flame_builder *b, const struct name *name,
				    uint32_t number)
{
	if (!number || b->flame->is_diff)
		return name->length ? copy_frame_name(b, name) : intern_text(b, "[unknown]");
	return intern_and_free(b, text_print("%s (%" PRIu32 ")", name->bytes, number));
}

static struct error *by_cpu(struct flame_builder *b, const struct profile *p,
			    const struct sample *sample, uint32_t *ret)
{
	(void)p;
	return note(b, 0,
		    sample->cpu == CPU_ANY
			    ? intern_text(b, "[unknown]")
			    : intern_and_free(b, text_print("cpu %u", (unsigned)sample->cpu)),
		    ret);
}

static struct error *by_process(struct flame_builder *b, const struct profile *p,
				const struct sample *sample, uint32_t *ret)
{
	const struct profile_thread *thread = &p->threads.items[sample->thread];

	return note(b, 0, task_name(b, thread->process, thread->tgid), ret);
}

/* Kernel threads have a name each, and the kernel as their one program. */
static struct error *by_program(struct flame_builder *b, const struct profile *p,
				const struct sample *sample, uint32_t *ret)
{
	const struct profile_thread *thread = &p->threads.items[sample->thread];

	return note(b, 0,
		    thread->is_kernel ? intern_text(b, "[kernel threads]")
				      : task_name(b, thread->process, 0),
		    ret);
}

static struct error *by_thread(struct flame_builder *b, const struct profile *p,
			       const struct sample *sample, uint32_t *ret)
{
	const struct profile_thread *thread = &p->threads.items[sample->thread];
	uint32_t process;
	struct error *err = by_process(b, p, sample, &process);

	return err ? err : note(b, process, task_name(b, thread->name, thread->tid), ret);
}

static struct error *by_cgroup(struct flame_builder *b, const struct profile *p,
			       const struct sample *sample, uint32_t *ret)
{
	const struct name *path = p->threads.items[sample->thread].cgroup;

	return note(b, 0,
		    path && path->length ? copy_frame_name(b, path) : intern_text(b, "[unknown]"),
		    ret);
}

static struct error *by_state(struct flame_builder *b, const struct profile *p,
			      const struct sample *sample, uint32_t *ret)
{
	(void)p;
	return note(b, 0, intern_text(b, profile_classes[sample->class].name), ret);
}

typedef struct error *group_of(struct flame_builder *b, const struct profile *p,
			       const struct sample *sample, uint32_t *ret);
static group_of *const groups[FLAME_GROUP_COUNT] = {
	[FLAME_BY_CPU] = by_cpu,         [FLAME_BY_PROGRAM] = by_program,
	[FLAME_BY_PROCESS] = by_process, [FLAME_BY_THREAD] = by_thread,
	[FLAME_BY_CGROUP] = by_cgroup,   [FLAME_BY_STATE] = by_state,
};

static int compare_groups(const void *a, const void *b, void *context)
{
	const uint32_t *of = context, x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return of[x] != of[y] ? (of[x] > of[y]) - (of[x] < of[y]) : (x > y) - (x < y);
}

/* The groups of all wanted samples, and these in the order of their groups. */
static struct error *find_groups(struct flame_builder *b, struct flame_side *side)
{
	const struct profile *p = side->profile;
	group_of *find = groups[b->view->group_by];

	for (uint32_t i = 0; i < p->samples.count; i++) {
		struct error *err = NULL;

		if (!(b->classes >> p->samples.items[i].class & 1))
			continue;
		if (find)
			err = find(b, p, &p->samples.items[i], &side->groups[i]);
		if (err)
			return err;
		side->order[side->wanted++] = i;
	}
	if (find)
		qsort_r(side->order, side->wanted, sizeof(*side->order), compare_groups,
			side->groups);
	return NULL;
}

/* --- stacks --- */

static struct error *place_node(struct flame_builder *b, struct flame_side *side, uint32_t node,
				uint32_t *at)
{
	uint32_t number = side->profile->nodes.items[node].frame;
	const struct frame *frame = &side->profile->frames.items[number];
	struct error *err = NULL;

	if (!b->view->no_inlined || !frame->inlined) {
		struct flame_node shown = { .name = shown_name(b, side, number),
					    .kind = frame->kind,
					    .inlined = frame->inlined };

		shown.module = copy_frame_name(b, frame->module);
		if (frame->module && !shown.module)
			return &error_no_memory;
		err = child_of(b, *at, shown, at);
	}
	if (err)
		return err;
	side->places[node] = *at;
	return array_push(&side->touched, node) ? NULL : &error_no_memory;
}

/* Up from the leaf to what is placed already, then down again. */
static struct error *place_stack(struct flame_builder *b, struct flame_side *side, uint32_t group,
				 uint32_t leaf, uint32_t *ret)
{
	uint32_t node = leaf, at = group;

	side->path.count = 0;
	for (; node != NODE_NONE && side->places[node] == NODE_NONE;
	     node = side->profile->nodes.items[node].parent)
		if (!array_push(&side->path, node))
			return &error_no_memory;
	if (node != NODE_NONE)
		at = side->places[node];
	while (side->path.count) {
		struct error *err = place_node(b, side, side->path.items[--side->path.count], &at);

		if (err)
			return err;
	}
	/* A sample with neither group nor stack gets a frame of its own below the root. */
	if (!at)
		return note(b, 0, intern_text(b, "[no stack]"), ret);
	*ret = at;
	return NULL;
}

static void count_sample(struct flame *flame, struct flame_node *node, const struct sample *sample,
			 bool is_baseline)
{
	bool is_event = sample->class == CLASS_EVENT;
	uint64_t value = is_event == flame->is_events ? is_event ? sample->count : sample->ns : 0;

	sum_add(is_baseline ? &node->self_baseline : &node->self, value);
	if (is_baseline)
		return;
	sum_add(&node->self_by_class[sample->class], is_event ? sample->count : sample->ns);
	sum_add(&node->count, sample->count);
}

static void leave_group(struct flame_side *side)
{
	while (side->touched.count)
		side->places[side->touched.items[--side->touched.count]] = NODE_NONE;
}

static struct error *place_samples(struct flame_builder *b, struct flame_side *side)
{
	uint32_t group = 0;

	for (size_t i = 0; i < side->wanted; i++) {
		const struct sample *sample = &side->profile->samples.items[side->order[i]];
		uint32_t node;
		struct error *err;

		if (side->groups[side->order[i]] != group)
			leave_group(side);
		group = side->groups[side->order[i]];
		err = place_stack(b, side, group, sample->node, &node);
		if (err)
			return err;
		count_sample(b->flame, &b->flame->nodes.items[node], sample, side->is_baseline);
	}
	return NULL;
}

static struct error *allocate_side(struct flame_side *side)
{
	const struct profile *p = side->profile;

	side->shown = calloc(p->frames.count + 1, sizeof(*side->shown));
	side->groups = calloc(p->samples.count + 1, sizeof(*side->groups));
	side->order = calloc(p->samples.count + 1, sizeof(*side->order));
	side->places = malloc((p->nodes.count + 1) * sizeof(*side->places));
	if (!side->shown || !side->groups || !side->order || !side->places)
		return &error_no_memory;
	memset(side->places, 0xff, (p->nodes.count + 1) * sizeof(*side->places));
	return NULL;
}

static struct error *add_side(struct flame_builder *b, const struct profile *profile,
			      bool is_baseline)
{
	struct flame_side side = { .profile = profile, .is_baseline = is_baseline };
	struct error *err = allocate_side(&side);

	if (!err)
		err = find_groups(b, &side);
	if (!err)
		err = place_samples(b, &side);
	free(side.shown);
	free(side.groups);
	free(side.order);
	free(side.places);
	array_deinit(&side.touched);
	array_deinit(&side.path);
	return err;
}

/* --- the whole --- */

static int frame_by_name(const void *a, const void *b)
{
	return name_compare(*(const struct name *const *)a, *(const struct name *const *)b);
}

/* Names have few distinct values and nodes are many: nodes of each name, and the names in order. */
struct by_names {
	struct word_map places; /* of names in `names` */
	struct {
		ARRAY(const struct name *);
	} names;
	uint32_t *last;   /* by place: the last node of the name */
	uint32_t *before; /* by node: the one of the same name before */
};

static struct error *find_names(struct by_names *by, const struct flame *flame)
{
	for (uint32_t i = 1; i < flame->nodes.count; i++) {
		const struct name *name = flame->nodes.items[i].name;
		uint32_t *place = word_map_at(&by->places, (struct words){ { (uintptr_t)name } });

		if (!place)
			return &error_no_memory;
		if (*place != WORD_MAP_NEW)
			continue;
		if (!array_push(&by->names, name))
			return &error_no_memory;
		*place = 0;
	}
	if (by->names.count)
		qsort(by->names.items, by->names.count, sizeof(*by->names.items), frame_by_name);
	for (uint32_t i = 0; i < by->names.count; i++)
		*word_map_at(&by->places, (struct words){ { (uintptr_t)by->names.items[i] } }) = i;
	return NULL;
}

/* From the last name to the first, each node goes before those that its parent has so far. */
static struct error *link_by(struct by_names *by, struct flame *flame)
{
	struct flame_node *nodes = flame->nodes.items;
	struct error *err = find_names(by, flame);

	if (err)
		return err;
	by->last = calloc(by->names.count + 1, sizeof(*by->last));
	by->before = calloc(flame->nodes.count, sizeof(*by->before));
	if (!by->last || !by->before)
		return &error_no_memory;
	/* Node 0 is the root and no node's child, so 0 means none. */
	for (uint32_t i = 1; i < flame->nodes.count; i++) {
		uint32_t place =
			word_map_find(&by->places, (struct words){ { (uintptr_t)nodes[i].name } });

		by->before[i] = by->last[place];
		by->last[place] = i;
	}
	for (size_t place = by->names.count; place-- > 0;)
		for (uint32_t i = by->last[place]; i; i = by->before[i]) {
			nodes[i].next = nodes[nodes[i].parent].first_child;
			nodes[nodes[i].parent].first_child = i;
		}
	return NULL;
}

static struct error *link_children(struct flame *flame)
{
	struct by_names by = { 0 };
	struct error *err = link_by(&by, flame);

	word_map_deinit(&by.places);
	array_deinit(&by.names);
	free(by.last);
	free(by.before);
	return err;
}

/* Children come after their parents, so from the last to the first each is complete. */
static void sum_up(struct flame *flame)
{
	for (size_t i = flame->nodes.count; i-- > 0;) {
		struct flame_node *node = &flame->nodes.items[i], *parent;

		sum_add(&node->baseline, node->self_baseline);
		sum_add(&node->total, node->self);
		for (size_t c = 0; c < CLASS_COUNT; c++)
			sum_add(&node->by_class[c], node->self_by_class[c]);
		if (!i)
			break;
		parent = &flame->nodes.items[node->parent];
		sum_add(&parent->baseline, node->baseline);
		sum_add(&parent->total, node->total);
		sum_add(&parent->count, node->count);
		for (size_t c = 0; c < CLASS_COUNT; c++)
			sum_add(&parent->by_class[c], node->by_class[c]);
	}
}

/* Has it samples, and are all of them hits of probes? */
static bool has_only_hits(const struct profile *profile)
{
	return profile && profile->samples.count &&
	       !profile_total_ns(profile, FLAME_ALL & ~FLAME_EVENTS);
}

static struct error *build_flame(struct flame_builder *b, const struct profile *profile,
				 const struct profile *baseline)
{
	struct flame_node root = { .name = intern_text(b, "all"),
				   .kind = FRAME_NOTE,
				   .parent = NODE_NONE,
				   .first_child = NODE_NONE,
				   .next = NODE_NONE };
	struct error *err = NULL;

	if (!root.name || !array_push(&b->flame->nodes, root))
		return &error_no_memory;
	if (baseline)
		err = add_side(b, baseline, true);
	if (!err)
		err = add_side(b, profile, false);
	if (!err)
		err = link_children(b->flame);
	if (!err)
		sum_up(b->flame);
	return err;
}

struct error *flame_create(const struct profile *profile, const struct profile *baseline,
			   const struct flame_view *view, struct flame **ret)
{
	_cleanup_(flame_destroy) struct flame *flame = calloc(1, sizeof(*flame));
	struct flame_builder b = { .flame = flame, .view = view, .classes = view->classes };
	struct error *err;

	if (!flame)
		return &error_no_memory;
	arena_init(&flame->arena, NAME_BYTES_MAX);
	names_init(&flame->names, &flame->arena);
	if (!b.classes)
		b.classes = has_only_hits(profile) && (!baseline || has_only_hits(baseline))
				    ? FLAME_EVENTS
				    : FLAME_ALL & ~FLAME_EVENTS;
	flame->is_events = b.classes == FLAME_EVENTS;
	flame->is_diff = baseline != NULL;
	/* The number of nodes of the stacks; groups may need more. */
	err = word_map_reserve(&b.children, profile->nodes.count) &&
			      array_reserve(&flame->nodes, profile->nodes.count + 1)
		      ? build_flame(&b, profile, baseline)
		      : &error_no_memory;
	word_map_deinit(&b.children);
	if (err)
		return err;
	*ret = take_ptr(flame);
	return NULL;
}

void flame_destroy(struct flame *flame)
{
	if (!flame)
		return;
	array_deinit(&flame->nodes);
	names_deinit(&flame->names);
	arena_deinit(&flame->arena);
	free(flame);
}

/* --- lines --- */

/* Depth first, siblings by name; the path is as deep as the node. */
struct error *flame_each_line(const struct flame *flame, flame_visit *visit, void *context)
{
	const struct flame_node *nodes = flame->nodes.items, *node = nodes;
	_cleanup_free_ const struct flame_node **path =
		calloc((size_t)flame->depth + 1, sizeof(*path));

	if (!path)
		return &error_no_memory;
	for (;;) {
		const struct flame_line line = { path, node->depth, node->self_baseline,
						 node->self };

		if (node->depth)
			path[node->depth - 1] = node;
		if ((line.baseline || line.value) && !visit(context, &line))
			return NULL;
		if (node->first_child != NODE_NONE) {
			node = &nodes[node->first_child];
			continue;
		}
		while (node->depth && node->next == NODE_NONE)
			node = &nodes[node->parent];
		if (!node->depth)
			return NULL;
		node = &nodes[node->next];
	}
}
