/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/perf_events.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/cpulist.h"

/* More than this per CPU is never asked for. */
#define RING_BYTES_MAX ((size_t)64 << 20)

/* Above this many queued bytes, records are shown without waiting for older ones. */
#define WAITING_MAX ((size_t)64 << 20)

struct perf_ring {
	int fd;
	void *memory; /* the kernel's page, then the records */
	size_t bytes; /* of the records, a power of two */
};

struct queued_record {
	uint64_t time_ns;
	size_t offset, length; /* in the bytes */
};

/* --- rings --- */

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int map_ring(struct perf_ring *ring, size_t bytes)
{
	size_t page = page_bytes(), room = page;
	int failed = ENOMEM;

	while (room < bytes && room < RING_BYTES_MAX)
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

static void close_ring(struct perf_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, page_bytes() + ring->bytes);
	close(ring->fd);
}

/* Returns 0 or an errno: ENODEV for a CPU that is offline. */
static int open_ring(struct perf_event_attr *attr, int cpu, size_t bytes, struct perf_ring *ret)
{
	struct perf_ring ring = { 0 };
	int failed;

	ring.fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	/* A kernel before 5.12 rejects the bit of build-ids. */
	if (ring.fd < 0 && errno == EINVAL && attr->build_id) {
		attr->build_id = 0;
		return open_ring(attr, cpu, bytes, ret);
	}
	if (ring.fd < 0)
		return errno;
	failed = map_ring(&ring, bytes);
	if (failed)
		close_ring(&ring);
	else
		*ret = ring;
	return failed;
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

/* Copy all records and give the kernel their room back. */
static size_t read_ring(struct perf_ring *ring, char *ret)
{
	struct perf_event_mmap_page *page = ring->memory;
	/* The kernel writes records before it moves the head, and overwrites them once the tail
	 * has moved. */
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	size_t length = perf_ring_copy((const char *)ring->memory + page_bytes(), ring->bytes, tail,
				       head, ret);

	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return length;
}

/* --- the queue --- */

static bool add_to_batch(struct record_batch *batch, uint64_t time_ns, struct text record)
{
	const struct queued_record queued = { time_ns, batch->bytes.count, record.length };

	if (!array_reserve(&batch->bytes, record.length) || !array_push(&batch->records, queued))
		return false;
	if (record.length)
		memcpy(batch->bytes.items + queued.offset, record.bytes, record.length);
	batch->bytes.count += record.length;
	return true;
}

bool record_queue_add(struct record_queue *queue, uint64_t time_ns, struct text record)
{
	return add_to_batch(&queue->waiting, time_ns, record);
}

static int compare_queued(const void *a, const void *b)
{
	const struct queued_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

size_t record_queue_take(struct record_queue *queue, uint64_t before_ns, record_visit *visit,
			 void *context)
{
	struct record_batch *batch = &queue->waiting, *rest = &queue->spare, taken;
	size_t i = 0, dropped = 0;

	if (!batch->records.count)
		return 0;
	qsort(batch->records.items, batch->records.count, sizeof(*batch->records.items),
	      compare_queued);
	rest->bytes.count = rest->records.count = 0;
	for (; i < batch->records.count; i++) {
		const struct queued_record *record = &batch->records.items[i];
		const struct text bytes = { batch->bytes.items + record->offset, record->length };

		if (record->time_ns < before_ns)
			visit(context, bytes);
		else if (i == 0)
			return 0;
		else
			dropped += !add_to_batch(rest, record->time_ns, bytes);
	}
	taken = *batch;
	*batch = *rest;
	*rest = taken;
	return dropped;
}

static void batch_deinit(struct record_batch *batch)
{
	array_deinit(&batch->bytes);
	array_deinit(&batch->records);
}

void record_queue_deinit(struct record_queue *queue)
{
	batch_deinit(&queue->waiting);
	batch_deinit(&queue->spare);
}

/* --- events --- */

static struct perf_event_attr attributes(size_t ring_bytes, size_t wake_bytes)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.build_id = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(wake_bytes ? wake_bytes : ring_bytes / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static struct error *keep_ring(struct perf_events *events, struct perf_ring *ring)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (!array_push(&events->rings, *ring)) {
		close_ring(ring);
		return &error_no_memory;
	}
	if (epoll_ctl(events->epoll, EPOLL_CTL_ADD, ring->fd, &event))
		return error_system(errno, "cannot wait for perf events");
	/* No later ring is larger than the first. */
	if (!events->batch)
		events->batch = malloc(ring->bytes);
	return events->batch ? NULL : &error_no_memory;
}

struct error *perf_events_open(struct perf_events *events, size_t ring_bytes, size_t wake_bytes)
{
	struct perf_event_attr attr = attributes(ring_bytes, wake_bytes);
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	struct error *err;

	events->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (events->epoll < 0)
		return error_system(errno, "cannot wait for perf events");
	err = cpus_list_possible(&cpus);
	for (size_t i = 0; !err && i < cpus.count; i++) {
		const uint32_t cpu = cpus.items[i];
		struct perf_ring ring;
		int failed = open_ring(&attr, (int)cpu, ring_bytes, &ring);

		if (failed == ENODEV)
			continue;
		if (failed)
			return error_system(failed,
					    "cannot watch mappings on CPU %u by perf events%s", cpu,
					    failed == EACCES ? " (CAP_SYS_ADMIN is required while "
							       "kernel.perf_event_paranoid is 3)"
							     : "");
		ring_bytes = ring.bytes;
		err = keep_ring(events, &ring);
	}
	if (err)
		return err;
	return events->rings.count ? NULL : error_create("no CPU to watch");
}

void perf_events_close(struct perf_events *events)
{
	for (size_t i = 0; i < events->rings.count; i++)
		close_ring(&events->rings.items[i]);
	array_deinit(&events->rings);
	record_queue_deinit(&events->queue);
	free(events->batch);
	if (events->epoll >= 0)
		close(events->epoll);
	*events = PERF_EVENTS_NONE;
}

static void queue_record(struct perf_events *events, struct text bytes)
{
	struct perf_record record;

	if (!perf_record_parse(bytes, &record))
		events->lost++;
	else if (record.kind == PERF_RECORD_OF_LOSS)
		events->lost += record.lost;
	else if (record.kind != PERF_RECORD_OF_OTHERS)
		events->lost += !record_queue_add(&events->queue, record.time_ns, bytes);
}

void perf_events_poll(struct perf_events *events, record_visit *visit, void *context)
{
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < events->rings.count; i++) {
		struct text rest = { events->batch,
				     read_ring(&events->rings.items[i], events->batch) };
		struct text record;

		while (perf_record_cut(&rest, &record))
			queue_record(events, record);
		events->lost += rest.length != 0;
	}
	/* The kernel writes a record's cause into a ring before the record gets its time, so this
	 * pass has found all that precedes `begun_ns`. The cause of a later record may be in a ring
	 * that was read before. */
	events->lost += record_queue_take(
		&events->queue,
		events->queue.waiting.bytes.count > WAITING_MAX ? UINT64_MAX : begun_ns, visit,
		context);
}

void perf_events_drain(struct perf_events *events, record_visit *visit, void *context)
{
	events->lost += record_queue_take(&events->queue, UINT64_MAX, visit, context);
}

bool perf_events_has_waiting(const struct perf_events *events)
{
	return events->queue.waiting.bytes.count != 0;
}
