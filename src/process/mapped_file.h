/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file behind a mapping: its identity, where it is loaded, and its unwind table.
 */
#ifndef PROCESS_MAPPED_FILE_H
#define PROCESS_MAPPED_FILE_H

#include "base/array.h"
#include "base/memory_limit.h"
#include "base/word_map.h"
#include "profile/profile.h"
#include "unwind/cache.h"

/* The kind of a mapping, by its path. */
enum mapped_kind {
	MAPPED_FILE,
	MAPPED_VDSO,
	MAPPED_MEMORY, /* without a file: code that its process made */
	MAPPED_OTHER,  /* of the kernel; nothing is known of it */
};
enum mapped_kind mapped_kind(const struct profile_mapping *mapping);

/* The inode of a file, as stat(2) shows it. Without an inode number: it is not known. */
struct file_inode {
	uint64_t number, changed_ns; /* the time of the last change */
	uint32_t device;             /* as the kernel numbers it: major << 20 | minor */
};

/*
 * Identify a file: by the build-id of the mapping, if only root or we can have written the file;
 * else by the device and inode of the file that the process has there now, and the time of its last
 * change. The kernel answers without its file system, but takes the lock of the memory map of the
 * process: it is a call that may hang (base/guard.h). Where the kernel does not show the file, the
 * build-id and the user of the process identify it. False: it cannot be identified.
 */
bool mapped_file_identify(uint32_t pid, const struct profile_mapping *mapping, struct words *ret);

enum file_likeness {
	FILE_SAME,
	FILE_OTHER,   /* its file system shows another device than its inodes have */
	FILE_UNKNOWN, /* it cannot be looked at, or is another one by now */
};

/* Identify the file of a mapping whose inode is known from the kernel. If the process has ended,
 * the file is looked for by its path. A call that may hang, as above. */
enum file_likeness mapped_file_identify_inode(uint32_t pid, const struct profile_mapping *mapping,
					      const struct file_inode *inode, struct words *ret);

/* The identity that a file with the build-id of the mapping has if only root or we can have written
 * it. False: the mapping has no build-id. */
bool mapped_file_by_build_id(const struct profile_mapping *mapping, struct words *ret);

enum table_outcome {
	TABLE_FAILED,  /* it could not be opened or read, or was another file */
	TABLE_NO_ROOM, /* by the limit on memory */
	TABLE_MADE,
	TABLE_FROM_CACHE,
	TABLE_OUTLINED, /* it is large: parts of the table are made when they are needed */
	TABLE_NO_CFI,   /* it describes none of its code */
};

/* A piece of a file that is loaded (PT_LOAD). */
struct file_segment {
	uint64_t offset, bytes; /* in the file */
	uint64_t address;       /* of the file: p_vaddr */
	bool is_code;
};

/*
 * The load bias: address in the process - address in the file, modulo 2^64. It is that of the
 * segment which the mapping shows, preferably one of code, because linkers (lld, mold, gold) leave
 * gaps between segments in memory that are not in the file. The mapping may be a part of the
 * segment, or go beyond it. `page` is in bytes. False: the mapping shows no segment.
 */
bool file_bias(const struct file_segment *segments, size_t count, uint64_t page,
	       const struct profile_mapping *mapping, uint64_t *ret);

/* How much of a table may be made: a mask of bits. */
enum table_extent { TABLE_MAY_BE_OUTLINED = 1, TABLE_MAY_BE_WHOLE = 2 };

struct mapped_file {
	enum table_outcome outcome;
	int fd;                  /* of TABLE_OUTLINED, for its parts; else -1 */
	struct file_inode inode; /* of the file that was read, if it did not change meanwhile */
	struct unwind_table table;
	struct {
		ARRAY(struct file_segment);
	} segments;
};

/*
 * Open the file as the process sees it, check that it is `identity`, and read its table from the
 * cache on disk (NULL: none) or make it; of a large file, make an outline, as far as it `may` (enum
 * table_extent). The file is kept for its names (profile/kept.h), unless `kept` is NULL. It may
 * take long, or hang with a file system. Any thread may call it.
 */
void mapped_file_make(uint32_t pid, const struct profile_mapping *mapping,
		      const struct words *identity, unsigned may, struct unwind_cache *cache,
		      struct kept *kept, struct mapped_file *ret);

/* Adjacent blocks of a table. */
struct table_part {
	uint32_t first, count; /* number in the table, and how many */
	bool is_made;          /* `table` has these blocks */
	struct unwind_table table;
};

/* Make parts of the table of an outlined file, whose first block begins at `base`. Those of a file
 * that has changed since are not made (TABLE_FAILED), and none if `limit` (NULL: none) refuses the
 * memory of `at_once` calls like this one (TABLE_NO_ROOM). As before, it may take long. */
enum table_outcome mapped_file_make_parts(int fd, const struct words *identity, uint64_t base,
					  struct memory_limit *limit, unsigned at_once,
					  struct table_part *parts, size_t count);
void mapped_file_deinit(struct mapped_file *file);

#endif
