/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/profile_scene.h"

#include <stdio.h>

struct profile *build_profile(void)
{
	struct profile *profile = NULL;

	expect_ok(profile_create(&profile));
	return profile;
}

static const struct name *named(struct profile *p, const char *text)
{
	const struct name *name = text ? profile_name(p, text, strlen(text)) : NULL;

	assert_true(name || !text);
	return name;
}

uint32_t build_profile_thread(struct profile *p, uint32_t tgid, uint32_t tid, const char *process,
			      const char *name, const char *cgroup)
{
	struct profile_thread thread = { .tid = tid,
					 .tgid = tgid,
					 .uid = UID_UNKNOWN,
					 .name = named(p, name),
					 .process = named(p, process),
					 .cgroup = named(p, cgroup) };

	assert_true(array_push(&p->threads, thread));
	return (uint32_t)p->threads.count - 1;
}

static bool cut_suffix(struct text *text, struct text suffix)
{
	if (!text_ends(*text, suffix))
		return false;
	text->length -= suffix.length;
	return true;
}

uint32_t build_stack(struct profile *p, const char *stack)
{
	struct text rest = text_of(stack), piece;
	uint32_t node = NODE_NONE;

	while (text_cut(&rest, ';', &piece)) {
		struct frame frame = { 0 };
		uint32_t number;

		if (cut_suffix(&piece, TEXT("_[k]")))
			frame.kind = FRAME_KERNEL;
		frame.inlined = cut_suffix(&piece, TEXT("_[i]"));
		frame.name = profile_name(p, piece.bytes, piece.length);
		assert_non_null(frame.name);
		expect_ok(profile_frame(p, &frame, &number));
		expect_ok(profile_node(p, node, number, &node));
	}
	return node;
}

struct sample *build_sample(struct profile *p, uint32_t thread, enum profile_class class,
			    const char *stack, uint64_t ns, uint64_t count)
{
	struct sample sample = { .thread = thread,
				 .node = build_stack(p, stack),
				 .class = (uint16_t) class,
				 .cpu = CPU_ANY,
				 .ns = ns,
				 .count = count };

	expect_ok(profile_add(p, &sample));
	return &p->samples.items[p->samples.count - 1];
}

/* --- trees --- */

struct lines_text {
	char bytes[4096];
	size_t used;
	const struct flame *flame;
	bool is_diff;
};

static void put(struct lines_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void put(struct lines_text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->bytes + text->used, sizeof(text->bytes) - text->used, format,
			   arguments);
	va_end(arguments);
	text->used += (size_t)length;
	assert_true(text->used < sizeof(text->bytes));
}

static bool put_line(void *context, const struct flame_line *line)
{
	struct lines_text *text = context;

	if (text->used)
		put(text, " ");
	for (size_t i = 0; i < line->depth; i++)
		put(text, "%s%s", i ? ";" : "", flame_name(text->flame, line->path[i])->bytes);
	if (text->is_diff)
		put(text, " %llu/", (unsigned long long)line->baseline);
	else
		put(text, " ");
	put(text, "%llu", (unsigned long long)line->value);
	return true;
}

const char *flame_text(const struct flame *flame)
{
	static struct lines_text text;

	text = (struct lines_text){ .flame = flame, .is_diff = flame->is_diff };
	expect_ok(flame_each_line(flame, put_line, &text));
	return text.bytes;
}

size_t stack_depth(const struct profile *p, uint32_t node)
{
	size_t depth = 0;

	for (; node != NODE_NONE; node = p->nodes.items[node].parent)
		depth++;
	return depth;
}

bool has_unnamed_frame(const struct profile *p)
{
	for (size_t i = 0; i < p->frames.count; i++)
		if (!p->frames.items[i].name)
			return true;
	return false;
}
