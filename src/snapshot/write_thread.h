/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads as JSON: nine tenths of a file, and of the time that writing takes.
 *
 *	thread_writer_init(&t);
 *	for (size_t i = 0; i < s->threads.count; i++)
 *		thread_write(&t, w, snapshot_thread(s, i));
 *
 * Most members of most threads are nothing: not measured, or 0. So the text of a thread with
 * nothing measured is made once, and a thread is pieces of that with its own values between them.
 */
#ifndef SNAPSHOT_WRITE_THREAD_H
#define SNAPSHOT_WRITE_THREAD_H

#include "base/json_writer.h"
#include "snapshot/fields.h"

#define METRIC(type, name, ...) +sizeof(",\"" #name "\":false")
enum {
	THREAD_BLANK_MAX = 0
#include "metric/metrics.def"
};
#undef METRIC

#define THREAD_TAIL_MAX (256 + BITS_TEXT_MAX)

struct thread_writer {
	/* `,"policy":"","nice":0,...`: of each row where it begins, and where its value does. */
	char blank[THREAD_BLANK_MAX];
	uint16_t begin[METRIC_COUNT + 1], value[METRIC_COUNT];
	struct metric_set rows; /* that stand in a file ... */
	struct metric_set wide; /* ... and are numbers of 64 bits */
	struct metric_set
		seldom; /* that stand in a file where they were measured, and nowhere else */
	/* The end of a thread says what was measured, which is the same for many in a row. */
	struct bits tail_bits;
	char tail[THREAD_TAIL_MAX];
	size_t tail_length; /* 0: there was no thread yet */
};

void thread_writer_init(struct thread_writer *t);

void thread_write(struct thread_writer *t, struct json_writer *w,
		  const struct ctprof_thread *thread);

#endif
