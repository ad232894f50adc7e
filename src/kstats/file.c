/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/file_members.h"

#include <string.h>

#include "base/json_file.h"

void kstats_tables_clear(struct kstats_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		kstats_table_destroy(tables->items[i]);
	array_deinit(tables);
}

static struct kstats_table *find(const struct kstats_tables *tables,
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
	struct kstats_table *found = find(tables, like, false, &count);

	if (found)
		return found;
	found = find(tables, like, true, &count);
	find(own, like, true, &own_count);
	return count == 1 && own_count == 1 ? found : NULL;
}

/* --- writing --- */

static void put_word(struct json_writer *w, const char *key, const char *word)
{
	json_key(w, key);
	json_string(w, word);
}

static void put_number(struct json_writer *w, const char *key, uint64_t number)
{
	json_key(w, key);
	json_u64(w, number);
}

/* Those that there are. */
static void put_filters(struct json_writer *w, const struct kstats_scope *scope)
{
	json_key(w, "only");
	json_object_begin(w);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		if (scope->only[i])
			put_word(w, kstats_filters[i], scope->only[i]);
	json_object_end(w);
}

void kstats_scope_write(struct json_writer *w, const struct kstats_scope *scope)
{
	put_word(w, "key", scope->key);
	put_filters(w, scope);
}

static void put_losses(struct json_writer *w, const struct kstats_table *table)
{
	json_key(w, "losses");
	json_object_begin(w);
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (table->losses_known & 1u << loss)
			put_number(w, kstats_losses[loss].name, table->losses[loss]);
	json_object_end(w);
}

static void put_row(struct json_writer *w, const struct kstats_table *table,
		    const struct kstats_row *row)
{
	json_object_begin(w);
	put_number(w, "id", row->id);
	if (row->label)
		put_word(w, "label", row->label);
	json_key(w, "slots");
	json_array_begin(w);
	for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
		if (!row->slots[slot].count)
			continue;
		json_array_begin(w);
		json_u64(w, slot);
		json_u64(w, row->slots[slot].count);
		json_u64(w, row->slots[slot].sum);
		json_array_end(w);
	}
	json_array_end(w);
	json_object_end(w);
}

static void put_table(struct json_writer *w, const struct kstats_table *table)
{
	json_object_begin(w);
	put_word(w, "name", table->name);
	put_word(w, "unit", table->unit);
	put_number(w, "bits", table->frac_bits);
	put_word(w, "by", kstats_bys[table->by].name);
#define PUT_WORD(member) put_word(w, #member, table->member);
	KSTATS_FILE_WORDS(PUT_WORD)
#undef PUT_WORD
	kstats_scope_write(w, &table->scope);
	put_number(w, "cpus", table->cpus);
	json_key(w, "active");
	json_bool(w, table->is_active);
#define PUT_NUMBER(member) put_number(w, #member, table->member);
	KSTATS_FILE_NUMBERS(PUT_NUMBER)
#undef PUT_NUMBER
	if (table->earlier_known)
		put_number(w, "earlier", table->earlier);
	if (table->window_ns)
		put_number(w, "window_ns", table->window_ns);
	put_losses(w, table);
	json_key(w, "rows");
	json_array_begin(w);
	for (size_t i = 0; i < table->rows.count; i++) {
		json_line(w);
		put_row(w, table, &table->rows.items[i]);
	}
	json_array_end(w);
	json_object_end(w);
}

void kstats_file_write(struct json_writer *w, const struct kstats_tables *tables)
{
	json_object_begin(w);
	put_word(w, "format", KSTATS_FORMAT_NAME);
	put_number(w, "version", KSTATS_FORMAT_VERSION);
	json_key(w, "metrics");
	json_array_begin(w);
	for (size_t i = 0; i < tables->count; i++) {
		json_line(w);
		put_table(w, tables->items[i]);
	}
	json_array_end(w);
	json_object_end(w);
}

static void fill(struct json_writer *w, const void *tables)
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
	return json_file_write(path, fill, tables);
}
