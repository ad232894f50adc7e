/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "profile/pprof.h"

/* The functions in which all waits end. */
static const char *const waiting[] = {
	"__schedule",
	"schedule",
	"schedule_timeout",
	"io_schedule",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
	"io_schedule_timeout",
	"schedule_preempt_disabled",
	"preempt_schedule",
	"preempt_schedule_common",
	"preempt_schedule_irq",
	"preempt_schedule_notrace",
};

/* Compilers put ".constprop.0" and the like behind names. */
static bool is_called(const struct name *name, const char *wanted)
{
	const size_t length = strlen(wanted);

	return name && name->length >= length && memcmp(name->bytes, wanted, length) == 0 &&
	       (name->length == length || name->bytes[length] == '.');
}

static bool is_waiting(const struct frame *frame)
{
	for (size_t i = 0; i < array_length(waiting) && frame->kind == FRAME_KERNEL; i++)
		if (is_called(frame->name, waiting[i]))
			return true;
	return false;
}

/* pprof matches names alone, and drops the callees of a matching function as well: a function of a
 * program with the same name, a waker above the waiting stack, or an interrupt would be dropped
 * too. */
static bool loses_others(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->nodes.count; i++) {
		const struct node *node = &p->nodes.items[i];
		const struct frame *frame = &p->frames.items[node->frame];

		if (frame->kind != FRAME_KERNEL && is_called(frame->name, name))
			return true;
		if (node->parent != NODE_NONE && !is_waiting(frame) &&
		    is_waiting(&p->frames.items[p->nodes.items[node->parent].frame]))
			return true;
	}
	return false;
}

struct error *pprof_frames_to_drop(const struct profile *profile, char **ret)
{
	const char *before = "";
	size_t length;
	FILE *out = open_memstream(ret, &length);

	if (!out)
		return &error_no_memory;
	for (size_t i = 0; i < array_length(waiting); i++) {
		if (loses_others(profile, waiting[i]))
			continue;
		fprintf(out, "%s%s(\\..*)?", before, waiting[i]);
		before = "|";
	}
	return file_close_memory(out, ret) ? NULL : &error_no_memory;
}
