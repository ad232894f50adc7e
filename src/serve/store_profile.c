/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/copying.h"
#include "serve/store.h"

/* A profile of some ticks, in the making. */
struct window_summing {
	const struct tick_store *store;
	struct profile_copying copying;
	struct profile *into;
	/* Waits that last: since which tick, as the sum of the lengths of all before it. */
	struct lasting_map lasting;
	struct {
		MAP(uint32_t, uint64_t);
	} since;
	uint64_t passed; /* the lengths of the ticks so far */
};

static struct error *add(struct window_summing *s, struct sample sample)
{
	struct error *err = copying_thread(&s->copying, sample.thread, &sample.thread);

	if (!err)
		err = copying_node(&s->copying, sample.node, &sample.node);
	if (!err)
		err = copying_waker(&s->copying, sample.waker, &sample.waker);
	if (!err && profile_classes[sample.class].is_off_cpu) {
		s->into->threads.items[sample.thread].ns[sample.class] += sample.ns;
		s->into->threads.items[sample.thread].counts[sample.class] += sample.count;
	}
	return err ? err : profile_add(s->into, &sample);
}

/* A wait counts once, in the tick in which it began to last. */
static struct error *add_lasting(struct window_summing *s, const struct lasting *wait, bool is_over)
{
	const uint64_t *since = map_find(&s->since, wait->thread);
	const uint64_t ns = s->passed - (since ? *since : 0);

	if (!ns)
		return NULL;
	return add(s, (struct sample){
			      .thread = wait->thread,
			      .node = wait->node,
			      .class = wait->class,
			      .state = wait->state,
			      .cpu = CPU_ANY,
			      .is_in_progress = !is_over,
			      .ns = ns,
			      .count = since != NULL,
			      .longest_ns = ns,
		      });
}

static struct error *end_waits(struct window_summing *s, const struct store_tick *tick)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < tick->ended.count; i++) {
		const struct lasting *wait = map_find(&s->lasting, tick->ended.items[i]);

		if (wait)
			err = add_lasting(s, wait, true);
		map_remove(&s->since, tick->ended.items[i]);
	}
	return err;
}

static struct error *add_cpu(struct window_summing *s, const struct store_tick *tick)
{
	for (size_t i = 0; i < tick->cpu.count; i++) {
		uint32_t thread;
		struct error *err = copying_thread(&s->copying, tick->cpu.items[i].thread, &thread);

		if (err)
			return err;
		s->into->threads.items[thread].ns[CLASS_ON_CPU] += tick->cpu.items[i].ns;
	}
	return NULL;
}

static struct error *add_tick(struct window_summing *s, const struct store_tick *tick)
{
	struct error *err = end_waits(s, tick);

	if (!err)
		err = store_lasting_pass(&s->lasting, tick);
	for (size_t i = 0; !err && i < tick->begun.count; i++) {
		bool is_new;
		uint64_t *since = map_add(&s->since, tick->begun.items[i].thread, &is_new);

		if (since)
			*since = s->passed;
		else
			err = &error_no_memory;
	}
	for (size_t i = 0; !err && i < tick->samples.count; i++)
		err = add(s, tick->samples.items[i]);
	if (!err)
		err = add_cpu(s, tick);
	s->passed += tick->ns;
	profile_losses_add(&s->into->meta.losses, &tick->losses);
	return err;
}

static struct error *add_all(struct window_summing *s, size_t first, size_t end)
{
	const struct store_tick *ticks = s->store->ticks.items;
	struct error *err = store_lasting_before(s->store, first, &s->lasting);

	for (size_t i = first; !err && i < end; i++)
		err = add_tick(s, &ticks[i]);
	map_for_each(&s->lasting, slot) if (!err) err = add_lasting(s, &slot->value, false);
	return err;
}

/* The times of threads add up to what they were watched for. */
static void settle_threads(struct profile *profile, uint64_t begun_ns)
{
	for (size_t i = 0; i < profile->threads.count; i++) {
		struct profile_thread *thread = &profile->threads.items[i];

		thread->begun_ns = thread->ended_ns = begun_ns;
		for (size_t c = 0; c < CLASS_COUNT; c++)
			thread->ended_ns += thread->ns[c];
	}
}

struct error *store_profile(const struct tick_store *store, size_t first, size_t end,
			    struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct window_summing s = { .store = store };
	struct error *err = profile_create(&profile);

	if (!err)
		err = copying_meta(store->book, profile);
	if (!err)
		err = copying_begin(&s.copying, store->book, profile);
	if (err)
		return err;
	s.into = profile;
	if (first < end)
		profile->meta.captured_at_unix_ns = store->ticks.items[first].begun_unix_ns;
	err = add_all(&s, first, end);
	profile->meta.duration_ns = s.passed;
	settle_threads(profile, 0);
	copying_end(&s.copying);
	map_deinit(&s.lasting);
	map_deinit(&s.since);
	if (!err)
		*ret = take_ptr(profile);
	return err;
}
