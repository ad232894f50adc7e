/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ping_pong PAIRS ROUNDS: pairs of threads that hand a byte to and fro through two pipes, each pair
 * on one CPU, so that each byte is two switches. Ends with the last round.
 *
 * ping_pong --wait PAIRS ROUNDS: the threads begin at the first SIGUSR1 and sleep when they are
 * done, until the program is killed. Prints "ready", and "done" at the end, each followed by a line
 * "before|after TID VOLUNTARY INVOLUNTARY" for each thread while all of them sleep: their switches,
 * as /proc/TID/status has them.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static unsigned long rounds;
static bool waits;
static pthread_barrier_t begin;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static int done;

struct player {
	pthread_t thread;
	int from, to, tid;
	bool is_first;
	unsigned cpu;
};

static void *play(void *argument)
{
	struct player *p = argument;
	cpu_set_t cpu;
	char byte = 0;

	CPU_ZERO(&cpu);
	CPU_SET(p->cpu, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	prctl(PR_SET_NAME, p->is_first ? "ping" : "pong");
	p->tid = (int)gettid();
	if (waits)
		pthread_barrier_wait(&begin);
	for (unsigned long i = 0; i < rounds; i++) {
		if (p->is_first && write(p->to, &byte, 1) != 1)
			err(1, "write");
		if (read(p->from, &byte, 1) != 1)
			err(1, "read");
		if (!p->is_first && write(p->to, &byte, 1) != 1)
			err(1, "write");
	}
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
	if (waits)
		pthread_mutex_lock(&never);
	return NULL;
}

static bool read_status(int tid, char *state, long *voluntary, long *involuntary)
{
	char path[60], line[200];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	file = tid ? fopen(path, "r") : NULL;
	*voluntary = *involuntary = -1;
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", state);
		sscanf(line, "voluntary_ctxt_switches: %ld", voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %ld", involuntary);
	}
	if (file)
		fclose(file);
	return *voluntary >= 0 && *involuntary >= 0;
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = 20000000 };

	nanosleep(&time, NULL);
}

/* Once none of them runs, and none has run for a while. */
static void report(const char *when, struct player *players, size_t count)
{
	long sum, last = -1, voluntary, involuntary;
	size_t asleep;
	char state;

	for (int same = 0; same < 5;) {
		nap();
		sum = 0;
		asleep = 0;
		for (size_t i = 0; i < count; i++) {
			if (!read_status(players[i].tid, &state, &voluntary, &involuntary))
				break;
			asleep += state == 'S';
			sum += voluntary + involuntary;
		}
		same = asleep == count && sum == last ? same + 1 : 0;
		last = sum;
	}
	for (size_t i = 0; i < count; i++) {
		read_status(players[i].tid, &state, &voluntary, &involuntary);
		printf("%s %d %ld %ld\n", when, players[i].tid, voluntary, involuntary);
	}
}

int main(int argc, char **argv)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct player *players;
	sigset_t go;
	size_t count;
	int number;

	waits = argc == 4 && strcmp(argv[1], "--wait") == 0;
	if (argc != 3 + waits)
		errx(2, "usage: ping_pong [--wait] PAIRS ROUNDS");
	count = 2 * strtoul(argv[1 + waits], NULL, 10);
	rounds = strtoul(argv[2 + waits], NULL, 10);
	players = calloc(count, sizeof(*players));
	pthread_barrier_init(&begin, NULL, (unsigned)count + 1);
	pthread_mutex_lock(&never);
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	for (size_t i = 0; players && i < count; i += 2) {
		int there[2], back[2];

		if (pipe(there) || pipe(back))
			err(1, "pipe");
		players[i] = (struct player){ .from = back[0], .to = there[1], .is_first = true };
		players[i + 1] = (struct player){ .from = there[0], .to = back[1] };
		players[i].cpu = players[i + 1].cpu = (unsigned)(i / 2) % (unsigned)cpus;
		if (pthread_create(&players[i].thread, NULL, play, &players[i]) ||
		    pthread_create(&players[i + 1].thread, NULL, play, &players[i + 1]))
			errx(1, "no thread");
	}
	if (waits) {
		report("before", players, count);
		printf("ready\n");
		fflush(stdout);
		sigwait(&go, &number);
		pthread_barrier_wait(&begin);
		while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < (int)count)
			nap();
		report("after", players, count);
		printf("done\n");
		fflush(stdout);
		for (;;)
			pause();
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(players[i].thread, NULL);
	return 0;
}
