/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_reader_internal.h"

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
	err = json_feed_yajl(r, element);
	*ret_waits = r->found;
	return err;
}

/* The first piece of an array goes to yajl, which enters it. */
struct error *json_feed_runs(struct json_reader *r, struct text *bytes)
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
	const struct text name = json_row_at(frame->shape, frame->next)->name;

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
		*ret = json_row_at(frame->shape, frame->next);
		frame->next = frame->next + 1 < frame->shape->count ? frame->next + 1 : 0;
		return at + next;
	}
	at = cut_string(at, end, NAME_MAX_BYTES, &key);
	if (!at || at == end || *at != ':')
		return NULL;
	*ret = json_find_member(frame, key, ret_row);
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

struct error *json_feed_members(struct json_reader *r, struct text bytes)
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
		err = json_feed_yajl(r, piece);
	}
	return err;
}
