/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/kept_threads.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of threads are given one after the other, so they spread by themselves. */
static uint32_t *bucket_of(struct kept_threads *threads, uint32_t tid)
{
	return &threads->buckets[tid & (threads->bucket_count - 1)];
}

static bool grow_buckets(struct kept_threads *threads)
{
	const size_t count = threads->bucket_count ? threads->bucket_count * 2 : 1024;
	uint32_t *buckets = malloc(count * sizeof(*buckets));

	if (!buckets)
		return false;
	memset(buckets, 0xff, count * sizeof(*buckets));
	free(threads->buckets);
	threads->buckets = buckets;
	threads->bucket_count = count;
	for (size_t i = 0; i < threads->slots.count; i++) {
		struct kept_thread *kept = &threads->slots.items[i];
		uint32_t *bucket;

		if (!kept->tid)
			continue;
		bucket = bucket_of(threads, kept->tid);
		kept->next = *bucket;
		*bucket = (uint32_t)i;
	}
	return true;
}

/* A free place; KEPT_NONE without memory. */
static uint32_t free_place(struct kept_threads *threads)
{
	uint32_t place = threads->slots.count ? threads->free : KEPT_NONE;

	if (place != KEPT_NONE) {
		threads->free = threads->slots.items[place].next;
		return place;
	}
	if (threads->slots.count >= KEPT_NONE ||
	    !array_push(&threads->slots, (struct kept_thread){ 0 }))
		return KEPT_NONE;
	threads->free = KEPT_NONE;
	return (uint32_t)threads->slots.count - 1;
}

static struct kept_thread *keep_thread(struct kept_threads *threads, uint32_t tid, uint64_t start)
{
	struct kept_thread *kept;
	uint32_t *bucket, place;

	if (threads->used >= threads->bucket_count && !grow_buckets(threads))
		return NULL;
	place = free_place(threads);
	if (place == KEPT_NONE)
		return NULL;
	bucket = bucket_of(threads, tid);
	kept = &threads->slots.items[place];
	*kept = (struct kept_thread){ .tid = tid, .next = *bucket, .start = start };
	kept->reported.tid = tid;
	kept->reported.id = ++threads->last_id;
	kept->reported.syscall = -1;
	*bucket = place;
	threads->used++;
	return kept;
}

struct kept_thread *kept_threads_at(struct kept_threads *threads, uint32_t tid, uint64_t start,
				    bool *ret_is_new)
{
	uint32_t place = threads->bucket_count ? *bucket_of(threads, tid) : KEPT_NONE;

	while (place != KEPT_NONE) {
		struct kept_thread *kept = &threads->slots.items[place];

		*ret_is_new = false;
		if (kept->tid == tid && kept->start == start)
			return kept;
		place = kept->next;
	}
	*ret_is_new = true;
	return keep_thread(threads, tid, start);
}

static bool has_shrunk(const struct kept_threads *threads)
{
	return threads->slots.room > 4096 && threads->used < threads->slots.room / 4;
}

/* After many have ended: those that are left, in a table of their size. */
static void shrink(struct kept_threads *threads)
{
	struct kept_threads less = { .free = KEPT_NONE,
				     .last_id = threads->last_id,
				     .round = threads->round };

	if (!array_reserve(&less.slots, threads->used))
		return;
	for (size_t i = 0; i < threads->slots.count; i++)
		if (threads->slots.items[i].tid)
			less.slots.items[less.slots.count++] = threads->slots.items[i];
	less.used = less.slots.count;
	while (less.bucket_count <= less.used)
		if (!grow_buckets(&less)) {
			kept_threads_deinit(&less);
			return;
		}
	kept_threads_deinit(threads);
	*threads = less;
}

void kept_threads_begin(struct kept_threads *threads)
{
	threads->round++;
	array_clear(&threads->met);
	if (has_shrunk(threads))
		shrink(threads);
}

bool kept_threads_met(struct kept_threads *threads, struct kept_thread *kept)
{
	if (kept->round == threads->round)
		return true;
	kept->round = threads->round;
	return kept->is_over || kept->is_only_led ||
	       array_push(&threads->met, (uint32_t)(kept - threads->slots.items));
}

void kept_threads_drop(struct kept_threads *threads, struct kept_thread *kept)
{
	const uint32_t place = (uint32_t)(kept - threads->slots.items);
	uint32_t *link = bucket_of(threads, kept->tid);

	while (*link != place)
		link = &threads->slots.items[*link].next;
	*link = kept->next;
	*kept = (struct kept_thread){ .next = threads->free };
	threads->free = place;
	threads->used--;
}

/* --- a reading --- */

/* The leader of a process is never replaced by another of that number while the process lives:
 * execve() gives the number to the thread that calls it. Of both, the one that was met is the one.
 */
struct kept_thread *kept_threads_find(struct kept_threads *threads, uint32_t tid)
{
	uint32_t place = threads->bucket_count ? *bucket_of(threads, tid) : KEPT_NONE;

	while (place != KEPT_NONE) {
		struct kept_thread *kept = &threads->slots.items[place];

		if (kept->tid == tid && kept->round == threads->round)
			return kept;
		place = kept->next;
	}
	return NULL;
}

/* Threads of a process often stand together. */
static void name_process(struct kept_threads *threads, struct state_thread *reported,
			 const struct state_thread *before)
{
	const struct kept_thread *leader;

	if (reported->tid == reported->tgid) {
		reported->process = reported->name;
		return;
	}
	if (before && before->tgid == reported->tgid) {
		reported->process = before->process;
		reported->uid = before->uid;
		return;
	}
	leader = kept_threads_find(threads, reported->tgid);
	if (leader) {
		reported->process = leader->reported.name;
		reported->uid = leader->reported.uid;
	} else if (!reported->process) {
		reported->process = reported->name;
	}
}

static void put_met(struct kept_threads *threads, struct state_reading *reading)
{
	const struct state_thread *before = NULL;

	for (size_t i = 0; i < threads->met.count; i++) {
		struct kept_thread *kept = &threads->slots.items[threads->met.items[i]];

		name_process(threads, &kept->reported, before);
		reading->threads.items[reading->threads.count++] = kept->reported;
		kept->is_over = kept->reported.has_ended;
		before = &kept->reported;
	}
}

struct error *kept_threads_put(struct kept_threads *threads, struct state_reading *reading)
{
	/* `used` includes threads that are gone. */
	if (!array_reserve(&reading->threads, threads->used))
		return &error_no_memory;
	put_met(threads, reading);
	for (size_t i = 0; i < threads->slots.count; i++) {
		struct kept_thread *kept = &threads->slots.items[i];

		if (!kept->tid || kept->round == threads->round)
			continue;
		kept->reported.has_ended = true;
		if (!kept->is_over && !kept->is_only_led)
			reading->threads.items[reading->threads.count++] = kept->reported;
		kept_threads_drop(threads, kept);
	}
	return NULL;
}

void kept_threads_deinit(struct kept_threads *threads)
{
	array_deinit(&threads->slots);
	array_deinit(&threads->met);
	free(threads->buckets);
	*threads = (struct kept_threads){ 0 };
}
