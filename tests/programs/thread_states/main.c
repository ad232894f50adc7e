/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * states BEHAVIOUR...: threads, and children, that each do one thing, and are named after it. Once
 * all have begun it prints
 *
 *	ready PID[,PID...]       its processes
 *	NAME TID EXPECTED        a line for each thread
 *
 * EXPECTED is the state that the thread is in all the time; "a|b": one of the two, or some of each.
 * "mixed:STATE" knows by its own clocks, and says at the end, how long it ran and was runnable; the
 * rest of its time is in STATE, of which "none" has none. "process:STATE" is the same of
 * all threads of a child together; it knows how many these were, not how long they were runnable.
 *
 * It ends at SIGTERM, or after $STATES_SECONDS, and prints what was so as of many moments:
 *
 *	truth NAME TID UNIX_NS EXEC_NS RUNNABLE_NS|THREADS REST_NS
 *
 * `disk` reads $STATES_FILE, `many` is $STATES_MANY threads (10000), `paging` uses $STATES_MIB (16)
 * of memory over and over, and `births` are $STATES_BIRTHS threads a second (5000).
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "states.h"

#define LIVES_OF_GROUP 4 /* at most, but for those of `many` */

static const struct behaviour *const tables[] = { process_behaviours, cpu_behaviours,
						  wait_behaviours, lock_behaviours };
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static struct life *lives;
static size_t life_count;

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "memory");
	return memory;
}

static struct life *new_life(const struct behaviour *behaviour)
{
	struct life *life = &lives[life_count++];

	life->behaviour = behaviour;
	if (strchr(behaviour->expected, ':'))
		life->notes = shared(NOTES_MAX * sizeof(*life->notes));
	return life;
}

static void start_child(struct life *life)
{
	const pid_t parent = getpid();
	const pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	live(life);
}

/* Returns how many lives it has. */
static size_t make_group(const char *name)
{
	const size_t before = life_count;

	for (size_t t = 0; t < TABLES; t++)
		for (const struct behaviour *b = tables[t]; b->name; b++)
			for (unsigned k = 0; k < (b->count ?: 1) && strcmp(b->group, name) == 0;
			     k++)
				new_life(b);
	if (strcmp(name, one_of_many.group) == 0)
		for (uint64_t k = 0; k < MANY; k++)
			new_life(&one_of_many);
	return life_count - before;
}

static void make_lives(int argc, char **argv)
{
	lives = shared(((size_t)argc * LIVES_OF_GROUP + MANY) * sizeof(*lives));
	for (int i = 1; i < argc; i++)
		if (!make_group(argv[i]))
			errx(2, "no behaviour '%s'", argv[i]);
}

/* Processes are made while there is one thread. */
static void start_lives(void)
{
	for (size_t i = 0; i < life_count; i++)
		if (lives[i].behaviour->is_child)
			start_child(&lives[i]);
	for (size_t i = 0; i < life_count; i++)
		if (!lives[i].behaviour->is_child && lives[i].behaviour != &one_of_many &&
		    pthread_create(&lives[i].thread, NULL, live, &lives[i]))
			errx(1, "no thread");
	for (size_t i = 0; i < life_count; i++)
		while (!has_begun(&lives[i]))
			nap(NS_PER_MS);
	/* What comes after that takes a moment, too. */
	nap(200 * NS_PER_MS);
}

static void print_lives(void)
{
	printf("ready %d", (int)getpid());
	for (size_t i = 0; i < life_count; i++)
		if (lives[i].behaviour->is_child)
			printf(",%d", (int)lives[i].tid);
	printf("\n");
	for (size_t i = 0; i < life_count; i++)
		printf("%s %d %s\n", lives[i].behaviour->name, (int)lives[i].tid,
		       lives[i].behaviour->expected);
	fflush(stdout);
}

static void print_truths(void)
{
	for (const struct life *life = lives; life < lives + life_count; life++)
		for (size_t i = 0; i < __atomic_load_n(&life->note_count, __ATOMIC_SEQ_CST); i++) {
			const struct note *n = &life->notes[i];

			printf("truth %s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			       life->behaviour->name, (int)life->tid, n->at_unix_ns, n->exec,
			       n->runnable, n->rest);
		}
	fflush(stdout);
}

static void kill_children(void)
{
	for (size_t i = 0; i < life_count; i++)
		if (lives[i].behaviour->is_child)
			kill(lives[i].tid, SIGKILL);
}

int main(int argc, char **argv)
{
	const struct timespec time = { (time_t)number("STATES_SECONDS", 3600), 0 };
	sigset_t term;

	if (argc < 2)
		errx(2, "usage: states BEHAVIOUR...");
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	make_lives(argc, argv);
	start_lives();
	print_lives();
	while (sigtimedwait(&term, NULL, &time) < 0 && errno == EINTR)
		;
	print_truths();
	kill_children();
	_exit(0);
}
