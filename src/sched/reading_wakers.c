/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <fcntl.h>
#include <inttypes.h>
#include <profile.skel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Of several records with a number, the last one has it. */
static struct error *index_tids(struct profile_reading *r)
{
	if (!word_map_reserve(&r->tids, r->record_count))
		return &error_no_memory;
	for (uint32_t number = 1; number < r->record_count; number++) {
		const struct profile_record *t = profile_chunks_thread(&r->session->chunks, number);
		const struct profile_record *other;
		uint32_t *known;

		if (!t || !t->task.tid)
			continue;
		known = word_map_at(&r->tids, (struct words){ { t->task.tid } });
		if (!known)
			return &error_no_memory;
		other = *known == WORD_MAP_NEW ? NULL
					       : profile_chunks_thread(&r->session->chunks, *known);
		if (!other || other->task.begun <= t->task.begun)
			*known = number;
	}
	return NULL;
}

static const struct profile_record *record_of_tid(struct profile_reading *r, uint32_t tid)
{
	const uint32_t number = word_map_find(&r->tids, (struct words){ { tid } });

	return number == WORD_MAP_NEW ? NULL : profile_chunks_thread(&r->session->chunks, number);
}

/* The name of a thread that is not among the targets; "" if it has ended. */
static const struct name *name_in_proc(struct profile_reading *r, uint32_t tid)
{
	struct file_buffer buffer = { 0 };
	const struct name *name;
	struct text comm;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", tid);
	if (file_read(AT_FDCWD, path, &buffer, &comm))
		comm = TEXT("");
	comm = text_trim(comm);
	name = profile_name(r->profile, comm.bytes, comm.length);
	free(buffer.bytes);
	return name;
}

static const struct name *bracketed(struct profile_reading *r, const char *word)
{
	return profile_name(r->profile, word, strlen(word));
}

static struct error *name_waker(struct profile_reading *r, uint32_t number, struct waker *ret)
{
	const bool is_record = r->session->program->rodata->config.wants_waker_records;
	const struct profile_record *record;
	struct error *err = NULL;

	*ret = (struct waker){ 0 };
	if (number == WAKER_INTERRUPT || number == WAKER_NOT_YET) {
		ret->name = bracketed(r, number == WAKER_INTERRUPT ? "[interrupt]" : "[not ended]");
		return ret->name ? NULL : &error_no_memory;
	}
	if (!is_record && !r->tids.count)
		err = index_tids(r);
	if (err)
		return err;
	record = is_record ? profile_chunks_thread(&r->session->chunks, number)
			   : record_of_tid(r, number);
	ret->tid = record ? record->task.tid : is_record ? 0 : number;
	ret->name = record ? reading_name(r->profile, record->task.name, sizeof(record->task.name))
			   : name_in_proc(r, ret->tid);
	return ret->name ? NULL : &error_no_memory;
}

struct error *reading_waker(struct profile_reading *r, uint32_t number, uint32_t *ret)
{
	struct waker waker;
	struct error *err;
	uint32_t *known;

	*ret = 0;
	if (!number)
		return NULL;
	known = word_map_at(&r->wakers, (struct words){ { number } });
	if (!known)
		return &error_no_memory;
	if (*known == WORD_MAP_NEW) {
		err = name_waker(r, number, &waker);
		if (err)
			return err;
		if (!array_push(&r->profile->wakers, waker))
			return &error_no_memory;
		*known = (uint32_t)r->profile->wakers.count;
	}
	*ret = *known;
	return NULL;
}
