/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/perf_ring.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int map(struct perf_ring *ring, size_t bytes)
{
	size_t page = page_bytes(), room = page;
	int failed = ENOMEM;

	while (room < bytes && room < PERF_RING_BYTES_MAX)
		room *= 2;
	/* EPERM: beyond what the sysctl kernel.perf_event_mlock_kb lets this user lock. */
	for (; room >= page; room /= 2) {
		ring->memory =
			mmap(NULL, page + room, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
		ring->bytes = room;
		if (ring->memory != MAP_FAILED)
			return 0;
		failed = errno;
		if (failed != EPERM && failed != ENOMEM)
			break;
	}
	ring->memory = NULL;
	return failed;
}

int perf_ring_open(const struct perf_event_attr *attr, int cpu, size_t bytes, struct perf_ring *ret)
{
	struct perf_ring ring = { 0 };
	int failed;

	*ret = (struct perf_ring){ .fd = -1 };
	ring.fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0)
		return errno;
	failed = map(&ring, bytes);
	if (failed) {
		perf_ring_close(&ring);
		return failed;
	}
	*ret = ring;
	return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, page_bytes() + ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct perf_ring){ .fd = -1 };
}

size_t perf_ring_copy(const char *ring, size_t bytes, uint64_t tail, uint64_t head, char *ret)
{
	size_t length = head - tail > bytes ? bytes : (size_t)(head - tail);
	size_t from = (size_t)(head - length) & (bytes - 1), first = bytes - from;

	if (first > length)
		first = length;
	memcpy(ret, ring + from, first);
	memcpy(ret + first, ring, length - first);
	return length;
}

size_t perf_ring_take(struct perf_ring *ring, char *ret)
{
	struct perf_event_mmap_page *page = ring->memory;
	/* Records are there before the head says so, and may be overwritten once the tail does. */
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	size_t length = perf_ring_copy((const char *)ring->memory + page_bytes(), ring->bytes, tail,
				       head, ret);

	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return length;
}
