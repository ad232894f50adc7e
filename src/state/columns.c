/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/columns.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "state/view.h"

#define COLUMN_ON         true
#define COLUMN_OFF        false
#define IS_RIGHT_RIGHT    true
#define IS_RIGHT_LEFT     false
#define KEY_OWN(id)       STATE_SORT_##id
#define KEY_AS_ACTIVE(id) STATE_SORT_ACTIVE
#define KEY_AS_STATE(id)  STATE_SORT_STATE

const struct column_row column_rows[TOP_COLUMN_COUNT] = {
#define COLUMN_ROW(id, a_head, from, a_name, a_heading, in, order, width, widest, part, when, \
		   groupings, side, on, text)                                                 \
	[TOP_COLUMN_##id] = { .word = #id,                                                    \
			      .head = a_head,                                                 \
			      .prose = text,                                                  \
			      .name = a_name,                                                 \
			      .heading = a_heading,                                           \
			      .source = COLUMN_FROM_##from,                                   \
			      .unit = COLUMN_IN_##in,                                         \
			      .key = KEY_##order(id),                                         \
			      .least = width,                                                 \
			      .most = widest,                                                 \
			      .share = part,                                                  \
			      .leaves = when,                                                 \
			      .not_in = groupings,                                            \
			      .is_right = IS_RIGHT_##side,                                    \
			      .is_on = COLUMN_##on },
	TOP_COLUMNS(COLUMN_ROW)
#undef COLUMN_ROW
#define STATE_ROW(id, main_one, a_word, label, letter, text)               \
	[TOP_COLUMN_STATE_FIRST + STATE_##id] = { .word = a_word,          \
						  .head = label,           \
						  .prose = text,           \
						  .key = STATE_SORT_STATE, \
						  .least = 6,              \
						  .most = 6,               \
						  .leaves = 2,             \
						  .is_right = true },
		THREAD_STATES(STATE_ROW)
#undef STATE_ROW
};

char *column_word(enum top_column column, char buffer[COLUMN_WORD_MAX])
{
	const char *word = column_rows[column].word;
	size_t i = 0;

	for (; word[i] && i < COLUMN_WORD_MAX - 1; i++)
		buffer[i] = (char)tolower((unsigned char)word[i]);
	buffer[i] = '\0';
	return buffer;
}

static bool is_word(struct text word, const char *of)
{
	return word.length == strlen(of) && strncasecmp(word.bytes, of, word.length) == 0;
}

enum top_column column_find(struct text word)
{
	enum top_column c = 0;

	while (c < TOP_COLUMN_COUNT && !is_word(word, column_rows[c].word) &&
	       !is_word(word, column_rows[c].head))
		c++;
	return c;
}

enum top_column column_of_key(enum state_sort_key key, enum state state)
{
	enum top_column c = 0;

	if (key == STATE_SORT_STATE)
		return TOP_COLUMN_STATE_FIRST + state;
	while (c < TOP_COLUMN_COUNT && column_rows[c].key != key)
		c++;
	return c;
}
