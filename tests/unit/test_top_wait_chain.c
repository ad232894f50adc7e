/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wait_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "top/wait_sentence.h"
#include "unit/unit.h"

/* A /proc of one's own, and memory that is the same in all processes. */
static struct scratch proc;
static uint32_t memory[1024];
static size_t memory_reads, memory_bytes;

static size_t read_memory(uint32_t tid, uint64_t address, void *into, size_t size)
{
	(void)tid;
	memory_reads++;
	memory_bytes += size;
	if (address >= sizeof(memory) || size > sizeof(memory) - address)
		return 0;
	memcpy(into, (const char *)memory + address, size);
	return size;
}

static struct wait_host host;
static struct wait_look look;

static int set_proc(void **state)
{
	(void)state;
	scratch_init(&proc);
	host = (struct wait_host){ .proc = proc.dir, .read_memory = read_memory };
	look = (struct wait_look){ .host = &host, .until_ns = UINT64_MAX };
	memset(memory, 0, sizeof(memory));
	memory_reads = memory_bytes = 0;
	return 0;
}

static int clear_proc(void **state)
{
	(void)state;
	wait_look_deinit(&look);
	scratch_deinit(&proc);
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_proc, clear_proc)

__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *format, ...)
{
	_cleanup_free_ char *bytes = NULL;
	va_list values;

	va_start(values, format);
	bytes = text_print_v(format, values);
	va_end(values);
	assert_non_null(bytes);
	scratch_write(&proc, path, text_of(bytes));
}

/* A thread in a call with three arguments; of process 100. */
static void put_thread(uint32_t tid, const char *name, char letter, const char *call)
{
	char path[64];

	snprintf(path, sizeof(path), "%u", tid);
	mkdirat(proc.dir, path, 0755);
	snprintf(path, sizeof(path), "%u/status", tid);
	put(path,
	    "Name:\t%s\nState:\t%c (x)\nTgid:\t100\nNSpid:\t%u\nVmSize:\t1 kB\n"
	    "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t2\n",
	    name, letter, tid);
	snprintf(path, sizeof(path), "%u/syscall", tid);
	put(path, "%s", call);
	mkdirat(proc.dir, "100", 0755);
	mkdirat(proc.dir, "100/task", 0755);
	snprintf(path, sizeof(path), "100/task/%u", tid);
	mkdirat(proc.dir, path, 0755);
	snprintf(path, sizeof(path), "100/task/%u/comm", tid);
	put(path, "%s\n", name);
}

/* One that waits for a mutex at an address. */
static void put_locked(uint32_t tid, const char *name, uint32_t address)
{
	char call[128];

	snprintf(call, sizeof(call), "%d 0x%x 0x80 0x2 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_futex,
		 address);
	put_thread(tid, name, 'S', call);
}

static void put_mutex(uint32_t address, uint32_t owner)
{
	memory[address / 4] = 2;
	memory[address / 4 + 2] = owner;
}

/* The sentence of a row that was in one state all the time. */
static void expect_sentence(uint32_t tid, enum state state, const char *expected)
{
	struct state_thread thread = { .tid = tid };
	struct state_line line = { .thread = &thread, .window_ns = 100, .whole_ns = 100 };
	struct wait_sentence sentence = { .line = &line, .measured = UINT32_MAX };
	struct wait_chain chain;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	line.times.ns[state] = 100;
	assert_true(wait_chain_follow(&look, tid, &chain));
	sentence.lead = wait_sentence_lead(&line, sentence.measured);
	assert_true(wait_sentence_fits(sentence.lead, &chain));
	sentence.chain = &chain;
	wait_sentence_print(out, &sentence);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

TEST(a_lock_and_what_its_holder_does)
{
	char call[128];

	put_locked(101, "worker", 0x100);
	put_mutex(0x100, 102);
	snprintf(call, sizeof(call), "%d 0x7 0x0 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_fsync);
	put_thread(102, "logger", 'D', call);
	assert_int_equal(mkdirat(proc.dir, "102/fd", 0755), 0);
	assert_int_equal(symlinkat("/var/log/x", proc.dir, "102/fd/7"), 0);
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by logger (102), which is in fsync of "
			"/var/log/x");
	assert_int_equal(memory_reads, 1);
	assert_int_equal(memory_bytes, LOCK_WAIT_BYTES);
}

TEST(holders_that_run_stop_and_end)
{
	put_locked(101, "worker", 0x100);
	put_mutex(0x100, 102);
	put_thread(102, "h", 'R', "running\n");
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by h (102), which is running or waiting "
			"for a CPU");
	put_thread(102, "h", 'T', "");
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by h (102), which is stopped by a "
			"signal");
	put_thread(102, "h", 'Z', "");
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by h (102), which is dead, and not "
			"reaped by its parent");
	put_thread(102, "h", 'S', "");
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by h (102), which is in a system call "
			"that may not be read (needs CAP_SYS_PTRACE)");
}

TEST(circles)
{
	put_locked(101, "a", 0x100);
	put_locked(102, "b", 0x200);
	put_locked(103, "c", 0x300);
	put_mutex(0x100, 102);
	put_mutex(0x200, 103);
	put_mutex(0x300, 102);
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by b (102), which is waiting for lock "
			"0x200 held by c (103), which is waiting for lock 0x300 held by b (102); "
			"deadlock: b (102) -> c (103) -> b (102)");
	put_mutex(0x100, 101);
	expect_sentence(
		101, STATE_LOCK_FUTEX,
		"100 % waiting for lock 0x100 held by a (101); deadlock: a (101) -> a (101)");
}

/* A process that locked a file has other threads, which may unlock it. */
TEST(locks_of_files_are_of_processes)
{
	struct wait_chain chain;
	char call[128];

	put_locked(100, "leader", 0x100);
	put_mutex(0x100, 101);
	snprintf(call, sizeof(call), "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_flock);
	put_thread(101, "worker", 'S', call);
	put("locks", "1: FLOCK  ADVISORY  WRITE 100 00:01:5 0 EOF\n"
		     "1: -> FLOCK  ADVISORY  WRITE 100 00:01:5 0 EOF\n");
	for (uint32_t threads = 1; threads <= 2; threads++) {
		put("100/status",
		    "Name:\tleader\nState:\tS\nTgid:\t100\nVmSize:\t1 kB\nThreads:\t%u\n", threads);
		assert_true(wait_chain_follow(&look, 100, &chain));
		assert_int_equal(chain.count, 2);
		assert_int_equal(chain.links[1].kind, LINK_FILE_LOCK);
		assert_int_equal(chain.cycle, threads == 1 ? 0 : 2);
	}
}

/* A chain that goes on is cut. */
TEST(long_chains)
{
	struct wait_chain chain;
	char *text;
	size_t length;
	FILE *out;

	for (uint32_t i = 0; i < 2 * WAIT_CHAIN_MOST; i++) {
		put_locked(101 + i, "x", 0x40 + i * 0x20);
		put_mutex(0x40 + i * 0x20, 102 + i);
	}
	assert_true(wait_chain_follow(&look, 101, &chain));
	assert_int_equal(chain.count, WAIT_CHAIN_MOST);
	assert_int_equal(chain.cycle, chain.count);
	assert_true(chain.is_cut);
	out = open_memstream(&text, &length);
	wait_link_print(out, &chain.links[WAIT_CHAIN_MOST - 1], NULL);
	fclose(out);
	assert_string_equal(text, "waiting for lock 0x120 held by another thread");
	free(text);
}

/* Numbers in memory that are no threads of the process name nobody. */
TEST(owners_that_are_no_threads)
{
	static const uint32_t wrong[] = { 0, 1, 99, 4194304, 0x7fffffff, UINT32_MAX };

	put_locked(101, "worker", 0x100);
	for (size_t i = 0; i < array_length(wrong); i++) {
		put_mutex(0x100, wrong[i]);
		expect_sentence(101, STATE_LOCK_FUTEX,
				"100 % waiting for lock 0x100, whose holder is not recorded in it");
	}
	/* Nothing is mapped there. */
	put_locked(101, "worker", 0x10000);
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x10000, whose holder is not recorded in it");
}

/* Numbers in another PID namespace: the thread that has it there. */
TEST(numbers_of_containers)
{
	put_locked(101, "worker", 0x100);
	put_mutex(0x100, 7);
	put("101/status", "Name:\tworker\nState:\tS\nTgid:\t100\nNSpid:\t101\t6\nVmSize:\t1 kB\n");
	put_thread(102, "inside", 'R', "running\n");
	put("102/status", "Name:\tinside\nState:\tR\nTgid:\t100\nNSpid:\t102\t7\nVmSize:\t1 kB\n");
	expect_sentence(101, STATE_LOCK_FUTEX,
			"100 % waiting for lock 0x100 held by inside (102), which is running or "
			"waiting for a CPU");
}

/* Of the pipe at which thread 101 waits in this call. */
static void expect_other_end(const char *call, const char *expected)
{
	struct wait_chain chain;

	put("101/syscall", "%s", call);
	assert_true(wait_chain_follow(&look, 101, &chain));
	wait_chain_name_ends(&look, &chain);
	assert_string_equal(chain.links[0].object, expected);
}

/* Threads 101 and 102 have `target` open as descriptor 3, one of them for writing. */
static void put_ends(const char *target, uint32_t writer)
{
	put_thread(101, writer == 101 ? "writer" : "reader", 'S', "");
	put_thread(102, writer == 102 ? "writer" : "reader", 'S', "");
	put("102/comm", "%s\n", writer == 102 ? "writer" : "reader");
	for (uint32_t tid = 101; tid <= 102; tid++) {
		char path[64];

		snprintf(path, sizeof(path), "%u/fd", tid);
		assert_int_equal(mkdirat(proc.dir, path, 0755), 0);
		snprintf(path, sizeof(path), "%u/fd/3", tid);
		assert_int_equal(symlinkat(target, proc.dir, path), 0);
		snprintf(path, sizeof(path), "%u/fdinfo", tid);
		assert_int_equal(mkdirat(proc.dir, path, 0755), 0);
		snprintf(path, sizeof(path), "%u/fdinfo/3", tid);
		put(path, "pos:\t0\nflags:\t010000%u\n", tid == writer);
	}
}

TEST(other_ends_of_pipes)
{
	char call[128];

	put_ends("pipe:[77]", 102);
	snprintf(call, sizeof(call), "%d 0x3 0x0 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_read);
	expect_other_end(call, "a pipe from writer (102)");
	/* Of poll(2), the descriptor is in memory. */
	memory[0x80 / 4] = 3;
	snprintf(call, sizeof(call), "%d 0x80 0x1 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_ppoll);
	expect_other_end(call, "a pipe from writer (102)");
}

/* Both have it open by its path. */
TEST(other_ends_of_fifos)
{
	struct wait_chain chain;

	put_ends("/run/q", 101);
	put("101/syscall", "%d 0x3 0x0 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_write);
	assert_true(wait_chain_follow(&look, 101, &chain));
	assert_string_equal(chain.links[0].object, "/run/q");
	chain.links[0].is_fifo = true;
	wait_chain_name_ends(&look, &chain);
	assert_string_equal(chain.links[0].object, "the FIFO /run/q to reader (102)");
}

/* A master that waits for any of its workers is explained by one of them. */
TEST(one_of_several_children)
{
	char call[128];

	snprintf(call, sizeof(call), "%d 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_wait4);
	put_thread(101, "master", 'S', call);
	put_locked(102, "worker", 0x100);
	put_mutex(0x100, 103);
	put_thread(103, "holder", 'R', "running\n");
	put("100/task/101/children", "102 104 ");
	expect_sentence(101, STATE_SLEEP_CHILD,
			"100 % waiting for one of its 2 children, such as worker (102), which is "
			"waiting for lock 0x100 held by holder (103), which is running or waiting "
			"for a CPU");
	put("100/task/101/children", "102 ");
	expect_sentence(101, STATE_SLEEP_CHILD,
			"100 % waiting for its child worker (102), which is waiting for lock 0x100 "
			"held by holder (103), which is running or waiting for a CPU");
	/* A child that could end is no part of a deadlock. */
	put_mutex(0x100, 101);
	put("100/task/101/children", "102 104 ");
	expect_sentence(101, STATE_SLEEP_CHILD,
			"100 % waiting for one of its 2 children, such as worker (102), which is "
			"waiting for lock 0x100 held by another thread");
}

/* Names are strangers'. */
TEST(names_are_made_safe)
{
	struct wait_chain chain;

	put_thread(101, "a\x1b[2J", 'S', "0 0x3 0x0 0x0 0x0 0x0 0x0 0x7ff0 0x55\n");
	assert_int_equal(mkdirat(proc.dir, "101/fd", 0755), 0);
	assert_int_equal(symlinkat("/x\x1b]0;y\n", proc.dir, "101/fd/3"), 0);
	assert_true(wait_chain_follow(&look, 101, &chain));
	assert_string_equal(chain.links[0].name, "a?[2J");
	assert_null(strpbrk(chain.links[0].object, "\x1b\n"));
}

/* A user may make cgroups of any name, and give them a quota. */
TEST(remarks_are_made_safe)
{
	struct state_thread thread = { .tid = 101 };
	struct state_line line = { .thread = &thread, .window_ns = 100, .whole_ns = 100 };
	const struct wait_sentence sentence = { .line = &line,
						.measured = UINT32_MAX,
						.lead = STATE_RUNNABLE,
						.remarks.remark = "cgroup /u\x1b]0;y ran" };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	line.times.ns[STATE_RUNNABLE] = 100;
	wait_sentence_print(out, &sentence);
	fclose(out);
	assert_string_equal(text, "100 % waiting for a CPU; cgroup /u\\x1b]0;y ran");
	free(text);
}

TEST(the_cpus_that_a_thread_is_limited_to)
{
	const struct cpu_pinning one = { .cpus = "1", .is_one = true }, two = { .cpus = "2-3" };
	const struct {
		const struct cpu_pinning *pinning;
		uint32_t threads;
		const char *expected;
	} rows[] = {
		{ &one, 0, "60 % waiting for CPU 1, to which it is pinned; also 40 % running" },
		{ &two, 3,
		  "60 % of the time of 3 threads waiting for CPUs 2-3, to which they are pinned; "
		  "also 40 % running" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_thread thread = { .tid = 101 };
		struct state_line line = { .thread = &thread, .window_ns = 100, .whole_ns = 100 };
		const struct wait_sentence sentence = { .line = &line,
							.measured = UINT32_MAX,
							.lead = STATE_RUNNABLE,
							.threads = rows[i].threads,
							.remarks.pinning = rows[i].pinning };
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		line.times.ns[STATE_RUNNABLE] = 60;
		line.times.ns[STATE_EXEC] = 40;
		wait_sentence_print(out, &sentence);
		fclose(out);
		assert_string_equal(text, rows[i].expected);
		free(text);
	}
}

/* A server waits for its locks at its files, as far as the kernel can see. */
TEST(locks_that_functions_tell)
{
	static const struct {
		enum state state;
		double share;
		const char *expected;
	} rows[] = {
		{ STATE_IDLE_POLL, 0.95,
		  "100 % waiting for a lock of its program: update -> wait" },
		{ STATE_IDLE_POLL, 0.5,
		  "100 % waiting for any of its files; 50 % of its waits are for a lock of its "
		  "program: update -> wait" },
		{ STATE_IDLE_POLL, 0.05, "100 % waiting for any of its files" },
		{ STATE_RUNNABLE, 1,
		  "100 % waiting for a CPU; 100 % of its waits are for a lock of its program: "
		  "update -> wait" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_thread thread = { .tid = 101 };
		struct state_line line = { .thread = &thread, .window_ns = 100, .whole_ns = 100 };
		const struct wait_sentence sentence = { .line = &line,
							.measured = UINT32_MAX,
							.lead = state_rows[rows[i].state].main,
							.remarks.lock = "update -> wait",
							.remarks.lock_share = rows[i].share };
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		line.times.ns[rows[i].state] = 100;
		wait_sentence_print(out, &sentence);
		fclose(out);
		assert_string_equal(text, rows[i].expected);
		free(text);
	}
}

/* The kernel makes /proc/locks of the locks of all processes. */
TEST(locks_are_read_once)
{
	struct wait_chain chain;
	char call[128];

	snprintf(call, sizeof(call), "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_flock);
	put_thread(100, "holder", 'S', "");
	put_thread(101, "waiter", 'S', call);
	put("101/status", "Name:\twaiter\nState:\tS\nTgid:\t101\nVmSize:\t1 kB\n");
	put("locks", "1: FLOCK  ADVISORY  WRITE 100 00:01:5 0 EOF\n"
		     "1: -> FLOCK  ADVISORY  WRITE 101 00:01:5 0 EOF\n");
	for (int i = 0; i < 2; i++) {
		assert_true(wait_chain_follow(&look, 101, &chain));
		assert_int_equal(chain.count, 2);
		assert_int_equal(chain.links[1].tid, 100);
		put("locks", "none\n");
	}
	wait_look_deinit(&look);
	assert_true(wait_chain_follow(&look, 101, &chain));
	assert_int_equal(chain.count, 1);
}

/* After its time a look reads nothing, and claims nothing. */
TEST(late_looks)
{
	struct wait_chain chain;

	put_locked(101, "worker", 0x100);
	put_mutex(0x100, 102);
	look.until_ns = 0;
	assert_false(wait_chain_follow(&look, 101, &chain));
	assert_int_equal(memory_reads, 0);
}

/* Memory that takes too long is the last that is read. */
static size_t read_slowly(uint32_t tid, uint64_t address, void *into, size_t size)
{
	look.until_ns = 0;
	return read_memory(tid, address, into, size);
}

TEST(looks_that_become_late)
{
	struct wait_chain chain;

	put_locked(101, "a", 0x100);
	put_locked(102, "b", 0x200);
	put_mutex(0x100, 102);
	host.read_memory = read_slowly;
	assert_false(wait_chain_follow(&look, 101, &chain));
	assert_int_equal(memory_reads, 1);
}

/* Thread 101 waits for the memory of its process, 102 for a mutex of 101. */
static bool tell_kernel_lock(uint32_t tid, struct kernel_lock *ret)
{
	*ret = (struct kernel_lock){ .kind = tid == 101 ? KERNEL_LOCK_READ : KERNEL_LOCK_MUTEX,
				     .owner = tid == 101 ? 102 : 101,
				     .is_memory = tid == 101 };
	return tid != 103;
}

TEST(locks_of_the_kernel)
{
	char call[128];

	host.kernel_lock = tell_kernel_lock;
	snprintf(call, sizeof(call), "%d 0x1000 0x2000 0x0 0x0 0x0 0x0 0x7ff0 0x55\n", SYS_munmap);
	put_thread(101, "faulter", 'D', "-1 0x7ff0 0x55\n");
	put_thread(102, "mapper", 'R', "running\n");
	expect_sentence(101, STATE_LOCK_KERNEL,
			"100 % at a page fault, waiting for the kernel's lock of its memory "
			"(mmap_lock) held by mapper (102), which is running or waiting for a CPU");
	/* Who is asked last may have the lock of who was asked first: that is no circle. */
	put_thread(102, "mapper", 'D', call);
	expect_sentence(101, STATE_LOCK_KERNEL,
			"100 % at a page fault, waiting for the kernel's lock of its memory "
			"(mmap_lock) held by mapper (102), which is in munmap, waiting for a mutex "
			"of the kernel held by another thread");
	/* Sleeps that signals end are not looked at, and one may wait for none. */
	put_thread(102, "mapper", 'S', call);
	expect_sentence(102, STATE_SLEEP_OTHER, "100 % in munmap");
	put_thread(103, "other", 'D', call);
	expect_sentence(103, STATE_LOCK_KERNEL, "100 % in munmap");
}

/* Files and memory of any content give a chain or none, within bounds. */
TEST(anything)
{
	uint64_t seed = 17;

	for (int round = 0; round < 300; round++) {
		struct wait_chain chain;
		char line[200], bytes[256];
		size_t length = next_random(&seed) % sizeof(bytes);

		put_thread(102, "x", "RSDTZ"[next_random(&seed) % 5], "running\n");
		snprintf(line, sizeof(line), "%d 0x%x 0x%x 0x%x 0x0 0x0 0x0 0x1 0x2\n",
			 (int)(next_random(&seed) % 500), (unsigned)(next_random(&seed) % 5000),
			 (unsigned)(next_random(&seed) % 300), (unsigned)(next_random(&seed) % 8));
		put_thread(101, "y", 'S', line);
		for (size_t i = 0; i < length; i++)
			bytes[i] = (char)next_random(&seed);
		if (next_random(&seed) % 4 == 0)
			scratch_write(&proc, "101/syscall", (struct text){ bytes, length });
		if (next_random(&seed) % 8 == 0)
			scratch_write(&proc, "102/status", (struct text){ bytes, length });
		for (size_t i = 0; i < array_length(memory); i++)
			memory[i] = (uint32_t)(next_random(&seed) % 2 ? 101 + i % 3
								      : next_random(&seed));
		if (!wait_chain_follow(&look, 101, &chain))
			continue;
		assert_in_range(chain.count, 1, WAIT_CHAIN_MOST);
		assert_in_range(chain.cycle, 0, chain.count);
		for (size_t i = 0; i < chain.count; i++)
			assert_in_range(strlen(chain.links[i].object), 0, WAIT_OBJECT_MAX - 1);
	}
}

/* May a thread in this call, with a letter of its state, be what explains a state? */
static bool fits(enum state state, char letter, long number, const char *arguments)
{
	struct wait_chain chain;
	char call[128];

	snprintf(call, sizeof(call), "%ld %s 0x0 0x0 0x0 0x7ff0 0x55\n", number, arguments);
	put_thread(101, "x", letter, call);
	assert_true(wait_chain_follow(&look, 101, &chain));
	return wait_sentence_fits(state, &chain);
}

/* What is seen is told only of the state that it is: a wait for work explains no other wait. */
TEST(what_is_seen_fits_the_state)
{
	put_thread(101, "x", 'S', "");
	assert_int_equal(mkdirat(proc.dir, "101/fd", 0755), 0);
	assert_int_equal(symlinkat("socket:[5]", proc.dir, "101/fd/3"), 0);
	assert_int_equal(symlinkat("pipe:[6]", proc.dir, "101/fd/4"), 0);
	assert_true(fits(STATE_SLEEP_NETWORK, 'S', SYS_recvfrom, "0x3 0x0 0x0"));
	assert_true(fits(STATE_SLEEP_NETWORK, 'S', SYS_read, "0x3 0x0 0x0"));
	assert_false(fits(STATE_SLEEP_NETWORK, 'S', SYS_read, "0x4 0x0 0x0"));
	assert_true(fits(STATE_SLEEP_PIPE, 'S', SYS_read, "0x4 0x0 0x0"));
	assert_false(fits(STATE_SLEEP_NETWORK, 'S', SYS_futex, "0x100 0x80 0xffffffff"));
	assert_true(fits(STATE_IDLE, 'S', SYS_futex, "0x100 0x80 0xffffffff"));
	assert_false(fits(STATE_LOCK, 'S', SYS_ppoll, "0x100 0x1 0x0"));
	assert_false(fits(STATE_LOCK, 'S', SYS_recvfrom, "0x3 0x0 0x0"));
	/* In the kernel, any call may wait for a lock. */
	assert_true(fits(STATE_LOCK, 'D', SYS_recvfrom, "0x3 0x0 0x0"));
	assert_true(fits(STATE_LOCK, 'S', SYS_flock, "0x3 0x2 0x0"));
	/* Where sleep is not divided. */
	assert_true(fits(STATE_SLEEP, 'S', SYS_ppoll, "0x100 0x1 0x0"));
	assert_false(fits(STATE_RUNNABLE, 'S', SYS_ppoll, "0x100 0x1 0x0"));
}

/* The state that leads, of so many percent each. */
static enum state lead_of(enum state a, unsigned percent_a, enum state b, unsigned percent_b,
			  enum state *ret_second)
{
	struct state_thread thread = { .tid = 101 };
	struct state_line line = { .thread = &thread, .window_ns = 100, .whole_ns = 100 };
	enum state lead;

	line.times.ns[a] = percent_a;
	line.times.ns[b] = percent_b;
	lead = wait_sentence_lead(&line, UINT32_MAX);
	*ret_second = wait_sentence_second(&line, UINT32_MAX, lead);
	return lead;
}

/* A busy host takes some time of every thread, which explains little. */
TEST(which_state_leads)
{
	enum state second;

	assert_int_equal(lead_of(STATE_RUNNABLE, 6, STATE_SLEEP_TIMER, 94, &second),
			 STATE_SLEEP_TIMER);
	assert_int_equal(second, STATE_COUNT);
	assert_int_equal(lead_of(STATE_RUNNABLE, 40, STATE_SLEEP_TIMER, 60, &second),
			 STATE_RUNNABLE);
	assert_int_equal(lead_of(STATE_LOCK_FUTEX, 6, STATE_IDLE_COND, 94, &second), STATE_LOCK);
	assert_int_equal(lead_of(STATE_SLEEP_DISK, 45, STATE_SLEEP_PIPE, 55, &second),
			 STATE_SLEEP_PIPE);
	assert_int_equal(second, STATE_SLEEP_DISK);
	assert_int_equal(lead_of(STATE_RUNNABLE, 70, STATE_SLEEP_NETWORK, 30, &second),
			 STATE_RUNNABLE);
	assert_int_equal(second, STATE_SLEEP_NETWORK);
}

TEST(reasons_to_be_stopped)
{
	put_thread(101, "x", 't', "");
	put("101/status", "Name:\tx\nState:\tt\nTgid:\t101\nTracerPid:\t102\nVmSize:\t1 kB\n");
	put_thread(102, "strace", 'S', "");
	put("102/comm", "strace\n");
	expect_sentence(101, STATE_STOPPED, "100 % stopped by strace (102), which traces it");
	put_thread(101, "x", 'T', "");
	expect_sentence(101, STATE_STOPPED, "100 % stopped by a signal");
	put_thread(101, "x", 'S', "");
	put("101/wchan", "do_freezer_trap");
	expect_sentence(101, STATE_STOPPED, "100 % stopped by the freezer of its cgroup");
}

/* Threads that live shorter than a window. */
TEST(threads_that_a_process_has_now)
{
	struct tids tids = { 0 };

	put_thread(101, "a", 'S', "");
	put_thread(102, "b", 'S', "");
	assert_true(wait_look_threads(&look, 100, &tids));
	assert_int_equal(tids.count, 2);
	assert_int_equal(tids.items[1], 102);
	array_deinit(&tids);
	assert_false(wait_look_threads(&look, 7, &tids));
}

UNIT_TESTS(CASE(a_lock_and_what_its_holder_does), CASE(holders_that_run_stop_and_end),
	   CASE(circles), CASE(locks_of_files_are_of_processes), CASE(long_chains),
	   CASE(owners_that_are_no_threads), CASE(numbers_of_containers), CASE(other_ends_of_pipes),
	   CASE(other_ends_of_fifos), CASE(one_of_several_children), CASE(locks_of_the_kernel),
	   CASE(locks_are_read_once), CASE(late_looks), CASE(looks_that_become_late),
	   CASE(names_are_made_safe), CASE(remarks_are_made_safe),
	   CASE(the_cpus_that_a_thread_is_limited_to), CASE(locks_that_functions_tell),
	   CASE(what_is_seen_fits_the_state), CASE(which_state_leads), CASE(reasons_to_be_stopped),
	   CASE(threads_that_a_process_has_now), CASE(anything))
