/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_reader.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

#include "base/pool.h"
#include "base/utf8.h"

/* Escapes make a string longer in the text than it is. */
#define QUIET_MAX  (2 * JSON_STRING_MAX)

#define SEEN_WORDS (JSON_MEMBERS_MAX / 64)

struct json_frame {
	const struct json_shape *shape;
	void *target;
	const struct json_member *member; /* the row of the key last seen, or NULL */
	size_t next;                      /* row to try first for the next key */
	uint64_t seen[SEEN_WORDS];
	bool is_object;
};

struct json_reader {
	struct pool pool; /* libyajl's memory: it does not look whether its malloc failed */
	yajl_handle yajl;
	json_take root;
	void *target, *user;
	struct json_frame frames[JSON_DEPTH_MAX];
	unsigned depth;   /* frames in use */
	unsigned skipped; /* open objects and arrays of a value that is skipped */
	struct text key;  /* of a member without a row; valid until its value came */
	char *key_bytes;
	size_t key_room;
	struct error *error;
	uint64_t offset; /* bytes fed before the present ones */
	uint64_t quiet;  /* bytes fed since yajl last found a value */
	bool found, feeding;
	const struct json_shape *entered; /* by the take under way */
	void *entered_target;
	const struct json_shape *preferred; /* NULL: none */
	unsigned preferred_depth;           /* of its objects; 0: none was entered yet */
	/* Where the bytes passed to yajl so far end, if a shape is preferred: */
	bool is_in_string, is_escaped;
	bool is_behind_comma; /* between two members at `preferred_depth` */
};

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

static const struct json_member *row_at(const struct json_shape *shape, size_t at)
{
	const size_t stride = shape->stride ? shape->stride : sizeof(struct json_member);

	return (const void *)((const char *)shape->members + at * stride);
}

/* The row of `key`, and its number. Writers keep the order of the rows, so it is nearly always the
 * next one. */
static const struct json_member *find_member(struct json_frame *frame, struct text key,
					     size_t *found)
{
	const struct json_shape *shape = frame->shape;
	size_t at = frame->next;

	for (size_t left = shape->count; left; left--) {
		const struct json_member *row = row_at(shape, at);

		*found = at;
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
		frame->member = find_member(frame, key, &at);
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

static struct error *feed_yajl(struct json_reader *r, struct text bytes)
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

/* --- runs of integers --- */

#define RUN_MAX 512

/* The longest element that is given to yajl alone. */
#define ELEMENT_MAX 64

static const struct json_frame *frame_of_runs(const struct json_reader *r)
{
	const struct json_frame *frame = r->depth ? &r->frames[r->depth - 1] : NULL;

	return frame && !r->skipped && !frame->is_object && frame->shape->run ? frame : NULL;
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* Behind a comma: an integer and the comma behind it, or nothing. */
static bool cut_number(struct text *bytes, uint64_t *ret)
{
	const char *at = bytes->bytes, *const end = at + bytes->length, *first;
	uint64_t number = 0;

	while (at < end && is_space(*at))
		at++;
	/* yajl reads numbers that may exceed 64 bits. */
	for (first = at; at < end && at - first < 19 && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	if (at == first || at == end || *at != ',' || (*first == '0' && at - first > 1))
		return false;
	at++;
	*bytes = (struct text){ at, (size_t)(end - at) };
	*ret = number;
	return true;
}

/* Take all integers that follow each other. yajl waits for an element before and after them, so it
 * need not see them. */
static struct error *take_runs(struct json_reader *r, const struct json_frame *frame,
			       struct text *bytes, bool *ret_any)
{
	uint64_t numbers[RUN_MAX];
	struct error *err = NULL;
	size_t count;

	*ret_any = false;
	do {
		const char *before = bytes->bytes;

		for (count = 0; count < RUN_MAX && cut_number(bytes, &numbers[count]);)
			count++;
		r->offset += (uint64_t)(bytes->bytes - before);
		if (!count)
			break;
		*ret_any = true;
		err = frame->shape->run(r, frame->target, numbers, count);
	} while (!err && count == RUN_MAX);
	return err;
}

/* Give yajl one element and the comma behind it. *ret_waits: yajl waits for the next element now.
 * It does not if the end of the element has not arrived. */
static struct error *feed_element(struct json_reader *r, struct text *bytes, bool *ret_waits)
{
	const char *comma = memchr(bytes->bytes, ',',
				   bytes->length < ELEMENT_MAX ? bytes->length : ELEMENT_MAX);
	struct text element = { bytes->bytes, comma ? (size_t)(comma + 1 - bytes->bytes) : 0 };
	struct error *err;

	*ret_waits = false;
	/* The comma may be part of a string. */
	if (!comma || memchr(element.bytes, '"', element.length))
		return NULL;
	bytes->bytes += element.length;
	bytes->length -= element.length;
	err = feed_yajl(r, element);
	*ret_waits = r->found;
	return err;
}

/* The first piece of an array goes to yajl, which enters it. */
static struct error *feed_runs(struct json_reader *r, struct text *bytes)
{
	const struct json_frame *frame;
	struct error *err = NULL;
	bool is_going = true;

	while (!err && is_going && (frame = frame_of_runs(r))) {
		err = feed_element(r, bytes, &is_going);
		if (!err && is_going && frame_of_runs(r) == frame)
			err = take_runs(r, frame, bytes, &is_going);
	}
	return err;
}

/* --- members of the preferred shape --- */

/* Track the strings and nesting of the bytes that yajl gets next: all up to and including the first
 * comma between two members at `preferred_depth`. Returns how many they are. */
static size_t follow_piece(struct json_reader *r, struct text bytes)
{
	unsigned depth = r->depth + r->skipped;

	r->is_behind_comma = false;
	for (size_t i = 0; i < bytes.length; i++) {
		const char byte = bytes.bytes[i];

		if (r->is_in_string) {
			r->is_in_string = r->is_escaped || byte != '"';
			r->is_escaped = !r->is_escaped && byte == '\\';
			continue;
		}
		if (byte == '"')
			r->is_in_string = true;
		else if (byte == '{' || byte == '[')
			depth++;
		else if (byte == '}' || byte == ']')
			depth--;
		else if (byte == ',' && r->preferred_depth && depth == r->preferred_depth) {
			r->is_behind_comma = true;
			return i + 1;
		}
	}
	return bytes.length;
}

/* Does yajl wait for the name of a member that can be read past it? */
static struct json_frame *frame_of_members(struct json_reader *r)
{
	struct json_frame *frame = r->depth ? &r->frames[r->depth - 1] : NULL;

	return r->is_behind_comma && !r->skipped && frame && frame->is_object &&
			       frame->shape == r->preferred
		       ? frame
		       : NULL;
}

/* yajl reads longer ones. */
#define NAME_MAX_BYTES  64
#define VALUE_MAX_BYTES 256

/* The plain string at `at`, whose bytes stand for themselves. Returns what is behind it. */
static const char *cut_string(const char *at, const char *end, size_t most, struct text *ret)
{
	const char *const first = at + 1;

	if (at == end || *at != '"')
		return NULL;
	if ((size_t)(end - first) > most)
		end = first + most;
	for (at = first; at < end && *at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\'; at++)
		;
	if (at == end || *at != '"')
		return NULL;
	*ret = (struct text){ first, (size_t)(at - first) };
	return at + 1;
}

static const char *cut_integer(const char *at, const char *end, struct text *ret)
{
	const char *const first = at, *digits;

	at += *at == '-';
	for (digits = at; at < end && *at >= '0' && *at <= '9'; at++)
		;
	if (at == digits || (*digits == '0' && at - digits > 1) || at - first > VALUE_MAX_BYTES)
		return NULL;
	*ret = (struct text){ first, (size_t)(at - first) };
	return at;
}

static const char *cut_scalar(const char *at, const char *end, struct json_value *ret)
{
	const struct text rest = { at, (size_t)(end - at) };

	if (at == end)
		return NULL;
	if (*at == '"') {
		ret->type = JSON_STRING;
		return cut_string(at, end, VALUE_MAX_BYTES, &ret->text);
	}
	ret->type = JSON_BOOL;
	ret->boolean = *at == 't';
	if (text_starts(rest, TEXT("true")))
		return at + 4;
	if (text_starts(rest, TEXT("false")))
		return at + 5;
	ret->type = JSON_NUMBER;
	return cut_integer(at, end, &ret->text);
}

/* Is the name of the next row at `at`? Then so many bytes with quotes and colon, else 0. */
static size_t is_next_name(const struct json_frame *frame, const char *at, const char *end)
{
	const struct text name = row_at(frame->shape, frame->next)->name;

	return (size_t)(end - at) > name.length + 3 && at[0] == '"' && at[name.length + 1] == '"' &&
			       at[name.length + 2] == ':' &&
			       text_equal(name, (struct text){ at + 1, name.length })
		       ? name.length + 3
		       : 0;
}

/* The row of the name at `at`, and what is behind the colon. */
static const char *cut_name(struct json_frame *frame, const char *at, const char *end,
			    const struct json_member **ret, size_t *ret_row)
{
	const size_t next = is_next_name(frame, at, end);
	struct text key;

	if (next) {
		*ret_row = frame->next;
		*ret = row_at(frame->shape, frame->next);
		frame->next = frame->next + 1 < frame->shape->count ? frame->next + 1 : 0;
		return at + next;
	}
	at = cut_string(at, end, NAME_MAX_BYTES, &key);
	if (!at || at == end || *at != ':')
		return NULL;
	*ret = find_member(frame, key, ret_row);
	return *ret ? at + 1 : NULL;
}

/* Take members up to the first that is cut off, unusual or duplicate. yajl waits for a name before
 * and after each of them, so it need not see them; it gets the rest, and reports all errors. */
static struct error *take_members(struct json_reader *r, struct json_frame *frame,
				  struct text *bytes)
{
	const char *const end = bytes->bytes + bytes->length;
	struct error *err = NULL;

	for (;;) {
		const char *const start = bytes->bytes, *behind;
		struct json_value value = { .type = JSON_NULL };
		const struct json_member *member;
		size_t row;

		behind = cut_name(frame, start, end, &member, &row);
		behind = behind ? cut_scalar(behind, end, &value) : NULL;
		if (!behind || behind == end || *behind != ',' ||
		    frame->seen[row / 64] >> (row % 64) & 1)
			break;
		frame->seen[row / 64] |= (uint64_t)1 << (row % 64);
		r->offset += (uint64_t)(behind - start);
		err = member->take(r, frame->target, member, member->name, &value);
		if (err)
			break;
		r->offset++;
		r->quiet = 0;
		*bytes = (struct text){ behind + 1, (size_t)(end - behind - 1) };
	}
	return err;
}

static struct error *feed_preferred(struct json_reader *r, struct text bytes)
{
	struct error *err = NULL;

	while (!err && bytes.length) {
		struct json_frame *frame = frame_of_members(r);
		struct text piece;

		err = frame ? take_members(r, frame, &bytes) : NULL;
		if (err || !bytes.length)
			break;
		piece = (struct text){ bytes.bytes, follow_piece(r, bytes) };
		bytes = (struct text){ bytes.bytes + piece.length, bytes.length - piece.length };
		err = feed_yajl(r, piece);
	}
	return err;
}

struct error *json_reader_feed(struct json_reader *r, struct text bytes)
{
	struct error *err;

	if (setjmp(r->pool.escape))
		return &error_no_memory;
	if (r->preferred)
		return feed_preferred(r, bytes);
	err = feed_runs(r, &bytes);
	return err || !bytes.length ? err : feed_yajl(r, bytes);
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
