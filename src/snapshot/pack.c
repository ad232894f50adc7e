/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot as a compressed file. Several threads format and compress parts of it, each as a zstd
 * frame, so that the text of a part is compressed in the cache of the CPU that made it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/outfile.h"
#include "base/thread.h"
#include "snapshot/file.h"
#include "snapshot/write_parts.h"
#include "snapshot/write_thread.h"

/* Some hundred bytes of each frame repeat what others have. */
#define PART_THREADS ((size_t)384)

/* Room for a part whose names and numbers are not longer than most; a longer one is several frames.
 */
#define PART_ROOM   ((size_t)1 << 20)

#define PACKERS_MAX 4

struct part {
	ARRAY(char);
};

struct packing {
	const struct ctprof_snapshot *snapshot;
	struct part *parts;
	size_t count;
	_Atomic size_t next;
	_Atomic bool failed; /* do not begin another part */
};

/* A thread that packs. */
struct packer {
	struct packing *packing;
	pthread_t thread;
	struct error *error;
};

/* --- in each thread --- */

static struct error *append(void *context, const void *bytes, size_t length)
{
	struct part *part = context;

	if (!array_reserve(part, length))
		return &error_no_memory;
	memcpy(part->items + part->count, bytes, length);
	part->count += length;
	return NULL;
}

/* Each packer's own. */
struct press {
	struct thread_writer threads;
	struct thread_repeats repeats;
	struct zstream_writer zstd;
	struct json_writer json;
};

/* Text that repeats less is searched for more. */
static bool repeats_most(const struct thread_repeats *repeats, size_t length)
{
	size_t repeated = 0;

	for (size_t i = 0; i < repeats->count; i++)
		repeated += repeats->items[i].length;
	return repeated > length / 4 * 3;
}

static struct error *compress_text(void *context, const void *bytes, size_t length)
{
	struct press *press = context;
	struct thread_repeats *repeats = &press->repeats;
	struct error *err = repeats_most(repeats, length)
				    ? zstream_write_repeats(&press->zstd, bytes, length,
							    repeats->items, repeats->count)
				    : zstream_write_frame(&press->zstd, bytes, length);

	repeats->count = repeats->end = 0;
	return err;
}

/* What is not of threads goes into frames of its own. */
static struct error *write_part(const struct packing *packing, size_t index, struct press *press)
{
	const struct ctprof_snapshot *s = packing->snapshot;
	size_t first = index * PART_THREADS, end = first + PART_THREADS;
	struct json_writer *w = &press->json;
	struct error *err = NULL;

	if (index) {
		json_continue(w);
	} else {
		snapshot_write_before(w, s);
		err = json_writer_finish(w);
	}
	for (size_t i = first; i < end && i < s->threads.count && !err; i++)
		thread_write(&press->threads, w, snapshot_thread(s, i));
	if (!err)
		err = json_writer_finish(w);
	if (!err && index + 1 == packing->count) {
		snapshot_write_behind(w, s);
		err = json_writer_finish(w);
	}
	return err;
}

static struct error *open_press(struct press *press)
{
	struct error *err = zstream_writer_init(&press->zstd, append, NULL);

	thread_writer_init(&press->threads, &press->repeats);
	press->repeats = (struct thread_repeats){ 0 };
	press->json = (struct json_writer){ 0 };
	return err ? err : json_writer_init_room(&press->json, PART_ROOM, compress_text, press);
}

static void close_press(struct press *press)
{
	json_writer_deinit(&press->json);
	zstream_writer_deinit(&press->zstd);
	array_deinit(&press->repeats);
}

static struct error *pack_parts(struct packing *packing, bool is_helper)
{
	struct press press;
	struct error *err = open_press(&press);
	const bool is_ready = !err;
	size_t i;

	while (!err && !atomic_load(&packing->failed) &&
	       (i = atomic_fetch_add(&packing->next, 1)) < packing->count) {
		press.zstd.context = &packing->parts[i];
		err = write_part(packing, i, &press);
	}
	close_press(&press);
	/* A helper without memory has taken no part: the others write all of them. */
	if (!is_ready && is_helper) {
		error_destroy(err);
		return NULL;
	}
	if (err)
		atomic_store(&packing->failed, true);
	return err;
}

static void *pack(void *argument)
{
	struct packer *packer = argument;

	packer->error = pack_parts(packer->packing, true);
	return NULL;
}

/* --- all of it --- */

/* This thread and some more, as far as there are CPUs and threads. */
static struct error *pack_all(struct packing *packing)
{
	struct packer packers[PACKERS_MAX - 1];
	unsigned most = cpus_allowed(), started = 0;
	struct error *err;

	if (most > PACKERS_MAX)
		most = PACKERS_MAX;
	for (; started + 1 < most && started + 1 < packing->count; started++) {
		packers[started] = (struct packer){ .packing = packing };
		if (pthread_create(&packers[started].thread, NULL, pack, &packers[started]))
			break;
	}
	err = pack_parts(packing, false);
	while (started--) {
		pthread_join(packers[started].thread, NULL);
		if (err)
			error_destroy(packers[started].error);
		else
			err = packers[started].error;
	}
	return err;
}

static struct error *hand_out(const struct packing *packing, zstream_sink sink, void *context)
{
	struct error *err = NULL;

	for (size_t i = 0; i < packing->count && !err; i++)
		err = sink(context, packing->parts[i].items, packing->parts[i].count);
	return err;
}

static struct error *pack_into(const struct ctprof_snapshot *s, zstream_sink sink, void *context)
{
	struct packing packing = { .snapshot = s };
	struct error *err;

	packing.count = s->threads.count ? (s->threads.count - 1) / PART_THREADS + 1 : 1;
	packing.parts = calloc(packing.count, sizeof(*packing.parts));
	if (!packing.parts)
		return &error_no_memory;
	err = pack_all(&packing);
	if (!err)
		err = hand_out(&packing, sink, context);
	for (size_t i = 0; i < packing.count; i++)
		array_deinit(&packing.parts[i]);
	free(packing.parts);
	return err;
}

struct error *snapshot_save(const struct ctprof_snapshot *s, const char *path)
{
	struct outfile file;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = pack_into(s, outfile_write, &file);
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}

struct error *snapshot_pack(const struct ctprof_snapshot *s, char **ret, size_t *ret_length)
{
	struct part packed = { 0 };
	struct error *err = pack_into(s, append, &packed);
	char *exact;

	if (err) {
		array_deinit(&packed);
		return err;
	}
	/* Many may wait in memory. */
	exact = realloc(packed.items, packed.count);
	*ret = exact ? exact : packed.items;
	*ret_length = packed.count;
	return NULL;
}
