/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

/* What is in the file: an array of numbers. */
struct numbers {
	ARRAY(uint64_t);
};

static struct error *take_number(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	uint64_t number;
	struct error *err = json_get_u64(value, key, &number);

	(void)r, (void)member;
	if (err)
		return err;
	return array_push((struct numbers *)target, number) ? NULL : &error_no_memory;
}

static const struct json_shape numbers_shape = { .each = take_number };

static struct error *take_root(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)member, (void)key;
	assert_string_equal(json_user(r), "user");
	if (value->type != JSON_ARRAY)
		return error_create("no numbers");
	json_enter(r, &numbers_shape, target);
	return NULL;
}

static struct error *read_file(const char *path, struct numbers *ret)
{
	static char user[] = "user";

	*ret = (struct numbers){ 0 };
	return json_file_read(path, take_root, ret, user);
}

static void fill(struct json_writer *w, const void *of)
{
	const struct numbers *numbers = of;

	json_array_begin(w);
	for (size_t i = 0; i < numbers->count; i++)
		json_u64(w, numbers->items[i]);
	json_array_end(w);
}

/* So many that it takes several pieces of the file, and of what is packed. */
static void make_numbers(struct numbers *numbers, size_t count)
{
	uint64_t stream = 1;

	*numbers = (struct numbers){ 0 };
	while (numbers->count < count)
		assert_true(array_push(numbers, next_random(&stream)));
}

static void expect_same(const struct numbers *a, const struct numbers *b)
{
	assert_int_equal(a->count, b->count);
	if (a->count)
		assert_memory_equal(a->items, b->items, a->count * sizeof(a->items[0]));
}

/* All bytes of it, in memory the caller frees. */
static struct text bytes_of(const struct scratch *scratch, const char *name)
{
	FILE *file = fopen(scratch_path(scratch, name), "re");
	char *bytes = malloc(1 << 22);
	size_t length;

	assert_non_null(file);
	assert_non_null(bytes);
	length = fread(bytes, 1, 1 << 22, file);
	fclose(file);
	return (struct text){ bytes, length };
}

TEST(packed)
{
	static const size_t counts[] = { 0, 1, 100, 100000 };
	struct scratch scratch;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(counts); i++) {
		struct numbers numbers, back;
		struct text bytes;

		make_numbers(&numbers, counts[i]);
		expect_ok(json_file_write(scratch_path(&scratch, "file"), fill, &numbers));
		assert_int_equal(scratch_count(&scratch), 1);
		bytes = bytes_of(&scratch, "file");
		/* The magic number of RFC 8878. */
		assert_memory_equal(bytes.bytes, "\x28\xb5\x2f\xfd", 4);
		unguard(bytes);
		expect_ok(read_file(scratch_path(&scratch, "file"), &back));
		expect_same(&numbers, &back);
		array_deinit(&numbers);
		array_deinit(&back);
	}
	scratch_deinit(&scratch);
}

static const struct {
	const char *text;
	size_t count;
} plain[] = {
	{ "[]", 0 },
	{ " []", 0 },
	{ "[1]", 1 },
	{ "[1,2,3]", 3 },
	{ "[\n]", 0 },
	{ "[1]\n\n", 1 },
	{ "[18446744073709551615]", 1 },
};

/* Also of fewer bytes than tell whether it is packed. */
TEST(plain_text)
{
	struct scratch scratch;
	struct numbers back;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(plain); i++) {
		scratch_write(&scratch, "file", text_of(plain[i].text));
		expect_ok(read_file(scratch_path(&scratch, "file"), &back));
		assert_int_equal(back.count, plain[i].count);
		array_deinit(&back);
	}
	scratch_deinit(&scratch);
}

TEST(long_plain_text)
{
	struct numbers numbers, back;
	struct scratch scratch;
	FILE *file;

	scratch_init(&scratch);
	make_numbers(&numbers, 50000);
	file = fopen(scratch_path(&scratch, "file"), "we");
	assert_non_null(file);
	for (size_t i = 0; i < numbers.count; i++)
		fprintf(file, "%c%llu", i ? ',' : '[', (unsigned long long)numbers.items[i]);
	fputc(']', file);
	assert_int_equal(fclose(file), 0);
	expect_ok(read_file(scratch_path(&scratch, "file"), &back));
	expect_same(&numbers, &back);
	array_deinit(&numbers);
	array_deinit(&back);
	scratch_deinit(&scratch);
}

/* --- standard input --- */

/* What is read from there, byte by byte in pieces of a pipe. */
static struct error *read_piped(struct text bytes, struct numbers *ret)
{
	int before = dup(STDIN_FILENO), ends[2];
	struct error *err;

	assert_true(before >= 0 && pipe(ends) == 0);
	assert_int_equal(write(ends[1], bytes.bytes, bytes.length), bytes.length);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	err = read_file("-", ret);
	/* It is not ours to close. */
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	dup2(before, STDIN_FILENO);
	close(before);
	return err;
}

TEST(standard_input)
{
	struct numbers numbers, back;
	struct scratch scratch;
	struct text bytes;

	scratch_init(&scratch);
	make_numbers(&numbers, 1000);
	expect_ok(json_file_write(scratch_path(&scratch, "file"), fill, &numbers));
	bytes = bytes_of(&scratch, "file");
	expect_ok(read_piped(bytes, &back));
	expect_same(&numbers, &back);
	array_deinit(&back);
	expect_ok(read_piped(TEXT("[4,5]"), &back));
	assert_int_equal(back.count, 2);
	array_deinit(&back);
	expect_error(read_piped(TEXT(""), &back), "standard input: the file is empty");
	expect_error(read_piped(TEXT("7"), &back), "standard input: ");
	unguard(bytes);
	array_deinit(&numbers);
	scratch_deinit(&scratch);
}

/* --- what is wrong with it --- */

static const struct {
	const char *text, *message;
} broken[] = {
	{ "", "file: the file is empty" },
	{ "7", "file: " },
	{ "{}", "no numbers" },
	{ "[", "file: " },
	{ "[1", "file: " },
	{ "[1]x", "file: " },
	{ "[1][2]", "file: " },
	{ "[\"x\"]", "expected an integer" },
	{ "\x28\xb5\x2f", "file: " },
	{ "\x28\xb5\x2f\xfd", "file: " },
	{ "\x28\xb5\x2f\xfd garbage", "file: " },
	{ "\xff\xfe\xfd\xfc", "file: " },
};

TEST(broken_files)
{
	struct scratch scratch;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(broken); i++) {
		struct numbers back;

		scratch_write(&scratch, "file", text_of(broken[i].text));
		expect_error(read_file(scratch_path(&scratch, "file"), &back), broken[i].message);
		array_deinit(&back);
	}
	scratch_deinit(&scratch);
}

/* Of a packed file: no part of it is one, nor what has another bit with other numbers. */
TEST(broken_packing)
{
	struct numbers numbers, back;
	struct scratch scratch;
	unsigned refused = 0;
	struct error *err;
	struct text bytes;

	scratch_init(&scratch);
	make_numbers(&numbers, 40);
	expect_ok(json_file_write(scratch_path(&scratch, "file"), fill, &numbers));
	bytes = bytes_of(&scratch, "file");
	for (size_t length = 0; length < bytes.length; length += 1 + length / 20) {
		scratch_write(&scratch, "part", (struct text){ bytes.bytes, length });
		expect_error(read_file(scratch_path(&scratch, "part"), &back), "part: ");
		array_deinit(&back);
	}
	for (size_t at = 4; at < bytes.length; at += 1 + at / 20) {
		((char *)(uintptr_t)bytes.bytes)[at] ^= 1;
		scratch_write(&scratch, "bent", bytes);
		/* There are bits that say nothing of the numbers: how large the window is. */
		err = read_file(scratch_path(&scratch, "bent"), &back);
		refused += !!err;
		if (err)
			expect_error(err, "bent: ");
		else
			expect_same(&numbers, &back);
		array_deinit(&back);
		((char *)(uintptr_t)bytes.bytes)[at] ^= 1;
	}
	assert_in_range(refused, 50, 500);
	unguard(bytes);
	array_deinit(&numbers);
	scratch_deinit(&scratch);
}

TEST(unreadable_files)
{
	struct scratch scratch;
	struct numbers back;
	struct error *err;

	scratch_init(&scratch);
	err = read_file(scratch_path(&scratch, "none"), &back);
	assert_true(err && err->errnum == ENOENT);
	expect_error(err, "none: No such file or directory");
	err = read_file(scratch.path, &back);
	assert_true(err && err->errnum == EISDIR);
	expect_error(err, "Is a directory");
	make_numbers(&back, 3);
	expect_error(json_file_write(scratch_path(&scratch, "no/file"), fill, &back),
		     "/no: No such file");
	array_deinit(&back);
	assert_int_equal(scratch_count(&scratch), 0);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(packed), cmocka_unit_test(plain_text),
	   cmocka_unit_test(long_plain_text), cmocka_unit_test(standard_input),
	   cmocka_unit_test(broken_files), cmocka_unit_test(broken_packing),
	   cmocka_unit_test(unreadable_files))
