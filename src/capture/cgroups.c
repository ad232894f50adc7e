/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "capture/session.h"
#include "proc/cgroup.h"
#include "proc/pairs.h"
#include "proc/psi.h"

/* --- pressure --- */

static struct psi_half half_of(const struct psi_line *line)
{
	if (!line->measured)
		return (struct psi_half){ 0 };
	return (struct psi_half){
		.avg10 = reading_of(line->avg10),
		.avg60 = reading_of(line->avg60),
		.avg300 = reading_of(line->avg300),
		.total_usec = reading_of(line->total_usec),
	};
}

void capture_psi(struct capture *c, int dir, const char *prefix, const char *suffix,
		 struct psi *ret)
{
	const struct {
		const char *name;
		struct psi_resource *resource;
	} resources[] = {
		{ "cpu", &ret->cpu },
		{ "memory", &ret->memory },
		{ "io", &ret->io },
		{ "irq", &ret->irq },
	};

	for (size_t i = 0; i < array_length(resources); i++) {
		struct psi_lines lines;
		struct text bytes;
		char path[64];

		snprintf(path, sizeof(path), "%s%s%s", prefix, resources[i].name, suffix);
		if (file_read(dir, path, &c->buffer, &bytes))
			continue;
		psi_parse(bytes, &lines);
		resources[i].resource->some = half_of(&lines.some);
		resources[i].resource->full = half_of(&lines.full);
	}
}

/* --- the files of a cgroup --- */

/* How the bytes of a file become numbers of struct cgroup. */
typedef void (*take_fn)(struct capture *c, struct text bytes, struct cgroup *cgroup,
			size_t offset, bool *ret_understood);

static struct reading *reading_at(struct cgroup *cgroup, size_t offset)
{
	return (struct reading *)(void *)((char *)cgroup + offset);
}

static void take_count(struct capture *c, struct text bytes, struct cgroup *cgroup, size_t offset,
		       bool *ret_understood)
{
	uint64_t value;

	(void)c;
	*ret_understood = text_u64(text_trim(bytes), &value);
	if (*ret_understood)
		*reading_at(cgroup, offset) = reading_of(value);
}

static void take_signed(struct capture *c, struct text bytes, struct cgroup *cgroup, size_t offset,
			bool *ret_understood)
{
	int64_t value;

	(void)c;
	*ret_understood = text_i64(text_trim(bytes), &value);
	if (*ret_understood)
		*reading_at(cgroup, offset) = reading_of((uint64_t)value);
}

/* A limit: "max" is none. */
static void take_limit(struct capture *c, struct text bytes, struct cgroup *cgroup, size_t offset,
		       bool *ret_understood)
{
	if (text_equal(text_trim(bytes), TEXT("max")))
		*reading_at(cgroup, offset) = (struct reading){ .measured = true, .unlimited = true };
	else
		take_count(c, bytes, cgroup, offset, ret_understood);
}

/* A floor of protection: "max" protects everything. */
static void take_floor(struct capture *c, struct text bytes, struct cgroup *cgroup, size_t offset,
		       bool *ret_understood)
{
	if (text_equal(text_trim(bytes), TEXT("max")))
		*reading_at(cgroup, offset) = reading_of(UINT64_MAX);
	else
		take_count(c, bytes, cgroup, offset, ret_understood);
}

/* cpu.max: "quota period", quota perhaps "max". */
static void take_cpu_max(struct capture *c, struct text bytes, struct cgroup *cgroup,
			 size_t offset, bool *ret_understood)
{
	struct text quota, period;

	*ret_understood = text_word(&bytes, &quota);
	if (!*ret_understood)
		return;
	take_limit(c, quota, cgroup, offset, ret_understood);
	if (*ret_understood && text_word(&bytes, &period))
		take_count(c, period, cgroup, offsetof(struct cgroup, cpu.max_period_us),
			   ret_understood);
}

static void take_cpu_stat(struct capture *c, struct text bytes, struct cgroup *cgroup,
			  size_t offset, bool *ret_understood)
{
	static const struct {
		struct text key;
		size_t offset;
	} keys[] = {
		{ TEXT("usage_usec"), offsetof(struct cgroup, cpu.usage_usec) },
		{ TEXT("nr_throttled"), offsetof(struct cgroup, cpu.nr_throttled) },
		{ TEXT("throttled_usec"), offsetof(struct cgroup, cpu.throttled_usec) },
	};
	struct text key, value;

	(void)offset;
	while (pairs_next(&bytes, ' ', &key, &value))
		for (size_t i = 0; i < array_length(keys); i++) {
			bool understood = true;

			if (!text_equal(key, keys[i].key))
				continue;
			take_count(c, value, cgroup, keys[i].offset, &understood);
			*ret_understood &= understood;
		}
}

/* memory.stat and memory.events: every "key number" line. */
static void take_counts(struct capture *c, struct text bytes, struct cgroup *cgroup, size_t offset,
			bool *ret_understood)
{
	struct counts *counts = (struct counts *)(void *)((char *)cgroup + offset);
	struct text key, value;
	uint64_t number;

	while (pairs_next(&bytes, ' ', &key, &value))
		if (!text_u64(value, &number) || !utf8_is_valid(key) ||
		    !counts_add(c->snapshot, counts, key, number))
			*ret_understood = false;
}

static const struct {
	const char *name;
	take_fn take;
	size_t offset;
} cgroup_files[] = {
	{ "cpu.stat", take_cpu_stat, 0 },
	{ "cpu.max", take_cpu_max, offsetof(struct cgroup, cpu.max_quota_us) },
	{ "cpu.weight", take_count, offsetof(struct cgroup, cpu.weight) },
	{ "cpu.weight.nice", take_signed, offsetof(struct cgroup, cpu.weight_nice) },
	{ "memory.current", take_count, offsetof(struct cgroup, memory.current) },
	{ "memory.max", take_limit, offsetof(struct cgroup, memory.max) },
	{ "memory.high", take_limit, offsetof(struct cgroup, memory.high) },
	{ "memory.low", take_floor, offsetof(struct cgroup, memory.low) },
	{ "memory.min", take_floor, offsetof(struct cgroup, memory.min) },
	{ "memory.stat", take_counts, offsetof(struct cgroup, memory.stat) },
	{ "memory.events", take_counts, offsetof(struct cgroup, memory.events) },
	{ "pids.current", take_count, offsetof(struct cgroup, pids.current) },
	{ "pids.max", take_limit, offsetof(struct cgroup, pids.max) },
};

/* Which files there are depends on the controllers of each cgroup: one that is absent is no failure. */
static void read_cgroup(struct capture *c, int dir, struct cgroup *cgroup)
{
	for (size_t i = 0; i < array_length(cgroup_files); i++) {
		struct text bytes;
		bool understood = true;
		int failed = file_read(dir, cgroup_files[i].name, &c->buffer, &bytes);

		if (failed && failed != ENOENT && failed != ENODEV && failed != EOPNOTSUPP)
			capture_count(c, FILE_CGROUP, failed);
		if (failed)
			continue;
		cgroup_files[i].take(c, bytes, cgroup, cgroup_files[i].offset, &understood);
		c->failed[FILE_CGROUP] += !understood;
	}
	capture_psi(c, dir, "", ".pressure", &cgroup->psi);
}

/* The directory of a cgroup below the mount, or -1. */
static int open_cgroup(struct capture *c, const struct name *path)
{
	struct text root = c->cgroup_root ? text_of(c->cgroup_root) : TEXT("/"), below;
	_cleanup_free_ char *relative = NULL;

	if (c->cgroup < 0 || !cgroup_below_mount(root, name_text(path), &below))
		return -1;
	relative = below.length ? strndup(below.bytes, below.length) : strdup(".");
	return relative ? openat(c->cgroup, relative, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static int by_name(const void *a, const void *b)
{
	return name_compare(*(const struct name *const *)a, *(const struct name *const *)b);
}

struct paths {
	ARRAY(const struct name *);
};

/* The distinct cgroups of the kept threads. Threads of one process follow each other, so most are
 * told apart by looking at the one before. */
static bool list_paths(struct capture *c, struct paths *ret)
{
	const struct ctprof_snapshot *s = c->snapshot;
	const struct name *last = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < s->threads.count; i++) {
		const struct name *path = snapshot_thread(s, i)->cgroup;

		if (path == last || !path->length)
			continue;
		if (!array_push(ret, path))
			return false;
		last = path;
	}
	if (!ret->count)
		return true;
	qsort(ret->items, ret->count, sizeof(*ret->items), by_name);
	for (size_t i = 1; i < ret->count; i++)
		if (ret->items[i] != ret->items[kept])
			ret->items[++kept] = ret->items[i];
	ret->count = kept + 1;
	return true;
}

struct error *capture_cgroups(struct capture *c)
{
	struct paths paths = { 0 };
	struct error *err = list_paths(c, &paths) ? NULL : &error_no_memory;

	for (size_t i = 0; i < paths.count && !err; i++) {
		struct cgroup cgroup = { .path = paths.items[i] };
		_cleanup_close_ int dir = open_cgroup(c, cgroup.path);

		if (dir >= 0)
			read_cgroup(c, dir, &cgroup);
		if (!array_push(&c->snapshot->cgroups, cgroup))
			err = &error_no_memory;
	}
	array_deinit(&paths);
	return err;
}
