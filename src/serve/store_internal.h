/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the store share: store.c takes ticks, store_forget.c drops the oldest and makes
 * the dictionary anew, store_kstats.c keeps values of metrics of kstats, store_profile.c sums ticks
 * up.
 */
#ifndef SERVE_STORE_INTERNAL_H
#define SERVE_STORE_INTERNAL_H

#include "serve/store.h"

/* The keys of the maps of threads and wakers. */
struct words store_thread_key(const struct profile_thread *thread);
struct words store_waker_key(const struct waker *waker);

struct book_size store_book_size(const struct tick_store *store);
size_t store_book_bytes(const struct tick_store *store);

/* Assign stream numbers to the names of all frames, threads and wakers that the book has beyond
 * `from`, and note the traits of these frames. */
struct error *store_number_names(struct tick_store *store, const struct book_size *from) MUST_CHECK;

size_t store_tick_bytes(const struct store_tick *tick);
void store_tick_deinit(struct store_tick *tick);

/* Add the values of metrics of kstats in `tick` to `into`; `names` are the names of the tick. */
struct error *store_take_kstats(struct tick_store *store, const struct tick *tick,
				const struct name *const *names,
				struct store_tick *into) MUST_CHECK;
/* Forget the metrics that no tick has, and renumber the others. */
struct error *store_renumber_kstats(struct tick_store *store) MUST_CHECK;
size_t store_kstats_bytes(const struct tick_store *store);

/* Drop the ticks that are too old, or beyond what may be kept. */
struct error *store_forget(struct tick_store *store) MUST_CHECK;

#endif
