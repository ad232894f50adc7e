/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit/unit.h"

/* 2026-11-20 12:30:05.250 UTC. */
#define NOON UINT64_C(1795177805250)

TEST(names_have_their_time)
{
	static const struct {
		uint64_t at_ms;
		const char *name;
	} names[] = {
		{ 0, "19700101T000000.000Z.ctprof.zst" },
		{ NOON, "20261120T123005.250Z.ctprof.zst" },
		{ UINT64_C(951782399999), "20000228T235959.999Z.ctprof.zst" },
		{ UINT64_C(253402300799999), "99991231T235959.999Z.ctprof.zst" },
	};
	char name[RECORDING_NAME_SIZE];
	uint64_t at_ms;

	for (size_t i = 0; i < array_length(names); i++) {
		struct text text = guarded(names[i].name, strlen(names[i].name));

		recording_name(name, names[i].at_ms);
		assert_string_equal(name, names[i].name);
		assert_true(recording_parse_name(text, &at_ms));
		assert_int_equal(at_ms, names[i].at_ms);
		unguard(text);
	}
	recording_name(name, UINT64_MAX);
	assert_true(recording_parse_name(text_of(name), &at_ms));
}

TEST(other_names)
{
	static const char *const others[] = {
		"",
		"host-20261120T123005Z.ctprof.zst",
		"20261120T123005Z.ctprof.zst",
		"20261120T123005.25Z.ctprof.zst",
		"20261120T123005.2500Z.ctprof.zst",
		"20261120T123005.250Z.ctprof.zsT",
		"20261120t123005.250Z.ctprof.zst",
		"20261120T123005,250Z.ctprof.zst",
		"20261120T123060.250Z.ctprof.zst",
		"20261120T243005.250Z.ctprof.zst",
		"20261131T123005.250Z.ctprof.zst",
		"20261320T123005.250Z.ctprof.zst",
		"20261120T123005.+25Z.ctprof.zst",
		"19691120T123005.250Z.ctprof.zst",
		".20261120T123005.250Z.ctprof.zst.17.tmp",
	};
	uint64_t at_ms = 42;

	for (size_t i = 0; i < array_length(others); i++)
		if (recording_parse_name(text_of(others[i]), &at_ms))
			fail_msg("'%s' is one", others[i]);
	assert_int_equal(at_ms, 42);
}

/* Captures of `size` bytes each at NOON, and a second, two, ... later. */
static void record_some(struct recording *recording, size_t count, size_t size)
{
	char bytes[100] = "";

	for (size_t i = 0; i < count; i++)
		expect_ok(recording_add(recording, NOON + i * 1000, (struct text){ bytes, size }));
}

TEST(added_captures_exist)
{
	struct recording recording, again;
	struct scratch scratch;
	struct stat st;

	scratch_init(&scratch);
	expect_ok(recording_create(scratch_path(&scratch, "r"), &recording));
	assert_int_equal(stat(scratch_path(&scratch, "r"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	expect_ok(recording_add(&recording, NOON, TEXT("one")));
	/* Somebody set the clock back. */
	expect_ok(recording_add(&recording, NOON, TEXT("three")));
	assert_true(scratch_holds(&scratch, "r/20261120T123005.250Z.ctprof.zst", TEXT("one")));
	assert_true(scratch_holds(&scratch, "r/20261120T123005.251Z.ctprof.zst", TEXT("three")));
	expect_ok(recording_open(scratch_path(&scratch, "r"), &again));
	assert_int_equal(again.captures.count, 2);
	assert_int_equal(again.captures.size, 8);
	assert_int_equal(again.captures.items[0].at_ms, NOON);
	assert_int_equal(again.captures.items[1].size, 5);
	recording_close(&again);
	recording_close(&recording);
	/* One that is there is gone on with. */
	expect_ok(recording_create(scratch_path(&scratch, "r"), &recording));
	assert_int_equal(recording.captures.count, 2);
	recording_close(&recording);
	scratch_deinit(&scratch);
}

/* Files of another kind have the same names but for their ends, and neither sees the other. */
TEST(other_files_are_in_a_recording_of_their_own)
{
	struct recording snapshots, profiles;
	struct scratch scratch;
	size_t removed;

	scratch_init(&scratch);
	expect_ok(recording_create(scratch_path(&scratch, "r"), &snapshots));
	expect_ok(recording_add(&snapshots, NOON, TEXT("snapshot")));
	for (unsigned i = 0; i < 2; i++) {
		expect_ok(recording_create_of(scratch_path(&scratch, "r"), ".pb.gz", &profiles));
		assert_int_equal(profiles.captures.count, i);
		expect_ok(recording_add(&profiles, NOON + i, TEXT("profile")));
		recording_close(&profiles);
	}
	assert_true(scratch_holds(&scratch, "r/20261120T123005.250Z.pb.gz", TEXT("profile")));
	expect_ok(recording_create_of(scratch_path(&scratch, "r"), ".pb.gz", &profiles));
	expect_ok(recording_prune(&profiles, &(struct keep){ .bytes = 1 }, NOON, &removed));
	assert_int_equal(removed, 1);
	assert_true(scratch_holds(&scratch, "r/20261120T123005.251Z.pb.gz", TEXT("profile")));
	assert_true(scratch_holds(&scratch, "r/20261120T123005.250Z.ctprof.zst", TEXT("snapshot")));
	recording_close(&profiles);
	recording_close(&snapshots);
	scratch_deinit(&scratch);
}

TEST(room_on_the_disk_is_left)
{
	struct recording recording;
	struct scratch scratch;
	struct error *err;
	size_t removed = 0;

	scratch_init(&scratch);
	expect_ok(recording_create(scratch_path(&scratch, "r"), &recording));
	expect_ok(recording_add(&recording, NOON, TEXT("one")));
	expect_ok(recording_add(&recording, NOON, TEXT("two")));
	/* More than any disk has free. */
	recording.spared_percent = 101;
	err = recording_add_within(&recording, &(struct keep){ 0 }, NOON, TEXT("x"), &removed);
	assert_non_null(err);
	assert_int_equal(err->errnum, ENOSPC);
	error_destroy(err);
	assert_int_equal(removed, 0);
	err = recording_add_within(&recording, &(struct keep){ .bytes = 100 }, NOON, TEXT("x"),
				   &removed);
	assert_non_null(err);
	error_destroy(err);
	assert_int_equal(removed, 1);
	assert_int_equal(recording.captures.count, 1);
	recording_close(&recording);
	scratch_deinit(&scratch);
}

/* Who moves a recording away and makes another in its place has both as they are. */
TEST(a_directory_that_is_moved_stays_the_recording)
{
	struct recording recording;
	struct scratch scratch;
	size_t removed;

	scratch_init(&scratch);
	expect_ok(recording_create(scratch_path(&scratch, "a"), &recording));
	record_some(&recording, 2, 10);
	assert_int_equal(renameat(scratch.dir, "a", scratch.dir, "b"), 0);
	assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
	scratch_write(&scratch, "a/20261120T123005.250Z.ctprof.zst", TEXT("another's"));
	expect_ok(recording_add(&recording, NOON + 2000, TEXT("third")));
	expect_ok(recording_sync(&recording));
	assert_true(scratch_holds(&scratch, "b/20261120T123007.250Z.ctprof.zst", TEXT("third")));
	assert_int_equal(faccessat(scratch.dir, "a/20261120T123007.250Z.ctprof.zst", F_OK, 0), -1);
	expect_ok(recording_prune(&recording, &(struct keep){ .bytes = 1 }, NOON, &removed));
	assert_int_equal(removed, 2);
	assert_int_equal(faccessat(scratch.dir, "b/20261120T123005.250Z.ctprof.zst", F_OK, 0), -1);
	assert_true(
		scratch_holds(&scratch, "a/20261120T123005.250Z.ctprof.zst", TEXT("another's")));
	recording_close(&recording);
	scratch_deinit(&scratch);
}

TEST(others_are_left_alone)
{
	struct recording recording;
	struct scratch scratch;
	size_t removed;

	scratch_init(&scratch);
	scratch_write(&scratch, "notes", TEXT("mine"));
	scratch_write(&scratch, "20261120T123005Z.ctprof.zst", TEXT("mine"));
	assert_int_equal(mkdirat(scratch.dir, "20261120T123005.250Z.ctprof.zst", 0700), 0);
	expect_ok(recording_create(scratch.path, &recording));
	assert_int_equal(recording.captures.count, 0);
	record_some(&recording, 3, 10);
	assert_int_equal(scratch_count(&scratch), 6);
	expect_ok(recording_prune(&recording, &(struct keep){ .bytes = 1 }, NOON, &removed));
	assert_int_equal(removed, 2);
	assert_int_equal(scratch_count(&scratch), 4);
	recording_close(&recording);
	assert_true(scratch_holds(&scratch, "notes", TEXT("mine")));
	assert_true(scratch_holds(&scratch, "20261120T123005Z.ctprof.zst", TEXT("mine")));
	scratch_deinit(&scratch);
}

TEST(retention_by_age_and_size)
{
	struct recording recording;
	struct scratch scratch;
	size_t removed;

	scratch_init(&scratch);
	expect_ok(recording_create(scratch.path, &recording));
	record_some(&recording, 10, 100);
	expect_ok(recording_prune(&recording, &(struct keep){ 0 }, NOON + 9000, &removed));
	assert_int_equal(removed, 0);
	expect_ok(recording_prune(&recording, &(struct keep){ .age_ms = 7000 }, NOON + 9000,
				  &removed));
	assert_int_equal(removed, 2);
	assert_int_equal(faccessat(scratch.dir, "20261120T123006.250Z.ctprof.zst", F_OK, 0), -1);
	assert_int_equal(faccessat(scratch.dir, "20261120T123007.250Z.ctprof.zst", F_OK, 0), 0);
	expect_ok(recording_prune(&recording, &(struct keep){ .age_ms = 7000, .bytes = 350 },
				  NOON + 9000, &removed));
	assert_int_equal(removed, 5);
	assert_int_equal(scratch_count(&scratch), 3);
	/* What somebody else removed is not counted, and no failure. */
	assert_int_equal(unlinkat(scratch.dir, "20261120T123012.250Z.ctprof.zst", 0), 0);
	expect_ok(recording_remove_oldest(&recording, 2, &removed));
	assert_int_equal(removed, 1);
	assert_int_equal(recording.captures.count, 1);
	recording_close(&recording);
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_deinit(&scratch);
}

TEST(where_nothing_can_be_written)
{
	struct recording recording;
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT(""));
	expect_error(recording_create(scratch_path(&scratch, "file"), &recording),
		     "Not a directory");
	expect_error(recording_create(scratch_path(&scratch, "no/where"), &recording),
		     "No such file");
	expect_error(recording_open(scratch_path(&scratch, "none"), &recording), "No such file");
	/* The directory goes while it is recorded to. */
	expect_ok(recording_create(scratch_path(&scratch, "r"), &recording));
	assert_int_equal(rmdir(scratch_path(&scratch, "r")), 0);
	expect_error(recording_add(&recording, NOON, TEXT("x")), "No such file");
	assert_int_equal(recording.captures.count, 0);
	recording_close(&recording);
	scratch_deinit(&scratch);
}

/* --- what users write --- */

/* The name in the scratch directory that `snapshot` there means. */
static void expect_found(const struct scratch *scratch, const char *snapshot, const char *wanted)
{
	char *found;

	expect_ok(recording_find(scratch_path(scratch, snapshot), &found));
	assert_string_equal(found, scratch_path(scratch, wanted));
	free(found);
}

TEST(a_capture_is_picked_by_time)
{
	struct recording recording;
	struct scratch scratch;
	char *found = NULL;

	scratch_init(&scratch);
	expect_ok(recording_create(scratch_path(&scratch, "r"), &recording));
	record_some(&recording, 4, 1);
	recording_close(&recording);
	expect_found(&scratch, "r", "r/20261120T123008.250Z.ctprof.zst");
	expect_found(&scratch, "r/", "r/20261120T123008.250Z.ctprof.zst");
	expect_found(&scratch, "r@last", "r/20261120T123008.250Z.ctprof.zst");
	expect_found(&scratch, "r@first", "r/20261120T123005.250Z.ctprof.zst");
	expect_found(&scratch, "r@12:30:06Z", "r/20261120T123006.250Z.ctprof.zst");
	expect_found(&scratch, "r@-2s", "r/20261120T123006.250Z.ctprof.zst");
	/* A file is itself, and so is what is not there. */
	expect_found(&scratch, "r/20261120T123006.250Z.ctprof.zst",
		     "r/20261120T123006.250Z.ctprof.zst");
	expect_found(&scratch, "none@first", "none@first");
	expect_ok(recording_find("-", &found));
	assert_string_equal(found, "-");
	free(found);
	expect_error(recording_find(scratch_path(&scratch, "r@12:29Z"), &found),
		     "/r@12:29Z: too early: this recording covers 2026-11-20T12:30:05.250Z");
	expect_error(recording_find(scratch_path(&scratch, "r@noon"), &found),
		     "/r@noon: invalid time 'noon'");
	expect_error(recording_find(scratch_path(&scratch, "r@"), &found), "invalid time ''");
	scratch_deinit(&scratch);
}

TEST(an_existing_path_with_an_at_is_itself)
{
	struct recording recording;
	struct scratch scratch;
	char *found = NULL;

	scratch_init(&scratch);
	scratch_write(&scratch, "r@first", TEXT("a file"));
	expect_ok(recording_create(scratch_path(&scratch, "r"), &recording));
	record_some(&recording, 2, 1);
	recording_close(&recording);
	expect_found(&scratch, "r@first", "r@first");
	expect_ok(recording_create(scratch_path(&scratch, "r@last"), &recording));
	expect_error(recording_find(scratch_path(&scratch, "r@last"), &found),
		     "no captures in this directory");
	record_some(&recording, 2, 1);
	recording_close(&recording);
	expect_found(&scratch, "r@last", "r@last/20261120T123006.250Z.ctprof.zst");
	expect_found(&scratch, "r@last@first", "r@last/20261120T123005.250Z.ctprof.zst");
	scratch_deinit(&scratch);
}

TEST(the_span_of_a_recording)
{
	char *from = NULL, *to = NULL, wanted[200];
	struct scratch scratch;

	scratch_init(&scratch);
	expect_ok(recording_span(scratch.path, &from, &to));
	snprintf(wanted, sizeof(wanted), "%s@first", scratch.path);
	assert_string_equal(from, wanted);
	snprintf(wanted, sizeof(wanted), "%s@last", scratch.path);
	assert_string_equal(to, wanted);
	free(from);
	free(to);
	snprintf(wanted, sizeof(wanted), "%s@-5m", scratch.path);
	expect_ok(recording_span(wanted, &from, &to));
	assert_string_equal(from, wanted);
	free(from);
	free(to);
	expect_ok(recording_span(scratch_path(&scratch, "none"), &from, &to));
	assert_null(from);
	assert_null(to);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(names_have_their_time), cmocka_unit_test(other_names),
	   cmocka_unit_test(added_captures_exist),
	   cmocka_unit_test(other_files_are_in_a_recording_of_their_own),
	   cmocka_unit_test(room_on_the_disk_is_left),
	   cmocka_unit_test(a_directory_that_is_moved_stays_the_recording),
	   cmocka_unit_test(others_are_left_alone), cmocka_unit_test(retention_by_age_and_size),
	   cmocka_unit_test(where_nothing_can_be_written),
	   cmocka_unit_test(a_capture_is_picked_by_time),
	   cmocka_unit_test(an_existing_path_with_an_at_is_itself),
	   cmocka_unit_test(the_span_of_a_recording))
