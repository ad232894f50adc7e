/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_fields.h"
#include "base/json_file.h"

#define FORMAT_NAME    "ctprof-kstats"
#define FORMAT_VERSION 1u

struct triple {
	uint64_t numbers[3]; /* slot, count, sum */
};

/* The row that is being read. */
struct bucket_row {
	uint64_t id, born;
	char *label;
	bool has_id, has_slots;
	struct {
		ARRAY(struct triple);
	} triples;
};

struct load {
	struct json_fields_user user; /* of the reader; first, so that it is this one too */
	struct kstats_tables *tables;
	size_t slots, metrics; /* of all tables */
	bool is_ours, has_version, has_metrics;
	/* The table, row and triple that are being read. */
	struct kstats_table *table;
	uint64_t count; /* of the table's values */
	bool has_rows;
	struct bucket_row row;
	struct triple triple;
	unsigned numbers;
};

_Static_assert(KSTATS_FILE_TEXT_MAX == 16777216, "the message says the number");

/* Bits that no file has: they were not read yet. */
#define BITS_UNKNOWN UINT_MAX

static struct load *load_of(const struct json_reader *r)
{
	return json_user(r);
}

struct error *kstats_too_many_slots(void)
{
	return error_create("more than %zu slots, of all rows of all metrics",
			    KSTATS_FILE_SLOTS_MAX);
}

static struct error *enter(struct json_reader *r, enum json_type type, const char *expected,
			   const struct json_shape *shape, void *target, struct text key,
			   const struct json_value *value)
{
	if (value->type != type)
		return json_unexpected(key, expected);
	json_enter(r, shape, target);
	return NULL;
}

/* --- a slot --- */

static JSON_TAKE(take_number)
{
	struct load *l = load_of(r);

	if (l->numbers == array_length(l->triple.numbers))
		return json_unexpected(TEXT("slots"), "slot, count and sum");
	return json_get_u64(value, TEXT("slots"), &l->triple.numbers[l->numbers++]);
}

/* The last slot is one that no value reaches, and a slot without values is not written. */
static struct error *triple_done(struct json_reader *r, JSON_UNUSED_ void *target)
{
	struct load *l = load_of(r);
	unsigned slots = BUCKET_SLOTS(l->table->frac_bits) - 1;

	if (l->numbers != array_length(l->triple.numbers) || l->triple.numbers[0] >= slots ||
	    !l->triple.numbers[1])
		return json_unexpected(TEXT("slots"), "slot, count and sum");
	if (__builtin_add_overflow(l->count, l->triple.numbers[1], &l->count))
		return error_create("%s: more values than can be counted", l->table->name);
	if (l->row.triples.count == slots)
		return error_create("%s: duplicate slot", l->table->name);
	return array_push(&l->row.triples, l->triple) ? NULL : &error_no_memory;
}

static JSON_TAKE(take_triple)
{
	static const struct json_shape shape = { .each = take_number, .done = triple_done };

	load_of(r)->numbers = 0;
	return enter(r, JSON_ARRAY, "an array of slots", &shape, NULL, TEXT("slots"), value);
}

/* --- a row: read from a struct bucket_row, written from a struct kstats_row --- */

static JSON_TAKE(take_slots)
{
	static const struct json_shape shape = { .each = take_triple };

	load_of(r)->row.has_slots = true;
	return enter(r, JSON_ARRAY, "an array of slots", &shape, NULL, key, value);
}

static JSON_TAKE(take_id)
{
	load_of(r)->row.has_id = true;
	return json_take_u64(r, target, member, key, value);
}

static struct error *fill_slots(const struct load *l, struct kstats_slot *slots)
{
	for (size_t i = 0; i < l->row.triples.count; i++) {
		const uint64_t *numbers = l->row.triples.items[i].numbers;

		if (slots[numbers[0]].count)
			return error_create("%s: duplicate slot", l->table->name);
		slots[numbers[0]] = (struct kstats_slot){ numbers[1], numbers[2] };
	}
	return NULL;
}

static void clear_row(struct load *l)
{
	free(take_ptr(l->row.label));
	l->row.has_id = l->row.has_slots = false;
	l->row.born = 0;
	l->row.triples.count = 0;
}

static struct error *row_done(struct json_reader *r, JSON_UNUSED_ void *target)
{
	struct load *l = load_of(r);
	const size_t before = l->table->rows.count;
	struct kstats_row *row;
	struct error *err;

	if (!l->row.has_id || !l->row.has_slots)
		return error_create("%s: a row has no id or no slots", l->table->name);
	err = kstats_table_row_born(l->table, l->row.id, l->row.born, l->row.label, &row);
	/* Rows come in the order in which they are written; in another order each insertion would
	 * move all others. */
	if (!err && (l->table->rows.count == before || row != &l->table->rows.items[before]))
		err = error_create("%s: duplicate row, or rows not in the order of their numbers",
				   l->table->name);
	if (!err)
		err = fill_slots(l, row->slots);
	clear_row(l);
	return err;
}

static const struct json_field row_rows[] = {
	{ .json = { TEXT("id"), take_id, offsetof(struct bucket_row, id), NULL } },
	JSON_FIELD(u64, "born_ns", bucket_row, born),
	JSON_FIELD(string, "label", bucket_row, label),
	{ .json = { TEXT("slots"), take_slots, 0, NULL } },
};
static const struct json_fields row_fields = JSON_FIELDS(row_rows, .done = row_done);

static JSON_TAKE(take_row)
{
	struct load *l = load_of(r);

	if (value->type != JSON_OBJECT)
		return json_unexpected(TEXT("rows"), "an array of rows");
	l->slots += BUCKET_SLOTS(l->table->frac_bits);
	if (l->slots > KSTATS_FILE_SLOTS_MAX)
		return kstats_too_many_slots();
	json_enter(r, &row_fields.shape, &l->row);
	return NULL;
}

static JSON_TAKE(json_take_rows)
{
	static const struct json_shape shape = { .each = take_row };
	struct load *l = load_of(r);

	if (l->table->frac_bits == BITS_UNKNOWN)
		return error_create("'bits' must stand before 'rows'");
	l->has_rows = true;
	return enter(r, JSON_ARRAY, "an array of rows", &shape, NULL, key, value);
}

static void write_row(struct json_writer *w, const struct kstats_table *table,
		      const struct kstats_row *row)
{
	json_object_begin(w);
	json_key(w, "id");
	json_u64(w, row->id);
	if (row->born) {
		json_key(w, "born_ns");
		json_u64(w, row->born);
	}
	if (row->label) {
		json_key(w, "label");
		json_string(w, row->label);
	}
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

static void write_rows(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
		       const void *at)
{
	const struct kstats_table *table = at;

	json_array_begin(w);
	for (size_t i = 0; i < table->rows.count; i++) {
		json_line(w);
		write_row(w, table, &table->rows.items[i]);
	}
	json_array_end(w);
}

static const struct json_field_type json_type_rows = { json_take_rows, write_rows, NULL };

/* --- filters --- */

static const char *filter_name(size_t number)
{
	return number < KSTATS_FILTER_COUNT ? kstats_filters[number] : NULL;
}

static const struct json_words filter_words = JSON_WORDS(filter_words, filter_name, "a filter");

/* Filters that a later ctprof has are passed over. */
static JSON_TAKE(take_filter)
{
	static const struct json_field string = JSON_ROW_(string, "", 0, NULL);
	size_t number;

	return json_words_find(&filter_words, key, &number)
		       ? json_take_string(r, (char **)target + number, &string.json, key, value)
		       : NULL;
}

static JSON_TAKE(json_take_filters)
{
	static const struct json_shape shape = { .each = take_filter };

	return enter(r, JSON_OBJECT, "an object", &shape, (char *)target + member->detail, key,
		     value);
}

static void write_filters(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			  const void *at)
{
	char *const *only = at;

	json_object_begin(w);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		if (only[i]) {
			json_key(w, kstats_filters[i]);
			json_string(w, only[i]);
		}
	json_object_end(w);
}

static const struct json_field_type json_type_filters = { json_take_filters, write_filters, NULL };

/* --- losses --- */

/* Losses that a later ctprof counts are passed over. */
static JSON_TAKE(take_loss)
{
	struct kstats_table *table = target;

	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (text_equal(key, text_of(kstats_losses[loss].name))) {
			if (table->losses_known & 1u << loss)
				return error_create("%s: duplicate '%s'", table->name,
						    kstats_losses[loss].name);
			table->losses_known |= 1u << loss;
			return json_get_u64(value, key, &table->losses[loss]);
		}
	return NULL;
}

static JSON_TAKE(json_take_losses)
{
	static const struct json_shape shape = { .each = take_loss };

	return enter(r, JSON_OBJECT, "an object", &shape, target, key, value);
}

static void write_losses(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			 const void *at)
{
	const struct kstats_table *table = at;

	json_object_begin(w);
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (table->losses_known & 1u << loss) {
			json_key(w, kstats_losses[loss].name);
			json_u64(w, table->losses[loss]);
		}
	json_object_end(w);
}

static const struct json_field_type json_type_losses = { json_take_losses, write_losses, NULL };

/* Files written before there was this member do not say what it was. */
static JSON_TAKE(json_take_earlier)
{
	struct kstats_table *table = target;

	table->earlier_known = true;
	return json_get_u64(value, key, &table->earlier);
}

static void write_earlier(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			  const void *at)
{
	json_u64(w, ((const struct kstats_table *)at)->earlier);
}

static bool has_earlier(JSON_UNUSED_ const struct json_field *field, const void *at)
{
	return ((const struct kstats_table *)at)->earlier_known;
}

static const struct json_field_type json_type_earlier = { json_take_earlier, write_earlier,
							  has_earlier };

/* --- a metric --- */

static const char *by_key(size_t number)
{
	return number < KSTATS_BY_COUNT ? kstats_bys[number].name : NULL;
}

static const struct json_words by_words = JSON_WORDS(by_words, by_key, "what rows are by");
_Static_assert(sizeof(enum kstats_by) == sizeof(field_word), "a word in four bytes");

#define WORD(member) JSON_FIELD(string, #member, kstats_table, member, .flags = FIELD_NULLABLE)
static const struct json_field table_rows[] = {
	WORD(name),
	WORD(unit),
	JSON_FIELD(u32, "bits", kstats_table, frac_bits, .most = BUCKET_FRAC_BITS_MAX),
	JSON_FIELD_OF(word, "by", kstats_table, by, &by_words),
	WORD(instance),
	WORD(host),
	WORD(recorder),
	WORD(start),
	WORD(end),
	WORD(how),
	JSON_FIELD(string, "key", kstats_table, scope.key, .flags = FIELD_NULLABLE),
	JSON_FIELD_OF(filters, "only", kstats_table, scope.only, NULL),
	JSON_FIELD(u32, "cpus", kstats_table, cpus),
	JSON_FIELD(flag, "active", kstats_table, is_active),
	JSON_FIELD(u64, "taken_ns", kstats_table, taken_ns),
	JSON_FIELD(u64, "overhead_ns", kstats_table, overhead_ns),
	JSON_FIELD(string, "labels", kstats_table, labels, .flags = FIELD_OMIT),
	JSON_FIELD(string, "boot", kstats_table, boot, .flags = FIELD_OMIT),
	JSON_FIELD(u64, "began_ns", kstats_table, began_ns, .flags = FIELD_OMIT),
	JSON_FIELD(u64, "recorded_ns", kstats_table, recorded_ns, .flags = FIELD_OMIT),
	JSON_ROW_(earlier, "earlier", 0, NULL, .flags = FIELD_OMIT),
	{ .json = { TEXT("window_ns"), json_take_nothing, offsetof(struct kstats_table, window_ns),
		    NULL },
	  .type = &json_type_u64,
	  .flags = FIELD_OMIT },
	JSON_ROW_(losses, "losses", 0, NULL),
	JSON_ROW_(rows, "rows", 0, NULL),
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

static struct error *table_done(struct json_reader *r, JSON_UNUSED_ void *target)
{
	struct load *l = load_of(r);

	if (!*l->table->name || l->table->frac_bits == BITS_UNKNOWN || !l->has_rows)
		return error_create("a metric has no name, no bits or no rows");
	if (!l->table->instance && !split_name(l->table))
		return &error_no_memory;
	if (!array_push(l->tables, l->table))
		return &error_no_memory;
	l->table = NULL;
	return NULL;
}

const struct json_fields kstats_table_fields = JSON_FIELDS(table_rows, .done = table_done);

static JSON_TAKE(take_table)
{
	struct load *l = load_of(r);
	struct error *err;

	if (value->type != JSON_OBJECT)
		return json_unexpected(TEXT("metrics"), "an array of metrics");
	if (++l->metrics > KSTATS_FILE_METRICS_MAX)
		return error_create("more than %d metrics", KSTATS_FILE_METRICS_MAX);
	err = kstats_table_create("", 0, "", &l->table);
	if (err)
		return err;
	l->table->frac_bits = BITS_UNKNOWN;
	l->has_rows = false;
	l->count = 0;
	json_enter(r, &kstats_table_fields.shape, l->table);
	return NULL;
}

/* --- the file: read into a struct load, written from struct kstats_tables --- */

static JSON_TAKE(json_take_metrics)
{
	static const struct json_shape shape = { .each = take_table };

	load_of(r)->has_metrics = true;
	return enter(r, JSON_ARRAY, "an array of metrics", &shape, NULL, key, value);
}

static void write_kstats_metrics(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
				 const void *at)
{
	const struct kstats_tables *tables = at;

	json_array_begin(w);
	for (size_t i = 0; i < tables->count; i++) {
		json_line(w);
		json_object_write(w, &kstats_table_fields, tables->items[i]);
	}
	json_array_end(w);
}

static const struct json_field_type json_type_metrics = { json_take_metrics, write_kstats_metrics,
							  NULL };

static JSON_TAKE(json_take_format)
{
	struct text format;
	struct error *err = json_get_text(value, key, &format);

	if (!err && !text_equal(format, TEXT(FORMAT_NAME)))
		return error_create("not a kstats file");
	load_of(r)->is_ours = !err;
	return err;
}

static void write_format(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			 JSON_UNUSED_ const void *at)
{
	json_string(w, FORMAT_NAME);
}

static const struct json_field_type json_type_format = { json_take_format, write_format, NULL };

static JSON_TAKE(json_take_version)
{
	uint32_t version;
	struct error *err = json_get_u32(value, key, &version);

	load_of(r)->has_version = true;
	if (!err && version != FORMAT_VERSION)
		return error_create("format version %u; this ctprof reads version %u", version,
				    FORMAT_VERSION);
	return err;
}

static void write_version(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			  JSON_UNUSED_ const void *at)
{
	json_u64(w, FORMAT_VERSION);
}

static const struct json_field_type json_type_version = { json_take_version, write_version, NULL };

/* --- files of other commands --- */

static JSON_TAKE(refuse_snapshot)
{
	return error_create("not a kstats file but a snapshot: 'ctprof show' prints it");
}

static JSON_TAKE(refuse_profile)
{
	return error_create("not a kstats file but a profile: 'ctprof flame' prints it");
}

static const struct json_field file_rows[] = {
	JSON_ROW_(format, "format", 0, NULL),
	JSON_FOREIGN("captured_at_unix_ns", refuse_snapshot),
	JSON_FOREIGN("ctprof_profile", refuse_profile),
	JSON_ROW_(version, "version", 0, NULL),
	JSON_ROW_(metrics, "metrics", 0, NULL),
};
static const struct json_fields file_fields = JSON_FIELDS(file_rows);

void kstats_file_write(struct json_writer *w, const struct kstats_tables *tables)
{
	json_object_write(w, &file_fields, tables);
}

static JSON_TAKE(take_root)
{
	if (value->type != JSON_OBJECT)
		return error_create("not a kstats file");
	json_enter(r, &file_fields.shape, NULL);
	return NULL;
}

struct error *kstats_file_load_fd(int fd, const char *name, struct kstats_tables *tables)
{
	struct load load = {
		.user = { .bytes_most = KSTATS_FILE_TEXT_MAX,
			  .too_many = "more than 16777216 bytes of names" },
		.tables = tables,
	};
	struct error *err = json_file_read_fd(fd, name, take_root, NULL, &load);

	if (!err && (!load.is_ours || !load.has_version || !load.has_metrics))
		err = error_create("%s: not a kstats file", name);
	kstats_table_destroy(load.table);
	clear_row(&load);
	array_deinit(&load.row.triples);
	return err;
}

struct error *kstats_file_load(const char *path, struct kstats_tables *tables)
{
	_cleanup_close_ int fd = -1;
	struct error *err;

	if (strcmp(path, "-") == 0)
		return kstats_file_load_fd(STDIN_FILENO, "standard input", tables);
	err = file_open_input(path, &fd);
	return err ? err : kstats_file_load_fd(fd, path, tables);
}
