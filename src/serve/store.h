/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readings of the last minutes, in the web process.
 *
 *	store_create(&options, &store);
 *	store_take(store, &tick);                       each second
 *	store_profile(store, from_ns, to_ns, &profile); what all answers are made of
 *	store_destroy(store);
 *
 * Names, frames, nodes, threads, wakers and metrics of kstats of all readings are one *dictionary*,
 * `book`, whose numbers the stream of the page sends as well (doc/serve.md). It only grows, until
 * ticks that are kept refer to little of it. Then it is rebuilt from these, and `generation`
 * changes.
 *
 * Most threads of a host wait all the time. A wait that lasts through a whole reading, and through
 * the one before, is not repeated: a tick has the threads whose wait began to last and those whose
 * wait ended.
 */
#ifndef SERVE_STORE_H
#define SERVE_STORE_H

#include "serve/tick.h"

struct tick_store_options {
	uint64_t kept_ns;  /* of the past */
	size_t bytes_most; /* of ticks and dictionary */
};

/* A wait that lasts. */
struct lasting {
	uint32_t thread, node;
	uint16_t class;
	uint8_t state;
};

/* By thread. */
struct lasting_map {
	MAP(uint32_t, struct lasting);
};

struct thread_time {
	uint32_t thread;
	uint64_t ns;
};

/* The values that a metric of kstats recorded in a tick. */
struct store_kstats {
	uint32_t metric; /* number in the dictionary */
	uint32_t values; /* how many; they follow those of the previous metric */
	bool is_active, earlier_known;
	uint32_t losses_known;
	uint64_t losses[KSTATS_LOSS_COUNT], earlier;
};

/* How much of the dictionary there was after a tick. */
struct book_size {
	uint32_t names, frames, nodes, threads, wakers, metrics;
};

struct store_tick {
	uint64_t seq; /* from 1 */
	uint64_t begun_unix_ns, ns;
	struct tick_host host;
	struct profile_losses losses;
	struct book_size after;
	struct {
		ARRAY(struct sample); /* `waker` is counted from 1, as in profiles */
	} samples;
	struct {
		ARRAY(struct lasting);
	} begun;
	struct {
		ARRAY(uint32_t); /* threads */
	} ended;
	struct {
		ARRAY(struct thread_time); /* exact times on CPUs */
	} cpu;
	struct {
		ARRAY(struct store_kstats);
	} kstats;
	struct {
		ARRAY(struct tick_value);
	} values;
	uint64_t kstats_omitted;
};

/* Properties of a frame that its names do not show, for readers of the stream: bits. */
enum frame_trait {
	TRAIT_INLINED = 1, /* into its caller */
	TRAIT_ASKS = 2,    /* asks another program, and waits for the answer (frame_asks) */
	TRAIT_ENTRY = 4,   /* belongs to the kernel's entry or scheduler */
	TRAIT_START = 8,   /* starts a thread or a program */
	TRAIT_LIBRARY = 16 /* belongs to the C library or a runtime */
};

struct tick_store {
	struct tick_store_options options;
	uint64_t boot_unix_ns; /* Unix time minus CLOCK_MONOTONIC, when the store was created */
	uint64_t generation;
	struct profile *book; /* the dictionary; without samples */
	struct {
		ARRAY(uint8_t); /* enum frame_trait */
	} traits;               /* of each frame of the book */
	struct {
		ARRAY(const struct name *); /* numbers of those names that the stream sends */
	} names;
	struct word_map name_numbers, thread_numbers, waker_numbers;
	struct kstats_tables metrics; /* their names, units and places; without rows */
	struct {
		ARRAY(struct store_tick);
	} ticks;                                    /* the oldest first, with consecutive `seq` */
	struct lasting_map lasting_before, lasting; /* the oldest tick; and now */
	uint64_t last_seq;
	size_t bytes;              /* of ticks */
	size_t book_bytes_renewed; /* of the dictionary when it was last fully in use; 0: it is now
				    */
};

struct error *store_create(const struct tick_store_options *options,
			   struct tick_store **ret) MUST_CHECK;
/* Takes NULL. */
void store_destroy(struct tick_store *store);
DEFINE_CLEANUP(store_destroy, struct tick_store *)

/* The Unix time now, by the clock of readings: the time when the store was created plus the time
 * since by CLOCK_MONOTONIC, so setting the clock of the host does not change it. */
uint64_t store_now(const struct tick_store *store);

/* Add a tick, and forget what is too old or too much. */
struct error *store_take(struct tick_store *store, const struct tick *tick) MUST_CHECK;

/* The number of the name in the stream; TICK_NONE of NULL. */
uint32_t store_name_number(const struct tick_store *store, const struct name *name);

/* The tick with this number, or NULL. */
const struct store_tick *store_tick(const struct tick_store *store, uint64_t seq);

/* Ticks that begin within [from, to): the first, and one behind the last, in `ticks`. */
void store_range(const struct tick_store *store, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 size_t *ret_first, size_t *ret_end);

/* What these ticks have together, with the threads and stacks that occur in them. Times of threads
 * are exact on the CPU, and sums of their samples off it. */
struct error *store_profile(const struct tick_store *store, size_t first, size_t end,
			    struct profile **ret) MUST_CHECK;

/* --- waits that last, tick by tick --- */

/* The waits that lasted before the tick at `index`, in a map that is the caller's; and the same
 * after one more tick. */
struct error *store_lasting_before(const struct tick_store *store, size_t index,
				   struct lasting_map *ret) MUST_CHECK;
struct error *store_lasting_pass(struct lasting_map *map, const struct store_tick *tick) MUST_CHECK;

#endif
