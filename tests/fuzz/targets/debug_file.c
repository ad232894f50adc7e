/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program, and the file that its debug information was moved to: the two parts of the input, or
 * twice the same one. The checksum in .gnu_debuglink is put right, for it is no defence.
 */
#include "elf/debug_file.h"

#include <string.h>

#include "elf/binary.h"
#include "elf/jemalloc.h"
#include "elf_fuzz.h"
#include "files_fuzz.h"

/* A small part of what is allowed, so that a run that costs too much is seen. */
#define WORK ((uint64_t)1 << 22)

struct files {
	struct text program, debug;
	unsigned asked;
};

static int open_debug(void *context, const char *path)
{
	struct files *files = context;

	must(path[0] == '/' && !strstr(path, "/../"));
	/* By build-id, and by name in three places. */
	must(++files->asked <= 4);
	return fuzz_open_bytes(files->debug);
}

static void check_elf(const struct elf *elf, struct files *files)
{
	const struct jemalloc_file jemalloc = { elf, true, "/a/b", open_debug, files };
	struct jemalloc_layout layout;
	int fd;

	files->asked = 0;
	fd = debug_file_open(elf, "/a/b", open_debug, files);
	must(fd >= 0 || fd == DEBUG_FILE_NONE || fd == DEBUG_FILE_TOO_LARGE);
	if (fd >= 0)
		close(fd);
	files->asked = 0;
	if (jemalloc_find(&jemalloc, &layout) == JEMALLOC_FOUND)
		must(layout.allocated < layout.deallocated);
}

static void find_names(struct files *files)
{
	uint64_t work = WORK;
	const struct binary_options options = {
		.path = "/a/b", .open = open_debug, .context = files, .inlined_work = &work
	};
	struct binary_found found;
	struct binary *binary;

	files->asked = 0;
	if (binary_open_bytes(files->program, &options, &binary))
		return;
	for (uint64_t address = 0; address < 0x4000; address += 7)
		if (binary_find(binary, address, &found)) {
			must(found.length && strlen(found.name) == found.length);
			must(found.start <= address);
		}
	binary_destroy(binary);
	must(work <= WORK);
}

static void check(struct files *files)
{
	struct image image = image_of(files->program);
	struct elf elf;

	/* Whoever is its own debug file would have another checksum then. */
	if (files->program.bytes != files->debug.bytes)
		fuzz_mend_link(files->program, files->debug);
	if (elf_open(&image, &elf)) {
		check_elf(&elf, files);
		find_names(files);
	}
	elf_close(&elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, part = { 0 };
	struct files files;

	fuzz_cut_part(&rest, &part);
	files.program = fuzz_copy((const uint8_t *)part.bytes, part.length);
	files.debug = rest.length ? rest : files.program;
	check(&files);
	fuzz_release(files.program);
	fuzz_release(bytes);
	return 0;
}
