/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "profile/files.h"
#include "profile/json.h"
#include "profile/schema.h"

#define TAKE(name)                                                                     \
	static struct error *name(                                                     \
		struct json_reader *r, void *target, const struct json_member *member, \
		struct text key __attribute__((unused)), const struct json_value *value)

static struct profile_parser *parser_of(struct json_reader *r)
{
	return json_user(r);
}

static struct profile *profile_of(struct json_reader *r)
{
	return parser_of(r)->context.profile;
}

/* Before a table grows. */
static struct error *account(struct profile_parser *parser, size_t bytes)
{
	if (bytes > PROFILE_BYTES_MAX - parser->bytes)
		return error_create("more than a profile may hold");
	parser->bytes += bytes;
	return NULL;
}

#define ADD(parser, table, ...)                                                \
	({                                                                     \
		struct error *err_ = account(parser, sizeof(*(table)->items)); \
		if (!err_ && !array_push(table, __VA_ARGS__))                  \
			err_ = &error_no_memory;                               \
		err_;                                                          \
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

TAKE(take_number)
{
	uint64_t number = NO_NUMBER;
	struct error *err = NULL;

	(void)member;
	if (value->type == JSON_BOOL)
		number = value->boolean;
	else if (value->type != JSON_NULL)
		err = json_get_u64(value, key, &number);
	return err ? err : ADD(parser_of(r), (struct column *)target, number);
}

TAKE(take_column)
{
	static const struct json_shape numbers = { .each = take_number };
	struct column *column = (void *)((char *)target + member->detail);

	return enter_array(r, &numbers, column, key, value);
}

#define COLUMN(table, name)                                                                 \
	{                                                                                   \
		TEXT(#name), take_column, offsetof(struct profile_parser, table.name), NULL \
	}

static const struct json_member node_columns[] = { COLUMN(nodes, parent), COLUMN(nodes, frame) };
static const struct json_shape nodes_shape = { .members = node_columns,
					       .count = array_length(node_columns) };

static const struct json_member sample_columns[] = {
	COLUMN(samples, thread), COLUMN(samples, node),  COLUMN(samples, class),
	COLUMN(samples, event),  COLUMN(samples, cpu),   COLUMN(samples, in_progress),
	COLUMN(samples, ns),     COLUMN(samples, count),
};
static const struct json_shape samples_shape = { .members = sample_columns,
						 .count = array_length(sample_columns) };

/* Of the parser as a whole. */
TAKE(take_columns)
{
	return enter_object(r, member->more, target, key, value);
}

/* --- tables of objects --- */

TAKE(take_frame)
{
	struct profile_parser *p = target;
	struct error *err = ADD(p, &p->frames, (struct frame){ 0 });

	(void)member;
	return err ? err
		   : enter_object(r, &profile_frame_schema.shape,
				  &p->frames.items[p->frames.count - 1], key, value);
}

/* An item, which is as `...` says before it is read. */
#define TAKE_ITEM(name, table, schema, ...)                                                        \
	TAKE(name)                                                                                 \
	{                                                                                          \
		struct profile *p = profile_of(r);                                                 \
		struct error *err = ADD(parser_of(r), &p->table, __VA_ARGS__);                     \
                                                                                                   \
		(void)target, (void)member;                                                        \
		return err ? err                                                                   \
			   : enter_object(r, &(schema).shape, &p->table.items[p->table.count - 1], \
					  key, value);                                             \
	}

TAKE_ITEM(take_image, images, profile_image_schema, (struct profile_image){ 0 })
TAKE_ITEM(take_mapping, mappings, profile_mapping_schema, (struct profile_mapping){ 0 })
TAKE_ITEM(take_thread, threads, profile_thread_schema, (struct profile_thread){ 0 })
TAKE_ITEM(take_block, longest, profile_block_schema, (struct block){ .node = NODE_NONE })
TAKE_ITEM(take_preemptor, preemptors, profile_preemptor_schema, (struct preemptor){ 0 })

TAKE(take_event)
{
	struct profile *p = profile_of(r);
	const struct name *name;
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	(void)target, (void)member;
	if (err)
		return err;
	name = profile_name(p, text.bytes, text.length);
	return name ? ADD(parser_of(r), &p->events, name) : &error_no_memory;
}

TAKE(take_class)
{
	struct profile_parser *p = target;
	uint16_t class = CLASS_COUNT;

	(void)r, (void)member;
	if (value->type != JSON_STRING)
		return json_unexpected(key, "a name");
	error_destroy(profile_get_class(value, key, &class));
	return ADD(p, &p->classes, class);
}

TAKE(take_table)
{
	return enter_array(r, member->more, target, key, value);
}

/* --- histograms --- */

#define OF_HISTOGRAM(name) offsetof(struct profile_parser, histogram.name)

TAKE(take_histogram_u32)
{
	(void)r;
	return json_get_u32(value, key, (uint32_t *)(void *)((char *)target + member->detail));
}

TAKE(take_histogram_sum)
{
	(void)r, (void)member;
	return json_get_u64(value, key, &((struct profile_parser *)target)->histogram.sum);
}

TAKE(take_histogram_class)
{
	(void)r, (void)member;
	return profile_get_class(value, key, &((struct profile_parser *)target)->histogram.class);
}

static struct error *fill_histogram(struct profile_parser *p, struct histogram *histogram)
{
	const struct column *slots = &p->histogram.slots, *counts = &p->histogram.counts;

	if (slots->count != counts->count)
		return error_create("'histograms': as many slots as counts were expected");
	for (size_t i = 0; i < slots->count; i++) {
		/* The spare one has no bounds. */
		if (slots->items[i] >= BUCKET_SLOTS(histogram->frac_bits) - 1)
			return error_create("'histograms': there is no such slot");
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

	if (p->histogram.frac_bits > BUCKET_FRAC_BITS_MAX)
		return error_create("'frac_bits': expected at most %d", BUCKET_FRAC_BITS_MAX);
	err = account(p, BUCKET_SLOTS(p->histogram.frac_bits) * sizeof(uint64_t));
	if (err)
		return err;
	item.histogram = histogram_create(p->histogram.frac_bits);
	if (!item.histogram)
		return &error_no_memory;
	err = fill_histogram(p, item.histogram);
	if (!err)
		err = ADD(p, &profile_of(r)->histograms, item);
	if (err)
		histogram_destroy(item.histogram);
	return err;
}

static const struct json_member histogram_members[] = {
	{ TEXT("thread"), take_histogram_u32, OF_HISTOGRAM(thread), NULL },
	{ TEXT("class"), take_histogram_class, 0, NULL },
	{ TEXT("frac_bits"), take_histogram_u32, OF_HISTOGRAM(frac_bits), NULL },
	{ TEXT("sum"), take_histogram_sum, 0, NULL },
	{ TEXT("slots"), take_column, OF_HISTOGRAM(slots), NULL },
	{ TEXT("counts"), take_column, OF_HISTOGRAM(counts), NULL },
};
static const struct json_shape histogram_shape = { .members = histogram_members,
						   .count = array_length(histogram_members),
						   .done = finish_histogram };

TAKE(take_histogram)
{
	struct profile_parser *p = target;

	(void)member;
	p->histogram.thread = p->histogram.frac_bits = 0;
	p->histogram.class = 0;
	p->histogram.sum = 0;
	p->histogram.slots.count = p->histogram.counts.count = 0;
	return enter_object(r, &histogram_shape, p, key, value);
}

/* --- the root --- */

TAKE(take_form)
{
	struct profile_parser *p = target;
	struct error *err = json_get_u64(value, key, &p->form);

	(void)r, (void)member;
	if (err || p->form == PROFILE_FORM)
		return err;
	return error_create("a profile of form %llu, of which this version knows nothing",
			    (unsigned long long)p->form);
}

TAKE(take_meta)
{
	(void)target, (void)member;
	return enter_object(r, &profile_meta_schema.shape, &profile_of(r)->meta, key, value);
}

TAKE(take_losses)
{
	(void)target, (void)member;
	return enter_object(r, &profile_losses_schema.shape, &profile_of(r)->meta.losses, key,
			    value);
}

#define TABLE(key, take_item)                                        \
	{                                                            \
		TEXT(key), take_table, 0, &(const struct json_shape) \
		{                                                    \
			.each = take_item                            \
		}                                                    \
	}

static const struct json_member root_members[] = {
	{ TEXT("ctprof_profile"), take_form, 0, NULL },
	{ TEXT("meta"), take_meta, 0, NULL },
	{ TEXT("losses"), take_losses, 0, NULL },
	TABLE("classes", take_class),
	TABLE("events", take_event),
	TABLE("images", take_image),
	TABLE("mappings", take_mapping),
	TABLE("threads", take_thread),
	TABLE("frames", take_frame),
	{ TEXT("nodes"), take_columns, 0, &nodes_shape },
	{ TEXT("samples"), take_columns, 0, &samples_shape },
	TABLE("longest", take_block),
	TABLE("contenders", take_preemptor),
	TABLE("histograms", take_histogram),
};
static const struct json_shape root_shape = { .members = root_members,
					      .count = array_length(root_members) };

TAKE(take_root)
{
	(void)member;
	return enter_object(r, &root_shape, target, key, value);
}

/* --- all of it --- */

struct error *profile_parser_create(struct profile_parser **ret)
{
	_cleanup_(profile_parser_destroy) struct profile_parser *p = calloc(1, sizeof(*p));
	struct error *err;

	if (!p)
		return &error_no_memory;
	err = profile_create(&p->context.profile);
	if (!err)
		err = json_reader_create(take_root, p, p, &p->reader);
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
	profile_destroy(p->context.profile);
	array_deinit(&p->classes);
	array_deinit(&p->frames);
	array_deinit(&p->nodes.parent);
	array_deinit(&p->nodes.frame);
	for (size_t i = 0; i < array_length(sample_columns); i++)
		array_deinit((struct column *)(void *)((char *)p + sample_columns[i].detail));
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
		return error_create("not a profile: there is no 'ctprof_profile'");
	err = profile_link(p);
	if (err)
		return err;
	*ret = take_ptr(p->context.profile);
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
