/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that wait for one another, in ways whose owner is known:
 *
 *	lock_waits KIND FILE
 *
 * Prints "ready HOLDER WAITER" (thread IDs) once the waiter waits, and goes on until it is killed.
 * KIND:
 *
 *	mutex recursive robust pi write_write write_read   the waiter waits for a lock that the
 *	                                                   holder holds, while this sleeps
 *	fsync       the same as mutex, but the holder writes FILE and flushes it, again and again
 *	fifo        the same as mutex, but the holder reads FILE, a FIFO
 *	join        the waiter waits for the end of the holder
 *	deadlock    each waits for the mutex of the other
 *	self        one thread, for a mutex that it holds: both IDs are its own
 *	flock       two processes, for a lock of FILE
 *	shared      two processes, for a mutex in memory that they share
 *	pipe        the waiter reads a pipe, which the holder, another process, never writes
 *	tcp unix    the same with sockets
 *	file        the waiter writes FILE, which the holder writes from memory that never comes
 *	memory      the waiter maps memory, again and again, while the holder protects a lot of it
 *	garbage     the waiter waits for what looks like a mutex, whose owner is no thread's number
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by both processes, where there are two. */
struct stage {
	pthread_mutex_t mutex, other;
	pthread_rwlock_t rwlock;
	_Atomic uint32_t holder, waiter;
	uint32_t words[8];
};

static struct stage *stage;
static const char *kind, *path;
static pthread_t holding;

static int is(const char *word)
{
	return strcmp(kind, word) == 0;
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void sleep_for_ever(void)
{
	for (;;)
		sleep(1000);
}

static void flush_for_ever(void)
{
	char bytes[4096] = { 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (;;) {
		if (pwrite(fd, bytes, sizeof(bytes), 0) < 0 || fsync(fd))
			exit(1);
	}
}

static void read_for_ever(void)
{
	char byte;
	int fd;

	mkfifo(path, 0600);
	fd = open(path, O_RDWR);
	for (;;)
		if (read(fd, &byte, 1) < 0)
			exit(1);
}

/* Write the file from a page of memory that nobody fills (userfaultfd(2)): meanwhile the file is
 * locked in the kernel. */
static void write_for_ever(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = { .range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING };
	const int fd = open(path, O_WRONLY | O_CREAT, 0600),
		  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	where.range.start = (uintptr_t)page;
	if (ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &where))
		exit(1);
	stage->holder = own_tid();
	if (write(fd, page, 4096) < 0)
		exit(1);
}

#define PROTECTED ((size_t)256 << 20)

/* Change mappings nearly all the time. */
static void protect_for_ever(void)
{
	char *memory =
		mmap(NULL, PROTECTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, PROTECTED, MADV_NOHUGEPAGE);
	memset(memory, 1, PROTECTED);
	stage->holder = own_tid();
	for (;;)
		if (mprotect(memory, PROTECTED, PROT_READ) ||
		    mprotect(memory, PROTECTED, PROT_READ | PROT_WRITE))
			exit(1);
}

static void map_for_ever(void)
{
	for (;;) {
		void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED || munmap(page, 4096))
			exit(1);
	}
}

static void init_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	if (is("recursive"))
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	if (is("robust"))
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (is("pi"))
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	if (is("shared"))
		pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attributes);
}

static int is_rwlock(void)
{
	return is("write_write") || is("write_read");
}

static void *hold(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "holder");
	if (is("file"))
		write_for_ever();
	if (is("memory"))
		protect_for_ever();
	if (is_rwlock())
		pthread_rwlock_wrlock(&stage->rwlock);
	else if (!is("join"))
		pthread_mutex_lock(&stage->mutex);
	stage->holder = own_tid();
	while (is("deadlock") && !stage->waiter)
		usleep(1000);
	if (is("deadlock"))
		pthread_mutex_lock(&stage->other);
	if (is("fsync"))
		flush_for_ever();
	if (is("fifo"))
		read_for_ever();
	sleep_for_ever();
	return NULL;
}

static void *wait_for_it(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "waiter");
	if (is("deadlock") || is("self"))
		pthread_mutex_lock(&stage->other);
	if (is("self"))
		stage->holder = own_tid();
	stage->waiter = own_tid();
	if (is("self"))
		pthread_mutex_lock(&stage->other);
	else if (is("memory"))
		map_for_ever();
	else if (is("file") && write(open(path, O_WRONLY), "", 1) < 0)
		exit(1);
	else if (is("write_write"))
		pthread_rwlock_wrlock(&stage->rwlock);
	else if (is("write_read"))
		pthread_rwlock_rdlock(&stage->rwlock);
	else if (is("join"))
		pthread_join(holding, NULL);
	else if (is("garbage"))
		syscall(SYS_futex, stage->words, 128 /* FUTEX_WAIT_PRIVATE */, 2, NULL, NULL, 0);
	else
		pthread_mutex_lock(&stage->mutex);
	sleep_for_ever();
	return NULL;
}

/* --- two processes --- */

static void in_pair(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listener;

	if (is("pipe") && pipe(ends))
		exit(1);
	if (is("unix") && socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	if (!is("tcp"))
		return;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    connect(ends[0], (struct sockaddr *)&address, length))
		exit(1);
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

static void hold_in_process(const int ends[2])
{
	prctl(PR_SET_NAME, "holder");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is("flock"))
		flock(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), LOCK_EX);
	else if (is("shared"))
		pthread_mutex_lock(&stage->mutex);
	else
		close(ends[0]);
	stage->holder = own_tid();
	sleep_for_ever();
}

static void *wait_for_process(void *ends_)
{
	const int *ends = ends_;
	char byte;

	prctl(PR_SET_NAME, "waiter");
	stage->waiter = own_tid();
	if (is("flock"))
		flock(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), LOCK_EX);
	else if (is("shared"))
		pthread_mutex_lock(&stage->mutex);
	else if (read(ends[0], &byte, 1) < 0)
		exit(1);
	sleep_for_ever();
	return NULL;
}

static int has_two_processes(void)
{
	return is("flock") || is("shared") || is("pipe") || is("tcp") || is("unix");
}

/* Until the waiter waits: its switches do not change any more. */
static void tell(void)
{
	while (!stage->holder || !stage->waiter)
		usleep(1000);
	usleep(100000);
	printf("ready %u %u\n", stage->holder, stage->waiter);
	fflush(stdout);
	sleep_for_ever();
}

int main(int argc, char **argv)
{
	static int ends[2] = { -1, -1 };
	pthread_t thread;

	if (argc < 2)
		return 2;
	kind = argv[1];
	path = argc > 2 ? argv[2] : "";
	stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (stage == MAP_FAILED)
		return 1;
	init_mutex(&stage->mutex);
	init_mutex(&stage->other);
	pthread_rwlock_init(&stage->rwlock, NULL);
	/* A contended mutex of a thread that there is not. */
	stage->words[0] = 2;
	stage->words[2] = 4194303;
	if (has_two_processes()) {
		in_pair(ends);
		if (fork() == 0)
			hold_in_process(ends);
		if (ends[1] >= 0)
			close(ends[1]);
		while (!stage->holder)
			usleep(1000);
		pthread_create(&thread, NULL, wait_for_process, ends);
		tell();
	}
	if (is("garbage"))
		stage->holder = own_tid();
	else if (!is("self"))
		pthread_create(&holding, NULL, hold, NULL);
	while (!stage->holder && !is("self"))
		usleep(1000);
	pthread_create(&thread, NULL, wait_for_it, NULL);
	tell();
}
