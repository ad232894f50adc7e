/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/space.h"

static uint64_t end_of(uint64_t start, uint64_t bytes)
{
	return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

/* Bytes of the file that both have. */
static uint64_t overlap(const struct file_segment *segment, const struct profile_mapping *mapping)
{
	uint64_t start = segment->offset, end = end_of(start, segment->bytes);
	uint64_t mapped = mapping->file_offset;
	uint64_t mapped_end = end_of(mapped, mapping->end - mapping->start);

	start = start > mapped ? start : mapped;
	end = end < mapped_end ? end : mapped_end;
	return start < end ? end - start : 0;
}

/* A segment is mapped from the page on that has its first byte; the page of a small one may be full
 * of another. */
struct fit {
	bool is_code, is_start;
	uint64_t bytes;
};

static struct fit fit_of(const struct file_segment *segment, uint64_t page,
			 const struct profile_mapping *mapping)
{
	return (struct fit){
		.is_code = segment->is_code,
		.is_start = (segment->offset & ~(page - 1)) == mapping->file_offset,
		.bytes = overlap(segment, mapping),
	};
}

static bool is_better(const struct fit *a, const struct fit *b)
{
	if (!a->bytes || !b->bytes)
		return a->bytes;
	if (a->is_code != b->is_code)
		return a->is_code;
	if (a->is_start != b->is_start)
		return a->is_start;
	return a->bytes > b->bytes;
}

bool file_bias(const struct file_segment *segments, size_t count, uint64_t page,
	       const struct profile_mapping *mapping, uint64_t *ret)
{
	const struct file_segment *best = NULL;
	struct fit best_fit = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct fit fit = fit_of(&segments[i], page, mapping);

		if (is_better(&fit, &best_fit)) {
			best = &segments[i];
			best_fit = fit;
		}
	}
	if (!best)
		return false;
	*ret = mapping->start - (best->address - (best->offset - mapping->file_offset));
	return true;
}

/* --- mappings --- */

static bool says_the_same(const struct unwind_mapping *a, const struct unwind_mapping *b)
{
	return a->kind == b->kind && a->table == b->table && a->delta == b->delta;
}

bool process_space_add(struct process_space *space, const struct unwind_mapping *mapping)
{
	struct unwind_mapping *last = space->count ? &space->items[space->count - 1] : NULL;

	if (last && last->end == mapping->start && says_the_same(last, mapping)) {
		last->end = mapping->end;
		return true;
	}
	return array_push(space, *mapping);
}

static void close_gaps(struct process_space *space)
{
	size_t kept = 0;

	for (size_t i = 1; i < space->count; i++) {
		const struct unwind_mapping *mapping = &space->items[i];

		if (mapping->kind == UNWIND_MAPPING_POINTER &&
		    says_the_same(&space->items[kept], mapping))
			space->items[kept].end = mapping->end;
		else
			space->items[++kept] = *mapping;
	}
	space->count = space->count ? kept + 1 : 0;
}

size_t process_space_fit(struct process_space *space, size_t most)
{
	size_t dropped;

	if (space->count <= most)
		return 0;
	close_gaps(space);
	if (space->count <= most)
		return 0;
	dropped = space->count - most;
	space->count = most;
	return dropped;
}

void process_space_deinit(struct process_space *space)
{
	array_deinit(space);
}
