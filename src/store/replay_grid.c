/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/replay_grid.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define NS_PER_MS   UINT64_C(1000000)
#define CELL_MOST_S 86400u

/* --- windows of one host --- */

/* Intervals may overlap, if there is a second agent or the clock was set; times of windows
 * increase. A window is as long as its interval says, although `begun_s` has seconds, and hosts
 * have pauses. */
static struct error *take_intervals(struct replay_grid *grid)
{
	struct replay_window window = { .hosts = { 1 } };

	if (!array_reserve(&grid->windows, grid->intervals.count))
		return &error_no_memory;
	for (size_t i = 0; i < grid->intervals.count; i++) {
		const struct replay_interval *interval = &grid->intervals.items[i];
		const uint64_t begin_ms = interval->begun_s * 1000,
			       end_ms = begin_ms + interval->ms;

		window.begin_ms = begin_ms > window.end_ms ? begin_ms : window.end_ms;
		window.end_ms = end_ms > window.begin_ms ? end_ms : window.begin_ms + 1;
		window.length_ns += interval->ms * NS_PER_MS;
		window.rows_end = interval->begun_s + 1;
		grid->windows.items[grid->windows.count++] = window;
	}
	return NULL;
}

/* --- the grid --- */

struct cells {
	uint64_t length_s, first_s; /* of one; and where the second since 1970 begins */
};

static uint64_t middle_ms(const struct replay_interval *interval)
{
	return interval->begun_s * 1000 + interval->ms / 2;
}

static uint64_t cell_of(const struct cells *cells, const struct replay_interval *interval)
{
	return (middle_ms(interval) / 1000 + cells->length_s - cells->first_s) / cells->length_s;
}

/* The median of a host's intervals, in seconds. */
static uint32_t usual_length_s(const struct replay_interval *intervals, size_t count,
			       uint32_t *lengths)
{
	uint32_t s;

	for (size_t i = 0; i < count; i++)
		lengths[i] = intervals[i].ms;
	qsort(lengths, count, sizeof(*lengths), compare_u32);
	s = (uint32_t)((lengths[count / 2] + UINT64_C(500)) / 1000);
	return s < 1 ? 1 : s < CELL_MOST_S ? s : CELL_MOST_S;
}

/* The longest of these, of all hosts. */
static struct error *find_length(const struct replay_grid *grid, uint64_t *ret_s)
{
	const size_t count = grid->intervals.count;
	const struct replay_interval *intervals = grid->intervals.items;
	_cleanup_free_ uint32_t *lengths = calloc(count + 1, sizeof(*lengths));

	if (!lengths)
		return &error_no_memory;
	*ret_s = 1;
	for (size_t begin = 0, end; begin < count; begin = end) {
		uint32_t usual_s;

		for (end = begin; end < count && intervals[end].host == intervals[begin].host;)
			end++;
		usual_s = usual_length_s(intervals + begin, end - begin, lengths);
		if (usual_s > *ret_s)
			*ret_s = usual_s;
	}
	return NULL;
}

/* Middles of a host's intervals are in about the same second of each cell. If that were the last or
 * the first one, a bit more or less would leave the host out of a window, and have it twice in the
 * next. So a cell begins in the middle of the longest time that has no middle. */
static struct error *find_first(const struct replay_grid *grid, struct cells *cells)
{
	const uint64_t length = cells->length_s;
	_cleanup_free_ bool *is_used = calloc(length, sizeof(*is_used));
	uint64_t free_s = 0, most_s = 0;

	if (!is_used)
		return &error_no_memory;
	for (size_t i = 0; i < grid->intervals.count; i++)
		is_used[middle_ms(&grid->intervals.items[i]) / 1000 % length] = true;
	/* Around the end, too. */
	for (uint64_t s = 0; s < 2 * length; s++) {
		free_s = is_used[s % length] ? 0 : free_s + 1;
		if (free_s <= most_s)
			continue;
		most_s = free_s;
		cells->first_s = (s + 1 - (free_s + 1) / 2) % length;
	}
	return NULL;
}

/* --- windows of several hosts --- */

struct placed {
	uint64_t cell;
	uint32_t host;
};

static int by_cell(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->cell > y->cell) - (x->cell < y->cell);
}

static struct replay_window window_of(const struct cells *cells, uint64_t cell, size_t number)
{
	const uint64_t length_ms = cells->length_s * 1000;
	const uint64_t end_ms = cells->first_s * 1000 + cell * length_ms;

	return (struct replay_window){
		.begin_ms = end_ms > length_ms ? end_ms - length_ms : 0,
		.end_ms = end_ms,
		.length_ns = (number + 1) * length_ms * NS_PER_MS,
		.rows_end = end_ms,
	};
}

static struct error *fill_windows(struct replay_grid *grid, const struct cells *cells)
{
	const size_t count = grid->intervals.count;
	_cleanup_free_ struct placed *placed = calloc(count + 1, sizeof(*placed));

	if (!placed)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		placed[i] = (struct placed){ cell_of(cells, &grid->intervals.items[i]),
					     grid->intervals.items[i].host };
	qsort(placed, count, sizeof(*placed), by_cell);
	for (size_t i = 0; i < count; i++) {
		const uint32_t host = placed[i].host;
		const size_t number = grid->windows.count;

		if ((!i || placed[i].cell != placed[i - 1].cell) &&
		    !array_push(&grid->windows, window_of(cells, placed[i].cell, number)))
			return &error_no_memory;
		grid->windows.items[grid->windows.count - 1].hosts[host / 64] |= UINT64_C(1)
										 << host % 64;
	}
	return NULL;
}

static struct error *make_cells(struct replay_grid *grid)
{
	struct cells cells = { 0 };
	struct error *err = find_length(grid, &cells.length_s);

	if (!err)
		err = find_first(grid, &cells);
	return err ? err : fill_windows(grid, &cells);
}

struct error *replay_grid_make(struct replay_grid *grid, size_t hosts)
{
	struct error *err;

	for (size_t i = 0; i < grid->intervals.count; i++)
		if (grid->intervals.items[i].ms > grid->longest_ms)
			grid->longest_ms = grid->intervals.items[i].ms;
	grid->is_by_middle = hosts > 1;
	err = grid->is_by_middle ? make_cells(grid) : take_intervals(grid);
	array_deinit(&grid->intervals);
	return err;
}

void replay_grid_deinit(struct replay_grid *grid)
{
	array_deinit(&grid->intervals);
	array_deinit(&grid->windows);
}
