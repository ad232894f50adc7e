/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd FOLDER: processes and threads that come and go, as many as are asked for on its input, a
 * line each:
 *
 *	processes N    begins N processes, one after the other, some at a time, and waits for them
 *	threads N      begins N threads and keeps them
 *	end            ends those threads
 *
 * Prints "ready", and "done" after each line, when all of it was done.
 *
 * No two processes are the same to who watches them: a part executes a program, of which the loader
 * puts the code somewhere else each time, a part of those by a path that nobody had before (in
 * FOLDER); a part makes code; all have names of their own, and sleep at different depths.
 */
#include <err.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 16

static const char *program;
static const char *folder;

/* --- processes --- */

static __attribute__((noinline)) long nap(unsigned long depth, long ns)
{
	const struct timespec time = { .tv_nsec = ns };
	volatile long below = 0;

	if (!depth)
		return nanosleep(&time, NULL);
	/* Not a jump. */
	below += nap(depth - 1, ns);
	return below;
}

static void live(unsigned long number)
{
	char name[16];

	snprintf(name, sizeof(name), "c%lu", number);
	prctl(PR_SET_NAME, name);
	nap(number % 8, 50000);
	nap(number % 5, 50000);
}

static void make_code(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		err(1, "mmap");
	munmap(code, 4096);
}

static void execute(unsigned long number, bool has_own_path)
{
	char path[PATH_MAX], text[32];

	snprintf(text, sizeof(text), "%lu", number);
	snprintf(path, sizeof(path), "%s/crowd-%lu", folder, number);
	if (has_own_path && link(program, path))
		err(1, "%s", path);
	execl(has_own_path ? path : program, "crowd", "live", text, has_own_path ? path : "", NULL);
	err(1, "%s", program);
}

static void begin_process(unsigned long number)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return;
	if (number % 4 == 1)
		make_code();
	if (number % 4 >= 2)
		execute(number, number % 4 == 3);
	live(number);
	_exit(0);
}

static void wait_for_one(void)
{
	int status;

	if (wait(&status) < 0 || status)
		errx(1, "a process failed");
}

static void begin_processes(unsigned long count)
{
	static unsigned long number;
	unsigned long running = 0;

	for (unsigned long i = 0; i < count; i++) {
		if (running == AT_ONCE)
			wait_for_one();
		else
			running++;
		begin_process(number++);
	}
	while (running--)
		wait_for_one();
}

/* --- threads --- */

static sem_t over;
static pthread_t *threads;
static size_t thread_count;

static void *wait_for_end(void *unused)
{
	sem_wait(&over);
	return unused;
}

static void begin_threads(size_t count)
{
	pthread_attr_t attributes;

	threads = calloc(count, sizeof(*threads));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (thread_count = 0; thread_count < count; thread_count++)
		if (!threads ||
		    pthread_create(&threads[thread_count], &attributes, wait_for_end, NULL))
			errx(1, "there can be no %zu threads", count);
	pthread_attr_destroy(&attributes);
}

static void end_threads(void)
{
	for (size_t i = 0; i < thread_count; i++)
		sem_post(&over);
	for (size_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	threads = NULL;
	thread_count = 0;
}

int main(int argc, char **argv)
{
	char line[64], path[PATH_MAX];
	ssize_t length;

	if (argc == 4 && strcmp(argv[1], "live") == 0) {
		live(strtoul(argv[2], NULL, 10));
		return *argv[3] ? unlink(argv[3]) : 0;
	}
	if (argc != 2)
		errx(2, "usage: crowd FOLDER");
	length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length < 0)
		err(1, "/proc/self/exe");
	path[length] = '\0';
	program = path;
	folder = argv[1];
	sem_init(&over, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long count = strtoul(line + strcspn(line, " \n"), NULL, 10);

		if (strncmp(line, "processes ", 10) == 0)
			begin_processes(count);
		else if (strncmp(line, "threads ", 8) == 0)
			begin_threads(count);
		else
			end_threads();
		puts("done");
	}
	return 0;
}
