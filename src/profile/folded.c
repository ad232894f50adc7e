/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "profile/files.h"
#include "profile/import.h"

static bool cut_suffix(struct text *text, struct text suffix)
{
	if (!text_ends(*text, suffix))
		return false;
	text->length -= suffix.length;
	return true;
}

/* Marks after a name in the output of ctprof and of flamegraph.pl's collectors. */
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

/* The unit in ns; 0: not a time, and stacks are counted as for an event. */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	[FOLDED_SAMPLES] = { "samples", 0 },
	[FOLDED_NS] = { "ns", 1 },
	[FOLDED_US] = { "us", NS_PER_S / 1000000 },
	[FOLDED_MS] = { "ms", NS_PER_S / 1000 },
	[FOLDED_S] = { "s", NS_PER_S },
};

const char *folded_unit_name(size_t number)
{
	return number < array_length(units) ? units[number].name : NULL;
}

static struct error *add_folded_line(struct profile *p, struct text line, enum folded_unit unit)
{
	struct sample sample = { .class = CLASS_EVENT, .cpu = CPU_ANY };
	const char *space = memrchr(line.bytes, ' ', line.length);
	struct text stack, value;
	struct error *err;

	if (!space)
		return error_create("expected 'FRAME;FRAME NUMBER'");
	stack = text_trim((struct text){ line.bytes, (size_t)(space - line.bytes) });
	value = (struct text){ space + 1, line.length - (size_t)(space + 1 - line.bytes) };
	if (!stack.length || !text_u64(value, &sample.count))
		return error_create("expected 'FRAME;FRAME NUMBER'");
	if (units[unit].ns) {
		sample.class = CLASS_ON_CPU;
		if (__builtin_mul_overflow(sample.count, units[unit].ns, &sample.ns))
			return error_create("%" PRIu64 " %s overflow the counter", sample.count,
					    units[unit].name);
		sample.count = 1;
	}
	err = add_stack(p, stack, &sample.node);
	return err ? err : profile_add(p, &sample);
}

struct error *profile_parse_folded(struct text bytes, struct profile **ret)
{
	return profile_parse_folded_in(bytes, FOLDED_SAMPLES, ret);
}

static struct error *add_unit(struct profile *p, enum folded_unit unit)
{
	const struct name *name = profile_name(p, units[unit].name, strlen(units[unit].name));

	return name && array_push(&p->events, name) ? NULL : &error_no_memory;
}

struct error *profile_parse_folded_in(struct text bytes, enum folded_unit unit,
				      struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *p = NULL;
	struct error *err = profile_create(&p);
	struct text line;
	size_t number = 0;

	if (!err)
		err = import_nobody(p);
	if (!err && !units[unit].ns)
		err = add_unit(p, unit);
	while (!err && text_cut(&bytes, '\n', &line)) {
		number++;
		line = text_trim(line);
		if (!line.length || *line.bytes == '#')
			continue;
		err = add_folded_line(p, line, unit);
		if (err && err != &error_no_memory)
			err = error_prefix(err, "line %zu", number);
	}
	if (err)
		return err;
	*ret = take_ptr(p);
	return NULL;
}
