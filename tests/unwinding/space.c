/* SPDX-License-Identifier: BSD-2-Clause */
#include "space.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/file.h"
#include "os/maps.h"

#define PAGE 4096ul

struct table_file {
	uint64_t device, inode, changed;
	uint32_t place; /* 0: it says nothing of its code */
	uint64_t base;
	Elf64_Phdr *segments;
	size_t segment_count;
};

struct tables *tables_create(void)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	struct error *error;

	if (!tables)
		err(1, "tables");
	error = unwind_store_create(&(struct unwind_store_options){ 0 }, &tables->store);
	if (error)
		errx(1, "%s", error->message);
	return tables;
}

/* --- tables --- */

static void build(struct tables *tables, struct image *image, struct table_file *file)
{
	struct unwind_table table = { 0 };
	struct elf elf;
	struct error *error;

	if (!elf_open(image, &elf))
		return;
	error = unwind_build(&elf, &table);
	if (!error && table.blocks.count)
		error = unwind_store_put(tables->store, &table, &file->place);
	if (error)
		errx(1, "%s", error->message);
	tables->refused += table.refused;
	tables->overlapping += table.overlapping;
	file->base = table.base;
	file->segments = calloc(elf.segment_count, sizeof(*elf.segments));
	for (size_t i = 0; i < elf.segment_count && file->segments; i++)
		if (elf.segments[i].p_type == PT_LOAD)
			file->segments[file->segment_count++] = elf.segments[i];
	unwind_table_deinit(&table);
	elf_close(&elf);
}

static struct table_file *add_file(struct tables *tables, const struct table_file *file)
{
	if (!array_push(&tables->files, *file))
		err(1, "files");
	return &tables->files.items[tables->files.count - 1];
}

static struct table_file *file_of(struct tables *tables, int fd)
{
	struct table_file file = { 0 };
	struct image image;
	struct stat status;

	if (fstat(fd, &status))
		return NULL;
	file.device = status.st_dev;
	file.inode = status.st_ino;
	file.changed =
		(uint64_t)status.st_ctim.tv_sec * 1000000000u + (uint64_t)status.st_ctim.tv_nsec;
	for (size_t i = 0; i < tables->files.count; i++)
		if (memcmp(&tables->files.items[i], &file, 3 * sizeof(uint64_t)) == 0)
			return &tables->files.items[i];
	if (image_open(fd, &image) == 0) {
		build(tables, &image, &file);
		image_close(&image);
	}
	return add_file(tables, &file);
}

/* The kernel's own library: the same for all processes of 64 bits. */
static struct table_file *vdso_of(struct tables *tables, pid_t pid, const struct mapping *mapping)
{
	const uint64_t bytes = mapping->end - mapping->start;
	struct table_file file = { .device = UINT64_MAX, .inode = bytes };
	struct iovec theirs = { (void *)(uintptr_t)mapping->start, bytes }, ours;
	struct image image;

	for (size_t i = 0; i < tables->files.count; i++)
		if (tables->files.items[i].device == UINT64_MAX &&
		    tables->files.items[i].inode == bytes)
			return &tables->files.items[i];
	ours = (struct iovec){ malloc(bytes), bytes };
	if (!ours.iov_base)
		err(1, "vdso");
	if (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) != (ssize_t)bytes) {
		free(ours.iov_base);
		return NULL;
	}
	image = image_of((struct text){ ours.iov_base, bytes });
	build(tables, &image, &file);
	image_close(&image);
	free(ours.iov_base);
	return add_file(tables, &file);
}

static struct table_file *open_file(struct tables *tables, pid_t pid, const struct mapping *mapping)
{
	struct table_file *file;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, mapping->start,
		 mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	file = file_of(tables, fd);
	close(fd);
	return file;
}

/* --- what is mapped --- */

/* The segment is the one that begins in the mapping's first page of the file, or spans it. */
static bool is_of_segment(const struct mapping *mapping, const Elf64_Phdr *segment)
{
	return segment->p_flags & PF_X && (segment->p_offset & -PAGE) <= mapping->offset &&
	       mapping->offset < segment->p_offset + segment->p_filesz;
}

static void describe(const struct table_file *file, const struct mapping *mapping,
		     struct unwind_mapping *ret)
{
	if (!file || !file->place)
		return;
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (!is_of_segment(mapping, segment))
			continue;
		ret->kind = UNWIND_MAPPING_TABLE;
		ret->table = file->place;
		ret->delta = mapping->start -
			     (segment->p_vaddr + mapping->offset - segment->p_offset) + file->base;
		return;
	}
}

static void add_mapping(struct tables *tables, pid_t pid, const struct mapping *mapping,
			struct space *space)
{
	struct unwind_mapping out = { .start = mapping->start,
				      .end = mapping->end,
				      .kind = UNWIND_MAPPING_POINTER };

	if (mapping->inode)
		describe(open_file(tables, pid, mapping), mapping, &out);
	else if (text_equal(mapping->path, TEXT("[vdso]")))
		describe(vdso_of(tables, pid, mapping), mapping, &out);
	space->has_made_code |= out.kind == UNWIND_MAPPING_POINTER;
	if (!array_push(&space->mappings, out))
		err(1, "mappings");
}

/* FNV-1a. */
static uint64_t sum(uint64_t before, struct text text)
{
	for (size_t i = 0; i < text.length; i++)
		before = (before ^ (unsigned char)text.bytes[i]) * 0x100000001b3u;
	return before;
}

static void put_space(struct tables *tables, struct space *space)
{
	const size_t bytes = space->mappings.count * sizeof(struct unwind_mapping);
	struct error *error;

	error = unwind_store_take(tables->store, (uint32_t)(bytes / 4), &space->process.space);
	if (error)
		errx(1, "%s", error->message);
	memcpy(unwind_store_at(tables->store, space->process.space), space->mappings.items, bytes);
	space->process.count = (uint32_t)space->mappings.count;
}

static void drop_space(struct tables *tables, struct space *space)
{
	if (space->process.count)
		unwind_store_give_back(
			tables->store, space->process.space,
			(uint32_t)(space->process.count * sizeof(struct unwind_mapping) / 4));
	space->process.count = 0;
	space->mappings.count = 0;
	space->has_made_code = false;
}

enum space_answer space_update(struct tables *tables, pid_t pid, struct space *space)
{
	static struct file_buffer buffer;
	struct text rest, line, text;
	struct mapping mapping;
	char path[64], *seen;
	size_t length = 0;
	uint64_t files = 0xcbf29ce484222325u;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (file_read(AT_FDCWD, path, &buffer, &text) || !text.length)
		return SPACE_GONE;
	seen = malloc(text.length + 1);
	if (!seen)
		err(1, "maps");
	for (rest = text; text_cut(&rest, '\n', &line);) {
		struct text one = line;

		if (!maps_next(&one, &mapping) || !mapping.executable)
			continue;
		memcpy(seen + length, line.bytes, line.length);
		length += line.length;
		seen[length++] = '\n';
		if (mapping.inode)
			files = sum(files, line);
	}
	seen[length] = '\0';
	if (space->seen && strcmp(space->seen, seen) == 0) {
		free(seen);
		return SPACE_SAME;
	}
	space->files_changed |= files != space->files;
	space->files = files;
	free(space->seen);
	space->seen = seen;
	drop_space(tables, space);
	for (rest = text_of(seen); maps_next(&rest, &mapping);)
		if (mapping.start < (uint64_t)1 << 56 &&
		    space->mappings.count < UNWIND_MAPPINGS_MAX)
			add_mapping(tables, pid, &mapping, space);
	if (!space->mappings.count)
		return SPACE_GONE;
	put_space(tables, space);
	return SPACE_NEW;
}

const struct unwind_mapping *space_find(const struct space *space, uint64_t address)
{
	for (size_t i = 0; i < space->mappings.count; i++)
		if (space->mappings.items[i].start <= address &&
		    address < space->mappings.items[i].end)
			return &space->mappings.items[i];
	return NULL;
}

void space_deinit(struct tables *tables, struct space *space)
{
	drop_space(tables, space);
	array_deinit(&space->mappings);
	free(space->seen);
	space->seen = NULL;
}
