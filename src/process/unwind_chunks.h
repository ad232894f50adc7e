/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of unwind tables, shared with programs in the kernel: chunks in maps of their own,
 * that are put into an array of maps, and an array of rules.
 */
#ifndef PROCESS_UNWIND_CHUNKS_H
#define PROCESS_UNWIND_CHUNKS_H

#include "unwind/store.h"

struct unwind_chunks {
	int outer; /* map of chunks; not owned */
	struct unwind_rule *rules;
	struct {
		ARRAY(void *);
	} mapped; /* some may be ahead of what was asked for */
};

/* The map of rules must be one that can be mapped into memory. Both stay the caller's. */
struct error *unwind_chunks_init(struct unwind_chunks *chunks, int outer, int rules) MUST_CHECK;

/* For unwind_store_create; `context` is the struct. Numbers count from 0. */
struct error *unwind_chunks_add(void *context, uint32_t number, uint32_t **ret) MUST_CHECK;

/* Takes one that is all zero. */
void unwind_chunks_deinit(struct unwind_chunks *chunks);

#endif
