/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats_cost ROUNDS: what a record costs with libkstats, and by other means. A line for each
 *round:
 *
 *	kstats hot|cold THREADS SIDE NANOSECONDS
 *
 * Hot: many records one after the other, of values of all lengths; CPU time of a thread, by its
 * records. Cold: before each record every page of the program, code as well as data, is flushed
 *from all caches; the time of one record, the median of many. Sides go by turns.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include <kstats.h>

#include "../programs/kstats_values.h"
#include "base/clock.h"
#include "kstats_sides.h"

#define FRAC_BITS    3
#define VALUES       4096
#define HOT_RECORDS  (50 * VALUES)
#define HOT_TURNS    11
#define COLD_RECORDS 61
#define THREADS_MAX  8
#define STACK_BYTES  (128 << 10)

static struct kstats *key;
static uint64_t values[VALUES];

typedef void record_function(struct kstats *, uint64_t);

enum side { NOTHING, LOCAL, LIBRARY, ATOMIC, SIDES };
static const char *const names[SIDES] = { "nothing", "local", "library", "atomic" };

static record_function *const volatile functions[SIDES] = { bench_nothing, bench_record_local,
							    kstats_record, bench_record_atomic };

/* --- all that is in memory --- */

struct range {
	char *start;
	size_t bytes;
};

static struct range *ranges;
static size_t range_count, range_room;

/* Pages that are there: looking at others would make them. */
static void add_pages(char *start, char *end)
{
	unsigned char there;

	for (char *page = start; page < end; page += 4096) {
		if (mincore(page, 4096, &there) < 0 || !(there & 1))
			continue;
		if (range_count &&
		    ranges[range_count - 1].start + ranges[range_count - 1].bytes == page) {
			ranges[range_count - 1].bytes += 4096;
			continue;
		}
		if (range_count == range_room)
			ranges = realloc(ranges,
					 (range_room = 2 * range_room + 64) * sizeof(*ranges));
		if (!ranges)
			err(1, "ranges");
		ranges[range_count++] = (struct range){ page, 4096 };
	}
}

static void find_ranges(void)
{
	char line[4096], mode[5];
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;

	range_count = 0;
	if (!maps)
		err(1, "/proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) == 3 && mode[0] == 'r' &&
		    !strstr(line, "[v"))
			add_pages((char *)start, (char *)end);
	fclose(maps);
}

static void evict(void)
{
	for (size_t i = 0; i < range_count; i++)
		for (size_t at = 0; at < ranges[i].bytes; at += 64)
			_mm_clflush(ranges[i].start + at);
	_mm_mfence();
}

/* --- one thread --- */

static pthread_barrier_t barrier;
static double ns_of[THREADS_MAX], ns_of_tick;

static double hot(enum side side)
{
	record_function *record = functions[side];
	uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < HOT_RECORDS; i++)
		record(key, values[i % VALUES]);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / HOT_RECORDS;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), compare_doubles);
	return numbers[count / 2];
}

/* By the counter of the processor: the clock's code and data were evicted, too. */
static double cold(enum side side)
{
	double ticks[COLD_RECORDS];
	unsigned cpu;

	for (unsigned i = 0; i < COLD_RECORDS; i++) {
		record_function *record = functions[side];
		uint64_t value = values[i * 61 % VALUES], began;

		evict();
		_mm_lfence();
		began = __rdtsc();
		_mm_lfence();
		record(key, value);
		ticks[i] = (double)(__rdtscp(&cpu) - began);
		_mm_lfence();
	}
	return median(ticks, COLD_RECORDS) * ns_of_tick;
}

/* --- threads --- */

struct job {
	unsigned index, threads;
	double (*way)(enum side);
	enum side side;
};

static void *work(void *context)
{
	const struct job *job = context;

	bench_mine = calloc(1, sizeof(*bench_mine));
	if (!bench_mine)
		err(1, "histogram");
	bench_mine->frac_bits = FRAC_BITS;
	functions[job->side](key, values[0]);
	pthread_barrier_wait(&barrier);
	/* All are there now, and so are their stacks. */
	if (job->index == 0)
		find_ranges();
	pthread_barrier_wait(&barrier);
	ns_of[job->index] = job->way(job->side);
	free(bench_mine);
	return NULL;
}

/* Nanoseconds of a record when so many threads do it at once. */
static double together(unsigned threads, double (*way)(enum side), enum side side)
{
	pthread_t ids[THREADS_MAX];
	struct job jobs[THREADS_MAX];
	pthread_attr_t small;
	double all = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		jobs[i] = (struct job){ i, threads, way, side };
		errno = pthread_create(&ids[i], &small, work, &jobs[i]);
		if (errno)
			err(1, "thread");
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		all += ns_of[i];
	}
	pthread_barrier_destroy(&barrier);
	pthread_attr_destroy(&small);
	return all / threads;
}

static void measure(const char *name, unsigned threads, double (*way)(enum side), unsigned turns)
{
	double took[SIDES][HOT_TURNS];

	for (unsigned turn = 0; turn < turns; turn++)
		for (enum side side = 0; side < SIDES; side++)
			took[side][turn] = together(threads, way, side);
	for (enum side side = 0; side < SIDES; side++)
		printf("kstats %s %u %s %.2f\n", name, threads, names[side],
		       median(took[side], turns));
	fflush(stdout);
}

static void measure_ticks(void)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), began = __rdtsc(), now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) - began_ns < NS_PER_S / 20)
		;
	ns_of_tick = (double)(now - began_ns) / (double)(__rdtsc() - began);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t state = 1;

	bench_shared.frac_bits = FRAC_BITS;
	key = kstats_new("bench", FRAC_BITS);
	if (!key)
		err(1, "kstats_new");
	for (unsigned i = 0; i < VALUES; i++)
		values[i] = kstats_value(&state);
	measure_ticks();
	for (int round = 0; round < rounds; round++)
		for (unsigned threads = 1; threads <= THREADS_MAX; threads *= 2) {
			measure("hot", threads, hot, HOT_TURNS);
			measure("cold", threads, cold, 1);
		}
	kstats_delete(key);
	free(ranges);
	return 0;
}
