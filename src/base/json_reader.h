/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads JSON into structures, as a stream and with bounds, on top of libyajl.
 *
 * A *shape* says what may stand in an object or array; its members are rows. Reading walks the
 * shapes: for each value the row's `take` gets the value and the object under construction
 * (`target`). To go down into an object or array, `take` calls json_enter with the shape and the
 * target of what is inside; when it does not, and for members no row names, the whole value is
 * skipped.
 *
 *	static const struct json_member point_members[] = {
 *		{ TEXT("x"), take_x },
 *		{ TEXT("y"), take_y },
 *	};
 *	static const struct json_shape point = { .members = point_members, .count = 2 };
 *
 * Files of profiles are columns of millions of small integers. An array whose shape has a `run` is
 * read past libyajl where it has digits and commas only, at a fourth of the cost.
 *
 * Refused, with the offset where it stands: what is not JSON or not UTF-8, a member written twice,
 * nesting below JSON_DEPTH_MAX, strings and names above JSON_STRING_MAX bytes (or twice that with
 * their escapes). Numbers arrive as text, so that no 64-bit integer passes through a double.
 */
#ifndef BASE_JSON_READER_H
#define BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define JSON_DEPTH_MAX  32
#define JSON_STRING_MAX ((size_t)1 << 20)

/* Members a shape may have, for the check that none comes twice. */
#define JSON_MEMBERS_MAX 192

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_OBJECT, JSON_ARRAY };

struct json_value {
	enum json_type type;
	struct text text; /* of a string, decoded; of a number, its digits */
	bool boolean;
};

struct json_reader;
struct json_member;

/* `key` is the member's name where the shape has no rows for it, else its row's. */
typedef struct error *(*json_take)(struct json_reader *r, void *target,
				   const struct json_member *member, struct text key,
				   const struct json_value *value);

/* The signature of a json_take, whose arguments need not all be used. */
#define JSON_TAKE(name)                                                                   \
	struct error *name(JSON_UNUSED_ struct json_reader *r, JSON_UNUSED_ void *target, \
			   JSON_UNUSED_ const struct json_member *member,                 \
			   JSON_UNUSED_ struct text key,                                  \
			   JSON_UNUSED_ const struct json_value *value)
#define JSON_UNUSED_ __attribute__((unused))

struct json_member {
	struct text name;
	json_take take;
	uintptr_t detail; /* what `take` needs to know: an offset, an id */
	const void *more;
};

typedef struct error *json_take_run(struct json_reader *r, void *target, const uint64_t *numbers,
				    size_t count);

struct json_shape {
	const struct json_member *members;
	size_t count;
	size_t stride; /* from one row to the next, when part of larger ones; 0: adjacent */
	/* Called for each element of an array, and for each member of an object without rows. */
	json_take each;
	uintptr_t detail;
	const void *more;
	/* Optional, of an array beside `each`: some elements at once that are unsigned integers and
	 * came as plain digits. The array's other elements go to `each`. */
	json_take_run *run;
	/* After the last value; NULL when there is nothing to do. */
	struct error *(*done)(struct json_reader *r, void *target);
};

/* Create a reader of one value, which `take` receives as its root. */
struct error *json_reader_create(json_take root, void *target, void *user,
				 struct json_reader **ret) MUST_CHECK;

/* Objects of this shape, which has members, are most of the input. Their members with numbers,
 * short strings and booleans are read past libyajl, at a third of the cost. */
void json_reader_prefer(struct json_reader *r, const struct json_shape *shape);

/* The `user` that json_reader_create() was given. */
void *json_user(const struct json_reader *r);

/* In a `take` of an object or array: read what is inside by `shape` into `target`. */
void json_enter(struct json_reader *r, const struct json_shape *shape, void *target);

/* Bytes of input up to the value being taken. */
uint64_t json_offset(const struct json_reader *r);

/* The next bytes. After an error the reader can only be destroyed. */
struct error *json_reader_feed(struct json_reader *r, struct text bytes) MUST_CHECK;

/* There are no more bytes: fails unless the value is complete. */
struct error *json_reader_finish(struct json_reader *r) MUST_CHECK;

void json_reader_destroy(struct json_reader *r);

/* An error that says what was expected: "'nice': expected an integer". */
struct error *json_unexpected(struct text key, const char *expected) MUST_CHECK;

/* Exact integers; anything else, a fraction or an exponent too, is json_unexpected. */
struct error *json_get_u64(const struct json_value *value, struct text key,
			   uint64_t *ret) MUST_CHECK;
struct error *json_get_i64(const struct json_value *value, struct text key,
			   int64_t *ret) MUST_CHECK;
struct error *json_get_u32(const struct json_value *value, struct text key,
			   uint32_t *ret) MUST_CHECK;
struct error *json_get_bool(const struct json_value *value, struct text key, bool *ret) MUST_CHECK;

/* A string without a NUL in it. */
struct error *json_get_text(const struct json_value *value, struct text key,
			    struct text *ret) MUST_CHECK;

#endif
