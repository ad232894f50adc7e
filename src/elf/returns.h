/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds where a function returns: its RET instructions, and its jumps back to its own start.
 *
 *	struct returns returns = { 0 };
 *	if (returns_find(code, &returns) == RETURNS_FOUND)
 *		probe(returns.places.items[0]);
 *	returns_deinit(&returns);
 *
 * Only x86_64. capstone decodes instructions sequentially from the start. A breakpoint within an
 * instruction would corrupt it; so there is no answer if some code cannot be decoded, or a jump
 * leads into an instruction.
 */
#ifndef ELF_RETURNS_H
#define ELF_RETURNS_H

#include "base/array.h"
#include "base/text.h"

/* Larger functions, and those with more such places, are refused. */
#define RETURNS_CODE_MAX ((size_t)1 << 20)
#define RETURNS_MAX      4096

enum returns_state {
	RETURNS_FOUND,        /* `places` may still be empty: it never returns, or by a jump */
	RETURNS_NOT_DECODED,  /* the instruction at `stop` is not known */
	RETURNS_NOT_FOLLOWED, /* a jump leads into the middle of an instruction, to `stop` */
	RETURNS_TOO_LARGE,
	RETURNS_NO_MEMORY
};

struct returns {
	struct {
		ARRAY(uint64_t);
	} places, restarts; /* from the start of the code, ascending */
	uint64_t stop;
};

/* The code of one function, from its first instruction to its end. To be cleared in any case. */
enum returns_state returns_find(struct text code, struct returns *ret);
void returns_deinit(struct returns *returns);

#endif
