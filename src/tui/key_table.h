/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of a screen and their actions: a row each. The help and the hints in the last line are
 * made of the rows. A screen has one table, and modes that its keys are for.
 *
 *	err = keys_read(press, screen);			calls press() for each key
 *	row = key_table_find(&table, mode, is_replay, key);
 *	err = row ? row->act(screen, row->argument) : NULL;
 */
#ifndef TUI_KEY_TABLE_H
#define TUI_KEY_TABLE_H

#include <stdio.h>

#include "tui/paint.h"

#define KEY_ESCAPE          27
#define KEY_CONTROL(letter) ((letter) - 'a' + 1)

/* LIVE: in a replay such a key only says why it does nothing, and is not offered. */
enum key_when { KEY_ALWAYS, KEY_IN_REPLAY, KEY_LIVE };

#define KEY_CODES_MAX 4

struct key_row {
	unsigned modes;           /* in which it is a key: bits that the screen gives a meaning */
	unsigned section;         /* of the help */
	int codes[KEY_CODES_MAX]; /* of ncurses, or ASCII */
	const char *label;        /* how it is written in the help; NULL: not there */
	const char *hint;         /* in a word or two, for the last line; NULL: not there */
	const char *prose;
	struct error *(*act)(void *screen, int argument);
	int argument;
	enum key_when when;
};

/* Arguments of keys that scroll: as many lines as are seen, and all lines. */
#define KEY_ARGUMENT_PAGE 0x10000
#define KEY_ARGUMENT_ALL  0x20000

/* Begins the definition of an action for `act` of rows: `name` takes any screen, and calls
 * `of_type(type *tui, int argument)`, whose body follows. */
#define KEY_ACTION(type, of_type, name)                        \
	static struct error *of_type(type *tui, int argument); \
	static struct error *name(void *screen, int argument)  \
	{                                                      \
		return of_type(screen, argument);              \
	}                                                      \
	static struct error *of_type(type *tui, int argument)

struct key_table {
	const struct key_row *rows;
	size_t count;
	const char *const *heads; /* of sections */
	unsigned section_count;
	/* Sections by how much their hints matter: a narrow screen has no room for all. */
	const unsigned *hint_order;
};

/* Does the key apply to a replay, or to a screen that is none, so that the help shows it? */
static inline bool key_is_offered(const struct key_row *row, bool is_replay)
{
	return row->when == KEY_ALWAYS || (row->when == KEY_IN_REPLAY) == is_replay;
}

/* The row of a key in this mode; NULL: it is none there. */
const struct key_row *key_table_find(const struct key_table *table, unsigned mode, bool is_replay,
				     int key);

/* The help: a head for each section that has keys now, and a line for each key. */
void key_table_print(FILE *out, const struct key_table *table, bool is_replay);

/* --- the last line --- */

/* Columns of a line that a click can hit: [x, end). */
struct tui_spot {
	int y, x, end;
};

static inline bool tui_hits(const struct tui_spot *spot, int y, int x)
{
	return spot->end && spot->y == y && x >= spot->x && x < spot->end;
}

#define KEY_HINTS_MAX 32

/* The hints as last drawn. */
struct key_hints {
	struct {
		struct tui_spot spot;
		const struct key_row *row;
	} items[KEY_HINTS_MAX];
	size_t count;
};

/* The hints of this mode that fit before the end of the pen. */
void key_hints_draw(struct key_hints *hints, const struct key_table *table, unsigned mode,
		    bool is_replay, struct pen *pen);

/* The key of the hint there; NULL: there is none. */
const struct key_row *key_hints_at(const struct key_hints *hints, int y, int x);

/* What is said in the last line for some seconds, in place of the hints. */
struct key_message {
	char text[160];
	bool is_error;
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: there is none */
};

void key_message_set(struct key_message *message, bool is_error, const char *format, va_list values)
	__attribute__((format(printf, 3, 0)));

/* --- the terminal's keys --- */

/* A key, or a character of UTF-8 (then `key` is 0, unless it is ASCII). `*ret_is_over`: no further
 * key is read. */
typedef struct error *key_pressed(void *context, int key, struct text character, bool *ret_is_over);

/* Call `press` for each key that was pressed. */
struct error *keys_read(key_pressed *press, void *context) MUST_CHECK;

#endif
