/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics in a file, with all their slots: JSON packed by zstd (doc/format.md).
 */
#ifndef KSTATS_FILE_H
#define KSTATS_FILE_H

#include "base/json_fields.h"
#include "kstats/table.h"

struct kstats_tables {
	ARRAY(struct kstats_table *);
};
/* With the tables in it. */
void kstats_tables_clear(struct kstats_tables *tables);
/* The table that `like`, one of `own`, is compared with: of the same name and process, or else of
 * the same name if only one process has it on each side. NULL: none. */
struct kstats_table *kstats_tables_match(const struct kstats_tables *tables,
					 const struct kstats_tables *own,
					 const struct kstats_table *like);

/* Written whole or not at all; not what would be refused when it is read. */
struct error *kstats_file_save(const char *path, const struct kstats_tables *tables) MUST_CHECK;

/* Load a file, compressed or not; "-" is standard input. The file is not trusted: contradictions
 * are errors, and so are more slots (empty ones too), metrics or bytes of names than these. Clear
 * `tables` afterwards, also after an error. */
#define KSTATS_FILE_SLOTS_MAX   ((size_t)1 << 25)
#define KSTATS_FILE_METRICS_MAX 16384
#define KSTATS_FILE_TEXT_MAX    (16 << 20)
struct error *kstats_file_load(const char *path, struct kstats_tables *tables) MUST_CHECK;

/* The same from a descriptor, which stays the caller's; `name` is for messages. */
struct error *kstats_file_load_fd(int fd, const char *name,
				  struct kstats_tables *tables) MUST_CHECK;

/* The error of more than KSTATS_FILE_SLOTS_MAX. */
struct error *kstats_too_many_slots(void) MUST_CHECK;

/* The members of a metric in the file. */
extern const struct json_fields kstats_table_fields;

/* The same value as text: what `--format json` prints. */
void kstats_file_write(struct json_writer *w, const struct kstats_tables *tables);

#endif
