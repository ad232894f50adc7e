/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes are read here by hand, as the description of protobuf has them, and not by the library
 * that the program uses.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "profile/files.h"
#include "profile/pprof.h"
#include "unit/profile_scene.h"

/* --- reading by hand --- */

static uint64_t get_varint(struct text *rest)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char byte;

		assert_true(rest->length && shift < 64);
		byte = (unsigned char)*rest->bytes++;
		rest->length--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

struct field {
	unsigned number;
	uint64_t value;
	struct text bytes; /* of those that have some */
};

static bool get_field(struct text *rest, struct field *ret)
{
	uint64_t tag;

	if (!rest->length)
		return false;
	tag = get_varint(rest);
	*ret = (struct field){ .number = (unsigned)(tag >> 3) };
	ret->value = get_varint(rest);
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	if ((tag & 7) == 2) {
		assert_true(ret->value <= rest->length);
		ret->bytes = (struct text){ rest->bytes, (size_t)ret->value };
		rest->bytes += ret->value;
		rest->length -= (size_t)ret->value;
	}
	return true;
}

/* The value of a field of a message; 0: it is not there. */
static uint64_t number_in(struct text message, unsigned number)
{
	struct field field;

	while (get_field(&message, &field))
		if (field.number == number)
			return field.value;
	return 0;
}

/* The `index`th field of that number; without bytes when there is none. */
static struct text part_in(struct text message, unsigned number, size_t index)
{
	struct field field;

	while (get_field(&message, &field))
		if (field.number == number && !index--)
			return field.bytes;
	return (struct text){ NULL, 0 };
}

static size_t count_in(struct text message, unsigned number)
{
	struct field field;
	size_t count = 0;

	while (get_field(&message, &field))
		count += field.number == number;
	return count;
}

/* The message of a kind with this id. */
static struct text with_id(struct text message, unsigned number, uint64_t id)
{
	for (size_t i = 0; i < count_in(message, number); i++)
		if (number_in(part_in(message, number, i), 1) == id)
			return part_in(message, number, i);
	fail();
	return (struct text){ NULL, 0 };
}

static const char *string_at(struct text message, uint64_t index)
{
	static char copies[8][256];
	static unsigned next;
	struct text text = part_in(message, 6, (size_t)index);
	char *copy = copies[next++ % 8];

	assert_non_null(text.bytes);
	assert_true(text.length < sizeof(copies[0]));
	memcpy(copy, text.bytes, text.length);
	copy[text.length] = '\0';
	return copy;
}

/* A sample as text: its functions from the innermost, '+' where one is inlined into the next; its
 * values; its labels. */
static const char *sample_text(struct text message, size_t index)
{
	static char text[1024];
	struct text sample = part_in(message, 2, index), ids = part_in(sample, 1, 0),
		    values = part_in(sample, 2, 0);

	*text = '\0';
	while (ids.length) {
		struct text location = with_id(message, 4, get_varint(&ids));

		for (size_t i = 0; i < count_in(location, 4); i++) {
			struct text line = part_in(location, 4, i);
			struct text function = with_id(message, 5, number_in(line, 1));

			sprintf(text + strlen(text), "%s%s",
				!*text ? ""
				: i    ? "+"
				       : ";",
				string_at(message, number_in(function, 2)));
		}
	}
	while (values.length)
		sprintf(text + strlen(text), " %llu", (unsigned long long)get_varint(&values));
	for (size_t i = 0; i < count_in(sample, 3); i++) {
		struct text label = part_in(sample, 3, i);
		uint64_t string = number_in(label, 2);

		sprintf(text + strlen(text), " %s=", string_at(message, number_in(label, 1)));
		if (string)
			sprintf(text + strlen(text), "%s", string_at(message, string));
		else
			sprintf(text + strlen(text), "%llu",
				(unsigned long long)number_in(label, 3));
	}
	return text;
}

static const char *type_text(struct text message, size_t index)
{
	static char text[512];
	struct text type = part_in(message, 1, index);

	snprintf(text, sizeof(text), "%s/%s", string_at(message, number_in(type, 1)),
		 string_at(message, number_in(type, 2)));
	return text;
}

/* What was written, unpacked. */
static struct text unpacked(const struct profile *p)
{
	static unsigned char bytes[1 << 16];
	struct sunk sunk = { 0 };
	z_stream zlib = { .next_out = bytes, .avail_out = sizeof(bytes) };

	expect_ok(profile_write_pprof(p, sunk_write, &sunk));
	zlib.next_in = (unsigned char *)sunk.items;
	zlib.avail_in = (unsigned)sunk.count;
	assert_int_equal(inflateInit2(&zlib, 15 + 16), Z_OK);
	assert_int_equal(inflate(&zlib, Z_FINISH), Z_STREAM_END);
	assert_int_equal(zlib.avail_in, 0);
	inflateEnd(&zlib);
	array_deinit(&sunk);
	return (struct text){ (const char *)bytes, sizeof(bytes) - zlib.avail_out };
}

/* --- out --- */

static struct profile *small(void)
{
	struct profile *p = build_profile();
	uint32_t a = build_profile_thread(p, 10, 10, "db", "db", "/db");
	uint32_t b = build_profile_thread(p, 10, 11, "db", "flush", NULL);

	build_sample(p, a, CLASS_ON_CPU, "main;tiny_[i];tinier_[i];leaf", 100, 1);
	build_sample(p, b, CLASS_IO_WAIT, "main;read;vfs_read_[k]", 40, 2);
	build_sample(p, b, CLASS_RUNNABLE, "main;tiny_[i]", 7, 3)->cpu = 2;
	return p;
}

TEST(as_others_read_it)
{
	struct profile *p = small();
	struct text message;

	p->meta.captured_at_unix_ns = 1234567;
	p->meta.duration_ns = 89;
	p->meta.on_cpu_period_ns = 10101010;
	message = unpacked(p);
	assert_string_equal(string_at(message, 0), "");
	assert_int_equal(count_in(message, 1), 4);
	assert_string_equal(type_text(message, 0), "samples/count");
	assert_string_equal(type_text(message, 1), "on-cpu/nanoseconds");
	assert_string_equal(type_text(message, 2), "off-cpu/nanoseconds");
	assert_string_equal(type_text(message, 3), "wall/nanoseconds");
	assert_string_equal(string_at(message, number_in(message, 14)), "wall");
	assert_int_equal(number_in(message, 9), 1234567);
	assert_int_equal(number_in(message, 10), 89);
	assert_int_equal(number_in(message, 12), 10101010);
	assert_int_equal(count_in(message, 2), 3);
	assert_string_equal(sample_text(message, 0),
			    "leaf;tinier+tiny+main 1 100 0 100"
			    " tid=10 tgid=10 thread=db process=db cgroup=/db state=on-cpu");
	assert_string_equal(
		sample_text(message, 1),
		"vfs_read;read;main 2 0 40 40"
		" tid=11 tgid=10 thread=flush process=db state=io-wait reason=sleep_disk");
	assert_string_equal(
		sample_text(message, 2),
		"tiny+main 3 0 7 7"
		" tid=11 tgid=10 cpu=2 thread=flush process=db state=runnable reason=runnable");
	profile_destroy(p);
}

/* Each string once; ids from 1 in their order, as Parca wants them; the kernel's functions are in
 * its file. */
TEST(tables)
{
	struct profile *p = small();
	struct text message = unpacked(p);
	size_t strings = count_in(message, 6);

	for (size_t i = 0; i < strings; i++)
		for (size_t j = 0; j < i; j++)
			assert_false(text_equal(part_in(message, 6, i), part_in(message, 6, j)));
	for (unsigned kind = 3; kind <= 5; kind++) {
		size_t count = count_in(message, kind);

		for (size_t i = 0; i < count; i++)
			assert_int_equal(number_in(part_in(message, kind, i), 1), i + 1);
	}
	assert_int_equal(count_in(message, 5), 6);
	assert_int_equal(count_in(message, 3), 1);
	assert_string_equal(string_at(message, number_in(part_in(message, 3, 0), 5)), "[kernel]");
	profile_destroy(p);
}

TEST(types_that_there_are)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 1, "a", "a", NULL);
	struct text message = unpacked(p);

	assert_int_equal(count_in(message, 1), 1);
	assert_string_equal(type_text(message, 0), "samples/count");
	build_sample(p, thread, CLASS_STOPPED, "main", 5, 1);
	message = unpacked(p);
	assert_int_equal(count_in(message, 1), 2);
	assert_string_equal(type_text(message, 1), "off-cpu/nanoseconds");
	assert_string_equal(
		sample_text(message, 0),
		"main 1 5 tid=1 tgid=1 thread=a process=a state=stopped reason=stopped");
	profile_destroy(p);
}

/* Addresses without names: where they are in which file is all that a reader has. */
TEST(raw_frames)
{
	struct profile *p = build_profile();
	struct frame frame = { .address = 0x5500, .image = 1 };
	struct sample sample = { .class = CLASS_ON_CPU, .cpu = CPU_ANY, .ns = 1, .count = 1 };
	uint32_t number;
	struct text message, mapping, location;

	build_profile_thread(p, 1, 1, "a", "a", NULL);
	assert_true(array_push(&p->images, (struct profile_image){ .mapping_count = 1 }));
	assert_true(array_push(&p->mappings,
			       (struct profile_mapping){ .start = 0x5000,
							 .end = 0x6000,
							 .file_offset = 0x1000,
							 .path = profile_name(p, "/bin/a", 6),
							 .build_id_length = 2,
							 .build_id = { 0xab, 0x0c } }));
	expect_ok(profile_frame(p, &frame, &number));
	expect_ok(profile_node(p, NODE_NONE, number, &sample.node));
	expect_ok(profile_add(p, &sample));
	message = unpacked(p);
	mapping = part_in(message, 3, 0);
	location = part_in(message, 4, 0);
	assert_int_equal(number_in(mapping, 2), 0x5000);
	assert_int_equal(number_in(mapping, 3), 0x6000);
	assert_int_equal(number_in(mapping, 4), 0x1000);
	assert_string_equal(string_at(message, number_in(mapping, 5)), "/bin/a");
	assert_string_equal(string_at(message, number_in(mapping, 6)), "ab0c");
	assert_int_equal(number_in(mapping, 7), 0);
	assert_int_equal(number_in(location, 2), 1);
	assert_int_equal(number_in(location, 3), 0x5500);
	assert_int_equal(count_in(location, 4), 0);
	profile_destroy(p);
}

/* The program comes first, although the stack is asked for from its leaf, and has its build-id. */
TEST(files_of_named_frames)
{
	struct profile *p = build_profile();
	const struct name *exe = profile_name(p, "/bin/a", 6);
	struct frame main = { .name = profile_name(p, "main", 4),
			      .module = exe,
			      .address = 0x5500 };
	struct frame leaf = { .kind = FRAME_KERNEL,
			      .name = profile_name(p, "schedule", 8),
			      .address = 0x77 };
	struct sample sample = { .class = CLASS_INTERRUPTIBLE, .cpu = CPU_ANY, .ns = 1 };
	struct profile_mapping piece = { .path = exe,
					 .start = 0x10000,
					 .end = 0x20000,
					 .build_id_length = 2,
					 .build_id = { 0xab, 0x0c } };
	struct text message, mapping;
	uint32_t number;

	number = build_profile_thread(p, 1, 1, "a", "a", NULL);
	p->threads.items[number].image = 1;
	assert_true(
		array_push(&p->images, (struct profile_image){ .exe = exe, .mapping_count = 1 }));
	assert_true(array_push(&p->mappings, piece));
	expect_ok(profile_frame(p, &main, &number));
	expect_ok(profile_node(p, NODE_NONE, number, &sample.node));
	expect_ok(profile_frame(p, &leaf, &number));
	expect_ok(profile_node(p, sample.node, number, &sample.node));
	expect_ok(profile_add(p, &sample));
	message = unpacked(p);
	mapping = part_in(message, 3, 0);
	assert_string_equal(string_at(message, number_in(mapping, 5)), "/bin/a");
	assert_string_equal(string_at(message, number_in(mapping, 6)), "ab0c");
	assert_int_equal(number_in(mapping, 3), 0x5501);
	mapping = part_in(message, 3, 1);
	assert_string_equal(string_at(message, number_in(mapping, 5)), "[kernel]");
	assert_int_equal(number_in(mapping, 3), 0x78);
	assert_int_equal(number_in(part_in(message, 4, 0), 3), 0x77);
	/* Of two files with the name, which is meant is not known. */
	piece.build_id[0] = 0xff;
	assert_true(array_push(&p->mappings, piece));
	message = unpacked(p);
	assert_int_equal(number_in(part_in(message, 3, 0), 6), 0);
	profile_destroy(p);
}

static bool drops(const struct profile *p, const char *name)
{
	_cleanup_free_ char *pattern = NULL;
	regex_t regex;
	bool matches;
	char whole[1024];

	expect_ok(pprof_frames_to_drop(p, &pattern));
	snprintf(whole, sizeof(whole), "^(%s)$", pattern);
	assert_int_equal(regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB), 0);
	matches = regexec(&regex, name, 0, NULL, 0) == 0;
	regfree(&regex);
	return matches && *pattern;
}

TEST(waiting_itself_can_be_left_out)
{
	struct profile *p = build_profile();
	uint32_t a = build_profile_thread(p, 1, 1, "a", "a", NULL);
	struct text message;

	build_sample(p, a, CLASS_INTERRUPTIBLE,
		     "main;poll_[k];schedule_timeout.part.0_[k];schedule_[k]", 5, 1);
	message = unpacked(p);
	assert_int_not_equal(number_in(message, 7), 0);
	assert_true(drops(p, "schedule"));
	assert_true(drops(p, "schedule_timeout.part.0"));
	assert_false(drops(p, "schedule_work"));
	assert_false(drops(p, "poll"));
	/* A function of a program with the name: all that it calls would go too. */
	build_sample(p, a, CLASS_INTERRUPTIBLE, "main;schedule", 5, 1);
	assert_false(drops(p, "schedule"));
	assert_true(drops(p, "__schedule"));
	/* Something on top: a waker. */
	build_sample(p, a, CLASS_INTERRUPTIBLE, "main;schedule_[k];--;wake", 5, 1);
	assert_false(drops(p, "__schedule"));
	profile_destroy(p);
}

/* Bytes that are no characters would be refused by readers. */
TEST(strings_are_utf8)
{
	struct profile *p = build_profile();
	struct text message;

	build_sample(p, build_profile_thread(p, 0, 0, "", "", NULL), CLASS_ON_CPU,
		     "a\xff"
		     "b",
		     5, 1);
	message = unpacked(p);
	assert_string_equal(sample_text(message, 0), "a\xef\xbf\xbd"
						     "b 1 5 state=on-cpu");
	profile_destroy(p);
}

/* --- and back --- */

/* What we write we read: the same tree, by thread and by state. */
TEST(there_and_back)
{
	for (enum flame_group group = 0; group < FLAME_GROUP_COUNT; group++) {
		struct profile *p = small(), *back = NULL;
		struct flame_view view = { .group_by = group };
		struct flame *first = NULL, *second = NULL;
		struct sunk sunk = { 0 };
		char text[4096];

		build_sample(p, 0, CLASS_EVENT, "main;malloc", 0, 5);
		assert_true(array_push(&p->events, profile_name(p, "uprobe:malloc", 13)));
		for (unsigned classes = 0; classes < 2; classes++) {
			view.classes = classes ? FLAME_EVENTS : 0;
			sunk.count = 0;
			expect_ok(profile_write_pprof(p, sunk_write, &sunk));
			expect_ok(profile_parse_pprof(sunk_text(&sunk), &back));
			expect_ok(flame_create(p, NULL, &view, &first));
			expect_ok(flame_create(back, NULL, &view, &second));
			strcpy(text, flame_text(first));
			assert_string_equal(flame_text(second), text);
			flame_destroy(first);
			flame_destroy(second);
			assert_string_equal(back->events.items[0]->bytes, "uprobe:malloc");
			profile_destroy(back);
		}
		array_deinit(&sunk);
		profile_destroy(p);
	}
}

TEST(everything_can_be_written)
{
	for (uint64_t seed = 1; seed < 5; seed++) {
		struct profile *p = full_profile(seed), *back = NULL;
		struct sunk sunk = { 0 }, failing = { .refuse_after = 20 };

		expect_ok(profile_write_pprof(p, sunk_write, &sunk));
		expect_ok(profile_parse_pprof(sunk_text(&sunk), &back));
		assert_true(back->samples.count > 20);
		expect_error(profile_write_pprof(p, sunk_write, &failing), "the sink is full");
		profile_destroy(back);
		profile_destroy(p);
		array_deinit(&sunk);
		array_deinit(&failing);
	}
}

UNIT_TESTS(cmocka_unit_test(as_others_read_it), cmocka_unit_test(tables),
	   cmocka_unit_test(types_that_there_are), cmocka_unit_test(raw_frames),
	   cmocka_unit_test(files_of_named_frames),
	   cmocka_unit_test(waiting_itself_can_be_left_out), cmocka_unit_test(strings_are_utf8),
	   cmocka_unit_test(there_and_back), cmocka_unit_test(everything_can_be_written))
