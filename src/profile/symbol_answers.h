/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the addresses of a profile are named, until its stacks are rewritten.
 *
 *	struct symbol_answers answers = { 0 };
 *	err = symbol_answers_init(&answers, profile);
 *	for each place						one answer for each
 *		err = symbol_answers_add_...(&answers, place, ...);
 *	err = symbol_answers_apply(&answers);
 *	symbol_answers_deinit(&answers);
 *
 * Places of several frames can have the same address of a file, and then share an answer. An answer
 * may be several functions, if some were inlined at its address. All names belong to the profile.
 * Errors are only for lack of memory.
 */
#ifndef PROFILE_SYMBOL_ANSWERS_H
#define PROFILE_SYMBOL_ANSWERS_H

#include "base/array.h"
#include "elf/binary.h"
#include "elf/perf_map.h"
#include "profile/places.h"
#include "profile/symbol_cache.h"

/* The result for all locations with the same address of a file. */
struct symbol_answer {
	const struct name *name, *module, *source;
	uint64_t address; /* as it was looked up */
	uint64_t offset;
	uint32_t line;
	uint32_t first, count; /* of what was inlined there, in `inlined`, from outside in */
};

/* All zero before symbol_answers_init(), and for symbol_answers_deinit(). */
struct symbol_answers {
	ARRAY(struct symbol_answer);
	struct profile *profile;
	struct {
		ARRAY(struct inlined_name);
	} inlined;
	uint32_t *by_frame; /* the answer of each frame in each role */
	const struct name *unknown;
};

struct error *symbol_answers_init(struct symbol_answers *answers,
				  struct profile *profile) MUST_CHECK;
void symbol_answers_deinit(struct symbol_answers *answers);

/* Make the answer of what a file has at an address, to be added. */
struct error *symbol_answers_find(struct symbol_answers *answers, const struct place *place,
				  const struct binary_found *found, uint64_t address,
				  struct symbol_answer *ret) MUST_CHECK;
struct error *symbol_answers_add(struct symbol_answers *answers, const struct symbol_answer *answer,
				 const struct place *place) MUST_CHECK;
/* The last answer that was added is also that of this place. */
void symbol_answers_share(struct symbol_answers *answers, const struct place *place);

/* Name a place of a file without a symbol there "[file+0x1234]". */
struct error *symbol_answers_add_unnamed(struct symbol_answers *answers, const struct place *place,
					 uint64_t address) MUST_CHECK;
/* By what the cache has of an earlier profile. */
struct error *symbol_answers_add_known(struct symbol_answers *answers, const struct place *place,
				       const struct cached_symbol *known) MUST_CHECK;
/* By the function that a process says it compiled there, in the perf map of that path. */
struct error *symbol_answers_add_compiled(struct symbol_answers *answers, const struct place *place,
					  const struct perf_map_entry *entry,
					  const char *path) MUST_CHECK;
/* "[unknown]". */
struct error *symbol_answers_add_unknown(struct symbol_answers *answers,
					 const struct place *place) MUST_CHECK;

/* Replace the frames of all places that have an answer by functions. */
struct error *symbol_answers_apply(struct symbol_answers *answers) MUST_CHECK;

#endif
