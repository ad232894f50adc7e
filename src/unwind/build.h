/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind table of a file, from what its compiler wrote: .eh_frame and .debug_frame.
 *
 *	struct unwind_table table;
 *	struct error *err = unwind_build(&elf, &table);
 *	if (!err)
 *		use(&table);
 *	unwind_table_deinit(&table);
 *
 * The form is that of unwind/pool.h, but for locations: those are the caller's to give
 * (unwind/store.h). Numbers of rules below 4 are those that are always there; number n is
 * rules.items[n - 4] else.
 *
 * Each description of a function (FDE) has a row where it begins and one behind its end, which says
 * "nothing" unless another begins there. Two that overlap: the one that begins first counts, and
 * the other is cut, and counted. The file may be hostile: what it does not describe within bounds
 * has no rule, and is counted; the rest is there.
 */
#ifndef UNWIND_BUILD_H
#define UNWIND_BUILD_H

#include "base/array.h"
#include "base/error.h"
#include "elf/elf.h"
#include "unwind/pool.h"

/* Words of a table, after which no block is begun: 128 MiB. The largest that was seen has a tenth.
 */
#define UNWIND_TABLE_WORDS_MAX ((size_t)1 << 25)

#define UNWIND_NO_BLOCK        UINT32_MAX
#define UNWIND_POINTER_BLOCK   (UINT32_MAX - 1) /* no descriptions: follow frame pointers */
#define UNWIND_UNMADE_BLOCK    (UINT32_MAX - 2) /* made when it is needed */

struct unwind_table {
	uint64_t base; /* address of the file where the first block begins: a multiple of 64 KiB */
	struct {
		ARRAY(uint32_t);
	} blocks; /* where in `words` each begins, or one of the above */
	struct {
		ARRAY(uint32_t);
	} words;
	struct {
		ARRAY(struct unwind_rule);
	} rules;
	/* Statistics of the input. */
	size_t functions, rows;
	size_t overlapping; /* descriptions of functions that were cut */
	size_t refused;     /* and that could not be read */
};

/*
 * Make the table of a file. One with nothing to say about code gives a table without blocks. Gaps
 * have UNWIND_NUMBER_POINTER in a file with Go's tables of functions (.gopclntab), for Go keeps
 * frame pointers, and where they are large and their code looks as if it did; and
 * UNWIND_NUMBER_STOP from where the file begins to run on. Fails for want of memory, and on
 * machines that are not supported.
 */
struct error *unwind_build(const struct elf *elf, struct unwind_table *ret) MUST_CHECK;

/*
 * The table of a large file whose functions can be found by where they start: all its blocks are
 * UNWIND_UNMADE_BLOCK, and made by unwind_build_part() when they are needed. No blocks: make the
 * whole table.
 */
struct error *unwind_build_outline(const struct elf *elf, struct unwind_table *ret) MUST_CHECK;

/*
 * So many blocks of the table of a file with an outline, from the address `start` on, which is that
 * of a block. `ret` has these blocks only, and begins there. Described code has the rows that
 * unwind_build() gives it; other code is judged by what is near it.
 */
struct error *unwind_build_part(const struct elf *elf, uint64_t start, uint32_t blocks,
				struct unwind_table *ret) MUST_CHECK;

/* Does a block begin at what `blocks` says? */
static inline bool unwind_is_block(uint32_t at)
{
	return at < UNWIND_UNMADE_BLOCK;
}

/* Words of the block that begins at `at`, by what stands in it. */
static inline size_t unwind_block_words(const uint32_t *block)
{
	return UNWIND_BLOCK_HEAD + (block[UNWIND_PAGES / 2] & 0xffff);
}

/* Takes an empty one. */
void unwind_table_deinit(struct unwind_table *table);

#endif
