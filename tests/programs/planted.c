/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change that is known: `planted KIND` does nothing of note, prints "ready", and at SIGUSR1
 * begins what KIND says, for as long as it lives.
 *
 *	burn	one thread computes
 *	starve	four threads compute on one CPU, and wait for it
 *	write	writes a file over and over
 *	fault	touches new pages
 *	leak	keeps ever more memory, without a fault for each page
 *	still	the reverse: two threads compute, from the start, and then wait for a lock
 *
 * `planted KIND now` begins at once.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STARVED 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_over;

static void *burn(void *unused)
{
	for (volatile unsigned n = 0;; n++)
		;
	return unused;
}

static void *burn_until_told(void *unused)
{
	while (!is_over)
		;
	pthread_mutex_lock(&lock);
	return unused;
}

static void start_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		errx(1, "cannot start a thread");
}

static void begin_burn(void)
{
	start_thread(burn);
}

static void begin_starve(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		err(1, "CPU 0");
	for (int i = 0; i < STARVED; i++)
		start_thread(burn);
}

static void *write_file(void *unused)
{
	static char bytes[256 << 10];
	FILE *file = tmpfile();

	if (!file)
		err(1, "temporary file");
	for (;;) {
		if (ftruncate(fileno(file), 0))
			err(1, "temporary file");
		for (off_t at = 0; at < 64 << 20; at += (off_t)sizeof(bytes))
			if (pwrite(fileno(file), bytes, sizeof(bytes), at) < 0)
				err(1, "temporary file");
	}
	return unused;
}

static void begin_write(void)
{
	start_thread(write_file);
}

static void *touch_pages(void *unused)
{
	const size_t size = 16 << 20;
	const long page = sysconf(_SC_PAGESIZE);

	for (;;) {
		volatile char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			err(1, "mmap");
		for (size_t at = 0; at < size; at += (size_t)page)
			pages[at] = 1;
		munmap((void *)pages, size);
	}
	return unused;
}

static void begin_fault(void)
{
	start_thread(touch_pages);
}

#define LEAK_MOST (512 << 20)

static void *leak_pages(void *unused)
{
	const size_t size = 1 << 20;

	for (size_t held = 0; held < LEAK_MOST; held += size) {
		if (mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
			err(1, "mmap");
		usleep(1000);
	}
	return unused;
}

static void begin_leak(void)
{
	start_thread(leak_pages);
}

static void begin_still(void)
{
	is_over = true;
}

static const struct {
	const char *name;
	void (*begin)(void);
} kinds[] = {
	{ "burn", begin_burn },   { "starve", begin_starve }, { "write", begin_write },
	{ "fault", begin_fault }, { "leak", begin_leak },     { "still", begin_still },
};

int main(int argc, char **argv)
{
	bool now = argc == 3 && strcmp(argv[2], "now") == 0;
	size_t kind = 0, count = sizeof(kinds) / sizeof(*kinds);
	sigset_t begin;
	int got;

	while (argc > 1 && kind < count && strcmp(argv[1], kinds[kind].name) != 0)
		kind++;
	if (argc < 2 || kind == count)
		errx(2, "usage: planted burn|starve|write|fault|leak|still [now]");
	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, NULL);
	if (kinds[kind].begin == begin_still) {
		pthread_mutex_lock(&lock);
		for (int i = 0; i < 2; i++)
			start_thread(burn_until_told);
	}
	puts("ready");
	fflush(stdout);
	if (!now)
		sigwait(&begin, &got);
	kinds[kind].begin();
	pause();
	return 0;
}
