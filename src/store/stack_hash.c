/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/stack_hash.h"

static char *put_name(char *at, const struct name *name)
{
	struct text text = name_text(name);

	if (text.length)
		memcpy(at, text.bytes, text.length);
	at += text.length;
	*at++ = '\0';
	return at;
}

static struct error *hash_frame(struct stack_hashes *hashes, const struct frame *frame,
				uint64_t *ret)
{
	size_t length = 1 + name_text(frame->name).length + name_text(frame->module).length +
			name_text(frame->source).length + 3 + sizeof(frame->line);
	char *at;

	hashes->bytes.count = 0;
	if (!array_reserve(&hashes->bytes, length))
		return &error_no_memory;
	at = hashes->bytes.items;
	*at++ = (char)stack_kind(frame);
	at = put_name(at, frame->name);
	at = put_name(at, frame->module);
	at = put_name(at, frame->source);
	for (unsigned i = 0; i < sizeof(frame->line); i++)
		*at++ = (char)(frame->line >> (8 * i));
	*ret = text_hash((struct text){ hashes->bytes.items, length }, 0);
	return NULL;
}

static uint64_t hash_node(uint64_t caller, uint64_t frame)
{
	char bytes[sizeof(frame)];
	uint64_t hash;

	for (unsigned i = 0; i < sizeof(frame); i++)
		bytes[i] = (char)(frame >> (8 * i));
	hash = text_hash((struct text){ bytes, sizeof(bytes) }, caller);
	return hash ? hash : 1;
}

struct error *stack_hashes_take(struct stack_hashes *hashes, const struct profile *profile)
{
	size_t frames = profile->frames.count, nodes = profile->nodes.count;

	array_clear(&hashes->frames);
	array_clear(&hashes->nodes);
	if (!array_reserve(&hashes->frames, frames) || !array_reserve(&hashes->nodes, nodes))
		return &error_no_memory;
	for (size_t i = 0; i < frames; i++) {
		struct error *err =
			hash_frame(hashes, &profile->frames.items[i], &hashes->frames.items[i]);

		if (err)
			return err;
	}
	/* Callers have smaller numbers. */
	for (size_t i = 0; i < nodes; i++) {
		const struct node *node = &profile->nodes.items[i];

		hashes->nodes.items[i] = hash_node(stack_hash(hashes, node->parent),
						   hashes->frames.items[node->frame]);
	}
	hashes->frames.count = frames;
	hashes->nodes.count = nodes;
	return NULL;
}

void stack_hashes_deinit(struct stack_hashes *hashes)
{
	array_deinit(&hashes->frames);
	array_deinit(&hashes->nodes);
	array_deinit(&hashes->bytes);
}
