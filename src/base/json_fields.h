/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of JSON files as tables: a row for each member has its name, its type, where in a struct
 * it is, and its bounds. Reading and writing walk the same rows, so a file reads as it was written.
 *
 *	static const struct json_field point_rows[] = {
 *		JSON_FIELD(u32, "x", point, x),
 *		JSON_FIELD(u32, "y", point, y, .flags = FIELD_OMIT),
 *	};
 *	const struct json_fields point_fields = JSON_FIELDS(point_rows);
 *
 *	json_enter(r, &point_fields.shape, &point);
 *	json_fields_write(w, &point_fields, &point);
 *
 * A member that the file lacks leaves what the struct has. The reader (json_reader.h) refuses what
 * comes twice, is nested too deep or too long, and passes over members without a row.
 *
 * The macro checks that the member of the struct has the type of the row: `field_u32` is the C type
 * of the rows of type u32, `json_type_u32` its functions. Other files define types of their own in
 * the same way. The user of a reader of rows with names, strings or lists (json_user) begins with a
 * struct json_fields_user.
 */
#ifndef BASE_JSON_FIELDS_H
#define BASE_JSON_FIELDS_H

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/names.h"

struct json_field;

struct json_field_type {
	json_take take;
	/* The value alone, without the key. */
	void (*write)(struct json_writer *w, const struct json_field *field, const void *at);
	/* Is there one that FIELD_OMIT does not leave out? NULL: always. */
	bool (*has_value)(const struct json_field *field, const void *at);
};

enum json_field_flags {
	FIELD_OMIT = 1,        /* not written without a value */
	FIELD_NULLABLE = 2,    /* written as null without a value */
	FIELD_READ_ONLY = 4,   /* of an older form of the file */
	FIELD_WRITE_ONLY = 8,  /* passed over when it is read */
	FIELD_TAKES_NULL = 16, /* null is read as no value, as with FIELD_NULLABLE */
	FIELD_SIGNED = 32,     /* for types of their own */
};

struct json_field {
	struct json_member json; /* first: `take` finds the row by it; `detail` is the offset */
	const struct json_field_type *type;
	unsigned flags;
	uint64_t none; /* the number that stands for no value */
	uint64_t most; /* the largest number; 0: as the type has it */
};

struct json_fields {
	struct json_shape shape;
	const struct json_field *rows;
	size_t count;
};

struct json_fields_user {
	struct names *names; /* of names */
	/* Bytes of strings and items of lists so far, how many there may be (0: any number), and
	 * the error beyond. */
	size_t bytes, bytes_most;
	const char *too_many;
};

/* The error of what is too large, or NULL; before so many bytes are allocated. */
struct error *json_fields_account(const struct json_reader *r, size_t bytes) MUST_CHECK;

/* The members of an object; the caller opens and closes it. */
void json_fields_write(struct json_writer *w, const struct json_fields *fields, const void *object);

/* The same with the braces. */
void json_object_write(struct json_writer *w, const struct json_fields *fields, const void *object);

/* --- types --- */

typedef uint64_t field_u64;
typedef uint32_t field_u32;
typedef bool field_flag;
typedef const struct name *field_name; /* interned; of NULL nothing, or null */
typedef char *field_string;            /* allocated; of NULL null; reading takes null for none */
extern const struct json_field_type json_type_u64, json_type_u32, json_type_flag, json_type_name,
	json_type_string;
JSON_TAKE(json_take_u64);
JSON_TAKE(json_take_u32);
JSON_TAKE(json_take_flag);
JSON_TAKE(json_take_name);
JSON_TAKE(json_take_string);

/* One of some words, kept as its number; `more` is a struct json_words. */
struct json_words {
	const char *(*name)(size_t number); /* NULL: no more */
	const char *expected;               /* what messages call them: "a class, as \"on-cpu\"" */
	struct json_shape numbers;          /* of an object with a number for each */
};
typedef uint16_t field_word16;
typedef uint32_t field_word;
extern const struct json_field_type json_type_word, json_type_word16;
JSON_TAKE(json_take_word);
JSON_TAKE(json_take_word16);

#define JSON_WORDS(self, name_, expected_)                                        \
	{                                                                         \
		.name = name_, .expected = expected_,                             \
		.numbers = { .each = json_take_number_of_word, .more = &(self) }, \
	}
JSON_TAKE(json_take_number_of_word);

/* The number of the word; false: it is none of them. */
bool json_words_find(const struct json_words *words, struct text text, size_t *ret);

/* An object with a number for each of some words, kept as an array of uint64_t: those that are 0
 * are not written, and words that are not known are passed over. `more` is a struct json_words. */
extern const struct json_field_type json_type_numbers;
JSON_TAKE(json_take_numbers);

/* An object within the object; `more` is a struct json_fields. */
extern const struct json_field_type json_type_object;
JSON_TAKE(json_take_object);

/* An array of objects, kept as an ARRAY(); `more` is a struct json_list. */
struct json_list {
	struct json_shape shape;
	const struct json_fields *fields;
	size_t item_bytes;
	const void *item; /* as an item is before it is read; NULL: all zero */
};
extern const struct json_field_type json_type_list;
JSON_TAKE(json_take_list);
JSON_TAKE(json_take_item);
void json_list_write(struct json_writer *w, const struct json_field *field, const void *array);
bool json_list_has_value(const struct json_field *field, const void *array);

#define JSON_LIST(self, fields_, type, ...)                                                 \
	{                                                                                   \
		.shape = { .each = json_take_item, .more = &(self) }, .fields = &(fields_), \
		.item_bytes = sizeof(type), __VA_ARGS__                                     \
	}

/* For a row of FIELD_WRITE_ONLY. */
JSON_TAKE(json_take_nothing);

/* --- rows --- */

#define JSON_ROW_(type_, key, offset, more_, ...)                        \
	{                                                                \
		.json = { TEXT(key), json_take_##type_, offset, more_ }, \
		.type = &json_type_##type_, __VA_ARGS__                  \
	}

/* The offset of a member that has the type of the row, which the compiler checks. */
#define JSON_OFFSET_(type_, object, member)                                                     \
	(offsetof(struct object, member) +                                                      \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((struct object *)0)->member), \
						      field_##type_)                            \
				 ? 1                                                            \
				 : -1]))

#define JSON_FIELD(type_, key, object, member, ...) \
	JSON_ROW_(type_, key, JSON_OFFSET_(type_, object, member), NULL, __VA_ARGS__)

/* The same for types with `more`, whose members have any C type. */
#define JSON_FIELD_OF(type_, key, object, member, more_, ...) \
	JSON_ROW_(type_, key, offsetof(struct object, member), more_, __VA_ARGS__)

/* A member that files of another format have, which `take` refuses. */
#define JSON_FOREIGN(key, take)                                                                \
	{                                                                                      \
		.json = { TEXT(key), (take), 0, NULL }, .type = NULL, .flags = FIELD_READ_ONLY \
	}

/* The number of rows; more than the reader can mark as seen do not compile. */
#define JSON_COUNT_(rows_) \
	(array_length(rows_) + 0 * sizeof(char[array_length(rows_) <= JSON_MEMBERS_MAX ? 1 : -1]))

#define JSON_FIELDS(rows_, ...)                               \
	{                                                     \
		.shape = { .members = &(rows_)[0].json,       \
			   .count = JSON_COUNT_(rows_),       \
			   .stride = sizeof((rows_)[0]),      \
			   __VA_ARGS__ },                     \
		.rows = (rows_), .count = array_length(rows_) \
	}

#endif
