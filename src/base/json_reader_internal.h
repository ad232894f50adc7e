/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a JSON reader (json_reader.h), which two files share: json_reader.c receives what
 * libyajl finds, and json_bypass.c reads the usual form of long arrays and of the preferred shape
 * without it.
 */
#ifndef BASE_JSON_READER_INTERNAL_H
#define BASE_JSON_READER_INTERNAL_H

#include <yajl/yajl_parse.h>

#include "base/json_reader.h"
#include "base/pool.h"

#define SEEN_WORDS (JSON_MEMBERS_MAX / 64)

struct json_frame {
	const struct json_shape *shape;
	void *target;
	const struct json_member *member; /* the row of the key last seen, or NULL */
	size_t next;                      /* row to try first for the next key */
	uint64_t seen[SEEN_WORDS];
	bool is_object;
};

struct json_reader {
	struct pool pool; /* libyajl's memory: it does not look whether its malloc failed */
	yajl_handle yajl;
	json_take root;
	void *target, *user;
	struct json_frame frames[JSON_DEPTH_MAX];
	unsigned depth;   /* frames in use */
	unsigned skipped; /* open objects and arrays of a value that is skipped */
	struct text key;  /* of a member without a row; valid until its value came */
	char *key_bytes;
	size_t key_room;
	struct error *error;
	uint64_t offset; /* bytes fed before the present ones */
	uint64_t quiet;  /* bytes fed since yajl last found a value */
	bool found, feeding;
	const struct json_shape *entered; /* by the take under way */
	void *entered_target;
	const struct json_shape *preferred; /* NULL: none */
	unsigned preferred_depth;           /* of its objects; 0: none was entered yet */
	/* Where the bytes passed to yajl so far end, if a shape is preferred: */
	bool is_in_string, is_escaped;
	bool is_behind_comma; /* between two members at `preferred_depth` */
};

static inline const struct json_member *json_row_at(const struct json_shape *shape, size_t at)
{
	const size_t stride = shape->stride ? shape->stride : sizeof(struct json_member);

	return (const void *)((const char *)shape->members + at * stride);
}

/* The row of `key` and its number; NULL: there is none. */
const struct json_member *json_find_member(struct json_frame *frame, struct text key,
					   size_t *ret_row);

struct error *json_feed_yajl(struct json_reader *r, struct text bytes) MUST_CHECK;

/* In an array whose shape has a `run`: take what can be taken without yajl, and leave the rest in
 * `bytes` for it. */
struct error *json_feed_runs(struct json_reader *r, struct text *bytes) MUST_CHECK;

/* All of the bytes, where a shape is preferred. */
struct error *json_feed_members(struct json_reader *r, struct text bytes) MUST_CHECK;

#endif
