/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the location of jemalloc's two counters of a thread, in the file that contains jemalloc.
 *
 * jemalloc counts the bytes that each thread allocates and frees in its thread-specific data
 * (`tsd_s` in include/jemalloc/internal/tsd.h): a variable in static thread-local storage, at a
 * fixed distance from the thread pointer, the same in all threads of a process. This needs:
 *
 * 1. The offsets of the two fields in that variable, from debug information of the file, or of its
 *    debug file. Without it, from the code: jemalloc has a table of the names that mallctl(3)
 *    knows, and the functions of "allocatedp" and "deallocatedp" compute the address of a field by
 *    one addition (jemalloc_code.h).
 *
 * 2. The block, which is the location of the variable. In a program its distance is fixed by the
 *    linker, and known from a symbol, or from the code that uses it. A shared library has a word in
 *    its GOT, in which the dynamic linker stores the distance; it is read from the process.
 *
 *	struct jemalloc_layout layout;
 *	enum jemalloc_refusal refusal = jemalloc_find(&file, &layout);
 *	if (refusal == JEMALLOC_FOUND)
 *		counters = thread_pointer + layout.block + layout.allocated;
 *
 * Nothing is guessed: if a step has no answer, or two, the result is a refusal.
 */
#ifndef ELF_JEMALLOC_H
#define ELF_JEMALLOC_H

#include "base/error.h"
#include "elf/debug_file.h"

/* Why there is no layout. */
enum jemalloc_refusal {
	JEMALLOC_FOUND,
	JEMALLOC_NOT_FOUND,      /* the file has no jemalloc in it */
	JEMALLOC_IN_DSO,         /* a library keeps its data in storage that is not static */
	JEMALLOC_ARCH_MISMATCH,  /* the file is for a processor we know nothing of */
	JEMALLOC_NO_OFFSETS,     /* neither debug information nor code tells the offsets */
	JEMALLOC_NO_BLOCK,       /* neither symbols nor code tell where the variable is */
	JEMALLOC_TWO_ANSWERS,    /* to any of these */
	JEMALLOC_TLS_ARITHMETIC, /* the variable would be outside of the storage */
	JEMALLOC_DEBUG_REFUSED,  /* debug information that would cost too much, and no other */
};

struct jemalloc_layout {
	uint16_t machine; /* of the file: EM_X86_64, EM_AARCH64 */
	bool by_slot;
	/* From the thread pointer to the variable: known, or in the process, in the word that is at
	 * address `slot` of the file. */
	int64_t block;
	uint64_t slot;
	/* Offsets of the fields in the variable, in bytes: multiples of 8, below
	 * JEMALLOC_OFFSET_MAX. */
	uint32_t allocated, deallocated;
};

#define JEMALLOC_OFFSET_MAX 65536

/* A file to search, whether it is the program itself or a library, and where its debug file might
 * be. */
struct jemalloc_file {
	const struct elf *elf;
	bool is_program;
	const char *path; /* as the process sees it; NULL: unknown */
	open_file *open;  /* NULL: look for no debug file */
	void *context;
};

enum jemalloc_refusal jemalloc_find(const struct jemalloc_file *file,
				    struct jemalloc_layout *ret) MUST_CHECK;

/*
 * The distance from the thread pointer of the variable at `value` in a program's thread-local
 * storage.
 *
 * x86_64 has the storage below the thread pointer (variant II), aarch64 above two words of the C
 * library (variant I); "ELF Handling For Thread-Local Storage", Drepper, 3.4. Its address has the
 * alignment of its address in the file (_dl_determine_tlsoffset() in glibc's elf/dl-tls.c). False
 * if it is outside the storage, or the machine is not supported.
 */
bool jemalloc_block_of(uint16_t machine, const Elf64_Phdr *tls, uint64_t value,
		       int64_t *ret) MUST_CHECK;

#endif
