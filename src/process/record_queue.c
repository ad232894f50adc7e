/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/record_queue.h"

#include <stdlib.h>

struct queued_record {
	uint64_t time_ns;
	size_t offset, length; /* in the bytes */
};

static bool add(struct record_batch *batch, uint64_t time_ns, struct text record)
{
	const struct queued_record queued = { time_ns, batch->bytes.count, record.length };

	if (!array_reserve(&batch->bytes, record.length) || !array_push(&batch->records, queued))
		return false;
	if (record.length)
		memcpy(batch->bytes.items + queued.offset, record.bytes, record.length);
	batch->bytes.count += record.length;
	return true;
}

bool record_queue_add(struct record_queue *queue, uint64_t time_ns, struct text record)
{
	return add(&queue->waiting, time_ns, record);
}

size_t record_queue_bytes(const struct record_queue *queue)
{
	return queue->waiting.bytes.count;
}

static int compare_queued(const void *a, const void *b)
{
	const struct queued_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static struct text bytes_of(const struct record_batch *batch, const struct queued_record *record)
{
	return (struct text){ batch->bytes.items + record->offset, record->length };
}

/* Those from `first` on become the queue. */
static size_t keep_rest(struct record_queue *queue, size_t first)
{
	struct record_batch *from = &queue->waiting, *to = &queue->spare, kept;
	size_t dropped = 0;

	to->bytes.count = to->records.count = 0;
	for (size_t i = first; i < from->records.count; i++) {
		const struct queued_record *record = &from->records.items[i];

		if (!add(to, record->time_ns, bytes_of(from, record)))
			dropped++;
	}
	kept = *to;
	*to = *from;
	*from = kept;
	return dropped;
}

size_t record_queue_take(struct record_queue *queue, uint64_t before_ns, record_visit *visit,
			 void *context)
{
	struct record_batch *batch = &queue->waiting;
	size_t taken = 0;

	if (!batch->records.count)
		return 0;
	qsort(batch->records.items, batch->records.count, sizeof(*batch->records.items),
	      compare_queued);
	for (; taken < batch->records.count; taken++) {
		const struct queued_record *record = &batch->records.items[taken];

		if (record->time_ns >= before_ns)
			break;
		visit(context, bytes_of(batch, record));
	}
	return taken ? keep_rest(queue, taken) : 0;
}

static void batch_deinit(struct record_batch *batch)
{
	array_deinit(&batch->bytes);
	array_deinit(&batch->records);
}

void record_queue_deinit(struct record_queue *queue)
{
	batch_deinit(&queue->waiting);
	batch_deinit(&queue->spare);
}
