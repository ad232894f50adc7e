/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tools/record-fixtures records: one process for each row of `processes`, each of which does
 * one thing that leaves a mark in /proc and then stays.
 *
 * Everything starts blocked. "ready" on standard output says that all are; a line on standard
 * input releases them; "done" says that all have done their thing.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB          ((size_t)1 << 20)
#define PAGE         ((size_t)4096)

/* Every process inherits these: the gate ends when all may go, the report takes a byte from each
 * that is ready and another that is done. */
enum { GATE = 10, REPORT = 11 };

static void report(void)
{
	if (write(REPORT, "", 1) != 1)
		err(1, "report");
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void enter_cgroup(const char *cgroup)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		err(1, "%s", path);
	close(fd);
}

static void start_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument))
		errx(1, "pthread_create");
}

/* --- what the processes do --- */

static void sleeps(void)
{
	for (int i = 0; i < 20; i++)
		nap();
}

static void burns(void)
{
	uint64_t end = thread_cpu_ns() + 300000000;

	while (thread_cpu_ns() < end)
		;
}

/* Threads that hand a token around: each waits for its own semaphore and posts the next one's. */
static sem_t turns[3], rounds_over;

static void *hand_on(void *argument)
{
	uintptr_t i = (uintptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", (unsigned)i);
	prctl(PR_SET_NAME, name);
	for (int round = 0; round < 50; round++) {
		sem_wait(&turns[i]);
		sem_post(&turns[(i + 1) % COUNT(turns)]);
	}
	sem_post(&rounds_over);
	pause();
	return NULL;
}

static void pools(void)
{
	for (uintptr_t i = 0; i < COUNT(turns); i++)
		start_thread(hand_on, (void *)i);
	sem_post(&turns[0]);
	for (size_t i = 0; i < COUNT(turns); i++)
		sem_wait(&rounds_over);
}

static int open_disk(int flags)
{
	int fd = open("/dev/vda", O_RDWR | flags);

	if (fd < 0)
		err(1, "/dev/vda");
	return fd;
}

static char *map_pages(size_t bytes)
{
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		err(1, "mmap");
	return pages;
}

static void touch(char *pages, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		pages[at]++;
}

/* Waits for the disk; and dirty pages that never get there. */
static void copies(void)
{
	uint64_t end_of_disk[2] = { 32 * MIB, MIB };
	int direct = open_disk(O_DIRECT), cached = open_disk(0);
	char *block = map_pages(64 * 1024);

	for (size_t at = 0; at < 2 * MIB; at += 64 * 1024)
		if (pread(direct, block, 64 * 1024, (off_t)at) != 64 * 1024)
			err(1, "read");
	if (pwrite(cached, block, 64 * 1024, 0) != 64 * 1024 || fsync(cached))
		err(1, "write");
	if (pwrite(cached, block, 64 * 1024, (off_t)end_of_disk[0]) != 64 * 1024)
		err(1, "write");
	if (ioctl(cached, BLKZEROOUT, end_of_disk))
		err(1, "BLKZEROOUT");
}

/* More memory than its cgroup may have, twice over: reclaim, swap and pages read again. */
static void swaps(void)
{
	const size_t bytes = 24 * MIB;
	char *pages = map_pages(bytes), *block = map_pages(MIB);
	int disk = open_disk(0);

	for (int round = 0; round < 2; round++) {
		touch(pages, bytes);
		for (size_t at = 0; at < bytes; at += MIB)
			if (pread(disk, block, MIB, (off_t)at) != (ssize_t)MIB)
				err(1, "read");
	}
}

/* Its child writes to shared pages, and stays a zombie in a cgroup that is removed. */
static void forks(void)
{
	char *pages = map_pages(MIB);

	touch(pages, MIB);
	if (fork() == 0) {
		enter_cgroup("/fixture/gone");
		prctl(PR_SET_NAME, "zombie");
		touch(pages, MIB);
		_exit(0);
	}
	nap();
	touch(pages, MIB);
}

static void *stay_on(void *unused)
{
	prctl(PR_SET_NAME, "orphan");
	nap();
	report();
	pause();
	return unused;
}

static void loses_its_leader(void)
{
	start_thread(stay_on, NULL);
	pthread_exit(NULL);
}

/* The caller of vfork waits, uninterruptible, for as long as the child lives. */
static void vforks(void)
{
	report();
	if (vfork() == 0) {
		prctl(PR_SET_NAME, "vforked");
		for (;;)
			syscall(SYS_pause);
	}
}

static void stops(void)
{
	report();
	raise(SIGSTOP);
}

static void becomes_a_user(void)
{
	if (setgid(1000) || setuid(1000))
		err(1, "setuid");
	sleeps();
}

/* As include/uapi/linux/sched.h numbers the policies. */
enum { OTHER, FIFO, RR, BATCH, IDLE = 5, DEADLINE, EXT };

/* struct sched_attr of sched_setattr(2), which this C library does not declare. */
struct policy {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	const char *name;
};

/* Not every kernel knows SCHED_EXT. */
static void set_policy(struct policy policy)
{
	policy.size = offsetof(struct policy, name);
	if (syscall(SYS_sched_setattr, 0, &policy, 0) && policy.policy != EXT)
		err(1, "sched_setattr %s", policy.name);
}

static void *run_policy(void *argument)
{
	const struct policy *policy = argument;

	prctl(PR_SET_NAME, policy->name);
	set_policy(*policy);
	sleeps();
	sem_post(&rounds_over);
	pause();
	return NULL;
}

static void has_policies(void)
{
	static struct policy policies[] = {
		{ .policy = OTHER, .nice = -7, .name = "other" },
		{ .policy = FIFO, .priority = 10, .name = "fifo" },
		{ .policy = RR, .priority = 20, .name = "round-robin" },
		{ .policy = BATCH, .nice = 5, .name = "batch" },
		{ .policy = IDLE, .name = "idle" },
		{ .policy = DEADLINE,
		  .runtime = 1000000,
		  .deadline = 20000000,
		  .period = 20000000,
		  .name = "deadline" },
		{ .policy = EXT, .name = "ext" },
	};

	for (size_t i = 0; i < COUNT(policies); i++)
		start_thread(run_policy, &policies[i]);
	for (size_t i = 0; i < COUNT(policies); i++)
		sem_wait(&rounds_over);
}

/* In no one's way, and always runnable. */
static void spins(void)
{
	set_policy((struct policy){ .policy = IDLE, .name = "spinner" });
	report();
	for (;;)
		;
}

static const struct process {
	const char *name;
	void (*work)(void);
	const char *cgroup;
	int cpu;      /* the one CPU it may use; 0: all */
	bool reports; /* its work says by itself that it is done */
} processes[] = {
	{ "sleeper", sleeps, "/fixture/free", 0, false },
	{ "hog-a", burns, "/fixture/limited/cpu", 1, false },
	{ "hog-b", burns, "/fixture/limited/cpu", 1, false },
	{ "pool", pools, "/fixture/free", 0, false },
	{ "odd) 1 (2\n)name", sleeps, "/fixture/free", 0, false },
	{ "\next.enabled:1\n", sleeps, "/fixture/free", 0, false },
	{ "copier", copies, "/fixture/free", 0, false },
	{ "swapper", swaps, "/fixture/limited/memory", 0, false },
	{ "forker", forks, "/fixture/free", 0, false },
	{ "leaderless", loses_its_leader, "/fixture/free", 0, true },
	{ "vforker", vforks, "/fixture/free", 0, true },
	{ "stopped", stops, "/fixture/free", 0, true },
	{ "user", becomes_a_user, "/fixture/free", 0, false },
	{ "policies", has_policies, "/", 0, false },
	{ "spinner", spins, "/", 0, true },
};

/* --- a process, in a program image of its own so that it has its own command line --- */

static int be(const struct process *process)
{
	cpu_set_t cpus;
	char byte;

	prctl(PR_SET_NAME, process->name);
	enter_cgroup(process->cgroup);
	CPU_ZERO(&cpus);
	CPU_SET(process->cpu, &cpus);
	if (process->cpu && sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
	report();
	while (read(GATE, &byte, 1) > 0)
		;
	process->work();
	if (!process->reports)
		report();
	for (;;)
		pause();
}

static void start(const struct process *process)
{
	if (fork())
		return;
	execl("/proc/self/exe", "workload", process->name, "with two words", NULL);
	err(1, "exec");
}

static void wait_for_all(int reports, const char *word)
{
	char byte;

	for (size_t i = 0; i < COUNT(processes); i++)
		if (read(reports, &byte, 1) != 1)
			err(1, "reports");
	puts(word);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int gate[2], reports[2];

	for (size_t i = 0; argc > 1 && i < COUNT(processes); i++)
		if (strcmp(argv[1], processes[i].name) == 0)
			return be(&processes[i]);
	if (pipe2(gate, O_CLOEXEC) || pipe2(reports, O_CLOEXEC))
		err(1, "pipe");
	if (dup2(gate[0], GATE) < 0 || dup2(reports[1], REPORT) < 0)
		err(1, "dup2");
	for (size_t i = 0; i < COUNT(processes); i++)
		start(&processes[i]);
	wait_for_all(reports[0], "ready");
	getchar();
	close(gate[1]);
	wait_for_all(reports[0], "done");
	for (;;)
		pause();
}
