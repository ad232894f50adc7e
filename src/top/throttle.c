/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/throttle.h"

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

/* False: it has no quota. */
static bool read_level(int dir, const char *directory, struct file_buffer *buffer,
		       struct throttle_level *ret)
{
	char path[THROTTLE_PATH + 16];
	struct text bytes;

	if (!read_quota(dir, directory, buffer, ret))
		return false;
	snprintf(path, sizeof(path), "%s/cpu.stat", directory);
	return !file_read(dir, path, buffer, &bytes) &&
	       read_number(bytes, "nr_periods", &ret->periods) &&
	       read_number(bytes, "nr_throttled", &ret->throttled) &&
	       read_number(bytes, "throttled_usec", &ret->wait_us);
}

/* The directories from the cgroup upwards, below where the tree is mounted. */
void throttle_read_tree(const struct cgroup_tree *tree, const char *path,
			struct throttle_reading *ret)
{
	struct text whole;
	struct file_buffer buffer = { 0 };
	char directory[THROTTLE_PATH];
	size_t length;
	struct text below;

	*ret = (struct throttle_reading){ 0 };
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
		if (read_level(tree->dir, directory, &buffer, &level))
			ret->levels[ret->count++] = level;
		while (length && whole.bytes[length - 1] != '/')
			length--;
		length -= length > 0;
	}
	file_buffer_deinit(&buffer);
}

void throttle_read(const char *path, struct throttle_reading *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_tree tree = { .dir = -1 };

	if (proc >= 0)
		error_destroy(cgroup_tree_open(proc, &tree));
	throttle_read_tree(&tree, path, ret);
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

char *throttle_say(const struct throttle_reading *before, const struct throttle_reading *now)
{
	const struct throttle_level *most = NULL, *most_before = NULL;
	uint64_t longest = 0;
	char wait[UNITS_TEXT_MAX];

	if (strcmp(before->path, now->path) != 0)
		return NULL;
	for (size_t i = 0; i < now->count; i++) {
		const struct throttle_level *level = &now->levels[i],
					    *earlier = level_before(before, level->length);
		const uint64_t us = earlier ? growth(earlier->wait_us, level->wait_us) : 0;

		if (us <= longest)
			continue;
		longest = us;
		most = level;
		most_before = earlier;
	}
	if (!most)
		return NULL;
	return text_print("cgroup %.*s ran out of its quota (cpu.max: %.2f CPUs) in %" PRIu64
			  " of %" PRIu64 " periods, for %s",
			  (int)most->length, now->path,
			  (double)most->quota_us / (double)most->period_us,
			  growth(most_before->throttled, most->throttled),
			  growth(most_before->periods, most->periods),
			  units_format(wait, UNIT_US, (__int128)longest));
}
