/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profile/profile.h"
#include "unit/unit.h"

#define STRANGER 12345

struct scene {
	struct scratch scratch;
	struct profile *profile;
	struct kept *kept;
};

static void scene_init(struct scene *s)
{
	scratch_init(&s->scratch);
	expect_ok(profile_create(&s->profile));
	s->kept = kept_create();
	assert_non_null(s->kept);
}

static void scene_deinit(struct scene *s)
{
	kept_release(s->kept);
	profile_destroy(s->profile);
	scratch_deinit(&s->scratch);
}

/* Number N has N in its build-id. */
static struct profile_mapping mapping_of(const struct scene *s, uint8_t kind, uint16_t number)
{
	struct profile_mapping mapping = {
		.start = 4096,
		.end = 8192,
		.path = profile_name(s->profile, "/file", 5),
		.build_id_length = 4,
		.build_id = { kind, 0x55, (uint8_t)(number >> 8), (uint8_t)number },
	};

	assert_non_null(mapping.path);
	return mapping;
}

static void keep(const struct scene *s, uint32_t pid, const struct profile_mapping *mapping,
		 const char *bytes, uid_t owner)
{
	int fd;

	scratch_write(&s->scratch, "file", text_of(bytes));
	fd = open(scratch_path(&s->scratch, "file"), O_RDONLY);
	assert_true(fd >= 0);
	if (owner != geteuid())
		assert_int_equal(fchown(fd, owner, owner), 0);
	assert_int_equal(unlink(scratch_path(&s->scratch, "file")), 0);
	kept_add_file(s->kept, pid, mapping, fd);
	close(fd);
}

/* The file that is kept has these bytes; NULL: there is none. */
static void expect_kept(const struct scene *s, uint32_t pid, const struct profile_mapping *mapping,
			const char *bytes)
{
	int fd = kept_open_file(s->kept, pid, mapping);
	char read_bytes[16] = "";

	if (bytes) {
		assert_true(fd >= 0);
		assert_true(pread(fd, read_bytes, sizeof(read_bytes) - 1, 0) >= 0);
		assert_string_equal(read_bytes, bytes);
		close(fd);
	} else {
		assert_int_equal(fd, -1);
	}
}

TEST(a_deleted_file_is_kept_by_its_build_id)
{
	const uint32_t pid = (uint32_t)getpid();
	struct scene s;
	struct profile_mapping one, two, longer;

	scene_init(&s);
	one = mapping_of(&s, 1, 1);
	two = mapping_of(&s, 1, 2);
	longer = one;
	longer.build_id_length++;
	keep(&s, pid, &one, "one", geteuid());
	expect_kept(&s, pid, &one, "one");
	expect_kept(&s, pid + 1, &one, "one");
	expect_kept(&s, pid, &two, NULL);
	expect_kept(&s, pid, &longer, NULL);
	scene_deinit(&s);
}

/* He may have written that of another file into it. */
TEST(a_build_id_of_another_user_is_that_of_his_process_alone)
{
	const uint32_t pid = (uint32_t)getpid();
	struct profile_mapping mapping;
	struct scene s;

	if (geteuid())
		skip();
	scene_init(&s);
	mapping = mapping_of(&s, 1, 1);
	keep(&s, pid, &mapping, "his", STRANGER);
	expect_kept(&s, pid, &mapping, "his");
	expect_kept(&s, pid + 1, &mapping, NULL);
	scene_deinit(&s);
}

TEST(without_a_build_id_the_inode_and_the_path_count)
{
	struct profile_mapping mapping, other;
	struct scene s;

	scene_init(&s);
	mapping = (struct profile_mapping){
		.path = profile_name(s.profile, "/file", 5), .inode = 7, .major = 8, .minor = 1
	};
	keep(&s, 1, &mapping, "file", geteuid());
	expect_kept(&s, 2, &mapping, "file");
	other = mapping;
	other.minor = 2;
	expect_kept(&s, 2, &other, NULL);
	other = mapping;
	other.path = profile_name(s.profile, "/other", 6);
	expect_kept(&s, 2, &other, NULL);
	other = mapping;
	other.inode = 0;
	expect_kept(&s, 2, &other, NULL);
	scene_deinit(&s);
}

static size_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Those that a file system is told of when they are closed, and may let us wait. */
static size_t open_files(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 1024; fd++) {
		const int flags = fcntl(fd, F_GETFL);

		count += flags >= 0 && !(flags & O_PATH);
	}
	return count;
}

TEST(nothing_that_is_held_can_make_us_wait)
{
	struct profile_mapping mapping;
	struct scene s;
	size_t before;

	scene_init(&s);
	before = open_files();
	mapping = mapping_of(&s, 1, 1);
	keep(&s, 1, &mapping, "file", geteuid());
	assert_int_equal(kept_count(s.kept), 1);
	assert_int_equal(open_files(), before);
	scene_deinit(&s);
}

static pid_t start_stranger(void)
{
	pid_t pid = fork();
	char path[32];
	struct stat stat;

	if (!pid) {
		if (setresuid(STRANGER, STRANGER, STRANGER))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	do
		assert_int_equal(lstat(path, &stat), 0);
	while (stat.st_uid != STRANGER);
	return pid;
}

TEST(the_number_of_descriptors_is_bounded)
{
	const size_t before = descriptors();
	struct profile_mapping first, last;
	struct scene s;

	scene_init(&s);
	first = mapping_of(&s, 1, 0);
	for (uint16_t i = 0; i < KEPT_FILES_MAX + 10; i++) {
		last = mapping_of(&s, 1, i);
		keep(&s, 1, &last, "ours", geteuid());
	}
	assert_true(kept_count(s.kept) <= KEPT_FILES_MAX);
	assert_true(descriptors() <= before + KEPT_FILES_MAX + 1);
	expect_kept(&s, 1, &first, NULL);
	expect_kept(&s, 1, &last, "ours");
	scene_deinit(&s);
	assert_int_equal(descriptors(), before);
}

TEST(a_user_takes_the_places_of_no_other)
{
	struct profile_mapping ours;
	struct scene s;
	pid_t stranger;

	if (geteuid())
		skip();
	scene_init(&s);
	ours = mapping_of(&s, 1, 1);
	keep(&s, 1, &ours, "ours", 0);
	stranger = start_stranger();
	for (uint16_t i = 0; i < KEPT_FILES_MAX + 10; i++) {
		const struct profile_mapping his = mapping_of(&s, 2, i);

		keep(&s, (uint32_t)stranger, &his, "his", STRANGER);
	}
	assert_true(kept_count(s.kept) <= KEPT_FILES_MAX / 8 + 1);
	expect_kept(&s, 1, &ours, "ours");
	kill(stranger, SIGKILL);
	assert_int_equal(waitpid(stranger, NULL, 0), stranger);
	scene_deinit(&s);
}

TEST(processes_have_their_root)
{
	struct kept_process put = { .number = 7, .user = 3, .root = open("/proc", O_PATH) }, found;
	struct stat there, here;
	struct scene s;

	scene_init(&s);
	assert_false(kept_find_process(s.kept, 1, &found));
	for (uint32_t pid = 0; pid < KEPT_PROCESSES_MAX + 10; pid++)
		kept_add_process(s.kept, pid, &put);
	/* All of them have the same. */
	assert_int_equal(kept_count(s.kept), 1);
	/* The first have made room for the last. */
	assert_false(kept_find_process(s.kept, 9, &found));
	assert_true(kept_find_process(s.kept, 10, &found));
	close(found.root);
	assert_true(kept_find_process(s.kept, KEPT_PROCESSES_MAX + 9, &found));
	close(found.root);
	put.number = 8;
	kept_add_process(s.kept, 1, &put);
	assert_true(kept_find_process(s.kept, 1, &found));
	assert_int_equal(found.number, 8);
	assert_int_equal(found.user, 3);
	assert_int_equal(fstat(found.root, &there), 0);
	assert_int_equal(stat("/proc", &here), 0);
	assert_int_equal(there.st_dev, here.st_dev);
	close(found.root);
	close(put.root);
	scene_deinit(&s);
}

TEST(roots_make_room)
{
	struct kept_process put = { .number = 7 }, found;
	struct scene s;
	char name[32];

	scene_init(&s);
	for (uint32_t i = 0; i <= KEPT_ROOTS_MAX; i++) {
		snprintf(name, sizeof(name), "root-%u", i);
		scratch_write(&s.scratch, name, text_of(name));
		put.root = open(scratch_path(&s.scratch, name), O_PATH);
		kept_add_process(s.kept, i, &put);
		close(put.root);
	}
	assert_int_equal(kept_count(s.kept), KEPT_ROOTS_MAX);
	assert_false(kept_find_process(s.kept, 0, &found));
	for (uint32_t i = 1; i <= KEPT_ROOTS_MAX; i++) {
		assert_true(kept_find_process(s.kept, i, &found));
		close(found.root);
	}
	scene_deinit(&s);
}

UNIT_TESTS(cmocka_unit_test(a_deleted_file_is_kept_by_its_build_id),
	   cmocka_unit_test(a_build_id_of_another_user_is_that_of_his_process_alone),
	   cmocka_unit_test(without_a_build_id_the_inode_and_the_path_count),
	   cmocka_unit_test(the_number_of_descriptors_is_bounded),
	   cmocka_unit_test(nothing_that_is_held_can_make_us_wait),
	   cmocka_unit_test(a_user_takes_the_places_of_no_other),
	   cmocka_unit_test(processes_have_their_root), cmocka_unit_test(roots_make_room))
