/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/schema.h"

#include "base/hex.h"
#include "profile/json.h"
#include "state/reading.h"

/* --- words --- */

static const char *class_name(size_t class)
{
	return class < CLASS_COUNT ? profile_classes[class].name : NULL;
}

const struct json_words profile_class_words =
	JSON_WORDS(profile_class_words, class_name, "a class, as \"on-cpu\"");

static const char *state_name(size_t state)
{
	return state < STATE_COUNT ? state_rows[state].name : NULL;
}

const struct json_words profile_state_words =
	JSON_WORDS(profile_state_words, state_name, "a state of top, as \"lock_futex\"");

static const char *walk_end_name(size_t end)
{
	return end < WALK_ENDS ? walk_ends[end].name : NULL;
}

static const struct json_words walk_words =
	JSON_WORDS(walk_words, walk_end_name, "the end of a walk");

static const char *kind_name(size_t kind)
{
	static const char *const names[] = {
		[FRAME_USER] = "user", [FRAME_KERNEL] = "kernel", [FRAME_NOTE] = "note"
	};

	return kind < array_length(names) ? names[kind] : NULL;
}

const struct json_words profile_kind_words =
	JSON_WORDS(profile_kind_words, kind_name, "user, kernel or note");
_Static_assert(sizeof(enum frame_kind) == sizeof(field_word), "a word in four bytes");

/* --- build IDs: both members of a mapping --- */

static JSON_TAKE(json_take_build_id)
{
	struct profile_mapping *mapping = target;
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	if (err)
		return err;
	if (!hex_read(text, mapping->build_id, BUILD_ID_MAX))
		return json_unexpected(key, "up to 40 hexadecimal digits");
	mapping->build_id_length = (uint8_t)(text.length / 2);
	return NULL;
}

static void write_build_id(struct json_writer *w, const struct json_field *field, const void *at)
{
	const struct profile_mapping *mapping = at;
	char text[2 * BUILD_ID_MAX + 1];

	(void)field;
	hex_write(text, mapping->build_id, mapping->build_id_length);
	json_text(w, text_of(text));
}

static bool has_build_id(const struct json_field *field, const void *at)
{
	(void)field;
	return ((const struct profile_mapping *)at)->build_id_length;
}

static const struct json_field_type json_type_build_id = { json_take_build_id, write_build_id,
							   has_build_id };

/* --- objects --- */

#define ROW(type, key, object, member, ...) \
	JSON_FIELD(type, key, object, member, .flags = FIELD_OMIT, __VA_ARGS__)

#define META(type, member) ROW(type, #member, profile_meta, member)
static const struct json_field meta_rows[] = {
	META(name, host),
	META(name, kernel),
	META(name, command),
	META(name, target),
	META(name, version),
	META(name, mode),
	META(u64, captured_at_unix_ns),
	META(u64, duration_ns),
	META(u64, on_cpu_period_ns),
	META(u64, off_cpu_period_ns),
	META(u32, cpus),
	ROW(flag, "whole_host", profile_meta, is_whole_host),
	META(u64, memory_limit),
	META(name, without_table),
};
const struct json_fields profile_meta_fields = JSON_FIELDS(meta_rows);

#define LOSS(member) ROW(u64, #member, profile_losses, member)
static const struct json_field losses_rows[] = {
	LOSS(switches),
	LOSS(events),
	LOSS(kept),
	LOSS(in_progress),
	LOSS(filtered),
	LOSS(filtered_ns),
	LOSS(lost),
	LOSS(lost_ns),
	LOSS(user_truncated),
	LOSS(kernel_truncated),
	JSON_FIELD_OF(numbers, "walks", profile_losses, walks, &walk_words, .flags = FIELD_OMIT),
	LOSS(stacks_recognised),
	LOSS(stacks_checked),
	LOSS(stacks_wrong),
	LOSS(user_stacks_recognised),
	LOSS(user_stacks_checked),
	LOSS(user_stacks_wrong),
	LOSS(missed),
	LOSS(threads_lost),
	LOSS(threads_torn),
	LOSS(maps_lost),
	LOSS(tables_failed),
	LOSS(tables_lost),
	LOSS(mappings_lost),
	LOSS(memory_refused),
	LOSS(rows_lost),
	LOSS(runs),
	LOSS(run_ns),
	LOSS(own_cpu_ns),
};
const struct json_fields profile_losses_fields = JSON_FIELDS(losses_rows);

#define FRAME(type, member) ROW(type, #member, frame, member)
static const struct json_field frame_rows[] = {
	JSON_FIELD_OF(word, "kind", frame, kind, &profile_kind_words, .flags = FIELD_OMIT),
	FRAME(flag, inlined),
	FRAME(name, name),
	FRAME(name, module),
	FRAME(name, source),
	FRAME(u32, line),
	FRAME(u64, address),
	FRAME(u64, offset),
	FRAME(u32, image),
};
const struct json_fields profile_frame_fields = JSON_FIELDS(frame_rows);

#define MAPPING(type, member) ROW(type, #member, profile_mapping, member)
static const struct json_field mapping_rows[] = {
	MAPPING(u64, start),       MAPPING(u64, end),
	MAPPING(u64, file_offset), MAPPING(name, path),
	MAPPING(u32, major),       MAPPING(u32, minor),
	MAPPING(u64, inode),       JSON_ROW_(build_id, "build_id", 0, NULL, .flags = FIELD_OMIT),
};
const struct json_fields profile_mapping_fields = JSON_FIELDS(mapping_rows);

#define IMAGE(type, member) ROW(type, #member, profile_image, member)
static const struct json_field image_rows[] = {
	IMAGE(u32, pid),
	IMAGE(name, exe),
	IMAGE(u32, first_mapping),
	IMAGE(u32, mapping_count),
	ROW(flag, "over", profile_image, is_over),
};
const struct json_fields profile_image_fields = JSON_FIELDS(image_rows);

#define THREAD(type, member) ROW(type, #member, profile_thread, member)
#define THREAD_NUMBERS(member)                                                        \
	JSON_FIELD_OF(numbers, #member, profile_thread, member, &profile_class_words, \
		      .flags = FIELD_OMIT)
static const struct json_field thread_rows[] = {
	THREAD(u32, tid),
	THREAD(u32, tgid),
	ROW(u32, "uid", profile_thread, uid, .none = UID_UNKNOWN),
	THREAD(name, name),
	THREAD(name, process),
	THREAD(name, cgroup),
	THREAD(u32, image),
	ROW(flag, "kernel", profile_thread, is_kernel),
	ROW(flag, "accounted", profile_thread, is_accounted),
	THREAD(u64, begun_ns),
	THREAD(u64, ended_ns),
	THREAD_NUMBERS(ns),
	THREAD_NUMBERS(counts),
	THREAD(u64, voluntary),
	THREAD(u64, involuntary),
};
const struct json_fields profile_thread_fields = JSON_FIELDS(thread_rows);

#define BLOCK(type, member, ...) ROW(type, #member, block, member, __VA_ARGS__)
static const struct json_field block_rows[] = {
	BLOCK(u32, thread),
	BLOCK(u32, node, .none = NODE_NONE),
	JSON_FIELD_OF(word16, "class", block, class, &profile_class_words),
	JSON_FIELD_OF(word16, "state", block, state, &profile_state_words, .flags = FIELD_OMIT),
	ROW(flag, "in_progress", block, is_in_progress),
	BLOCK(u64, begun_ns),
	BLOCK(u64, ns),
	BLOCK(u64, runnable_ns),
	BLOCK(name, waker),
	BLOCK(u32, waker_tid),
};
const struct json_fields profile_block_fields = JSON_FIELDS(block_rows);

#define WAKER(type, member) ROW(type, #member, waker, member)
static const struct json_field waker_rows[] = { WAKER(name, name), WAKER(u32, tid) };
static const struct json_fields waker_fields = JSON_FIELDS(waker_rows);

#define PREEMPTOR(type, member) ROW(type, #member, preemptor, member)
static const struct json_field preemptor_rows[] = {
	PREEMPTOR(u32, thread), PREEMPTOR(name, name), PREEMPTOR(name, cgroup),
	PREEMPTOR(u32, tid),    PREEMPTOR(u64, ns),
};
const struct json_fields profile_preemptor_fields = JSON_FIELDS(preemptor_rows);

/* --- columns --- */

#define COLUMN(take, table, struct_, name, member, ...)                                           \
	{                                                                                         \
		.json = { TEXT(#name), take, offsetof(struct profile_parser, table.name), NULL }, \
		.offset = offsetof(struct struct_, member),                                       \
		.bytes = sizeof(((struct struct_ *)0)->member), __VA_ARGS__                       \
	}
#define NODE(name) \
	COLUMN(json_take_index_column, nodes, node, name, name, .has_null = true, .none = NODE_NONE)
const struct profile_column profile_node_columns[PROFILE_NODE_COLUMNS] = { NODE(parent),
									   NODE(frame) };

#define SAMPLE(name, member, ...) \
	COLUMN(json_take_column, samples, sample, name, member, __VA_ARGS__)
const struct profile_column profile_sample_columns[PROFILE_SAMPLE_COLUMNS] = {
	SAMPLE(thread, thread),
	SAMPLE(node, node, .has_null = true, .none = NODE_NONE),
	SAMPLE(class, class),
	SAMPLE(state, state, .is_optional = true),
	SAMPLE(event, event, .is_optional = true),
	SAMPLE(cpu, cpu, .has_null = true, .none = CPU_ANY, .is_optional = true, .absent = CPU_ANY),
	SAMPLE(in_progress, is_in_progress, .is_optional = true),
	SAMPLE(ns, ns),
	SAMPLE(count, count),
	SAMPLE(longest_ns, longest_ns, .is_optional = true),
	SAMPLE(waker, waker, .is_optional = true),
};

/* --- the root --- */

static const struct json_list image_list =
	JSON_LIST(image_list, profile_image_fields, struct profile_image);
static const struct json_list mapping_list =
	JSON_LIST(mapping_list, profile_mapping_fields, struct profile_mapping);
static const struct profile_thread no_thread = { .uid = UID_UNKNOWN };
static const struct json_list thread_list =
	JSON_LIST(thread_list, profile_thread_fields, struct profile_thread, .item = &no_thread);
const struct json_list profile_frame_list =
	JSON_LIST(profile_frame_list, profile_frame_fields, struct frame);
static const struct block no_block = { .node = NODE_NONE };
static const struct json_list block_list =
	JSON_LIST(block_list, profile_block_fields, struct block, .item = &no_block);
static const struct json_list waker_list = JSON_LIST(waker_list, waker_fields, struct waker);
static const struct json_list preemptor_list =
	JSON_LIST(preemptor_list, profile_preemptor_fields, struct preemptor);

#define PROFILE_TYPE(name)                                                             \
	static const struct json_field_type json_type_##name = { json_take_##name,     \
								 profile_write_##name, \
								 json_list_has_value };
PROFILE_TYPES(PROFILE_TYPE)

#define LIST(type, key, member, list) \
	JSON_FIELD_OF(type, key, profile, member, list, .flags = FIELD_OMIT)
static const struct json_field root_rows[] = {
	JSON_ROW_(form, "ctprof_profile", 0, NULL),
	JSON_FOREIGN("captured_at_unix_ns", profile_refuse_snapshot),
	JSON_FOREIGN("format", profile_refuse_histograms),
	JSON_FIELD_OF(object, "meta", profile, meta, &profile_meta_fields),
	JSON_FIELD_OF(object, "losses", profile, meta.losses, &profile_losses_fields),
	JSON_ROW_(classes, "classes", 0, NULL),
	JSON_ROW_(states, "states", 0, NULL),
	LIST(events, "events", events, NULL),
	LIST(list, "images", images, &image_list),
	LIST(list, "mappings", mappings, &mapping_list),
	LIST(list, "threads", threads, &thread_list),
	LIST(frames, "frames", frames, &profile_frame_list),
	JSON_FIELD_OF(nodes, "nodes", profile, nodes, NULL),
	JSON_FIELD_OF(samples, "samples", profile, samples, NULL),
	LIST(list, "wakers", wakers, &waker_list),
	LIST(list, "longest", longest, &block_list),
	LIST(list, "contenders", preemptors, &preemptor_list),
	LIST(histograms, "histograms", histograms, NULL),
};
const struct json_fields profile_root_fields = JSON_FIELDS(root_rows);
