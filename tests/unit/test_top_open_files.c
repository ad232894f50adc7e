/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/open_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "unit/unit.h"

/* A /proc of one's own, with process 100, and memory that is the same everywhere. */
static struct scratch proc;
static uint32_t memory[64];
static struct wait_host host;
static struct wait_look look;

static size_t read_memory(uint32_t tid, uint64_t address, void *into, size_t size)
{
	(void)tid;
	if (address >= sizeof(memory) || size > sizeof(memory) - address)
		return 0;
	memcpy(into, (const char *)memory + address, size);
	return size;
}

static int set_proc(void **state)
{
	static const char *const directories[] = { "100",     "100/fd", "100/fdinfo",
						   "100/net", "101",    "101/fdinfo" };

	(void)state;
	scratch_init(&proc);
	for (size_t i = 0; i < array_length(directories); i++)
		assert_int_equal(mkdirat(proc.dir, directories[i], 0755), 0);
	memset(memory, 0, sizeof(memory));
	host = (struct wait_host){ .proc = proc.dir, .read_memory = read_memory };
	look = (struct wait_look){ .host = &host, .until_ns = UINT64_MAX };
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

static void put(const char *path, const char *bytes)
{
	scratch_write(&proc, path, text_of(bytes));
}

static void put_file(uint32_t number, const char *target, const char *info)
{
	char path[64];

	snprintf(path, sizeof(path), "100/fd/%u", number);
	assert_int_equal(symlinkat(target, proc.dir, path), 0);
	snprintf(path, sizeof(path), "100/fdinfo/%u", number);
	put(path, info);
}

/* A thread in a call with three arguments. */
static void put_call(uint32_t tid, long number, uint64_t first, uint64_t second, uint64_t third)
{
	char path[64], line[160];

	snprintf(path, sizeof(path), "%u/syscall", tid);
	snprintf(line, sizeof(line), "%ld 0x%lx 0x%lx 0x%lx 0x0 0x0 0x0 0x7ff0 0x55\n", number,
		 first, second, third);
	put(path, line);
}

#define TITLE                                         \
	"\n## Open files (*: a thread waits at it)\n" \
	"      FD  MODE      OFFSET  FILE\n"

static char *page_of(size_t threads)
{
	static const uint32_t tids[] = { 100, 101 };
	struct open_files files;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_true(open_files_read(&look, tids, threads, &files));
	open_files_print(&files, out);
	open_files_deinit(&files);
	fclose(out);
	return text;
}

static void expect_page(size_t threads, const char *expected)
{
	_cleanup_free_ char *text = page_of(threads);

	assert_string_equal(text, expected);
}

TEST(the_most_important_come_first)
{
	put_file(0, "/dev/null", "pos:\t0\nflags:\t0100000\n");
	put_file(1, "pipe:[11]", "pos:\t0\nflags:\t01\n");
	put_file(2, "/var/log/x\x1b[2J", "pos:\t4096\nflags:\t02102001\n");
	put_file(3, "socket:[4000000013]", "pos:\t0\nflags:\t02\n");
	put_file(4, "socket:[4000000014]", "pos:\t0\nflags:\t04002\n");
	put_file(5, "socket:[4000000015]", "pos:\t0\nflags:\t02\n");
	put_file(6, "anon_inode:[timerfd]", "pos:\t0\nflags:\t02\n");
	put_file(7, "/etc/passwd", "pos:\t9\nflags:\t0100000\n");
	put("100/net/tcp",
	    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"
	    "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 "
	    "4000000013 1\n"
	    "   1: 0100007F:1538 0100007F:C001 01 00000000:00000400 00:00000000 00000000 0 0 "
	    "4000000014 1\n"
	    "   2: 0100007F:1538 0100007F:C002 01 00100000:00000000 00:00000000 00000000 0 0 "
	    "4000000015 1\n");
	put_call(100, SYS_read, 7, 0, 0);
	expect_page(1,
		    TITLE "*      7  r             9B  /etc/passwd\n"
			  "       5  rw             -  tcp 127.0.0.1:5432 to 127.0.0.1:49154, "
			  "1.000MiB to send\n"
			  "       4  rw             -  tcp 127.0.0.1:5432 to 127.0.0.1:49153, "
			  "1.000KiB to read, "
			  "nonblock\n"
			  "       2  w       4.000KiB  /var/log/x?[2J, append\n"
			  "       3  rw             -  tcp 127.0.0.1:5432, listening, 0 to accept\n"
			  "       1  w              -  a pipe\n"
			  "       0  r              -  /dev/null\n"
			  "       6  rw             -  [timerfd]\n");
}

/* In poll(2), select(2) and epoll_wait(2), of two threads. */
TEST(files_of_calls_for_several)
{
	for (uint32_t i = 3; i < 8; i++)
		put_file(i, "pipe:[11]", "pos:\t0\nflags:\t00\n");
	memory[0] = 7;
	memory[2] = 4;
	put_call(100, SYS_ppoll, 0, 2, 0);
	put("101/fdinfo/5", "pos:\t0\nflags:\t02\ntfd:        6 events:       19 data:      6\n");
	put_call(101, SYS_epoll_pwait, 5, 0, 0);
	expect_page(2, TITLE "*      5  r              -  a pipe\n"
			     "*      4  r              -  a pipe\n"
			     "*      6  r              -  a pipe\n"
			     "*      7  r              -  a pipe\n"
			     "       3  r              -  a pipe\n");
	memory[16] = 1u << 3;
	put_call(101, SYS_pselect6, 4, 64, 0);
	expect_page(2, TITLE "*      3  r              -  a pipe\n"
			     "*      4  r              -  a pipe\n"
			     "*      7  r              -  a pipe\n"
			     "       5  r              -  a pipe\n"
			     "       6  r              -  a pipe\n");
}

/* What is waited at is there even where its number is beyond those that are read. */
TEST(many_files)
{
	_cleanup_free_ char *text = NULL;
	char path[64];

	for (uint32_t i = 0; i < OPEN_FILES_MOST + 20; i++) {
		snprintf(path, sizeof(path), "100/fd/%u", i);
		assert_int_equal(symlinkat("/x", proc.dir, path), 0);
	}
	put_file(50000, "/last", "pos:\t0\nflags:\t00\n");
	put_call(100, SYS_read, 50000, 0, 0);
	text = page_of(1);
	assert_non_null(strstr(text, "*  50000  r             0B  /last\n"));
	assert_non_null(strstr(text, " more, not all of which were looked at\n"));
}

TEST(files_that_are_gone_or_late)
{
	put_file(3, "/x", "");
	/* A number that is none of its descriptors, and memory that cannot be read. */
	put_call(100, SYS_read, 4000000000, 0, 0);
	put_call(101, SYS_ppoll, 1 << 20, 2, 0);
	expect_page(2, TITLE "       3  -              -  /x\n");
	look.until_ns = 0;
	expect_page(1, "\n## Open files\nnot read: no answer in time\n");
}

UNIT_TESTS(CASE(the_most_important_come_first), CASE(files_of_calls_for_several), CASE(many_files),
	   CASE(files_that_are_gone_or_late))
