/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap_files.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "unit/fake_elf.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* A process whose root is a scratch directory, with a library in it. */
struct process {
	struct scratch scratch;
	int dir;
	struct file_buffer buffer;
	struct heap_files files;
	struct mapping mapping;
};

static void process_init(struct process *process)
{
	*process = (struct process){ .mapping.path = TEXT("/library") };
	scratch_init(&process->scratch);
	assert_int_equal(symlink(".", scratch_path(&process->scratch, "root")), 0);
	process->dir = open(scratch_path(&process->scratch, "."), O_RDONLY | O_DIRECTORY);
	process->files.buffer = &process->buffer;
	process->files.round = 1;
}

static void process_deinit(struct process *process)
{
	heap_files_deinit(&process->files);
	file_buffer_deinit(&process->buffer);
	close(process->dir);
	scratch_deinit(&process->scratch);
}

static void write_library(struct process *process, struct text bytes)
{
	struct stat stat;

	scratch_write(&process->scratch, "library", bytes);
	assert_int_equal(fstatat(process->dir, "library", &stat, 0), 0);
	process->mapping.inode = stat.st_ino;
}

static enum probe_failure look(struct process *process)
{
	struct heap_file file;

	expect_ok(heap_files_library(&process->files, process->dir, &process->mapping, &file));
	return file.failure;
}

/* An update in place leaves the number of the file as it is. */
TEST(a_library_is_looked_at_again_when_it_changed)
{
	const struct fake_elf with = { .machine = MACHINE, .slots = { { 0 } }, .slot_count = 1 };
	const struct fake_elf without = { .machine = MACHINE, .without_table = true };
	struct text with_bytes, without_bytes;
	struct process process;
	uint64_t inode;

	process_init(&process);
	without_bytes = fake_elf_make(&without);
	write_library(&process, without_bytes);
	inode = process.mapping.inode;
	assert_int_equal(look(&process), PROBE_NOT_FOUND);
	/* An emulated process has no openat2(2), without which no path is followed. */
	if (!process.files.files.count) {
		unguard(without_bytes);
		process_deinit(&process);
		skip();
	}
	process.files.round++;
	assert_int_equal(look(&process), PROBE_NOT_FOUND);
	assert_int_equal(process.files.files.count, 1);

	with_bytes = fake_elf_make(&with);
	write_library(&process, with_bytes);
	assert_int_equal(process.mapping.inode, inode);
	/* In one capture it is looked at once. */
	assert_int_equal(look(&process), PROBE_NOT_FOUND);
	process.files.round++;
	assert_int_equal(look(&process), PROBE_DONE);
	assert_int_equal(look(&process), PROBE_DONE);
	write_library(&process, without_bytes);
	process.files.round++;
	assert_int_equal(look(&process), PROBE_NOT_FOUND);
	/* It is the same place that was written over. */
	assert_int_equal(process.files.files.count, 1);
	unguard(with_bytes);
	unguard(without_bytes);
	process_deinit(&process);
}

TEST(a_path_to_another_file_is_ignored)
{
	const struct fake_elf with = { .machine = MACHINE, .slots = { { 0 } }, .slot_count = 1 };
	struct text bytes = fake_elf_make(&with);
	struct process process;

	process_init(&process);
	write_library(&process, bytes);
	process.mapping.inode++;
	assert_int_equal(look(&process), PROBE_NOT_FOUND);
	process.mapping.path = TEXT("/libjemalloc.so.2");
	assert_int_equal(look(&process), PROBE_FILE_READ);
	assert_int_equal(process.files.files.count, 0);
	unguard(bytes);
	process_deinit(&process);
}

UNIT_TESTS(cmocka_unit_test(a_library_is_looked_at_again_when_it_changed),
	   cmocka_unit_test(a_path_to_another_file_is_ignored))
