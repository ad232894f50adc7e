/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses of a profile to name, with their files, sorted so that each file is opened once,
 * whichever processes mapped it.
 */
#ifndef PROFILE_PLACES_H
#define PROFILE_PLACES_H

#include <string.h>

#include "profile/origin.h"
#include "profile/profile.h"
#include "profile/rewrite.h"

/* No mapping, no file. */
#define PLACE_NONE UINT32_MAX

/* An address that is looked up: of a frame in a role. */
struct place {
	uint64_t address; /* in the process */
	uint64_t offset;  /* in the file */
	uint32_t frame, image, mapping, file;
	uint8_t role;
};

/* The file of several mappings: of trusted files with one build-id, from wherever; of other files
 * with one build-id and inode, or path; without a build-id, of one inode and path. */
struct place_file {
	struct origin_identity identity; /* with a build-id: what else tells it from others */
	uint32_t mapping;                /* one of them */
	uint32_t last_image;             /* that was put down among the owners */
	uint32_t owners;
};

/* A process that maps the file, and the address. */
struct place_owner {
	uint32_t file, image, mapping;
};

/* All zero is none. */
struct places {
	ARRAY(struct place); /* by file and offset; those of no file at the end, by image */
	struct {
		ARRAY(struct place_file);
	} files;
	struct {
		ARRAY(struct place_owner);
	} owners; /* by file; of each not more than are asked for it */
	struct word_map file_numbers;
	bool is_elsewhere;   /* so processes are not asked */
	bool only_vdso;      /* others are left out */
	struct guard *guard; /* for asking; not owned */
	/* The answer for each mapping that was asked for; NULL: the files are in a copied tree. */
	struct place_asked {
		bool is_asked;
		struct origin_identity identity;
	} * asked;
};

/* Is it a frame of a process that has no name yet? */
static inline bool place_is_raw(const struct frame *frame)
{
	return frame->kind == FRAME_USER && !frame->name;
}

static inline bool place_is_vdso(const struct profile_mapping *mapping)
{
	return mapping->path && strcmp(mapping->path->bytes, "[vdso]") == 0;
}

/* Collect the locations of all raw frames of processes. Adds names to the profile. */
struct error *places_collect(struct profile *profile, const struct symbolise_options *options,
			     struct guard *guard, struct places *places) MUST_CHECK;

void places_deinit(struct places *places);

#endif
