/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "profile/files.h"
#include "profile/json.h"
#include "profile/schema.h"

static struct profile_parser *parser_of(const struct json_reader *r)
{
	return json_user(r);
}

#define ADD(r, table, ...)                                                            \
	({                                                                            \
		struct error *err_ = json_fields_account(r, sizeof(*(table)->items)); \
		if (!err_ && !array_push(table, __VA_ARGS__))                         \
			err_ = &error_no_memory;                                      \
		err_;                                                                 \
	})

static struct error *enter_array(struct json_reader *r, const struct json_shape *shape,
				 void *target, struct text key, const struct json_value *value)
{
	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array");
	json_enter(r, shape, target);
	return NULL;
}

static struct error *enter_object(struct json_reader *r, const struct json_shape *shape,
				  void *target, struct text key, const struct json_value *value)
{
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	json_enter(r, shape, target);
	return NULL;
}

/* --- columns --- */

static struct error *get_number(const struct json_value *value, struct text key, uint64_t *ret)
{
	*ret = NO_NUMBER;
	if (value->type == JSON_NULL)
		return NULL;
	if (value->type != JSON_BOOL)
		return json_get_u64(value, key, ret);
	*ret = value->boolean;
	return NULL;
}

static JSON_TAKE(take_number)
{
	uint64_t number;
	struct error *err = get_number(value, key, &number);

	return err ? err : ADD(r, (struct column *)target, number);
}

static struct error *take_numbers(struct json_reader *r, void *target, const uint64_t *numbers,
				  size_t count)
{
	struct column *column = target;
	struct error *err = json_fields_account(r, count * sizeof(*numbers));

	if (err)
		return err;
	if (!array_reserve(column, count))
		return &error_no_memory;
	memcpy(column->items + column->count, numbers, count * sizeof(*numbers));
	column->count += count;
	return NULL;
}

/* A number of an item; NO_NUMBER: null. */
static uint32_t index_of(uint64_t number)
{
	if (number == NO_NUMBER)
		return INDEX_NONE;
	return number < INDEX_BEYOND ? (uint32_t)number : INDEX_BEYOND;
}

static JSON_TAKE(take_index)
{
	uint64_t number;
	struct error *err = get_number(value, key, &number);

	return err ? err : ADD(r, (struct index_column *)target, index_of(number));
}

static struct error *take_indices(struct json_reader *r, void *target, const uint64_t *numbers,
				  size_t count)
{
	struct index_column *column = target;
	struct error *err = json_fields_account(r, count * sizeof(*column->items));

	if (err)
		return err;
	if (!array_reserve(column, count))
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		column->items[column->count++] = index_of(numbers[i]);
	return NULL;
}

JSON_TAKE(json_take_index_column)
{
	static const struct json_shape numbers = { .each = take_index, .run = take_indices };
	struct index_column *column = (void *)((char *)target + member->detail);

	return enter_array(r, &numbers, column, key, value);
}

JSON_TAKE(json_take_column)
{
	static const struct json_shape numbers = { .each = take_number, .run = take_numbers };
	struct column *column = (void *)((char *)target + member->detail);

	return enter_array(r, &numbers, column, key, value);
}

JSON_TAKE(json_take_nodes)
{
	static const struct json_shape shape = { .members = &profile_node_columns[0].json,
						 .count = PROFILE_NODE_COLUMNS,
						 .stride = sizeof(profile_node_columns[0]) };

	return enter_object(r, &shape, parser_of(r), key, value);
}

JSON_TAKE(json_take_samples)
{
	static const struct json_shape shape = { .members = &profile_sample_columns[0].json,
						 .count = PROFILE_SAMPLE_COLUMNS,
						 .stride = sizeof(profile_sample_columns[0]) };

	return enter_object(r, &shape, parser_of(r), key, value);
}

/* --- tables --- */

/* Nodes may come first and number the frames as the file does. */
JSON_TAKE(json_take_frames)
{
	return enter_array(r, &profile_frame_list.shape, &parser_of(r)->frames, key, value);
}

static JSON_TAKE(take_event)
{
	struct profile *p = parser_of(r)->profile;
	const struct name *name;
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	if (err)
		return err;
	name = profile_name(p, text.bytes, text.length);
	return name ? ADD(r, &p->events, name) : &error_no_memory;
}

JSON_TAKE(json_take_events)
{
	static const struct json_shape shape = { .each = take_event };

	return enter_array(r, &shape, target, key, value);
}

static JSON_TAKE(take_class)
{
	size_t class = CLASS_COUNT;

	if (value->type != JSON_STRING)
		return json_unexpected(key, "a name");
	(void)json_words_find(&profile_class_words, value->text, &class);
	return ADD(r, &parser_of(r)->classes, (uint16_t) class);
}

JSON_TAKE(json_take_classes)
{
	static const struct json_shape shape = { .each = take_class };

	return enter_array(r, &shape, target, key, value);
}

static JSON_TAKE(take_state)
{
	size_t state = STATE_COUNT;

	if (value->type != JSON_STRING)
		return json_unexpected(key, "a name");
	(void)json_words_find(&profile_state_words, value->text, &state);
	return ADD(r, &parser_of(r)->states, state < STATE_COUNT ? (uint8_t)state : 0);
}

JSON_TAKE(json_take_states)
{
	static const struct json_shape shape = { .each = take_state };

	return enter_array(r, &shape, target, key, value);
}

/* --- histograms --- */

static struct error *fill_histogram(struct profile_parser *p, struct histogram *histogram)
{
	const struct column *slots = &p->histogram.slots, *counts = &p->histogram.counts;

	if (slots->count != counts->count)
		return error_create("'histograms': the numbers of slots and counts differ");
	for (size_t i = 0; i < slots->count; i++) {
		/* The spare one has no bounds. */
		if (slots->items[i] >= BUCKET_SLOTS(histogram->frac_bits) - 1)
			return error_create("'histograms': a slot is out of range");
		histogram->slots[slots->items[i]] += counts->items[i];
		histogram->count += counts->items[i];
	}
	histogram->sum = p->histogram.sum;
	return NULL;
}

static struct error *finish_histogram(struct json_reader *r, void *target)
{
	struct profile_parser *p = target;
	struct thread_histogram item = { p->histogram.thread, p->histogram.class, NULL };
	struct error *err;

	err = json_fields_account(r, BUCKET_SLOTS(p->histogram.frac_bits) * sizeof(uint64_t));
	if (err)
		return err;
	item.histogram = histogram_create(p->histogram.frac_bits);
	if (!item.histogram)
		return &error_no_memory;
	err = fill_histogram(p, item.histogram);
	if (!err)
		err = ADD(r, &p->profile->histograms, item);
	if (err)
		histogram_destroy(item.histogram);
	return err;
}

#define COLUMN(name)                                                     \
	{                                                                \
		.json = {                                                \
			TEXT(#name),                                     \
			json_take_column,                                \
			offsetof(struct profile_parser, histogram.name), \
			NULL                                             \
		}                                                        \
	}
static const struct json_field histogram_rows[] = {
	JSON_FIELD_OF(u32, "thread", profile_parser, histogram.thread, NULL),
	JSON_FIELD_OF(word16, "class", profile_parser, histogram.class, &profile_class_words),
	JSON_FIELD_OF(u32, "frac_bits", profile_parser, histogram.frac_bits, NULL,
		      .most = BUCKET_FRAC_BITS_MAX),
	JSON_FIELD_OF(u64, "sum", profile_parser, histogram.sum, NULL),
	COLUMN(slots),
	COLUMN(counts),
};
static const struct json_fields histogram_fields =
	JSON_FIELDS(histogram_rows, .done = finish_histogram);

static JSON_TAKE(take_histogram)
{
	struct profile_parser *p = parser_of(r);

	p->histogram.thread = p->histogram.frac_bits = 0;
	p->histogram.class = 0;
	p->histogram.sum = 0;
	p->histogram.slots.count = p->histogram.counts.count = 0;
	return enter_object(r, &histogram_fields.shape, p, key, value);
}

JSON_TAKE(json_take_histograms)
{
	static const struct json_shape shape = { .each = take_histogram };

	return enter_array(r, &shape, target, key, value);
}

/* --- the root --- */

JSON_TAKE(json_take_form)
{
	struct profile_parser *p = parser_of(r);
	struct error *err = json_get_u64(value, key, &p->form);

	if (err || p->form == PROFILE_FORM)
		return err;
	return error_create("format %llu is newer than this ctprof reads",
			    (unsigned long long)p->form);
}

/* --- files of other commands --- */

JSON_TAKE(profile_refuse_snapshot)
{
	return error_create("not a profile but a snapshot: 'ctprof show' prints it");
}

JSON_TAKE(profile_refuse_histograms)
{
	if (value->type != JSON_STRING || !text_equal(value->text, TEXT("ctprof-kstats")))
		return NULL;
	return error_create("not a profile but histograms: 'ctprof kstats show' prints them");
}

static JSON_TAKE(take_root)
{
	return enter_object(r, &profile_root_fields.shape, target, key, value);
}

/* --- all of it --- */

struct error *profile_parser_create(struct profile_parser **ret)
{
	_cleanup_(profile_parser_destroy) struct profile_parser *p = calloc(1, sizeof(*p));
	struct error *err;

	if (!p)
		return &error_no_memory;
	err = profile_create(&p->profile);
	if (err)
		return err;
	p->user = (struct json_fields_user){
		.names = &p->profile->names,
		.bytes_most = PROFILE_BYTES_MAX,
		.too_many = "more than a profile may hold",
	};
	err = json_reader_create(take_root, p->profile, p, &p->reader);
	if (err)
		return err;
	*ret = take_ptr(p);
	return NULL;
}

void profile_parser_destroy(struct profile_parser *p)
{
	if (!p)
		return;
	json_reader_destroy(p->reader);
	profile_destroy(p->profile);
	array_deinit(&p->classes);
	array_deinit(&p->states);
	array_deinit(&p->frames);
	array_deinit(&p->nodes.parent);
	array_deinit(&p->nodes.frame);
	for (size_t i = 0; i < PROFILE_SAMPLE_COLUMNS; i++)
		array_deinit((struct column *)(void *)((char *)p +
						       profile_sample_columns[i].json.detail));
	array_deinit(&p->histogram.slots);
	array_deinit(&p->histogram.counts);
	free(p);
}

static struct error *at_offset(const struct profile_parser *p, struct error *err)
{
	return err && err != &error_no_memory
		       ? error_prefix(err, "at offset %llu",
				      (unsigned long long)json_offset(p->reader))
		       : err;
}

struct error *profile_parser_feed(struct profile_parser *p, struct text bytes)
{
	return at_offset(p, json_reader_feed(p->reader, bytes));
}

struct error *profile_parser_finish(struct profile_parser *p, struct profile **ret)
{
	struct error *err = at_offset(p, json_reader_finish(p->reader));

	if (err)
		return err;
	if (!p->form)
		return error_create("not a profile: 'ctprof_profile' is missing");
	err = profile_link(p);
	if (err)
		return err;
	*ret = take_ptr(p->profile);
	return NULL;
}

struct error *profile_parse_json(struct text bytes, struct profile **ret)
{
	_cleanup_(profile_parser_destroy) struct profile_parser *parser = NULL;
	struct error *err = profile_parser_create(&parser);

	if (!err)
		err = profile_parser_feed(parser, bytes);
	return err ? err : profile_parser_finish(parser, ret);
}
