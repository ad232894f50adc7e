/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/profile_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/known_frames.h"
#include "report/visible.h"

/* Make `text` printable, and free it. */
static char *visible(char *text)
{
	char *copy = text ? text_visible(text_of(text)) : NULL;

	free(text);
	return copy;
}

char *frame_visible(const struct frame *frame)
{
	const char *slash = frame->module ? strrchr(frame->module->bytes, '/') : NULL;

	if (frame->name)
		return text_visible(frame_shown_name(frame->name));
	if (!frame->module || !frame->module->length)
		return strdup("[unknown]");
	return visible(text_print("%s+0x%" PRIx64, slash ? slash + 1 : frame->module->bytes,
				  frame->address));
}

char *thread_visible(const struct profile_thread *thread)
{
	return visible(text_print("%s (%" PRIu32 ")", thread->name->bytes, thread->tid));
}

/* The scheduler is at the end of every wait. */
static bool is_scheduler(const struct frame *frame)
{
	return frame->kind == FRAME_KERNEL && frame->name &&
	       (strcmp(frame->name->bytes, "__schedule") == 0 ||
		strcmp(frame->name->bytes, "schedule") == 0);
}

static void print_frame(FILE *out, const struct frame *frame, bool *is_first)
{
	_cleanup_free_ char *name = frame_visible(frame);

	fprintf(out, "%s%s", *is_first ? "" : " < ", name ? name : "");
	*is_first = false;
}

char *stack_visible(const struct profile *profile, uint32_t node, size_t most)
{
	size_t counts[] = { [FRAME_USER] = 0, [FRAME_KERNEL] = 0, [FRAME_NOTE] = 0 }, length;
	bool is_first = true, left_out = false;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (; node != NODE_NONE; node = profile->nodes.items[node].parent) {
		const struct frame *frame =
			&profile->frames.items[profile->nodes.items[node].frame];

		if (is_first && is_scheduler(frame))
			continue;
		if (counts[frame->kind]++ >= most) {
			left_out = true;
			continue;
		}
		if (left_out)
			fputs(" < ...", out);
		left_out = false;
		print_frame(out, frame, &is_first);
	}
	if (left_out)
		fputs(" < ...", out);
	return file_close_memory(out, &text) ? text : NULL;
}

unsigned profile_classes_shown(const struct profile_report *report)
{
	if (report->view->classes)
		return report->view->classes &
		       (report->flame->is_events ? FLAME_EVENTS : ~FLAME_EVENTS);
	return report->flame->is_events ? FLAME_EVENTS : FLAME_ALL & ~FLAME_EVENTS;
}
