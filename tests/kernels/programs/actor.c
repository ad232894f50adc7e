/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actor NAME: a process of one thread that does what it is told, a line of standard input at a
 * time, and says by its own clocks and getrusage(2) what it did: a line "VERB KEY=VALUE...", times
 * in ns.
 *
 *	$ actor worker
 *	burn 300
 *	burn cpu=300004211 wall=300010830
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB          ((size_t)1 << 20)
#define PAGE         ((size_t)4096)
#define WORDS        6

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t number(char **words, int at)
{
	if (!words[at])
		errx(2, "%s: a number is missing", words[0]);
	return strtoull(words[at], NULL, 0);
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void say(const char *key, uint64_t value)
{
	printf(" %s=%llu", key, (unsigned long long)value);
}

/* How long single waits took, added up, and the longest. */
struct waits {
	uint64_t start, sum, longest;
};

static void begin(struct waits *waits)
{
	waits->start = now(CLOCK_MONOTONIC);
}

static void end(struct waits *waits)
{
	uint64_t took = now(CLOCK_MONOTONIC) - waits->start;

	waits->sum += took;
	if (took > waits->longest)
		waits->longest = took;
}

static void say_waits(const struct waits *waits)
{
	say("wall", waits->sum);
	say("longest", waits->longest);
}

static void pause_us(uint64_t us)
{
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(us / 1000000),
				      .tv_nsec = (long)(us % 1000000) * 1000 },
		  NULL);
}

/* --- the CPU --- */

/* burn MS: that much time on a CPU. */
static void burn(char **words)
{
	uint64_t wall = now(CLOCK_MONOTONIC), start = now(CLOCK_THREAD_CPUTIME_ID);
	uint64_t spent;

	do
		spent = now(CLOCK_THREAD_CPUTIME_ID) - start;
	while (spent < number(words, 1) * 1000000);
	say("cpu", spent);
	say("wall", now(CLOCK_MONOTONIC) - wall);
}

/* spin MS: run for that long, on a CPU or waiting for one. */
static void spin(char **words)
{
	uint64_t wall = now(CLOCK_MONOTONIC), start = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_MONOTONIC) - wall < number(words, 1) * 1000000)
		;
	say("cpu", now(CLOCK_THREAD_CPUTIME_ID) - start);
	say("wall", now(CLOCK_MONOTONIC) - wall);
}

/* compete MS: the same, and how long its longest wait for a CPU was. */
static void compete(char **words)
{
	uint64_t begun = now(CLOCK_MONOTONIC), started = now(CLOCK_THREAD_CPUTIME_ID);
	uint64_t wall = begun, cpu = started, longest = 0;

	while (wall - begun < number(words, 1) * 1000000) {
		uint64_t wall_then = wall, cpu_then = cpu;

		wall = now(CLOCK_MONOTONIC);
		cpu = now(CLOCK_THREAD_CPUTIME_ID);
		if (wall - wall_then > cpu - cpu_then + longest)
			longest = wall - wall_then - (cpu - cpu_then);
	}
	say("cpu", cpu - started);
	say("wall", wall - begun);
	say("longest", longest);
}

/* compute MS: that much time on a CPU, almost all of it in user mode. */
static void compute(char **words)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + number(words, 1) * 1000000;

	do
		for (volatile int i = 0; i < 100000; i++)
			;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end);
}

/* call MS: that much time on a CPU, almost all of it in the kernel. */
static void call(char **words)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + number(words, 1) * 1000000;
	int fd = open_or_die("/dev/zero", O_RDONLY);
	static char block[16 * PAGE];

	do
		if (read(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			err(1, "/dev/zero");
	while (now(CLOCK_THREAD_CPUTIME_ID) < end);
	close(fd);
}

/* pin CPU */
static void move_to(uint64_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

static void pin(char **words)
{
	move_to(number(words, 1));
}

/* hop N: to CPU 1 and back to 0, N times. */
static void hop(char **words)
{
	for (uint64_t i = 0; i < 2 * number(words, 1); i++)
		move_to(1 - i % 2);
}

/* yield N */
static void yield(char **words)
{
	for (uint64_t i = 0; i < number(words, 1); i++)
		sched_yield();
}

/* --- waiting --- */

/* sleep N US: N sleeps of that length. */
static void sleeps(char **words)
{
	struct waits waits = { 0 };

	for (uint64_t i = 0; i < number(words, 1); i++) {
		begin(&waits);
		pause_us(number(words, 2));
		end(&waits);
	}
	say_waits(&waits);
}

static void ignore(int number)
{
	(void)number;
}

/* alarmed N US: N sleeps of which each is ended by a signal, so many us from now or earlier, as
 * often as not before it has begun. */
static void alarmed(char **words)
{
	struct sigaction action = { .sa_handler = ignore };
	struct waits waits = { 0 };
	uint64_t most = number(words, 2);

	sigaction(SIGALRM, &action, NULL);
	for (uint64_t i = 0; i < number(words, 1); i++) {
		struct itimerval timer = { .it_value.tv_usec = (suseconds_t)(1 + i % most) };

		begin(&waits);
		setitimer(ITIMER_REAL, &timer, NULL);
		pause_us(most * 10);
		end(&waits);
	}
	say_waits(&waits);
}

/* take FIFO N: read a byte N times; give FIFO N US: write one N times, US apart. */
static void take(char **words)
{
	int fd = open_or_die(words[1], O_RDWR);
	struct waits waits = { 0 };
	char byte;

	for (uint64_t i = 0; i < number(words, 2); i++) {
		begin(&waits);
		if (read(fd, &byte, 1) != 1)
			err(1, "%s", words[1]);
		end(&waits);
	}
	say_waits(&waits);
	close(fd);
}

static void give(char **words)
{
	int fd = open_or_die(words[1], O_RDWR);

	for (uint64_t i = 0; i < number(words, 2); i++) {
		pause_us(number(words, 3));
		if (write(fd, "", 1) != 1)
			err(1, "%s", words[1]);
	}
	close(fd);
}

/* vfork US: wait, uninterruptible, for a child that lives that long. */
static void vforks(char **words)
{
	struct timespec life = { .tv_sec = (time_t)(number(words, 1) / 1000000),
				 .tv_nsec = (long)(number(words, 1) % 1000000) * 1000 };
	struct waits waits = { 0 };

	begin(&waits);
	if (vfork() == 0) {
		syscall(SYS_nanosleep, &life, NULL);
		_exit(0);
	}
	end(&waits);
	wait(NULL);
	say_waits(&waits);
}

/* --- files --- */

/* read FILE N BYTES: from its beginning and past all caches. */
static void reads(char **words)
{
	int fd = open_or_die(words[1], O_RDONLY | O_DIRECT);
	size_t bytes = number(words, 3);
	void *block = aligned_alloc(PAGE, bytes);
	struct waits waits = { 0 };

	for (uint64_t i = 0; i < number(words, 2); i++) {
		begin(&waits);
		if (pread(fd, block, bytes, (off_t)(i * bytes)) != (ssize_t)bytes)
			err(1, "%s", words[1]);
		end(&waits);
	}
	say_waits(&waits);
	free(block);
	close(fd);
}

/* dirty FILE N BYTES: write through the cache, and leave it there. */
static void dirty(char **words)
{
	int fd = open_or_die(words[1], O_WRONLY);
	size_t bytes = number(words, 3);
	char *block = calloc(1, bytes);

	for (uint64_t i = 0; i < number(words, 2); i++)
		if (pwrite(fd, block, bytes, (off_t)(i * bytes)) != (ssize_t)bytes)
			err(1, "%s", words[1]);
	free(block);
	close(fd);
}

/* write FILE N BYTES: the same, and on to the disk. */
static void writes(char **words)
{
	int fd = open_or_die(words[1], O_WRONLY);
	struct waits waits = { 0 };

	dirty(words);
	begin(&waits);
	if (fsync(fd))
		err(1, "%s", words[1]);
	end(&waits);
	say_waits(&waits);
	close(fd);
}

/* discard DISK BYTES: from its beginning, with what the cache has of it. */
static void discard(char **words)
{
	int fd = open_or_die(words[1], O_RDWR);
	uint64_t range[2] = { 0, number(words, 2) };

	if (ioctl(fd, BLKZEROOUT, range))
		err(1, "%s", words[1]);
	close(fd);
}

/* --- memory --- */

static char *mapped;
static size_t mapped_bytes;

static void touch_all(void)
{
	for (size_t at = 0; at < mapped_bytes; at += PAGE)
		mapped[at]++;
}

/* touch: every page of `map` again. */
static void touch(char **words)
{
	struct waits waits = { 0 };

	(void)words;
	begin(&waits);
	touch_all();
	end(&waits);
	say("pages", mapped_bytes / PAGE);
	say_waits(&waits);
}

/* map MIB: anonymous memory, every page written once. */
static void map(char **words)
{
	mapped_bytes = number(words, 1) * MIB;
	mapped = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (mapped == MAP_FAILED)
		err(1, "map");
	/* Pages, not huge ones. */
	madvise(mapped, mapped_bytes, MADV_NOHUGEPAGE);
	touch(words);
}

/* huge MIB: the same in huge pages where the kernel has some to give. */
static void huge(char **words)
{
	size_t bytes = number(words, 1) * MIB;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_HUGEPAGE))
		err(1, "huge");
	for (size_t at = 0; at < bytes; at += PAGE)
		memory[at]++;
	munmap(memory, bytes);
}

/* unmap: give them back. */
static void unmap(char **words)
{
	(void)words;
	munmap(mapped, mapped_bytes);
	mapped_bytes = 0;
}

/* copy: write to every page of `map` while a child shares it: as many copies. */
static void copy(char **words)
{
	struct waits waits = { 0 };
	pid_t child = fork();

	(void)words;
	if (child < 0)
		err(1, "fork");
	if (child == 0)
		for (;;)
			pause();
	begin(&waits);
	touch_all();
	end(&waits);
	say("pages", mapped_bytes / PAGE);
	say_waits(&waits);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* zeroes MIB: read every page of new memory, which shows all of them the one page of zeroes; then
 * write: as many copies, and nobody else has a part in them. */
static void zeroes(char **words)
{
	size_t bytes = number(words, 1) * MIB;
	volatile char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct waits waits = { 0 };

	if (memory == MAP_FAILED || madvise((void *)memory, bytes, MADV_NOHUGEPAGE))
		err(1, "zeroes");
	for (size_t at = 0; at < bytes; at += PAGE)
		(void)memory[at];
	begin(&waits);
	for (size_t at = 0; at < bytes; at += PAGE)
		memory[at] = 1;
	end(&waits);
	munmap((void *)memory, bytes);
	say("pages", bytes / PAGE);
	say_waits(&waits);
}

/* fragment MIB: memory of which a page in each 2 MiB stays, so that no huge page fits between them.
 */
static void fragment(char **words)
{
	size_t bytes = number(words, 1) * MIB;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "fragment");
	for (size_t at = 0; at < bytes; at += 2 * MIB)
		madvise(memory + at + PAGE, 2 * MIB - PAGE, MADV_DONTNEED);
}

/* Its pages, each for itself. */
static void read_pages(int fd, size_t from, size_t bytes)
{
	char page[PAGE];

	for (size_t at = from; at < from + bytes; at += PAGE)
		if (pread(fd, page, PAGE, (off_t)at) != (ssize_t)PAGE)
			err(1, "read_pages");
}

/* rounds FILE MIB N: read that much of it, through the cache, N times, and each MiB twice, so that
 * it counts as in use. */
static void rounds(char **words)
{
	int fd = open_or_die(words[1], O_RDONLY);
	struct waits waits = { 0 };

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	begin(&waits);
	for (uint64_t i = 0; i < number(words, 3); i++)
		for (size_t mib = 0; mib < number(words, 2); mib++)
			for (int twice = 0; twice < 2; twice++)
				read_pages(fd, mib * MIB, MIB);
	end(&waits);
	say_waits(&waits);
	close(fd);
}

/* mapped FILE MIB N: the same by mapping it. */
static void mapped_rounds(char **words)
{
	int fd = open_or_die(words[1], O_RDONLY);
	size_t bytes = number(words, 2) * MIB;
	volatile char *file = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	struct waits waits = { 0 };

	if (file == MAP_FAILED)
		err(1, "mapped");
	begin(&waits);
	for (uint64_t i = 0; i < number(words, 3); i++)
		for (size_t at = 0; at < bytes; at += PAGE)
			(void)file[at];
	end(&waits);
	say_waits(&waits);
	munmap((void *)file, bytes);
	close(fd);
}

/* fault FILE PAGES: read that many pages of a mapped file, one MiB apart so that none is read
 * ahead. */
static void fault(char **words)
{
	int fd = open_or_die(words[1], O_RDONLY);
	size_t bytes = number(words, 2) * MIB;
	volatile char *file = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (file == MAP_FAILED)
		err(1, "fault");
	madvise((void *)file, bytes, MADV_RANDOM);
	for (size_t at = 0; at < bytes; at += MIB)
		(void)file[at];
	munmap((void *)file, bytes);
	close(fd);
}

/* --- itself --- */

/* children N: fork that many, which live as long as it does; says how many there are, and 0 or an
 * errno. */
static void children(char **words)
{
	uint64_t forked = 0;
	pid_t child = 0;

	while (forked < number(words, 1) && (child = fork()) > 0)
		forked++;
	if (child == 0 && forked < number(words, 1)) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	say("forked", forked);
	say("failed", child < 0 ? (uint64_t)errno : 0);
}

/* usage: what getrusage(2) counts for this thread, its time on a CPU, and how long a tick is. */
static void usage(char **words)
{
	struct timespec tick;
	struct rusage u;

	(void)words;
	getrusage(RUSAGE_THREAD, &u);
	say("minflt", (uint64_t)u.ru_minflt);
	say("majflt", (uint64_t)u.ru_majflt);
	say("nvcsw", (uint64_t)u.ru_nvcsw);
	say("nivcsw", (uint64_t)u.ru_nivcsw);
	say("cpu", now(CLOCK_THREAD_CPUTIME_ID));
	/* This clock goes by ticks. */
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	say("tick", (uint64_t)tick.tv_nsec);
}

/* threads N: that many more, which sleep for good. */
static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void threads(char **words)
{
	pthread_t thread;

	for (uint64_t i = 0; i < number(words, 1); i++)
		if (pthread_create(&thread, NULL, sleep_on, NULL))
			errx(1, "threads");
}

/* struct sched_attr of sched_setattr(2), which this C library does not declare. */
struct policy {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* policy NUMBER NICE PRIORITY SLICE_US: as include/uapi/linux/sched.h numbers them, with a slice or
 * 0; says 0 or an errno. A deadline is twice the slice. */
static void set_policy(char **words)
{
	struct policy policy = {
		.size = sizeof(policy),
		.policy = (uint32_t)number(words, 1),
		.nice = atoi(words[2]),
		.priority = (uint32_t)number(words, 3),
		.runtime = number(words, 4) * 1000,
		.deadline = number(words, 4) * 2000,
		.period = number(words, 4) * 2000,
	};

	say("failed", syscall(SYS_sched_setattr, 0, &policy, 0) ? (uint64_t)errno : 0);
}

/* PR_SCHED_CORE and PR_SCHED_CORE_CREATE (include/uapi/linux/prctl.h). */
#define CORE_SCHEDULING        62
#define CORE_SCHEDULING_CREATE 1

/* cookie: share a core with nobody who has not the same one; says 0 or an errno. */
static void cookie(char **words)
{
	(void)words;
	say("failed",
	    prctl(CORE_SCHEDULING, CORE_SCHEDULING_CREATE, 0, 0, 0) ? (uint64_t)errno : 0);
}

static const struct {
	const char *name;
	void (*act)(char **words);
} verbs[] = {
	{ "cookie", cookie },     { "burn", burn },       { "spin", spin },
	{ "pin", pin },           { "hop", hop },         { "yield", yield },
	{ "sleep", sleeps },      { "take", take },       { "give", give },
	{ "vfork", vforks },      { "read", reads },      { "write", writes },
	{ "map", map },           { "huge", huge },       { "touch", touch },
	{ "unmap", unmap },       { "copy", copy },       { "zeroes", zeroes },
	{ "fragment", fragment }, { "rounds", rounds },   { "mapped", mapped_rounds },
	{ "fault", fault },       { "usage", usage },     { "children", children },
	{ "policy", set_policy }, { "compete", compete }, { "compute", compute },
	{ "call", call },         { "dirty", dirty },     { "discard", discard },
	{ "threads", threads },   { "alarmed", alarmed },
};

/* Since it answered last, which is about when it slept and woke last: time that passed, and time on
 * a CPU. */
static void say_since(void)
{
	static uint64_t wall, cpu;
	uint64_t wall_then = wall, cpu_then = cpu;

	wall = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	if (!wall_then)
		return;
	say("since", wall - wall_then);
	say("ran", cpu - cpu_then);
}

static void obey(char *line)
{
	char *words[WORDS + 1] = { 0 }, *rest;

	words[0] = strtok_r(line, " \n", &rest);
	for (int i = 1; i < WORDS && words[i - 1]; i++)
		words[i] = strtok_r(NULL, " \n", &rest);
	if (!words[0])
		return;
	for (size_t i = 0; i < COUNT(verbs); i++) {
		if (strcmp(words[0], verbs[i].name) != 0)
			continue;
		fputs(words[0], stdout);
		verbs[i].act(words);
		say_since();
		putchar('\n');
		fflush(stdout);
		return;
	}
	errx(2, "no verb '%s'", words[0]);
}

int main(int argc, char **argv)
{
	char line[256];

	if (argc != 2)
		errx(2, "usage: actor NAME");
	prctl(PR_SET_NAME, argv[1]);
	say_since();
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
