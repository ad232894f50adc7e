/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for locks, and for what looks like locks. */
#include <err.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "states.h"

#define HOLD (20 * NS_PER_MS) /* locks of the kernel change hands about as often */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, priority_mutex, pool_mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t pool = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

/* Before there are others: the main thread has them all. */
static __attribute__((constructor)) void take_locks(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&priority_mutex, &attributes);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&priority_mutex);
	pthread_rwlock_wrlock(&rwlock);
	sem_init(&semaphore, 0, 0);
}

static void run_mutex(struct life *life)
{
	begin(life);
	pthread_mutex_lock(&mutex);
}

static void run_priority_mutex(struct life *life)
{
	begin(life);
	pthread_mutex_lock(&priority_mutex);
}

static void run_rwlock(struct life *life)
{
	begin(life);
	pthread_rwlock_wrlock(&rwlock);
}

static void run_pool(struct life *life)
{
	pthread_mutex_lock(&pool_mutex);
	begin(life);
	for (;;)
		pthread_cond_wait(&pool, &pool_mutex);
}

static void run_semaphore(struct life *life)
{
	begin(life);
	for (;;)
		sem_wait(&semaphore);
}

static int memory_file(void)
{
	int fd = memfd_create("states", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, PAGE))
		err(1, "memory");
	return fd;
}

/* Another opening of the file has it. */
static void run_flock(struct life *life)
{
	char path[64];
	int first = memory_file(), second;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", first);
	second = open(path, O_RDWR | O_CLOEXEC);
	if (second < 0 || flock(first, LOCK_EX))
		err(1, "flock");
	begin(life);
	flock(second, LOCK_EX);
}

/* --- locks of the kernel: who has one sleeps, so that the other does not spin --- */

static void start_helper(void *(*run)(void *))
{
	pthread_t helper;

	if (pthread_create(&helper, NULL, run, NULL))
		errx(1, "no thread");
}

/* A terminal has a mutex for those who read: one waits for input, with it, the other for it. */
static int terminal[2];

static void *feed(void *unused)
{
	prctl(PR_SET_NAME, "feeder");
	for (;; nap(HOLD))
		if (write(terminal[0], "x", 1) != 1)
			err(1, "terminal");
	return unused;
}

static void open_terminal(void)
{
	struct termios raw;

	terminal[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal[0] < 0 || grantpt(terminal[0]) || unlockpt(terminal[0]))
		err(1, "no terminal");
	terminal[1] = open(ptsname(terminal[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal[1] < 0 || tcgetattr(terminal[1], &raw))
		err(1, "%s", ptsname(terminal[0]));
	cfmakeraw(&raw);
	tcsetattr(terminal[1], TCSANOW, &raw);
	start_helper(feed);
}

static void run_kernel_mutex(struct life *life)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char byte;

	pthread_once(&once, open_terminal);
	begin(life);
	for (;;)
		(void)!read(terminal[1], &byte, 1);
}

/* A file has a semaphore for those who write: one waits, with it, for a page of what it writes,
 * until the helper thinks that it may have it; the other for it. */
static int faults, written;

static void *resolve(void *unused)
{
	struct uffd_msg fault;

	prctl(PR_SET_NAME, "resolver");
	while (read(faults, &fault, sizeof(fault)) == sizeof(fault)) {
		struct uffdio_zeropage page = {
			.range = { fault.arg.pagefault.address & ~(uint64_t)(PAGE - 1), PAGE }
		};

		nap(HOLD);
		ioctl(faults, UFFDIO_ZEROPAGE, &page);
	}
	return unused;
}

static void open_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
		err(1, "userfaultfd");
	written = memory_file();
	start_helper(resolve);
}

static void run_kernel_rwsem(struct life *life)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (uintptr_t)page, PAGE },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };

	pthread_once(&once, open_faults);
	if (page == MAP_FAILED || ioctl(faults, UFFDIO_REGISTER, &range))
		err(1, "userfaultfd");
	begin(life);
	for (;;) {
		if (pwrite(written, page, 1, 0) != 1)
			err(1, "write");
		madvise(page, PAGE, MADV_DONTNEED);
	}
}

const struct behaviour lock_behaviours[] = {
	{ "mutex", "mutex", "lock_futex", run_mutex, false, 0 },
	{ "priority_mutex", "priority_mutex", "lock_futex", run_priority_mutex, false, 0 },
	{ "rwlock", "rwlock", "lock_futex", run_rwlock, false, 0 },
	{ "cond_pool", "cond_pool", "idle_cond", run_pool, false, 3 },
	{ "semaphore", "semaphore", "idle_cond", run_semaphore, false, 0 },
	{ "flock", "flock", "lock_kernel", run_flock, false, 0 },
	{ "kernel_mutex", "kernel_mutex", "lock_kernel|sleep", run_kernel_mutex, false, 2 },
	{ "kernel_rwsem", "kernel_rwsem", "lock_kernel|sleep", run_kernel_rwsem, false, 2 },
	{ 0 },
};
