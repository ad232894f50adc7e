/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <unistd.h>

#include "base/zstream.h"
#include "profile/files.h"
#include "unit/profile_scene.h"

static struct scratch scratch;

static int begin(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int end(void **state)
{
	(void)state;
	scratch_deinit(&scratch);
	return 0;
}

static void write_form(const char *name,
		       struct error *write(const struct profile *, json_sink, void *),
		       const struct profile *p)
{
	struct sunk sunk = { 0 };

	expect_ok(write(p, sunk_write, &sunk));
	scratch_write(&scratch, name, sunk_text(&sunk));
	array_deinit(&sunk);
}

static struct error *write_raw(const struct profile *p, json_sink sink, void *context)
{
	struct zstream_writer zstd;
	struct error *err = zstream_writer_init(&zstd, sink, context);

	if (!err)
		err = profile_write_json(p, zstream_write, &zstd);
	if (!err)
		err = zstream_finish(&zstd);
	zstream_writer_deinit(&zstd);
	return err;
}

static struct profile *loaded(const char *path)
{
	struct profile *p = NULL;

	expect_ok(profile_load(path, &p));
	return p;
}

/* Names of files say nothing. */
TEST(forms)
{
	struct profile *p = full_profile(1), *back;

	write_form("a", profile_write_json, p);
	write_form("b", write_raw, p);
	write_form("c", profile_write_pprof, p);
	scratch_write(&scratch, "d", TEXT("a;b 5\n"));
	scratch_write(&scratch, "e", TEXT("a 5"));
	scratch_write(&scratch, "f", TEXT("#"));
	for (const char *name = "a"; *name < 'c'; name = *name == 'a' ? "b" : "c") {
		back = loaded(scratch_path(&scratch, name));
		expect_same_profile(p, back);
		profile_destroy(back);
	}
	back = loaded(scratch_path(&scratch, "c"));
	assert_true(back->samples.count > 20);
	profile_destroy(back);
	back = loaded(scratch_path(&scratch, "d"));
	assert_int_equal(back->nodes.count, 2);
	profile_destroy(back);
	back = loaded(scratch_path(&scratch, "e"));
	assert_int_equal(back->samples.items[0].count, 5);
	profile_destroy(back);
	back = loaded(scratch_path(&scratch, "f"));
	assert_int_equal(back->samples.count, 0);
	profile_destroy(back);
	profile_destroy(p);
}

/* A pipe cannot be read twice, and may give its bytes one by one. */
TEST(standard_input)
{
	static const char *const files[] = { "a", "b" };
	struct profile *p = full_profile(1);

	write_form("a", profile_write_json, p);
	write_form("b", write_raw, p);
	for (size_t i = 0; i < array_length(files); i++) {
		int kept = dup(STDIN_FILENO), ends[2];
		char bytes[1 << 16];
		int file = open(scratch_path(&scratch, files[i]), O_RDONLY | O_CLOEXEC);
		ssize_t length = read(file, bytes, sizeof(bytes));
		struct profile *back;

		assert_true(length > 0 && (size_t)length < sizeof(bytes));
		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], bytes, (size_t)length), length);
		close(ends[1]);
		close(file);
		assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
		close(ends[0]);
		back = loaded("-");
		expect_same_profile(p, back);
		profile_destroy(back);
		assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
		close(kept);
	}
	profile_destroy(p);
}

static void expect_refused(struct text bytes, const char *message)
{
	struct profile *p = NULL;

	scratch_write(&scratch, "bad", bytes);
	expect_error(profile_load(scratch_path(&scratch, "bad"), &p), message);
	expect_error(profile_load(scratch_path(&scratch, "bad"), &p), "/bad: ");
	assert_null(p);
}

TEST(bad_files)
{
	struct profile *p = full_profile(1);
	struct sunk sunk = { 0 };

	expect_error(profile_load(scratch_path(&scratch, "absent"), &p), "No such file");
	expect_error(profile_load(scratch.path, &p), "Is a directory");
	expect_refused(TEXT(""), "the file is empty");
	expect_refused(TEXT("{"), "");
	expect_refused(TEXT("{}"), "not a profile");
	expect_refused(TEXT("\x7f"
			    "ELF"),
		       "line 1: expected");
	expect_refused(TEXT("\x28\xb5\x2f\xfd"), "the file ends in the middle");
	expect_refused(TEXT("\x1f\x8b"), "the gzip data end in the middle");
	expect_ok(write_raw(p, sunk_write, &sunk));
	expect_refused((struct text){ sunk.items, sunk.count / 2 }, "the file ends in the middle");
	sunk.items[sunk.count / 2] ^= 0x55;
	expect_refused(sunk_text(&sunk), "");
	array_deinit(&sunk);
	profile_destroy(p);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)
UNIT_TESTS(CASE(forms), CASE(standard_input), CASE(bad_files))
