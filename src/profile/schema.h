/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of a profile in JSON: a row for each member, by which it is both read and written
 * (base/json_fields.h). doc/profile-format.md says what they mean.
 *
 * Members that are zero, false, NULL or NODE_NONE are left out; a member that a file lacks is that.
 */
#ifndef PROFILE_SCHEMA_H
#define PROFILE_SCHEMA_H

#include "base/json_fields.h"
#include "profile/profile.h"

/* The number in "ctprof_profile". A reader refuses others. */
#define PROFILE_FORM 1

/* `profile_root_fields` is of a struct profile; it is read by a profile_parser (json.h). */
extern const struct json_fields profile_root_fields, profile_meta_fields, profile_losses_fields,
	profile_image_fields, profile_mapping_fields, profile_thread_fields, profile_frame_fields,
	profile_block_fields, profile_preemptor_fields;
extern const struct json_list profile_frame_list;

/* The classes, as "on-cpu". */
extern const struct json_words profile_class_words;
/* The kinds of frames. */
extern const struct json_words profile_kind_words;
/* The states of `top`, as "lock_futex". */
extern const struct json_words profile_state_words;

/* A column of numbers: where the items of a table have them, and where the parser collects them. */
struct profile_column {
	struct json_member json; /* `detail`: of the column in the parser */
	uint32_t offset, bytes;  /* in an item */
	bool has_null, is_optional;
	uint64_t none;   /* is written as null */
	uint64_t absent; /* what all have where an optional column is left out */
};
enum { PROFILE_NODE_COLUMNS = 2, PROFILE_SAMPLE_COLUMNS = 11 };
extern const struct profile_column profile_node_columns[PROFILE_NODE_COLUMNS],
	profile_sample_columns[PROFILE_SAMPLE_COLUMNS];

/* Types of rows that are read into tables of the parser (parse.c) and written from those of the
 * profile (write.c). */
#define PROFILE_TYPES(TYPE) \
	TYPE(form)          \
	TYPE(classes)       \
	TYPE(states)        \
	TYPE(events)        \
	TYPE(frames)        \
	TYPE(nodes)         \
	TYPE(samples)       \
	TYPE(histograms)
#define PROFILE_TYPE_FUNCTIONS(name)                                                     \
	JSON_TAKE(json_take_##name);                                                     \
	void profile_write_##name(struct json_writer *w, const struct json_field *field, \
				  const void *at);
PROFILE_TYPES(PROFILE_TYPE_FUNCTIONS)
JSON_TAKE(profile_refuse_snapshot);
JSON_TAKE(profile_refuse_histograms);
JSON_TAKE(json_take_column);
JSON_TAKE(json_take_index_column);

#endif
