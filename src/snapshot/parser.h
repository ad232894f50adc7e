/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser of snapshot text, for the files that make it up: parser.c (the file as a whole) and
 * parse_threads.c (its threads). All other code includes file.h.
 */
#ifndef SNAPSHOT_PARSER_H
#define SNAPSHOT_PARSER_H

#include "snapshot/fields.h"
#include "snapshot/file.h"
#include "snapshot/foreign.h"
#include "snapshot/schema.h"

struct snapshot_parser {
	struct schema_context context; /* the reader's user; first, so that it is the parser too */
	struct json_reader *json;
	bool ours; /* the head of our own form was seen */
	bool body; /* something was read that a head speaks of */
	struct foreign_marks foreign;
	uint8_t booleans, booleans_given; /* of the thread: bit by enum family_boolean */
	struct {
		ARRAY(uint32_t);
	} cpus; /* of the CPU set being read */
	/* Our number of each field of the file's own lists; -1 when we do not have it. */
	int16_t numbers[LIST_COUNT][BITS_MAX];
	size_t listed[LIST_COUNT];
	/* The shapes of the lists, with measured bits applied at their end; and the list that is
	 * being read. */
	struct json_shape shapes[LIST_COUNT];
	enum field_list entered;
	enum counter_kind counting; /* the kind of counters being read */
};

static inline struct snapshot_parser *parser_of(const struct json_reader *r)
{
	return json_user(r);
}

static inline struct ctprof_snapshot *snapshot_of(const struct json_reader *r)
{
	return parser_of(r)->context.snapshot;
}

/* An element of "threads". */
JSON_TAKE(take_thread);
extern const struct json_fields thread_fields; /* of an object of these */

/* Make unmeasured what the "measured" of the object just read does not name. Files of others have
 * none, and keep what they had. */
void parser_apply_bits(struct snapshot_parser *p, enum field_list list, void *object);

#endif
