/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/schema.h"

#include "base/hex.h"

#define TAKE(name)                                                                     \
	static struct error *name(                                                     \
		struct json_reader *r, void *target, const struct json_member *member, \
		struct text key __attribute__((unused)), const struct json_value *value)
#define PUT(name) \
	static void name(struct json_writer *w, const struct profile_field *field, const void *at)

#define AT(type) ((type *)(void *)((char *)target + member->detail))

static void put_key(struct json_writer *w, const struct profile_field *field)
{
	json_key_text(w, field->member.name);
}

/* --- kinds of members --- */

typedef uint64_t field_u64;
typedef uint32_t field_u32, field_node;
typedef bool field_flag;
typedef const struct name *field_name;
typedef enum frame_kind field_kind;
typedef uint16_t field_class;
typedef uint64_t field_times[CLASS_COUNT];
typedef uint64_t field_walks[WALK_ENDS];

TAKE(take_u64)
{
	(void)r;
	return json_get_u64(value, key, AT(uint64_t));
}

PUT(put_u64)
{
	const uint64_t *number = at;

	if (!*number)
		return;
	put_key(w, field);
	json_u64(w, *number);
}

TAKE(take_u32)
{
	(void)r;
	return json_get_u32(value, key, AT(uint32_t));
}

PUT(put_u32)
{
	const uint32_t *number = at;

	if (!*number)
		return;
	put_key(w, field);
	json_u64(w, *number);
}

#define take_node take_u32

PUT(put_node)
{
	const uint32_t *number = at;

	if (*number == NODE_NONE)
		return;
	put_key(w, field);
	json_u64(w, *number);
}

TAKE(take_flag)
{
	(void)r;
	return json_get_bool(value, key, AT(bool));
}

PUT(put_flag)
{
	const bool *flag = at;

	if (!*flag)
		return;
	put_key(w, field);
	json_bool(w, true);
}

TAKE(take_name)
{
	const struct profile_schema_context *context = json_user(r);
	const struct name *name;
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	if (err)
		return err;
	name = profile_name(context->profile, text.bytes, text.length);
	if (!name)
		return &error_no_memory;
	*AT(const struct name *) = name;
	return NULL;
}

PUT(put_name)
{
	const struct name *const *name = at;

	if (!*name)
		return;
	put_key(w, field);
	json_text(w, name_text(*name));
}

static const char *const kind_names[] = {
	[FRAME_USER] = "user", [FRAME_KERNEL] = "kernel", [FRAME_NOTE] = "note"
};

TAKE(take_kind)
{
	(void)r;
	for (size_t kind = 0; kind < array_length(kind_names); kind++)
		if (value->type == JSON_STRING &&
		    text_equal(value->text, text_of(kind_names[kind]))) {
			*AT(enum frame_kind) = (enum frame_kind)kind;
			return NULL;
		}
	return json_unexpected(key, "user, kernel or note");
}

PUT(put_kind)
{
	const enum frame_kind *kind = at;

	if (*kind == FRAME_USER)
		return;
	put_key(w, field);
	json_text(w, text_of(kind_names[*kind]));
}

static uint16_t class_named(struct text name)
{
	uint16_t c = 0;

	while (c < CLASS_COUNT && !text_equal(name, text_of(profile_classes[c].name)))
		c++;
	return c;
}

struct error *profile_get_class(const struct json_value *value, struct text key, uint16_t *ret)
{
	uint16_t class = value->type == JSON_STRING ? class_named(value->text) : CLASS_COUNT;

	if (class == CLASS_COUNT)
		return json_unexpected(key, "a class, as \"on-cpu\"");
	*ret = class;
	return NULL;
}

TAKE(take_class)
{
	(void)r;
	return profile_get_class(value, key, AT(uint16_t));
}

PUT(put_class)
{
	const uint16_t *class = at;

	put_key(w, field);
	json_text(w, text_of(profile_classes[*class].name));
}

/* Classes that we do not know are passed over, as unknown members are. */
TAKE(take_time)
{
	uint16_t class = class_named(key);

	(void)r, (void)member;
	return class < CLASS_COUNT ? json_get_u64(value, key, (uint64_t *)target + class) : NULL;
}

TAKE(take_times)
{
	static const struct json_shape times = { .each = take_time };

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	json_enter(r, &times, AT(uint64_t));
	return NULL;
}

/* What is 0 is left out, and the object too when all are. */
static void put_named(struct json_writer *w, const struct profile_field *field,
		      const uint64_t *numbers, size_t count, const char *(*name)(size_t number))
{
	bool is_open = false;

	for (size_t i = 0; i < count; i++) {
		if (!numbers[i])
			continue;
		if (!is_open) {
			put_key(w, field);
			json_object_begin(w);
			is_open = true;
		}
		json_key(w, name(i));
		json_u64(w, numbers[i]);
	}
	if (is_open)
		json_object_end(w);
}

static const char *class_name(size_t class)
{
	return profile_classes[class].name;
}

PUT(put_times)
{
	put_named(w, field, at, CLASS_COUNT, class_name);
}

/* As with classes, ends that we do not know are passed over. */
TAKE(take_walk)
{
	size_t end = 0;

	(void)r, (void)member;
	while (end < WALK_ENDS && !text_equal(key, text_of(walk_ends[end].name)))
		end++;
	return end < WALK_ENDS ? json_get_u64(value, key, (uint64_t *)target + end) : NULL;
}

TAKE(take_walks)
{
	static const struct json_shape walks = { .each = take_walk };

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	json_enter(r, &walks, AT(uint64_t));
	return NULL;
}

static const char *walk_end_name(size_t end)
{
	return walk_ends[end].name;
}

PUT(put_walks)
{
	put_named(w, field, at, WALK_ENDS, walk_end_name);
}

/* Both members of a mapping; `detail` is not needed. */
TAKE(take_build_id)
{
	struct profile_mapping *mapping = target;
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	(void)r, (void)member;
	if (err)
		return err;
	if (!hex_read(text, mapping->build_id, BUILD_ID_MAX))
		return json_unexpected(key, "up to 40 hexadecimal digits");
	mapping->build_id_length = (uint8_t)(text.length / 2);
	return NULL;
}

PUT(put_build_id)
{
	const struct profile_mapping *mapping = at;
	char text[2 * BUILD_ID_MAX + 1];

	if (!mapping->build_id_length)
		return;
	hex_write(text, mapping->build_id, mapping->build_id_length);
	put_key(w, field);
	json_text(w, (struct text){ text, (size_t)2 * mapping->build_id_length });
}

/* --- the rows --- */

/* That the member is of the type which the row reads and writes is seen by the compiler. */
#define PLACE(object, type, member)                                                             \
	(offsetof(struct object, member) +                                                      \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((struct object *)0)->member), \
						      field_##type)                             \
				 ? 1                                                            \
				 : -1]))
#define FIELD(object, type, key, member)                                                  \
	{                                                                                 \
		{ TEXT(key), take_##type, PLACE(object, type, member), NULL }, put_##type \
	}
#define SCHEMA(name, rows)                                                   \
	const struct profile_schema name = { rows,                           \
					     { .members = &(rows)[0].member, \
					       .count = array_length(rows),  \
					       .stride = sizeof((rows)[0]) } }

#define META(type, member) FIELD(profile_meta, type, #member, member)
static const struct profile_field meta_fields[] = {
	META(name, host),
	META(name, kernel),
	META(name, command),
	META(name, version),
	META(name, mode),
	META(u64, captured_at_unix_ns),
	META(u64, duration_ns),
	META(u64, on_cpu_period_ns),
	META(u64, off_cpu_period_ns),
	META(u32, cpus),
};
SCHEMA(profile_meta_schema, meta_fields);

#define LOSS(type, member) FIELD(profile_losses, type, #member, member)
static const struct profile_field losses_fields[] = {
	LOSS(u64, switches),
	LOSS(u64, events),
	LOSS(u64, kept),
	LOSS(u64, in_progress),
	LOSS(u64, filtered),
	LOSS(u64, filtered_ns),
	LOSS(u64, lost),
	LOSS(u64, lost_ns),
	LOSS(u64, user_truncated),
	LOSS(u64, kernel_truncated),
	LOSS(walks, walks),
	LOSS(u64, stacks_recognised),
	LOSS(u64, stacks_checked),
	LOSS(u64, stacks_wrong),
	LOSS(u64, user_stacks_recognised),
	LOSS(u64, user_stacks_checked),
	LOSS(u64, user_stacks_wrong),
	LOSS(u64, missed),
	LOSS(u64, threads_lost),
	LOSS(u64, threads_torn),
	LOSS(u64, maps_lost),
	LOSS(u64, tables_failed),
	LOSS(u64, tables_lost),
	LOSS(u64, mappings_lost),
	LOSS(u64, runs),
	LOSS(u64, run_ns),
	LOSS(u64, own_cpu_ns),
};
SCHEMA(profile_losses_schema, losses_fields);

static const struct profile_field frame_fields[] = {
	FIELD(frame, kind, "kind", kind),      FIELD(frame, flag, "inlined", inlined),
	FIELD(frame, name, "name", name),      FIELD(frame, name, "module", module),
	FIELD(frame, name, "source", source),  FIELD(frame, u32, "line", line),
	FIELD(frame, u64, "address", address), FIELD(frame, u64, "offset", offset),
	FIELD(frame, u32, "image", image),
};
SCHEMA(profile_frame_schema, frame_fields);

#define MAPPING(type, member) FIELD(profile_mapping, type, #member, member)
static const struct profile_field mapping_fields[] = {
	MAPPING(u64, start),       MAPPING(u64, end),
	MAPPING(u64, file_offset), MAPPING(name, path),
	MAPPING(u32, major),       MAPPING(u32, minor),
	MAPPING(u64, inode),       { { TEXT("build_id"), take_build_id, 0, NULL }, put_build_id },
};
SCHEMA(profile_mapping_schema, mapping_fields);

#define IMAGE(type, member) FIELD(profile_image, type, #member, member)
static const struct profile_field image_fields[] = {
	IMAGE(u32, pid),
	IMAGE(name, exe),
	IMAGE(u32, first_mapping),
	IMAGE(u32, mapping_count),
	FIELD(profile_image, flag, "over", is_over),
};
SCHEMA(profile_image_schema, image_fields);

#define THREAD(type, member) FIELD(profile_thread, type, #member, member)
static const struct profile_field thread_fields[] = {
	THREAD(u32, tid),
	THREAD(u32, tgid),
	THREAD(name, name),
	THREAD(name, process),
	THREAD(name, cgroup),
	THREAD(u32, image),
	FIELD(profile_thread, flag, "kernel", is_kernel),
	FIELD(profile_thread, flag, "accounted", is_accounted),
	THREAD(u64, begun_ns),
	THREAD(u64, ended_ns),
	THREAD(times, ns),
	THREAD(times, counts),
	THREAD(u64, voluntary),
	THREAD(u64, involuntary),
};
SCHEMA(profile_thread_schema, thread_fields);

#define BLOCK(type, member) FIELD(block, type, #member, member)
static const struct profile_field block_fields[] = {
	BLOCK(u32, thread),      BLOCK(node, node),
	BLOCK(class, class),     FIELD(block, flag, "in_progress", is_in_progress),
	BLOCK(u64, begun_ns),    BLOCK(u64, ns),
	BLOCK(u64, runnable_ns), BLOCK(name, waker),
	BLOCK(u32, waker_tid),
};
SCHEMA(profile_block_schema, block_fields);

#define CONTENDER(type, member) FIELD(preemptor, type, #member, member)
static const struct profile_field preemptor_fields[] = {
	CONTENDER(u32, thread), CONTENDER(name, name), CONTENDER(name, cgroup),
	CONTENDER(u32, tid),    CONTENDER(u64, ns),
};
SCHEMA(profile_preemptor_schema, preemptor_fields);

void profile_schema_write(struct json_writer *w, const struct profile_schema *schema,
			  const void *object)
{
	for (size_t i = 0; i < schema->shape.count; i++) {
		const struct profile_field *field = &schema->fields[i];

		field->write(w, field, (const char *)object + field->member.detail);
	}
}
