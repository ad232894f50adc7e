/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/file.h"

#include <string.h>

#include "base/json_file.h"

void kstats_tables_clear(struct kstats_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		kstats_table_destroy(tables->items[i]);
	array_deinit(tables);
}

static struct kstats_table *find_table(const struct kstats_tables *tables,
				       const struct kstats_table *like, bool any_instance,
				       size_t *ret_count)
{
	struct kstats_table *found = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < tables->count; i++) {
		struct kstats_table *table = tables->items[i];

		if (strcmp(table->name, like->name) != 0 ||
		    !(any_instance || strings_equal(table->instance, like->instance)))
			continue;
		found = found ? found : table;
		++*ret_count;
	}
	return found;
}

struct kstats_table *kstats_tables_match(const struct kstats_tables *tables,
					 const struct kstats_tables *own,
					 const struct kstats_table *like)
{
	size_t count, own_count;
	struct kstats_table *found = find_table(tables, like, false, &count);

	if (found)
		return found;
	found = find_table(tables, like, true, &count);
	find_table(own, like, true, &own_count);
	return count == 1 && own_count == 1 ? found : NULL;
}

/* --- writing --- */

static void fill_json(struct json_writer *w, const void *tables)
{
	kstats_file_write(w, tables);
}

struct error *kstats_file_save(const char *path, const struct kstats_tables *tables)
{
	size_t slots = 0;

	for (size_t i = 0; i < tables->count; i++)
		slots += tables->items[i]->rows.count * BUCKET_SLOTS(tables->items[i]->frac_bits);
	if (slots > KSTATS_FILE_SLOTS_MAX)
		return error_prefix(kstats_too_many_slots(), "%s", path);
	return json_file_write(path, fill_json, tables);
}
