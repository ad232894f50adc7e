/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "stack/profile_file.h"
#include "stack/profile_import.h"

static bool cut_suffix(struct text *text, struct text suffix)
{
	if (!text_ends(*text, suffix))
		return false;
	text->length -= suffix.length;
	return true;
}

/* What output of ctprof and of flamegraph.pl's collectors says behind a name. */
static struct frame marked_frame(struct text *name)
{
	struct frame frame = { .kind = FRAME_USER };

	for (;;) {
		if (cut_suffix(name, TEXT("_[k]")))
			frame.kind = FRAME_KERNEL;
		else if (cut_suffix(name, TEXT("_[i]")))
			frame.inlined = true;
		else
			break;
	}
	return frame;
}

static struct error *add_stack(struct profile *p, struct text stack, uint32_t *ret)
{
	uint32_t node = NODE_NONE, number;
	struct text name;

	while (text_cut(&stack, ';', &name)) {
		struct frame frame = marked_frame(&name);
		struct error *err = import_name(p, name, &frame.name);

		if (!err && frame.kind == FRAME_USER && !frame.inlined)
			frame.kind = import_kind(frame.name);
		if (!err)
			err = profile_frame(p, &frame, &number);
		if (!err)
			err = profile_node(p, node, number, &node);
		if (err)
			return err;
	}
	*ret = node;
	return NULL;
}

static struct error *add_line(struct profile *p, struct text line)
{
	struct sample sample = { .class = CLASS_ON_CPU, .cpu = CPU_ANY, .count = 1 };
	const char *space = memrchr(line.bytes, ' ', line.length);
	struct text stack, value;
	struct error *err;

	if (!space)
		return error_create("expected 'FRAME;FRAME NUMBER'");
	stack = text_trim((struct text){ line.bytes, (size_t)(space - line.bytes) });
	value = (struct text){ space + 1, line.length - (size_t)(space + 1 - line.bytes) };
	if (!stack.length || !text_u64(value, &sample.ns))
		return error_create("expected 'FRAME;FRAME NUMBER'");
	err = add_stack(p, stack, &sample.node);
	return err ? err : profile_add(p, &sample);
}

struct error *profile_parse_folded(struct text bytes, struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *p = NULL;
	struct error *err = profile_create(&p);
	struct text line;
	size_t number = 0;

	if (!err)
		err = import_nobody(p);
	while (!err && text_cut(&bytes, '\n', &line)) {
		number++;
		line = text_trim(line);
		if (!line.length || *line.bytes == '#')
			continue;
		err = add_line(p, line);
		if (err && err != &error_no_memory)
			err = error_prefix(err, "line %zu", number);
	}
	if (err)
		return err;
	*ret = take_ptr(p);
	return NULL;
}
