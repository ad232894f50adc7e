/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of a profile in JSON: a row for each member, by which it is both written and read.
 * doc/profile-format.md says what they mean.
 *
 * What is zero, false, NULL or NODE_NONE is left out, and is that when it is not there.
 */
#ifndef PROFILE_SCHEMA_H
#define PROFILE_SCHEMA_H

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "profile/profile.h"

struct profile_field {
	struct json_member member; /* `detail` is where it is in the object */
	void (*write)(struct json_writer *w, const struct profile_field *field, const void *at);
};

struct profile_schema {
	const struct profile_field *fields;
	struct json_shape shape; /* enters such an object */
};

extern const struct profile_schema profile_meta_schema, profile_losses_schema, profile_frame_schema,
	profile_mapping_schema, profile_image_schema, profile_thread_schema, profile_block_schema,
	profile_preemptor_schema;

/* What json_user of a reader of these shapes begins with. */
struct profile_schema_context {
	struct profile *profile; /* has the names */
};

void profile_schema_write(struct json_writer *w, const struct profile_schema *schema,
			  const void *object);

/* A class by its name. */
struct error *profile_get_class(const struct json_value *value, struct text key,
				uint16_t *ret) MUST_CHECK;

#endif
