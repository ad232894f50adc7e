/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/throttle.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "os/cgroup.h"
#include "os/cgroup_tree.h"
#include "os/pairs.h"

static bool read_number(struct text file, const char *key, uint64_t *ret)
{
	struct text value;

	return pairs_find(file, ' ', text_of(key), &value) && text_u64(value, ret);
}

/* "20000 100000"; "max ..." is no quota. */
static bool read_quota(int dir, const char *directory, struct file_buffer *buffer,
		       struct throttle_level *ret)
{
	char path[THROTTLE_PATH + 16];
	struct text bytes, quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", directory);
	return !file_read(dir, path, buffer, &bytes) && text_word(&bytes, &quota) &&
	       text_word(&bytes, &period) && text_u64(quota, &ret->quota_us) &&
	       text_u64(period, &ret->period_us) && ret->period_us;
}

/* Of version 1: a number in a file of its own, which is -1 where there is none. */
static bool read_quota_v1(int dir, const char *directory, struct file_buffer *buffer,
			  struct throttle_level *ret)
{
	char path[THROTTLE_PATH + 32];
	struct text bytes;

	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", directory);
	if (file_read(dir, path, buffer, &bytes) || !text_u64(text_trim(bytes), &ret->quota_us))
		return false;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", directory);
	return !file_read(dir, path, buffer, &bytes) &&
	       text_u64(text_trim(bytes), &ret->period_us) && ret->period_us;
}

static bool read_level(int dir, bool is_v1, const char *directory, struct file_buffer *buffer,
		       struct throttle_level *ret)
{
	char path[THROTTLE_PATH + 16];
	struct text bytes;

	if (!(is_v1 ? read_quota_v1 : read_quota)(dir, directory, buffer, ret))
		return false;
	snprintf(path, sizeof(path), "%s/cpu.stat", directory);
	if (file_read(dir, path, buffer, &bytes) ||
	    !read_number(bytes, "nr_periods", &ret->periods) ||
	    !read_number(bytes, "nr_throttled", &ret->throttled) ||
	    !read_number(bytes, is_v1 ? "throttled_time" : "throttled_usec", &ret->wait_us))
		return false;
	if (is_v1)
		ret->wait_us /= 1000; /* nanoseconds */
	return true;
}

bool throttle_read_level(const struct cgroup_tree *tree, bool is_v1, const char *directory,
			 struct throttle_level *ret)
{
	struct file_buffer buffer = { 0 };
	struct throttle_level level = { 0 };
	const bool has_quota = read_level(tree->dir, is_v1, directory, &buffer, &level);

	file_buffer_deinit(&buffer);
	if (has_quota)
		*ret = level;
	return has_quota;
}

/* The directories from the cgroup upwards, below where the tree is mounted. */
void throttle_read_tree(const struct cgroup_tree *tree, bool is_v1, const char *path,
			struct throttle_reading *ret)
{
	struct text whole;
	struct file_buffer buffer = { 0 };
	char directory[THROTTLE_PATH];
	size_t length;
	struct text below;

	*ret = (struct throttle_reading){ .is_v1 = is_v1 };
	if (!path || tree->dir < 0 || strlen(path) >= sizeof(ret->path))
		return;
	strcpy(ret->path, path);
	whole = text_of(ret->path);
	length = whole.length;
	while (length && ret->count < THROTTLE_LEVELS) {
		struct throttle_level level = { .length = length };

		if (!cgroup_below_mount(text_of(tree->root ? tree->root : "/"),
					(struct text){ whole.bytes, length }, &below) ||
		    !below.length)
			break;
		snprintf(directory, sizeof(directory), "%.*s", (int)below.length, below.bytes);
		if (read_level(tree->dir, is_v1, directory, &buffer, &level))
			ret->levels[ret->count++] = level;
		while (length && whole.bytes[length - 1] != '/')
			length--;
		length -= length > 0;
	}
	file_buffer_deinit(&buffer);
}

bool throttle_path_v1(int proc, uint32_t tid, char ret[THROTTLE_PATH])
{
	struct file_buffer buffer = { 0 };
	struct text bytes, path;
	char name[32];
	bool found;

	snprintf(name, sizeof(name), "%" PRIu32 "/cgroup", tid);
	found = !file_read(proc, name, &buffer, &bytes) &&
		cgroup_path_parse_v1(bytes, "cpu", &path) && path.length < THROTTLE_PATH;
	if (found) {
		memcpy(ret, path.bytes, path.length);
		ret[path.length] = '\0';
	}
	file_buffer_deinit(&buffer);
	return found;
}

/* A host has the controller in one of both versions. */
struct error *throttle_tree_open(int proc, struct cgroup_tree *ret, bool *ret_is_v1)
{
	struct cgroup_tree tree;
	struct error *err = cgroup_tree_open_v1(proc, "cpu", &tree);

	if (err)
		return err;
	*ret_is_v1 = tree.dir >= 0;
	if (tree.dir < 0) {
		cgroup_tree_close(&tree);
		err = cgroup_tree_open(proc, &tree);
	}
	if (!err)
		*ret = tree;
	return err;
}

void throttle_read(uint32_t tid, const char *path, struct throttle_reading *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_tree tree = { .dir = -1 };
	char path_v1[THROTTLE_PATH];
	bool is_v1 = false;

	if (proc >= 0)
		error_destroy(throttle_tree_open(proc, &tree, &is_v1));
	if (is_v1)
		path = throttle_path_v1(proc, tid, path_v1) ? path_v1 : NULL;
	throttle_read_tree(&tree, is_v1, path, ret);
	cgroup_tree_close(&tree);
}

/* --- in words --- */

static const struct throttle_level *level_before(const struct throttle_reading *before,
						 size_t length)
{
	for (size_t i = 0; i < before->count; i++)
		if (before->levels[i].length == length)
			return &before->levels[i];
	return NULL;
}

/* Counters of a cgroup that was made again begin at 0. */
static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* The level that waited longest between two readings of one cgroup; NULL: none did. */
static const struct throttle_level *longest_wait(const struct throttle_reading *before,
						 const struct throttle_reading *now,
						 struct throttle_level *ret_growth)
{
	const struct throttle_level *most = NULL;

	*ret_growth = (struct throttle_level){ 0 };
	for (size_t i = 0; i < now->count && strcmp(before->path, now->path) == 0; i++) {
		const struct throttle_level *level = &now->levels[i],
					    *earlier = level_before(before, level->length);
		const uint64_t us = earlier ? growth(earlier->wait_us, level->wait_us) : 0;

		if (us <= ret_growth->wait_us)
			continue;
		most = level;
		ret_growth->wait_us = us;
		ret_growth->throttled = growth(earlier->throttled, level->throttled);
		ret_growth->periods = growth(earlier->periods, level->periods);
	}
	return most;
}

bool throttle_is_usual(const struct throttle_reading *before, const struct throttle_reading *now)
{
	struct throttle_level grown;

	return longest_wait(before, now, &grown) && grown.throttled >= grown.periods / 2;
}

char *throttle_say(const struct throttle_reading *before, const struct throttle_reading *now)
{
	struct throttle_level grown;
	const struct throttle_level *most = longest_wait(before, now, &grown);
	char wait[UNITS_TEXT_MAX];

	if (!most)
		return NULL;
	return text_print("cgroup %.*s ran out of its quota (%s: %.2f CPUs) in %" PRIu64
			  " of %" PRIu64 " periods, for %s in all on its CPUs",
			  (int)most->length, now->path, now->is_v1 ? "cpu.cfs_quota_us" : "cpu.max",
			  (double)most->quota_us / (double)most->period_us, grown.throttled,
			  grown.periods, units_format(wait, UNIT_US, (__int128)grown.wait_us));
}
