/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/file.h"
#include "capture/heap_process.h"
#include "capture/heap_ptrace.h"
#include "capture/heap_walk.h"
#include "unit/fake_elf.h"

/* --- what was read --- */

TEST(a_counter_stays_below_its_next_event)
{
	assert_true(heap_is_sound((uint64_t[]){ 0, 0, 0 }, 3));
	assert_true(heap_is_sound((uint64_t[]){ 1000, 0, 5 }, 3));
	assert_true(heap_is_sound((uint64_t[]){ 1000, 1001, 5000 }, 3));
	assert_true(heap_is_sound((uint64_t[]){ 1000, 1000 + (4 << 20), 0 }, 3));
	assert_false(heap_is_sound((uint64_t[]){ 1000, 1000, 0 }, 3));
	assert_false(heap_is_sound((uint64_t[]){ 1000, 999, 0 }, 3));
	assert_false(heap_is_sound((uint64_t[]){ 1000, 0x7f0012345678, 0 }, 3));
	/* Without anything between there is nothing to say. */
	assert_true(heap_is_sound((uint64_t[]){ 1, 99 }, 2));
}

TEST(a_process_frees_what_it_allocated)
{
	const struct heap_location old = { -100, 16, 24 }, recent = { -100, 0x338, 0x348 };
	struct heap_counters threads[] = { { .allocated = 10, .deallocated = 30 },
					   { .allocated = 20, .deallocated = 0 },
					   { .failure = PROBE_WAITPID, .deallocated = 99 } };

	assert_true(heap_adds_up(&old, threads, 3));
	threads[1].deallocated = 1;
	assert_false(heap_adds_up(&old, threads, 3));
	/* A thread that ended may have allocated it: each was checked on its own. */
	assert_true(heap_adds_up(&recent, threads, 3));
}

/* --- reading, from ourselves --- */

/* An emulated process has none of these calls. */
static void needs_its_own_kernel(void)
{
	uint64_t from = 7, to = 0;
	struct iovec here = { &to, sizeof(to) }, there = { &from, sizeof(from) };

	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != sizeof(to))
		skip();
}

#define THREADS 1200

/* Counters of many threads, `stride` bytes apart; each has 3 words. */
struct memory {
	char *bytes;
	size_t stride;
	struct heap_counters threads[THREADS];
};

static const struct heap_location location = { -0x400, 0x338, 0x348 };

static void memory_init(struct memory *memory, size_t stride)
{
	memory->stride = stride;
	memory->bytes = mmap(NULL, THREADS * stride, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory->bytes, MAP_FAILED);
	memset(memory->threads, 0, sizeof(memory->threads));
	for (size_t i = 0; i < THREADS; i++) {
		uint64_t *words = (uint64_t *)(void *)(memory->bytes + i * stride);

		words[0] = 1000 + i;
		words[1] = 2000 + i;
		words[2] = i;
		memory->threads[i].thread_pointer = (uintptr_t)words + 0x400 - 0x338;
	}
}

static void memory_deinit(struct memory *memory)
{
	munmap(memory->bytes, THREADS * memory->stride);
}

static void expect_read(const struct memory *memory, size_t i)
{
	assert_int_equal(memory->threads[i].failure, PROBE_DONE);
	assert_int_equal(memory->threads[i].allocated, 1000 + i);
	assert_int_equal(memory->threads[i].deallocated, i);
}

TEST(many_threads_are_read)
{
	static struct memory memory;

	needs_its_own_kernel();
	memory_init(&memory, 64);
	heap_read(getpid(), &location, memory.threads, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		expect_read(&memory, i);
	memory_deinit(&memory);
}

TEST(unreadable_counters_do_not_hide_others)
{
	static const size_t gone[] = { 0, 1, 5, 511, 512, 513, THREADS - 1 };
	static struct memory memory;

	needs_its_own_kernel();
	memory_init(&memory, 4096);
	for (size_t i = 0; i < array_length(gone); i++)
		munmap(memory.bytes + gone[i] * 4096, 4096);
	memory.threads[7].failure = PROBE_WAITPID;
	heap_read(getpid(), &location, memory.threads, THREADS);
	for (size_t i = 0, g = 0; i < THREADS; i++) {
		if (g < array_length(gone) && gone[g] == i) {
			assert_int_equal(memory.threads[i].failure, PROBE_PROCESS_VM_READV);
			g++;
		} else if (i == 7) {
			assert_int_equal(memory.threads[i].failure, PROBE_WAITPID);
		} else {
			expect_read(&memory, i);
		}
	}
	memory_deinit(&memory);
}

TEST(implausible_counters_are_refused)
{
	static struct memory memory;

	needs_its_own_kernel();
	memory_init(&memory, 64);
	((uint64_t *)(void *)memory.bytes)[8 * 3 + 1] = 1;
	heap_read(getpid(), &location, memory.threads, THREADS);
	assert_int_equal(memory.threads[3].failure, PROBE_CROSS_CHECK);
	expect_read(&memory, 2);
	expect_read(&memory, 4);
	memory_deinit(&memory);
}

/* --- where the storage is: a word of a library, in our own memory --- */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define DISTANCE (-0x500)

/* A process in a scratch directory that runs a program with a library. */
struct library_process {
	struct scratch scratch;
	int dir;
	struct stat program, shared;
};

static void write_elf(const struct scratch *scratch, const char *name, struct text bytes)
{
	scratch_write(scratch, name, bytes);
	unguard(bytes);
}

/* The word is at the address `slot` of the file. */
static void library_process_init(struct library_process *process, uint64_t slot)
{
	const struct fake_elf without = { .machine = MACHINE, .without_table = true };
	/* With pointers that stand in it, the relocation of the word is the first. */
	const struct fake_elf with = {
		.machine = MACHINE, .fixed = true, .slots = { { 0 } }, .slot_count = 1
	};
	struct text library = fake_elf_make(&with);

	memcpy((char *)(uintptr_t)library.bytes + FAKE_RELOCATIONS, &slot, sizeof(slot));
	scratch_init(&process->scratch);
	write_elf(&process->scratch, "exe", fake_elf_make(&without));
	write_elf(&process->scratch, "library", library);
	assert_int_equal(symlink(".", scratch_path(&process->scratch, "root")), 0);
	process->dir = open(scratch_path(&process->scratch, "."), O_RDONLY | O_DIRECTORY);
	assert_int_equal(fstatat(process->dir, "exe", &process->program, 0), 0);
	assert_int_equal(fstatat(process->dir, "library", &process->shared, 0), 0);
}

static void library_process_deinit(struct library_process *process)
{
	close(process->dir);
	scratch_deinit(&process->scratch);
}

/* Its code is mapped at `start`. */
static enum probe_failure find_place(const struct library_process *process, uint64_t start,
				     struct heap_location *ret)
{
	const struct heap_process asked = { getpid(), process->dir, &process->program };
	struct file_buffer buffer = { 0 };
	struct heap_files files = { .buffer = &buffer, .round = 1 };
	enum probe_failure failure;
	char maps[200];

	snprintf(maps, sizeof(maps), "%" PRIx64 "-%" PRIx64 " r-xp %08x 00:00 %ju /library\n",
		 start, start + 0xfff, FAKE_FRAMES & -0x1000, (uintmax_t)process->shared.st_ino);
	scratch_write(&process->scratch, "maps", text_of(maps));
	expect_ok(heap_locate(&files, &asked, &failure, ret));
	heap_files_deinit(&files);
	file_buffer_deinit(&buffer);
	return failure;
}

static uint64_t word_address(void)
{
	static const uint64_t word = (uint64_t)DISTANCE;

	return (uintptr_t)&word;
}

/* The place of a library whose slot is at this address of its file. It is loaded where the sum of
 * slot and bias is word_address(). */
static enum probe_failure find_by_slot(uint64_t slot, struct heap_location *found)
{
	const uint64_t text = FAKE_FRAMES & -0x1000;
	struct library_process process;
	enum probe_failure failure;

	library_process_init(&process, slot);
	failure = find_place(&process, word_address() - slot + text, found);
	library_process_deinit(&process);
	return failure;
}

/* The load bias is positive or negative. */
TEST(a_slot_of_a_library_gives_the_location)
{
	const uint64_t text = FAKE_FRAMES & -0x1000, word = word_address();
	const uint64_t slots[] = { FAKE_SLOT, 0, text - 8, word + 0x800 };

	needs_its_own_kernel();
	if (!has_openat2())
		skip();
	for (size_t i = 0; i < array_length(slots); i++) {
		struct heap_location found = { 0 };

		assert_int_equal(find_by_slot(slots[i], &found), PROBE_DONE);
		assert_int_equal(found.block, DISTANCE);
		assert_int_equal(found.deallocated - found.allocated, 16);
	}
}

/* A sum of 64 bits would wrap and lead to the word. */
TEST(a_word_at_no_address_is_not_read)
{
	const uint64_t text = FAKE_FRAMES & -0x1000, word = word_address();
	const uint64_t slots[] = { -(uint64_t)0x10000, (uint64_t)1 << 63, word + 0x10000 + text };

	needs_its_own_kernel();
	if (!has_openat2())
		skip();
	for (size_t i = 0; i < array_length(slots); i++) {
		struct heap_location found = { 0 };

		assert_int_equal(find_by_slot(slots[i], &found), PROBE_PROCESS_VM_READV);
		assert_int_equal(found.block, 0);
	}
}

/* --- processes that are alike --- */

#define LEADER 7

/* Is a verdict remembered for the image of this process, which runs `process->program`? */
static bool is_remembered(const struct library_process *process, uint64_t inode, dev_t device)
{
	struct heap_walk walk = { .proc = process->dir };
	struct heap_thread leader = { .tid = LEADER,
				      .tgid = LEADER,
				      .image = {
					      .has_memory = true,
					      .executable_pages = 100,
					      .program = 1,
					      .program_inode = inode,
					      .program_device = major(device) << 20 | minor(device),
				      } };
	struct heap_tally tally = { 0 };
	bool remembered;

	heap_walk_begin(&walk);
	expect_ok(heap_walk_process(&walk, &leader, 1, &tally));
	assert_int_equal(tally.failures[PROBE_NOT_FOUND], 1);
	remembered = walk.alike_without.count > 0;
	heap_walk_deinit(&walk);
	return remembered;
}

/* Between walk and reading a process may have run another program: the verdict is not that of the
 * image. */
TEST(a_verdict_is_of_the_program_that_was_walked)
{
	struct library_process process;
	uint64_t inode;
	dev_t device;

	library_process_init(&process, 0);
	assert_int_equal(symlink(".", scratch_path(&process.scratch, "7")), 0);
	inode = process.program.st_ino;
	device = process.program.st_dev;
	assert_true(is_remembered(&process, inode, device));
	assert_false(is_remembered(&process, process.shared.st_ino, device));
	assert_false(is_remembered(&process, inode, makedev(major(device) + 1, minor(device))));
	/* Without a block device, the numbers of devices differ for one file. */
	assert_int_equal(is_remembered(&process, inode, makedev(0, minor(device) + 1)),
			 !major(device));
	library_process_deinit(&process);
}

/* --- tracing --- */

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	assert_true(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static enum probe_failure trace(uint32_t tgid, uint32_t tid, uint64_t *ret)
{
	struct heap_counters thread = { 0 };
	struct heap_trace request = { open("/proc", O_RDONLY | O_DIRECTORY), tgid, &tid, &thread,
				      1 };

	heap_trace(&request);
	close(request.proc);
	*ret = thread.thread_pointer;
	return thread.failure;
}

/* A child has the thread pointer of who made it. */
TEST(a_thread_pointer_is_read_and_the_thread_goes_on)
{
	uint64_t ours = 0, pointer;
	enum probe_failure failure;
	pid_t child;
	int status;

	needs_its_own_kernel();
	child = start_child();
	failure = trace((uint32_t)child, (uint32_t)child, &pointer);

	if (failure == PROBE_PTRACE_SEIZE) {
		end_child(child);
		skip(); /* nobody may trace here */
	}
#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(ours));
#else
	ours = (uintptr_t)__builtin_thread_pointer();
#endif
	assert_int_equal(failure, PROBE_DONE);
	assert_int_equal(pointer, ours);
	/* It is not stopped: a signal ends it. */
	assert_int_equal(kill(child, SIGTERM), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST(a_thread_of_another_process_is_not_read)
{
	uint64_t pointer;
	enum probe_failure failure;
	pid_t child;

	needs_its_own_kernel();
	child = start_child();
	failure = trace((uint32_t)getpid(), (uint32_t)child, &pointer);
	end_child(child);
	if (failure == PROBE_PTRACE_SEIZE)
		skip();
	assert_int_equal(failure, PROBE_PID_MISSING);
	assert_int_equal(pointer, 0);
	/* It has ended. */
	assert_int_equal(trace((uint32_t)child, (uint32_t)child, &pointer), PROBE_PID_MISSING);
}

/* --- all of it --- */

static struct ctprof_snapshot *snapshot_of(uint32_t pid)
{
	struct ctprof_snapshot *snapshot;
	struct ctprof_thread *thread;

	expect_ok(snapshot_create(&snapshot));
	thread = snapshot_add_thread(snapshot);
	assert_non_null(thread);
	thread->tid = thread->tgid = pid;
	return snapshot;
}

static struct probe_summary probe(struct ctprof_snapshot *snapshot)
{
	struct heap_request request = { .proc = open("/proc", O_RDONLY | O_DIRECTORY),
					.snapshot = snapshot };
	struct heap_outcome outcome;
	struct heap *heap;

	expect_ok(heap_open(&heap));
	expect_ok(heap_take(heap, &request, &outcome));
	heap_close(heap);
	close(request.proc);
	return outcome.summary;
}

TEST(a_process_without_jemalloc_is_no_failure)
{
	struct ctprof_snapshot *snapshot;
	struct probe_summary summary;
	pid_t child;

	needs_its_own_kernel();
	child = start_child();
	snapshot = snapshot_of((uint32_t)child);
	summary = probe(snapshot);
	end_child(child);
	assert_int_equal(summary.tgids_walked.value, 1);
	assert_int_equal(summary.jemalloc_detected.value, 0);
	assert_int_equal(summary.failed.value, 0);
	assert_null(summary.dominant_failure);
	assert_false(summary.privilege_dominant);
	assert_false(metric_set_has(&snapshot_thread(snapshot, 0)->record.measured,
				    METRIC_allocated_bytes));
	snapshot_destroy(snapshot);
}

TEST(own_and_ended_processes_are_left_out)
{
	struct ctprof_snapshot *snapshot = snapshot_of((uint32_t)getpid());
	struct probe_summary summary = probe(snapshot);
	pid_t child = start_child();

	assert_int_equal(summary.tgids_walked.value, 0);
	snapshot_destroy(snapshot);
	end_child(child);
	snapshot = snapshot_of((uint32_t)child);
	summary = probe(snapshot);
	assert_int_equal(summary.tgids_walked.value, 1);
	assert_int_equal(summary.failed.value, 0);
	snapshot_destroy(snapshot);
}

UNIT_TESTS(cmocka_unit_test(a_counter_stays_below_its_next_event),
	   cmocka_unit_test(a_process_frees_what_it_allocated),
	   cmocka_unit_test(many_threads_are_read),
	   cmocka_unit_test(unreadable_counters_do_not_hide_others),
	   cmocka_unit_test(implausible_counters_are_refused),
	   cmocka_unit_test(a_slot_of_a_library_gives_the_location),
	   cmocka_unit_test(a_word_at_no_address_is_not_read),
	   cmocka_unit_test(a_verdict_is_of_the_program_that_was_walked),
	   cmocka_unit_test(a_thread_pointer_is_read_and_the_thread_goes_on),
	   cmocka_unit_test(a_thread_of_another_process_is_not_read),
	   cmocka_unit_test(a_process_without_jemalloc_is_no_failure),
	   cmocka_unit_test(own_and_ended_processes_are_left_out))
