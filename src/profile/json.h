/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the JSON of a profile as it comes, in pieces.
 *
 *	profile_parser_create(&parser);
 *	while (...)
 *		profile_parser_feed(parser, piece);
 *	profile_parser_finish(parser, &profile);
 *	profile_parser_destroy(parser);
 */
#ifndef PROFILE_JSON_H
#define PROFILE_JSON_H

#include "base/json_reader.h"
#include "profile/profile.h"
#include "profile/schema.h"

/* The most memory for all tables of a profile from a file: some ten million samples. */
#define PROFILE_BYTES_MAX ((size_t)2 << 30)

struct profile_parser;

struct error *profile_parser_create(struct profile_parser **ret) MUST_CHECK;
/* Takes NULL. */
void profile_parser_destroy(struct profile_parser *parser);
DEFINE_CLEANUP(profile_parser_destroy, struct profile_parser *)

/* The next bytes. After an error the parser can only be destroyed. */
struct error *profile_parser_feed(struct profile_parser *parser, struct text bytes) MUST_CHECK;

/* There are no more: the profile, which is the caller's. */
struct error *profile_parser_finish(struct profile_parser *parser, struct profile **ret) MUST_CHECK;

/* --- what the two halves of it share --- */

/* A null in a column. */
#define NO_NUMBER UINT64_MAX

struct column {
	ARRAY(uint64_t);
};

/* Numbers of items of a table. INDEX_NONE is a null, INDEX_BEYOND all numbers that no table has. */
#define INDEX_NONE   UINT32_MAX
#define INDEX_BEYOND (UINT32_MAX - 1)

struct index_column {
	ARRAY(uint32_t);
};

/* Members may come in any order, so what points into other tables waits until the end. */
struct profile_parser {
	struct json_fields_user user; /* of the reader; first, so that it is the parser too */
	struct profile *profile;
	struct json_reader *reader;
	uint64_t form; /* 0: none seen */
	struct {
		ARRAY(uint16_t);
	} classes; /* of the file's numbers; CLASS_COUNT: one that we do not know */
	struct {
		ARRAY(uint8_t);
	} states; /* the same; 0: one that we do not know */
	struct {
		ARRAY(struct frame);
	} frames;
	struct {
		struct index_column parent, frame;
	} nodes;
	struct {
		struct column thread, node, class, state, event, cpu, in_progress, ns, count,
			longest_ns, waker;
	} samples;
	/* The histogram under way. */
	struct {
		uint32_t thread, frac_bits;
		uint16_t class;
		uint64_t sum;
		struct column slots, counts;
	} histogram;
};

/* The second half: all members are there, and what points from one table into another is checked
 * and goes into the profile. */
struct error *profile_link(struct profile_parser *parser) MUST_CHECK;

#endif
