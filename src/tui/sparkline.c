/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/sparkline.h"

#include <string.h>

#define SHARE_ALL 254

void history_deinit(struct history *history)
{
	word_map_deinit(&history->places);
	array_deinit(&history->rows);
}

void history_clear(struct history *history)
{
	history_deinit(history);
	*history = (struct history){ .window = history->window };
}

static struct words row_key(uint64_t id)
{
	return (struct words){ { id } };
}

/* Keep the rows that were seen last, and rebuild the map, which cannot delete. */
static void sweep(struct history *history)
{
	struct word_map places = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < history->rows.count; i++) {
		struct history_row *row = &history->rows.items[i];
		uint32_t *place;

		if (row->seen + HISTORY_LENGTH <= history->window)
			continue;
		place = word_map_at(&places, row_key(row->id));
		if (!place)
			break;
		*place = (uint32_t)kept;
		history->rows.items[kept++] = *row;
	}
	history->rows.count = kept;
	word_map_deinit(&history->places);
	history->places = places;
}

void history_begin(struct history *history)
{
	history->window++;
	if (history->window % HISTORY_LENGTH == 0)
		sweep(history);
}

static struct history_row *find_row(struct history *history, uint64_t id)
{
	uint32_t *place, found = word_map_find(&history->places, row_key(id));
	struct history_row row = { .id = id };

	if (found != WORD_MAP_NEW)
		return &history->rows.items[found];
	if (history->rows.count >= HISTORY_ROWS)
		return NULL;
	memset(row.shares, HISTORY_UNKNOWN, sizeof(row.shares));
	row.seen = history->window;
	if (!array_push(&history->rows, row))
		return NULL;
	place = word_map_at(&history->places, row_key(id));
	if (!place) {
		history->rows.count--;
		return NULL;
	}
	*place = (uint32_t)history->rows.count - 1;
	return &history->rows.items[*place];
}

void history_put(struct history *history, uint64_t id, double share)
{
	struct history_row *row = find_row(history, id);

	if (!row)
		return;
	/* Between, it was not there. */
	for (uint64_t w = row->seen + 1; w < history->window && w <= row->seen + HISTORY_LENGTH;
	     w++)
		row->shares[w % HISTORY_LENGTH] = HISTORY_UNKNOWN;
	row->seen = history->window;
	if (share > 1)
		share = 1;
	/* A share above 0 is stored as 1 or more. */
	row->shares[history->window % HISTORY_LENGTH] =
		share > 0 ? (uint8_t)(share * (SHARE_ALL - 1) + 1) : 0;
}

uint8_t spark_level(double share)
{
	if (!(share > 0))
		return 0;
	return share >= 1 ? SPARK_LEVELS - 1 : (uint8_t)(1 + share * (SPARK_LEVELS - 1));
}

void history_get(const struct history *history, uint64_t id, uint8_t *ret, unsigned count)
{
	uint32_t found = word_map_find(&history->places, row_key(id));
	const struct history_row *row = found == WORD_MAP_NEW ? NULL : &history->rows.items[found];

	for (unsigned i = 0; i < count; i++) {
		uint64_t back = count - 1 - i, window = history->window - back;
		uint8_t share = HISTORY_UNKNOWN;

		if (row && back < HISTORY_LENGTH && back <= history->window &&
		    window <= row->seen && window + HISTORY_LENGTH > row->seen)
			share = row->shares[window % HISTORY_LENGTH];
		ret[i] = share == HISTORY_UNKNOWN
				 ? HISTORY_UNKNOWN
				 : spark_level(share ? (share - 1.0) / (SHARE_ALL - 1) : 0);
		if (share != HISTORY_UNKNOWN && share && !ret[i])
			ret[i] = 1;
	}
}
