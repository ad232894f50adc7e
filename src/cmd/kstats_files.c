/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: keeping metrics in files, and making one of several.
 */
#include <errno.h>
#include <string.h>

#include "cmd/kstats.h"

struct gathering {
	struct kstats_tables *tables;
	int *status;
};

/* What cannot be read is said, and the others are kept. */
static struct error *gather_entry(void *context, const struct kstats_recorder *recorder,
				  const struct kstats_entry *entry)
{
	struct gathering *gathering = context;
	struct kstats_table *table;
	struct error *err = recorder->read(entry->name, &table);

	/* It was removed, or its program ended, since the list. */
	if (err && err->errnum == ENOENT)
		error_destroy(err);
	else if (err)
		*gathering->status = report_error(err, STATUS_FAILED);
	if (err)
		return NULL;
	if (array_push(gathering->tables, table))
		return NULL;
	kstats_table_destroy(table);
	return &error_no_memory;
}

struct error *kstats_save(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables tables = { 0 };
	struct gathering gathering = { &tables, ret_status };
	struct error *err = *words ? NULL : kstats_each(&search, gather_entry, &gathering, NULL);

	for (; !err && *words; words++)
		err = kstats_gather(&search, *words, &tables);
	if (!err && !tables.count)
		err = error_create("there are no metrics to save");
	if (!err)
		err = kstats_file_save(arguments->output, &tables);
	kstats_tables_clear(&tables);
	return err;
}

/* Metrics of the same name become one. */
static struct error *fold(struct kstats_tables *tables)
{
	size_t kept = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < tables->count; i++) {
		struct kstats_table *table = tables->items[i], *same = NULL;

		for (size_t k = 0; k < kept && !same; k++)
			if (strcmp(tables->items[k]->name, table->name) == 0)
				same = tables->items[k];
		if (!same || err) {
			tables->items[kept++] = table;
			continue;
		}
		err = kstats_table_merge(same, table);
		kstats_table_destroy(table);
	}
	tables->count = kept;
	return err;
}

struct error *kstats_merge(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables tables = { 0 };
	struct error *err = NULL;

	(void)ret_status;
	for (; !err && *words; words++)
		err = kstats_gather(&search, *words, &tables);
	if (!err)
		err = fold(&tables);
	if (!err)
		err = kstats_file_save(arguments->output, &tables);
	kstats_tables_clear(&tables);
	return err;
}
