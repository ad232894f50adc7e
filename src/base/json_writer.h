/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON as it comes, compact, without a document in memory.
 *
 *	json_object_begin(w);
 *	json_key(w, "tid");
 *	json_u64(w, 42);
 *	json_object_end(w);
 *	err = json_writer_finish(w);
 *
 * The first error of the sink is kept, everything after it is dropped, and json_writer_finish
 * returns it: callers check once. Strings may hold any bytes; what is not UTF-8 becomes U+FFFD,
 * byte by byte, so that every output is valid JSON.
 */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"

typedef struct error *(*json_sink)(void *context, const void *bytes, size_t length);

struct json_writer {
	json_sink sink;
	void *context;
	struct error *error;
	char *bytes;
	size_t used, room;
	bool comma; /* a value came before this one in the same object or array */
};

struct error *json_writer_init(struct json_writer *w, json_sink sink, void *context) MUST_CHECK;

/* The same with a buffer of `room` bytes, at least JSON_ROOM_LEAST: the sink gets up to that many
 * at a time. */
#define JSON_ROOM_LEAST ((size_t)64 * 1024)
struct error *json_writer_init_room(struct json_writer *w, size_t room, json_sink sink,
				    void *context) MUST_CHECK;

/* A value stands before the next one: prepared text ended in it, or another writer wrote it. */
void json_continue(struct json_writer *w);

void json_object_begin(struct json_writer *w);
void json_object_end(struct json_writer *w);
void json_array_begin(struct json_writer *w);
void json_array_end(struct json_writer *w);

/* `key` needs no escapes: a name from a table of ours. */
void json_key(struct json_writer *w, const char *key);

/*
 * For inner loops: prepared text, which brings its own commas and ends where a value stands next.
 *
 *	char *at = json_place(w, 100);
 *	at = stpcpy(at, ",\"tid\":");
 *	at += digits_u64(at, 42);
 *	json_placed(w, at);
 *
 * `length` contiguous bytes, at most JSON_ROOM_LEAST; and how far they were filled.
 */
char *json_place_more(struct json_writer *w);
static inline char *json_place(struct json_writer *w, size_t length)
{
	return length > w->room - w->used ? json_place_more(w) : w->bytes + w->used;
}
static inline void json_placed(struct json_writer *w, const char *end)
{
	w->used = (size_t)(end - w->bytes);
	w->comma = false;
}

/* A key that may hold anything. */
void json_key_text(struct json_writer *w, struct text key);

void json_u64(struct json_writer *w, uint64_t value);
void json_i64(struct json_writer *w, int64_t value);
/* A number as it stands: `digits` are those of JSON. */
void json_digits(struct json_writer *w, const char *digits);

/* A double so that it reads back as itself; null when it is not finite. */
void json_real(struct json_writer *w, double value);

void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
void json_text(struct json_writer *w, struct text text);
/* null of NULL. */
void json_name(struct json_writer *w, const struct name *name);
/* null of NULL. */
void json_string(struct json_writer *w, const char *string);

/* Write a newline before the next value, so that tools can read line by line. */
void json_line(struct json_writer *w);

/* The document is whole: a new line, and the next value begins another document. */
void json_document_end(struct json_writer *w);

/* Hand out what is left; returns the first error there was. The writer keeps its memory, and may
 * begin another document. */
struct error *json_writer_finish(struct json_writer *w) MUST_CHECK;

/* Takes one that was never finished, and one that is all zero. */
void json_writer_deinit(struct json_writer *w);
static inline void json_writer_deinit_guard(struct json_writer *w)
{
	json_writer_deinit(w);
}

#endif
