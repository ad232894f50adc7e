/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/copying.h"

#include <string.h>

/* So many numbers, none of which is known; at least one, so that NULL is no memory. */
static uint32_t *unknown_numbers(size_t count)
{
	uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, (count + 1) * sizeof(*numbers));
	return numbers;
}

struct error *copying_begin(struct profile_copying *c, const struct profile *from,
			    struct profile *into)
{
	*c = (struct profile_copying){
		.from = from,
		.into = into,
		.frames = unknown_numbers(from->frames.count),
		.nodes = unknown_numbers(from->nodes.count),
		.threads = unknown_numbers(from->threads.count),
		.wakers = unknown_numbers(from->wakers.count),
	};
	if (c->frames && c->nodes && c->threads && c->wakers)
		return NULL;
	copying_end(c);
	return &error_no_memory;
}

void copying_end(struct profile_copying *c)
{
	free(c->frames);
	free(c->nodes);
	free(c->threads);
	free(c->wakers);
	array_deinit(&c->chain);
}

/* NULL stays NULL. */
static struct error *copy_name(struct profile_copying *c, const struct name **name)
{
	if (!*name)
		return NULL;
	*name = profile_name(c->into, (*name)->bytes, (*name)->length);
	return *name ? NULL : &error_no_memory;
}

static struct error *copy_frame(struct profile_copying *c, uint32_t number)
{
	struct frame frame = c->from->frames.items[number];
	struct error *err = copy_name(c, &frame.name);

	if (!err)
		err = copy_name(c, &frame.module);
	if (!err)
		err = copy_name(c, &frame.source);
	return err ? err : profile_frame(c->into, &frame, &c->frames[number]);
}

struct error *copying_node(struct profile_copying *c, uint32_t node, uint32_t *ret)
{
	uint32_t parent = NODE_NONE;

	array_clear(&c->chain);
	for (; node != NODE_NONE; node = c->from->nodes.items[node].parent) {
		if (c->nodes[node] != NODE_NONE) {
			parent = c->nodes[node];
			break;
		}
		if (!array_push(&c->chain, node))
			return &error_no_memory;
	}
	for (size_t i = c->chain.count; i-- > 0;) {
		const uint32_t number = c->chain.items[i];
		const uint32_t frame = c->from->nodes.items[number].frame;
		struct error *err = NULL;

		if (c->frames[frame] == NODE_NONE)
			err = copy_frame(c, frame);
		if (!err)
			err = profile_node(c->into, parent, c->frames[frame], &c->nodes[number]);
		if (err)
			return err;
		parent = c->nodes[number];
	}
	*ret = parent;
	return NULL;
}

struct error *copying_thread(struct profile_copying *c, uint32_t number, uint32_t *ret)
{
	if (c->threads[number] == NODE_NONE) {
		struct profile_thread thread = c->from->threads.items[number];
		struct error *err = copy_name(c, &thread.name);

		if (!err)
			err = copy_name(c, &thread.process);
		if (!err)
			err = copy_name(c, &thread.cgroup);
		if (err)
			return err;
		if (!array_push(&c->into->threads, thread))
			return &error_no_memory;
		c->threads[number] = (uint32_t)c->into->threads.count - 1;
	}
	*ret = c->threads[number];
	return NULL;
}

struct error *copying_waker(struct profile_copying *c, uint32_t number, uint32_t *ret)
{
	if (number && c->wakers[number - 1] == NODE_NONE) {
		struct waker waker = c->from->wakers.items[number - 1];
		struct error *err = copy_name(c, &waker.name);

		if (err)
			return err;
		if (!array_push(&c->into->wakers, waker))
			return &error_no_memory;
		c->wakers[number - 1] = (uint32_t)c->into->wakers.count - 1;
	}
	*ret = number ? c->wakers[number - 1] + 1 : 0;
	return NULL;
}

struct error *copying_meta(const struct profile *from, struct profile *into)
{
	const struct {
		const struct name **into, *from;
	} names[] = {
		{ &into->meta.host, from->meta.host },
		{ &into->meta.kernel, from->meta.kernel },
		{ &into->meta.version, from->meta.version },
		{ &into->meta.mode, from->meta.mode },
		{ &into->meta.target, from->meta.target },
	};

	for (size_t i = 0; i < array_length(names); i++) {
		if (!names[i].from)
			continue;
		*names[i].into = profile_name(into, names[i].from->bytes, names[i].from->length);
		if (!*names[i].into)
			return &error_no_memory;
	}
	into->meta.on_cpu_period_ns = from->meta.on_cpu_period_ns;
	into->meta.cpus = from->meta.cpus;
	into->meta.is_whole_host = from->meta.is_whole_host;
	return NULL;
}
