/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/store_internal.h"

#include <string.h>

#include "base/clock.h"
#include "profile/known_frames.h"

/* --- the dictionary --- */

static struct error *number_name(struct tick_store *store, const struct name *name)
{
	uint32_t *number;

	if (!name)
		return NULL;
	number = word_map_at(&store->name_numbers, (struct words){ { (uintptr_t)name } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&store->names, name))
			return &error_no_memory;
		*number = (uint32_t)store->names.count - 1;
	}
	return NULL;
}

uint32_t store_name_number(const struct tick_store *store, const struct name *name)
{
	return name ? word_map_find(&store->name_numbers, (struct words){ { (uintptr_t)name } })
		    : TICK_NONE;
}

struct words store_thread_key(const struct profile_thread *thread)
{
	return (struct words){ { (uint64_t)thread->tgid << 32 | thread->tid,
				 (uintptr_t)thread->name, (uintptr_t)thread->cgroup } };
}

struct words store_waker_key(const struct waker *waker)
{
	return (struct words){ { (uintptr_t)waker->name, waker->tid } };
}

static uint8_t traits_of(const struct frame *frame)
{
	static const uint8_t known[] = {
		[FRAME_OTHER] = 0,
		[FRAME_SCHEDULER] = TRAIT_ENTRY,
		[FRAME_ENTRY] = TRAIT_ENTRY,
		[FRAME_START] = TRAIT_START,
		[FRAME_LIBRARY] = TRAIT_LIBRARY,
	};
	uint8_t traits = known[known_frame(frame->kind, frame->name, frame->module)];

	if (frame->inlined)
		traits |= TRAIT_INLINED;
	if (frame->kind == FRAME_USER && frame_asks(frame->name))
		traits |= TRAIT_ASKS;
	return traits;
}

/* A process may have another name now than before: the thread has the last one. */
static struct error *number_thread(struct tick_store *store, const struct profile_thread *thread,
				   uint32_t *ret)
{
	uint32_t *number = word_map_at(&store->thread_numbers, store_thread_key(thread));

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&store->book->threads, *thread))
			return &error_no_memory;
		*number = (uint32_t)store->book->threads.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *number_waker(struct tick_store *store, const struct waker *waker,
				  uint32_t *ret)
{
	uint32_t *number = word_map_at(&store->waker_numbers, store_waker_key(waker));

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&store->book->wakers, *waker))
			return &error_no_memory;
		*number = (uint32_t)store->book->wakers.count - 1;
	}
	*ret = *number;
	return NULL;
}

struct error *store_number_names(struct tick_store *store, const struct book_size *from)
{
	struct error *err = NULL;

	for (size_t i = from->frames; !err && i < store->book->frames.count; i++) {
		err = number_name(store, store->book->frames.items[i].name);
		if (!err)
			err = number_name(store, store->book->frames.items[i].module);
		if (!err && !array_push(&store->traits, traits_of(&store->book->frames.items[i])))
			err = &error_no_memory;
	}
	for (size_t i = from->threads; !err && i < store->book->threads.count; i++) {
		const struct profile_thread *thread = &store->book->threads.items[i];

		err = number_name(store, thread->name);
		if (!err)
			err = number_name(store, thread->process);
		if (!err)
			err = number_name(store, thread->cgroup);
	}
	for (size_t i = from->wakers; !err && i < store->book->wakers.count; i++)
		err = number_name(store, store->book->wakers.items[i].name);
	return err;
}

struct book_size store_book_size(const struct tick_store *store)
{
	return (struct book_size){
		.names = (uint32_t)store->names.count,
		.frames = (uint32_t)store->book->frames.count,
		.nodes = (uint32_t)store->book->nodes.count,
		.threads = (uint32_t)store->book->threads.count,
		.wakers = (uint32_t)store->book->wakers.count,
		.metrics = (uint32_t)store->metrics.count,
	};
}

#define ROOM_BYTES(array) ((array)->room * sizeof(*(array)->items))
#define SLOT_BYTES(map)   ((map)->room * sizeof(*(map)->slots))

size_t store_book_bytes(const struct tick_store *store)
{
	const struct profile *book = store->book;

	return ROOM_BYTES(&book->nodes) + ROOM_BYTES(&book->frames) + ROOM_BYTES(&book->threads) +
	       ROOM_BYTES(&book->wakers) + ROOM_BYTES(&store->traits) + ROOM_BYTES(&store->names) +
	       SLOT_BYTES(&book->names.by_text) + SLOT_BYTES(&book->frame_numbers) +
	       SLOT_BYTES(&book->node_index.others) + SLOT_BYTES(&store->name_numbers) +
	       SLOT_BYTES(&store->thread_numbers) + SLOT_BYTES(&store->waker_numbers) +
	       book->arena.used + store_kstats_bytes(store);
}

/* --- taking a tick --- */

/* Maps the numbers of a tick to those of the book. */
struct tick_taking {
	struct tick_store *store;
	const struct tick *tick;
	const struct name **names;
	uint32_t *frames, *nodes, *threads, *wakers;
	struct store_tick into;
};

static struct error *take_names(struct tick_taking *t)
{
	const char *at = t->tick->text;

	for (size_t i = 0; i < t->tick->header->names_count; i++) {
		t->names[i] = profile_name(t->store->book, at, t->tick->names[i]);
		if (!t->names[i])
			return &error_no_memory;
		at += t->tick->names[i];
	}
	return NULL;
}

static const struct name *name_of(const struct tick_taking *t, uint32_t number)
{
	return number == TICK_NONE ? NULL : t->names[number];
}

static void take_meta(const struct tick_taking *t)
{
	const struct tick_header *header = t->tick->header;
	struct profile_meta *meta = &t->store->book->meta;

#define META_TAKE(name) meta->name = name_of(t, header->meta.name);
	TICK_META_NAMES(META_TAKE)
#undef META_TAKE
	meta->on_cpu_period_ns = header->meta.on_cpu_period_ns;
	meta->cpus = header->meta.cpus;
	meta->is_whole_host = header->meta.is_whole_host;
}

static struct error *take_stacks(struct tick_taking *t)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < t->tick->header->frames_count; i++) {
		const struct tick_frame *from = &t->tick->frames[i];
		const struct frame frame = {
			.kind = from->kind,
			.inlined = from->inlined,
			.name = name_of(t, from->name),
			.module = name_of(t, from->module),
			.source = name_of(t, from->source),
			.line = from->line,
		};

		err = profile_frame(t->store->book, &frame, &t->frames[i]);
	}
	for (size_t i = 0; !err && i < t->tick->header->nodes_count; i++) {
		const struct node *node = &t->tick->nodes[i];

		err = profile_node(t->store->book,
				   node->parent == NODE_NONE ? NODE_NONE : t->nodes[node->parent],
				   t->frames[node->frame], &t->nodes[i]);
	}
	return err;
}

static struct error *take_threads(struct tick_taking *t)
{
	for (size_t i = 0; i < t->tick->header->threads_count; i++) {
		const struct tick_thread *from = &t->tick->threads[i];
		const struct profile_thread thread = {
			.tid = from->tid,
			.tgid = from->tgid,
			.uid = from->uid,
			.is_kernel = from->is_kernel,
			.name = name_of(t, from->name),
			.process = name_of(t, from->process),
			.cgroup = name_of(t, from->cgroup),
			.is_accounted = true,
		};
		struct error *err = number_thread(t->store, &thread, &t->threads[i]);

		if (err)
			return err;
		if (from->on_cpu_ns &&
		    !array_push(&t->into.cpu,
				(struct thread_time){ t->threads[i], from->on_cpu_ns }))
			return &error_no_memory;
	}
	for (size_t i = 0; i < t->tick->header->wakers_count; i++) {
		const struct waker waker = {
			.tid = t->tick->wakers[i].tid,
			.name = name_of(t, t->tick->wakers[i].name),
		};
		struct error *err = number_waker(t->store, &waker, &t->wakers[i]);

		if (err)
			return err;
	}
	return NULL;
}

/* A thread whose wait fills the tick waits for one thing. */
static bool fills(const struct tick_taking *t, const struct sample *sample)
{
	return sample->is_in_progress && sample->ns == t->into.ns &&
	       profile_classes[sample->class].is_off_cpu;
}

/* Is it the wait that the thread was in during the whole tick before? Else it is that from now on.
 */
static struct error *note_lasting(struct tick_taking *t, const struct lasting *wait)
{
	bool is_new;
	struct lasting *known = map_add(&t->store->lasting, wait->thread, &is_new);

	if (!known)
		return &error_no_memory;
	if (!is_new && known->node == wait->node && known->class == wait->class &&
	    known->state == wait->state)
		return NULL;
	if (!is_new && !array_push(&t->into.ended, wait->thread))
		return &error_no_memory;
	*known = *wait;
	return array_push(&t->into.begun, *wait) ? NULL : &error_no_memory;
}

static struct error *take_samples(struct tick_taking *t, uint8_t *is_lasting)
{
	for (size_t i = 0; i < t->tick->header->samples_count; i++) {
		struct sample sample = t->tick->samples[i];
		struct error *err = NULL;

		sample.thread = t->threads[sample.thread];
		if (sample.node != NODE_NONE)
			sample.node = t->nodes[sample.node];
		sample.waker = sample.waker == TICK_NONE ? 0 : t->wakers[sample.waker] + 1;
		sample.state = profile_settle_state(sample.class, sample.state);
		if (fills(t, &sample)) {
			is_lasting[sample.thread] = 1;
			err = note_lasting(t, &(struct lasting){ sample.thread, sample.node,
								 sample.class, sample.state });
		} else if (!array_push(&t->into.samples, sample)) {
			err = &error_no_memory;
		}
		if (err)
			return err;
	}
	return NULL;
}

/* Waits that lasted until now, and are not in the tick. */
static struct error *end_others(struct tick_taking *t, const uint8_t *is_lasting)
{
	const size_t already = t->into.ended.count;

	map_for_each(&t->store->lasting, slot)
	{
		if (!is_lasting[slot->key] && !array_push(&t->into.ended, slot->key))
			return &error_no_memory;
	}
	for (size_t i = already; i < t->into.ended.count; i++)
		map_remove(&t->store->lasting, t->into.ended.items[i]);
	return NULL;
}

void store_tick_deinit(struct store_tick *tick)
{
	array_deinit(&tick->samples);
	array_deinit(&tick->begun);
	array_deinit(&tick->ended);
	array_deinit(&tick->cpu);
	array_deinit(&tick->kstats);
	array_deinit(&tick->values);
}

size_t store_tick_bytes(const struct store_tick *tick)
{
	return sizeof(*tick) + tick->samples.count * sizeof(struct sample) +
	       tick->begun.count * sizeof(struct lasting) + tick->ended.count * sizeof(uint32_t) +
	       tick->cpu.count * sizeof(struct thread_time) +
	       tick->kstats.count * sizeof(struct store_kstats) +
	       tick->values.count * sizeof(struct tick_value);
}

static struct error *keep_tick(struct tick_taking *t)
{
	array_fit(&t->into.samples);
	array_fit(&t->into.begun);
	array_fit(&t->into.ended);
	array_fit(&t->into.cpu);
	array_fit(&t->into.kstats);
	array_fit(&t->into.values);
	t->into.seq = ++t->store->last_seq;
	t->into.after = store_book_size(t->store);
	if (!array_push(&t->store->ticks, t->into))
		return &error_no_memory;
	t->store->bytes += store_tick_bytes(&t->into);
	return NULL;
}

static struct error *take_all(struct tick_taking *t)
{
	const struct book_size before = store_book_size(t->store);
	_cleanup_free_ uint8_t *is_lasting = NULL;
	struct error *err = take_names(t);

	if (err)
		return err;
	take_meta(t);
	err = take_stacks(t);
	if (!err)
		err = take_threads(t);
	if (!err)
		err = store_number_names(t->store, &before);
	is_lasting = calloc(t->store->book->threads.count + 1, 1);
	if (!err && !is_lasting)
		err = &error_no_memory;
	if (!err)
		err = take_samples(t, is_lasting);
	if (!err)
		err = end_others(t, is_lasting);
	if (!err)
		err = store_take_kstats(t->store, t->tick, t->names, &t->into);
	return err ? err : keep_tick(t);
}

struct error *store_take(struct tick_store *store, const struct tick *tick)
{
	const struct tick_header *header = tick->header;
	struct tick_taking t = {
		.store = store,
		.tick = tick,
		.names = calloc(header->names_count + 1, sizeof(*t.names)),
		.frames = calloc(header->frames_count + 1, sizeof(*t.frames)),
		.nodes = calloc(header->nodes_count + 1, sizeof(*t.nodes)),
		.threads = calloc(header->threads_count + 1, sizeof(*t.threads)),
		.wakers = calloc(header->wakers_count + 1, sizeof(*t.wakers)),
		.into = {
			.begun_unix_ns = header->begun_unix_ns,
			.ns = header->ns,
			.host = header->host,
			.losses = header->losses,
			.kstats_omitted = header->kstats_omitted,
		},
	};
	struct error *err = t.names && t.frames && t.nodes && t.threads && t.wakers
				    ? take_all(&t)
				    : &error_no_memory;

	free(t.names);
	free(t.frames);
	free(t.nodes);
	free(t.threads);
	free(t.wakers);
	if (err)
		store_tick_deinit(&t.into);
	return err ? err : store_forget(store);
}

/* --- the store --- */

struct error *store_create(const struct tick_store_options *options, struct tick_store **ret)
{
	struct tick_store *store = calloc(1, sizeof(*store));
	struct error *err = store ? profile_create(&store->book) : &error_no_memory;

	if (err) {
		free(store);
		return err;
	}
	store->options = *options;
	/* Another than of a server before, whose clients may come back. */
	store->generation = clock_ns(CLOCK_REALTIME) / 1000000;
	store->boot_unix_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	*ret = store;
	return NULL;
}

uint64_t store_now(const struct tick_store *store)
{
	return store->boot_unix_ns + clock_ns(CLOCK_MONOTONIC);
}

void store_destroy(struct tick_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->ticks.count; i++)
		store_tick_deinit(&store->ticks.items[i]);
	array_deinit(&store->ticks);
	array_deinit(&store->names);
	array_deinit(&store->traits);
	word_map_deinit(&store->name_numbers);
	word_map_deinit(&store->thread_numbers);
	word_map_deinit(&store->waker_numbers);
	map_deinit(&store->lasting_before);
	map_deinit(&store->lasting);
	kstats_tables_clear(&store->metrics);
	profile_destroy(store->book);
	free(store);
}

const struct store_tick *store_tick(const struct tick_store *store, uint64_t seq)
{
	const uint64_t first = store->last_seq - store->ticks.count + 1;

	return seq >= first && seq <= store->last_seq ? &store->ticks.items[seq - first] : NULL;
}

void store_range(const struct tick_store *store, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 size_t *ret_first, size_t *ret_end)
{
	size_t first = 0, end = store->ticks.count;

	while (first < end && store->ticks.items[first].begun_unix_ns < from_unix_ns)
		first++;
	while (end > first && store->ticks.items[end - 1].begun_unix_ns >= to_unix_ns)
		end--;
	*ret_first = first;
	*ret_end = end;
}
