/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives US ROLE...: threads and processes that each do one thing for about US microseconds, all at
 * the same time, and say by clocks of their own for how long: a line for each kind of time,
 *
 *	NAME TID CLASS LEAST MOST
 *
 * where NAME is what the thread is called, CLASS what a profile calls what it did
 * (src/profile/class.h), and LEAST and MOST bound how long it did that in all its life, in ns.
 *
 *	$ lives 500000 sleep stop
 *	sleep 812 interruptible 500061221 500102344
 *	stop 813 stopped 500071003 500380119
 *
 * Roles that want more are alone: "disk FILE", "storm COUNT", "reborn PID".
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NS_PER_S     UINT64_C(1000000000)

static uint64_t wanted_us;
static char **arguments; /* behind the role, for those that are alone */

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void pause_us(uint64_t us)
{
	struct timespec left = { .tv_sec = (time_t)(us / 1000000),
				 .tv_nsec = (long)(us % 1000000) * 1000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static uint64_t number(const char *text)
{
	if (!text)
		errx(2, "a number is missing");
	return strtoull(text, NULL, 0);
}

static void say(const char *name, pid_t tid, const char *class, uint64_t least, uint64_t most)
{
	char line[160];
	/* Without locks of the C library, which a child may have got from its parent locked. */
	int length = snprintf(line, sizeof(line), "%s %d %s %" PRIu64 " %" PRIu64 "\n", name,
			      (int)tid, class, least, most);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(1);
}

/* --- how long the calling thread waits --- */

/* How long it has waited for a CPU, as the kernel says. */
static uint64_t run_delay(void)
{
	char text[100] = "", *second;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		err(1, "schedstat");
	close(fd);
	second = strchr(text, ' ');
	return second ? strtoull(second, NULL, 10) : 0;
}

struct wait {
	uint64_t wall, cpu, delay;
};

static void begin(struct wait *wait)
{
	wait->delay = run_delay();
	wait->cpu = now(CLOCK_THREAD_CPUTIME_ID);
	wait->wall = now(CLOCK_MONOTONIC);
}

/* It waited all the time, but for what it took to get there and back, or to get a CPU. */
static void end(const struct wait *begun, const char *name, const char *class)
{
	uint64_t wall = now(CLOCK_MONOTONIC) - begun->wall;
	uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID) - begun->cpu;
	uint64_t delay = run_delay() - begun->delay;

	say(name, gettid(), class, wall > cpu + delay ? wall - cpu - delay : 0, wall);
}

/* --- waits of threads --- */

static void *sleeps(void *unused)
{
	struct wait wait;

	begin(&wait);
	for (int i = 0; i < 10; i++)
		pause_us(wanted_us / 10);
	end(&wait, "sleep", "interruptible");
	return unused;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *takes_mutex(void *unused)
{
	struct wait wait;

	begin(&wait);
	pthread_mutex_lock(&mutex);
	end(&wait, "futex", "interruptible");
	return unused;
}

static int pipe_ends[2];

static void *reads_pipe(void *unused)
{
	struct wait wait;
	char byte;

	begin(&wait);
	if (read(pipe_ends[0], &byte, 1) != 1)
		err(1, "pipe");
	end(&wait, "pipe", "interruptible");
	return unused;
}

static void *waits_for_vfork(void *unused)
{
	const struct timespec life = { .tv_sec = (time_t)(wanted_us / 1000000),
				       .tv_nsec = (long)(wanted_us % 1000000) * 1000 };
	struct wait wait;
	pid_t child;

	begin(&wait);
	child = vfork();
	if (child == 0) {
		syscall(SYS_nanosleep, &life, NULL);
		_exit(0);
	}
	end(&wait, "vfork", "uninterruptible");
	waitpid(child, NULL, 0);
	return unused;
}

/* Its sleeper is sent from CPU to CPU. */
static pid_t sent;

static void *is_sent_about(void *unused)
{
	struct wait wait;

	__atomic_store_n(&sent, gettid(), __ATOMIC_RELEASE);
	begin(&wait);
	pause_us(wanted_us);
	end(&wait, "sent", "interruptible");
	return unused;
}

static void *sends_about(void *unused)
{
	cpu_set_t cpus;
	pid_t tid;

	while (!(tid = __atomic_load_n(&sent, __ATOMIC_ACQUIRE)))
		pause_us(1000);
	for (int i = 0; i < 5; i++) {
		pause_us(wanted_us / 10);
		CPU_ZERO(&cpus);
		CPU_SET(i % 2, &cpus);
		sched_setaffinity(tid, sizeof(cpus), &cpus);
	}
	return unused;
}

/* --- waits of children, as their parent sees them --- */

static pid_t child_called(const char *name)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	return child;
}

/* From somewhere in [earliest, latest] on, up to somewhere in [first, last]. */
struct bounds {
	uint64_t earliest, latest, first, last;
};

static void say_bounds(const struct bounds *b, const char *name, pid_t child, const char *class)
{
	say(name, child, class, b->first - b->latest, b->last - b->earliest);
}

static void await(pid_t child, int options)
{
	int status;

	if (waitpid(child, &status, options) != child)
		err(1, "waitpid");
}

static void *stops(void *unused)
{
	struct bounds bounds = { .earliest = now(CLOCK_MONOTONIC) };
	pid_t child = child_called("stop");

	if (child == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	await(child, WUNTRACED);
	bounds.latest = now(CLOCK_MONOTONIC);
	pause_us(wanted_us);
	bounds.first = now(CLOCK_MONOTONIC);
	kill(child, SIGCONT);
	bounds.last = now(CLOCK_MONOTONIC);
	await(child, 0);
	say_bounds(&bounds, "stop", child, "stopped");
	return unused;
}

static void *traces(void *unused)
{
	struct bounds bounds = { .earliest = now(CLOCK_MONOTONIC) };
	pid_t child = child_called("trace");

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	await(child, 0);
	bounds.latest = now(CLOCK_MONOTONIC);
	pause_us(wanted_us);
	bounds.first = now(CLOCK_MONOTONIC);
	if (ptrace(PTRACE_CONT, child, NULL, NULL))
		err(1, "ptrace");
	bounds.last = now(CLOCK_MONOTONIC);
	await(child, 0);
	say_bounds(&bounds, "trace", child, "traced");
	return unused;
}

static void *is_killed(void *unused)
{
	struct bounds bounds = { .earliest = now(CLOCK_MONOTONIC) };
	pid_t child = child_called("killed");

	if (child == 0)
		for (;;)
			pause();
	bounds.latest = now(CLOCK_MONOTONIC);
	pause_us(wanted_us);
	bounds.first = now(CLOCK_MONOTONIC);
	kill(child, SIGKILL);
	bounds.last = now(CLOCK_MONOTONIC);
	await(child, 0);
	say_bounds(&bounds, "killed", child, "interruptible");
	return unused;
}

/* --- one number after the other --- */

/* A child with this number, which the kernel gives to who may ask for it; 0: any. */
static pid_t child_numbered(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = pid ? (uintptr_t)&pid : 0,
				   .set_tid_size = pid != 0 };
	long child = syscall(SYS_clone3, &args, sizeof(args));

	if (child < 0)
		err(1, "clone3");
	return (pid_t)child;
}

static void sleep_as(const char *name, uint64_t us)
{
	struct wait wait;

	prctl(PR_SET_NAME, name);
	begin(&wait);
	pause_us(us);
	end(&wait, name, "interruptible");
}

/* Two with one number, and what the second does is not the first one's. */
static void *reuses(void *unused)
{
	pid_t child = child_numbered(0);

	if (child == 0) {
		sleep_as("first", wanted_us);
		_exit(0);
	}
	await(child, 0);
	if (child_numbered(child) == 0) {
		sleep_as("second", wanted_us / 3);
		_exit(0);
	}
	await(child, 0);
	return unused;
}

static void *reborn(void *unused)
{
	pid_t child = child_numbered((pid_t)number(arguments[0]));

	if (child == 0) {
		sleep_as("reborn", wanted_us);
		_exit(0);
	}
	await(child, 0);
	return unused;
}

/* It becomes another program, which does the same for a third of the time; see main(). */
static void *execs(void *unused)
{
	char us[24];
	pid_t child = fork();

	if (child == 0) {
		sleep_as("before", wanted_us);
		snprintf(us, sizeof(us), "%" PRIu64, wanted_us / 3);
		execl("/proc/self/exe", "lives", us, "after", NULL);
		err(1, "exec");
	}
	await(child, 0);
	return unused;
}

/* --- the CPU --- */

static pthread_barrier_t start;
static uint64_t started;

static void spin_as(const char *name)
{
	uint64_t wall, cpu;
	cpu_set_t cpus;

	prctl(PR_SET_NAME, name);
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
	pthread_barrier_wait(&start);
	/* Who comes second waits for the CPU before it can look at a clock. */
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	do
		wall = now(CLOCK_MONOTONIC) - __atomic_load_n(&started, __ATOMIC_ACQUIRE);
	while (wall < wanted_us * 1000);
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	/* It got here before it was told to start, and leaves after. */
	say(name, gettid(), "runnable", wall - cpu - wall / 100, wall - cpu + wall / 100);
	say(name, gettid(), "on-cpu", cpu, now(CLOCK_THREAD_CPUTIME_ID) + wall / 100);
}

static void *hog(void *unused)
{
	spin_as("hog");
	return unused;
}

static void *rival(void *unused)
{
	spin_as("rival");
	return unused;
}

static void *starts_hogs(void *unused)
{
	/* Both have asked for their CPU by then. */
	pause_us(100000);
	__atomic_store_n(&started, now(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
	pthread_barrier_wait(&start);
	return unused;
}

/* --- disks --- */

/* Past all caches; how long a disk takes is its own affair. */
static void *reads_disk(void *unused)
{
	const size_t bytes = 128 << 10;
	int fd = open(arguments[0], O_RDONLY | O_DIRECT);
	void *block = aligned_alloc(4096, bytes);
	uint64_t until = now(CLOCK_MONOTONIC) + wanted_us * 1000;
	struct wait wait;

	if (fd < 0)
		err(1, "%s", arguments[0]);
	begin(&wait);
	for (off_t at = 0; now(CLOCK_MONOTONIC) < until; at += (off_t)bytes)
		if (pread(fd, block, bytes, at) != (ssize_t)bytes)
			err(1, "%s", arguments[0]);
	end(&wait, "disk", "io-wait");
	close(fd);
	return unused;
}

/* --- many --- */

/* So many children at once, each of which sleeps; and what the kernel counted of all of them. */
static void *storms(void *unused)
{
	const size_t count = number(arguments[0]);
	uint64_t *walls = mmap(NULL, count * sizeof(*walls), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t *children = calloc(count, sizeof(*children));
	struct rusage usage;

	if (walls == MAP_FAILED || !children)
		err(1, "storm");
	for (size_t i = 0; i < count; i++) {
		children[i] = fork();
		if (children[i] < 0)
			err(1, "fork");
		if (children[i] == 0) {
			uint64_t begun = now(CLOCK_MONOTONIC);

			pause_us(wanted_us);
			walls[i] = now(CLOCK_MONOTONIC) - begun;
			_exit(0);
		}
	}
	for (size_t i = 0; i < count; i++)
		await(children[i], 0);
	for (size_t i = 0; i < count; i++)
		say("storm", children[i], "interruptible", wanted_us * 1000, walls[i]);
	getrusage(RUSAGE_CHILDREN, &usage);
	/* Their last switch each may come after their parent has counted. */
	say("all", 0, "switches", (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw),
	    (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw) + count);
	return unused;
}

/* --- all --- */

static const struct {
	const char *name;
	void *(*live)(void *);
	void *(*partner)(void *);
	bool is_alone; /* what follows is its argument */
} roles[] = {
	{ "sleep", sleeps, NULL, false },
	{ "futex", takes_mutex, NULL, false },
	{ "pipe", reads_pipe, NULL, false },
	{ "vfork", waits_for_vfork, NULL, false },
	{ "sent", is_sent_about, sends_about, false },
	{ "stop", stops, NULL, false },
	{ "trace", traces, NULL, false },
	{ "killed", is_killed, NULL, false },
	{ "reuse", reuses, NULL, false },
	{ "exec", execs, NULL, false },
	{ "hog", hog, starts_hogs, false },
	{ "rival", rival, NULL, false },
	{ "disk", reads_disk, NULL, true },
	{ "storm", storms, NULL, true },
	{ "reborn", reborn, NULL, true },
};

#define THREADS 32

static pthread_t threads[THREADS];
static size_t thread_count;

static void run(const char *name, void *(*function)(void *))
{
	if (thread_count == THREADS)
		errx(2, "too many roles");
	if (pthread_create(&threads[thread_count], NULL, function, NULL))
		errx(1, "pthread_create");
	pthread_setname_np(threads[thread_count++], name);
}

/* Returns how many words are left. */
static int take_role(char **words, int count)
{
	for (size_t i = 0; i < COUNT(roles); i++) {
		if (strcmp(words[0], roles[i].name) != 0)
			continue;
		if (roles[i].is_alone)
			arguments = words + 1;
		run(roles[i].name, roles[i].live);
		if (roles[i].partner)
			run("partner", roles[i].partner);
		return roles[i].is_alone ? 0 : count - 1;
	}
	errx(2, "no role '%s'", words[0]);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: lives US ROLE...");
	wanted_us = number(argv[1]);
	if (strcmp(argv[2], "after") == 0) {
		sleep_as("after", wanted_us);
		return 0;
	}
	if (pipe(pipe_ends) || pthread_barrier_init(&start, NULL, 3))
		err(1, "lives");
	pthread_mutex_lock(&mutex);
	for (int left = argc - 2; left > 0;)
		left = take_role(argv + argc - left, left);
	pause_us(wanted_us);
	pthread_mutex_unlock(&mutex);
	if (write(pipe_ends[1], "", 1) != 1)
		err(1, "pipe");
	for (size_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
