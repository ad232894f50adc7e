/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): "sampled" profiles,
 * one for each group, which share their frames. Of two profiles it holds the candidate.
 */
#include <stdlib.h>

#include "base/version.h"
#include "report/flame_walk.h"
#include "report/profile_wording.h"
#include "report/stream.h"

struct scope {
	struct json_writer w;
	const struct flame *flame;
	uint32_t *frames; /* of each face, the number of its frame; NODE_NONE: it has none yet */
	uint32_t *path;   /* room for the frames of the deepest stack */
};

static void write_frame(struct json_writer *w, const struct flame_face *face)
{
	json_object_begin(w);
	json_key(w, "name");
	json_text(w, name_text(face->name));
	if (face->module && face->module->length) {
		json_key(w, "file");
		json_text(w, name_text(face->module));
	} else if (face->kind == FRAME_KERNEL) {
		json_key(w, "file");
		json_text(w, TEXT("[kernel]"));
	}
	json_object_end(w);
}

static void write_frames(struct scope *s)
{
	uint32_t count = 0;

	memset(s->frames, 0xff, s->flame->faces.count * sizeof(*s->frames));
	json_array_begin(&s->w);
	for (uint32_t i = 0; i < s->flame->nodes.count; i++) {
		const struct flame_node *node = &s->flame->nodes.items[i];

		if (s->frames[node->face] != NODE_NONE)
			continue;
		s->frames[node->face] = count++;
		write_frame(&s->w, flame_face(s->flame, node));
	}
	json_array_end(&s->w);
}

static void write_stack(struct scope *s, uint32_t node)
{
	size_t depth = 0;

	for (uint32_t i = node; s->flame->nodes.items[i].parent != NODE_NONE;
	     i = s->flame->nodes.items[i].parent)
		s->path[depth++] = s->frames[s->flame->nodes.items[i].face];
	json_array_begin(&s->w);
	while (depth)
		json_u64(&s->w, s->path[--depth]);
	json_array_end(&s->w);
}

/* Threads stand below their process: "process, thread". */
static struct error *write_name(struct scope *s, uint32_t top)
{
	const struct flame_node *node = &s->flame->nodes.items[top];
	_cleanup_free_ char *text = NULL;
	int length;

	json_key(&s->w, "name");
	if (node->depth < 2) {
		json_text(&s->w, name_text(flame_name(s->flame, node)));
		return NULL;
	}
	length = asprintf(&text, "%s, %s",
			  flame_name(s->flame, &s->flame->nodes.items[node->parent])->bytes,
			  flame_name(s->flame, node)->bytes);
	if (length < 0) {
		text = NULL;
		return &error_no_memory;
	}
	json_text(&s->w, (struct text){ text, (size_t)length });
	return NULL;
}

/* All that is below `top`, which is the root, a group, or a thread of one. */
static struct error *write_profile(struct scope *s, uint32_t top)
{
	const struct flame_node *nodes = s->flame->nodes.items;
	struct error *err;

	json_line(&s->w);
	json_object_begin(&s->w);
	json_key(&s->w, "type");
	json_text(&s->w, TEXT("sampled"));
	err = write_name(s, top);
	json_key(&s->w, "unit");
	json_text(&s->w, s->flame->is_events ? TEXT("none") : TEXT("nanoseconds"));
	json_key(&s->w, "startValue");
	json_u64(&s->w, 0);
	json_key(&s->w, "endValue");
	json_u64(&s->w, nodes[top].total);
	json_key(&s->w, "samples");
	json_array_begin(&s->w);
	for (uint32_t i = top; i != NODE_NONE; i = flame_next(s->flame, top, i))
		if (nodes[i].self)
			write_stack(s, i);
	json_array_end(&s->w);
	json_key(&s->w, "weights");
	json_array_begin(&s->w);
	for (uint32_t i = top; i != NODE_NONE; i = flame_next(s->flame, top, i))
		if (nodes[i].self)
			json_u64(&s->w, nodes[i].self);
	json_array_end(&s->w);
	json_object_end(&s->w);
	return err;
}

/* The groups, of which those by thread have two levels. */
static struct error *write_profiles(struct scope *s, enum flame_group group_by)
{
	const struct flame_node *nodes = s->flame->nodes.items;
	uint32_t depth = group_by == FLAME_BY_NONE ? 0 : group_by == FLAME_BY_THREAD ? 2 : 1;
	struct error *err = NULL;

	json_array_begin(&s->w);
	for (uint32_t i = 0; i < s->flame->nodes.count && !err; i++)
		if (nodes[i].depth == depth && (nodes[i].total || !depth))
			err = write_profile(s, i);
	json_array_end(&s->w);
	return err;
}

static struct error *write_speedscope(struct scope *s, const struct profile_report *report)
{
	struct error *err;

	json_object_begin(&s->w);
	json_key(&s->w, "$schema");
	json_text(&s->w, TEXT("https://www.speedscope.app/file-format-schema.json"));
	json_key(&s->w, "exporter");
	json_text(&s->w, TEXT("ctprof " CTPROF_VERSION));
	json_key(&s->w, "name");
	json_text(&s->w, text_of(profile_title(report)));
	json_key(&s->w, "activeProfileIndex");
	json_u64(&s->w, 0);
	json_key(&s->w, "shared");
	json_object_begin(&s->w);
	json_key(&s->w, "frames");
	write_frames(s);
	json_object_end(&s->w);
	json_key(&s->w, "profiles");
	err = write_profiles(s, report->view->group_by);
	json_object_end(&s->w);
	return err;
}

struct error *profile_print_speedscope(const struct profile_report *report, json_sink sink,
				       void *context)
{
	struct scope s = { .flame = report->flame };
	struct error *err = json_writer_init(&s.w, sink, context);

	if (err)
		return err;
	s.frames = calloc(s.flame->faces.count, sizeof(*s.frames));
	s.path = calloc((size_t)s.flame->depth + 1, sizeof(*s.path));
	err = s.frames && s.path ? write_speedscope(&s, report) : &error_no_memory;
	err = error_first(err, json_writer_finish(&s.w));
	json_writer_deinit(&s.w);
	free(s.frames);
	free(s.path);
	return err;
}
