/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures what a record costs with libkstats and by other means (the sides):
 *
 *	kstats_cost ROUNDS [THREADS]...
 *
 * runs the sides in turns with each number of threads (default: 1, 2, 4 and 8), and prints in each
 * round:
 *
 *	kstats:hot:THREADS SIDE NANOSECONDS
 *	kstats:cold:THREADS SIDE NANOSECONDS
 *
 * Hot: records of values of all lengths, one after the other; the CPU time of a thread divided by
 * the number of its records. Cold: every page of the program, code as well as data, is flushed from
 * all caches before each record; the median of the times of many records.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>
#include <x86intrin.h>

#include <kstats.h>

#include "../kstats_values.h"
#include "base/array.h"
#include "base/clock.h"
#include "kstats_sides.h"

#define FRAC_BITS   3
#define VALUES      4096
#define HOT_RECORDS (5 * VALUES)
#define HOT_TURNS   101
#define COLD_TURNS  101
#define TURNS_MAX   101
#define THREADS_MAX 8
#define STACK_BYTES (128 << 10)

static struct kstats *key;
static uint64_t values[VALUES];

typedef void record_function(struct kstats *, uint64_t);

enum side { NOTHING, LOCAL, BY_CPU, LIBRARY, ATOMIC, SIDES };
static const char *const names[SIDES] = { "nothing", "local", "by_cpu", "library", "atomic" };

static record_function *const volatile functions[SIDES] = { bench_nothing, bench_record_local,
							    bench_record_by_cpu, kstats_record,
							    bench_record_atomic };

/* --- all that is in memory --- */

struct range {
	char *start;
	size_t bytes;
};

static struct range *ranges;
static size_t range_count, range_room;

/* Only resident pages: an access to others would allocate them. */
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
static double ns_of_tick;

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

/* All threads do the same at once. */
static double hot(enum side side)
{
	record_function *record = functions[side];
	uint64_t began;

	pthread_barrier_wait(&barrier);
	began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < HOT_RECORDS; i++)
		record(key, values[i % VALUES]);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / HOT_RECORDS;
}

/* By the processor's cycle counter, since code and data of the clock were evicted from caches as
 * well. */
static double cold(enum side side)
{
	static __thread unsigned turn;
	record_function *record = functions[side];
	uint64_t value = values[turn++ * 61 % VALUES], began, ended;
	unsigned cpu;

	evict();
	_mm_lfence();
	began = __rdtsc();
	_mm_lfence();
	record(key, value);
	ended = __rdtscp(&cpu);
	_mm_lfence();
	return (double)(ended - began) * ns_of_tick;
}

/* --- threads --- */

struct way {
	const char *name;
	double (*measure)(enum side);
	unsigned turns;
};

static const struct way ways[] = { { "hot", hot, HOT_TURNS }, { "cold", cold, COLD_TURNS } };

struct job {
	unsigned index;
	const struct way *way;
	double ns[SIDES];
};

static void measure_sides(struct job *job)
{
	double took[SIDES][TURNS_MAX];

	for (unsigned turn = 0; turn < job->way->turns; turn++)
		for (enum side side = 0; side < SIDES; side++)
			took[side][turn] = job->way->measure(side);
	for (enum side side = 0; side < SIDES; side++)
		job->ns[side] = median(took[side], job->way->turns);
}

static void *work(void *context)
{
	struct job *job = context;

	bench_mine = calloc(1, sizeof(*bench_mine));
	if (!bench_mine)
		err(1, "histogram");
	bench_mine->frac_bits = FRAC_BITS;
	for (enum side side = 0; side < SIDES; side++)
		functions[side](key, values[0]);
	pthread_barrier_wait(&barrier);
	/* All threads have started, so their stacks exist. */
	if (job->index == 0)
		find_ranges();
	pthread_barrier_wait(&barrier);
	measure_sides(job);
	free(bench_mine);
	return NULL;
}

/* The cost of a record when that many threads record at once. */
static void measure(unsigned threads, const struct way *way)
{
	pthread_t ids[THREADS_MAX];
	struct job jobs[THREADS_MAX];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		jobs[i] = (struct job){ .index = i, .way = way };
		errno = pthread_create(&ids[i], &small, work, &jobs[i]);
		if (errno)
			err(1, "thread");
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	pthread_barrier_destroy(&barrier);
	pthread_attr_destroy(&small);
	for (enum side side = 0; side < SIDES; side++) {
		double all = 0;

		for (unsigned i = 0; i < threads; i++)
			all += jobs[i].ns[side] / threads;
		printf("kstats:%s:%u %s %.2f\n", way->name, threads, names[side], all);
	}
	fflush(stdout);
}

static void measure_ticks(void)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), began = __rdtsc(), now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) - began_ns < NS_PER_S / 20)
		;
	ns_of_tick = (double)(now - began_ns) / (double)(__rdtsc() - began);
}

static void make_histograms(void)
{
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF), bytes = sizeof(bench_shared.slots);

	bench_shared.frac_bits = FRAC_BITS;
	bench_by_cpu = (struct bench_by_cpu){
		.rseq_offset = __rseq_offset,
		.histograms = calloc(cpus, bytes),
		.histogram_bytes = bytes,
		.frac_bits = FRAC_BITS,
	};
	if (!bench_by_cpu.histograms)
		err(1, "histograms");
}

static void measure_both_ways(unsigned threads)
{
	for (size_t way = 0; way < array_length(ways); way++)
		measure(threads, &ways[way]);
}

static unsigned threads_of(const char *text)
{
	int threads = atoi(text);

	if (threads < 1 || threads > THREADS_MAX)
		errx(2, "%s: not a number of threads from 1 to %d", text, THREADS_MAX);
	return (unsigned)threads;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	make_histograms();
	key = kstats_new("bench", FRAC_BITS);
	if (!key)
		err(1, "kstats_new");
	for (unsigned i = 0; i < VALUES; i++)
		values[i] = kstats_value(i);
	measure_ticks();
	for (int round = 0; round < rounds; round++) {
		for (int i = 2; i < argc; i++)
			measure_both_ways(threads_of(argv[i]));
		for (unsigned threads = 1; argc <= 2 && threads <= THREADS_MAX; threads *= 2)
			measure_both_ways(threads);
	}
	kstats_delete(key);
	free(bench_by_cpu.histograms);
	free(ranges);
	return 0;
}
