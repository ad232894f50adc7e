/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "base/array.h"
#include "base/json_reader.h"

#include <inttypes.h>
#include <stdio.h>

static void add_value(uint64_t *sum, struct text key, enum json_type type, struct text text)
{
	for (size_t i = 0; i < key.length; i++)
		*sum = *sum * 31 + (unsigned char)key.bytes[i];
	*sum = *sum * 31 + type;
	for (size_t i = 0; i < text.length; i++)
		*sum = *sum * 31 + (unsigned char)text.bytes[i];
}

/* Record a run as if each of its elements had come alone. */
static struct error *take_run(struct json_reader *r, void *target, const uint64_t *numbers,
			      size_t count)
{
	char text[32];

	(void)r;
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%" PRIu64, numbers[i]);
		add_value(target, TEXT("array"), JSON_NUMBER, text_of(text));
	}
	return NULL;
}

/* A shape that goes down into everything and sums up what it saw. */
static struct error *take_any(struct json_reader *r, void *target, const struct json_member *member,
			      struct text key, const struct json_value *value)
{
	static const struct json_shape any = { .each = take_any, .run = take_run };
	const bool has_text = value->type == JSON_STRING || value->type == JSON_NUMBER;
	int64_t signed_number;
	uint64_t number;

	(void)member;
	add_value(target, key, value->type, has_text ? value->text : TEXT(""));
	error_destroy(json_get_u64(value, key, &number));
	error_destroy(json_get_i64(value, key, &signed_number));
	if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
		json_enter(r, &any, target);
	return NULL;
}

static struct error *feed(struct json_reader *r, struct text bytes, size_t piece)
{
	struct error *err = NULL;

	for (size_t done = 0; done < bytes.length && !err; done += piece) {
		size_t left = bytes.length - done;

		err = json_reader_feed(
			r, (struct text){ bytes.bytes + done, left < piece ? left : piece });
		must(json_offset(r) <= bytes.length);
	}
	return err ? err : json_reader_finish(r);
}

static bool read_in_pieces(struct text bytes, size_t piece, uint64_t *sum)
{
	struct json_reader *r = NULL;
	struct error *err = json_reader_create(take_any, sum, NULL, &r);
	bool accepted;

	must(!err);
	err = feed(r, bytes, piece);
	accepted = !err;
	if (err)
		fuzz_check_error(err);
	json_reader_destroy(r);
	return accepted;
}

/* --- objects with members, most of which are read past libyajl --- */

static struct error *take_member(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value);

static const struct json_member members[] = {
	{ TEXT("a"), take_member, 0, NULL },
	{ TEXT("b"), take_member, 0, NULL },
	{ TEXT("name"), take_member, 0, NULL },
};
static const struct json_shape object = { .members = members, .count = array_length(members) };
static const struct json_shape list = { .each = take_member };

static struct error *take_member(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	(void)member;
	add_value(target, key, value->type,
		  value->type == JSON_STRING || value->type == JSON_NUMBER ? value->text
									   : TEXT(""));
	if (value->type == JSON_OBJECT)
		json_enter(r, &object, target);
	if (value->type == JSON_ARRAY)
		json_enter(r, &list, target);
	return value->type == JSON_NUMBER && text_equal(value->text, TEXT("666"))
		       ? json_unexpected(key, "another number")
		       : NULL;
}

/* Hash the members that arrive, and the error with its offset. Syntax errors are left out, since
 * those of libyajl depend on where its input was cut. */
static bool read_members(struct text bytes, size_t piece, bool prefers, uint64_t *sum)
{
	struct json_reader *r = NULL;
	struct error *err = json_reader_create(take_member, sum, NULL, &r);
	bool accepted;

	must(!err);
	if (prefers)
		json_reader_prefer(r, &object);
	err = feed(r, bytes, piece);
	accepted = !err;
	if (err && text_ends(text_of(err->message), TEXT("another number"))) {
		add_value(sum, text_of(err->message), JSON_STRING, TEXT(""));
		*sum = *sum * 31 + json_offset(r);
	}
	if (err)
		fuzz_check_error(err);
	json_reader_destroy(r);
	return accepted;
}

static void check_members(struct text bytes, size_t size)
{
	uint64_t plain = 0, sum;
	const bool accepted = read_members(bytes, size ? size : 1, false, &plain);
	const size_t pieces[] = { size ? size : 1, 1 + size % 7, 1 + size % 31 };

	for (size_t i = 0; i < array_length(pieces); i++) {
		sum = 0;
		must(read_members(bytes, pieces[i], true, &sum) == accepted);
		must(sum == plain);
	}
}

/* What arrives does not depend on how the bytes were cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	uint64_t whole = 0, pieces = 0;
	bool accepted = read_in_pieces(bytes, size ? size : 1, &whole);

	must(read_in_pieces(bytes, 1 + size % 7, &pieces) == accepted);
	must(!accepted || whole == pieces);
	check_members(bytes, size);
	fuzz_release(bytes);
	return 0;
}
