/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of stacks in the tables: the same on all hosts and in all versions, so that a stack
 * is stored once for all of them.
 *
 * The hash of a frame is text_hash() of its kind (128 more if it is inlined), name, module and
 * source, each with a NUL behind it, and its line as four bytes, little-endian. The hash of a stack
 * is text_hash() of the hash of its innermost frame as eight bytes, little-endian, with the hash of
 * the caller's stack (0: none) as the seed. 0 becomes 1. Addresses are not part of it, since they
 * differ from one process to the next.
 */
#ifndef STORE_STACK_HASH_H
#define STORE_STACK_HASH_H

#include "profile/profile.h"

/* All zero is empty. It keeps its memory for the next profile. */
struct stack_hashes {
	struct {
		ARRAY(uint64_t);
	} frames, nodes; /* of the profile, by number */
	struct {
		ARRAY(char);
	} bytes;
};

/* Of all frames and nodes of a profile. */
struct error *stack_hashes_take(struct stack_hashes *hashes,
				const struct profile *profile) MUST_CHECK;

/* The hash of the stack whose innermost frame is that of `node`; of NODE_NONE 0. */
static inline uint64_t stack_hash(const struct stack_hashes *hashes, uint32_t node)
{
	return node == NODE_NONE ? 0 : hashes->nodes.items[node];
}

void stack_hashes_deinit(struct stack_hashes *hashes);

/* What `kinds` of the table has for a frame. */
#define STACK_KIND_INLINED 128
static inline uint8_t stack_kind(const struct frame *frame)
{
	return (uint8_t)(frame->kind | (frame->inlined ? STACK_KIND_INLINED : 0));
}

#endif
