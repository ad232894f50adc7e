/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making metrics and ending them.
 *
 * What is shared is a memfd: it ends with the processes that have it, nobody else can make one that
 * looks as if a process had mapped it, it is found through /proc whatever namespaces the process is
 * in, and once it is sealed a reader may map it without fear that it shrinks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "metric.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* --- all metrics of this process --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kstats *metrics;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child has none of the threads that might hold it. */
static __attribute__((constructor)) void keep_lock_over_forks(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

/* The pointer that points to the metric of this name, or to the end. */
static struct kstats **find(const char *name)
{
	struct kstats **at = &metrics;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/* --- what is shared --- */

#define MASK_LONGS (KSTATS_SHARED_CPUS_MAX / (8 * sizeof(long)))

/* One more than the largest number in "0-3,8-11"; 0: it cannot be read. */
static unsigned possible_cpus(void)
{
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	char list[4096];
	ssize_t length = fd < 0 ? -1 : read(fd, list, sizeof(list) - 1);
	unsigned long last;
	char *number;

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return 0;
	list[length] = '\0';
	/* They ascend. */
	number = strrchr(list, ',');
	number = number ? number + 1 : list;
	number = strchr(number, '-') ? strchr(number, '-') + 1 : number;
	last = *number >= '0' && *number <= '9' ? strtoul(number, NULL, 10)
						: KSTATS_SHARED_CPUS_MAX;
	return last < KSTATS_SHARED_CPUS_MAX ? (unsigned)last + 1 : 0;
}

/*
 * The CPUs on which we may run now; returns how many numbers of CPUs there may be. The kernel's
 * masks are those of the largest host that it is built for: they tell where nothing else does.
 * Values on a CPU that has no table are counted in another one's.
 */
static unsigned find_cpus(unsigned long mask[MASK_LONGS])
{
	long bytes = syscall(SYS_sched_getaffinity, 0, MASK_LONGS * sizeof(long), mask);
	unsigned most = bytes > 0 ? (unsigned)bytes * 8 : 1, possible = possible_cpus();

	return possible && possible < most ? possible : most;
}

/* A program that was told to make no large files would be ended by SIGXFSZ. */
static int grow(int fd, size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
		errno = EFBIG;
		return -1;
	}
	return ftruncate(fd, (off_t)size);
}

/* Of its last size, for its owner. */
static int make_memory(const char *name, size_t size)
{
	char label[sizeof(KSTATS_SHARED_PREFIX) + KSTATS_SHARED_NAME_MAX];
	int fd, failed;

	snprintf(label, sizeof(label), KSTATS_SHARED_PREFIX "%s", name);
	fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (grow(fd, size) == 0 && fchmod(fd, 0600) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	failed = errno;
	close(fd);
	errno = failed;
	return -1;
}

/* Have the pages of CPUs on which we may run, so that no value waits for one. Others come with
 * their first value. */
static void populate(const struct kstats *key, const unsigned long mask[MASK_LONGS])
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *part = key->tables + (kstats_has_rseq() ? 0 : key->cpus * key->table_bytes);

	for (unsigned cpu = 0; cpu < key->cpus; cpu++) {
		uintptr_t start = (uintptr_t)part + cpu * key->table_bytes;
		uintptr_t end = start + key->table_bytes;

		if (!(mask[cpu / (8 * sizeof(long))] >> cpu % (8 * sizeof(long)) & 1))
			continue;
		start &= ~(page - 1);
		madvise((void *)start, end - start, MADV_POPULATE_WRITE);
	}
}

/* Is new memory locked as a whole, as it is after mlockall(MCL_FUTURE)? Then it is there. */
static int is_memory_locked(size_t page)
{
	void *probe = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char is_there = 0;

	if (probe == MAP_FAILED)
		return 0;
	if (mincore(probe, page, &is_there) < 0)
		is_there = 0;
	munmap(probe, page);
	return is_there & 1;
}

/* All of it, but no page before it is used, also where memory is locked: those are locked then as
 * they come. */
static void *map_shared(int fd, size_t size)
{
	const int access = PROT_READ | PROT_WRITE;
	void *bytes;

	if (!is_memory_locked((size_t)sysconf(_SC_PAGESIZE)))
		return mmap(NULL, size, access, MAP_SHARED, fd, 0);
	/* The kernel does not fault in pages of a mapping without access rights. */
	bytes = mmap(NULL, size, PROT_NONE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return bytes;
	munlock(bytes, size);
	if (mprotect(bytes, size, access) < 0) {
		munmap(bytes, size);
		return MAP_FAILED;
	}
	syscall(SYS_mlock2, bytes, size, MLOCK_ONFAULT);
	return bytes;
}

/* What a metric of times has beside; of others it is zero. */
struct times {
	uint32_t is_time, overhead_ns;
};

static void write_header(const struct kstats *key, struct times times)
{
	struct kstats_shared_header *header = key->header;

	header->version = KSTATS_SHARED_VERSION;
	header->frac_bits = key->frac_bits;
	header->cpus = key->cpus;
	header->is_time = times.is_time;
	header->overhead_ns = times.overhead_ns;
	memcpy(header->name, key->name, sizeof(header->name));
	/* Last: before it, readers see no metric. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(header->magic, KSTATS_SHARED_MAGIC, sizeof(header->magic));
}

/* Map what is shared, of which the name, frac_bits and cpus are known. */
static int share(struct kstats *key)
{
	struct stat status;
	void *bytes = MAP_FAILED;
	int failed;

	key->fd = make_memory(key->name, key->size);
	if (key->fd < 0)
		return -1;
	if (fstat(key->fd, &status) == 0)
		bytes = map_shared(key->fd, key->size);
	if (bytes == MAP_FAILED) {
		failed = errno;
		close(key->fd);
		errno = failed;
		return -1;
	}
	key->device = status.st_dev;
	key->inode = status.st_ino;
	key->header = bytes;
	key->tables =
		(char *)bytes + kstats_shared_table(key->frac_bits, key->cpus, KSTATS_PART_OWN, 0);
	return 0;
}

/* --- metrics --- */

static struct kstats *make(const char *name, unsigned frac_bits, struct times times)
{
	unsigned long mask[MASK_LONGS] = { 0 };
	struct kstats *key = aligned_alloc(_Alignof(struct kstats), sizeof(*key));
	int failed;

	if (!key)
		return NULL;
	memset(key, 0, sizeof(*key));
	strcpy(key->name, name);
	key->frac_bits = frac_bits;
	key->cpus = find_cpus(mask);
	key->table_bytes = kstats_shared_table_bytes(frac_bits);
	key->size = kstats_shared_size(frac_bits, key->cpus);
	key->rseq_offset = kstats_rseq_offset();
	if (share(key) < 0) {
		failed = errno;
		free(key);
		errno = failed;
		return NULL;
	}
	populate(key, mask);
	write_header(key, times);
	return key;
}

static struct kstats *add(const char *name, unsigned frac_bits, struct times times)
{
	size_t length = name ? strlen(name) : 0;
	struct kstats **end, *key = NULL;

	if (length > KSTATS_SHARED_NAME_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (!length || !kstats_shared_is_name(name, length) || frac_bits > BUCKET_FRAC_BITS_MAX) {
		errno = EINVAL;
		return NULL;
	}
	take_lock();
	end = find(name);
	if (*end)
		errno = EEXIST;
	else
		*end = key = make(name, frac_bits, times);
	give_lock();
	return key;
}

struct kstats *kstats_new(const char *name, unsigned frac_bits)
{
	return add(name, frac_bits, (struct times){ 0 });
}

void kstats_delete(struct kstats *key)
{
	struct stat status;

	if (!key)
		return;
	take_lock();
	*find(key->name) = key->next;
	give_lock();
	munmap(key->header, key->size);
	/* Daemons close all that is open, and the number may be another file's by now. */
	if (fstat(key->fd, &status) == 0 && status.st_dev == key->device &&
	    status.st_ino == key->inode)
		close(key->fd);
	free(key);
}

/* --- times --- */

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of many spans with nothing in them. */
static uint32_t measure_overhead(void)
{
	uint64_t took[31];

	for (size_t i = 0; i < sizeof(took) / sizeof(took[0]); i++)
		took[i] = kstats_span_stop(kstats_span_start(NULL));
	qsort(took, sizeof(took) / sizeof(took[0]), sizeof(took[0]), compare_times);
	return (uint32_t)took[sizeof(took) / sizeof(took[0]) / 2];
}

struct kstats *kstats_new_time(const char *name, unsigned frac_bits)
{
	static uint32_t overhead_ns;
	uint32_t known = __atomic_load_n(&overhead_ns, __ATOMIC_RELAXED);

	if (!known) {
		known = measure_overhead();
		__atomic_store_n(&overhead_ns, known, __ATOMIC_RELAXED);
	}
	return add(name, frac_bits, (struct times){ 1, known });
}
