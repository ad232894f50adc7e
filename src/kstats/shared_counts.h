/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking the tables of shared memory (shared_memory.h), and forgetting what is in them: for the
 * program that has it and for others. `memory` is all of it, behind `fd`; `frac_bits` and `cpus`
 * are values that were checked, not those in it.
 */
#ifndef KSTATS_SHARED_COUNTS_H
#define KSTATS_SHARED_COUNTS_H

#include <errno.h>
#include <unistd.h>

#include "kstats/shared_memory.h"

struct kstats_shared_region {
	int fd;
	void *memory;
	unsigned frac_bits, cpus;
};

static inline struct kstats_shared_slot *kstats_shared_slots(
	const struct kstats_shared_region *region, unsigned part, unsigned cpu)
{
	return (struct kstats_shared_slot *)((char *)region->memory +
					     kstats_shared_table(region->frac_bits, region->cpus,
								 part, cpu));
}

/* The first table of the whole file that has anything written to it from this one on, as a number
 * that counts all parts' tables; UINT64_MAX: there is none. Holes are skipped, since reading them
 * would make pages of them. Without a file, each table counts as written. */
static inline uint64_t kstats_shared_next_written(const struct kstats_shared_region *region,
						  uint64_t table)
{
	const uint64_t bytes = kstats_shared_table_bytes(region->frac_bits);
	const off_t data =
		lseek(region->fd, (off_t)(KSTATS_SHARED_UNIT + table * bytes), SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? UINT64_MAX : table;
	return ((uint64_t)data - KSTATS_SHARED_UNIT) / bytes;
}

static inline int kstats_shared_is_written(const struct kstats_shared_region *region, unsigned part,
					   unsigned cpu)
{
	const uint64_t table = (uint64_t)part * region->cpus + cpu;

	return kstats_shared_next_written(region, table) == table;
}

static inline uint64_t kstats_shared_resets(const struct kstats_shared_region *region)
{
	const struct kstats_shared_header *header =
		(const struct kstats_shared_header *)region->memory;
	uint64_t resets = __atomic_load_n(&header->resets, __ATOMIC_ACQUIRE);

	/* Discarded counts are read after it, and then the counts, which only grow. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return resets;
}

static inline void kstats_shared_forget(const struct kstats_shared_region *region, unsigned part,
					unsigned cpu, uint64_t resets)
{
	const struct kstats_shared_slot *slots = kstats_shared_slots(region, part, cpu);
	struct kstats_shared_slot *forgotten =
		kstats_shared_slots(region, kstats_shared_forgotten(part, resets), cpu);

	/* Skip parts that were never written, or always discarded as empty. */
	if (!kstats_shared_is_written(region, part, cpu))
		return;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(region->frac_bits); slot++)
		forgotten[slot] = kstats_shared_load(&slots[slot]);
}

/* By one at a time: the caller holds the flock(2) of the file. */
static inline void kstats_shared_reset(const struct kstats_shared_region *region,
				       struct kstats_now now)
{
	struct kstats_shared_header *header = (struct kstats_shared_header *)region->memory;
	const uint64_t next = kstats_shared_resets(region) + 1;

	for (unsigned part = KSTATS_PART_OWN; part < KSTATS_PART_FORGOTTEN; part++)
		for (unsigned cpu = 0; cpu < region->cpus; cpu++)
			kstats_shared_forget(region, part, cpu, next);
	__atomic_store_n(&header->resets, next, __ATOMIC_RELEASE);
	kstats_recorded_begin(&header->recorded,
			      !__atomic_load_n(&header->is_stopped, __ATOMIC_RELAXED), now);
	header->timed_resets = next;
}

/* Its times, if they are those since the last reset; all 0: unknown. */
static inline struct kstats_recorded_time kstats_shared_recorded(
	const struct kstats_shared_header *header)
{
	const struct kstats_recorded_time time = header->recorded;

	return header->timed_resets == header->resets ? time : (struct kstats_recorded_time){ 0 };
}

/* Start or stop. A thread that is preempted within a record restarts it, and sees the stop; one
 * that runs on another CPU may have passed the check, and counts within the next instructions. */
static inline void kstats_shared_switch(struct kstats_shared_header *header, int is_active,
					struct kstats_now now)
{
	if (kstats_shared_recorded(header).began_ns)
		kstats_recorded_switch(&header->recorded, is_active, now);
	__atomic_store_n(&header->is_stopped, !is_active, __ATOMIC_SEQ_CST);
}

#endif
