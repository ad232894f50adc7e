/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles as files: JSON (doc/profile-format.md), packed by zstd as `.raw`, or plain as `.json`;
 * and what others write: folded stacks and pprof.
 *
 * Any of them may be hostile: what is read is bounded, and numbers that point somewhere are
 * checked.
 */
#ifndef PROFILE_FILES_H
#define PROFILE_FILES_H

#include "base/json_writer.h"
#include "base/text.h"
#include "profile/profile.h"

/* A profile, and the file or query that it is from. */
struct named_profile {
	const char *path;
	struct profile *profile;
};

/* Everything that is in the profile, raw or not. */
struct error *profile_write_json(const struct profile *profile, json_sink sink,
				 void *context) MUST_CHECK;

/* Writes further members of the object; readers pass over those that they do not know. */
typedef struct error *profile_members(struct json_writer *w, const void *context);

/* The same, with `more` at the end; NULL: there are none. */
struct error *profile_write_json_with(const struct profile *profile, profile_members *more,
				      const void *more_context, json_sink sink,
				      void *context) MUST_CHECK;

/* Profile as `.raw`: that JSON, packed by zstd. */
struct error *profile_write_raw(const struct profile *profile, json_sink sink,
				void *context) MUST_CHECK;

/* pprof's profile.proto, packed by gzip. Of the sample types "on-cpu"/"nanoseconds" and
 * "off-cpu"/"nanoseconds" there are those that there is time of; counts are "samples"/"count", of
 * events too. */
struct error *profile_write_pprof(const struct profile *profile, json_sink sink,
				  void *context) MUST_CHECK;

/* The unit of the numbers in folded stacks: the files do not state it, and each tool has its own.
 */
enum folded_unit { FOLDED_SAMPLES, FOLDED_NS, FOLDED_US, FOLDED_MS, FOLDED_S };

/* The word for it; NULL: there is no such. */
const char *folded_unit_name(size_t number);

/* A file of any of these forms, told apart by its bytes. "-" is standard input. */
struct error *profile_load(const char *path, struct profile **ret) MUST_CHECK;
/* The same from a descriptor, which stays the caller's; `name` is for messages. */
struct error *profile_load_fd(int fd, const char *name, struct profile **ret) MUST_CHECK;
/* The same as profile_load(), with the unit of folded stacks. `*ret_is_folded` says whether it was
 * such. */
struct error *profile_load_in(const char *path, enum folded_unit unit, struct profile **ret,
			      bool *ret_is_folded) MUST_CHECK;

/* The same for bytes in memory; for each form its own, which tests and fuzzers call. */
struct error *profile_parse_json(struct text bytes, struct profile **ret) MUST_CHECK;
struct error *profile_parse_folded(struct text bytes, struct profile **ret) MUST_CHECK;
struct error *profile_parse_folded_in(struct text bytes, enum folded_unit unit,
				      struct profile **ret) MUST_CHECK;
struct error *profile_parse_pprof(struct text bytes, struct profile **ret) MUST_CHECK;

/* Profiles are added into `into`: threads with the same numbers and names are one, which began with
 * the first and was watched for the sum of their times, so that a thread is one in all intervals.
 * After an error `into` can only be destroyed. */
struct error *profile_merge(struct profile *into, const struct profile *from) MUST_CHECK;

#endif
