/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cpulist.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/file.h"

static bool parse_range(struct text piece, uint32_t *low, uint32_t *high)
{
	const char *dash = memchr(piece.bytes, '-', piece.length);
	struct text first = piece;

	if (!dash)
		return text_u32(piece, low) && text_u32(piece, high) && *high < CPU_MAX;
	first.length = (size_t)(dash - piece.bytes);
	return text_u32(first, low) &&
	       text_u32((struct text){ dash + 1, piece.length - first.length - 1 }, high) &&
	       *low <= *high && *high < CPU_MAX;
}

bool cpulist_parse(struct text list, struct cpus *ret)
{
	struct text piece;

	ret->count = 0;
	list = text_trim(list);
	while (text_cut(&list, ',', &piece)) {
		uint32_t low, high;

		piece = text_trim(piece);
		if (!piece.length)
			continue;
		/* Repeated ranges may not make the list longer than the CPUs there can be. */
		if (!parse_range(piece, &low, &high) || ret->count + (high - low) > 2 * CPU_MAX)
			return false;
		for (uint32_t cpu = low; cpu <= high; cpu++)
			if (!array_push(ret, cpu))
				return false;
	}
	ret->count = sort_unique_u32(ret->items, ret->count);
	return true;
}

bool cpus_from_mask(const unsigned long *mask, size_t bytes, struct cpus *ret)
{
	const size_t bits = 8 * sizeof(*mask);

	ret->count = 0;
	for (size_t word = 0; word < bytes / sizeof(*mask); word++)
		for (unsigned long left = mask[word]; left; left &= left - 1)
			if (!array_push(ret,
					(uint32_t)(word * bits + (size_t)__builtin_ctzl(left))))
				return false;
	return true;
}

char *cpulist_text(const struct cpus *cpus)
{
	/* "262143-262143," */
	const size_t room = 16 * cpus->count + 1;
	char *text = calloc(1, room);
	size_t length = 0, end;

	for (size_t i = 0; text && i < cpus->count; i = end) {
		for (end = i + 1; end < cpus->count; end++)
			if (cpus->items[end] != cpus->items[end - 1] + 1)
				break;
		length += (size_t)snprintf(text + length, room - length, "%s%u", i ? "," : "",
					   cpus->items[i]);
		if (end - i > 1)
			length += (size_t)snprintf(text + length, room - length, "-%u",
						   cpus->items[end - 1]);
	}
	return text;
}

#define POSSIBLE "/sys/devices/system/cpu/possible"

struct error *cpus_list_possible(struct cpus *ret)
{
	struct file_buffer buffer = { 0 };
	struct error *err = NULL;
	struct text list;
	int failed = file_read(AT_FDCWD, POSSIBLE, &buffer, &list);

	if (failed)
		err = error_system(failed, "cannot read the list of possible CPUs: " POSSIBLE);
	else if (!cpulist_parse(list, ret) || !ret->count)
		err = error_create("cannot read the list of possible CPUs: " POSSIBLE
				   " is not a list of CPUs");
	file_buffer_deinit(&buffer);
	return err;
}

uint32_t cpus_possible(void)
{
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	_cleanup_error_ struct error *err = cpus_list_possible(&cpus);

	return err ? 0 : cpus.items[cpus.count - 1] + 1;
}
