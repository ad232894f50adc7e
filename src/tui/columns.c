/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "state/row_facts.h"

/* --- which are chosen --- */

/* The first ones are given; the others follow as they are in the table, with states behind their
 * bar. */
static void order_columns(struct column_choice *choice, const enum top_column *first, size_t count)
{
	bool is_there[TOP_COLUMN_COUNT] = { false };
	size_t at = 0;

	for (; at < count; at++) {
		choice->order[at] = first[at];
		is_there[first[at]] = true;
	}
	for (enum top_column c = 0; c < TOP_COLUMN_STATE_FIRST; c++) {
		if (!is_there[c])
			choice->order[at++] = c;
		for (enum top_column s = TOP_COLUMN_STATE_FIRST;
		     c == TOP_COLUMN_STATES && s < TOP_COLUMN_COUNT; s++)
			if (!is_there[s])
				choice->order[at++] = s;
	}
}

void column_choice_init(struct column_choice *choice)
{
	*choice = (struct column_choice){ .numbers = false };
	for (enum top_column c = 0; c < TOP_COLUMN_COUNT; c++)
		choice->is_on[c] = column_rows[c].is_on;
	order_columns(choice, NULL, 0);
}

static bool is_default(struct text text)
{
	return text.length == strlen("default") &&
	       strncasecmp(text.bytes, "default", text.length) == 0;
}

static struct error *unknown_column(struct text word)
{
	char name[32], all[512] = "", other[COLUMN_WORD_MAX];
	const char *nearest;
	size_t used = 0;

	snprintf(name, sizeof(name), "%.*s", (int)(word.length < 31 ? word.length : 31),
		 word.bytes);
	nearest =
		text_nearest(name, &column_rows[0].word, TOP_COLUMN_COUNT, sizeof(column_rows[0]));
	if (nearest)
		return error_create("unknown column '%s'; did you mean '%s'?", name, nearest);
	for (enum top_column c = 0; c < TOP_COLUMN_STATE_FIRST && used < sizeof(all); c++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s, ",
					 column_word(c, other));
	return error_create("unknown column '%s'; expected: %sor a state", name, all);
}

struct error *column_choice_parse(struct text text, struct column_choice *ret)
{
	struct column_choice choice = { .numbers = false };
	enum top_column chosen[TOP_COLUMN_COUNT];
	size_t count = 0;
	struct text word;

	if (is_default(text_trim(text))) {
		column_choice_init(ret);
		return NULL;
	}
	while (text_cut(&text, ',', &word)) {
		const enum top_column c = column_find(text_trim(word));

		if (c == TOP_COLUMN_COUNT)
			return unknown_column(text_trim(word));
		if (choice.is_on[c])
			return error_create("column '%s' appears twice", column_rows[c].word);
		choice.is_on[c] = true;
		chosen[count++] = c;
	}
	if (!count)
		return error_create("no column");
	order_columns(&choice, chosen, count);
	*ret = choice;
	return NULL;
}

bool column_choice_parse_known(struct text text, struct column_choice *ret,
			       struct text *ret_unknown, size_t *count)
{
	struct column_choice choice = { .numbers = false };
	enum top_column chosen[TOP_COLUMN_COUNT];
	size_t known = 0;
	struct text word;

	*ret_unknown = (struct text){ NULL, 0 };
	while (text_cut(&text, ',', &word)) {
		const enum top_column c = column_find(text_trim(word));

		if (c < TOP_COLUMN_COUNT && !choice.is_on[c]) {
			choice.is_on[c] = true;
			chosen[known++] = c;
		} else if (!(*count)++ || !ret_unknown->bytes) {
			*ret_unknown = text_trim(word);
		}
	}
	if (!known)
		return false;
	order_columns(&choice, chosen, known);
	*ret = choice;
	return true;
}

bool column_choice_is(const struct column_choice *a, const struct column_choice *b)
{
	return memcmp(a->is_on, b->is_on, sizeof(a->is_on)) == 0 &&
	       memcmp(a->order, b->order, sizeof(a->order)) == 0;
}

bool column_choice_is_usual(const struct column_choice *choice)
{
	struct column_choice usual;

	column_choice_init(&usual);
	return column_choice_is(choice, &usual);
}

/* --- facts of rows --- */

unsigned column_choice_facts(const struct column_choice *choice)
{
	unsigned facts = 0;

	for (enum top_column c = 0; c < TOP_COLUMN_COUNT; c++)
		facts |= choice->is_on[c] ? column_facts(c) : 0;
	return facts;
}

/* --- where they are --- */

bool column_is_wanted(const struct column_choice *choice, enum state_grouping grouping,
		      enum top_column column)
{
	bool is_number = choice->numbers && choice->is_on[TOP_COLUMN_STATES] &&
			 column >= TOP_COLUMN_STATE_FIRST &&
			 state_is_main((enum state)(column - TOP_COLUMN_STATE_FIRST));

	if (column_rows[column].not_in & 1u << grouping)
		return false;
	/* No row can be understood without its host; a single host is that of all. */
	if (column == TOP_COLUMN_HOST)
		return choice->has_hosts;
	return is_number ||
	       (choice->is_on[column] && (column != TOP_COLUMN_STATES || !choice->numbers));
}

/* A path needs more than a name: rather without a history. */
#define LEAST_OF_PATH 28

static unsigned least_of(enum top_column column, enum state_grouping grouping)
{
	bool is_path = column == TOP_COLUMN_NAME && grouping == STATE_BY_CGROUP;

	return is_path ? LEAST_OF_PATH : column_rows[column].least;
}

/* All that are wanted, in their order. */
static void list_wanted(struct column_layout *layout, const struct column_choice *choice,
			enum state_grouping grouping)
{
	layout->count = 0;
	for (size_t i = 0; i < TOP_COLUMN_COUNT; i++) {
		const enum top_column c = choice->order[i];

		if (column_is_wanted(choice, grouping, c))
			layout->places[layout->count++] =
				(struct column_place){ c, 0, least_of(c, grouping) };
	}
}

static unsigned whole_width(const struct column_layout *layout)
{
	unsigned sum = layout->count ? (unsigned)layout->count - 1 : 0;

	for (size_t i = 0; i < layout->count; i++)
		sum += layout->places[i].width;
	return sum;
}

/* The one that matters least, of several the last. False when the rest stays. */
static bool leave_out_column(struct column_layout *layout)
{
	size_t least = 0;

	for (size_t i = 1; i < layout->count; i++)
		if (column_rows[layout->places[i].column].leaves >=
		    column_rows[layout->places[least].column].leaves)
			least = i;
	if (!layout->count || !column_rows[layout->places[least].column].leaves)
		return false;
	layout->count--;
	memmove(&layout->places[least], &layout->places[least + 1],
		(layout->count - least) * sizeof(layout->places[0]));
	return true;
}

/* The rest of the width goes to columns that can use it, by their shares: round by round, as some
 * are full. */
static void widen(struct column_layout *layout, unsigned left)
{
	while (left) {
		unsigned shares = 0, given = 0;

		for (size_t i = 0; i < layout->count; i++) {
			const struct column_row *row = &column_rows[layout->places[i].column];

			shares += layout->places[i].width < row->most ? row->share : 0;
		}
		for (size_t i = 0; i < layout->count && shares; i++) {
			struct column_place *place = &layout->places[i];
			const struct column_row *row = &column_rows[place->column];
			unsigned part = (left * row->share + shares - 1) / shares;

			if (part > row->most - place->width)
				part = row->most - place->width;
			if (part > left - given)
				part = left - given;
			place->width += part;
			given += part;
		}
		if (!given)
			return;
		left -= given;
	}
}

void column_layout_make(struct column_layout *layout, const struct column_choice *choice,
			enum state_grouping grouping, unsigned width)
{
	int x = 0;

	list_wanted(layout, choice, grouping);
	while (whole_width(layout) > width && leave_out_column(layout))
		;
	if (whole_width(layout) < width)
		widen(layout, width - whole_width(layout));
	for (size_t i = 0; i < layout->count; i++) {
		layout->places[i].x = x;
		x += (int)layout->places[i].width + 1;
	}
}

bool column_layout_has(const struct column_layout *layout, enum top_column column)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->places[i].column == column)
			return true;
	return false;
}

/* --- orders --- */

size_t column_sorts(enum top_column column, struct state_sort ret[COLUMN_SORTS_MAX])
{
	const struct column_row *row = &column_rows[column];
	size_t count = 0;

	if (column == TOP_COLUMN_STATES) {
		for (; count < BAR_STATES; count++)
			ret[count] = (struct state_sort){ .key = STATE_SORT_STATE,
							  .state = bar_states[count] };
		return count;
	}
	ret[0] = (struct state_sort){ .key = row->key };
	if (row->key == STATE_SORT_STATE)
		ret[0].state = (enum state)(column - TOP_COLUMN_STATE_FIRST);
	return 1;
}
