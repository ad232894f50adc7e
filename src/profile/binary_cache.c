/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/binary_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"

#define UNUSED_NS (60 * (uint64_t)NS_PER_S)
#define AGE_NS    (600 * (uint64_t)NS_PER_S)

struct cached_binary {
	TAILQ_ENTRY(cached_binary) next;
	struct symbol_binary opened;
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_length;
	size_t bytes;
	uint64_t used_ns; /* CLOCK_MONOTONIC */
};

struct binary_cache {
	TAILQ_HEAD(, cached_binary) binaries; /* the last one was used most recently */
	size_t count, bytes, bytes_most;
};

struct binary_cache *binary_cache_create(size_t bytes_most)
{
	struct binary_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	TAILQ_INIT(&cache->binaries);
	cache->bytes_most = bytes_most;
	return cache;
}

static void take_out(struct binary_cache *cache, struct cached_binary *cached)
{
	TAILQ_REMOVE(&cache->binaries, cached, next);
	cache->bytes -= cached->bytes;
	cache->count--;
}

static void drop(struct binary_cache *cache, struct cached_binary *cached)
{
	take_out(cache, cached);
	symbol_binary_close(&cached->opened);
	free(cached);
}

void binary_cache_destroy(struct binary_cache *cache)
{
	if (!cache)
		return;
	while (!TAILQ_EMPTY(&cache->binaries))
		drop(cache, TAILQ_FIRST(&cache->binaries));
	free(cache);
}

void binary_cache_forget_old(struct binary_cache *cache)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct cached_binary *cached = TAILQ_FIRST(&cache->binaries), *next;

	for (; cached; cached = next) {
		next = TAILQ_NEXT(cached, next);
		if (now - cached->used_ns > UNUSED_NS || now - cached->opened.opened_ns > AGE_NS)
			drop(cache, cached);
	}
}

static struct cached_binary *find(const struct binary_cache *cache,
				  const struct profile_mapping *mapping)
{
	struct cached_binary *cached;

	TAILQ_FOREACH(cached, &cache->binaries, next)
	if (cached->build_id_length == mapping->build_id_length &&
	    memcmp(cached->build_id, mapping->build_id, mapping->build_id_length) == 0)
		return cached;
	return NULL;
}

bool binary_cache_take(struct binary_cache *cache, const struct profile_mapping *mapping,
		       struct symbol_binary *ret)
{
	struct cached_binary *cached = find(cache, mapping);

	if (!cached)
		return false;
	take_out(cache, cached);
	*ret = cached->opened;
	free(cached);
	return true;
}

/* Release memory and descriptors that only the current reading needs: results of look-ups, and the
 * root of the process, in which the debug file was searched. */
static void release_what_is_over(struct symbol_binary *binary)
{
	binary_release(binary->binary);
	if (binary->origin.process >= 0)
		close(binary->origin.process);
	binary->origin.process = binary->origin.symfs = -1;
}

void binary_cache_put(struct binary_cache *cache, const struct profile_mapping *mapping,
		      struct symbol_binary *binary)
{
	struct cached_binary *cached =
		mapping->build_id_length <= BUILD_ID_MAX ? malloc(sizeof(*cached)) : NULL;

	if (!cached || find(cache, mapping)) {
		free(cached);
		symbol_binary_close(binary);
		return;
	}
	release_what_is_over(binary);
	*cached = (struct cached_binary){
		.opened = *binary,
		.build_id_length = mapping->build_id_length,
		.bytes = binary_bytes(binary->binary),
		.used_ns = clock_ns(CLOCK_MONOTONIC),
	};
	memcpy(cached->build_id, mapping->build_id, mapping->build_id_length);
	*binary = SYMBOL_BINARY_CLOSED;
	if (!cached->opened.opened_ns)
		cached->opened.opened_ns = cached->used_ns;
	TAILQ_INSERT_TAIL(&cache->binaries, cached, next);
	cache->bytes += cached->bytes;
	cache->count++;
	while (cache->bytes > cache->bytes_most || cache->count > BINARY_CACHE_FILES)
		drop(cache, TAILQ_FIRST(&cache->binaries));
}

size_t binary_cache_bytes(const struct binary_cache *cache)
{
	return cache->bytes;
}

size_t binary_cache_count(const struct binary_cache *cache)
{
	return cache->count;
}
