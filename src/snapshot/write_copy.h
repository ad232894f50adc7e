/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the files that write threads: write_thread.c, write_blank.c, which prepares
 * the text of a thread with nothing measured, and write_smaps.c, which writes the memory of a
 * process. All others include write_thread.h.
 */
#ifndef SNAPSHOT_WRITE_COPY_H
#define SNAPSHOT_WRITE_COPY_H

#include <string.h>

#include "snapshot/write_thread.h"

/* Before the values of the members before the metrics. */
extern const struct text write_head_keys[THREAD_HEAD_COUNT];

/* Before the memory of a process, which is there twice. */
#define SMAPS_KEY   ",\"smaps_rollup_kb\":"
#define SMAPS_AGAIN ",\"smaps_rollup_kib\":"

/* The room for a thread that is short, when it is begun. */
#define WRITE_ROOM (JSON_ROOM_LEAST / 2)

/* Prepare the text of a thread with nothing measured, and the rows of all metrics. */
void write_blank(struct thread_writer *t);

/* What the threads of a kind have alike that have the metrics of this one. */
void write_note_measured(const struct thread_writer *t, struct thread_likeness *kind,
			 const struct ctprof_thread *thread);

/* The text of a thread that is made from that of another one. */
struct copying {
	struct thread_writer *t;
	struct json_writer *w;
	const struct ctprof_thread *thread, *other;
	struct written_thread *last; /* what was written of the other one, and then of this one */
	bool is_short;               /* nothing is handed out before its end */
	bool is_repeated;            /* the other text is in the same output */
	char *at;                    /* where the text goes on */
	const char *from, *seen;     /* in the other text: what was not copied yet, and is to be */
};

/* There is room for a piece more behind each. */
static inline char *put(char *at, const char *from, size_t length)
{
	memcpy(at, from, THREAD_PIECE_LEAST);
	if (length > THREAD_PIECE_LEAST)
		memcpy(at + THREAD_PIECE_LEAST, from + THREAD_PIECE_LEAST,
		       length - THREAD_PIECE_LEAST);
	return at + length;
}

/* The text from `at` on is that before it by `distance`. A repeat that directly follows another one
 * with the same distance extends it. Without memory the text counts as new. */
void write_note_repeat(struct thread_repeats *repeats, size_t at, size_t length, size_t distance);

static inline void copy_seen(struct copying *c)
{
	const size_t length = (size_t)(c->seen - c->from);

	if (c->is_repeated)
		write_note_repeat(c->t->repeats, (size_t)(c->at - c->w->bytes), length,
				  (size_t)(c->at - c->from));
	c->at = put(c->at, c->from, length);
	c->from = c->seen;
}

/* How many of the first 8 bytes are the same. */
static inline size_t alike(const char *a, const char *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x == y ? sizeof(x) : (size_t)__builtin_ctzll(x ^ y) / 8;
}

/* Write a number instead of the next `length` bytes of the other text; returns its length. Numbers
 * that grow mostly begin alike: that is a part of the repeat before. */
static inline size_t put_number(struct copying *c, uint64_t value, size_t length)
{
	const size_t digits = digits_u64(c->at, value);
	size_t same;

	if (c->is_repeated) {
		same = alike(c->at, c->seen);
		same = same < digits ? same : digits;
		if (same && same <= length)
			write_note_repeat(c->t->repeats, (size_t)(c->at - c->w->bytes), same,
					  (size_t)(c->at - c->seen));
	}
	c->at += digits;
	return digits;
}

/* Instead of the next `length` bytes of the other text stands what was written since copy_seen().
 */
static inline void replaced(struct copying *c, size_t length)
{
	c->seen += length;
	c->from = c->seen;
}

/* Write through the writer, which may hand out what it has, of a thread that is not short. */
static inline void begin_writing(struct copying *c)
{
	json_placed(c->w, c->at);
}

static inline void end_writing(struct copying *c)
{
	c->at = json_place(c->w, WRITE_ROOM);
}

/* Instead of the memory of the other thread. */
void write_copy_smaps(struct copying *c);

#endif
