/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known values by many threads, signal handlers and processes: all of them are counted, once.
 */
#include "modes.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kstats_values.h"

struct worker {
	struct kstats *key;
	pthread_t thread;
	uint64_t first, records;     /* which of the agreed values */
	struct kstats_slot recorded; /* by its own arithmetic */
};

static void *record_values(void *context)
{
	struct worker *worker = context;
	for (uint64_t i = 0; i < worker->records; i++) {
		uint64_t value = kstats_value(worker->first + i);

		kstats_record(worker->key, value);
		worker->recorded.count++;
		worker->recorded.sum += amount_of(value);
	}
	return NULL;
}

static void start_workers(struct worker *workers, unsigned count, struct kstats *key,
			  uint64_t records, void *(*work)(void *))
{
	for (unsigned i = 0; i < count; i++) {
		workers[i] =
			(struct worker){ .key = key, .first = i * records, .records = records };
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(1);
	}
}

static void join_workers(const struct worker *workers, unsigned count, struct kstats_slot *total)
{
	for (unsigned i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		total->count += workers[i].recorded.count;
		total->sum += workers[i].recorded.sum;
	}
}

static unsigned threads_of(const char *word)
{
	unsigned long threads = strtoul(word, NULL, 10);

	return threads && threads <= THREADS_MAX ? (unsigned)threads : 1;
}

static struct kstats *make(const char *name)
{
	struct kstats *key = kstats_new(name, FRAC_BITS);

	if (key)
		return key;
	perror("kstats_new");
	exit(1);
}

int count_mode(char **words)
{
	struct worker workers[THREADS_MAX];
	unsigned threads = threads_of(words[0]);
	struct kstats_slot wanted = { 0 };
	struct kstats *key = make("count");
	bool is_right;

	start_workers(workers, threads, key, strtoull(words[1], NULL, 10), record_values);
	join_workers(workers, threads, &wanted);
	is_right = is_all("count", total_of(getpid(), "count"), wanted);
	kstats_delete(key);
	return !is_right;
}

/* --- signal handlers --- */

static struct kstats *of_handlers;
static uint64_t handled;

/* Where they may well be interrupted records of the same slot. */
static void record_in_handler(int signal)
{
	(void)signal;
	kstats_record(of_handlers, 3);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *record_threes(void *context)
{
	struct worker *worker = context;

	for (uint64_t i = 0; i < worker->records; i++)
		kstats_record(worker->key, 3);
	worker->recorded = (struct kstats_slot){ worker->records, 3 * worker->records };
	return NULL;
}

static bool are_done;

static void *send_signals(void *context)
{
	const struct worker *workers = context;

	while (!__atomic_load_n(&are_done, __ATOMIC_ACQUIRE))
		for (const struct worker *worker = workers; worker->key; worker++)
			pthread_kill(worker->thread, SIGUSR1);
	return NULL;
}

int signals_mode(char **words)
{
	struct worker workers[THREADS_MAX + 1] = { 0 };
	unsigned threads = threads_of(words[0]);
	struct sigaction action = { .sa_handler = record_in_handler };
	struct kstats_slot wanted = { 0 };
	pthread_t sender;
	bool is_right;

	sigaction(SIGUSR1, &action, NULL);
	of_handlers = make("signals");
	/* Threads that have ended, and are not joined yet, may be sent signals. */
	start_workers(workers, threads, of_handlers, strtoull(words[1], NULL, 10), record_threes);
	pthread_create(&sender, NULL, send_signals, workers);
	for (unsigned i = 0; i < threads; i++)
		while (!__atomic_load_n(&workers[i].recorded.sum, __ATOMIC_ACQUIRE))
			usleep(1000);
	__atomic_store_n(&are_done, true, __ATOMIC_RELEASE);
	pthread_join(sender, NULL);
	join_workers(workers, threads, &wanted);
	wanted.count += handled;
	wanted.sum += 3 * handled;
	printf("%llu by handlers\n", (unsigned long long)handled);
	is_right = handled && is_all("signals", total_of(getpid(), "signals"), wanted);
	kstats_delete(of_handlers);
	return !is_right;
}

/* --- processes --- */

/* Half of them begin in a way of which the library is told nothing. */
int fork_mode(char **words)
{
	unsigned processes = threads_of(words[0]);
	uint64_t records = strtoull(words[1], NULL, 10);
	struct kstats *key = make("fork");
	struct worker own[2];
	struct kstats_slot wanted = { 0 };
	bool is_right = true;
	int status;

	/* Threads record while the process forks. */
	start_workers(own, 2, key, records, record_threes);
	for (unsigned i = 0; i < processes; i++)
		if (!(i % 2 ? _Fork() : fork())) {
			struct worker child = { .key = key, .records = records };

			record_threes(&child);
			_exit(0);
		}
	join_workers(own, 2, &wanted);
	for (unsigned i = 0; i < processes; i++) {
		is_right &= wait(&status) > 0 && status == 0;
		wanted.count += records;
		wanted.sum += 3 * records;
	}
	is_right &= is_all("fork", total_of(getpid(), "fork"), wanted);
	kstats_delete(key);
	return !is_right;
}

/* --- for others --- */

/* All of the agreed values; then it waits to be looked at. */
int serve_mode(char **words)
{
	struct kstats *key = kstats_new(words[0], (unsigned)strtoul(words[1], NULL, 10));
	struct worker worker = { .key = key, .records = KSTATS_VALUE_COUNT };

	if (!key) {
		perror("kstats_new");
		return 1;
	}
	record_values(&worker);
	printf("ready %d\n", getpid());
	for (;;)
		pause();
}
