/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of fields that the "measured" bits of a file refer to.
 *
 * A file names the fields in its head ("ctprof": {"fields": {...}}), so that a
 * version with other rows can read it. Each list below is in the order of this version's rows.
 */
#ifndef SNAPSHOT_FIELDS_H
#define SNAPSHOT_FIELDS_H

#include "snapshot/bits.h"
#include "snapshot/model.h"

struct json_fields;

enum field_list { LIST_THREADS, LIST_CGROUPS, LIST_PSI, LIST_SCHED_EXT, LIST_COUNT };

/* A thread's list holds its metrics in the order of metrics.def, and then these two. */
enum { THREAD_FIELD_START_TIME = METRIC_COUNT, THREAD_FIELD_SMAPS, THREAD_FIELD_COUNT };

extern const char *const field_list_names[LIST_COUNT];

/* The rows of the objects of a list; threads have none but their metrics. */
const struct json_fields *fields_schema(enum field_list list);

/* The number of fields of the list, and the name of one. */
size_t fields_count(enum field_list list);
const char *fields_name(enum field_list list, size_t number);

/* The number of a field by name, or -1. */
int fields_find(enum field_list list, struct text name);

/* The measured fields of a thread, or of an object of the list's schema. */
void thread_measured_bits(const struct ctprof_thread *thread, struct bits *ret);
void object_measured_bits(enum field_list list, void *object, struct bits *ret);

/* The reverse: what the bits do not name becomes unmeasured. */
void thread_apply_bits(struct ctprof_thread *thread, const struct bits *bits);
void object_apply_bits(enum field_list list, void *object, const struct bits *bits);

#endif
