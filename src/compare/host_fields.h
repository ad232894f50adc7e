/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts of a host as a list of texts and numbers: what show-host prints, and what differs
 * between the hosts of two snapshots.
 */
#ifndef COMPARE_HOST_FIELDS_H
#define COMPARE_HOST_FIELDS_H

#include "snapshot/model.h"

enum host_kind { HOST_TEXT, HOST_NUMBER, HOST_PAIRS };

struct host_field {
	const char *name;
	enum host_kind kind;
	size_t offset;      /* in struct host_context */
	const char *prefix; /* of the keys of pairs */
	bool momentary;     /* of the capture: differs between any two */
};

#define HOST_FIELD_COUNT 20
extern const struct host_field host_fields[HOST_FIELD_COUNT];

static inline const struct name *host_text(const struct host_context *host,
					   const struct host_field *field)
{
	const void *at = (const char *)host + field->offset;

	return *(const struct name *const *)at;
}

static inline const struct reading *host_number(const struct host_context *host,
						const struct host_field *field)
{
	return (const void *)((const char *)host + field->offset);
}

static inline const struct label_pairs *host_pairs(const struct host_context *host,
						   const struct host_field *field)
{
	return (const void *)((const char *)host + field->offset);
}

#endif
