/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: "group;caller;callee VALUE", a line for each stack, and two values of two profiles
 * as difffolded.pl writes them. Kernel frames end in "_[k]" and inlined ones in "_[i]", by which
 * flamegraph.pl gives them colours. Times are whole nanoseconds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/flame_walk.h"
#include "report/profile_report.h"
#include "report/stream.h"
#include "report/visible.h"

/* A tree has few names, which are made printable once, and most of a line is as in the line before:
 * `line` keeps it. */
struct folding {
	FILE *out;
	const struct flame *flame;
	char **texts; /* of each face; NULL: not made yet */
	struct {
		ARRAY(char);
	} line;
	size_t *ends; /* of each frame of `line` */
	struct error *error;
};

/* On one line and one piece of it; readers split it at semicolons and newlines. */
static char *make_text(const struct flame_face *face)
{
	_cleanup_free_ char *visible = text_visible(name_text(face->name));

	if (!visible)
		return NULL;
	for (char *at = visible; *at; at++)
		if (*at == ';')
			*at = ':';
	return text_print("%s%s", visible,
			  face->kind == FRAME_KERNEL ? "_[k]"
			  : face->inlined            ? "_[i]"
						     : "");
}

static bool append(struct folding *f, const char *bytes, size_t length)
{
	if (!array_reserve(&f->line, length))
		return false;
	memcpy(f->line.items + f->line.count, bytes, length);
	f->line.count += length;
	return true;
}

static bool append_frame(struct folding *f, const struct flame_node *node)
{
	char **text = &f->texts[node->face];

	if (!*text)
		*text = make_text(flame_face(f->flame, node));
	return *text && (node->depth == 1 || append(f, ";", 1)) && append(f, *text, strlen(*text));
}

static bool print_folded_line(void *context, const struct flame_line *line)
{
	struct folding *f = context;

	f->line.count = line->shared ? f->ends[line->shared - 1] : 0;
	for (size_t i = line->shared; i < line->depth; i++) {
		if (!append_frame(f, line->path[i])) {
			f->error = &error_no_memory;
			return false;
		}
		f->ends[i] = f->line.count;
	}
	if (f->line.count)
		fwrite_unlocked(f->line.items, 1, f->line.count, f->out);
	if (f->flame->is_diff)
		fprintf(f->out, " %" PRIu64 " %" PRIu64 "\n", line->baseline, line->value);
	else
		fprintf(f->out, " %" PRIu64 "\n", line->value);
	return true;
}

static struct error *fold(struct folding *f)
{
	f->texts = calloc(f->flame->faces.count, sizeof(*f->texts));
	f->ends = calloc((size_t)f->flame->depth + 1, sizeof(*f->ends));
	return f->texts && f->ends ? flame_each_line(f->flame, print_folded_line, f)
				   : &error_no_memory;
}

struct error *profile_print_folded(const struct profile_report *report, json_sink sink,
				   void *context)
{
	struct folding folding = { .flame = report->flame };
	struct stream stream;
	struct error *err = stream_open(&stream, sink, context);

	if (err)
		return err;
	folding.out = stream.out;
	err = fold(&folding);
	for (size_t i = 0; folding.texts && i < report->flame->faces.count; i++)
		free(folding.texts[i]);
	free(folding.texts);
	free(folding.ends);
	array_deinit(&folding.line);
	return error_first(error_first(err, folding.error), stream_close(&stream));
}
