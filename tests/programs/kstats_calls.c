/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what is to be measured, and says what its own clock saw:
 *
 *	kstats_calls getppid N           N system calls
 *	kstats_calls getpgid N           the same, of one that has an argument
 *	kstats_calls empty N             N calls of empty_function()
 *	kstats_calls nap N NS            N calls of napping_function(), which sleeps for so long
 *	kstats_calls recurse N DEPTH NS  N calls of recursive_function(), that deep, which sleeps
 *	                                 below
 *	kstats_calls requests N NS       N times four requests at once, each with a number, which
 *	                                 take so long, and end in the order in which they began
 *	kstats_calls move N              N calls of moving_function(), which changes its CPU
 *	kstats_calls wake N NS           N wake-ups from CPU 0 of a thread on CPU 1, which is held
 *	                                 up for so long by another one (as root)
 *	kstats_calls until FILE          system calls until that is gone; FILE has how many there
 *	                                 were
 *
 * "calls=N least=NS most=NS": all of them together took at least, and at most, so long. "wake" says
 * the number of the thread too: "tid=N". After "cold MIB" so much memory is read before each call,
 * so that what the call wants has left the caches; "median=NS" is of one call then.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A tracepoint, as <sys/sdt.h> of SystemTap writes it. */
#define NOTE(name, arguments)                                                                     \
	"990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                         \
	".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                 \
	"993: .8byte 990b,0,0\n.asciz \"kstats_calls\"\n.asciz \"" name "\"\n.asciz \"" arguments \
	"\"\n994: .balign 4\n.popsection\n"

#define TRACEPOINT(name) __asm__ volatile(NOTE(#name, ""))

/* With two arguments, the second of which is where the constraint says: it has so many bytes. */
#define REQUEST(name, bytes, constraint, value) \
	__asm__ volatile(NOTE(#name, "-4@%1 " bytes "@%0")::constraint(value), "r"(0))

#define OWN __attribute__((noinline, used))

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&t, NULL);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* What ran inside of a function, and what ran around it. */
static uint64_t least, most;

/* Begins with what needs no single step under a probe. */
static OWN void empty_function(int a)
{
	__asm__ volatile("nop" ::"r"(a));
}

static OWN void napping_function(uint64_t ns)
{
	const uint64_t begun = now();

	TRACEPOINT(nap_begin);
	sleep_ns(ns);
	TRACEPOINT(nap_end);
	least += now() - begun;
}

static OWN int recursive_function(int depth, uint64_t ns)
{
	int below = 0;

	if (depth > 1)
		below = recursive_function(depth - 1, ns);
	else
		sleep_ns(ns);
	__asm__ volatile("");
	return below + 1;
}

/* --- requests --- */

#define REQUESTS 4

struct request {
	uint64_t before, since, until;
};

static volatile int32_t in_variable;
static volatile int64_t in_table[2];

/* The number of each is in different places at its two probes, and in as many bits as it needs. */
static OWN void serve_requests(long round, uint64_t ns)
{
	const int64_t in_register = ((int64_t)1 << 40) + round;
	volatile uint16_t on_stack = (uint16_t)(40000 + round);
	struct request requests[REQUESTS];

	in_variable = (int32_t)(-2 - round);
	in_table[round & 1] = in_register;
	requests[0].before = now();
	REQUEST(request_begin, "8", "r", in_register);
	requests[0].since = requests[1].before = now();
	REQUEST(request_begin, "2", "m", on_stack);
	requests[1].since = requests[2].before = now();
	REQUEST(request_begin, "-4", "m", in_variable);
	requests[2].since = requests[3].before = now();
	REQUEST(request_begin, "-1", "r", (int8_t)-100);
	requests[3].since = now();
	sleep_ns(ns);
	requests[0].until = now();
	REQUEST(request_end, "-8", "m", in_table[round & 1]);
	most += now() - requests[0].before;
	requests[1].until = now();
	REQUEST(request_end, "4", "r", 40000 + (int32_t)round);
	most += now() - requests[1].before;
	requests[2].until = now();
	REQUEST(request_end, "-8", "r", -2 - (int64_t)round);
	most += now() - requests[2].before;
	requests[3].until = now();
	REQUEST(request_end, "-4", "i", -100);
	most += now() - requests[3].before;
	for (int i = 0; i < REQUESTS; i++)
		least += requests[i].until - requests[i].since;
}

static OWN void moving_function(int to)
{
	const uint64_t begun = now();

	pin(to);
	least += now() - begun;
}

/* --- wake-ups --- */

static int go_hold, go_wake;
static volatile long holds; /* that have begun */
static volatile uint64_t held_until, woken_at;
static uint64_t hold_ns;
static pid_t sleeper;

static void receive(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		exit(1);
}

static void send(int fd)
{
	const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		exit(1);
}

/* Whoever is on its CPU waits while it runs. */
static void *hold(void *unused)
{
	const struct sched_param high = { .sched_priority = 10 };

	pin(1);
	if (sched_setscheduler(0, SCHED_FIFO, &high))
		perror("SCHED_FIFO");
	for (;;) {
		uint64_t until;

		receive(go_hold);
		until = now() + hold_ns;
		holds++;
		while (now() < until)
			;
		held_until = now();
	}
	return unused;
}

static void *be_woken(void *unused)
{
	prctl(PR_SET_NAME, "woken");
	pin(1);
	sleeper = (pid_t)syscall(SYS_gettid);
	for (;;) {
		receive(go_wake);
		woken_at = now();
	}
	return unused;
}

/* Who is not asleep yet is not woken. */
static void await_sleep(pid_t thread)
{
	char path[64], stat[512];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	for (;;) {
		FILE *file = fopen(path, "r");
		const char *name = file ? fgets(stat, sizeof(stat), file) : NULL;

		if (file)
			fclose(file);
		if (!name || strstr(name, ") S "))
			return;
		sleep_ns(1000000);
	}
}

static void wake(long count)
{
	pthread_t threads[2];
	const struct sched_param high = { .sched_priority = 20 };

	pin(0);
	go_hold = eventfd(0, 0);
	go_wake = eventfd(0, 0);
	pthread_create(&threads[0], NULL, hold, NULL);
	pthread_create(&threads[1], NULL, be_woken, NULL);
	if (sched_setscheduler(0, SCHED_FIFO, &high))
		perror("SCHED_FIFO");
	while (!sleeper)
		sleep_ns(1000000);
	sleep_ns(50000000);
	for (long i = 0; i < count; i++) {
		uint64_t before, after;

		woken_at = 0;
		send(go_hold);
		/* Who does not run for a while here may find it over. */
		while (holds == i)
			;
		before = now();
		send(go_wake);
		after = now();
		while (!woken_at)
			sleep_ns(1000000);
		/* The scheduler may have let it in between. */
		least += held_until > after && woken_at > held_until ? held_until - after : 0;
		most += woken_at - before;
		sleep_ns(20000000);
		await_sleep(sleeper);
	}
}

/* --- calls --- */

static void until_gone(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	volatile uint64_t *done;

	if (fd < 0 || ftruncate(fd, 4096))
		exit(1);
	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	while (*done || access(path, F_OK) == 0) {
		for (int i = 0; i < 1000; i++) {
			syscall(SYS_getppid);
			++*done;
		}
		if (access(path, F_OK))
			break;
	}
	printf("calls=%lu\n", (unsigned long)*done);
	exit(0);
}

static void call(const char *what, long i, uint64_t third, uint64_t fourth)
{
	if (strcmp(what, "getppid") == 0)
		syscall(SYS_getppid);
	else if (strcmp(what, "getpgid") == 0)
		syscall(SYS_getpgid, 0);
	else if (strcmp(what, "empty") == 0)
		empty_function((int)i);
	else if (strcmp(what, "nap") == 0)
		napping_function(third);
	else if (strcmp(what, "recurse") == 0)
		recursive_function((int)third, fourth);
	else if (strcmp(what, "requests") == 0)
		serve_requests(i, third);
	else if (strcmp(what, "move") == 0)
		moving_function((int)(i & 1));
}

/* --- with cold caches --- */

static volatile uint8_t *memory;
static size_t memory_size;

static void take_memory(size_t mib)
{
	memory_size = mib << 20;
	memory = mmap(NULL, memory_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
}

static void evict(void)
{
	for (size_t at = 0; at < memory_size; at += 64)
		(void)memory[at];
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The clock, too, is cold where it begins: it is read once before. */
static uint64_t call_cold(const char *what, long count, uint64_t third, uint64_t fourth)
{
	uint64_t *times = calloc((size_t)count + 1, sizeof(*times)), median;

	if (!times)
		exit(1);
	for (long i = 0; i < count; i++) {
		uint64_t begun;

		evict();
		now();
		begun = now();
		call(what, i, third, fourth);
		times[i] = now() - begun;
		most += times[i];
	}
	qsort(times, (size_t)count, sizeof(*times), by_size);
	median = times[count / 2];
	free(times);
	return median;
}

/* --- all --- */

int main(int argc, char **argv)
{
	const bool is_cold = argc > 2 && strcmp(argv[1], "cold") == 0;
	const char *what;
	uint64_t third, fourth, begun;
	long count;

	if (is_cold) {
		take_memory(strtoul(argv[2], NULL, 10));
		argc -= 2;
		argv += 2;
	}
	what = argc > 2 ? argv[1] : "";
	count = argc > 2 ? atol(argv[2]) : 0;
	third = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	fourth = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	if (strcmp(what, "until") == 0)
		until_gone(argv[2]);
	if (strcmp(what, "wake") == 0) {
		hold_ns = third;
		wake(count);
		printf("calls=%ld least=%lu most=%lu tid=%d\n", count, (unsigned long)least,
		       (unsigned long)most, sleeper);
		return 0;
	}
	if (is_cold) {
		const uint64_t median = call_cold(what, count, third, fourth);

		printf("calls=%ld least=%lu most=%lu median=%lu\n", count, (unsigned long)least,
		       (unsigned long)most, (unsigned long)median);
		return 0;
	}
	begun = now();
	for (long i = 0; i < count; i++)
		call(what, i, third, fourth);
	/* Several requests take their time at once. */
	if (!most)
		most = now() - begun;
	printf("calls=%ld least=%lu most=%lu\n", count, (unsigned long)least, (unsigned long)most);
	return 0;
}
