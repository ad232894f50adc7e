/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file behind a mapping: which one it is, and its unwind table, read or made.
 */
#ifndef PROCESS_MAPPED_FILE_H
#define PROCESS_MAPPED_FILE_H

#include "base/array.h"
#include "base/word_map.h"
#include "profile/profile.h"
#include "unwind/cache.h"

/* What a mapping is of, by what it is called. */
enum mapped_kind {
	MAPPED_FILE,
	MAPPED_VDSO,
	MAPPED_MEMORY, /* without a file: code that its process made */
	MAPPED_OTHER,  /* of the kernel; nothing is known of it */
};
enum mapped_kind mapped_kind(const struct profile_mapping *mapping);

/*
 * What tells a file from others: the build-id of the mapping, if only root or we can have written
 * the file; else the device and inode of the file that the process has there now, and when it was
 * last changed. That is asked of the kernel alone, and waits for no file system, but for the lock
 * of the process's memory map: it is a call that may hang (base/guard.h). Where the kernel does not
 * say which file it is, the build-id together with the user of the process. False: it cannot be
 * told.
 */
bool mapped_file_identify(uint32_t pid, const struct profile_mapping *mapping, struct words *ret);

enum table_outcome {
	TABLE_FAILED, /* it could not be opened or read, or was another file */
	TABLE_MADE,
	TABLE_FROM_CACHE,
	TABLE_NO_CFI, /* it says nothing about its code */
};

/* A piece of a file that is loaded (PT_LOAD). */
struct file_segment {
	uint64_t offset, bytes; /* in the file */
	uint64_t address;       /* of the file: p_vaddr */
	bool is_code;
};

/*
 * How far an address of the process is from that of the file: process - file, modulo 2^64. Of the
 * segment that the mapping is of, for linkers (lld, mold, gold) leave gaps between segments in
 * memory that are not there in the file; one that may be executed before others. The mapping may be
 * a part of it, or go beyond. `page` is in bytes. False: it is of no segment.
 */
bool file_bias(const struct file_segment *segments, size_t count, uint64_t page,
	       const struct profile_mapping *mapping, uint64_t *ret);

struct mapped_file {
	enum table_outcome outcome;
	struct unwind_table table;
	struct {
		ARRAY(struct file_segment);
	} segments;
};

/*
 * Open the file as the process sees it, see that it is `identity`, and make its table, or read it
 * from the cache, which may be NULL. The file is kept for its names (profile/kept.h), unless `kept`
 * is NULL. May take long, or hang with a file system. All threads may.
 */
void mapped_file_make(uint32_t pid, const struct profile_mapping *mapping,
		      const struct words *identity, struct unwind_cache *cache, struct kept *kept,
		      struct mapped_file *ret);
void mapped_file_deinit(struct mapped_file *file);

#endif
