/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a request of OTLP, which all of its profiles share. An item is written when it is
 * needed first, and each once.
 *
 *	err = otlp_dictionary_init(&dictionary, profile);
 *	otlp_dictionary_begin(&dictionary);          for each request
 *	sample.stack_index = otlp_stack(&dictionary, node);
 *	... dictionary.message is the message ProfilesDictionary
 *	otlp_dictionary_deinit(&dictionary);
 *
 * The first error is kept; functions then return 0, and callers look once.
 */
#ifndef AGENT_OTLP_DICTIONARY_H
#define AGENT_OTLP_DICTIONARY_H

#include <otlp.pb-c.h>

#include "agent/push_body.h"
#include "profile/locations.h"

/* Longer strings are cut, so that the stack of one sample is much smaller than a request may be. */
#define OTLP_STRING_MOST 4096

enum otlp_table {
	OTLP_MAPPINGS,
	OTLP_LOCATIONS,
	OTLP_FUNCTIONS,
	OTLP_STRINGS,
	OTLP_ATTRIBUTES,
	OTLP_STACKS,
	OTLP_TABLE_COUNT
};

struct otlp_dictionary {
	const struct profile *profile;
	struct push_body message;
	struct error *error;

	struct arena arena; /* of strings */
	struct names strings;
	bool has_strings;
	int32_t counts[OTLP_TABLE_COUNT];
	/* By name, by the numbers that an item is of, or by the bytes of the item. */
	struct word_map numbers[OTLP_TABLE_COUNT];

	struct locations locations;
	/* The indexes of locations, and of stacks by node; 0: not in this request yet. */
	int32_t *location_indexes, *stack_indexes;
	struct {
		ARRAY(int32_t);
	} stack;
	struct push_body packed; /* the item that is being written */
};

/* After an error there is nothing to release. The profile must stay as it is. */
struct error *otlp_dictionary_init(struct otlp_dictionary *d,
				   const struct profile *profile) MUST_CHECK;
void otlp_dictionary_deinit(struct otlp_dictionary *d);

/* Empty it, but for the first elements of its tables. */
void otlp_dictionary_begin(struct otlp_dictionary *d);

int32_t otlp_string(struct otlp_dictionary *d, struct text text);
/* 0 of NODE_NONE. */
int32_t otlp_stack(struct otlp_dictionary *d, uint32_t node);
int32_t otlp_attribute_text(struct otlp_dictionary *d, const char *key, struct text value);
int32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t value);

/* A text without bytes that belong to no character, in memory that the caller frees; NULL: no
 * memory. It is cut as strings of the table are. */
char *otlp_clean(struct text text);

#endif
