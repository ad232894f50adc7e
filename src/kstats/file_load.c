/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/file_members.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_file.h"

struct triple {
	uint64_t numbers[3]; /* slot, count, sum */
};

struct load {
	struct kstats_tables *tables;
	size_t slots, metrics, text; /* of all tables */
	bool is_ours, has_version, has_metrics;
	/* Of the table, row and triple under construction. */
	struct kstats_table *table;
	uint64_t count; /* of the table's values */
	bool has_bits, has_rows;
	struct {
		uint64_t id;
		char *label;
		bool has_id, has_slots;
		struct {
			ARRAY(struct triple);
		} triples;
	} row;
	struct triple triple;
	unsigned numbers;
};

static struct load *load_of(const struct json_reader *r)
{
	return json_user(r);
}

static struct error *copy_text(struct load *l, const struct json_value *value, struct text key,
			       char **ret)
{
	struct text text;
	struct error *err = json_get_text(value, key, &text);
	char *copy;

	if (err)
		return err;
	l->text += text.length;
	if (l->text > KSTATS_FILE_TEXT_MAX)
		return error_create("more than %d bytes of names", KSTATS_FILE_TEXT_MAX);
	copy = strndup(text.bytes, text.length);
	if (!copy)
		return &error_no_memory;
	free(*ret);
	*ret = copy;
	return NULL;
}

/* --- a slot --- */

static struct error *take_number(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	struct load *l = load_of(r);

	(void)target, (void)member, (void)key;
	if (l->numbers == array_length(l->triple.numbers))
		return json_unexpected(TEXT("slots"), "slot, count and sum");
	return json_get_u64(value, TEXT("slots"), &l->triple.numbers[l->numbers++]);
}

/* The last slot is one that no value reaches, and a slot without values is not written. */
static struct error *triple_done(struct json_reader *r, void *target)
{
	struct load *l = load_of(r);
	unsigned slots = BUCKET_SLOTS(l->table->frac_bits) - 1;

	(void)target;
	if (l->numbers != array_length(l->triple.numbers) || l->triple.numbers[0] >= slots ||
	    !l->triple.numbers[1])
		return json_unexpected(TEXT("slots"), "slot, count and sum");
	if (__builtin_add_overflow(l->count, l->triple.numbers[1], &l->count))
		return error_create("%s: more values than can be counted", l->table->name);
	if (l->row.triples.count == slots)
		return error_create("%s: a slot stands twice", l->table->name);
	return array_push(&l->row.triples, l->triple) ? NULL : &error_no_memory;
}

static const struct json_shape triple_shape = { .each = take_number, .done = triple_done };

static struct error *take_triple(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	(void)target, (void)member, (void)key;
	if (value->type != JSON_ARRAY)
		return json_unexpected(TEXT("slots"), "an array of slots");
	load_of(r)->numbers = 0;
	json_enter(r, &triple_shape, NULL);
	return NULL;
}

/* --- a row --- */

static const struct json_shape slots_shape = { .each = take_triple };

static struct error *take_slots(struct json_reader *r, void *target,
				const struct json_member *member, struct text key,
				const struct json_value *value)
{
	struct load *l = load_of(r);

	(void)target, (void)member;
	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array of slots");
	l->row.has_slots = true;
	json_enter(r, &slots_shape, NULL);
	return NULL;
}

static struct error *take_id(struct json_reader *r, void *target, const struct json_member *member,
			     struct text key, const struct json_value *value)
{
	struct load *l = load_of(r);

	(void)target, (void)member;
	l->row.has_id = true;
	return json_get_u64(value, key, &l->row.id);
}

static struct error *take_label(struct json_reader *r, void *target,
				const struct json_member *member, struct text key,
				const struct json_value *value)
{
	(void)target, (void)member;
	return copy_text(load_of(r), value, key, &load_of(r)->row.label);
}

static struct error *fill_slots(const struct load *l, struct kstats_slot *slots)
{
	for (size_t i = 0; i < l->row.triples.count; i++) {
		const uint64_t *numbers = l->row.triples.items[i].numbers;

		if (slots[numbers[0]].count)
			return error_create("%s: a slot stands twice", l->table->name);
		slots[numbers[0]] = (struct kstats_slot){ numbers[1], numbers[2] };
	}
	return NULL;
}

static void forget_row(struct load *l)
{
	free(take_ptr(l->row.label));
	l->row.has_id = l->row.has_slots = false;
	l->row.triples.count = 0;
}

static struct error *row_done(struct json_reader *r, void *target)
{
	struct load *l = load_of(r);
	const size_t before = l->table->rows.count;
	struct kstats_row *row;
	struct error *err;

	(void)target;
	if (!l->row.has_id || !l->row.has_slots)
		return error_create("%s: a row has no id or no slots", l->table->name);
	err = kstats_table_row(l->table, l->row.id, l->row.label, &row);
	/* As they are written; another order would have each new one move all others. */
	if (!err && (l->table->rows.count == before || row != &l->table->rows.items[before]))
		err = error_create("%s: a row stands twice, or before one of a smaller number",
				   l->table->name);
	if (!err)
		err = fill_slots(l, row->slots);
	forget_row(l);
	return err;
}

static const struct json_member row_members[] = {
	{ .name = { "id", 2 }, .take = take_id },
	{ .name = { "label", 5 }, .take = take_label },
	{ .name = { "slots", 5 }, .take = take_slots },
};
static const struct json_shape row_shape = {
	.members = row_members,
	.count = array_length(row_members),
	.done = row_done,
};

static struct error *take_row(struct json_reader *r, void *target, const struct json_member *member,
			      struct text key, const struct json_value *value)
{
	struct load *l = load_of(r);

	(void)target, (void)member, (void)key;
	if (value->type != JSON_OBJECT)
		return json_unexpected(TEXT("rows"), "an array of rows");
	l->slots += BUCKET_SLOTS(l->table->frac_bits);
	if (l->slots > KSTATS_FILE_SLOTS_MAX)
		return kstats_too_many_slots();
	json_enter(r, &row_shape, NULL);
	return NULL;
}

/* --- a metric --- */

static const struct json_shape rows_shape = { .each = take_row };

static struct error *take_rows(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	struct load *l = load_of(r);

	(void)target, (void)member;
	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array of rows");
	if (!l->has_bits)
		return error_create("'bits' must stand before 'rows'");
	l->has_rows = true;
	json_enter(r, &rows_shape, NULL);
	return NULL;
}

static struct error *take_bits(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	struct load *l = load_of(r);
	struct error *err = json_get_u32(value, key, &l->table->frac_bits);

	(void)target, (void)member;
	if (!err && l->table->frac_bits > BUCKET_FRAC_BITS_MAX)
		return error_create("bits are 0 to %d", BUCKET_FRAC_BITS_MAX);
	if (!err && l->has_rows)
		return error_create("'bits' must stand before 'rows'");
	l->has_bits = true;
	return err;
}

static struct error *take_by(struct json_reader *r, void *target, const struct json_member *member,
			     struct text key, const struct json_value *value)
{
	struct text name;
	struct error *err = json_get_text(value, key, &name);

	(void)target, (void)member;
	if (err)
		return err;
	for (unsigned by = 0; by < KSTATS_BY_COUNT; by++)
		if (text_equal(name, text_of(kstats_bys[by].name))) {
			load_of(r)->table->by = by;
			return NULL;
		}
	return json_unexpected(key, "what rows are by");
}

static struct error *take_loss(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	struct kstats_table *table = load_of(r)->table;

	(void)target, (void)member;
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (text_equal(key, text_of(kstats_losses[loss].name))) {
			if (table->losses_known & 1u << loss)
				return error_create("%s: '%s' stands twice", table->name,
						    kstats_losses[loss].name);
			table->losses_known |= 1u << loss;
			return json_get_u64(value, key, &table->losses[loss]);
		}
	return NULL; /* one that a later ctprof counts */
}

static struct error *enter(struct json_reader *r, const struct json_shape *shape, struct text key,
			   const struct json_value *value)
{
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	json_enter(r, shape, NULL);
	return NULL;
}

static const struct json_shape losses_shape = { .each = take_loss };

static struct error *take_losses(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	(void)target, (void)member;
	return enter(r, &losses_shape, key, value);
}

static struct error *take_word(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)target;
	if (value->type == JSON_NULL)
		return NULL;
	return copy_text(load_of(r), value, key,
			 (char **)((char *)load_of(r)->table + member->detail));
}

static struct error *take_filter(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	struct load *l = load_of(r);

	(void)target, (void)member;
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		if (text_equal(key, text_of(kstats_filters[i])))
			return copy_text(l, value, key, &l->table->scope.only[i]);
	return NULL; /* one that a later ctprof has */
}

static const struct json_shape filters_shape = { .each = take_filter };

static struct error *take_filters(struct json_reader *r, void *target,
				  const struct json_member *member, struct text key,
				  const struct json_value *value)
{
	(void)target, (void)member;
	return enter(r, &filters_shape, key, value);
}

static struct error *take_u64(struct json_reader *r, void *target, const struct json_member *member,
			      struct text key, const struct json_value *value)
{
	(void)target;
	return json_get_u64(value, key, (uint64_t *)((char *)load_of(r)->table + member->detail));
}

static struct error *take_cpus(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)target, (void)member;
	return json_get_u32(value, key, &load_of(r)->table->cpus);
}

static struct error *take_active(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	(void)target, (void)member;
	return json_get_bool(value, key, &load_of(r)->table->is_active);
}

/* Files written before this row existed have no such member: `earlier` is unknown then. */
static struct error *take_earlier(struct json_reader *r, void *target,
				  const struct json_member *member, struct text key,
				  const struct json_value *value)
{
	struct kstats_table *table = load_of(r)->table;

	(void)target, (void)member;
	table->earlier_known = true;
	return json_get_u64(value, key, &table->earlier);
}

#define WORD_MEMBER(member)                         \
	{ .name = { #member, sizeof(#member) - 1 }, \
	  .take = take_word,                        \
	  .detail = offsetof(struct kstats_table, member) },
#define NUMBER_MEMBER(member)                       \
	{ .name = { #member, sizeof(#member) - 1 }, \
	  .take = take_u64,                         \
	  .detail = offsetof(struct kstats_table, member) },

static const struct json_member table_members[] = {
	WORD_MEMBER(name) WORD_MEMBER(unit) KSTATS_FILE_WORDS(WORD_MEMBER)
		KSTATS_FILE_NUMBERS(NUMBER_MEMBER){ .name = { "bits", 4 }, .take = take_bits },
	{ .name = { "by", 2 }, .take = take_by },
	{ .name = { "key", 3 },
	  .take = take_word,
	  .detail = offsetof(struct kstats_table, scope.key) },
	{ .name = { "only", 4 }, .take = take_filters },
	{ .name = { "cpus", 4 }, .take = take_cpus },
	{ .name = { "active", 6 }, .take = take_active },
	{ .name = { "earlier", 7 }, .take = take_earlier },
	{ .name = { "losses", 6 }, .take = take_losses },
	{ .name = { "rows", 4 }, .take = take_rows },
};

/* Files of earlier versions have the process of a program's metric in its name. */
static bool split_name(struct kstats_table *table)
{
	const size_t digits = strspn(table->name, "0123456789");
	const char *name = table->name + digits + 1;

	if (!digits || table->name[digits] != ':' || !*name)
		return true;
	table->instance = strndup(table->name, digits);
	memmove(table->name, name, strlen(name) + 1);
	return table->instance;
}

static struct error *table_done(struct json_reader *r, void *target)
{
	struct load *l = load_of(r);

	(void)target;
	if (!*l->table->name || !l->has_bits || !l->has_rows)
		return error_create("a metric has no name, no bits or no rows");
	if (!l->table->instance && !split_name(l->table))
		return &error_no_memory;
	if (!array_push(l->tables, l->table))
		return &error_no_memory;
	l->table = NULL;
	return NULL;
}

static const struct json_shape table_shape = {
	.members = table_members,
	.count = array_length(table_members),
	.done = table_done,
};

static struct error *take_table(struct json_reader *r, void *target,
				const struct json_member *member, struct text key,
				const struct json_value *value)
{
	struct load *l = load_of(r);
	struct error *err;

	(void)target, (void)member, (void)key;
	if (value->type != JSON_OBJECT)
		return json_unexpected(TEXT("metrics"), "an array of metrics");
	if (++l->metrics > KSTATS_FILE_METRICS_MAX)
		return error_create("more than %d metrics", KSTATS_FILE_METRICS_MAX);
	err = kstats_table_create("", 0, "", &l->table);
	if (err)
		return err;
	l->has_bits = l->has_rows = false;
	l->count = 0;
	json_enter(r, &table_shape, NULL);
	return NULL;
}

/* --- the file --- */

static const struct json_shape tables_shape = { .each = take_table };

static struct error *take_metrics(struct json_reader *r, void *target,
				  const struct json_member *member, struct text key,
				  const struct json_value *value)
{
	(void)target, (void)member;
	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array of metrics");
	load_of(r)->has_metrics = true;
	json_enter(r, &tables_shape, NULL);
	return NULL;
}

static struct error *take_format(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	struct text format;
	struct error *err = json_get_text(value, key, &format);

	(void)target, (void)member;
	if (!err && !text_equal(format, TEXT(KSTATS_FORMAT_NAME)))
		return error_create("no file of kstats");
	load_of(r)->is_ours = !err;
	return err;
}

static struct error *take_version(struct json_reader *r, void *target,
				  const struct json_member *member, struct text key,
				  const struct json_value *value)
{
	uint32_t version;
	struct error *err = json_get_u32(value, key, &version);

	(void)target, (void)member;
	load_of(r)->has_version = true;
	if (!err && version != KSTATS_FORMAT_VERSION)
		return error_create("version %u of the format; this ctprof reads version %u",
				    version, KSTATS_FORMAT_VERSION);
	return err;
}

static const struct json_member file_members[] = {
	{ .name = { "format", 6 }, .take = take_format },
	{ .name = { "version", 7 }, .take = take_version },
	{ .name = { "metrics", 7 }, .take = take_metrics },
};
static const struct json_shape file_shape = {
	.members = file_members,
	.count = array_length(file_members),
};

static struct error *take_root(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)target, (void)member, (void)key;
	if (value->type != JSON_OBJECT)
		return error_create("no file of kstats");
	json_enter(r, &file_shape, NULL);
	return NULL;
}

struct error *kstats_file_load(const char *path, struct kstats_tables *tables)
{
	struct load load = { .tables = tables };
	struct error *err = json_file_read(path, take_root, NULL, &load);

	if (!err && (!load.is_ours || !load.has_version || !load.has_metrics))
		err = error_create("%s: no file of kstats", path);
	kstats_table_destroy(load.table);
	forget_row(&load);
	array_deinit(&load.row.triples);
	return err;
}
