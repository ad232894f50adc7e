/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks as offcputime of BCC prints them (tools/offcputime.py): a line for each frame, innermost
 * first, the kernel's before those of the program and "--" between; then the thread; then the time
 * in microseconds, or the hits. The longest stack comes last, where a terminal ends.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/profile_report.h"
#include "report/profile_stack.h"
#include "report/stream.h"

/* The time of one thread in one stack. */
struct total {
	uint32_t thread, node;
	uint64_t value;
};

struct totals {
	ARRAY(struct total);
	struct word_map numbers;
};

static struct error *add_sample(struct totals *totals, const struct sample *sample)
{
	uint32_t *number =
		word_map_at(&totals->numbers, (struct words){ { sample->thread, sample->node } });
	struct total total = { sample->thread, sample->node, 0 };

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(totals, total))
			return &error_no_memory;
		*number = (uint32_t)totals->count - 1;
	}
	totals->items[*number].value += sample->class == CLASS_EVENT ? sample->count : sample->ns;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
				      : (x->node > y->node) - (x->node < y->node);
}

static struct error *print_frames(FILE *out, const struct profile *profile, uint32_t node)
{
	bool in_kernel = false;

	for (; node != NODE_NONE; node = profile->nodes.items[node].parent) {
		const struct frame *frame =
			&profile->frames.items[profile->nodes.items[node].frame];
		_cleanup_free_ char *name = frame_visible(frame);

		if (!name)
			return &error_no_memory;
		if (in_kernel && frame->kind == FRAME_USER)
			fputs("    --\n", out);
		in_kernel = frame->kind == FRAME_KERNEL;
		fprintf(out, "    %s\n", name);
	}
	return NULL;
}

static struct error *print_totals(FILE *out, const struct profile *profile,
				  const struct totals *totals, uint64_t unit)
{
	for (size_t i = 0; i < totals->count; i++) {
		const struct total *total = &totals->items[i];
		_cleanup_free_ char *thread =
			thread_visible(&profile->threads.items[total->thread]);
		struct error *err = print_frames(out, profile, total->node);

		if (err)
			return err;
		if (!thread)
			return &error_no_memory;
		fprintf(out, "    %-16s %s\n        %" PRIu64 "\n\n", "-", thread,
			total->value / unit);
	}
	return NULL;
}

struct error *profile_print_stacks(const struct profile_report *report, json_sink sink,
				   void *context)
{
	const struct profile *profile = report->profile;
	unsigned classes = profile_classes_shown(report);
	struct totals totals = { 0 };
	struct error *err = NULL;
	struct stream stream;

	for (size_t i = 0; i < profile->samples.count && !err; i++)
		if (classes >> profile->samples.items[i].class & 1)
			err = add_sample(&totals, &profile->samples.items[i]);
	if (totals.count)
		qsort(totals.items, totals.count, sizeof(*totals.items), by_value);
	if (!err)
		err = stream_open(&stream, sink, context);
	if (!err) {
		err = print_totals(stream.out, profile, &totals,
				   report->flame->is_events ? 1 : 1000);
		err = error_first(err, stream_close(&stream));
	}
	array_deinit(&totals);
	word_map_deinit(&totals.numbers);
	return err;
}
