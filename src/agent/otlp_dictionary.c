/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/otlp_dictionary.h"

#include "base/protobuf.h"
#include "base/utf8.h"
#include "profile/pprof.h"

static void fail(struct otlp_dictionary *d, struct error *err)
{
	if (d->error)
		error_destroy(err);
	else
		d->error = err;
}

/* A message with an item of one table. Messages that are written behind each other are one. */
static void put(struct otlp_dictionary *d, const Otlp__ProfilesDictionary *piece)
{
	if (!d->error && !protobuf_append(&d->message, piece))
		fail(d, &error_no_memory);
}

#define PUT(d, table, item)                                                        \
	({                                                                         \
		Otlp__ProfilesDictionary piece_ = OTLP__PROFILES_DICTIONARY__INIT; \
		__typeof__(item) item_ = (item);                                   \
		piece_.n_##table = 1;                                              \
		piece_.table = &item_;                                             \
		put(d, &piece_);                                                   \
	})

/* The index of an item with this key; `*is_new`: it is to be written. */
static int32_t number(struct otlp_dictionary *d, enum otlp_table table, struct words key,
		      bool *is_new)
{
	uint32_t *found = d->error ? NULL : word_map_at(&d->numbers[table], key);

	*is_new = found && *found == WORD_MAP_NEW;
	if (!found) {
		fail(d, d->error ? NULL : &error_no_memory);
		return 0;
	}
	if (*is_new)
		*found = (uint32_t)d->counts[table]++;
	return (int32_t)*found;
}

/* The same by all that is in an item: nodes and frames that differ may have equal stacks and
 * locations. */
#define NUMBER_BY_BYTES(d, table, item, is_new)                                                    \
	({                                                                                         \
		const struct name *bytes_ = NULL;                                                  \
		array_clear(&(d)->packed);                                                         \
		if (protobuf_append(&(d)->packed, item))                                           \
			bytes_ =                                                                   \
				names_intern(&(d)->strings, (d)->packed.items, (d)->packed.count); \
		if (!bytes_)                                                                       \
			fail(d, &error_no_memory);                                                 \
		number(d, table, (struct words){ { (uintptr_t)bytes_ } }, is_new);                 \
	})

/* --- strings --- */

/* Cut where a character begins. */
static struct text cut(struct text text)
{
	if (text.length > OTLP_STRING_MOST)
		for (text.length = OTLP_STRING_MOST;
		     text.length > OTLP_STRING_MOST - 4 &&
		     ((unsigned char)text.bytes[text.length] & 0xc0) == 0x80;)
			text.length--;
	return text;
}

char *otlp_clean(struct text text)
{
	char *clean;

	text = cut(text);
	clean = malloc(text.length * UTF8_REPLACEMENT_LENGTH + 1);
	if (clean)
		clean[utf8_clean(text, clean)] = '\0';
	return clean;
}

int32_t otlp_string(struct otlp_dictionary *d, struct text text)
{
	_cleanup_free_ char *clean = NULL;
	const struct name *name;
	bool is_new;
	int32_t index;

	text = cut(text);
	if (!utf8_is_valid(text)) {
		clean = otlp_clean(text);
		text = text_of(clean ? clean : "");
	}
	name = names_intern(&d->strings, text.bytes, text.length);
	if (!name) {
		fail(d, &error_no_memory);
		return 0;
	}
	index = number(d, OTLP_STRINGS, (struct words){ { (uintptr_t)name } }, &is_new);
	if (is_new)
		PUT(d, string_table, (char *)(uintptr_t)name->bytes);
	return index;
}

/* --- attributes --- */

static int32_t put_attribute(struct otlp_dictionary *d, int32_t key, struct words words,
			     Otlp__AnyValue *value)
{
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	bool is_new;
	const int32_t index = number(d, OTLP_ATTRIBUTES, words, &is_new);

	if (is_new) {
		attribute.key_strindex = key;
		attribute.value = value;
		PUT(d, attribute_table, &attribute);
	}
	return index;
}

int32_t otlp_attribute_text(struct otlp_dictionary *d, const char *key, struct text text)
{
	const int32_t key_index = otlp_string(d, text_of(key));
	_cleanup_free_ char *clean = otlp_clean(text);
	const struct name *name = clean ? names_intern(&d->strings, clean, strlen(clean)) : NULL;
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;

	if (!name) {
		fail(d, &error_no_memory);
		return 0;
	}
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value = (char *)(uintptr_t)name->bytes;
	return put_attribute(d, key_index,
			     (struct words){ { (uint64_t)key_index, (uintptr_t)name } }, &value);
}

int32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t integer)
{
	const int32_t key_index = otlp_string(d, text_of(key));
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;

	value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value.int_value = integer;
	return put_attribute(d, key_index,
			     (struct words){ { (uint64_t)key_index, (uint64_t)integer, 1 } },
			     &value);
}

/* --- locations --- */

static int32_t mapping_of(struct otlp_dictionary *d, const struct frame *frame)
{
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	struct text file = name_text(frame->module);
	_cleanup_free_ char *bracketed = NULL;
	bool is_new;
	int32_t index;

	if (frame->kind == FRAME_KERNEL && !file.length)
		file = TEXT(PPROF_KERNEL);
	else if (frame->kind == FRAME_KERNEL && *file.bytes != '[') {
		bracketed = text_print("[%s]", file.bytes);
		if (!bracketed) {
			fail(d, &error_no_memory);
			return 0;
		}
		file = text_of(bracketed);
	}
	if (!file.length)
		return 0;
	mapping.filename_strindex = otlp_string(d, file);
	index = number(d, OTLP_MAPPINGS, (struct words){ { (uint64_t)mapping.filename_strindex } },
		       &is_new);
	if (is_new)
		PUT(d, mapping_table, &mapping);
	return index;
}

static int32_t function_of(struct otlp_dictionary *d, const struct frame *frame)
{
	Otlp__Function function = OTLP__FUNCTION__INIT;
	bool is_new;
	int32_t index;

	if (!frame->name || !frame->name->length)
		return 0;
	function.name_strindex = otlp_string(d, name_text(frame->name));
	function.filename_strindex = frame->source ? otlp_string(d, name_text(frame->source)) : 0;
	index = number(d, OTLP_FUNCTIONS,
		       (struct words){ { (uint64_t)function.name_strindex,
					 (uint64_t)function.filename_strindex } },
		       &is_new);
	if (is_new)
		PUT(d, function_table, &function);
	return index;
}

/* As the semantic conventions of OpenTelemetry have it; NULL: none. */
static const char *const frame_types[] = {
	[FRAME_USER] = "native",
	[FRAME_KERNEL] = "kernel",
	[FRAME_NOTE] = NULL,
	[FRAME_IDLE] = NULL,
};

/* More functions are never inlined into one place. */
#define LINES_MOST 128

/* The place of `node`, and what it is inlined into. */
static int32_t put_location(struct otlp_dictionary *d, uint32_t node)
{
	const struct profile *p = d->profile;
	const uint32_t last = location_outermost(p, node);
	const struct frame *frame = &p->frames.items[p->nodes.items[last].frame];
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Line lines[LINES_MOST], *items[LINES_MOST];
	int32_t type, index;
	bool is_new;

	location.mapping_index = mapping_of(d, frame);
	location.address = frame->address;
	for (;; node = p->nodes.items[node].parent) {
		const struct frame *inner = &p->frames.items[p->nodes.items[node].frame];
		Otlp__Line *line = &lines[location.n_lines];

		if (location.n_lines < LINES_MOST && inner->name && inner->name->length) {
			otlp__line__init(line);
			line->function_index = function_of(d, inner);
			line->line = inner->line;
			items[location.n_lines++] = line;
		}
		if (node == last)
			break;
	}
	location.lines = items;
	if (frame_types[frame->kind]) {
		type = otlp_attribute_text(d, "profile.frame.type",
					   text_of(frame_types[frame->kind]));
		location.n_attribute_indices = 1;
		location.attribute_indices = &type;
	}
	index = NUMBER_BY_BYTES(d, OTLP_LOCATIONS, &location, &is_new);
	if (is_new)
		PUT(d, location_table, &location);
	return index;
}

static int32_t location_of(struct otlp_dictionary *d, uint32_t node)
{
	int32_t *index = &d->location_indexes[d->locations.of_node[node]];

	if (!*index)
		*index = put_location(d, node);
	return *index;
}

int32_t otlp_stack(struct otlp_dictionary *d, uint32_t node)
{
	Otlp__Stack stack = OTLP__STACK__INIT;
	bool is_new;

	if (node == NODE_NONE || d->error)
		return 0;
	if (d->stack_indexes[node])
		return d->stack_indexes[node];
	d->stack.count = 0;
	for (uint32_t at = node; at != NODE_NONE; at = location_caller(d->profile, at))
		if (!array_push(&d->stack, location_of(d, at)))
			fail(d, &error_no_memory);
	stack.n_location_indices = d->stack.count;
	stack.location_indices = d->stack.items;
	d->stack_indexes[node] = NUMBER_BY_BYTES(d, OTLP_STACKS, &stack, &is_new);
	if (is_new)
		PUT(d, stack_table, &stack);
	return d->stack_indexes[node];
}

/* --- all --- */

static void forget(struct otlp_dictionary *d)
{
	for (size_t i = 0; i < array_length(d->numbers); i++)
		word_map_deinit(&d->numbers[i]);
	if (d->has_strings) {
		names_deinit(&d->strings);
		arena_deinit(&d->arena);
	}
	d->has_strings = false;
}

struct error *otlp_dictionary_init(struct otlp_dictionary *d, const struct profile *profile)
{
	struct error *err;

	*d = (struct otlp_dictionary){ .profile = profile };
	err = locations_find(profile, &d->locations);
	if (err)
		return err;
	d->location_indexes = calloc((size_t)d->locations.count + 1, sizeof(*d->location_indexes));
	d->stack_indexes = calloc(profile->nodes.count + 1, sizeof(*d->stack_indexes));
	if (d->location_indexes && d->stack_indexes)
		return NULL;
	otlp_dictionary_deinit(d);
	return &error_no_memory;
}

void otlp_dictionary_deinit(struct otlp_dictionary *d)
{
	forget(d);
	locations_deinit(&d->locations);
	free(d->location_indexes);
	free(d->stack_indexes);
	array_deinit(&d->stack);
	array_deinit(&d->packed);
	array_deinit(&d->message);
	error_destroy(d->error);
	*d = (struct otlp_dictionary){ 0 };
}

/* A link of zeros has all its bytes, for readers that are strict about their number
 * (ProfilesDictionary.link_table). */
static void put_first_items(struct otlp_dictionary *d)
{
	uint8_t zeros[16] = { 0 };
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Function function = OTLP__FUNCTION__INIT;
	Otlp__Link link = OTLP__LINK__INIT;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__Stack stack = OTLP__STACK__INIT;

	link.trace_id = (ProtobufCBinaryData){ 16, zeros };
	link.span_id = (ProtobufCBinaryData){ 8, zeros };
	PUT(d, mapping_table, &mapping);
	PUT(d, location_table, &location);
	PUT(d, function_table, &function);
	PUT(d, link_table, &link);
	PUT(d, attribute_table, &attribute);
	PUT(d, stack_table, &stack);
	for (size_t i = 0; i < OTLP_TABLE_COUNT; i++)
		d->counts[i] = 1;
	d->counts[OTLP_STRINGS] = 0;
	otlp_string(d, TEXT(""));
}

void otlp_dictionary_begin(struct otlp_dictionary *d)
{
	forget(d);
	arena_init(&d->arena, (size_t)256 << 20);
	names_init(&d->strings, &d->arena);
	d->has_strings = true;
	memset(d->location_indexes, 0, d->locations.count * sizeof(*d->location_indexes));
	memset(d->stack_indexes, 0, d->profile->nodes.count * sizeof(*d->stack_indexes));
	array_clear(&d->message);
	put_first_items(d);
}
