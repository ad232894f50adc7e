/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_limit.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/word_map.h"
#include "profile/profile.h"

/* What is there before anything is counted. */
#define BEFORE_ALL ((uint64_t)32 << 20)

static uint64_t rest_of(uint64_t limit)
{
	return limit > BEFORE_ALL ? limit - BEFORE_ALL : 0;
}

size_t profile_limit_maps(uint64_t limit)
{
	return (size_t)(rest_of(limit) / 4 * 3);
}

size_t profile_limit_images(uint64_t limit)
{
	return (size_t)(rest_of(limit) / 4);
}

#define RING_LEAST ((size_t)64 << 10)

size_t profile_limit_ring(uint64_t limit, size_t usual)
{
	const int cpus = libbpf_num_possible_cpus();
	const uint64_t share = rest_of(limit) / 8 / (uint64_t)(cpus > 0 ? cpus : 1);
	size_t ring = usual;

	while (ring > share && ring > RING_LEAST)
		ring /= 2;
	return ring;
}

/* The table of the sums before is there while the next one is made. */
#define BYTES_OF_SUM (3 * sizeof(struct sample) + sizeof(struct words))

uint64_t profile_limit_reading(uint64_t threads, uint64_t sums)
{
	return threads * sizeof(struct profile_thread) + sums * BYTES_OF_SUM;
}

/* struct htab_elem and struct bucket of kernel/bpf/hashtab.c. */
#define HASH_ELEMENT 48
#define HASH_BUCKET  16

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + 7) & ~UINT64_C(7);
}

static uint64_t buckets(uint64_t entries)
{
	uint64_t count = 1;

	while (count < entries)
		count *= 2;
	return count;
}

static uint64_t map_bytes(const struct bpf_map *map)
{
	const int cpus = libbpf_num_possible_cpus();
	const uint64_t entries = bpf_map__max_entries(map);
	const uint64_t value = rounded(bpf_map__value_size(map));

	/* Those that are mapped here are among what is resident. */
	if (bpf_map__map_flags(map) & BPF_F_MMAPABLE || bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
		return 0;
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_HASH:
		return buckets(entries) * HASH_BUCKET +
		       entries * (HASH_ELEMENT + rounded(bpf_map__key_size(map)) + value);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return entries * value * (uint64_t)(cpus > 0 ? cpus : 1);
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		return entries * value;
	default:
		return 0;
	}
}

/* "memlock:\tBYTES" of /proc/self/fdinfo/FD; UINT64_MAX: not known (bpf_map_show_fdinfo() in
 * kernel/bpf/syscall.c). */
static uint64_t memlock_of(int fd)
{
	char path[40], bytes[1024];
	_cleanup_close_ int info = -1;
	const char *at;
	uint64_t ret;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	got = info < 0 ? -1 : read(info, bytes, sizeof(bytes) - 1);
	bytes[got > 0 ? got : 0] = 0;
	at = strstr(bytes, "memlock:");
	return at && sscanf(at, "memlock: %" SCNu64, &ret) == 1 ? ret : UINT64_MAX;
}

uint64_t profile_limit_kernel_now(const struct bpf_object *object)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, object)
	{
		const uint64_t most = bpf_map__fd(map) < 0 ? 0 : map_bytes(map);
		const uint64_t now = most ? memlock_of(bpf_map__fd(map)) : 0;

		bytes += now < most ? now : most;
	}
	return bytes;
}

uint64_t profile_limit_kernel(const struct bpf_object *object)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, object) bytes += bpf_map__fd(map) < 0 ? 0 : map_bytes(map);
	return bytes;
}
