/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads record while other processes read, reset, stop and start.
 *
 * Each thread says how many records it has done, after each. So whoever resets knows bounds of what
 * must be there afterwards, that no value which came before is there again, and that none that came
 * after is not; up to one value for each thread, whose record may be done and not yet said.
 */
#include "modes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kstats/user_region.h"

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

/* The number of values in a region. */
static struct error *count_region(struct kstats_region *region, uint64_t *ret)
{
	struct kstats_distribution sum;
	struct error *err = kstats_region_add_up(region, &sum);

	if (err)
		return err;
	*ret = sum.count;
	kstats_distribution_clear(&sum);
	return NULL;
}
#define HAS_RSEQ
#endif

#define VALUE 3

/* Of all processes. */
struct shared {
	struct {
		uint64_t done;
	} __attribute__((aligned(64))) threads[THREADS_MAX];
	uint64_t readings, resets;
	uint64_t forgotten; /* so many records were surely forgotten by the last reset */
	bool is_over;
};

static struct shared *shared;
static unsigned threads;
static struct kstats *key;

static void *record(void *context)
{
	uint64_t *done = context;

	while (!__atomic_load_n(&shared->is_over, __ATOMIC_RELAXED)) {
		kstats_record(key, VALUE);
		__atomic_store_n(done, *done + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static uint64_t all_done(void)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < threads; i++)
		all += __atomic_load_n(&shared->threads[i].done, __ATOMIC_ACQUIRE);
	return all;
}

static struct kstats_slot read_it(void)
{
	struct kstats_slot total = total_of(getppid(), "races");

	__atomic_fetch_add(&shared->readings, 1, __ATOMIC_RELAXED);
	if (total.sum == VALUE * total.count)
		return total;
	printf("a sum of %llu with %llu values\n", (unsigned long long)total.sum,
	       (unsigned long long)total.count);
	_exit(1);
}

static void tell(enum kstats_command command)
{
	command_to(getppid(), "races", command);
	if (command == KSTATS_RESET)
		__atomic_fetch_add(&shared->resets, 1, __ATOMIC_RELAXED);
}

static void must_be(const char *what, uint64_t low, uint64_t got, uint64_t high)
{
	if (low <= got && got <= high)
		return;
	printf("%s: %llu, not from %llu to %llu\n", what, (unsigned long long)got,
	       (unsigned long long)low, (unsigned long long)high);
	_exit(1);
}

/* `is_alone`: nobody else resets or stops. */
static void check_reset(bool is_alone)
{
	uint64_t before = all_done(), after, then, end, count;

	tell(KSTATS_RESET);
	after = all_done();
	usleep(200);
	then = all_done();
	count = read_it().count;
	end = all_done();
	must_be("after a reset", is_alone && then - after > threads ? then - after - threads : 0,
		count, end - before + threads);
}

/* How many records that have begun may end whenever they like: a sequence that is preempted begins
 * anew, and sees that it is stopped; without, a thread may be preempted after it looked. */
static uint64_t late_records(void)
{
#ifdef HAS_RSEQ
	if (__rseq_size)
		return 0;
#endif
	return threads;
}

static void check_stop(void)
{
	uint64_t before, later;

	tell(KSTATS_STOP);
	usleep(1000);
	before = read_it().count;
	usleep(1000);
	later = read_it().count;
	must_be("after a stop", before, later, before + late_records());
	tell(KSTATS_RESET);
	must_be("after a stop and a reset", 0, read_it().count, late_records());
	tell(KSTATS_START);
}

static void check_for(double seconds, bool is_alone, bool may_stop)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		check_reset(is_alone);
		if (may_stop)
			check_stop();
	}
	_exit(0);
}

static pid_t start_checks(double seconds, bool is_alone, bool may_stop)
{
	pid_t child = fork();

	if (!child)
		check_for(seconds, is_alone, may_stop);
	return child;
}

/* No reset has taken anything out of what was recorded, or put anything in. */
static bool keeps_all(void)
{
	struct kstats_slot raw = raw_total("races"), wanted = { all_done(), VALUE * all_done() };

	return is_all("in memory", raw, wanted);
}

static bool is_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && status == 0;
}

/* One that is killed within a reset leaves what was there, and nobody waits for it. */
static bool survives_kills(void)
{
	for (unsigned i = 0; i < 20; i++) {
		pid_t victim = fork(), child;

		if (!victim)
			for (;;)
				tell(KSTATS_RESET);
		usleep(3000);
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		child = fork();
		if (!child) {
			check_reset(true);
			_exit(0);
		}
		if (!is_well(child))
			return false;
	}
	return true;
}

/* --- resets one after the other, and readings among them --- */

/* Without looking for it each time. */
static struct kstats_region open_region(void)
{
	struct kstats_region region;
	char path[64], target[64];

	for (int fd = 0;; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = 0;
		if (strstr(target, "kstats:races"))
			break;
	}
	or_die(kstats_region_map(open(path, O_RDWR | O_CLOEXEC), true, &region));
	return region;
}

static void reset_all_the_time(void)
{
	struct kstats_region region = open_region();

	for (;;) {
		uint64_t before = all_done();

		or_die(kstats_region_command(&region, KSTATS_RESET));
		__atomic_store_n(&shared->forgotten, before, __ATOMIC_RELEASE);
		__atomic_fetch_add(&shared->resets, 1, __ATOMIC_RELAXED);
	}
}

/* A reading that fails because of the resets is none. */
static void read_all_the_time(double seconds)
{
	struct kstats_region region = open_region();
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9), readings = 0;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		uint64_t forgotten = __atomic_load_n(&shared->forgotten, __ATOMIC_ACQUIRE), count;
		struct error *err = count_region(&region, &count);

		if (!err) {
			must_be("among resets", 0, count, all_done() - forgotten + threads);
			readings++;
		} else if (err->errnum != EAGAIN) {
			or_die(err);
		}
		error_destroy(err);
	}
	__atomic_fetch_add(&shared->readings, readings, __ATOMIC_RELAXED);
	_exit(!readings);
}

static bool survives_quick_resets(double seconds)
{
	pid_t resetter = fork(), child;
	bool is_right;

	if (!resetter)
		reset_all_the_time();
	child = fork();
	if (!child)
		read_all_the_time(seconds);
	is_right = is_well(child);
	kill(resetter, SIGKILL);
	waitpid(resetter, NULL, 0);
	return is_right;
}

/* --- phases --- */

static pthread_t ids[THREADS_MAX];

static void start_threads(void)
{
	shared->is_over = false;
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, record, &shared->threads[i].done))
			exit(1);
}

static void end_threads(void)
{
	__atomic_store_n(&shared->is_over, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

static bool survives_resets(double seconds)
{
	bool is_right;
	pid_t first, second;

	start_threads();
	is_right = is_well(start_checks(seconds, true, false));
	first = start_checks(seconds, false, false);
	second = start_checks(seconds, false, false);
	is_right &= is_well(first);
	is_right &= is_well(second);
	is_right &= survives_quick_resets(seconds);
	is_right &= survives_kills();
	end_threads();
	return is_right & keeps_all();
}

static bool survives_stops(double seconds)
{
	bool is_right;

	start_threads();
	is_right = is_well(start_checks(seconds, true, true));
	end_threads();
	return is_right;
}

int races_mode(char **words)
{
	double seconds = strtod(words[1], NULL);
	bool is_right;

	threads = (unsigned)strtoul(words[0], NULL, 10);
	key = kstats_new("races", FRAC_BITS);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (!key || shared == MAP_FAILED || !threads || threads > THREADS_MAX)
		return 1;
	is_right = survives_resets(seconds / 3);
	is_right &= survives_stops(seconds / 3);
	printf("%llu readings, %llu resets\n", (unsigned long long)shared->readings,
	       (unsigned long long)shared->resets);
	kstats_delete(key);
	return !is_right || !shared->resets;
}
