/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of the files that contain jemalloc, and of the location of its counters: analysing a
 * program costs a thousand times as much as a look-up.
 */
#ifndef CAPTURE_HEAP_FILES_H
#define CAPTURE_HEAP_FILES_H

#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/word_map.h"
#include "elf/jemalloc.h"
#include "os/maps.h"
#include "snapshot/probe.h"

struct heap_file {
	enum probe_failure failure; /* PROBE_DONE: there is a layout */
	struct jemalloc_layout layout;
	bool has_libraries; /* it can have some: the dynamic linker has a part in it */
	/* The first executable segment: its file offset and address, both aligned down to pages. */
	uint64_t text_offset, text_address;
	struct stat identity;
	uint64_t looked_at; /* the round in which that was seen to be so */
};

struct heap_files {
	struct {
		ARRAY(struct heap_file);
	} files;
	struct word_map programs, libraries; /* to places in `files` */
	struct file_buffer *buffer;          /* not owned */
	/* In a round, which is a capture, each library is checked once: many processes have the
	 * same ones. The caller increments it. */
	uint64_t round;
	uint64_t refused; /* how often a mapped file could not be read */
};

/* All zero but for the buffer is empty. */
void heap_files_deinit(struct heap_files *files);

/* The program of the process whose directory is `dir`; `identity` is what that was seen to be. */
struct error *heap_files_program(struct heap_files *files, int dir, const struct stat *identity,
				 struct heap_file *ret) MUST_CHECK;

/* The file behind an executable mapping of that process. */
struct error *heap_files_library(struct heap_files *files, int dir, const struct mapping *mapping,
				 struct heap_file *ret) MUST_CHECK;

#endif
