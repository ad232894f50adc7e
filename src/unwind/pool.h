/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Unwind tables in memory, as programs in the kernel read them: words of 32 bits in chunks, in
 * which a location is a number. 0 is no location. What is put down together is in one chunk.
 *
 *	space    what one process has mapped where: `count` mappings, by start, disjoint
 *	table    of one file: how many blocks, then where each of them is; one for each 64 KiB of
 *	         code from an address of the file on that is a multiple of 64 KiB. Blocks of a
 *	         large file are made when a walk first needs them, and marks them for that
 *	block    how many rows come before each of its 256 pages of 256 bytes, as 257 halves
 *	         of words, low one first; then the rows
 *
 *	row      where in its page it begins, in the upper 8 bits, and the number of its rule
 *
 * A row is in force until the next one. The first of a block begins with it. Rows of a page: at
 * most 255 (UNWIND_PAGE_ROWS).
 *
 * So a look-up reads two words to find the block, one or two for the page, and 8 rows of the page.
 */
#ifndef UNWIND_POOL_H
#define UNWIND_POOL_H

#include "unwind/rule.h"

#define UNWIND_CHUNK_BITS  17
#define UNWIND_CHUNK       (1u << UNWIND_CHUNK_BITS) /* words: 512 KiB */
#define UNWIND_CHUNK_BYTES (UNWIND_CHUNK * 4 + 64)   /* with room behind, where searches may look */
#define UNWIND_CHUNKS_MAX  4096                      /* 2 GiB */

#define UNWIND_BLOCK_BITS  16
#define UNWIND_PAGE_BITS   8
#define UNWIND_PAGES       256 /* of a block */
#define UNWIND_PAGE_ROWS   255
#define UNWIND_BLOCK_HEAD  129   /* words before the rows */
#define UNWIND_BLOCKS_MAX  65536 /* of a file: 4 GiB of code */

/* Instead of the location of a block; 0: it has no rows. */
enum unwind_place {
	UNWIND_PLACE_POINTER = 1, /* all of it by frame pointers */
	UNWIND_PLACE_UNMADE,      /* it is not made yet, and no walk has needed it */
	UNWIND_PLACE_WANTED,      /* it is not made yet, and a walk has */
	UNWIND_PLACE_FIRST = 8,   /* locations of blocks are not below */
};

/* The number of rows before a page, from its word in the head of the block. */
#define UNWIND_ROWS_BEFORE(word, page) ((word) >> (((page)&1) << 4) & 0xffff)

#define UNWIND_ROW(offset, rule)       ((__u32)(offset) << 24 | (rule))
#define UNWIND_ROW_OFFSET(row)         ((row) >> 24)
#define UNWIND_ROW_RULE(row)           ((row)&0xffffff)

/* Rules of all files, by their numbers. Those below are always there; a table has its own from
 * UNWIND_NUMBERS_FIXED on. */
#define UNWIND_RULES_MAX (1u << 17)
enum {
	UNWIND_NUMBER_NONE,
	UNWIND_NUMBER_OTHER,
	UNWIND_NUMBER_STOP,
	UNWIND_NUMBER_POINTER,
	UNWIND_NUMBERS_FIXED
};

/* No rule has it: that of a block that is not made yet. */
#define UNWIND_NUMBER_UNMADE 0xffffff

/* Kinds of mappings. */
enum unwind_mapping_kind {
	UNWIND_MAPPING_TABLE,   /* a file with a table */
	UNWIND_MAPPING_POINTER, /* code that is assumed to keep frame pointers: compiled by its
				 * process, or of a file without descriptions */
	UNWIND_MAPPING_PENDING, /* a file whose table is being made */
	UNWIND_MAPPINGS,        /* and for look-ups: nothing is mapped there */
};

struct unwind_mapping {
	__u64 start, end; /* addresses of the process */
	__u64 delta;      /* address of the process - delta = address in the table */
	__u32 table;      /* its location */
	__u32 kind;       /* enum unwind_mapping_kind */
};

#define UNWIND_MAPPING_WORDS (sizeof(struct unwind_mapping) / 4)
#define UNWIND_MAPPINGS_MAX  16383 /* of a process: what fits into a chunk */

/* Processes of which programs in the kernel know what they have mapped. */
#define UNWIND_PROCESSES_MAX 65536

/* A process. */
struct unwind_process {
	__u32 space, count; /* count 0: nothing is known */
	__u64 generation;   /* of what it has mapped; no two are the same, of any process */
	__u64 exec_pages;   /* that it may execute and not write, as of then; 0: do not compare */
	/* Of one that programs in the kernel record (process/mapping_record.h), else 0: its
	 * mm_struct, its slot, which is taken also if nothing is known, and the epoch. */
	__u64 memory;
	__u32 slot, epoch;
	__u32 is_busy; /* one of them is writing it */
	__u32 unused;
};

/* The ends of a walk. */
enum unwind_stop {
	UNWIND_GOES_ON,
	UNWIND_COMPLETE,    /* at a function without caller, or a return address of 0 */
	UNWIND_TRUNCATED,   /* as many frames as are wanted, and more there */
	UNWIND_NO_PROCESS,  /* nothing is known of the process yet; by frame pointers then */
	UNWIND_CHANGED,     /* something was unmapped since; by frame pointers then */
	UNWIND_NO_MAPPING,  /* an address where nothing is mapped */
	UNWIND_NO_TABLE,    /* a file whose table, or this part of it, is not made yet */
	UNWIND_NO_RULE,     /* code that its file does not describe */
	UNWIND_OTHER_RULE,  /* a rule that is not understood */
	UNWIND_NO_REGISTER, /* a register that is not known there */
	UNWIND_NO_MEMORY,   /* memory that cannot be read now */
	UNWIND_NO_SENSE,    /* an address that cannot be right: the stack is broken */
	UNWIND_POINTER_END, /* frame pointers end: usually all callers were met */
	UNWIND_STOPS
};
#define UNWIND_STOPS_ROOM 16 /* so that a mask bounds the index */

#endif
