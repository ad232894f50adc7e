/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Create and delete metrics.
 *
 * The shared memory is a memfd: it ends with the processes that have it, another process cannot
 * make it appear to be mapped by this one, readers find it through /proc in any namespace, and
 * sealing prevents it from shrinking while a reader maps it.
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
#include <time.h>
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

void kstats_metrics_lock(void)
{
	pthread_mutex_lock(&lock);
}

void kstats_metrics_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Another thread might hold the lock during a fork, and the child does not have that thread. */
static __attribute__((constructor)) void hold_lock_during_forks(void)
{
	pthread_atfork(kstats_metrics_lock, kstats_metrics_unlock, kstats_metrics_unlock);
}

struct kstats *kstats_metrics_first(void)
{
	return metrics;
}

/* The link to the metric of this name, or to the end of the list. */
static struct kstats **find_link(const char *name)
{
	struct kstats **at = &metrics;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/* --- shared memory --- */

#define MASK_LONGS (KSTATS_SHARED_CPUS_MAX / (8 * sizeof(long)))

/* One more than the largest number in a list such as "0-3,8-11"; 0 if it cannot be read. */
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
	/* Numbers ascend. */
	number = strrchr(list, ',');
	number = number ? number + 1 : list;
	number = strchr(number, '-') ? strchr(number, '-') + 1 : number;
	last = *number >= '0' && *number <= '9' ? strtoul(number, NULL, 10)
						: KSTATS_SHARED_CPUS_MAX;
	return last < KSTATS_SHARED_CPUS_MAX ? (unsigned)last + 1 : 0;
}

/*
 * Sets `mask` to the CPUs on which this thread may run, and returns the number of possible CPUs. If
 * /sys does not tell, it is the size of the kernel's masks, which fit the largest supported host.
 * Values on a CPU without a table are counted in the table of another CPU.
 */
static unsigned find_cpus(unsigned long mask[MASK_LONGS])
{
	long bytes = syscall(SYS_sched_getaffinity, 0, MASK_LONGS * sizeof(long), mask);
	unsigned most = bytes > 0 ? (unsigned)bytes * 8 : 1, possible = possible_cpus();

	return possible && possible < most ? possible : most;
}

/* Above RLIMIT_FSIZE, ftruncate() would end the program with SIGXFSZ. */
static int grow(int fd, size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
		errno = EFBIG;
		return -1;
	}
	return ftruncate(fd, (off_t)size);
}

/* Create a memfd of a size that no process can change, accessible by its owner only. */
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

/* Allocate the pages of the CPUs on which this thread may run, so that recording there takes no
 * page fault. Pages of other CPUs come with their first value. */
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

/* Does the process lock new memory, as after mlockall(MCL_FUTURE)? Then it is resident at once. */
static int is_memory_locked(size_t page)
{
	void *probe = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char is_resident = 0;

	if (probe == MAP_FAILED)
		return 0;
	if (mincore(probe, page, &is_resident) < 0)
		is_resident = 0;
	munmap(probe, page);
	return is_resident & 1;
}

/* Map the file without allocating pages. In a process that locks its memory, a page is allocated
 * and locked when it is first used. */
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

/* Members of a metric of times; zero in other metrics. */
struct times {
	uint32_t is_time, overhead_ns;
};

struct kstats_now kstats_clock(void)
{
	struct timespec epoch, monotonic;

	clock_gettime(CLOCK_REALTIME, &epoch);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (struct kstats_now){
		(uint64_t)epoch.tv_sec * 1000000000u + (uint64_t)epoch.tv_nsec,
		(uint64_t)monotonic.tv_sec * 1000000000u + (uint64_t)monotonic.tv_nsec,
	};
}

static void write_header(const struct kstats *key, struct times times)
{
	struct kstats_shared_header *header = key->header;

	header->version = KSTATS_SHARED_VERSION;
	header->frac_bits = key->frac_bits;
	header->cpus = key->cpus;
	header->is_time = times.is_time;
	header->overhead_ns = times.overhead_ns;
	memcpy(header->name, key->name, sizeof(header->name));
	kstats_recorded_begin(&header->recorded, 1, kstats_clock());
	/* Last: readers ignore the file until it has its magic bytes. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(header->magic, KSTATS_SHARED_MAGIC, sizeof(header->magic));
}

/* Create and map the shared memory of a metric whose name, frac_bits and cpus are set. */
static int map_metric(struct kstats *key)
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

static struct kstats *create_metric(const char *name, unsigned frac_bits, struct times times)
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
	key->maker = getpid();
	if (map_metric(key) < 0) {
		failed = errno;
		free(key);
		errno = failed;
		return NULL;
	}
	populate(key, mask);
	write_header(key, times);
	return key;
}

static struct kstats *add_metric(const char *name, unsigned frac_bits, struct times times)
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
	kstats_metrics_lock();
	end = find_link(name);
	if (*end)
		errno = EEXIST;
	else
		*end = key = create_metric(name, frac_bits, times);
	kstats_metrics_unlock();
	return key;
}

struct kstats *kstats_new(const char *name, unsigned frac_bits)
{
	return add_metric(name, frac_bits, (struct times){ 0 });
}

void kstats_delete(struct kstats *key)
{
	if (!key)
		return;
	kstats_save_deleted(key);
	kstats_metrics_lock();
	*find_link(key->name) = key->next;
	kstats_metrics_unlock();
	munmap(key->header, key->size);
	if (kstats_region_of(key).fd >= 0)
		close(key->fd);
	free(key);
}

struct kstats_shared_region kstats_region_of(const struct kstats *key)
{
	struct stat status;
	/* A daemon may have closed all descriptors, and this number may be another file by now. */
	const bool has_file = fstat(key->fd, &status) == 0 && status.st_dev == key->device &&
			      status.st_ino == key->inode;

	return (struct kstats_shared_region){ has_file ? key->fd : -1, key->header, key->frac_bits,
					      key->cpus };
}

int kstats_describe(struct kstats *key, const char *unit, const char *labels)
{
	struct kstats_shared_header *header;

	if (!key)
		return 0;
	header = key->header;
	if ((unit && (header->is_time || !kstats_shared_is_unit(unit, strlen(unit)))) ||
	    (labels && !kstats_shared_are_labels(labels, strlen(labels)))) {
		errno = EINVAL;
		return -1;
	}
	/* Within both: they were checked. */
	strncpy(header->unit, unit ? unit : "", sizeof(header->unit) - 1);
	strncpy(header->labels, labels ? labels : "", sizeof(header->labels) - 1);
	return 0;
}

/* --- times --- */

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of many empty spans. */
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
	return add_metric(name, frac_bits, (struct times){ 1, known });
}
