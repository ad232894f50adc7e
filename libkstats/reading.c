/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read and control a metric within its own program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "metric.h"

/* Resets by others take a system call each, so a reader gets through between them; unless somebody
 * does nothing else. */
#define READINGS_MAX 100

/* A second in all. */
#define TURNS_MAX 100

/* --- control --- */

void kstats_start(struct kstats *key)
{
	if (key)
		kstats_shared_switch(key->header, 1, kstats_clock());
}

void kstats_stop(struct kstats *key)
{
	if (key)
		kstats_shared_switch(key->header, 0, kstats_clock());
}

/* The flock(2) of a description of our own: those of threads and of forked processes are one. */
static int take_turn(int fd)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (unsigned turn = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; turn++) {
		if (errno == EWOULDBLOCK && turn == TURNS_MAX)
			errno = EAGAIN;
		if (errno != EWOULDBLOCK)
			return -1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int kstats_reset(struct kstats *key)
{
	struct kstats_shared_region region;
	char path[40];
	int failed;

	if (!key)
		return 0;
	region = kstats_region_of(key);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", region.fd);
	region.fd = open(path, O_RDWR | O_CLOEXEC);
	if (region.fd < 0)
		return -1;
	failed = take_turn(region.fd);
	if (!failed)
		kstats_shared_reset(&region, kstats_clock());
	close(region.fd);
	return failed;
}

/* --- reading --- */

/* Add what a part of a CPU's table has beyond what was forgotten of it. */
static void add_part(const struct kstats_shared_region *region, unsigned part, unsigned cpu,
		     uint64_t resets, struct kstats_shared_slot *into)
{
	const unsigned gone = kstats_shared_forgotten(part, resets);
	const struct kstats_shared_slot *slots = kstats_shared_slots(region, part, cpu);
	const struct kstats_shared_slot *forgotten =
		kstats_shared_is_written(region, gone, cpu) ? kstats_shared_slots(region, gone, cpu)
							    : NULL;

	for (unsigned slot = 0; slot < BUCKET_SLOTS(region->frac_bits); slot++) {
		const struct kstats_shared_slot counted = kstats_shared_load(&slots[slot]);

		into[slot].count += counted.count - (forgotten ? forgotten[slot].count : 0);
		into[slot].sum += counted.sum - (forgotten ? forgotten[slot].sum : 0);
	}
}

static bool read_once(const struct kstats_shared_region *region, unsigned first, unsigned count,
		      struct kstats_shared_slot *into)
{
	const uint64_t resets = kstats_shared_resets(region);

	memset(into, 0, BUCKET_SLOTS(region->frac_bits) * sizeof(*into));
	for (unsigned part = KSTATS_PART_OWN; part < KSTATS_PART_FORGOTTEN; part++)
		for (unsigned cpu = first; cpu < first + count; cpu++)
			if (kstats_shared_is_written(region, part, cpu))
				add_part(region, part, cpu, resets, into);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return kstats_shared_resets(region) == resets;
}

int kstats_read_cpus(const struct kstats *key, unsigned first, unsigned count,
		     struct kstats_shared_slot *into)
{
	const struct kstats_shared_region region = kstats_region_of(key);

	for (unsigned turn = 0; turn < READINGS_MAX; turn++)
		if (read_once(&region, first, count, into))
			return 0;
	errno = EAGAIN;
	return -1;
}

/* --- snapshots --- */

struct kstats_snapshot {
	unsigned frac_bits;
	uint64_t count, resets, inode;
	struct kstats_shared_slot slots[];
};

struct kstats_snapshot *kstats_snapshot_take(struct kstats *key)
{
	const size_t slots = key ? BUCKET_SLOTS(key->frac_bits) : 0;
	struct kstats_snapshot *snapshot;

	if (!key) {
		errno = EINVAL;
		return NULL;
	}
	snapshot = calloc(1, sizeof(*snapshot) + slots * sizeof(snapshot->slots[0]));
	if (!snapshot)
		return NULL;
	snapshot->frac_bits = key->frac_bits;
	snapshot->inode = key->inode;
	/* Read before: after a reset in between, it is no later one of any. */
	snapshot->resets = __atomic_load_n(&key->header->resets, __ATOMIC_ACQUIRE);
	if (kstats_read_cpus(key, 0, key->cpus, snapshot->slots) < 0) {
		free(snapshot);
		return NULL;
	}
	for (size_t slot = 0; slot < slots; slot++)
		snapshot->count += snapshot->slots[slot].count;
	return snapshot;
}

void kstats_snapshot_free(struct kstats_snapshot *snapshot)
{
	free(snapshot);
}

int kstats_snapshot_subtract(struct kstats_snapshot *now, const struct kstats_snapshot *before)
{
	bool is_earlier = true;

	if (!now || !before)
		return 0;
	is_earlier = now->inode == before->inode && now->resets == before->resets;
	for (unsigned slot = 0; is_earlier && slot < BUCKET_SLOTS(now->frac_bits); slot++)
		is_earlier = now->slots[slot].count >= before->slots[slot].count;
	if (!is_earlier) {
		errno = EINVAL;
		return -1;
	}
	for (unsigned slot = 0; slot < BUCKET_SLOTS(now->frac_bits); slot++) {
		now->slots[slot].count -= before->slots[slot].count;
		now->slots[slot].sum -= before->slots[slot].sum;
	}
	now->count -= before->count;
	return 0;
}

uint64_t kstats_snapshot_count(const struct kstats_snapshot *snapshot)
{
	return snapshot ? snapshot->count : 0;
}

/* The values of a slot added up: never less or more than so many of them can be. */
static long double sum_of(const struct kstats_snapshot *snapshot, unsigned slot)
{
	const struct kstats_shared_slot *of = &snapshot->slots[slot];
	const unsigned bits = snapshot->frac_bits;
	const long double count = of->count, low = count * bucket_low(slot, bits),
			  high = count * bucket_high(slot, bits),
			  sum = (long double)of->sum * (1ull << bucket_shift(slot, bits));

	return sum < low ? low : sum > high ? high : sum;
}

double kstats_snapshot_mean(const struct kstats_snapshot *snapshot)
{
	long double sum = 0;

	if (!snapshot || !snapshot->count)
		return 0;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(snapshot->frac_bits); slot++)
		sum += sum_of(snapshot, slot);
	return (double)(sum / snapshot->count);
}

/* Shares as doubles are slightly inexact: 7 % of 100 is a little more than 7, which must not become
 * rank 8. */
#define TOO_LARGE 0x1p-51L

static uint64_t rank_of(uint64_t count, double fraction)
{
	const long double share = (long double)fraction * count * (1 - TOO_LARGE);
	uint64_t rank;

	if (!(fraction < 1))
		return count;
	if (!(fraction > 0))
		return 1;
	rank = (uint64_t)share;
	rank += rank < share || !rank;
	return rank < count ? rank : count;
}

uint64_t kstats_snapshot_quantile(const struct kstats_snapshot *snapshot, double fraction,
				  uint64_t *ret_low)
{
	const unsigned slots = snapshot ? BUCKET_SLOTS(snapshot->frac_bits) : 0;
	const uint64_t rank =
		snapshot && snapshot->count ? rank_of(snapshot->count, fraction) : UINT64_MAX;
	uint64_t passed = 0;

	if (ret_low)
		*ret_low = 0;
	for (unsigned slot = 0; slot < slots; slot++) {
		passed += snapshot->slots[slot].count;
		if (!passed || passed < rank)
			continue;
		if (ret_low)
			*ret_low = bucket_low(slot, snapshot->frac_bits);
		return bucket_high(slot, snapshot->frac_bits);
	}
	return 0;
}

uint64_t kstats_quantile(struct kstats *key, double fraction)
{
	struct kstats_snapshot *snapshot = kstats_snapshot_take(key);
	const uint64_t value = kstats_snapshot_quantile(snapshot, fraction, NULL);

	kstats_snapshot_free(snapshot);
	return value;
}
