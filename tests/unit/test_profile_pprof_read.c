/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes are written here by hand, as the description of protobuf has them, and not by the
 * library that the program uses.
 */
#include <string.h>

#include "profile/files.h"
#include "profile/pprof.h"
#include "unit/profile_scene.h"

/* --- writing by hand --- */

struct wire {
	unsigned char bytes[8192];
	size_t used;
};

static void put_varint(struct wire *w, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		w->bytes[w->used++] = (unsigned char)(value | 0x80);
	w->bytes[w->used++] = (unsigned char)value;
	assert_true(w->used < sizeof(w->bytes) - 64);
}

static void put_number(struct wire *w, unsigned field, uint64_t value)
{
	put_varint(w, field << 3);
	put_varint(w, value);
}

static void put_bytes(struct wire *w, unsigned field, const void *bytes, size_t length)
{
	put_varint(w, field << 3 | 2);
	put_varint(w, length);
	assert_true(w->used + length < sizeof(w->bytes));
	memcpy(w->bytes + w->used, bytes, length);
	w->used += length;
}

static void put_part(struct wire *w, unsigned field, const struct wire *part)
{
	put_bytes(w, field, part->bytes, part->used);
}

/* A message of numbers: field, value, field, value, ..., 0. */
static struct wire numbers(unsigned field, ...)
{
	struct wire w = { .used = 0 };
	va_list arguments;

	va_start(arguments, field);
	for (; field; field = va_arg(arguments, unsigned))
		put_number(&w, field, (uint64_t)va_arg(arguments, long long));
	va_end(arguments);
	return w;
}

#define PUT(w, field, ...)                                    \
	do {                                                  \
		struct wire part_ = numbers(__VA_ARGS__, 0u); \
		put_part(w, field, &part_);                   \
	} while (0)

static void put_strings(struct wire *w, const char *const *strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_bytes(w, 6, strings[i], strlen(strings[i]));
}

#define STRINGS(w, ...)                                      \
	put_strings(w, (const char *const[]){ __VA_ARGS__ }, \
		    array_length(((const char *const[]){ __VA_ARGS__ })))

static struct error *parse(const struct wire *w, struct profile **ret)
{
	struct text bytes = guarded(w->bytes, w->used);
	struct error *err = profile_parse_pprof(bytes, ret);

	unguard(bytes);
	return err;
}

static struct profile *parsed(const struct wire *w)
{
	struct profile *profile = NULL;

	expect_ok(parse(w, &profile));
	return profile;
}

static void expect_refused(const struct wire *w, const char *message)
{
	struct profile *profile = NULL;

	expect_error(parse(w, &profile), message);
	assert_null(profile);
}

/* --- in --- */

/* main calls tiny, which is inlined, from line 7 of a.c; on it stands the kernel's read. */
static struct wire go_profile(void)
{
	struct wire w = { .used = 0 }, location = numbers(1u, 7LL, 2u, 1LL, 3u, 0x99LL, 0u);

	PUT(&w, 1, 1u, 1LL, 2u, 2LL);
	PUT(&w, 1, 1u, 3LL, 2u, 4LL);
	PUT(&w, 3, 1u, 1LL, 5u, 5LL);
	PUT(&w, 3, 1u, 2LL, 5u, 6LL);
	PUT(&location, 4, 1u, 12LL, 2u, 7LL);
	PUT(&location, 4, 1u, 11LL, 2u, 70LL);
	put_part(&w, 4, &location);
	location = numbers(1u, 8LL, 2u, 2LL, 0u);
	PUT(&location, 4, 1u, 13LL);
	put_part(&w, 4, &location);
	PUT(&w, 5, 1u, 11LL, 2u, 7LL, 4u, 10LL);
	PUT(&w, 5, 1u, 12LL, 2u, 8LL, 4u, 10LL);
	PUT(&w, 5, 1u, 13LL, 2u, 9LL);
	STRINGS(&w, "", "samples", "count", "cpu", "nanoseconds", "/bin/prog", "[kernel.kallsyms]",
		"main", "tiny", "read", "a.c", "tid", "state", "io-wait");
	PUT(&w, 2, 1u, 8LL, 1u, 7LL, 2u, 3LL, 2u, 30000000LL);
	put_number(&w, 9, 77);
	put_number(&w, 10, 88);
	return w;
}

TEST(a_profile_of_cpu_time)
{
	struct wire w = go_profile();
	struct profile *p = parsed(&w);
	const struct sample *sample = &p->samples.items[0];
	const struct node *node;
	const struct frame *frame;

	assert_int_equal(p->samples.count, 1);
	assert_int_equal(sample->class, CLASS_ON_CPU);
	assert_int_equal(sample->ns, 30000000);
	assert_int_equal(sample->count, 3);
	assert_int_equal(sample->cpu, CPU_ANY);
	assert_int_equal(stack_depth(p, sample->node), 3);
	node = &p->nodes.items[sample->node];
	frame = &p->frames.items[node->frame];
	assert_string_equal(frame->name->bytes, "read");
	assert_int_equal(frame->kind, FRAME_KERNEL);
	assert_null(frame->module);
	node = &p->nodes.items[node->parent];
	frame = &p->frames.items[node->frame];
	assert_string_equal(frame->name->bytes, "tiny");
	assert_true(frame->inlined);
	assert_int_equal(frame->line, 7);
	node = &p->nodes.items[node->parent];
	frame = &p->frames.items[node->frame];
	assert_string_equal(frame->name->bytes, "main");
	assert_string_equal(frame->module->bytes, "/bin/prog");
	assert_string_equal(frame->source->bytes, "a.c");
	assert_false(frame->inlined);
	assert_int_equal(frame->line, 70);
	assert_int_equal(frame->address, 0x99);
	assert_int_equal(p->meta.captured_at_unix_ns, 77);
	assert_int_equal(p->meta.duration_ns, 88);
	assert_null(p->meta.mode);
	profile_destroy(p);
}

/* Modules of the kernel stand in brackets, which are not of their names; an open one is. */
TEST(modules_of_the_kernel)
{
	static const char *const files[][2] = { { "[nf_tables]", "nf_tables" },
						{ "[nf_tables", "nf_tables" },
						{ "[a]]", "a]" },
						{ "[]", NULL },
						{ "[", NULL } };

	for (size_t i = 0; i < array_length(files); i++) {
		struct wire w = { .used = 0 };
		const struct frame *frame;
		struct profile *p;

		PUT(&w, 1, 1u, 1LL, 2u, 2LL);
		PUT(&w, 3, 1u, 1LL, 5u, 3LL);
		PUT(&w, 4, 1u, 1LL, 2u, 1LL, 3u, 0x99LL);
		PUT(&w, 2, 1u, 1LL, 2u, 5LL);
		STRINGS(&w, "", "cpu", "nanoseconds", files[i][0]);
		p = parsed(&w);
		frame = &p->frames.items[0];
		assert_int_equal(frame->kind, FRAME_KERNEL);
		if (files[i][1])
			assert_string_equal(frame->module->bytes, files[i][1]);
		else
			assert_null(frame->module);
		profile_destroy(p);
	}
}

TEST(labels_are_understood)
{
	struct wire w = go_profile(), sample = numbers(1u, 7LL, 2u, 1LL, 2u, 5LL, 0u);
	struct profile *p;

	PUT(&sample, 3, 1u, 11LL, 3u, 123LL);
	PUT(&sample, 3, 1u, 12LL, 2u, 13LL);
	put_part(&w, 2, &sample);
	p = parsed(&w);
	assert_int_equal(p->samples.count, 2);
	assert_int_equal(p->samples.items[1].class, CLASS_IO_WAIT);
	assert_int_equal(p->threads.items[p->samples.items[1].thread].tid, 123);
	assert_int_equal(p->threads.items[p->samples.items[0].thread].tid, 0);
	profile_destroy(p);
}

/* Types and units of others: "delay" in µs is blocked time, and where no time is, there are hits.
 */
TEST(types_of_others)
{
	struct wire w = { .used = 0 };
	struct profile *p;

	PUT(&w, 1, 1u, 1LL, 2u, 2LL);
	PUT(&w, 1, 1u, 3LL, 2u, 4LL);
	STRINGS(&w, "", "contentions", "count", "delay", "microseconds");
	PUT(&w, 2, 2u, 6LL, 2u, 9LL);
	p = parsed(&w);
	assert_int_equal(p->samples.items[0].class, CLASS_INTERRUPTIBLE);
	assert_int_equal(p->samples.items[0].ns, 9000);
	assert_int_equal(p->samples.items[0].count, 6);
	profile_destroy(p);

	w.used = 0;
	PUT(&w, 1, 1u, 1LL, 2u, 2LL);
	PUT(&w, 1, 1u, 3LL, 2u, 4LL);
	STRINGS(&w, "", "alloc_objects", "count", "alloc_space", "bytes");
	PUT(&w, 2, 2u, 6LL, 2u, 4096LL);
	p = parsed(&w);
	assert_int_equal(p->samples.items[0].class, CLASS_EVENT);
	assert_int_equal(p->samples.items[0].count, 4096);
	assert_string_equal(p->events.items[p->samples.items[0].event]->bytes, "alloc_space");
	profile_destroy(p);
}

/* The sum of other types is not another time. */
TEST(a_sum_does_not_count_twice)
{
	struct wire w = { .used = 0 };
	struct profile *p;

	PUT(&w, 1, 1u, 1LL, 2u, 4LL);
	PUT(&w, 1, 1u, 2LL, 2u, 4LL);
	PUT(&w, 1, 1u, 3LL, 2u, 4LL);
	STRINGS(&w, "", "on-cpu", "off-cpu", "wall", "nanoseconds");
	PUT(&w, 2, 2u, 6LL, 2u, 9LL, 2u, 15LL);
	p = parsed(&w);
	assert_int_equal(p->samples.count, 2);
	assert_int_equal(p->samples.items[0].ns, 6);
	assert_int_equal(p->samples.items[1].ns, 9);
	profile_destroy(p);
}

/* --- hostile --- */

TEST(refused_files)
{
	struct wire w = { .used = 0 };

	expect_refused(&w, "no sample types");
	w = go_profile();
	w.used -= 1;
	expect_refused(&w, "not a pprof profile");
	w = go_profile();
	PUT(&w, 2, 1u, 99LL, 2u, 1LL, 2u, 1LL);
	expect_refused(&w, "not in the file");
	w = go_profile();
	PUT(&w, 2, 1u, 7LL, 2u, 1LL);
	expect_refused(&w, "1 values, of 2 types");
	w = (struct wire){ .bytes = "\x1f\x8b\x08nonsense", .used = 11 };
	expect_refused(&w, "gzip");
	w = (struct wire){ .bytes = "\x1f\x8b\x08", .used = 3 };
	expect_refused(&w, "end in the middle");
}

/* Indices of strings that are not there are "", and ids of functions that are not there no name. */
TEST(dangling_numbers)
{
	struct wire w = go_profile(), location = numbers(1u, 20LL, 2u, 99LL, 0u);
	struct profile *p;

	PUT(&location, 4, 1u, 99LL);
	put_part(&w, 4, &location);
	PUT(&w, 5, 1u, 55LL, 2u, -5LL, 4u, 5000LL);
	PUT(&w, 2, 1u, 20LL, 2u, -1LL, 2u, -1LL);
	p = parsed(&w);
	assert_true(has_unnamed_frame(p));
	profile_destroy(p);
}

/* A location of a thousand lines, a thousand times in each of many samples. */
TEST(stacks_without_end)
{
	static struct wire w, location, sample;

	PUT(&w, 1, 1u, 1LL, 2u, 2LL);
	STRINGS(&w, "", "cpu", "nanoseconds");
	location = numbers(1u, 1LL, 0u);
	for (int i = 0; i < 900; i++)
		PUT(&location, 4, 1u, 1LL);
	put_part(&w, 4, &location);
	put_number(&sample, 2, 1);
	for (int i = 0; i < 1000; i++)
		put_number(&sample, 1, 1);
	put_part(&w, 2, &sample);
	expect_refused(&w, "longer than its size allows");
}

/* Two bytes each, of which a packed file has millions in some kilobytes. */
static void expect_too_many(unsigned field, size_t count, const char *message)
{
	static const char type[] = "\x0a\x04\x08\x01\x10\x02";
	size_t length = sizeof(type) - 1 + 2 * count;
	char *bytes = malloc(length);
	struct profile *profile = NULL;

	assert_non_null(bytes);
	memcpy(bytes, type, sizeof(type) - 1);
	for (size_t i = sizeof(type) - 1; i < length; i += 2) {
		bytes[i] = (char)(field << 3 | 2);
		bytes[i + 1] = 0;
	}
	expect_error(profile_parse_pprof((struct text){ bytes, length }, &profile), message);
	assert_null(profile);
	free(bytes);
}

TEST(parts_without_end)
{
	expect_too_many(2, 4000001, "more than 4000000 samples");
	expect_too_many(4, 4000001, "more than 4000000 locations");
	expect_too_many(6, 4000001, "more than 4000000 strings");
	expect_too_many(15, 4000001, "more than 4000000 parts of other kinds");
	/* One fewer is another matter: these have no value of the one type. */
	expect_too_many(2, 100000, "0 values, of 1 types");
}

/* Labels are in samples, where they are not counted: what they take is. */
TEST(labels_without_end)
{
	size_t count = 2000000, used = 0, most = 2 * count + 64;
	unsigned char *bytes = malloc(most);
	struct profile *profile = NULL;
	struct wire w = { .used = 0 };

	assert_non_null(bytes);
	PUT(&w, 1, 1u, 1LL, 2u, 2LL);
	put_varint(&w, 2 << 3 | 2);
	put_varint(&w, 2 * count);
	memcpy(bytes, w.bytes, w.used);
	for (used = w.used; count--; used += 2)
		memcpy(bytes + used, "\x1a", 2);
	expect_error(profile_parse_pprof((struct text){ (const char *)bytes, used }, &profile),
		     "bytes would take more than");
	assert_null(profile);
	free(bytes);
}

UNIT_TESTS(cmocka_unit_test(a_profile_of_cpu_time), cmocka_unit_test(modules_of_the_kernel),
	   cmocka_unit_test(labels_are_understood), cmocka_unit_test(types_of_others),
	   cmocka_unit_test(a_sum_does_not_count_twice), cmocka_unit_test(refused_files),
	   cmocka_unit_test(dangling_numbers), cmocka_unit_test(stacks_without_end),
	   cmocka_unit_test(parts_without_end), cmocka_unit_test(labels_without_end))
