/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over a stack in which everything comes from the input: registers, rules, mappings, tables
 * and the memory of the process. An input is
 *
 *	struct walk_head, rules, words of a chunk of tables, memory of the process
 *
 * and what it lacks is 0. Chunks have the size that unwind/pool.h gives them, so a search that
 * leaves one is seen.
 */
#ifndef TESTS_WALK_FUZZ_H
#define TESTS_WALK_FUZZ_H

#include "fuzz_target.h"
#include "unwind/user_unwind.h"

#define WALK_RULES 16
#define WALK_MOST  64

struct walk_head {
	uint64_t ip, sp, bp, bx;
	uint64_t other; /* each of the others, plus its number */
	uint64_t memory_start;
	uint32_t space, count; /* of the process */
	uint32_t words_at;     /* where the words of the chunk begin */
	uint16_t word_count;
	uint8_t rule_count;
	uint8_t flags; /* enum walk_flag */
};

enum walk_flag {
	WALK_HAS_OTHERS = 1,
	WALK_ONLY_TABLES = 2,
	WALK_NO_STORE = 4,
	WALK_CUTS_READS = 8, /* to `other` % 16 bytes */
};

struct walk_input {
	struct walk_head head;
	struct unwind_process process;
	struct unwind_registers registers;
	const struct unwind_store *store; /* NULL: there is none */
	const uint8_t *memory;            /* from head.memory_start on */
	size_t bytes;
	bool only_tables;
};

/* The store is one for all inputs: take the next only when done with the last. */
struct walk_input walk_input_of(const uint8_t *data, size_t size);

/* The word at an address of its memory, without any window; false: not all of it is there. */
bool walk_input_word(const struct walk_input *input, uint64_t address, uint64_t *ret);

/* What holds for every walk. */
void walk_check(const struct walk_input *input, const uint64_t *frames, size_t count, size_t most);

#endif
