/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/user_region.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "kstats/shared_counts.h"
#include "os/cpulist.h"

/* --- mapping --- */

static struct error *not_ours(const char *why)
{
	return error_create("its memory is not a valid libkstats region: %s", why);
}

/* A file in which a page may be missing or be cut off ends its reader by SIGBUS: of regular files,
 * only those of tmpfs (which memfds are) have none missing, and only sealed ones keep them. */
static struct error *check_file(int fd, size_t *ret)
{
	struct stat status;
	struct statfs system;
	int seals = fcntl(fd, F_GET_SEALS);

	if (fstat(fd, &status) < 0 || fstatfs(fd, &system) < 0)
		return error_system(errno, "its memory");
	if (!S_ISREG(status.st_mode) || system.f_type != TMPFS_MAGIC)
		return not_ours("no memfd");
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return not_ours("it may shrink");
	if (status.st_size < KSTATS_SHARED_UNIT ||
	    (uint64_t)status.st_size >
		    kstats_shared_size(BUCKET_FRAC_BITS_MAX, KSTATS_SHARED_CPUS_MAX))
		return not_ours("its size");
	*ret = (size_t)status.st_size;
	return NULL;
}

unsigned kstats_region_mask_cpus(void)
{
	unsigned long mask[KSTATS_SHARED_CPUS_MAX / (8 * sizeof(long))];
	/* The system call returns the size of the kernel's mask in bytes, whatever is in it. */
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	return bytes > 0 ? (unsigned)bytes * 8 : KSTATS_SHARED_CPUS_MAX;
}

/* 0: it is not known here. */
static struct error *check_cpus(unsigned cpus, unsigned possible)
{
	const unsigned most = kstats_region_mask_cpus();

	if (cpus == most || cpus <= (possible ? possible : most))
		return NULL;
	return error_coded(E2BIG, "it has tables for %u CPUs, but this host has %u", cpus,
			   possible ? possible : most);
}

/* `header` is a copy. */
static struct error *check_header(const struct kstats_shared_header *header, size_t size,
				  unsigned possible)
{
	if (memcmp(header->magic, KSTATS_SHARED_MAGIC, sizeof(header->magic)) != 0)
		return not_ours("how it begins");
	if (header->version != KSTATS_SHARED_VERSION)
		return error_create("version %u of the libkstats memory layout; this ctprof reads "
				    "version %u",
				    header->version, KSTATS_SHARED_VERSION);
	if (header->frac_bits > BUCKET_FRAC_BITS_MAX || !header->cpus ||
	    header->cpus > KSTATS_SHARED_CPUS_MAX)
		return not_ours("its bits or CPUs");
	if (size != kstats_shared_size(header->frac_bits, header->cpus))
		return not_ours("its size is not that of its tables");
	if (!kstats_shared_is_name(header->name, strnlen(header->name, sizeof(header->name))))
		return not_ours("its name");
	return check_cpus(header->cpus, possible);
}

/* Texts that are none are not there; programs of earlier libraries have none. */
static void take_texts(struct kstats_shared_header *header)
{
	const size_t unit = strnlen(header->unit, sizeof(header->unit));
	const size_t labels = strnlen(header->labels, sizeof(header->labels));

	if (!kstats_shared_is_unit(header->unit, unit))
		header->unit[0] = '\0';
	if (!kstats_shared_are_labels(header->labels, labels))
		header->labels[0] = '\0';
}

static struct error *map(struct kstats_region *region, bool writable)
{
	struct error *err = check_file(region->fd, &region->size);
	void *bytes;

	if (err)
		return err;
	bytes = mmap(NULL, region->size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
		     region->fd, 0);
	if (bytes == MAP_FAILED)
		return error_system(errno, "mapping its memory");
	region->bytes = bytes;
	memcpy(&region->header, bytes, sizeof(region->header));
	take_texts(&region->header);
	region->cpus = cpus_possible();
	err = check_header(&region->header, region->size, region->cpus);
	if (!region->cpus || region->cpus > region->header.cpus)
		region->cpus = region->header.cpus;
	return err;
}

struct error *kstats_region_map(int fd, bool writable, struct kstats_region *ret)
{
	struct kstats_region region = { .fd = fd };
	struct error *err = map(&region, writable);

	if (err) {
		kstats_region_unmap(&region);
		if (!err->errnum && err != &error_no_memory)
			err->errnum = EPROTO;
		return err;
	}
	*ret = region;
	return NULL;
}

void kstats_region_unmap(struct kstats_region *region)
{
	if (region->bytes)
		munmap(region->bytes, region->size);
	close(region->fd);
	*region = (struct kstats_region){ .fd = -1 };
}

/* --- tables --- */

static struct kstats_shared_region shared_of(const struct kstats_region *region)
{
	return (struct kstats_shared_region){ region->fd, region->bytes, region->header.frac_bits,
					      region->header.cpus };
}

/* A callback for each slot with counts since the last reset. */
typedef struct error *slot_visit(void *context, unsigned cpu, unsigned slot,
				 struct kstats_shared_slot counted);

struct region_walk {
	struct kstats_region *region;
	struct kstats_shared_region shared;
	uint64_t resets, total;
	slot_visit *visit;
	void *context;
};

static struct error *not_of_libkstats(void)
{
	return error_coded(EPROTO, "its counts are not those of libkstats");
}

static struct error *visit_table(struct region_walk *walk, unsigned part, unsigned cpu)
{
	struct kstats_region *region = walk->region;
	const unsigned frac_bits = region->header.frac_bits;
	unsigned gone = kstats_shared_forgotten(part, walk->resets);
	const struct kstats_shared_slot *slots = kstats_shared_slots(&walk->shared, part, cpu);
	const struct kstats_shared_slot *forgotten =
		kstats_shared_is_written(&walk->shared, gone, cpu)
			? kstats_shared_slots(&walk->shared, gone, cpu)
			: NULL;

	region->looked_at += kstats_shared_table_bytes(frac_bits) * (forgotten ? 2 : 1);
	for (unsigned slot = 0; slot < BUCKET_SLOTS(frac_bits); slot++) {
		struct kstats_shared_slot counted = kstats_shared_load(&slots[slot]);
		struct error *err;

		if (forgotten) {
			counted.count -= forgotten[slot].count;
			counted.sum -= forgotten[slot].sum;
		}
		if (!counted.count)
			continue;
		/* No value reaches the last slot, and readers refuse files that have one there; a
		 * CPU number beyond the possible CPUs is invalid; and the sum of counts must not
		 * overflow. */
		if (cpu >= region->cpus || slot == BUCKET_SLOTS(frac_bits) - 1 ||
		    __builtin_add_overflow(walk->total, counted.count, &walk->total))
			return not_of_libkstats();
		err = walk->visit(walk->context, cpu, slot, counted);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *being_reset(void)
{
	return error_coded(EAGAIN, "it is being reset continuously");
}

/* All tables. EAGAIN: there was a reset meanwhile, so that what was seen means nothing. */
static struct error *visit_all(struct kstats_region *region, slot_visit *visit, void *context)
{
	const unsigned cpus = region->header.cpus;
	const uint64_t end = (uint64_t)KSTATS_PART_FORGOTTEN * cpus;
	const struct kstats_shared_region shared = shared_of(region);
	struct region_walk walk = {
		region, shared, kstats_shared_resets(&shared), 0, visit, context
	};

	for (uint64_t table = 0; (table = kstats_shared_next_written(&shared, table)) < end;
	     table++) {
		struct error *err =
			visit_table(&walk, (unsigned)(table / cpus), (unsigned)(table % cpus));

		/* Nonsense may come of it, too. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (kstats_shared_resets(&shared) != walk.resets) {
			error_destroy(err);
			return being_reset();
		}
		if (err)
			return err;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return kstats_shared_resets(&shared) == walk.resets ? NULL : being_reset();
}

/* Resets take a system call each, so that a reader gets through between them; but a hostile program
 * can change the number at any rate. Readers notice it after each table. */
#define ATTEMPTS_MAX 100
/* Attempts to read the whole region. */
#define READINGS_MAX 4

struct attempts {
	unsigned count;
	uint64_t bytes_max; /* of looked_at */
};

static struct attempts attempts_of(const struct kstats_region *region)
{
	return (struct attempts){ .bytes_max = region->looked_at +
					       READINGS_MAX * (uint64_t)region->size };
}

static bool is_worth_another(const struct kstats_region *region, struct error **err,
			     struct attempts *attempts)
{
	if (!*err || (*err)->errnum != EAGAIN || ++attempts->count == ATTEMPTS_MAX ||
	    region->looked_at >= attempts->bytes_max)
		return false;
	error_destroy(*err);
	*err = NULL;
	return true;
}

/* --- reading --- */

struct region_reading {
	struct kstats_table *table;
	size_t rows;
};

static struct error *add_to_table(void *context, unsigned cpu, unsigned slot,
				  struct kstats_shared_slot counted)
{
	const struct region_reading *reading = context;
	const size_t before = reading->table->rows.count;
	struct kstats_row *row;
	struct error *err = kstats_table_row(reading->table, cpu, NULL, &row);

	if (err)
		return err;
	if (before == reading->rows && reading->table->rows.count > before)
		return error_coded(ENOSPC, "it has counted on more than %zu CPUs", reading->rows);
	row->slots[slot].count += counted.count;
	row->slots[slot].sum += counted.sum;
	return NULL;
}

static void empty_table(struct kstats_table *table)
{
	for (size_t i = 0; i < table->rows.count; i++)
		free(table->rows.items[i].slots);
	table->rows.count = 0;
}

struct error *kstats_region_read(struct kstats_region *region, size_t rows,
				 struct kstats_table *table)
{
	struct attempts attempts = attempts_of(region);
	struct region_reading reading = { table, rows };
	struct error *err;

	do {
		empty_table(table);
		err = visit_all(region, add_to_table, &reading);
	} while (is_worth_another(region, &err, &attempts));
	return err;
}

static struct error *add_to_sum(void *context, unsigned cpu, unsigned slot,
				struct kstats_shared_slot counted)
{
	struct kstats_distribution *sum = context;

	(void)cpu;
	sum->slots[slot].count += counted.count;
	sum->slots[slot].sum += counted.sum;
	sum->count += counted.count;
	return NULL;
}

struct error *kstats_region_add_up(struct kstats_region *region, struct kstats_distribution *ret)
{
	const size_t slots = BUCKET_SLOTS(region->header.frac_bits);
	struct kstats_distribution sum = { .frac_bits = region->header.frac_bits };
	struct attempts attempts = attempts_of(region);
	struct error *err;

	sum.slots = calloc(slots, sizeof(*sum.slots));
	if (!sum.slots)
		return &error_no_memory;
	do {
		memset(sum.slots, 0, slots * sizeof(*sum.slots));
		sum.count = 0;
		err = visit_all(region, add_to_sum, &sum);
	} while (is_worth_another(region, &err, &attempts));
	if (err)
		kstats_distribution_clear(&sum);
	else
		*ret = sum;
	return err;
}

struct kstats_recorded_time kstats_region_recorded(const struct kstats_region *region)
{
	return kstats_shared_recorded(region->bytes);
}

bool kstats_region_is_active(const struct kstats_region *region)
{
	return !__atomic_load_n(&region->bytes->is_stopped, __ATOMIC_RELAXED);
}

/* --- commands --- */

/* A second in all. */
#define TURNS_MAX 100

/* The kernel gives it back when the file is closed, also by a process that is killed. */
static struct error *take_turn(const struct kstats_region *region)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (unsigned turn = 0; flock(region->fd, LOCK_EX | LOCK_NB) < 0; turn++) {
		if (errno != EWOULDBLOCK || turn == TURNS_MAX)
			return error_system(errno, "another process is resetting it");
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static struct kstats_now now(void)
{
	return (struct kstats_now){ clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC) };
}

static struct error *reset(const struct kstats_region *region)
{
	const struct kstats_shared_region shared = shared_of(region);
	struct error *err = take_turn(region);

	if (err)
		return err;
	kstats_shared_reset(&shared, now());
	flock(region->fd, LOCK_UN);
	return NULL;
}

struct error *kstats_region_command(const struct kstats_region *region, enum kstats_command command)
{
	if (command == KSTATS_RESET)
		return reset(region);
	kstats_shared_switch(region->bytes, command == KSTATS_START, now());
	return NULL;
}
