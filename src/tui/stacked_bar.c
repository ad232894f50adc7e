/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/stacked_bar.h"

#include <stdbool.h>

void bar_divide(const uint64_t *parts, size_t count, uint64_t whole, unsigned units, unsigned *ret)
{
	uint64_t all[BAR_PARTS_MAX + 1], sum = 0, remainders[BAR_PARTS_MAX + 1];
	unsigned given = 0;

	for (size_t i = 0; i < count; i++)
		sum += all[i] = parts[i];
	if (whole < sum)
		whole = sum;
	if (!whole)
		whole = 1;
	all[count] = whole - sum;
	for (size_t i = 0; i <= count; i++) {
		unsigned __int128 share = (unsigned __int128)all[i] * units;

		ret[i] = (unsigned)(share / whole);
		remainders[i] = (uint64_t)(share % whole);
		given += ret[i];
	}
	/* Give the remaining units to the parts that lost most by rounding down. */
	for (; given < units; given++) {
		size_t most = 0;

		for (size_t i = 1; i <= count; i++)
			if (remainders[i] > remainders[most])
				most = i;
		ret[most]++;
		remainders[most] = 0;
	}
}

/* The two largest amounts of a cell, in their order; the same twice where there is one. */
static struct bar_cell cell_of(const unsigned *amounts, size_t count, unsigned steps)
{
	size_t first = 0, second = count;
	unsigned both;

	for (size_t i = 1; i < count; i++)
		if (amounts[i] > amounts[first])
			first = i;
	for (size_t i = 0; i < count; i++)
		if (i != first && amounts[i] && (second == count || amounts[i] > amounts[second]))
			second = i;
	if (second == count)
		return (struct bar_cell){ (uint8_t)first, (uint8_t)first, (uint8_t)steps };
	if (second < first) {
		size_t swap = first;

		first = second;
		second = swap;
	}
	both = amounts[first] + amounts[second];
	return (struct bar_cell){ (uint8_t)first, (uint8_t)second,
				  (uint8_t)((amounts[first] * steps + both / 2) / both) };
}

void stacked_bar(const uint64_t *parts, size_t count, uint64_t whole, struct bar_cell *ret,
		 unsigned width, unsigned steps)
{
	unsigned left[BAR_PARTS_MAX + 1];
	size_t part = 0;

	bar_divide(parts, count, whole, width * steps, left);
	for (unsigned x = 0; x < width; x++) {
		unsigned amounts[BAR_PARTS_MAX + 1] = { 0 }, missing = steps;

		while (missing && part <= count) {
			unsigned taken = left[part] < missing ? left[part] : missing;

			amounts[part] += taken;
			left[part] -= taken;
			missing -= taken;
			part += !left[part];
		}
		ret[x] = cell_of(amounts, count + 1, steps);
	}
}
