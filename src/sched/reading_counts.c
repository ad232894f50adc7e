/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <profile.skel.h>
#include <string.h>

#include "sched/interval.h"
#include "sched/profile_limit.h"

/* --- the counts --- */

static uint32_t *bucket_of(const struct counted_table *table, const struct count_key *key)
{
	uint64_t words[sizeof(*key) / sizeof(uint64_t)], hash = 0;

	memcpy(words, key, sizeof(words));
	for (size_t i = 0; i < array_length(words); i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return &table->buckets[hash & (table->bucket_count - 1)];
}

static void put_into_bucket(struct counted_table *table, size_t place)
{
	struct counted_entry *entry = &table->entries.items[place];
	uint32_t *bucket = bucket_of(table, &entry->key);

	entry->next = *bucket;
	*bucket = (uint32_t)place + 1;
}

/* Have a bucket for each of so many entries. False without memory. */
static bool have_buckets(struct counted_table *table, size_t entries)
{
	size_t count = table->bucket_count ? table->bucket_count : 1024;
	uint32_t *buckets;

	while (count < entries)
		count *= 2;
	if (count == table->bucket_count)
		return true;
	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return false;
	free(table->buckets);
	table->buckets = buckets;
	table->bucket_count = count;
	for (size_t i = 0; i < table->entries.count; i++)
		put_into_bucket(table, i);
	return true;
}

struct counted_entry *reading_find_entry(const struct counted_table *table,
					 const struct count_key *key)
{
	uint32_t place = table->bucket_count ? *bucket_of(table, key) : 0;

	while (place && memcmp(&table->entries.items[place - 1].key, key, sizeof(*key)) != 0)
		place = table->entries.items[place - 1].next;
	return place ? &table->entries.items[place - 1] : NULL;
}

/* Find or create the entry of a key; NULL without memory. */
static struct counted_entry *entry_of(struct counted_table *table, const struct count_key *key)
{
	struct counted_entry *known = reading_find_entry(table, key);

	if (known)
		return known;
	if (table->entries.count >= UINT32_MAX || !have_buckets(table, table->entries.count + 1) ||
	    !array_push(&table->entries, (struct counted_entry){ .key = *key }))
		return NULL;
	put_into_bucket(table, table->entries.count - 1);
	return &table->entries.items[table->entries.count - 1];
}

/* As large as the last one, which this one is mostly like. False without memory. */
static bool table_init(struct counted_table *table, const struct counted_table *last)
{
	*table = (struct counted_table){ 0 };
	return have_buckets(table, last->entries.count) &&
	       array_reserve(&table->entries, last->entries.count);
}

void counted_table_deinit(struct counted_table *table)
{
	free(table->buckets);
	array_deinit(&table->entries);
}

#define BATCH 4096

/* Calls `take` for each element of a hash. */
struct error *reading_each(int map, size_t key_bytes, size_t value_bytes,
			   struct error *(*take)(void *context, const void *key, const void *value),
			   void *context)
{
	_cleanup_free_ char *keys = calloc(BATCH, key_bytes);
	_cleanup_free_ char *values = calloc(BATCH, value_bytes);
	/* Hash maps require 4 bytes of batch position. */
	uint32_t in = 0, out = 0;
	bool is_first = true;
	int failed;

	if (!keys || !values)
		return &error_no_memory;
	do {
		uint32_t count = BATCH;

		failed = bpf_map_lookup_batch(map, is_first ? NULL : &in, &out, keys, values,
					      &count, NULL);
		if (failed && errno != ENOENT)
			return error_system(errno, "cannot read sample counts");
		for (uint32_t i = 0; i < count; i++) {
			struct error *err =
				take(context, keys + i * key_bytes, values + i * value_bytes);

			if (err)
				return err;
		}
		in = out;
		is_first = false;
	} while (!failed);
	return NULL;
}

struct counted_entry *reading_add(struct counted_table *table, const struct count_key *key,
				  const struct count_value *more)
{
	struct counted_entry *entry = entry_of(table, key);

	if (!entry)
		return NULL;
	entry->value.ns += more->ns;
	entry->value.count += more->count;
	entry->value.runnable_ns += more->runnable_ns;
	entry->value.runnable_count += more->runnable_count;
	if (entry->value.longest < more->longest) {
		entry->value.longest = more->longest;
		entry->value.waker = more->waker;
	}
	return entry;
}

static struct error *take_count(void *context, const void *key, const void *value)
{
	struct counted_table *table = context;
	struct counted_entry *entry = entry_of(table, key);

	if (!entry)
		return &error_no_memory;
	entry->value = *(const struct count_value *)value;
	entry->is_in_hash = true;
	if (entry->value.reading != table->reading)
		entry->value.longest = entry->value.waker = 0;
	return NULL;
}

/* What is counted in the record of a thread. */
static uint64_t longest_of(const struct profile_record *t, const struct record_count *c)
{
	const uint64_t all = c->ns ? c->ns : c->runnable_ns,
		       longest = bucket_high(t->longest[c - t->first], RECORD_LONGEST_BITS);

	return longest < all ? longest : all;
}

static struct error *take_first(struct counted_table *table, uint32_t number,
				const struct profile_record *t, bool knows_longest)
{
	for (const struct record_count *c = t->first; c < t->first + RECORD_COUNTS; c++) {
		const uint32_t counted = __atomic_load_n(&c->counted, __ATOMIC_ACQUIRE);
		const struct count_key key = {
			.thread = number,
			.class = (uint8_t)(counted >> RECORD_COUNT_BITS),
			.state = (uint8_t)(c->runnable_counted >> RECORD_COUNT_BITS),
			.user_stack = c->user_stack,
			.kernel_stack = c->kernel_stack,
		};
		const struct count_value value = {
			.ns = c->ns,
			.count = counted & RECORD_COUNT_MASK,
			.runnable_ns = c->runnable_ns,
			.runnable_count = c->runnable_counted & RECORD_COUNT_MASK,
			.longest = knows_longest ? longest_of(t, c) : 0,
			.waker = knows_longest ? t->wakers[c - t->first] : 0,
		};

		if (counted && !reading_add(table, &key, &value))
			return &error_no_memory;
	}
	return NULL;
}

/* The next reading has the longest that end until then. Of one that ends right now, the length or
 * the waker may be lost. */
static void forget_longest(struct profile_record *t)
{
	for (int i = 0; i < RECORD_COUNTS; i++)
		__atomic_store_n(&t->longest[i], 0, __ATOMIC_RELAXED);
}

/* Free the place in the record that a key has. */
static void forget_first(struct profile_record *t, const struct count_key *key)
{
	for (struct record_count *c = t->first; c < t->first + RECORD_COUNTS; c++)
		if (c->counted >> RECORD_COUNT_BITS == key->class &&
		    c->runnable_counted >> RECORD_COUNT_BITS == key->state &&
		    c->user_stack == key->user_stack && c->kernel_stack == key->kernel_stack)
			__atomic_store_n(&c->counted, 0, __ATOMIC_RELEASE);
}

/* Weigh a part of an interval in progress, as weigh_interval() in intervals.bpf.h does when the
 * interval ends. Readings that are repeated must agree, so nothing is drawn by chance here. */
static void weigh_in_progress(const struct profile_options *options, __u64 debt, __u64 *ns,
			      __u64 *count)
{
	if (options->period_ns) {
		*count = interval_periods(&debt, *ns, options->period_ns);
		*ns = *count * options->period_ns;
	} else if (options->keep_per_mille && options->keep_per_mille < 1000) {
		*ns = interval_scale(*ns, 1000000 / options->keep_per_mille);
		*count = *count * (1000 + options->keep_per_mille / 2) / options->keep_per_mille;
	}
}

bool reading_is_state_wanted(const struct profile_reading *r, unsigned class, unsigned state)
{
	return class < CLASS_COUNT && state < STATE_COUNT &&
	       r->session->program->rodata->config.states[class] >> state & 1;
}

/* An interval in progress counts as if it ended now. */
static struct error *take_progress(struct profile_reading *r, struct counted_table *table,
				   uint32_t number, const struct profile_record *t)
{
	const struct profile_options *options = &r->session->options;
	const struct profile_config *config = &r->session->program->rodata->config;
	const bool is_blocked = t->task.state != CLASS_RUNNABLE;
	struct reading_progress progress = reading_progress(t, r->now);
	uint64_t all = progress.blocked_ns + progress.runnable_ns;
	struct count_value more = { .ns = progress.blocked_ns,
				    .runnable_ns = progress.runnable_ns };
	struct count_key key = {
		.thread = number,
		.class = (uint8_t)t->task.state,
		.state = (uint8_t)t->waits,
		.user_stack = t->user_stack,
		.kernel_stack = t->kernel_stack,
		.cpu = options->by_cpu ? t->task.cpu + 1u : 0,
	};
	struct counted_entry *entry;

	if (!all || (!options->only_times && (!t->is_kept || all < options->min_ns ||
					      (options->max_ns && all > options->max_ns))))
		return NULL;
	if (t->user_stack == STACK_LOST || t->kernel_stack == STACK_LOST) {
		r->lost++;
		r->lost_ns += all;
		return NULL;
	}
	/* The waker, the final length, and a stack that is taken late are unknown while an interval
	 * is in progress: so only the last reading includes it. */
	if (!r->session->stopped && ((options->max_ns && !options->only_times) || config->is_late ||
				     (options->wakers && is_blocked && !progress.runnable_ns)))
		return NULL;
	if (is_blocked && !reading_is_state_wanted(r, t->task.state, t->waits))
		more.ns = 0;
	if (!(config->classes >> CLASS_RUNNABLE & 1))
		more.runnable_ns = 0;
	more.count = more.ns != 0;
	more.runnable_count = more.runnable_ns != 0;
	/* One that began before the last reading gets its length when it ends. */
	if (!config->keep_below && all <= r->now - r->session->read_at)
		more.longest = is_blocked ? more.ns : more.runnable_ns;
	if (is_blocked)
		more.waker = progress.runnable_ns ? t->waker : WAKER_NOT_YET;
	if (more.ns)
		weigh_in_progress(options, t->blocked_debt, &more.ns, &more.count);
	if (more.runnable_ns)
		weigh_in_progress(options, t->runnable_debt, &more.runnable_ns,
				  &more.runnable_count);
	if (!more.ns && !more.runnable_ns)
		return NULL;
	if (options->wakers && progress.runnable_ns && is_blocked) {
		key.waker = t->waker == WAKER_INTERRUPT ? 0 : t->waker;
		key.waker_user_stack = t->waker_user_stack;
		key.waker_kernel_stack = t->waker_kernel_stack;
	}
	entry = reading_add(table, &key, &more);
	if (!entry)
		return &error_no_memory;
	entry->is_in_progress = true;
	r->in_progress++;
	return NULL;
}

static struct error *read_table(struct profile_reading *r, struct counted_table *table)
{
	__u32 *reading = &r->session->program->bss->state.reading;
	struct error *err;

	table->reading = *reading;
	err = reading_each(bpf_map__fd(r->session->program->maps.counted), sizeof(struct count_key),
			   sizeof(struct count_value), take_count, table);

	/* The longest of the next reading begin here; those that ended since the lookup are lost.
	 */
	__atomic_store_n(reading, *reading + 1, __ATOMIC_RELAXED);
	for (uint32_t number = 1; !err && number < r->record_count; number++) {
		struct profile_record *t = profile_chunks_thread(&r->session->chunks, number);

		if (!t || !(t->task.flags & RECORD_WANTED))
			continue;
		err = take_first(table, number, t, !r->session->program->rodata->config.keep_below);
		if (!err)
			err = take_progress(r, table, number, t);
		if (!r->session->stopped)
			forget_longest(t);
	}
	return err;
}

/* --- samples --- */

/* The room that is left is looked at once for so many sums. */
#define SUMS_AT_ONCE 512

/* Does the limit leave room for another sample? It must also hold what follows: what the caller
 * needs for each thread, and a copy of the samples while frames are named. The table of the last
 * reading is freed before that. */
static bool has_room(const struct profile_reading *r)
{
	struct memory_limit limit = profile_session_limit(r->session);
	const struct profile *profile = r->profile;
	const uint64_t gone = r->session->counted.entries.count * sizeof(struct counted_entry);
	uint64_t later = PROFILE_LIMIT_REST / 2 + profile->samples.count * sizeof(struct sample);

	if (!limit.bytes || !r->session->options.memory_of_thread)
		return true;
	later += profile->threads.count * r->session->options.memory_of_thread;
	limit.beside += reading_less(later, gone);
	return memory_limit_left(&limit) > 0;
}

/* Counted as put_entry() does. One that is in progress is among `in_progress` and not among those
 * that ended. */
static void leave_out(struct profile_reading *r, const struct counted_entry *entry,
		      const struct count_value *before)
{
	const struct count_value *value = &entry->value;
	const uint64_t count =
		value->count ? reading_less(value->count, before->count)
			     : reading_less(value->runnable_count, before->runnable_count);

	r->in_progress -= entry->is_in_progress;
	r->left_out += reading_less(count, entry->is_in_progress);
	r->left_out_ns += reading_less(value->ns, before->ns) +
			  reading_less(value->runnable_ns, before->runnable_ns);
}

static struct error *put_sample(struct profile_reading *r, const struct count_key *key,
				uint16_t class, enum state state, uint64_t ns, uint64_t count,
				const struct count_value *longest, bool is_in_progress)
{
	struct sample sample = {
		.thread = r->threads[key->thread],
		.class = class,
		.state = (uint8_t)state,
		.event = key->event,
		.cpu = key->cpu ? (uint16_t)(key->cpu - 1) : CPU_ANY,
		.is_in_progress = is_in_progress,
		.ns = ns,
		.count = count,
		.longest_ns = longest ? longest->longest : 0,
	};
	struct error *err;

	if (!ns && !count)
		return NULL;
	err = reading_node(r, key, &sample.node);
	if (!err && longest)
		err = reading_waker(r, longest->waker, &sample.waker);
	return err ? err : profile_add(r->profile, &sample);
}

/* Reported totals never decrease. */
static void keep_reported(struct count_value *value, const struct count_value *reported)
{
	if (value->ns < reported->ns)
		value->ns = reported->ns;
	if (value->runnable_ns < reported->runnable_ns)
		value->runnable_ns = reported->runnable_ns;
}

static struct error *put_entry(struct profile_reading *r, struct counted_entry *entry)
{
	const struct count_key key = entry->key;
	struct count_value before = { 0 };
	const struct counted_entry *known;
	struct error *err;

	if (key.thread >= r->record_count || r->threads[key.thread] == UINT32_MAX ||
	    key.class >= CLASS_COUNT || key.state >= STATE_COUNT)
		return NULL;
	known = reading_find_entry(&r->session->counted, &key);
	if (known)
		before = known->value;
	if (r->is_full) {
		leave_out(r, entry, &before);
		keep_reported(&entry->value, &before);
		return NULL;
	}
	err = put_sample(r, &key, key.class,
			 profile_classes[key.class].is_off_cpu ? (enum state)key.state
							       : reason_default_state(key.class),
			 reading_less(entry->value.ns, before.ns),
			 reading_less(entry->value.count, before.count), &entry->value,
			 entry->is_in_progress);
	/* A wait that is followed by one for a CPU is one stretch, and counted as the former. */
	if (!err)
		err = put_sample(r, &key, CLASS_RUNNABLE, STATE_RUNNABLE,
				 reading_less(entry->value.runnable_ns, before.runnable_ns),
				 entry->value.count ? 0
						    : reading_less(entry->value.runnable_count,
								   before.runnable_count),
				 key.class == CLASS_RUNNABLE ? &entry->value : NULL,
				 entry->is_in_progress);
	keep_reported(&entry->value, &before);
	return err;
}

static struct error *look_at_wait(struct profile_reading *r, const struct counted_entry *entry)
{
	const struct count_key *key = &entry->key;

	if (key->class >= CLASS_COUNT || !profile_classes[key->class].is_off_cpu)
		return NULL;
	return reading_stack_of_wait(r, key->kernel_stack,
				     entry->value.ns + entry->value.runnable_ns);
}

/* Delete the counts of numbers that are given back, so that their next users begin with nothing. */
static void forget_left(struct profile_reading *r, struct counted_table *table)
{
	const int map = bpf_map__fd(r->session->program->maps.counted);

	for (size_t i = 0; i < table->entries.count; i++) {
		struct counted_entry *entry = &table->entries.items[i];
		const struct count_key key = entry->key;
		struct profile_record *t;

		if (!reading_is_left(r, key.thread) && !reading_is_before(r, &key))
			continue;
		if (entry->is_in_hash)
			bpf_map_delete_elem(map, &key);
		/* That of a number that is given back is zeroed. */
		t = profile_chunks_thread(&r->session->chunks, key.thread);
		if (t && !reading_is_left(r, key.thread))
			forget_first(t, &key);
		entry->value = (struct count_value){ 0 };
	}
}

struct error *reading_samples(struct profile_reading *r)
{
	struct counted_table table;
	struct error *err =
		table_init(&table, &r->session->counted) ? read_table(r, &table) : &error_no_memory;

	if (!err)
		err = reading_carry(r, &table);
	for (size_t i = 0; !err && i < table.entries.count; i++)
		err = look_at_wait(r, &table.entries.items[i]);
	if (!err && !word_map_reserve(&r->profile->sample_numbers, r->record_count))
		err = &error_no_memory;
	/* Those in records first, which have the first stacks of threads and thus most of the time:
	 * what has no room is the rest. */
	for (size_t i = table.entries.count; !err && i--;) {
		if (i % SUMS_AT_ONCE == 0 && !r->is_full)
			r->is_full = !has_room(r);
		err = put_entry(r, &table.entries.items[i]);
	}
	/* Frames are named next, which makes all samples anew. */
	word_map_deinit(&r->profile->sample_numbers);
	if (!err && !r->session->stopped)
		forget_left(r, &table);
	if (err) {
		counted_table_deinit(&table);
		return err;
	}
	counted_table_deinit(&r->session->counted);
	r->session->counted = table;
	return NULL;
}
