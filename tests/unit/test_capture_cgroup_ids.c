/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_ids.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "capture/session.h"
#include "unit/build.h"

/* A /proc with the cgroups of threads, and a hierarchy beside it in which /a and /b are. */
static struct {
	struct scratch scratch;
	struct capturer capturer;
	struct capture capture;
} * scene;

static void make_dir(const char *name)
{
	assert_int_equal(mkdir(scratch_path(&scene->scratch, name), 0700), 0);
}

static int open_dir(const char *name)
{
	return open(scratch_path(&scene->scratch, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put_thread(const char *file, const char *cgroup)
{
	char line[64];

	snprintf(line, sizeof(line), "0::%s\n", cgroup);
	scratch_write(&scene->scratch, file, text_of(line));
}

static uint64_t id_of(const char *name)
{
	struct stat status;

	assert_int_equal(stat(scratch_path(&scene->scratch, name), &status), 0);
	return status.st_ino;
}

static int set(void **state)
{
	static const char *const dirs[] = { "proc",   "proc/10",  "proc/11",
					    "groups", "groups/a", "groups/b" };

	(void)state;
	scene = calloc(1, sizeof(*scene));
	scratch_init(&scene->scratch);
	for (size_t i = 0; i < array_length(dirs); i++)
		make_dir(dirs[i]);
	put_thread("proc/10/cgroup", "/a");
	put_thread("proc/11/cgroup", "/b");
	scene->capture = (struct capture){ .capturer = &scene->capturer,
					   .snapshot = build_snapshot(),
					   .proc = open_dir("proc"),
					   .cgroups.dir = open_dir("groups") };
	return 0;
}

static int clear(void **state)
{
	(void)state;
	close(scene->capture.proc);
	if (scene->capture.cgroups.dir >= 0)
		close(scene->capture.cgroups.dir);
	file_buffer_deinit(&scene->capture.buffer);
	cgroup_ids_deinit(&scene->capturer.cgroup_ids);
	snapshot_destroy(scene->capture.snapshot);
	scratch_deinit(&scene->scratch);
	free(scene);
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set, clear)

static void expect_path(uint64_t id, uint32_t tid, const char *wanted)
{
	const struct name *path = cgroup_ids_path(&scene->capture, id, tid);

	assert_non_null(path);
	assert_string_equal(path->bytes, wanted);
}

TEST(a_path_is_read_once)
{
	expect_path(id_of("groups/a"), 10, "/a");
	expect_path(id_of("groups/b"), 11, "/b");
	/* Whatever its file says now, or if it is gone. */
	put_thread("proc/10/cgroup", "/b");
	expect_path(id_of("groups/a"), 10, "/a");
	expect_path(id_of("groups/a"), 999, "/a");
}

TEST(a_thread_that_was_moved_speaks_for_itself)
{
	/* The iterator saw it in /a, and its file is read when it is in /b. */
	put_thread("proc/10/cgroup", "/b");
	expect_path(id_of("groups/a"), 10, "/b");
	put_thread("proc/11/cgroup", "/a");
	expect_path(id_of("groups/a"), 11, "/a");
	put_thread("proc/11/cgroup", "/b");
	expect_path(id_of("groups/a"), 11, "/a");
}

TEST(a_cgroup_that_is_gone_is_not_remembered)
{
	put_thread("proc/10/cgroup", "/gone (deleted)");
	expect_path(12345, 10, "/gone (deleted)");
	put_thread("proc/11/cgroup", "/gone");
	expect_path(12345, 11, "/gone");
}

TEST(a_thread_that_is_gone_has_no_path)
{
	expect_path(id_of("groups/a"), 999, "");
	expect_path(id_of("groups/a"), 10, "/a");
}

TEST(without_a_hierarchy_nothing_speaks_against_a_path)
{
	close(scene->capture.cgroups.dir);
	scene->capture.cgroups.dir = -1;
	expect_path(7, 10, "/a");
	put_thread("proc/10/cgroup", "/b");
	expect_path(7, 10, "/a");
}

TEST(paths_live_longer_than_a_snapshot)
{
	struct ctprof_snapshot *first = scene->capture.snapshot;

	expect_path(id_of("groups/a"), 10, "/a");
	scene->capture.snapshot = build_snapshot();
	snapshot_destroy(first);
	scene->capturer.taken++;
	cgroup_ids_begin(&scene->capture);
	put_thread("proc/10/cgroup", "/b");
	expect_path(id_of("groups/a"), 10, "/a");
}

/* It may have been a thread that was moved just then. */
TEST(without_a_hierarchy_a_path_holds_for_one_capture)
{
	close(scene->capture.cgroups.dir);
	scene->capture.cgroups.dir = -1;
	expect_path(7, 10, "/a");
	scene->capturer.taken++;
	cgroup_ids_begin(&scene->capture);
	put_thread("proc/10/cgroup", "/b");
	expect_path(7, 10, "/b");
}

UNIT_TESTS(CASE(without_a_hierarchy_a_path_holds_for_one_capture), CASE(a_path_is_read_once),
	   CASE(a_thread_that_was_moved_speaks_for_itself),
	   CASE(a_cgroup_that_is_gone_is_not_remembered), CASE(a_thread_that_is_gone_has_no_path),
	   CASE(without_a_hierarchy_nothing_speaks_against_a_path),
	   CASE(paths_live_longer_than_a_snapshot))
