/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of the snapshot file outside the threads, a row each (base/json_fields.h).
 *
 * Leaves that hold a `struct reading` are numbered in the order of the rows, depth first. That
 * numbering is what an object's "measured" bits refer to (bits.h); the file has the names.
 */
#ifndef SNAPSHOT_SCHEMA_H
#define SNAPSHOT_SCHEMA_H

#include "base/json_fields.h"
#include "snapshot/bits.h"
#include "snapshot/model.h"

/* The user of a json_reader of these rows. */
struct schema_context {
	struct json_fields_user user;
	struct ctprof_snapshot *snapshot; /* under construction */
	struct bits measured;             /* the last "measured" that was read ... */
	bool has_measured;                /* ... and not applied yet */
};

extern const struct json_fields snapshot_host_fields, snapshot_cgroup_fields, snapshot_psi_fields,
	snapshot_sched_ext_fields, snapshot_probe_fields, snapshot_parse_fields,
	snapshot_taskstats_fields, snapshot_capture_fields, snapshot_process_fields;

/*
 * Visit every leaf that holds a reading: its number, its name from the top ("cpu.usage_usec"), its
 * place. Leaves of older forms are not counted.
 */
typedef void (*schema_visit)(void *context, size_t number, const char *name,
			     struct reading *reading);
void schema_leaves(const struct json_fields *fields, void *object, schema_visit visit,
		   void *context);

#define SCHEMA_LEAVES_MAX 128

/* Reads "measured" into the context. */
JSON_TAKE(json_take_measured);

/* An object of names and numbers, read into a struct counts and written from one. */
extern const struct json_shape snapshot_counts_shape;
void counts_write(struct json_writer *w, const struct counts *counts);

/* The same of names and texts, for a struct label_pairs. */
extern const struct json_shape snapshot_pairs_shape;
void pairs_write(struct json_writer *w, const struct label_pairs *pairs);

#endif
