/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/word_map.h"
#include "elf/elf.h"
#include "elf/rooted.h"
#include "os/map_query.h"

struct build_id {
	uint8_t length;
	uint8_t bytes[MAP_QUERY_BUILD_ID_MAX];
};

struct process_maps {
	int proc_dir; /* not owned */
	int fd;       /* of the one that is asked; -1: none */
	bool is_text;
	struct map_query query;
	struct file_buffer buffer;
	/* Files that were read already, by device and inode. */
	struct word_map known;
	struct {
		ARRAY(struct build_id);
	} build_ids;
};

struct error *process_maps_create(int proc_dir, struct process_maps **ret)
{
	struct process_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return &error_no_memory;
	maps->proc_dir = proc_dir;
	maps->fd = -1;
	*ret = maps;
	return NULL;
}

void process_maps_destroy(struct process_maps *maps)
{
	if (!maps)
		return;
	if (maps->fd >= 0)
		close(maps->fd);
	file_buffer_deinit(&maps->buffer);
	word_map_deinit(&maps->known);
	array_deinit(&maps->build_ids);
	free(maps);
}

void process_maps_use_text(struct process_maps *maps)
{
	maps->is_text = true;
}

/* --- by asking --- */

static int open_maps(struct process_maps *maps, uint32_t pid)
{
	char path[32];
	int failed;

	if (maps->fd >= 0)
		close(maps->fd);
	maps->fd = -1;
	snprintf(path, sizeof(path), "%u/maps", pid);
	if (!guard_enter())
		return EAGAIN;
	maps->fd = openat(maps->proc_dir, path, O_RDONLY | O_CLOEXEC);
	failed = maps->fd < 0 ? errno : 0;
	guard_leave();
	return failed;
}

static int ask_next(struct process_maps *maps, struct mapping *ret)
{
	int failed;

	if (!guard_enter())
		return EAGAIN;
	failed = map_query_next(&maps->query, ret);
	guard_leave();
	return failed;
}

static int query_mappings(struct process_maps *maps, uint32_t pid, process_maps_visit *visit,
			  void *context)
{
	struct map_query *query = &maps->query;
	struct mapping mapping;
	int failed = open_maps(maps, pid);

	if (failed)
		return failed;
	query->fd = maps->fd;
	query->from = 0;
	query->with_nameless = query->with_build_ids = true;
	while (!(failed = ask_next(maps, &mapping))) {
		const struct text build_id = { (const char *)query->build_id,
					       query->build_id_length };

		if (!visit(context, &mapping, build_id))
			return 0;
	}
	return failed == ENOENT ? 0 : failed;
}

/* --- by reading --- */

static void read_build_id(int fd, struct build_id *ret)
{
	struct image image;
	struct elf elf;
	struct text found;

	if (image_open(fd, &image))
		return;
	if (elf_open(&image, &elf)) {
		found = elf_build_id(&elf);
		if (found.length && found.length <= sizeof(ret->bytes)) {
			memcpy(ret->bytes, found.bytes, found.length);
			ret->length = (uint8_t)found.length;
		}
		elf_close(&elf);
	}
	image_close(&image);
}

/* The file as the process sees it, if it is still the one that is mapped; -1 else. */
static int open_mapped(struct process_maps *maps, uint32_t pid, const struct mapping *mapping)
{
	_cleanup_free_ char *path = strndup(mapping->path.bytes, mapping->path.length);
	_cleanup_close_ int root = -1, fd = -1;
	struct stat stat;
	char name[32];

	snprintf(name, sizeof(name), "%u/root", pid);
	root = path ? openat(maps->proc_dir, name, O_PATH | O_CLOEXEC) : -1;
	fd = root < 0 ? -1 : rooted_open(root, path);
	if (fd < 0 || file_stat(fd, &stat) || stat.st_ino != mapping->inode ||
	    major(stat.st_dev) != mapping->major || minor(stat.st_dev) != mapping->minor)
		return -1;
	return take_fd(fd);
}

static struct text build_id_of(struct process_maps *maps, uint32_t pid,
			       const struct mapping *mapping)
{
	const struct words file = { { mapping->inode,
				      (uint64_t)mapping->major << 32 | mapping->minor } };
	uint32_t number = mapping->inode ? word_map_find(&maps->known, file) : WORD_MAP_NEW;
	struct build_id *known;

	if (!mapping->inode)
		return TEXT("");
	if (number == WORD_MAP_NEW) {
		_cleanup_close_ int fd = open_mapped(maps, pid, mapping);
		struct build_id found = { 0 };
		uint32_t *place;

		/* Another process may be able to show it. */
		if (fd < 0)
			return TEXT("");
		read_build_id(fd, &found);
		place = word_map_at(&maps->known, file);
		if (!place || !array_push(&maps->build_ids, found))
			return TEXT("");
		number = *place = (uint32_t)maps->build_ids.count - 1;
	}
	known = &maps->build_ids.items[number];
	return (struct text){ (const char *)known->bytes, known->length };
}

static int read_text(struct process_maps *maps, uint32_t pid, process_maps_visit *visit,
		     void *context)
{
	struct mapping mapping;
	struct text rest;
	char path[32];
	int failed;

	snprintf(path, sizeof(path), "%u/maps", pid);
	if (!guard_enter())
		return EAGAIN;
	failed = file_read(maps->proc_dir, path, &maps->buffer, &rest);
	guard_leave();
	if (failed)
		return failed;
	while (maps_next(&rest, &mapping))
		if (mapping.executable &&
		    !visit(context, &mapping, build_id_of(maps, pid, &mapping)))
			break;
	return 0;
}

int process_maps_read(struct process_maps *maps, uint32_t pid, process_maps_visit *visit,
		      void *context)
{
	int failed;

	if (!maps->is_text) {
		failed = query_mappings(maps, pid, visit, context);
		if (failed != ENOTTY)
			return failed;
		maps->is_text = true;
	}
	return read_text(maps, pid, visit, context);
}
