/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

static const struct json_field *member_row(const struct json_member *member)
{
	return (const struct json_field *)(const void *)member;
}

#define AT(type) ((type *)(void *)((char *)target + member->detail))

struct error *json_fields_account(const struct json_reader *r, size_t bytes)
{
	struct json_fields_user *user = json_user(r);

	if (user->bytes_most && bytes > user->bytes_most - user->bytes)
		return error_create("%s", user->too_many);
	user->bytes += bytes;
	return NULL;
}

/* --- numbers --- */

static bool takes_null(const struct json_field *field, const struct json_value *value)
{
	return value->type == JSON_NULL && field->flags & (FIELD_NULLABLE | FIELD_TAKES_NULL);
}

static struct error *check_most(const struct json_field *field, struct text key, uint64_t number)
{
	char expected[64];

	if (!field->most || number <= field->most)
		return NULL;
	snprintf(expected, sizeof(expected), "an integer from 0 to %" PRIu64, field->most);
	return json_unexpected(key, expected);
}

JSON_TAKE(json_take_u64)
{
	uint64_t *number = AT(uint64_t);
	struct error *err;

	if (takes_null(member_row(member), value)) {
		*number = member_row(member)->none;
		return NULL;
	}
	err = json_get_u64(value, key, number);
	return err ? err : check_most(member_row(member), key, *number);
}

static void write_u64(struct json_writer *w, const struct json_field *field, const void *at)
{
	const uint64_t number = *(const uint64_t *)at;

	if (field->flags & FIELD_NULLABLE && number == field->none)
		json_null(w);
	else
		json_u64(w, number);
}

static bool has_u64(const struct json_field *field, const void *at)
{
	return *(const uint64_t *)at != field->none;
}

const struct json_field_type json_type_u64 = { json_take_u64, write_u64, has_u64 };

JSON_TAKE(json_take_u32)
{
	uint32_t *number = AT(uint32_t);
	struct error *err;

	if (takes_null(member_row(member), value)) {
		*number = (uint32_t)member_row(member)->none;
		return NULL;
	}
	err = json_get_u32(value, key, number);
	return err ? err : check_most(member_row(member), key, *number);
}

static void write_u32(struct json_writer *w, const struct json_field *field, const void *at)
{
	const uint64_t number = *(const uint32_t *)at;

	write_u64(w, field, &number);
}

static bool has_u32(const struct json_field *field, const void *at)
{
	return *(const uint32_t *)at != field->none;
}

const struct json_field_type json_type_u32 = { json_take_u32, write_u32, has_u32 };

JSON_TAKE(json_take_flag)
{
	return json_get_bool(value, key, AT(bool));
}

static void write_flag(struct json_writer *w, const struct json_field *field, const void *at)
{
	(void)field;
	json_bool(w, *(const bool *)at);
}

static bool has_flag(const struct json_field *field, const void *at)
{
	(void)field;
	return *(const bool *)at;
}

const struct json_field_type json_type_flag = { json_take_flag, write_flag, has_flag };

/* --- texts --- */

JSON_TAKE(json_take_name)
{
	const struct json_fields_user *user = json_user(r);
	const struct name *name;
	struct text text;
	struct error *err;

	if (takes_null(member_row(member), value))
		return NULL;
	err = json_get_text(value, key, &text);
	if (err)
		return err;
	name = names_intern(user->names, text.bytes, text.length);
	if (!name)
		return &error_no_memory;
	*AT(const struct name *) = name;
	return NULL;
}

static void write_name(struct json_writer *w, const struct json_field *field, const void *at)
{
	const struct name *name = *(const struct name *const *)at;

	if (!name && field->flags & FIELD_NULLABLE)
		json_null(w);
	else
		json_text(w, name_text(name));
}

static bool has_name(const struct json_field *field, const void *at)
{
	(void)field;
	return *(const struct name *const *)at != NULL;
}

const struct json_field_type json_type_name = { json_take_name, write_name, has_name };

JSON_TAKE(json_take_string)
{
	struct text text;
	struct error *err;
	char *copy;

	if (takes_null(member_row(member), value))
		return NULL;
	err = json_get_text(value, key, &text);
	if (!err)
		err = json_fields_account(r, text.length);
	if (err)
		return err;
	copy = strndup(text.bytes, text.length);
	if (!copy)
		return &error_no_memory;
	free(*AT(char *));
	*AT(char *) = copy;
	return NULL;
}

static void write_string(struct json_writer *w, const struct json_field *field, const void *at)
{
	(void)field;
	json_string(w, *(char *const *)at);
}

static bool has_string(const struct json_field *field, const void *at)
{
	(void)field;
	return *(char *const *)at != NULL;
}

const struct json_field_type json_type_string = { json_take_string, write_string, has_string };

/* --- words --- */

bool json_words_find(const struct json_words *words, struct text text, size_t *ret)
{
	const char *name;

	for (size_t number = 0; (name = words->name(number)); number++)
		if (text_equal(text, text_of(name))) {
			*ret = number;
			return true;
		}
	return false;
}

static struct error *get_word(const struct json_member *member, struct text key,
			      const struct json_value *value, size_t *ret)
{
	const struct json_words *words = member->more;

	if (value->type == JSON_STRING && json_words_find(words, value->text, ret))
		return NULL;
	return json_unexpected(key, words->expected);
}

static void write_number_of_word(struct json_writer *w, const struct json_field *field,
				 size_t number)
{
	const struct json_words *words = field->json.more;

	json_string(w, words->name(number));
}

JSON_TAKE(json_take_word)
{
	size_t number;
	struct error *err = get_word(member, key, value, &number);

	if (!err)
		*AT(uint32_t) = (uint32_t)number;
	return err;
}

static void write_word(struct json_writer *w, const struct json_field *field, const void *at)
{
	write_number_of_word(w, field, *(const uint32_t *)at);
}

const struct json_field_type json_type_word = { json_take_word, write_word, has_u32 };

JSON_TAKE(json_take_word16)
{
	size_t number;
	struct error *err = get_word(member, key, value, &number);

	if (!err)
		*AT(uint16_t) = (uint16_t)number;
	return err;
}

static void write_word16(struct json_writer *w, const struct json_field *field, const void *at)
{
	write_number_of_word(w, field, *(const uint16_t *)at);
}

static bool has_word16(const struct json_field *field, const void *at)
{
	return *(const uint16_t *)at != field->none;
}

const struct json_field_type json_type_word16 = { json_take_word16, write_word16, has_word16 };

JSON_TAKE(json_take_number_of_word)
{
	size_t number;

	return json_words_find(member->more, key, &number)
		       ? json_get_u64(value, key, (uint64_t *)target + number)
		       : NULL;
}

/* --- objects --- */

static struct error *expect(enum json_type type, const struct json_value *value, struct text key)
{
	if (value->type == type)
		return NULL;
	return json_unexpected(key, type == JSON_OBJECT ? "an object" : "an array");
}

JSON_TAKE(json_take_object)
{
	const struct json_fields *fields = member->more;
	struct error *err = expect(JSON_OBJECT, value, key);

	if (!err)
		json_enter(r, &fields->shape, AT(void));
	return err;
}

static void write_fields(struct json_writer *w, const struct json_field *field, const void *at)
{
	json_object_write(w, field->json.more, at);
}

const struct json_field_type json_type_object = { json_take_object, write_fields, NULL };

JSON_TAKE(json_take_numbers)
{
	const struct json_words *words = member->more;
	struct error *err = expect(JSON_OBJECT, value, key);

	if (!err)
		json_enter(r, &words->numbers, AT(void));
	return err;
}

static void write_numbers(struct json_writer *w, const struct json_field *field, const void *at)
{
	const struct json_words *words = field->json.more;
	const uint64_t *numbers = at;
	const char *name;

	json_object_begin(w);
	for (size_t i = 0; (name = words->name(i)); i++) {
		if (!numbers[i])
			continue;
		json_key(w, name);
		json_u64(w, numbers[i]);
	}
	json_object_end(w);
}

static bool has_numbers(const struct json_field *field, const void *at)
{
	const struct json_words *words = field->json.more;
	const uint64_t *numbers = at;

	for (size_t i = 0; words->name(i); i++)
		if (numbers[i])
			return true;
	return false;
}

const struct json_field_type json_type_numbers = { json_take_numbers, write_numbers, has_numbers };

JSON_TAKE(json_take_item)
{
	const struct json_list *list = member->more;
	struct {
		ARRAY(char);
	} *array = target;
	struct error *err = expect(JSON_OBJECT, value, key);
	char *item;

	if (!err)
		err = json_fields_account(r, list->item_bytes);
	if (err)
		return err;
	if (!array_reserve_((void **)&array->items, &array->room, array->count, 1,
			    list->item_bytes))
		return &error_no_memory;
	item = array->items + array->count++ * list->item_bytes;
	if (list->item)
		memcpy(item, list->item, list->item_bytes);
	else
		memset(item, 0, list->item_bytes);
	json_enter(r, &list->fields->shape, item);
	return NULL;
}

JSON_TAKE(json_take_list)
{
	const struct json_list *list = member->more;
	struct error *err = expect(JSON_ARRAY, value, key);

	if (!err)
		json_enter(r, &list->shape, AT(void));
	return err;
}

void json_list_write(struct json_writer *w, const struct json_field *field, const void *array)
{
	const struct json_list *list = field->json.more;
	const struct {
		ARRAY(char);
	} *items = array;

	json_array_begin(w);
	for (size_t i = 0; i < items->count; i++)
		json_object_write(w, list->fields, items->items + i * list->item_bytes);
	json_array_end(w);
}

bool json_list_has_value(const struct json_field *field, const void *array)
{
	const struct {
		ARRAY(char);
	} *items = array;

	(void)field;
	return items->count;
}

const struct json_field_type json_type_list = { json_take_list, json_list_write,
						json_list_has_value };

JSON_TAKE(json_take_nothing)
{
	return NULL;
}

/* --- walking the rows --- */

void json_fields_write(struct json_writer *w, const struct json_fields *fields, const void *object)
{
	const struct json_field *field = fields->rows, *end = field + fields->count;

	for (; field < end; field++) {
		const void *at = (const char *)object + field->json.detail;

		if (field->flags & FIELD_READ_ONLY ||
		    (field->flags & FIELD_OMIT && field->type->has_value &&
		     !field->type->has_value(field, at)))
			continue;
		json_key_text(w, field->json.name);
		field->type->write(w, field, at);
	}
}

void json_object_write(struct json_writer *w, const struct json_fields *fields, const void *object)
{
	json_object_begin(w);
	json_fields_write(w, fields, object);
	json_object_end(w);
}
