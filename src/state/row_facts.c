/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/row_facts.h"

/* --- which, and their values --- */

enum row_fact column_fact(enum top_column column)
{
	switch (column) {
#define COLUMN_FACT_PROC(id)  \
	case TOP_COLUMN_##id: \
		return ROW_FACT_##id;
#define COLUMN_FACT_WINDOW(id)
#define COLUMN_FACT_EXITS(id)
#define COLUMN_FACT(id, head, source, ...) COLUMN_FACT_##source(id)
		TOP_COLUMNS(COLUMN_FACT)
	default:
		return ROW_FACT_COUNT;
	}
}

unsigned row_facts_by(enum state_grouping grouping)
{
	unsigned facts = 0;

	for (enum top_column c = 0; c < TOP_COLUMN_STATE_FIRST; c++)
		facts |= column_rows[c].not_in & 1u << grouping ? 0 : column_facts(c);
	return facts;
}

/* No process has so many bytes, or reads so many a second. */
static int64_t as_signed(uint64_t bytes)
{
	return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

int64_t row_facts_number(const struct row_facts *facts, enum row_fact fact)
{
	switch (fact) {
	case ROW_FACT_PRIORITY:
		return facts->priority;
	case ROW_FACT_NICE:
		return facts->nice;
	case ROW_FACT_MEMORY:
		return as_signed(facts->memory_bytes);
	default:
		return as_signed(facts->rates[fact - ROW_FACT_READ]);
	}
}

/* --- of many rows --- */

static struct words key_of(const struct row_subject *subject)
{
	return (struct words){ { subject->is_process ? subject->tgid : subject->tid,
				 subject->is_process } };
}

void row_fact_set_deinit(struct row_fact_set *set)
{
	word_map_deinit(&set->places);
	array_deinit(&set->rows);
}

void row_fact_set_take(struct row_fact_set *set, struct row_facts *items, size_t count)
{
	row_fact_set_deinit(set);
	set->rows.items = items;
	set->rows.count = set->rows.room = count;
	set->places = (struct word_map){ 0 };
	for (size_t i = 0; i < count; i++) {
		uint32_t *place = word_map_at(&set->places, key_of(&items[i].subject));

		if (!place)
			return;
		*place = (uint32_t)i;
	}
}

const struct row_facts *row_fact_set_find(const struct row_fact_set *set,
					  const struct row_subject *subject)
{
	const uint32_t place = set && set->rows.count ? word_map_find(&set->places, key_of(subject))
						      : WORD_MAP_NEW;

	if (place == WORD_MAP_NEW || !row_subject_is(&set->rows.items[place].subject, subject))
		return NULL;
	return &set->rows.items[place];
}
