/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap THREADS [vfork|hang]: threads that allocate and free by jemalloc, each another amount; then
 * all sleep, but for the last one, which spins. Prints what jemalloc itself says of each, and where
 * its storage is:
 *
 *	thread TID ALLOCATED DEALLOCATED THREAD_POINTER
 *	...
 *	ready
 *
 * With "vfork" the second thread waits for a child in vfork(2), in uninterruptible sleep, for a
 * second after the others are ready; then the program prints "awake".
 *
 * With "hang" whoever reads the storage of the second thread waits for as long as the program runs:
 * nobody answers to its faults (userfaultfd(2); needs root). Without it the status is 3.
 *
 * It is built with jemalloc in several ways, and without: for LD_PRELOAD. PREFIX is that of the
 * functions of jemalloc.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PREFIX
#define PREFIX
#endif
#define JOIN_(a, b)    a##b
#define JOIN(a, b)     JOIN_(a, b)
#define NAME(function) JOIN(PREFIX, function)

/* What is not linked may still be preloaded. */
int NAME(mallctl)(const char *name, void *old, size_t *old_length, void *new, size_t new_length)
	__attribute__((weak));
void *NAME(malloc)(size_t size);
void NAME(free)(void *pointer);

struct thread {
	uint64_t allocated, deallocated, pointer;
	unsigned number;
	bool spins, forks;
	_Atomic int tid; /* comes last */
};

static uint64_t thread_pointer(void)
{
#if defined(__x86_64__)
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#else
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#endif
}

static uint64_t count_of(const char *name)
{
	uint64_t count;
	size_t length = sizeof(count);

	if (!NAME(mallctl) || NAME(mallctl)(name, &count, &length, NULL, 0))
		errx(1, "no mallctl");
	return count;
}

static void allocate(unsigned number)
{
	for (unsigned i = 0; i < 50 + number % 100; i++) {
		void *volatile pointer = NAME(malloc)(1000 + 100 * i);

		if (!pointer)
			errx(1, "malloc");
		if (i % 3)
			NAME(free)(pointer);
	}
}

/* Allocates nothing itself, nor does what follows. */
static void tell(struct thread *thread)
{
	thread->pointer = thread_pointer();
	thread->allocated = count_of("thread.allocated");
	thread->deallocated = count_of("thread.deallocated");
	thread->tid = gettid();
}

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print(const char *format, ...)
{
	char line[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		err(1, "write");
}

static void wait_for_child(void)
{
	/* All are ready by the time it sleeps. */
	usleep(200 * 1000);
	print("waiting\n");
	if (vfork() == 0) {
		sleep(1);
		_exit(0);
	}
	print("awake\n");
}

static void *work(void *context)
{
	struct thread *thread = context;
	bool spins = thread->spins;

	allocate(thread->number);
	tell(thread);
	if (thread->forks)
		wait_for_child();
	for (;;)
		if (!spins)
			pause();
	return NULL;
}

static void start(struct thread *threads, unsigned count, bool fork)
{
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (unsigned i = 1; i < count; i++) {
		pthread_t thread;

		threads[i].number = i;
		threads[i].spins = i == count - 1;
		threads[i].forks = fork && i == 1;
		if (pthread_create(&thread, &small, work, &threads[i]))
			errx(1, "no thread");
	}
	for (unsigned i = 1; i < count; i++)
		while (!threads[i].tid)
			usleep(1000);
}

/* Its storage is below the thread pointer, and within the page before that of the pointer. The
 * thread sleeps, and never wakes to find it gone. */
static void hang(const struct thread *thread)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (thread->pointer & -page) - page, 2 * page },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api)) {
		warn("userfaultfd");
		exit(3);
	}
	usleep(100 * 1000);
	if (ioctl(fd, UFFDIO_REGISTER, &range) ||
	    madvise((void *)(uintptr_t)range.range.start, range.range.len, MADV_DONTNEED))
		err(1, "userfaultfd");
}

int main(int argc, char **argv)
{
	bool fork = argc == 3 && strcmp(argv[2], "vfork") == 0;
	bool hangs = argc == 3 && strcmp(argv[2], "hang") == 0;
	unsigned count = argc == 2 || fork || hangs ? (unsigned)atoi(argv[1]) : 0;
	struct thread *threads = count ? NAME(malloc)(count * sizeof(*threads)) : NULL;

	if (!threads)
		errx(2, "usage: heap THREADS [vfork|hang]");
	memset(threads, 0, count * sizeof(*threads));
	start(threads, count, fork);
	allocate(0);
	tell(&threads[0]);
	for (unsigned i = 0; i < count; i++)
		print("thread %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", threads[i].tid,
		      threads[i].allocated, threads[i].deallocated, threads[i].pointer);
	if (hangs && count > 2)
		hang(&threads[1]);
	print("ready\n");
	for (;;)
		pause();
}
