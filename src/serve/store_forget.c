/* SPDX-License-Identifier: BSD-2-Clause */
#include <malloc.h>

#include "serve/copying.h"
#include "serve/store_internal.h"

/* --- waits that last --- */

struct error *store_lasting_pass(struct lasting_map *map, const struct store_tick *tick)
{
	for (size_t i = 0; i < tick->ended.count; i++)
		map_remove(map, tick->ended.items[i]);
	for (size_t i = 0; i < tick->begun.count; i++) {
		bool is_new;
		struct lasting *wait = map_add(map, tick->begun.items[i].thread, &is_new);

		if (!wait)
			return &error_no_memory;
		*wait = tick->begun.items[i];
	}
	return NULL;
}

struct error *store_lasting_before(const struct tick_store *store, size_t index,
				   struct lasting_map *ret)
{
	struct lasting_map before = store->lasting_before;
	struct error *err = NULL;

	*ret = (struct lasting_map){ 0 };
	map_for_each(&before, slot)
	{
		bool is_new;
		struct lasting *wait = map_add(ret, slot->key, &is_new);

		if (!wait)
			err = &error_no_memory;
		else
			*wait = slot->value;
	}
	for (size_t i = 0; !err && i < index; i++)
		err = store_lasting_pass(ret, &store->ticks.items[i]);
	if (err)
		map_deinit(ret);
	return err;
}

/* --- forgetting --- */

static struct error *drop_oldest(struct tick_store *store)
{
	struct store_tick *tick = store->ticks.items;
	struct error *err = store_lasting_pass(&store->lasting_before, tick);

	/* Until the first tick is dropped, all of the dictionary is in use. */
	if (!store->book_bytes_renewed)
		store->book_bytes_renewed = store_book_bytes(store);
	store->bytes -= store_tick_bytes(tick);
	store_tick_deinit(tick);
	array_drop_first(&store->ticks, 1);
	return err;
}

static struct error *renumber_lasting(struct profile_copying *c, struct lasting *wait)
{
	struct error *err = copying_thread(c, wait->thread, &wait->thread);

	return err ? err : copying_node(c, wait->node, &wait->node);
}

static struct error *renumber_map(struct profile_copying *c, struct lasting_map *map)
{
	struct lasting_map renumbered = { 0 };
	struct error *err = NULL;

	map_for_each(map, slot)
	{
		struct lasting wait = slot->value;
		struct lasting *there;
		bool is_new;

		if (!err)
			err = renumber_lasting(c, &wait);
		there = err ? NULL : map_add(&renumbered, wait.thread, &is_new);
		if (there)
			*there = wait;
		else if (!err)
			err = &error_no_memory;
	}
	map_deinit(map);
	*map = renumbered;
	return err;
}

static struct error *renumber_tick(struct profile_copying *c, struct store_tick *tick)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < tick->samples.count; i++) {
		struct sample *sample = &tick->samples.items[i];

		err = copying_thread(c, sample->thread, &sample->thread);
		if (!err)
			err = copying_node(c, sample->node, &sample->node);
		if (!err)
			err = copying_waker(c, sample->waker, &sample->waker);
	}
	for (size_t i = 0; !err && i < tick->begun.count; i++)
		err = renumber_lasting(c, &tick->begun.items[i]);
	for (size_t i = 0; !err && i < tick->ended.count; i++)
		err = copying_thread(c, tick->ended.items[i], &tick->ended.items[i]);
	for (size_t i = 0; !err && i < tick->cpu.count; i++)
		err = copying_thread(c, tick->cpu.items[i].thread, &tick->cpu.items[i].thread);
	return err;
}

/* The maps and names of the dictionary that `store` has now. */
static struct error *number_book(struct tick_store *store)
{
	const struct book_size none = { 0 };

	word_map_deinit(&store->name_numbers);
	word_map_deinit(&store->thread_numbers);
	word_map_deinit(&store->waker_numbers);
	array_deinit(&store->names);
	array_deinit(&store->traits);
	for (size_t i = 0; i < store->book->threads.count; i++) {
		uint32_t *number = word_map_at(&store->thread_numbers,
					       store_thread_key(&store->book->threads.items[i]));

		if (!number)
			return &error_no_memory;
		*number = (uint32_t)i;
	}
	for (size_t i = 0; i < store->book->wakers.count; i++) {
		uint32_t *number = word_map_at(&store->waker_numbers,
					       store_waker_key(&store->book->wakers.items[i]));

		if (!number)
			return &error_no_memory;
		*number = (uint32_t)i;
	}
	return store_number_names(store, &none);
}

/* Make the dictionary anew, of what is referred to. After an error the store can only be destroyed.
 */
static struct error *renew_book(struct tick_store *store)
{
	struct profile *book = NULL;
	struct profile_copying c;
	struct error *err = profile_create(&book);

	if (!err)
		err = copying_meta(store->book, book);
	if (!err)
		err = copying_begin(&c, store->book, book);
	if (err) {
		profile_destroy(book);
		return err;
	}
	err = renumber_map(&c, &store->lasting_before);
	if (!err)
		err = renumber_map(&c, &store->lasting);
	for (size_t i = 0; !err && i < store->ticks.count; i++)
		err = renumber_tick(&c, &store->ticks.items[i]);
	copying_end(&c);
	profile_destroy(store->book);
	store->book = book;
	store->generation++;
	if (!err)
		err = number_book(store);
	if (!err)
		err = store_renumber_kstats(store);
	for (size_t i = 0; i < store->ticks.count; i++)
		store->ticks.items[i].after = store_book_size(store);
	store->book_bytes_renewed = store_book_bytes(store);
	malloc_trim(0);
	return err;
}

/* A smaller dictionary is not renewed: all clients would have to receive all ticks again. */
#define RENEW_BYTES ((size_t)8 << 20)

/* Is the dictionary worth renewing? It is when it has doubled since all of it was in use, so where
 * processes come and go, at most about half of it is unused. When it takes more than half of the
 * memory for ticks and dictionary, growth by a third is enough. */
static bool is_book_large(const struct tick_store *store)
{
	const size_t bytes = store_book_bytes(store), most = store->options.bytes_most;
	const size_t least = most / 4 < RENEW_BYTES ? most / 4 : RENEW_BYTES;
	const size_t without_growth = bytes > most / 2 ? bytes - bytes / 4 : bytes / 2;

	return store->book_bytes_renewed && bytes > least &&
	       without_growth > store->book_bytes_renewed;
}

struct error *store_forget(struct tick_store *store)
{
	const struct store_tick *newest = &store->ticks.items[store->ticks.count - 1];
	const uint64_t now = newest->begun_unix_ns + newest->ns;
	struct error *err = NULL;

	while (!err && store->ticks.count > 1) {
		const struct store_tick *oldest = store->ticks.items;
		const uint64_t end = oldest->begun_unix_ns + oldest->ns;
		const bool is_old = now > end && now - end >= store->options.kept_ns;

		if (!is_old && store->bytes + store_book_bytes(store) <= store->options.bytes_most)
			break;
		err = drop_oldest(store);
	}
	return !err && is_book_large(store) ? renew_book(store) : err;
}
