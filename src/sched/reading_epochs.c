/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <profile.skel.h>
#include <string.h>

/* With fewer counts a new epoch costs more than it frees: all stacks are walked again. */
#define GROWN_COUNTS 16384

/* --- what was counted --- */

bool reading_is_before(const struct profile_reading *r, const struct count_key *key)
{
	const struct profile_chunks *chunks = &r->session->chunks;

	return r->session->epoch.is_new &&
	       (profile_chunks_is_before(chunks, key->user_stack) ||
		profile_chunks_is_before(chunks, key->kernel_stack) ||
		profile_chunks_is_before(chunks, key->waker_user_stack) ||
		profile_chunks_is_before(chunks, key->waker_kernel_stack));
}

static uint32_t number_now(const struct profile_reading *r, uint32_t stack)
{
	const uint32_t moved = word_map_find(&r->session->epoch.moved, (struct words){ { stack } });

	return moved == WORD_MAP_NEW ? stack : moved;
}

/* A wait in progress was reported in part under stacks that have new numbers since. What was
 * reported, and was not counted under the old numbers when the wait ended, is carried to the new
 * ones: reported totals never decrease. */
static struct error *carry_entry(struct profile_reading *r, const struct count_value *reported,
				 const struct count_key *key, const struct counted_entry *now)
{
	const struct count_value none = { 0 }, *value = now ? &now->value : &none;
	const struct count_value left = {
		.ns = reading_less(reported->ns, value->ns),
		.count = reading_less(reported->count, value->count),
		.runnable_ns = reading_less(reported->runnable_ns, value->runnable_ns),
		.runnable_count = reading_less(reported->runnable_count, value->runnable_count),
	};
	struct count_key moved = *key;

	if (!left.ns && !left.runnable_ns)
		return NULL;
	moved.user_stack = number_now(r, key->user_stack);
	moved.kernel_stack = number_now(r, key->kernel_stack);
	moved.waker_user_stack = number_now(r, key->waker_user_stack);
	moved.waker_kernel_stack = number_now(r, key->waker_kernel_stack);
	return reading_add(&r->session->counted, &moved, &left) ? NULL : &error_no_memory;
}

struct error *reading_carry(struct profile_reading *r, const struct counted_table *now)
{
	const struct counted_table *reported = &r->session->counted;
	const size_t count = reported->entries.count;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		const struct count_value value = reported->entries.items[i].value;
		const struct count_key key = reported->entries.items[i].key;

		if (reading_is_before(r, &key))
			err = carry_entry(r, &value, &key, reading_find_entry(now, &key));
	}
	return err;
}

/* --- the end of the epoch before --- */

struct old_stacks {
	const struct profile_chunks *chunks;
	struct {
		ARRAY(uint64_t);
	} hashes;
};

static struct error *take_epoch_number(void *context, const void *key, const void *value)
{
	struct old_stacks *old = context;
	uint64_t hash;
	uint32_t number;

	memcpy(&hash, key, sizeof(hash));
	memcpy(&number, value, sizeof(number));
	if (profile_chunks_is_before(old->chunks, number) && !array_push(&old->hashes, hash))
		return &error_no_memory;
	return NULL;
}

/* Drop the counts and stacks of the epoch before, which have all been read. */
static struct error *forget_epoch(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	const int map = bpf_map__fd(session->program->maps.stack_numbers);
	struct old_stacks old = { .chunks = &session->chunks };
	struct error *err =
		reading_each(map, sizeof(uint64_t), sizeof(uint32_t), take_epoch_number, &old);

	for (size_t i = 0; !err && i < old.hashes.count; i++)
		bpf_map_delete_elem(map, &old.hashes.items[i]);
	array_deinit(&old.hashes);
	if (err)
		return err;
	profile_chunks_empty(&session->chunks);
	word_map_deinit(&session->epoch.moved);
	session->epoch.is_new = false;
	session->epoch.first_counts = session->counted.entries.count;
	return NULL;
}

/* --- the beginning of the next one --- */

/* The number of a stack in this epoch. */
static struct error *move_stack(struct profile_session *session, uint32_t stack, uint32_t *ret)
{
	uint32_t *moved = word_map_at(&session->epoch.moved, (struct words){ { stack } });
	const __u64 *frames;
	enum stack_end end;
	size_t count;

	if (!moved)
		return &error_no_memory;
	if (*moved == WORD_MAP_NEW) {
		count = profile_chunks_stack(&session->chunks, stack, &frames, &end);
		*moved = count ? profile_chunks_put(&session->chunks, (const uint64_t *)frames,
						    count, end)
			       : STACK_NONE;
	}
	*ret = *moved;
	return NULL;
}

static struct error *move(struct profile_session *session, uint32_t *place)
{
	uint32_t stack = __atomic_load_n(place, __ATOMIC_RELAXED), moved;
	struct error *err;

	if (!profile_chunks_is_before(&session->chunks, stack))
		return NULL;
	err = move_stack(session, stack, &moved);
	/* The thread may have taken another stack meanwhile. */
	if (!err)
		__atomic_compare_exchange_n(place, &stack, moved, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	return err;
}

/* Programs take stacks of this epoch only, so a thread with older ones has been waiting since
 * before. A running thread gets new ones when it leaves its CPU. */
static struct error *move_waits(struct profile_reading *r)
{
	const uint32_t count = tracker_count(&r->session->chunks.tracker);
	struct error *err = NULL;

	for (uint32_t number = 1; !err && number < count; number++) {
		struct profile_record *t = profile_chunks_thread(&r->session->chunks, number);

		if (!t || t->task.state == CLASS_ON_CPU || t->task.flags & RECORD_ENDED)
			continue;
		err = move(r->session, &t->user_stack);
		if (!err)
			err = move(r->session, &t->kernel_stack);
		if (!err)
			err = move(r->session, &t->waker_user_stack);
		if (!err)
			err = move(r->session, &t->waker_kernel_stack);
	}
	return err;
}

static bool have_counts_grown(const struct profile_session *session)
{
	const size_t count = session->counted.entries.count;

	return count > GROWN_COUNTS + 2 * session->epoch.first_counts ||
	       count > bpf_map__max_entries(session->program->maps.counted) / 2;
}

struct error *reading_end_epoch(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	struct error *err;

	if (session->epoch.is_new)
		return forget_epoch(r);
	if (!profile_chunks_has_grown(&session->chunks) && !have_counts_grown(session))
		return NULL;
	err = profile_chunks_begin_epoch(&session->chunks);
	session->epoch.is_new = true;
	return err ? err : move_waits(r);
}
