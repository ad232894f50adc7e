/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/write_copy.h"

static bool has_same_keys(const struct counts *a, const struct counts *b)
{
	if (!a || !b || a->count != b->count || a->count > THREAD_SMAPS_MAX)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].key != b->items[i].key)
			return false;
	return true;
}

/* As counts_write() does, which does not tell lengths. */
static void write_smaps(struct copying *c, const struct counts *smaps)
{
	struct written_thread *last = c->last;

	json_object_begin(c->w);
	for (size_t i = 0; smaps && i < smaps->count; i++) {
		const size_t begin = c->w->used;
		size_t end;

		json_key_text(c->w, name_text(smaps->items[i].key));
		end = c->w->used;
		json_u64(c->w, smaps->items[i].value);
		if (i < THREAD_SMAPS_MAX) {
			last->smaps_keys[i] = (uint16_t)(end - begin);
			last->smaps_values[i] = (uint16_t)(c->w->used - end);
		}
	}
	json_object_end(c->w);
}

static void copy_smaps_values(struct copying *c, const struct counts *smaps,
			      const struct counts *other)
{
	c->seen += 1; /* { */
	for (size_t i = 0; i < smaps->count; i++) {
		const uint16_t length = c->last->smaps_values[i];

		c->seen += c->last->smaps_keys[i];
		if (smaps->items[i].value == other->items[i].value) {
			c->seen += length;
			continue;
		}
		copy_seen(c);
		c->last->smaps_values[i] = (uint16_t)put_number(c, smaps->items[i].value, length);
		replaced(c, length);
	}
	c->seen += 1; /* } */
}

static void replace_smaps(struct copying *c, const struct counts *smaps, size_t length)
{
	begin_writing(c);
	write_smaps(c, smaps);
	end_writing(c);
	replaced(c, length);
}

/* The object is written twice, under two keys. */
void write_copy_smaps(struct copying *c)
{
	const struct counts *smaps = c->thread->smaps_rollup_kib,
			    *other = c->other->smaps_rollup_kib;
	const uint16_t length = c->last->smaps;
	const char *begin;
	size_t distance;

	c->seen += sizeof(SMAPS_KEY) - 1;
	if (!smaps && !other) {
		c->seen += 2 * (size_t)length + sizeof(SMAPS_AGAIN) - 1;
		return;
	}
	copy_seen(c);
	begin = c->at;
	if (c->is_short && has_same_keys(smaps, other))
		copy_smaps_values(c, smaps, other);
	else
		replace_smaps(c, smaps, length);
	c->seen += sizeof(SMAPS_AGAIN) - 1;
	copy_seen(c);
	if (!c->is_short) {
		replace_smaps(c, smaps, length);
		return;
	}
	distance = (size_t)(c->at - begin);
	c->last->smaps = (uint16_t)(distance - (sizeof(SMAPS_AGAIN) - 1));
	if (c->is_repeated)
		write_note_repeat(c->t->repeats, (size_t)(c->at - c->w->bytes), c->last->smaps,
				  distance);
	memcpy(c->at, begin, c->last->smaps);
	c->at += c->last->smaps;
	replaced(c, length);
}
