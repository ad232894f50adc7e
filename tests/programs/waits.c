/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits FILE COUNT MS [KIND...]: a thread or child for each kind of wait (all without any), named
 * after it, that waits COUNT times for MS milliseconds. Each says at its end what its own clocks
 * know, in nanoseconds, in a line of
 *
 *	KIND TID KNOWN CPU DELAY INNER OUTER
 *
 * KNOWN is what it waited: the time that passed, less its CPU time and its wait for a CPU (as
 * /proc/thread-self/schedstat has it). It then waits in poll(2) for the others. CPU and DELAY are
 * those of its life up to this line. It lived for at least INNER, and at most OUTER. FILE is read
 * from its disk by `disk`, and has 4 MiB.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)
#define BLOCK     (1u << 20)

static unsigned long count, ms;
/* Who is done waits for the others, so that nobody needs a CPU when they end. */
static int all_done[2];
static unsigned *done;
static const char *file;

/* One thread or child, in memory that children share. */
struct waiting {
	const struct kind *kind;
	pthread_t thread;
	int tid;
	pid_t child;
	int pipe[2];
	uint64_t created, begun, ended, gone;
	uint64_t known, cpu, delay;
	volatile bool is_done;
};

struct kind {
	const char *name;
	void (*run)(struct waiting *w);
	bool is_child;
	void (*help)(struct waiting *w); /* from a thread of its own */
};

/* --- clocks --- */

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static struct timespec length(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

static void nap(uint64_t ns)
{
	const struct timespec time = length(ns);

	nanosleep(&time, NULL);
}

static uint64_t run_delay(void)
{
	char text[100] = "";
	uint64_t delay;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%*u %" SCNu64, &delay) != 1)
		err(1, "schedstat");
	close(fd);
	return delay;
}

/* --- kinds --- */

static void wait_sleep(struct waiting *w)
{
	(void)w;
	nap(ms * NS_PER_MS);
}

static void wait_futex(struct waiting *w)
{
	const struct timespec time = length(ms * NS_PER_MS);
	uint32_t word = 0;

	(void)w;
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

static void wait_pipe(struct waiting *w)
{
	char byte;

	if (read(w->pipe[0], &byte, 1) != 1)
		err(1, "pipe");
}

static void help_pipe(struct waiting *w)
{
	for (unsigned long i = 0; i < count; i++) {
		nap(ms * NS_PER_MS);
		if (write(w->pipe[1], "", 1) != 1)
			err(1, "pipe");
	}
}

/* Who is waited for is gone then, but for its number, which goes with us: taking that would be
 * another wait. */
static void wait_vfork(struct waiting *w)
{
	(void)w;
	if (vfork() == 0) {
		nap(ms * NS_PER_MS);
		_exit(0);
	}
}

/* Both stop themselves; who goes on with them is below. */
static void wait_stop(struct waiting *w)
{
	(void)w;
	raise(SIGSTOP);
}

static void go_on(struct waiting *w, bool is_traced)
{
	int status;

	for (unsigned long i = 0; i < count; i++) {
		if (waitpid(w->child, &status, WUNTRACED) != w->child || !WIFSTOPPED(status))
			errx(1, "%s did not stop", w->kind->name);
		nap(ms * NS_PER_MS);
		if (is_traced ? ptrace(PTRACE_CONT, w->child, NULL, NULL) != 0
			      : kill(w->child, SIGCONT) != 0)
			err(1, "%s", w->kind->name);
	}
}

/* What sleeps while it is told to run elsewhere. */
static void help_migrate(struct waiting *w)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpu;

	for (unsigned i = 0; !w->is_done; i++) {
		CPU_ZERO(&cpu);
		CPU_SET(i % (unsigned)cpus, &cpu);
		if (w->tid)
			sched_setaffinity(w->tid, sizeof(cpu), &cpu);
		nap(ms * NS_PER_MS / 3);
	}
}

/* What gets another name while it sleeps. */
static void help_rename(struct waiting *w)
{
	for (unsigned long i = 0; i < count; i++) {
		nap(ms * NS_PER_MS / 2);
		pthread_setname_np(w->thread, "renamed");
	}
}

/* Runs for a third of the time, and waits for a CPU when hogs are there. */
static void wait_mixed(struct waiting *w)
{
	const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * NS_PER_MS / 3;

	(void)w;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	nap(ms * NS_PER_MS * 2 / 3);
}

/* There are two of them on one CPU. */
static void wait_hog(struct waiting *w)
{
	const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * NS_PER_MS / 2;
	cpu_set_t cpu;

	(void)w;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void wait_disk(struct waiting *w)
{
	static char block[BLOCK] __attribute__((aligned(4096)));
	const uint64_t end = now(CLOCK_MONOTONIC) + ms * NS_PER_MS;
	int fd = open(file, O_RDONLY | O_DIRECT | O_CLOEXEC);

	(void)w;
	if (fd < 0)
		err(1, "%s", file);
	while (now(CLOCK_MONOTONIC) < end)
		if (pread(fd, block, BLOCK, rand() % 4 * (off_t)BLOCK) != BLOCK)
			err(1, "%s", file);
	close(fd);
}

static const struct kind kinds[] = {
	{ "sleep", wait_sleep, false, NULL },
	{ "futex", wait_futex, false, NULL },
	{ "pipe", wait_pipe, false, help_pipe },
	{ "vfork", wait_vfork, false, NULL },
	{ "stop", wait_stop, true, NULL },
	{ "trace", wait_stop, true, NULL },
	{ "migrate", wait_sleep, false, help_migrate },
	{ "rename", wait_sleep, false, help_rename },
	{ "mixed", wait_mixed, false, NULL },
	{ "hog-1", wait_hog, false, NULL },
	{ "hog-2", wait_hog, false, NULL },
	{ "disk", wait_disk, false, NULL },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- running them --- */

/* By a call that no kind makes, until the other end of the pipe is closed. */
static void await_others(void)
{
	struct pollfd closed = { .fd = all_done[0] };

	__atomic_add_fetch(done, 1, __ATOMIC_SEQ_CST);
	poll(&closed, 1, -1);
}

static void *run(void *argument)
{
	struct waiting *w = argument;
	uint64_t before_cpu, before_delay, before, passed, busy;

	w->begun = now(CLOCK_MONOTONIC);
	prctl(PR_SET_NAME, w->kind->name);
	w->tid = (int)gettid();
	if (w->kind->is_child && strcmp(w->kind->name, "trace") == 0)
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	before_delay = run_delay();
	before_cpu = now(CLOCK_THREAD_CPUTIME_ID);
	before = now(CLOCK_MONOTONIC);
	for (unsigned long i = 0; i < count; i++)
		w->kind->run(w);
	passed = now(CLOCK_MONOTONIC) - before;
	busy = now(CLOCK_THREAD_CPUTIME_ID) - before_cpu + run_delay() - before_delay;
	w->known = passed > busy ? passed - busy : 0;
	w->is_done = true;
	await_others();
	w->cpu = now(CLOCK_THREAD_CPUTIME_ID);
	w->delay = run_delay();
	w->ended = now(CLOCK_MONOTONIC);
	return NULL;
}

static void *help(void *argument)
{
	struct waiting *w = argument;

	prctl(PR_SET_NAME, "helper");
	w->kind->help(w);
	return NULL;
}

/* A thread that has the child, or that waits for the other. */
static void *mind(void *argument)
{
	struct waiting *w = argument;
	pthread_t helper;

	prctl(PR_SET_NAME, "minder");
	w->created = now(CLOCK_MONOTONIC);
	if (w->kind->is_child) {
		pid_t child = fork();

		if (child == 0) {
			close(all_done[1]);
			run(w);
			_exit(0);
		}
		w->child = child;
		go_on(w, strcmp(w->kind->name, "trace") == 0);
		waitpid(w->child, NULL, 0);
	} else {
		if (pipe(w->pipe) || pthread_create(&w->thread, NULL, run, w) ||
		    (w->kind->help && pthread_create(&helper, NULL, help, w)))
			errx(1, "no thread");
		pthread_join(w->thread, NULL);
	}
	w->gone = now(CLOCK_MONOTONIC);
	if (!w->kind->is_child && w->kind->help)
		pthread_join(helper, NULL);
	return NULL;
}

static bool is_named(const char *name, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 4;
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "memory");
	return memory;
}

int main(int argc, char **argv)
{
	struct waiting *all = shared(KINDS * sizeof(*all));
	pthread_t minders[KINDS];
	unsigned wanted = 0;

	if (argc < 4)
		errx(2, "usage: waits FILE COUNT MS [KIND...]");
	file = argv[1];
	count = strtoul(argv[2], NULL, 10);
	ms = strtoul(argv[3], NULL, 10);
	for (size_t i = 0; i < KINDS; i++)
		wanted += is_named(kinds[i].name, argc, argv);
	done = shared(sizeof(*done));
	if (!wanted || pipe(all_done))
		errx(2, "no such kind");
	for (size_t i = 0; i < KINDS; i++) {
		if (!is_named(kinds[i].name, argc, argv))
			continue;
		all[i].kind = &kinds[i];
		if (pthread_create(&minders[i], NULL, mind, &all[i]))
			errx(1, "no thread");
	}
	while (__atomic_load_n(done, __ATOMIC_SEQ_CST) < wanted)
		nap(NS_PER_MS);
	close(all_done[1]);
	for (size_t i = 0; i < KINDS; i++) {
		const struct waiting *w = &all[i];

		if (!w->kind)
			continue;
		pthread_join(minders[i], NULL);
		printf("%s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       w->kind->name, w->tid, w->known, w->cpu, w->delay, w->ended - w->begun,
		       w->gone - w->created);
	}
	return 0;
}
