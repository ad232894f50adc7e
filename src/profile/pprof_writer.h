/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the tables of a pprof profile as samples need them.
 *
 * A message of protobuf may be written in pieces: repeated fields of all pieces are one. So a
 * profile is written sample by sample, and never stands in memory as messages.
 */
#ifndef PROFILE_PPROF_WRITER_H
#define PROFILE_PPROF_WRITER_H

#include <profile.pb-c.h>

#include "profile/gzip.h"
#include "profile/locations.h"

struct pprof_writer {
	const struct profile *profile;
	struct gzip_writer gzip;
	uint64_t bytes;     /* emitted, before they are packed */
	struct arena arena; /* of strings as they are written */
	struct names strings;
	struct word_map string_numbers, functions, mappings;
	struct word_map file_numbers; /* of modules, to `files` */
	struct {
		ARRAY(struct module_file {
			uint64_t limit; /* behind the last address in it */
			const struct profile_mapping
				*piece;    /* which has its build-id; may be NULL */
			bool is_ambiguous; /* there are several of this name */
			bool has_unnamed;  /* functions */
		});
	} files;
	uint32_t string_count, function_count, mapping_count, location_count;
	const struct locations *locations;
	/* Of each location, counted from 1 in the order in which they are written, as Parca wants
	 * them; 0: not yet. */
	uint32_t *ids;
	struct {
		ARRAY(uint32_t);
	} written; /* locations */
	struct {
		ARRAY(uint64_t);
	} stack;
	struct {
		ARRAY(unsigned char);
	} packed;            /* what was emitted last */
	struct error *error; /* the first one; nothing is written after it */
};

/* `ids` has a 0 for each location, and again after pprof_writer_deinit(). Both stay the caller's.
 * The caller opens `gzip`, and takes `error`. */
void pprof_writer_init(struct pprof_writer *w, const struct profile *profile,
		       const struct locations *locations, uint32_t *ids);
void pprof_writer_deinit(struct pprof_writer *w);

/* Keep the error; NULL: there is none. */
void pprof_fail(struct pprof_writer *w, struct error *err);
void pprof_emit(struct pprof_writer *w, const Pprof__Profile *piece);
/* All was emitted: hand it out. */
void pprof_finish(struct pprof_writer *w);

/* The number of a string, which is written if it is new. */
int64_t pprof_text(struct pprof_writer *w, const char *text);
int64_t pprof_name(struct pprof_writer *w, const struct name *name); /* 0 of NULL */

/* Find which parts of the files frames need: their mappings then have limits and build-ids. */
void pprof_find_files(struct pprof_writer *w);
/* The first mapping is the program that the profile is about: that of the thread with most time. */
void pprof_put_program(struct pprof_writer *w);

/* Make `stack` the ids of the locations of a stack, the innermost first, and write those that are
 * new. */
void pprof_put_stack(struct pprof_writer *w, uint32_t node);

static inline int64_t pprof_whole(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

#endif
