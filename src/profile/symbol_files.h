/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that have names of addresses, read within the budgets of the users whose files they are
 * (profile/symbolise.h).
 *
 *	struct symbol_files files;
 *	err = symbol_files_init(&files, profile, options, &places);
 *	symbol_files_open_binary(&files, place->file, owner, &opened);
 *	...						look up all places of the file
 *	symbol_files_charge(&files, opened.user, binary_copied(opened.binary));
 *	symbol_binary_close(&opened);
 *	symbol_files_deinit(&files);
 *
 * What cannot be opened, or is beyond the budget, is as if it had no names.
 */
#ifndef PROFILE_SYMBOL_FILES_H
#define PROFILE_SYMBOL_FILES_H

#include "base/array.h"
#include "base/word_map.h"
#include "elf/binary.h"
#include "elf/perf_map.h"
#include "profile/origin.h"
#include "profile/places.h"

/* Nothing but the descriptor and the sums is owned. */
struct symbol_files {
	const struct profile *profile;
	const struct symbolise_options *options;
	const struct places *places;
	int symfs;
	uint64_t ended_unix_ns;                    /* 0: unknown */
	uint64_t inlined_work, users_inlined_work; /* left: of trusted files, of all others */
	struct word_map users;                     /* whose files were read, in `spent` */
	struct {
		ARRAY(uint64_t);
	} spent; /* bytes */
	uint64_t spent_by_all;
};

/* `places` may be filled later. Fails if there is no directory of --symfs; takes
 * symbol_files_deinit() also then. */
struct error *symbol_files_init(struct symbol_files *files, const struct profile *profile,
				const struct symbolise_options *options,
				const struct places *places) MUST_CHECK;
void symbol_files_deinit(struct symbol_files *files);

/* Names are read while they are looked up: subtract what was read from the budget of the user. */
void symbol_files_charge(struct symbol_files *files, uint32_t user, uint64_t bytes);

/* An open binary, and what must stay open with it. */
struct symbol_binary {
	struct origin origin;
	struct binary *binary; /* NULL: there is none */
	uint32_t user;         /* the user whose budget it uses */
	uint64_t opened_ns;    /* CLOCK_MONOTONIC, if it was cached; 0: just now */
};
#define SYMBOL_BINARY_CLOSED \
	((struct symbol_binary){ .origin = { .fd = -1, .process = -1, .symfs = -1 } })

/* Open a file through any process that has mapped it: `owner` is the first of them. `ret` is closed
 * before. */
void symbol_files_open_binary(struct symbol_files *files, uint32_t file,
			      const struct place_owner *owner, struct symbol_binary *ret);
void symbol_binary_close(struct symbol_binary *binary);

/* The functions that a process says it compiled, with what they point into. */
struct symbol_map {
	int fd;
	struct image image;
	struct perf_map map;
	char path[64];
};
#define SYMBOL_MAP_CLOSED ((struct symbol_map){ .fd = -1, .image = { .fd = -1 } })

/* Those of the process of an image by its number, from 1 on. `ret` is closed before. */
void symbol_files_open_map(struct symbol_files *files, uint32_t image, struct symbol_map *ret);
void symbol_map_close(struct symbol_map *map);

#endif
