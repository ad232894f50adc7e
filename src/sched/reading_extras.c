/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <profile.skel.h>
#include <string.h>

#include "os/cgroup_path.h"
#include "os/cpulist.h"

/* The growth of a value since the last reading. */
static struct error *since_last(struct amounts *amounts, struct words key,
				const struct slot_value *now, struct slot_value *ret)
{
	uint32_t *place = word_map_at(&amounts->places, key);
	struct slot_value *before;

	if (!place)
		return &error_no_memory;
	if (*place == WORD_MAP_NEW) {
		if (!array_push(&amounts->values, (struct slot_value){ 0 }))
			return &error_no_memory;
		*place = (uint32_t)amounts->values.count - 1;
	}
	before = &amounts->values.items[*place];
	ret->count = now->count - before->count;
	ret->sum = now->sum - before->sum;
	*before = *now;
	return NULL;
}

/* Forget the value of a number that is given back, so that its next use begins with zero. */
static struct error *forget(struct amounts *amounts, struct words key, bool is_noted)
{
	const uint32_t place = word_map_find(&amounts->places, key);

	if (place != WORD_MAP_NEW)
		amounts->values.items[place] = (struct slot_value){ 0 };
	return is_noted ? NULL : &error_no_memory;
}

static int by_length(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static struct error *put_block(struct profile_reading *r, const struct longest_block *block,
			       bool is_in_progress)
{
	const struct profile_record *waker =
		profile_chunks_thread(&r->session->chunks, block->waker);
	const struct count_key key = { .thread = block->thread,
				       .user_stack = block->user_stack,
				       .kernel_stack = block->kernel_stack };
	struct block put = {
		.class = block->class,
		.state = block->state,
		.is_in_progress = is_in_progress,
		.begun_ns = block->begun,
		.ns = block->blocked_ns,
		.runnable_ns = block->runnable_ns,
	};
	struct error *err;

	if (block->thread >= r->record_count || r->threads[block->thread] == UINT32_MAX ||
	    block->class >= CLASS_COUNT || block->state >= STATE_COUNT ||
	    block->begun + block->blocked_ns + block->runnable_ns <= r->session->read_at)
		return NULL;
	put.thread = r->threads[block->thread];
	if (block->waker == WAKER_INTERRUPT)
		put.waker = profile_name(r->profile, "[interrupt]", 11);
	else if (waker)
		put.waker = reading_name(r->profile, waker->task.name, sizeof(waker->task.name));
	put.waker_tid = waker ? waker->task.tid : 0;
	err = reading_node(r, &key, &put.node);
	if (err)
		return err;
	return array_push(&r->profile->longest, put) ? NULL : &error_no_memory;
}

static struct error *put_longest(struct profile_reading *r)
{
	const unsigned wanted = r->session->options.longest;
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	_cleanup_free_ struct longest_blocks *all = NULL, *none = NULL;
	struct error *err = cpus_list_possible(&cpus);
	uint32_t zero = 0;

	if (err)
		return err;
	all = calloc(cpus.count, sizeof(*all));
	none = calloc(cpus.count, sizeof(*none));
	if (!all || !none)
		return &error_no_memory;
	if (bpf_map_lookup_elem(bpf_map__fd(r->session->program->maps.longest), &zero, all))
		return error_system(errno, "the longest blocks");
	/* All waits of the next interval may be shorter. */
	if (!r->session->stopped &&
	    bpf_map_update_elem(bpf_map__fd(r->session->program->maps.longest), &zero, none,
				BPF_ANY))
		return error_system(errno, "the longest blocks");
	for (size_t cpu = 0; cpu < cpus.count; cpu++)
		for (uint32_t i = 0; !err && i < all[cpu].count && i < wanted; i++)
			err = put_block(r, &all[cpu].blocks[i], false);
	for (uint32_t number = 1; !err && number < r->record_count; number++) {
		const struct profile_record *t = profile_chunks_thread(&r->session->chunks, number);
		struct longest_block block;
		struct reading_progress progress;

		if (!t || !t->is_kept || t->task.state == CLASS_RUNNABLE ||
		    !reading_is_state_wanted(r, t->task.state, t->waits))
			continue;
		progress = reading_progress(t, r->now);
		block = (struct longest_block){
			.begun = t->task.since,
			.blocked_ns = progress.blocked_ns,
			.runnable_ns = progress.runnable_ns,
			.thread = number,
			.user_stack = t->user_stack,
			.kernel_stack = t->kernel_stack,
			.class = t->task.state,
			.state = t->waits,
		};
		if (progress.blocked_ns)
			err = put_block(r, &block, true);
	}
	if (err)
		return err;
	qsort(r->profile->longest.items, r->profile->longest.count,
	      sizeof(r->profile->longest.items[0]), by_length);
	if (r->profile->longest.count > wanted)
		r->profile->longest.count = wanted;
	return NULL;
}

static struct error *add_slot(void *context, const void *key_bytes, const void *value_bytes)
{
	struct profile_reading *r = context;
	const struct slot_key *key = key_bytes;
	struct slot_value value;
	struct profile *profile = r->profile;
	struct thread_histogram *last;
	struct error *err;
	uint32_t *place;

	if (key->thread >= r->record_count || r->threads[key->thread] == UINT32_MAX ||
	    key->class >= CLASS_COUNT || key->slot >= BUCKET_SLOTS(PROFILE_FRAC_BITS))
		return NULL;
	err = since_last(&r->session->slots,
			 (struct words){ { key->thread, key->class, key->slot } }, value_bytes,
			 &value);
	if (err || !value.count)
		return err;
	/* No stack has number 0, so these keys do not collide with those of stacks. */
	place = word_map_at(
		&r->stacks,
		(struct words){ { 0, UINT64_MAX, (uint64_t)key->thread << 16 | key->class } });
	if (!place)
		return &error_no_memory;
	if (*place == WORD_MAP_NEW) {
		struct histogram *histogram = histogram_create(PROFILE_FRAC_BITS);

		if (!histogram || !array_push(&profile->histograms,
					      (struct thread_histogram){ r->threads[key->thread],
									 key->class, histogram })) {
			histogram_destroy(histogram);
			return &error_no_memory;
		}
		*place = (uint32_t)profile->histograms.count - 1;
	}
	last = &profile->histograms.items[*place];
	last->histogram->slots[key->slot] += value.count;
	last->histogram->count += value.count;
	last->histogram->sum += value.sum;
	return NULL;
}

/* What ran and has no record. */
static struct text runner_name(uint32_t runner)
{
	return runner == RUNNER_IDLE   ? TEXT("[idle CPU]")
	       : runner == RUNNER_SELF ? TEXT("[ctprof]")
				       : TEXT("");
}

static struct error *add_runner(void *context, const void *key_bytes, const void *value_bytes)
{
	struct profile_reading *r = context;
	const struct runner_key *key = key_bytes;
	const struct profile_record *runner =
		profile_chunks_thread(&r->session->chunks, key->runner);
	const struct slot_value all = { .sum = *(const __u64 *)value_bytes };
	struct preemptor preemptor = { 0 };
	struct slot_value value;
	struct error *err;

	if (key->waiter >= r->record_count || r->threads[key->waiter] == UINT32_MAX)
		return NULL;
	err = since_last(&r->session->runners, (struct words){ { key->waiter, key->runner } }, &all,
			 &value);
	if (err || !value.sum)
		return err;
	preemptor.ns = value.sum;
	preemptor.thread = r->threads[key->waiter];
	preemptor.name =
		runner ? reading_name(r->profile, runner->task.name, sizeof(runner->task.name))
		       : profile_name(r->profile, runner_name(key->runner).bytes,
				      runner_name(key->runner).length);
	if (!preemptor.name)
		return &error_no_memory;
	if (runner) {
		char path[4096];

		preemptor.tid = runner->task.tid;
		if (cgroup_path(r->session->cgroups, runner->task.cgroup, path, sizeof(path)))
			preemptor.cgroup = profile_name(r->profile, path, strlen(path));
	}
	return array_push(&r->profile->preemptors, preemptor) ? NULL : &error_no_memory;
}

static struct error *take_slot(void *context, const void *key_bytes, const void *value_bytes)
{
	struct profile_reading *r = context;
	const struct slot_key *key = key_bytes;
	struct error *err = add_slot(r, key, value_bytes);

	if (err || !reading_is_left(r, key->thread))
		return err;
	return forget(&r->session->slots, (struct words){ { key->thread, key->class, key->slot } },
		      array_push(&r->left_slots, *key));
}

static struct error *take_runner(void *context, const void *key_bytes, const void *value_bytes)
{
	struct profile_reading *r = context;
	const struct runner_key *key = key_bytes;
	struct error *err = add_runner(r, key, value_bytes);

	if (err || (!reading_is_left(r, key->waiter) && !reading_is_left(r, key->runner)))
		return err;
	return forget(&r->session->runners, (struct words){ { key->waiter, key->runner } },
		      array_push(&r->left_runners, *key));
}

struct error *reading_extras(struct profile_reading *r)
{
	const struct profile_options *options = &r->session->options;
	struct profile_bpf *program = r->session->program;
	struct error *err = NULL;

	if (options->longest)
		err = put_longest(r);
	if (!err && options->histograms)
		err = reading_each(bpf_map__fd(program->maps.slots), sizeof(struct slot_key),
				   sizeof(struct slot_value), take_slot, r);
	if (!err && options->runners)
		err = reading_each(bpf_map__fd(program->maps.runners), sizeof(struct runner_key),
				   sizeof(__u64), take_runner, r);
	for (size_t i = 0; !err && i < r->left_slots.count; i++)
		bpf_map_delete_elem(bpf_map__fd(program->maps.slots), &r->left_slots.items[i]);
	for (size_t i = 0; !err && i < r->left_runners.count; i++)
		bpf_map_delete_elem(bpf_map__fd(program->maps.runners), &r->left_runners.items[i]);
	return err;
}
