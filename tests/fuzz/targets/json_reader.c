/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "base/json_reader.h"

/* A shape that goes down into everything and sums up what it saw. */
static struct error *take_any(struct json_reader *r, void *target, const struct json_member *member,
			      struct text key, const struct json_value *value)
{
	static const struct json_shape any = { .each = take_any };
	uint64_t *sum = target, number;
	int64_t signed_number;

	(void)member;
	for (size_t i = 0; i < key.length; i++)
		*sum = *sum * 31 + (unsigned char)key.bytes[i];
	*sum = *sum * 31 + value->type;
	if (value->type == JSON_STRING || value->type == JSON_NUMBER)
		for (size_t i = 0; i < value->text.length; i++)
			*sum = *sum * 31 + (unsigned char)value->text.bytes[i];
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

/* What arrives does not depend on how the bytes were cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	uint64_t whole = 0, pieces = 0;
	bool accepted = read_in_pieces(bytes, size ? size : 1, &whole);

	must(read_in_pieces(bytes, 1 + size % 7, &pieces) == accepted);
	must(!accepted || whole == pieces);
	fuzz_release(bytes);
	return 0;
}
