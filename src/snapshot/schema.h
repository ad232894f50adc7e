/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of the snapshot file outside the threads, a row each: name in JSON, place in memory,
 * type. Reading and writing walk the same rows, so the file reads as it was written.
 *
 * Leaves that hold a `struct reading` are numbered in the order of the rows, depth first. That
 * numbering is what an object's "measured" bits refer to (bits.h); the file carries the names.
 */
#ifndef SNAPSHOT_SCHEMA_H
#define SNAPSHOT_SCHEMA_H

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "snapshot/bits.h"
#include "snapshot/model.h"

/* What reading by these rows needs as the user of its json_reader. */
struct schema_context {
	struct ctprof_snapshot *snapshot; /* under construction */
	struct bits measured;             /* the last "measured" that was read ... */
	bool has_measured;                /* ... and not taken yet */
};

struct schema;

enum field_flags {
	FIELD_NULLABLE = 1,  /* written as null without a value; null is "no limit" when measured */
	FIELD_OMIT = 2,      /* not written at all without a value */
	FIELD_READ_ONLY = 4, /* of an older form of the file */
	FIELD_SIGNED = 8,
};

struct field {
	struct json_member json; /* its `take` finds the field by being its first member */
	void (*write)(struct json_writer *w, const struct field *field, const void *at);
	size_t offset;
	const struct schema *schema; /* of an object inside */
	unsigned flags;
	uint64_t absent; /* what a number is written as when it was not measured */
};

struct schema {
	struct json_shape shape; /* over `fields` */
	const struct field *fields;
	size_t count, size;
};

extern const struct schema snapshot_host_schema, snapshot_cgroup_schema, snapshot_psi_schema,
	snapshot_sched_ext_schema, snapshot_probe_schema, snapshot_parse_schema,
	snapshot_taskstats_schema, snapshot_capture_schema, snapshot_process_schema;

/* The members of an object of this schema; the caller opens and closes it. */
void schema_write(struct json_writer *w, const struct schema *schema, const void *object);

/*
 * Visit every leaf that holds a reading: its number, its name from the top ("cpu.usage_usec"), its
 * place. Leaves of older forms are not counted.
 */
typedef void (*schema_visit)(void *context, size_t number, const char *name,
			     struct reading *reading);
void schema_leaves(const struct schema *schema, void *object, schema_visit visit, void *context);

#define SCHEMA_LEAVES_MAX 128

/* json_take of "measured" into the context. */
struct error *take_measured(struct json_reader *r, void *target, const struct json_member *member,
			    struct text key, const struct json_value *value);

/* An object of names and numbers, read into a struct counts and written from one. */
extern const struct json_shape snapshot_counts_shape;
void counts_write(struct json_writer *w, const struct counts *counts);

/* The same of names and texts, for a struct label_pairs. */
extern const struct json_shape snapshot_pairs_shape;
void pairs_write(struct json_writer *w, const struct label_pairs *pairs);

#endif
