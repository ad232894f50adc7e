/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/json_reader_internal.h"
#include "base/utf8.h"

/* Escapes make a string longer in the text than it is. */
#define QUIET_MAX (2 * JSON_STRING_MAX)

void json_reader_prefer(struct json_reader *r, const struct json_shape *shape)
{
	r->preferred = shape;
}

void *json_user(const struct json_reader *r)
{
	return r->user;
}

uint64_t json_offset(const struct json_reader *r)
{
	return r->offset + (r->feeding ? yajl_get_bytes_consumed(r->yajl) : 0);
}

void json_enter(struct json_reader *r, const struct json_shape *shape, void *target)
{
	r->entered = shape;
	r->entered_target = target;
}

/* yajl's callbacks return 0 to stop. */
static int fail(struct json_reader *r, struct error *err)
{
	if (r->error)
		error_destroy(err);
	else
		r->error = err;
	return 0;
}

static struct error *deliver(struct json_reader *r, const struct json_value *value)
{
	struct json_frame *frame = r->depth ? &r->frames[r->depth - 1] : NULL;
	struct text key = r->key;

	if (!frame)
		return r->root(r, r->target, NULL, TEXT("the file"), value);
	if (frame->is_object && frame->shape->members) {
		if (!frame->member)
			return NULL;
		return frame->member->take(r, frame->target, frame->member, frame->member->name,
					   value);
	}
	if (!frame->shape->each)
		return NULL;
	return frame->shape->each(
		r, frame->target,
		&(struct json_member){ .detail = frame->shape->detail, .more = frame->shape->more },
		frame->is_object ? key : TEXT("array"), value);
}

/* By address: copying a struct that was just written in pieces stalls the processor. */
static int take_scalar(struct json_reader *r, const struct json_value *value)
{
	struct error *err;

	r->found = true;
	if (r->skipped)
		return 1;
	err = deliver(r, value);
	return err ? fail(r, err) : 1;
}

static int on_null(void *context)
{
	return take_scalar(context, &(struct json_value){ .type = JSON_NULL });
}

static int on_bool(void *context, int boolean)
{
	return take_scalar(context, &(struct json_value){ .type = JSON_BOOL, .boolean = boolean });
}

static int on_number(void *context, const char *bytes, size_t length)
{
	return take_scalar(context,
			   &(struct json_value){ .type = JSON_NUMBER, .text = { bytes, length } });
}

/* libyajl lets overlong forms and surrogates pass for UTF-8. */
static struct error *check_string(struct text text, const char *what)
{
	if (text.length > JSON_STRING_MAX)
		return error_create("a %s is longer than 1 MiB", what);
	if (!utf8_is_valid(text))
		return error_create("not valid JSON (a %s is not UTF-8)", what);
	return NULL;
}

static int on_string(void *context, const unsigned char *bytes, size_t length)
{
	struct error *err = check_string((struct text){ (const char *)bytes, length }, "string");

	if (err)
		return fail(context, err);
	return take_scalar(context,
			   &(struct json_value){ .type = JSON_STRING,
						 .text = { (const char *)bytes, length } });
}

static int begin_value(struct json_reader *r, enum json_type type)
{
	struct json_value value = { .type = type };
	struct error *err;

	r->found = true;
	if (r->depth + r->skipped >= JSON_DEPTH_MAX)
		return fail(r, error_create("nested deeper than %d", JSON_DEPTH_MAX));
	if (r->skipped) {
		r->skipped++;
		return 1;
	}
	r->entered = NULL;
	err = deliver(r, &value);
	if (err)
		return fail(r, err);
	if (!r->entered) {
		r->skipped = 1;
		return 1;
	}
	r->frames[r->depth++] = (struct json_frame){
		.shape = r->entered,
		.target = r->entered_target,
		.is_object = type == JSON_OBJECT,
	};
	if (r->preferred && r->entered == r->preferred && type == JSON_OBJECT)
		r->preferred_depth = r->depth;
	return 1;
}

static int on_object(void *context)
{
	return begin_value(context, JSON_OBJECT);
}

static int on_array(void *context)
{
	return begin_value(context, JSON_ARRAY);
}

static int on_end(void *context)
{
	struct json_reader *r = context;
	struct json_frame *frame;
	struct error *err;

	r->found = true;
	if (r->skipped) {
		r->skipped--;
		return 1;
	}
	frame = &r->frames[--r->depth];
	/* The container of the preferred objects has ended. */
	if (r->depth + 1 < r->preferred_depth)
		r->preferred_depth = 0;
	err = frame->shape->done ? frame->shape->done(r, frame->target) : NULL;
	return err ? fail(r, err) : 1;
}

static int keep_key(struct json_reader *r, struct text key)
{
	if (key.length >= r->key_room) {
		char *moved = realloc(r->key_bytes, key.length + 1);

		if (!moved)
			return fail(r, &error_no_memory);
		r->key_bytes = moved;
		r->key_room = key.length + 1;
	}
	memcpy(r->key_bytes, key.bytes, key.length);
	r->key = (struct text){ r->key_bytes, key.length };
	return 1;
}

/* Writers keep the order of the rows, so it is nearly always the next one. */
const struct json_member *json_find_member(struct json_frame *frame, struct text key,
					   size_t *ret_row)
{
	const struct json_shape *shape = frame->shape;
	size_t at = frame->next;

	for (size_t left = shape->count; left; left--) {
		const struct json_member *row = json_row_at(shape, at);

		*ret_row = at;
		at = at + 1 < shape->count ? at + 1 : 0;
		if (text_equal(row->name, key)) {
			frame->next = at;
			return row;
		}
	}
	return NULL;
}

/* The name of a member that has a row: sound, and not to come twice. */
static int begin_member(struct json_reader *r, struct json_frame *frame, struct text key, size_t at)
{
	uint64_t bit = (uint64_t)1 << (at % 64);

	if (frame->seen[at / 64] & bit)
		return fail(r, error_create("duplicate key '%.*s' in an object", (int)key.length,
					    key.bytes));
	frame->seen[at / 64] |= bit;
	return 1;
}

static int on_key(void *context, const unsigned char *bytes, size_t length)
{
	struct json_reader *r = context;
	struct text key = { (const char *)bytes, length };
	struct json_frame *frame = r->skipped ? NULL : &r->frames[r->depth - 1];
	struct error *err;
	size_t at;

	r->found = true;
	if (frame && frame->shape->members) {
		frame->member = json_find_member(frame, key, &at);
		if (frame->member)
			return begin_member(r, frame, key, at);
	}
	err = check_string(key, "name");
	if (err)
		return fail(r, err);
	return frame && !frame->shape->members ? keep_key(r, key) : 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

struct error *json_reader_create(json_take root, void *target, void *user, struct json_reader **ret)
{
	struct json_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return &error_no_memory;
	*r = (struct json_reader){ .root = root, .target = target, .user = user };
	if (setjmp(r->pool.escape)) {
		json_reader_destroy(r);
		return &error_no_memory;
	}
	r->yajl = yajl_alloc(&callbacks,
			     &(yajl_alloc_funcs){ .malloc = pool_malloc,
						  .realloc = pool_realloc,
						  .free = pool_free,
						  .ctx = &r->pool },
			     r);
	*ret = r;
	return NULL;
}

/* The message of yajl, on one line and without its picture of the position. */
static struct error *syntax_error(struct json_reader *r, struct text bytes)
{
	unsigned char *said =
		yajl_get_error(r->yajl, 0, (const unsigned char *)bytes.bytes, bytes.length);
	struct text rest = said ? text_of((const char *)said) : TEXT("not JSON");
	struct text line;
	struct error *err;

	/* yajl has no message for a text that ends within a value. */
	if (!text_cut(&rest, '\n', &line) || !line.length)
		line = TEXT("it ends too early");
	err = error_create("not valid JSON (%.*s)", (int)line.length, line.bytes);
	if (said)
		yajl_free_error(r->yajl, said);
	return err;
}

static struct error *check_status(struct json_reader *r, yajl_status status, struct text bytes)
{
	struct error *err;

	if (status == yajl_status_ok)
		return NULL;
	err = r->error ? r->error : syntax_error(r, bytes);
	r->error = NULL;
	return err;
}

struct error *json_feed_yajl(struct json_reader *r, struct text bytes)
{
	struct error *err;

	r->found = false;
	r->feeding = true;
	err = check_status(r, yajl_parse(r->yajl, (const unsigned char *)bytes.bytes, bytes.length),
			   bytes);
	if (err)
		return err;
	r->offset += bytes.length;
	r->feeding = false;
	/* yajl collects a string that has no end yet, however long it grows. */
	r->quiet = r->found ? 0 : r->quiet + bytes.length;
	if (r->quiet > QUIET_MAX)
		return error_create("more than 2 MiB without a value");
	return NULL;
}

struct error *json_reader_feed(struct json_reader *r, struct text bytes)
{
	struct error *err;

	if (setjmp(r->pool.escape))
		return &error_no_memory;
	if (r->preferred)
		return json_feed_members(r, bytes);
	err = json_feed_runs(r, &bytes);
	return err || !bytes.length ? err : json_feed_yajl(r, bytes);
}

struct error *json_reader_finish(struct json_reader *r)
{
	if (setjmp(r->pool.escape))
		return &error_no_memory;
	return check_status(r, yajl_complete_parse(r->yajl), (struct text){ "", 0 });
}

void json_reader_destroy(struct json_reader *r)
{
	if (!r)
		return;
	pool_deinit(&r->pool);
	error_destroy(r->error);
	free(r->key_bytes);
	free(r);
}

struct error *json_unexpected(struct text key, const char *expected)
{
	return error_create("'%.*s': expected %s", key.length < 200 ? (int)key.length : 200,
			    key.bytes, expected);
}

struct error *json_get_u64(const struct json_value *value, struct text key, uint64_t *ret)
{
	if (value->type != JSON_NUMBER || !text_u64(value->text, ret))
		return json_unexpected(key, "an integer from 0 to 18446744073709551615");
	return NULL;
}

struct error *json_get_i64(const struct json_value *value, struct text key, int64_t *ret)
{
	if (value->type != JSON_NUMBER || !text_i64(value->text, ret))
		return json_unexpected(key, "a 64-bit integer");
	return NULL;
}

struct error *json_get_u32(const struct json_value *value, struct text key, uint32_t *ret)
{
	if (value->type != JSON_NUMBER || !text_u32(value->text, ret))
		return json_unexpected(key, "an integer from 0 to 4294967295");
	return NULL;
}

struct error *json_get_bool(const struct json_value *value, struct text key, bool *ret)
{
	if (value->type != JSON_BOOL)
		return json_unexpected(key, "true or false");
	*ret = value->boolean;
	return NULL;
}

struct error *json_get_text(const struct json_value *value, struct text key, struct text *ret)
{
	if (value->type != JSON_STRING || memchr(value->text.bytes, '\0', value->text.length))
		return json_unexpected(key, "a string without NUL");
	*ret = value->text;
	return NULL;
}
