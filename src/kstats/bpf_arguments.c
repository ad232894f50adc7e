/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_arguments.h"

#include <bpf/bpf.h>
#include <errno.h>

/* The points of a side; NULL: no argument of a USDT probe is its key. */
static struct probe_points *points_of(const struct kstats_location *place)
{
	struct probe_points *points = place->points;

	return points && points->count && points->items[0].argument.bytes ? points : NULL;
}

static unsigned number_points(struct probe_points *points, unsigned first)
{
	for (size_t i = 0; points && i < points->count; i++)
		points->items[i].event = first++;
	return first;
}

unsigned kstats_arguments_number(const struct kstats_locations *places)
{
	return number_points(points_of(&places->end), number_points(points_of(&places->start), 0));
}

static __u16 register_offset(uint8_t number)
{
	return number == USDT_NO_REGISTER ? KSTATS_NO_REGISTER : (__u16)(number * sizeof(uint64_t));
}

static struct error *store_points(const struct probe_points *points, int map)
{
	for (size_t i = 0; points && i < points->count; i++) {
		const struct usdt_argument *argument = &points->items[i].argument;
		const struct kstats_argument stored = {
			.offset = argument->offset,
			.base = register_offset(argument->base),
			.index = register_offset(argument->index),
			.shift = argument->shift,
			.bytes = argument->bytes,
			.is_signed = argument->is_signed,
			.is_memory = argument->is_memory,
		};

		if (bpf_map_update_elem(map, &points->items[i].event, &stored, BPF_ANY))
			return error_system(errno, "the places of arguments");
	}
	return NULL;
}

struct error *kstats_arguments_store(const struct kstats_locations *places, int map)
{
	struct error *err = store_points(points_of(&places->start), map);

	return err ? err : store_points(points_of(&places->end), map);
}
