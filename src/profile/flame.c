/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/flame_change.h"
#include "profile/flame_tree.h"
#include "profile/import.h"
#include "profile/reason.h"

const char *const flame_group_names[FLAME_GROUP_COUNT] = {
#define GROUP_NAME(id, name, prose) [FLAME_BY_##id] = name,
	FLAME_GROUPS(GROUP_NAME)
#undef GROUP_NAME
};

#define NAME_BYTES_MAX ((size_t)1 << 30)

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

/* --- faces --- */

static struct error *add_label(struct flame_builder *b, const struct name *name, uint32_t *ret)
{
	uint32_t *label = word_map_at(&b->label_numbers, (struct words){ { (uintptr_t)name } });

	if (!label)
		return &error_no_memory;
	if (*label == WORD_MAP_NEW) {
		*label = (uint32_t)b->label_names.count;
		if (!array_push(&b->label_names, name))
			return &error_no_memory;
	}
	*ret = *label;
	return NULL;
}

static struct error *add_face(struct flame_builder *b, const struct flame_face *face, uint32_t *ret)
{
	uint32_t *number, label;
	struct error *err;

	if (!face->name)
		return &error_no_memory;
	number = word_map_at(&b->face_numbers,
			     (struct words){ { (uintptr_t)face->name, (uintptr_t)face->module,
					       (uint64_t)face->kind << 1 | face->inlined } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		err = add_label(b, face->name, &label);
		if (err)
			return err;
		if (!array_push(&b->labels, label) || !array_push(&b->flame->faces, *face))
			return &error_no_memory;
		*number = (uint32_t)b->flame->faces.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *face_of(struct flame_builder *b, struct flame_side *side, uint32_t number,
			     uint32_t *ret)
{
	const struct frame *frame = &side->profile->frames.items[number];
	struct flame_face face = { .kind = frame->kind, .inlined = frame->inlined };
	struct error *err = NULL;

	if (side->faces[number] == NODE_NONE) {
		face.name = frame_name(b, frame);
		face.module = copy_frame_name(b, frame->module);
		err = frame->module && !face.module ? &error_no_memory
						    : add_face(b, &face, &side->faces[number]);
	}
	*ret = side->faces[number];
	return err;
}

/* --- nodes --- */

static struct error *add_draft(struct flame_builder *b, uint32_t parent, uint32_t face,
			       uint32_t *ret)
{
	return tree_add(&b->index, &b->drafts, b->labels.items, parent, face, ret);
}

static struct error *note(struct flame_builder *b, uint32_t parent, const struct name *name,
			  uint32_t *ret)
{
	const struct flame_face shown = { .name = name, .kind = FRAME_NOTE };
	struct error *err;
	uint32_t face;

	err = add_face(b, &shown, &face);
	return err ? err : add_draft(b, parent, face, ret);
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

static struct error *by_reason(struct flame_builder *b, const struct profile *p,
			       const struct sample *sample, uint32_t *ret)
{
	(void)p;
	return note(b, 0, intern_text(b, reason_rows[reason_of_state(sample->state)].heading), ret);
}

typedef struct error *group_of(struct flame_builder *b, const struct profile *p,
			       const struct sample *sample, uint32_t *ret);
static group_of *const groups[FLAME_GROUP_COUNT] = {
	[FLAME_BY_CPU] = by_cpu,         [FLAME_BY_PROGRAM] = by_program,
	[FLAME_BY_PROCESS] = by_process, [FLAME_BY_THREAD] = by_thread,
	[FLAME_BY_CGROUP] = by_cgroup,   [FLAME_BY_STATE] = by_state,
	[FLAME_BY_REASON] = by_reason,
};

static int compare_groups(const void *a, const void *b, void *context)
{
	const uint32_t *of = context, x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return of[x] != of[y] ? (of[x] > of[y]) - (of[x] < of[y]) : (x > y) - (x < y);
}

/* The frame that stands for all idle waits. */
static struct error *idle_frame(struct flame_builder *b, uint32_t *ret)
{
	const struct idle *idle = b->view->idle;
	const bool is_whole = idle->thread_count;
	const size_t threads = is_whole ? idle->thread_count : idle->part_count;
	const struct flame_face shown = {
		.name = intern_and_free(b, text_print("[idle: %zu thread%s %s]", threads,
						      plural(threads),
						      is_whole ? "all the time" : "in part")),
		.kind = FRAME_IDLE,
	};
	uint32_t face;
	struct error *err = add_face(b, &shown, &face);

	return err ? err : add_draft(b, 0, face, ret);
}

/* The groups of all wanted samples, and these in the order of their groups. */
static struct error *find_groups(struct flame_builder *b, struct flame_side *side)
{
	const struct profile *p = side->profile;
	group_of *find = groups[b->view->group_by];

	for (uint32_t i = 0; i < p->samples.count; i++) {
		const struct sample *sample = &p->samples.items[i];
		const bool is_idle =
			idle_has(b->view->idle, sample->thread, sample->class, sample->state);
		struct error *err = NULL;

		if (!(b->classes >> sample->class & 1) || (is_idle && !b->view->folds_idle))
			continue;
		if (is_idle)
			err = idle_frame(b, &side->drafts[i]);
		else if (find)
			err = find(b, p, sample, &side->drafts[i]);
		if (err)
			return err;
		side->order[side->wanted++] = i;
	}
	if (find)
		qsort_r(side->order, side->wanted, sizeof(*side->order), compare_groups,
			side->drafts);
	return NULL;
}

/* --- stacks --- */

static struct error *place_node(struct flame_builder *b, struct flame_side *side, uint32_t node,
				uint32_t *at)
{
	const uint32_t frame = side->profile->nodes.items[node].frame;
	struct error *err = NULL;
	uint32_t face;

	if (!b->view->no_inlined || !side->profile->frames.items[frame].inlined) {
		err = face_of(b, side, frame, &face);
		if (!err)
			err = add_draft(b, *at, face, at);
	}
	if (err)
		return err;
	side->places[node] = *at;
	/* All samples are of one group. */
	if (b->view->group_by == FLAME_BY_NONE)
		return NULL;
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

static void leave_group(struct flame_side *side)
{
	while (side->touched.count)
		side->places[side->touched.items[--side->touched.count]] = NODE_NONE;
}

static struct error *place_samples(struct flame_builder *b, struct flame_side *side)
{
	uint32_t group = 0;

	for (size_t i = 0; i < side->wanted; i++) {
		const uint32_t number = side->order[i];
		const struct sample *sample = &side->profile->samples.items[number];
		struct error *err;

		if (idle_has(b->view->idle, sample->thread, sample->class, sample->state))
			continue;

		if (side->drafts[number] != group)
			leave_group(side);
		group = side->drafts[number];
		err = place_stack(b, side, group, sample->node, &side->drafts[number]);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *allocate_side(struct flame_side *side)
{
	const struct profile *p = side->profile;

	side->faces = malloc((p->frames.count + 1) * sizeof(*side->faces));
	side->drafts = calloc(p->samples.count + 1, sizeof(*side->drafts));
	side->order = calloc(p->samples.count + 1, sizeof(*side->order));
	side->places = malloc((p->nodes.count + 1) * sizeof(*side->places));
	if (!side->faces || !side->drafts || !side->order || !side->places)
		return &error_no_memory;
	memset(side->faces, 0xff, (p->frames.count + 1) * sizeof(*side->faces));
	memset(side->places, 0xff, (p->nodes.count + 1) * sizeof(*side->places));
	return NULL;
}

static struct error *add_side(struct flame_builder *b, struct flame_side *side)
{
	struct error *err = allocate_side(side);

	if (!err)
		err = find_groups(b, side);
	if (!err)
		err = place_samples(b, side);
	free(side->faces);
	free(side->places);
	array_deinit(&side->touched);
	array_deinit(&side->path);
	side->faces = side->places = NULL;
	return err;
}

/* --- the whole --- */

/* Are all samples hits of probes? */
static bool has_only_hits(const struct profile *profile)
{
	return !profile_total_ns(profile, FLAME_ALL & ~FLAME_EVENTS);
}

static bool have_only_hits(const struct flame_builder *b)
{
	size_t samples = 0;

	for (size_t i = 0; i < b->side_count; i++) {
		if (!has_only_hits(b->sides[i].profile))
			return false;
		samples += b->sides[i].profile->samples.count;
	}
	return samples;
}

static struct error *build_flame(struct flame_builder *b)
{
	const struct flame_face root = { .name = intern_text(b, "all"), .kind = FRAME_NOTE };
	uint32_t face, node;
	struct error *err = add_face(b, &root, &face);

	if (!err)
		err = add_draft(b, NODE_NONE, face, &node);
	for (size_t i = 0; i < b->side_count && !err; i++)
		err = add_side(b, &b->sides[i]);
	tree_index_deinit(&b->index);
	return err ? err : flame_make_tree(b);
}

static void deinit_builder(struct flame_builder *b)
{
	for (size_t i = 0; i < b->side_count; i++) {
		free(b->sides[i].drafts);
		free(b->sides[i].order);
	}
	free(b->sides);
	array_deinit(&b->drafts);
	array_deinit(&b->labels);
	array_deinit(&b->label_names);
	word_map_deinit(&b->label_numbers);
	word_map_deinit(&b->face_numbers);
}

static struct error *create_flame(const struct flame_runs *candidate,
				  const struct flame_runs *baseline, const struct flame_view *view,
				  bool finds_changes, struct flame **ret)
{
	_cleanup_(flame_destroy) struct flame *flame = calloc(1, sizeof(*flame));
	struct flame_builder b = { .flame = flame,
				   .view = view,
				   .classes = view->classes,
				   .side_count = baseline->count + candidate->count };
	struct error *err = NULL;

	b.sides = calloc(b.side_count, sizeof(*b.sides));
	if (!flame || !b.sides) {
		free(b.sides);
		return &error_no_memory;
	}
	for (size_t i = 0; i < b.side_count; i++)
		b.sides[i] = (struct flame_side){
			.profile = i < baseline->count ? baseline->items[i]
						       : candidate->items[i - baseline->count],
			.is_baseline = i < baseline->count,
		};
	arena_init(&flame->arena, NAME_BYTES_MAX);
	names_init(&flame->names, &flame->arena);
	if (!b.classes)
		b.classes = have_only_hits(&b) ? FLAME_EVENTS : FLAME_ALL & ~FLAME_EVENTS;
	flame->is_events = b.classes == FLAME_EVENTS;
	flame->is_diff = baseline->count;
	/* The number of nodes of the stacks; groups may need more. */
	if (!array_reserve(&b.drafts, candidate->items[0]->nodes.count + 1))
		err = &error_no_memory;
	if (!err)
		err = build_flame(&b);
	if (!err && finds_changes)
		err = flame_find_changes(&b);
	deinit_builder(&b);
	if (err)
		return err;
	*ret = take_ptr(flame);
	return NULL;
}

struct error *flame_create(const struct profile *profile, const struct profile *baseline,
			   const struct flame_view *view, struct flame **ret)
{
	return create_flame(&(struct flame_runs){ &profile, 1 },
			    &(struct flame_runs){ &baseline, baseline != NULL }, view, false, ret);
}

struct error *flame_create_diff(const struct flame_runs *candidate,
				const struct flame_runs *baseline, const struct flame_view *view,
				struct flame **ret)
{
	return create_flame(candidate, baseline, view, true, ret);
}

void flame_destroy(struct flame *flame)
{
	if (!flame)
		return;
	array_deinit(&flame->nodes);
	array_deinit(&flame->faces);
	free(flame->baselines);
	free(flame->by_class);
	flame_changes_destroy(flame->changes);
	names_deinit(&flame->names);
	arena_deinit(&flame->arena);
	free(flame);
}

/* --- lines --- */

/* Depth first, siblings by name; the path is as deep as the node. Below a node that is the last of
 * its siblings there is nothing to come back to: `later` has the siblings that are still to come.
 */
static struct error *walk_lines(const struct flame *flame, const struct flame_node **path,
				flame_visit *visit, void *context)
{
	const struct flame_node *nodes = flame->nodes.items;
	struct {
		ARRAY(uint32_t);
	} later = { 0 };
	struct error *err = NULL;
	uint32_t number = 0;
	size_t shared = 0;

	while (number != NODE_NONE && !err) {
		const struct flame_node *node = &nodes[number];
		const uint64_t baseline = flame_baseline(flame, node).self;

		if (node->depth)
			path[node->depth - 1] = node;
		if (baseline || node->self) {
			const struct flame_line line = { path, node->depth, shared, baseline,
							 node->self };

			if (!visit(context, &line))
				break;
			shared = node->depth;
		}
		if (node->next != NODE_NONE) {
			/* Neither it nor its first children are in a cache. */
			__builtin_prefetch(&nodes[node->next]);
			__builtin_prefetch((const char *)&nodes[node->next] + 64);
			__builtin_prefetch((const char *)&nodes[node->next] + 128);
			if (!array_push(&later, node->next))
				err = &error_no_memory;
		}
		number = node->first_child;
		if (number == NODE_NONE && later.count) {
			number = later.items[--later.count];
			if (shared >= nodes[number].depth)
				shared = nodes[number].depth - 1;
		}
	}
	array_deinit(&later);
	return err;
}

struct error *flame_each_line(const struct flame *flame, flame_visit *visit, void *context)
{
	_cleanup_free_ const struct flame_node **path =
		calloc((size_t)flame->depth + 1, sizeof(*path));

	return path ? walk_lines(flame, path, visit, context) : &error_no_memory;
}
