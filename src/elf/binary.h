/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program or library with all that names its addresses: its symbols, those of its debug file,
 * those packed into it, the stubs of its calls, and its debug information.
 *
 *	struct binary *binary;
 *	if (binary_open(fd, &options, &binary) == 0) {
 *		if (binary_address(binary, offset, mapped, &address) &&
 *		    binary_find(binary, address, &found))
 *			show(found.name);
 *		binary_destroy(binary);
 *	}
 */
#ifndef ELF_BINARY_H
#define ELF_BINARY_H

#include "base/cleanup.h"
#include "elf/debug_file.h"
#include "elf/functions.h"
#include "elf/inlined.h"

struct binary_options {
	const char *path; /* of the file, as `open` has it; NULL: unknown */
	open_file *open;  /* for debug files; NULL: look for none */
	void *context;
	uint64_t *inlined_work; /* see elf/inlined.h; NULL: do not look for inlined functions */
	/* For the functions; 0: no limit. A binary that may need more is not opened (ENOMEM). */
	uint64_t memory;
};

struct binary;

/* Returns 0 or an errno: ENOMEM without memory, or beyond that of the options, ENOEXEC when it is
 * no ELF file that we read. The descriptor is the caller's, and must stay open. */
int binary_open(int fd, const struct binary_options *options, struct binary **ret);

/* The same of bytes in memory, which must stay. */
int binary_open_bytes(struct text bytes, const struct binary_options *options, struct binary **ret);

/* Takes NULL. */
void binary_destroy(struct binary *binary);
DEFINE_CLEANUP(binary_destroy, struct binary *)

/* The number of bytes of files that were read for it so far. */
uint64_t binary_copied(const struct binary *binary);

/* Are its files as they were when it was opened? */
bool binary_is_current(const struct binary *binary);

/* The memory that it keeps after binary_release(). */
size_t binary_bytes(const struct binary *binary);

/* Release what was read, but for the functions and, after a restart, debug information that takes
 * no more than BINARY_INLINED_BYTES_MAX. binary_restart() must come before the next search, which
 * spends `inlined_work` as in binary_options. */
#define BINARY_INLINED_BYTES_MAX ((size_t)16 << 20)
void binary_release(struct binary *binary);
void binary_restart(struct binary *binary, uint64_t *inlined_work);

/* The build-id, of any length; empty if there is none. */
struct text binary_build_id(const struct binary *binary);

/*
 * Convert a file offset to an address of the file: `offset` is in a mapping that begins at `mapped`
 * of the file. False: it is in no segment.
 *
 * Segments determine the address of each part of a file; a load bias computed from the first one
 * would be wrong where linkers (lld, mold, gold) leave gaps between them. If two segments have the
 * same bytes, the one with code counts.
 */
bool binary_address(const struct binary *binary, uint64_t offset, uint64_t mapped, uint64_t *ret);

/* Read the debug information for these addresses, and for those behind each of them. Only these may
 * be searched for then. Without this call, the first search reads all of it. */
void binary_prepare(struct binary *binary, const struct dwarf_addresses *addresses);

struct binary_found {
	char name[FUNCTION_NAME_MAX]; /* to be shown; never empty */
	size_t length;
	uint64_t start;               /* address of the function */
	struct inlined_stack inlined; /* its first function is this one; names are of symbols */
};

/* False: nothing names the address. Ask in order of addresses. Texts live until the next call. */
bool binary_find(struct binary *binary, uint64_t address, struct binary_found *ret);

#endif
