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

#include "base/error.h"
#include "base/text.h"

typedef struct error *(*json_sink)(void *context, const void *bytes, size_t length);

struct json_writer {
	json_sink sink;
	void *context;
	struct error *error;
	char *bytes;
	size_t used;
	bool comma; /* a value came before this one in the same object or array */
};

struct error *json_writer_init(struct json_writer *w, json_sink sink, void *context) MUST_CHECK;

void json_object_begin(struct json_writer *w);
void json_object_end(struct json_writer *w);
void json_array_begin(struct json_writer *w);
void json_array_end(struct json_writer *w);

/* `key` needs no escapes: a name from a table of ours. */
void json_key(struct json_writer *w, const char *key);

/* For inner loops: write prepared text, a key as `"b":`, or members and a key as `"a":0,"b":`; and
 * whole members or a value. */
void json_key_ready(struct json_writer *w, struct text key);
void json_ready(struct json_writer *w, struct text members);

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
void json_string(struct json_writer *w, const char *string);

/* Write a newline before the next value, so that tools can read line by line. */
void json_line(struct json_writer *w);

/* The document is whole: a new line, and the next value begins another document. */
void json_document_end(struct json_writer *w);

/* Hand out what is left; returns the first error there was. */
struct error *json_writer_finish(struct json_writer *w) MUST_CHECK;

/* Takes one that was never finished. */
void json_writer_deinit(struct json_writer *w);

#endif
