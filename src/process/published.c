/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/published.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "base/clock.h"

/* Keys that one call looks at. */
#define KEYS_AT_ONCE 4096
/* Passes over the map at most, until one has removed nothing. */
#define PASSES_MAX 64

void unpublish(const struct published *published, uint32_t pid)
{
	struct unwind_process old;

	if (!published->recorded)
		bpf_map_delete_elem(published->map, &pid);
	else if (!bpf_map_lookup_and_delete_elem(published->map, &pid, &old) && old.slot)
		recorded_mappings_give_back(published->recorded, old.slot,
					    clock_ns(CLOCK_MONOTONIC));
}

bool published_is_recorded(const struct published *published, uint32_t pid,
			   struct unwind_process *ret)
{
	return published->recorded && !bpf_map_lookup_elem(published->map, &pid, ret) &&
	       recorded_mappings_has(published->recorded, ret);
}

/* Programs in the kernel may add an entry with a slot, or remove one, at the same time. */
#define TRIES 8

bool publish(const struct published *published, uint32_t pid, const struct unwind_process *process)
{
	/* The pool has all that the entry refers to before the entry is visible. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (int i = 0; i < TRIES; i++) {
		struct unwind_process old = { 0 };
		const bool is_there = !bpf_map_lookup_elem(published->map, &pid, &old);
		const int failed = bpf_map_update_elem(published->map, &pid, process,
						       is_there ? BPF_EXIST : BPF_NOEXIST);

		if (!failed && old.slot)
			recorded_mappings_give_back(published->recorded, old.slot,
						    clock_ns(CLOCK_MONOTONIC));
		if (!failed)
			return true;
		if (failed != -EEXIST && failed != -ENOENT)
			break;
	}
	unpublish(published, pid);
	return false;
}

void published_sweep_begin(struct published *published)
{
	/* From the first key: entries that a sweep has passed may be of the new loss. */
	published->sweep = (struct published_sweep){ .goes_on = true };
}

/* A pass is at most as long as the map may be. Forks go on meanwhile, and a child inherits the
 * entry of its parent: what was inherited behind a pass is found by the next one. */
void published_sweep(struct published *published,
		     bool (*is_stale)(void *context, uint32_t pid,
				      const struct unwind_process *there),
		     void *context)
{
	struct published_sweep *sweep = &published->sweep;
	const int map = published->map;

	if (!sweep->goes_on)
		return;
	if (!sweep->has_key) {
		sweep->has_key = !bpf_map_get_next_key(map, NULL, &sweep->key);
		sweep->count = 0;
		sweep->has_removed = false;
	}
	for (size_t i = 0; i < KEYS_AT_ONCE && sweep->has_key; i++) {
		const uint32_t pid = sweep->key;
		struct unwind_process there;

		/* Read the next key before deleting this one: after a deleted key, the kernel
		 * starts anew. */
		sweep->has_key = !bpf_map_get_next_key(map, &pid, &sweep->key) &&
				 ++sweep->count < UNWIND_PROCESSES_MAX;
		if (!bpf_map_lookup_elem(map, &pid, &there) && is_stale(context, pid, &there)) {
			unpublish(published, pid);
			sweep->has_removed = true;
		}
	}
	if (!sweep->has_key)
		sweep->goes_on = sweep->has_removed && ++sweep->passes < PASSES_MAX;
}
