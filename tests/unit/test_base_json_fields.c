/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of fields: what they read and write, and that the pages of the formats name every member.
 */
#include "base/json_fields.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "kstats/file.h"
#include "profile/schema.h"
#include "snapshot/schema.h"
#include "unit/unit.h"

/* --- reading and writing --- */

struct point {
	uint32_t x;
	uint64_t y;
	bool is_far;
	const struct name *name;
	char *note;
	uint32_t colour;
	uint64_t counts[2];
};

struct drawing {
	struct point origin;
	struct {
		ARRAY(struct point);
	} points;
};

static const char *colour_name(size_t number)
{
	static const char *const names[] = { "red", "blue" };

	return number < array_length(names) ? names[number] : NULL;
}

static const struct json_words colours = JSON_WORDS(colours, colour_name, "a colour");

static const struct json_field point_rows[] = {
	JSON_FIELD(u32, "x", point, x, .flags = FIELD_OMIT, .none = 7, .most = 1000),
	JSON_FIELD(u64, "y", point, y, .flags = FIELD_NULLABLE),
	JSON_FIELD(flag, "far", point, is_far, .flags = FIELD_OMIT),
	JSON_FIELD(name, "name", point, name, .flags = FIELD_OMIT),
	JSON_FIELD(string, "note", point, note, .flags = FIELD_NULLABLE),
	JSON_FIELD_OF(word, "colour", point, colour, &colours),
	JSON_FIELD_OF(numbers, "counts", point, counts, &colours, .flags = FIELD_OMIT),
};
static const struct json_fields point_fields = JSON_FIELDS(point_rows);
static const struct point no_point = { .x = 7 };
static const struct json_list point_list =
	JSON_LIST(point_list, point_fields, struct point, .item = &no_point);

static const struct json_field drawing_rows[] = {
	JSON_FIELD_OF(object, "origin", drawing, origin, &point_fields),
	JSON_FIELD_OF(list, "points", drawing, points, &point_list, .flags = FIELD_OMIT),
};
static const struct json_fields drawing_fields = JSON_FIELDS(drawing_rows);

struct reading_of_a_drawing {
	struct json_fields_user user;
	struct arena arena;
	struct names names;
	struct drawing drawing;
};

static JSON_TAKE(take_root)
{
	json_enter(r, &drawing_fields.shape, target);
	return NULL;
}

static struct error *read_drawing(struct reading_of_a_drawing *reading, const char *text,
				  size_t bytes_most)
{
	struct json_reader *reader;
	struct error *err;

	*reading = (struct reading_of_a_drawing){ .drawing.origin = no_point };
	arena_init(&reading->arena, SIZE_MAX / 2);
	names_init(&reading->names, &reading->arena);
	reading->user = (struct json_fields_user){ .names = &reading->names,
						   .bytes_most = bytes_most,
						   .too_many = "more than a drawing may hold" };
	err = json_reader_create(take_root, &reading->drawing, reading, &reader);
	assert_null(err);
	err = json_reader_feed(reader, text_of(text));
	if (!err)
		err = json_reader_finish(reader);
	json_reader_destroy(reader);
	return err;
}

static void forget_drawing(struct reading_of_a_drawing *reading)
{
	free(reading->drawing.origin.note);
	for (size_t i = 0; i < reading->drawing.points.count; i++)
		free(reading->drawing.points.items[i].note);
	array_deinit(&reading->drawing.points);
	names_deinit(&reading->names);
	arena_deinit(&reading->arena);
}

struct written {
	char bytes[1024];
	size_t length;
};

static struct error *append(void *context, const void *bytes, size_t length)
{
	struct written *written = context;

	assert_true(length < sizeof(written->bytes) - written->length);
	memcpy(written->bytes + written->length, bytes, length);
	written->length += length;
	return NULL;
}

static void expect_same(const char *text)
{
	struct reading_of_a_drawing reading;
	struct written written = { .length = 0 };
	struct json_writer w;

	assert_null(read_drawing(&reading, text, 0));
	assert_null(json_writer_init(&w, append, &written));
	json_object_write(&w, &drawing_fields, &reading.drawing);
	assert_null(json_writer_finish(&w));
	json_writer_deinit(&w);
	assert_string_equal(written.bytes, text);
	forget_drawing(&reading);
}

TEST(a_read_object_is_written_unchanged)
{
	expect_same("{\"origin\":{\"y\":null,\"note\":null,\"colour\":\"red\"}}");
	expect_same(
		"{\"origin\":{\"x\":0,\"y\":18446744073709551615,\"far\":true,\"name\":\"a\","
		"\"note\":\"b\",\"colour\":\"blue\",\"counts\":{\"red\":1,\"blue\":2}},\"points\":["
		"{\"y\":1,\"note\":null,\"colour\":\"red\"},"
		"{\"x\":1000,\"y\":2,\"note\":\"\",\"colour\":\"red\",\"counts\":{\"blue\":3}}]}");
}

TEST(invalid_values_are_refused)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "{\"origin\":{\"x\":1001}}", "'x': expected an integer from 0 to 1000" },
		{ "{\"origin\":{\"x\":-1}}", "'x'" },
		{ "{\"origin\":{\"x\":1,\"x\":1}}", "duplicate key 'x'" },
		{ "{\"origin\":{\"far\":1}}", "'far'" },
		{ "{\"origin\":{\"name\":null}}", "'name'" },
		{ "{\"origin\":{\"note\":5}}", "'note'" },
		{ "{\"origin\":{\"colour\":\"green\"}}", "'colour': expected a colour" },
		{ "{\"origin\":{\"counts\":{\"red\":true}}}", "'red'" },
		{ "{\"origin\":[]}", "'origin': expected an object" },
		{ "{\"points\":{}}", "'points': expected an array" },
		{ "{\"points\":[5]}", "expected an object" },
		{ "{\"points\":[{\"y\":1.5}]}", "'y'" },
		{ "{\"points\":[{},{},{},{},{},{},{},{}]}", "more than a drawing may hold" },
		{ "{\"origin\":{\"note\":\"0123456789012345678901234567890123456789\"},"
		  "\"points\":[{},{},{},{},{}]}",
		  "more than a drawing may hold" },
	};
	struct reading_of_a_drawing reading;

	for (size_t i = 0; i < array_length(rows); i++) {
		expect_error(read_drawing(&reading, rows[i].text, 5 * sizeof(struct point) + 39),
			     rows[i].message);
		forget_drawing(&reading);
	}
}

TEST(others_members_are_passed_over)
{
	struct reading_of_a_drawing reading;

	assert_null(read_drawing(
		&reading, "{\"new\":[{\"x\":[]}],\"origin\":{\"counts\":{\"green\":{}},\"z\":1}}",
		0));
	assert_int_equal(reading.drawing.origin.x, 7);
	assert_int_equal(reading.drawing.points.count, 0);
	forget_drawing(&reading);
}

/* --- the pages --- */

/* The lines below the heading, up to the next one. */
static struct text section_of(struct text page, const char *heading)
{
	struct text line, section = { NULL, 0 };

	while (text_cut(&page, '\n', &line)) {
		if (section.bytes && line.length && line.bytes[0] == '#')
			break;
		if (section.bytes)
			section.length = (size_t)(line.bytes + line.length - section.bytes);
		else if (text_equal(line, text_of(heading)))
			section = (struct text){ line.bytes + line.length, 0 };
	}
	if (!section.bytes)
		fail_msg("there is no section '%s'", heading);
	return section;
}

static bool is_named(struct text section, struct text name)
{
	char quoted[100];

	snprintf(quoted, sizeof(quoted), "`%.*s`", (int)name.length, name.bytes);
	return memmem(section.bytes, section.length, quoted, strlen(quoted));
}

static void expect_named(struct text section, const char *heading, const struct json_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct json_field *field = &fields->rows[i];

		if (field->flags & FIELD_READ_ONLY)
			continue;
		/* A second spelling of the one before: "`total_memory_kb`/`_kib`". */
		if (!is_named(section, field->json.name) &&
		    !(text_ends(field->json.name, TEXT("_kib")) && is_named(section, TEXT("_kib"))))
			fail_msg("%s: the page does not name '%.*s'", heading,
				 (int)field->json.name.length, field->json.name.bytes);
		if (field->type == &json_type_object && field->json.more != &snapshot_psi_fields)
			expect_named(section, heading, field->json.more);
	}
}

TEST(pages_name_every_member)
{
	static const struct {
		const char *page, *heading;
		const struct json_fields *fields;
	} rows[] = {
		{ "doc/format.md", "## Top level", &snapshot_probe_fields },
		{ "doc/format.md", "## Top level", &snapshot_parse_fields },
		{ "doc/format.md", "## Top level", &snapshot_taskstats_fields },
		{ "doc/format.md", "## Top level", &snapshot_sched_ext_fields },
		{ "doc/format.md", "## cgroup_stats", &snapshot_cgroup_fields },
		{ "doc/format.md", "## psi", &snapshot_psi_fields },
		{ "doc/format.md", "## host", &snapshot_host_fields },
		{ "doc/format.md", "## processes and users (ctprof)", &snapshot_process_fields },
		{ "doc/format.md", "## capture (ctprof)", &snapshot_capture_fields },
		{ "doc/format.md", "# The kstats file", &kstats_table_fields },
		{ "doc/profile-format.md", "## meta", &profile_meta_fields },
		{ "doc/profile-format.md", "## losses", &profile_losses_fields },
		{ "doc/profile-format.md", "## images", &profile_image_fields },
		{ "doc/profile-format.md", "## mappings", &profile_mapping_fields },
		{ "doc/profile-format.md", "## threads", &profile_thread_fields },
		{ "doc/profile-format.md", "## frames", &profile_frame_fields },
		{ "doc/profile-format.md", "## longest", &profile_block_fields },
		{ "doc/profile-format.md", "## contenders", &profile_preemptor_fields },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct file_buffer buffer = { 0 };
		struct text page;

		assert_int_equal(file_read(AT_FDCWD, rows[i].page, &buffer, &page), 0);
		expect_named(section_of(page, rows[i].heading), rows[i].heading, rows[i].fields);
		file_buffer_deinit(&buffer);
	}
}

/* Members by which a file of another kind is known. */
static bool is_foreign(struct text name)
{
	return text_equal(name, TEXT("captured_at_unix_ns")) || text_equal(name, TEXT("format"));
}

/* The root of a profile, whose objects have sections of their own. */
TEST(the_page_of_profiles_names_all_tables)
{
	struct file_buffer buffer = { 0 };
	struct text page, section;

	assert_int_equal(file_read(AT_FDCWD, "doc/profile-format.md", &buffer, &page), 0);
	section = section_of(page, "## Top level");
	for (size_t i = 0; i < profile_root_fields.count; i++)
		assert_true(is_foreign(profile_root_fields.rows[i].json.name) !=
			    is_named(section, profile_root_fields.rows[i].json.name));
	section = section_of(page, "## samples");
	for (size_t i = 0; i < PROFILE_SAMPLE_COLUMNS; i++)
		assert_true(is_named(section, profile_sample_columns[i].json.name));
	section = section_of(page, "## nodes");
	for (size_t i = 0; i < PROFILE_NODE_COLUMNS; i++)
		assert_true(is_named(section, profile_node_columns[i].json.name));
	file_buffer_deinit(&buffer);
}

UNIT_TESTS(cmocka_unit_test(a_read_object_is_written_unchanged),
	   cmocka_unit_test(invalid_values_are_refused),
	   cmocka_unit_test(others_members_are_passed_over),
	   cmocka_unit_test(pages_name_every_member),
	   cmocka_unit_test(the_page_of_profiles_names_all_tables))
