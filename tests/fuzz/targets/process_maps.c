/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps of a process where they are read as text, and the build-ids of what is mapped: the first
 * part of the input is the file "maps", in which "@" stands for device and inode of a file below
 * the root of the process, "/file"; the second part is that file.
 */
#include "process/maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "files_fuzz.h"
#include "os/map_query.h"

#define PID 7

struct text_buffer {
	ARRAY(char);
};

static void append(struct text_buffer *buffer, struct text text)
{
	must(array_reserve(buffer, text.length));
	if (text.length)
		memcpy(buffer->items + buffer->count, text.bytes, text.length);
	buffer->count += text.length;
}

static void put_maps(struct text written, const struct stat *file)
{
	struct text_buffer maps = { 0 };
	char identity[64];
	struct text part;

	snprintf(identity, sizeof(identity), "%02x:%02x %llu", major(file->st_dev),
		 minor(file->st_dev), (unsigned long long)file->st_ino);
	while (text_cut(&written, '@', &part)) {
		append(&maps, part);
		if (written.length)
			append(&maps, text_of(identity));
	}
	must(fuzz_put_file("proc/7/maps", (struct text){ maps.items, maps.count }));
	array_deinit(&maps);
}

static int make_proc(struct text maps, struct text file)
{
	char path[64];
	struct stat stat_of;
	int proc;

	fuzz_clear_dir();
	must(fuzz_put_file("proc/7/root/file", file));
	snprintf(path, sizeof(path), "%s/proc/7/root/file", fuzz_dir());
	must(stat(path, &stat_of) == 0);
	put_maps(maps, &stat_of);
	snprintf(path, sizeof(path), "%s/proc", fuzz_dir());
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(proc >= 0);
	return proc;
}

struct seen {
	size_t count, most;
};

static bool see(void *context, const struct mapping *mapping, struct text build_id)
{
	struct seen *seen = context;

	must(mapping->executable && mapping->start < mapping->end);
	must(!memchr(mapping->path.bytes, '\n', mapping->path.length));
	must(build_id.length <= MAP_QUERY_BUILD_ID_MAX);
	must(!build_id.length || mapping->inode);
	must(seen->count < seen->most);
	return ++seen->count < seen->most;
}

/* Twice by the same reader, which knows the build-id then; and no further than is wanted. */
static void read_all(int proc)
{
	struct process_maps *maps;
	struct seen first = { 0, SIZE_MAX }, second = { 0, SIZE_MAX }, one = { 0, 1 };

	must(!process_maps_create(proc, &maps));
	must(process_maps_read(maps, PID, see, &first) == 0);
	must(process_maps_read(maps, PID, see, &second) == 0);
	must(process_maps_read(maps, PID, see, &one) == 0);
	must(first.count == second.count && one.count == (first.count ? 1 : 0));
	process_maps_destroy(maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, maps = { 0 };
	_cleanup_close_ int proc = -1;

	fuzz_cut_part(&rest, &maps);
	proc = make_proc(maps, rest);
	read_all(proc);
	fuzz_release(bytes);
	return 0;
}
