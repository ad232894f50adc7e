/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A limit on the memory of this process, which everything that grows asks before it does:
 *
 *	struct memory_limit limit = { .bytes = 64 << 20, .beside = of_kernel };
 *	...                              before growing
 *	count = memory_limit_allow(&limit, 8, chunk_bytes);
 *
 * What is resident counts, whoever took it: the program, its libraries and its heap, too. A part of
 * the limit is kept for what does not ask.
 */
#ifndef BASE_MEMORY_LIMIT_H
#define BASE_MEMORY_LIMIT_H

#include <stdint.h>

struct memory_limit {
	uint64_t bytes;   /* 0: there is none */
	uint64_t beside;  /* memory that counts but is not resident here, now or not yet */
	uint64_t refused; /* requests that were not allowed in full */
};

/* How many of `count` pieces of so many bytes may be taken now, by what is resident
 * (/proc/self/statm). NULL and no limit allow all. Where nothing is known, nothing is allowed.
 * Any thread may ask. */
uint64_t memory_limit_allow(struct memory_limit *limit, uint64_t count, uint64_t bytes);

/* The bytes up to the limit, with those for what does not ask: for memory that is given back at
 * once. UINT64_MAX: there is no limit. Any thread may ask. */
uint64_t memory_limit_left(const struct memory_limit *limit);

#endif
