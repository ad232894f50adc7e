/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: "group;caller;callee VALUE", a line for each stack, and two values of two profiles
 * as difffolded.pl writes them. Kernel frames end in "_[k]" and inlined ones in "_[i]", by which
 * flamegraph.pl gives them colours. Times are whole nanoseconds.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/flame_walk.h"
#include "report/profile_report.h"
#include "report/stream.h"
#include "report/visible.h"

struct folding {
	FILE *out;
	const struct flame *flame;
	struct error *error;
};

/* Most names: nothing that a terminal or a reader of lines would take for something else. */
static bool is_plain_name(const struct name *name)
{
	for (uint32_t i = 0; i < name->length; i++)
		if (name->bytes[i] < ' ' || name->bytes[i] > '~' || name->bytes[i] == ';')
			return false;
	return true;
}

static void print_suffix(FILE *out, const struct flame_face *face)
{
	fputs_unlocked(face->kind == FRAME_KERNEL ? "_[k]" : face->inlined ? "_[i]" : "", out);
}

/* On one line and one piece of it; readers split it at semicolons and newlines. */
static struct error *print_odd_frame(FILE *out, const struct flame_face *face)
{
	_cleanup_free_ char *visible = text_visible(name_text(face->name));

	if (!visible)
		return &error_no_memory;
	for (const char *at = visible; *at; at++)
		fputc_unlocked(*at == ';' ? ':' : *at, out);
	print_suffix(out, face);
	return NULL;
}

static struct error *print_folded_frame(FILE *out, const struct flame_face *face)
{
	if (is_plain_name(face->name)) {
		fwrite_unlocked(face->name->bytes, 1, face->name->length, out);
		print_suffix(out, face);
		return NULL;
	}
	return print_odd_frame(out, face);
}

static bool print_folded_line(void *context, const struct flame_line *line)
{
	struct folding *f = context;

	for (size_t i = 0; i < line->depth && !f->error; i++) {
		if (i)
			fputc_unlocked(';', f->out);
		f->error = print_folded_frame(f->out, flame_face(f->flame, line->path[i]));
	}
	if (f->flame->is_diff)
		fprintf(f->out, " %" PRIu64 " %" PRIu64 "\n", line->baseline, line->value);
	else
		fprintf(f->out, " %" PRIu64 "\n", line->value);
	return !f->error;
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
	err = flame_each_line(report->flame, print_folded_line, &folding);
	return error_first(error_first(err, folding.error), stream_close(&stream));
}
