/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/distribution.h"
#include "os/cgroup_place.h"
#include "serve/stream.h"
#include "serve/stream_columns.h"
#include "state/reading.h"

#define COLUMN_OR_NULL(...) COLUMN_BY(put_number, __VA_ARGS__)

/* TICK_NONE is null. */
static void put_number(struct json_writer *w, uint32_t number)
{
	if (number == TICK_NONE)
		json_null(w);
	else
		json_u64(w, number);
}

static void put_from(struct json_writer *w, const char *table, uint32_t from)
{
	json_key(w, table);
	json_object_begin(w);
	json_key(w, "from");
	json_u64(w, from);
}

/* --- the dictionary --- */

static void put_names(struct json_writer *w, const struct tick_store *store, uint32_t from,
		      uint32_t to)
{
	put_from(w, "names", from);
	json_key(w, "add");
	json_array_begin(w);
	for (size_t i = from; i < to; i++)
		json_text(w, name_text(store->names.items[i]));
	json_array_end(w);
	json_object_end(w);
}

static void put_frames(struct json_writer *w, const struct tick_store *store, uint32_t from,
		       uint32_t to)
{
	const struct frame *frames = store->book->frames.items + from;
	const size_t count = to - from;

	put_from(w, "frames", from);
	COLUMN_OR_NULL(w, "name", i, count, store_name_number(store, frames[i].name));
	COLUMN_OR_NULL(w, "module", i, count, store_name_number(store, frames[i].module));
	COLUMN(w, "kind", i, count, frames[i].kind);
	COLUMN(w, "traits", i, count, store->traits.items[from + i]);
	json_object_end(w);
}

static void put_nodes(struct json_writer *w, const struct tick_store *store, uint32_t from,
		      uint32_t to)
{
	const struct node *nodes = store->book->nodes.items + from;
	const size_t count = to - from;

	put_from(w, "nodes", from);
	COLUMN_OR_NULL(w, "parent", i, count, nodes[i].parent);
	COLUMN(w, "frame", i, count, nodes[i].frame);
	json_object_end(w);
}

static void put_container(struct json_writer *w, const struct name *cgroup)
{
	struct text container;

	if (place_container_shown(name_text(cgroup), &container))
		json_text(w, container);
	else
		json_null(w);
}

static void put_threads(struct json_writer *w, const struct tick_store *store, uint32_t from,
			uint32_t to)
{
	const struct profile_thread *threads = store->book->threads.items + from;
	const size_t count = to - from;

	put_from(w, "threads", from);
	COLUMN(w, "tid", i, count, threads[i].tid);
	COLUMN(w, "tgid", i, count, threads[i].tgid);
	COLUMN_OR_NULL(w, "uid", i, count, threads[i].uid);
	COLUMN(w, "name", i, count, store_name_number(store, threads[i].name));
	COLUMN(w, "process", i, count, store_name_number(store, threads[i].process));
	COLUMN_OR_NULL(w, "cgroup", i, count, store_name_number(store, threads[i].cgroup));
	COLUMN_BY(put_container, w, "container", i, count, threads[i].cgroup);
	COLUMN(w, "kernel", i, count, threads[i].is_kernel);
	json_object_end(w);
}

static void put_wakers(struct json_writer *w, const struct tick_store *store, uint32_t from,
		       uint32_t to)
{
	const struct waker *wakers = store->book->wakers.items + from;
	const size_t count = to - from;

	put_from(w, "wakers", from);
	COLUMN(w, "tid", i, count, wakers[i].tid);
	COLUMN(w, "name", i, count, store_name_number(store, wakers[i].name));
	json_object_end(w);
}

static void put_word(struct json_writer *w, const char *word)
{
	if (word && *word)
		json_string(w, word);
	else
		json_null(w);
}

/* The threads whose values a metric records, as "only comm nginx"; null: all. */
static void put_scope(struct json_writer *w, const struct kstats_table *table)
{
	_cleanup_free_ char *text = kstats_scope_text(&table->scope);

	/* Skip the ", " at its beginning. */
	put_word(w, text && *text ? text + 2 : NULL);
}

static void put_metrics(struct json_writer *w, const struct tick_store *store, uint32_t from,
			uint32_t to)
{
	struct kstats_table *const *metrics = store->metrics.items + from;
	const size_t count = to - from;

	put_from(w, "metrics", from);
	COLUMN_BY(json_string, w, "name", i, count, metrics[i]->name);
	COLUMN_BY(put_word, w, "unit", i, count, metrics[i]->unit);
	COLUMN_BY(put_word, w, "recorder", i, count, metrics[i]->recorder);
	COLUMN_BY(put_word, w, "start", i, count, metrics[i]->start);
	COLUMN_BY(put_word, w, "end", i, count, metrics[i]->end);
	COLUMN_BY(put_scope, w, "scope", i, count, metrics[i]);
	COLUMN(w, "frac_bits", i, count, metrics[i]->frac_bits);
	json_object_end(w);
}

static void put_dictionary(struct json_writer *w, const struct tick_store *store,
			   const struct book_size *from, const struct book_size *to)
{
	put_names(w, store, from->names, to->names);
	put_frames(w, store, from->frames, to->frames);
	put_nodes(w, store, from->nodes, to->nodes);
	put_threads(w, store, from->threads, to->threads);
	put_wakers(w, store, from->wakers, to->wakers);
	put_metrics(w, store, from->metrics, to->metrics);
}

/* --- samples, waits and times --- */

static void put_samples(struct json_writer *w, const struct store_tick *tick)
{
	const struct sample *samples = tick->samples.items;
	const size_t count = tick->samples.count;

	json_key(w, "samples");
	json_object_begin(w);
	COLUMN(w, "thread", i, count, samples[i].thread);
	COLUMN_OR_NULL(w, "node", i, count, samples[i].node);
	COLUMN(w, "class", i, count, samples[i].class);
	COLUMN(w, "state", i, count, samples[i].state);
	COLUMN(w, "ns", i, count, samples[i].ns);
	COLUMN(w, "count", i, count, samples[i].count);
	COLUMN(w, "longest_ns", i, count, samples[i].longest_ns);
	COLUMN_OR_NULL(w, "waker", i, count, samples[i].waker ? samples[i].waker - 1 : TICK_NONE);
	json_object_end(w);
}

/* Write the waits that begin or stop lasting in this tick. `is_first`: the client has no earlier
 * tick, so write all waits that last, and none that ended; the column `count` is 0 for those that
 * began in earlier ticks. */
static struct error *put_lasting(struct json_writer *w, const struct tick_store *store,
				 const struct store_tick *tick, bool is_first)
{
	struct lasting_map map = { 0 };
	struct {
		ARRAY(struct lasting);
	} waits = { 0 };
	struct error *err = NULL;

	if (is_first) {
		err = store_lasting_before(store, (size_t)(tick - store->ticks.items), &map);
		for (size_t i = 0; !err && i < tick->ended.count; i++)
			map_remove(&map, tick->ended.items[i]);
		map_for_each(&map, slot) if (!err && !array_push(&waits, slot->value)) err =
			&error_no_memory;
		map_deinit(&map);
	}
	const size_t earlier = waits.count;

	for (size_t i = 0; !err && i < tick->begun.count; i++)
		if (!array_push(&waits, tick->begun.items[i]))
			err = &error_no_memory;
	json_key(w, "lasting");
	json_object_begin(w);
	json_key(w, "begin");
	json_object_begin(w);
	COLUMN(w, "thread", i, waits.count, waits.items[i].thread);
	COLUMN_OR_NULL(w, "node", i, waits.count, waits.items[i].node);
	COLUMN(w, "class", i, waits.count, waits.items[i].class);
	COLUMN(w, "state", i, waits.count, waits.items[i].state);
	COLUMN(w, "count", i, waits.count, i >= earlier);
	json_object_end(w);
	COLUMN(w, "end", i, is_first ? 0 : tick->ended.count, tick->ended.items[i]);
	json_object_end(w);
	array_deinit(&waits);
	return err;
}

static void put_cpu(struct json_writer *w, const struct store_tick *tick)
{
	json_key(w, "cpu");
	json_object_begin(w);
	COLUMN(w, "thread", i, tick->cpu.count, tick->cpu.items[i].thread);
	COLUMN(w, "ns", i, tick->cpu.count, tick->cpu.items[i].ns);
	json_object_end(w);
}

/* --- the host --- */

static void put_host(struct json_writer *w, const struct tick_host *host)
{
	static const char *const pressures[] = {
#define PRESSURE_NAME(id, name, ...) [TICK_PRESSURE_##id] = name,
		TICK_PRESSURES(PRESSURE_NAME)
#undef PRESSURE_NAME
	};

	json_key(w, "host");
	json_object_begin(w);
	json_key(w, "cpu_ns");
	json_u64(w, host->cpu_ns);
	json_key(w, "memory_total");
	json_u64(w, host->memory_total);
	json_key(w, "memory_available");
	json_u64(w, host->memory_available);
	json_key(w, "load");
	json_real(w, (double)host->load_hundredths / 100);
	json_key(w, "pressure");
	json_object_begin(w);
	for (size_t i = 0; i < array_length(pressures); i++) {
		json_key(w, pressures[i]);
		if (host->pressure_ns[i] == TICK_UNMEASURED)
			json_null(w);
		else
			json_u64(w, host->pressure_ns[i]);
	}
	json_object_end(w);
	json_object_end(w);
}

static void put_losses(struct json_writer *w, const struct profile_losses *losses)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "lost", losses->lost },
		{ "lost_ns", losses->lost_ns },
		{ "missed", losses->missed },
		{ "truncated", losses->user_truncated + losses->kernel_truncated },
		{ "programs_ns", losses->run_ns },
		{ "own_cpu_ns", losses->own_cpu_ns },
	};

	json_key(w, "losses");
	json_object_begin(w);
	for (size_t i = 0; i < array_length(rows); i++) {
		json_key(w, rows[i].name);
		json_u64(w, rows[i].value);
	}
	json_object_end(w);
}

/* --- metrics of kstats --- */

/* A metric of a tick, and its values, the first of metric->values. */
struct kstats_part {
	const struct store_kstats *metric;
	const struct tick_value *values;
	unsigned frac_bits;
};

static void put_sum(struct json_writer *w, const struct kstats_part *part)
{
	unsigned __int128 sum = 0;

	for (uint32_t i = 0; i < part->metric->values; i++) {
		const struct kstats_slot slot = { part->values[i].count, part->values[i].sum };

		sum += kstats_slot_sum(&slot, part->values[i].slot, part->frac_bits);
	}
	json_u64(w, sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum);
}

static void put_slots(struct json_writer *w, const struct kstats_part *part)
{
	json_array_begin(w);
	for (uint32_t i = 0; i < part->metric->values; i++)
		json_u64(w, part->values[i].slot);
	json_array_end(w);
}

static void put_counts(struct json_writer *w, const struct kstats_part *part)
{
	json_array_begin(w);
	for (uint32_t i = 0; i < part->metric->values; i++)
		json_u64(w, part->values[i].count);
	json_array_end(w);
}

/* Write the sum of all losses; null: the recorder does not count losses. */
static void put_lost(struct json_writer *w, const struct store_kstats *metric)
{
	uint64_t lost = 0;

	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		lost += metric->losses_known & 1u << loss ? metric->losses[loss] : 0;
	if (metric->losses_known)
		json_u64(w, lost);
	else
		json_null(w);
}

static struct error *put_kstats(struct json_writer *w, const struct tick_store *store,
				const struct store_tick *tick)
{
	const size_t count = tick->kstats.count;
	const struct store_kstats *metrics = tick->kstats.items;
	const struct tick_value *values = tick->values.items;
	_cleanup_free_ struct kstats_part *parts = calloc(count + 1, sizeof(*parts));

	if (!parts)
		return &error_no_memory;
	for (size_t i = 0; i < count; values += metrics[i++].values)
		parts[i] =
			(struct kstats_part){ &metrics[i], values,
					      store->metrics.items[metrics[i].metric]->frac_bits };
	json_key(w, "kstats");
	json_object_begin(w);
	COLUMN(w, "metric", i, count, metrics[i].metric);
	COLUMN(w, "active", i, count, metrics[i].is_active);
	COLUMN_BY(put_lost, w, "lost", i, count, &metrics[i]);
	COLUMN_BY(put_sum, w, "sum", i, count, &parts[i]);
	COLUMN_BY(put_slots, w, "slots", i, count, &parts[i]);
	COLUMN_BY(put_counts, w, "counts", i, count, &parts[i]);
	json_key(w, "omitted");
	json_u64(w, tick->kstats_omitted);
	json_object_end(w);
	return NULL;
}

/* --- events --- */

struct error *stream_write_tick(struct json_writer *w, const struct tick_store *store,
				const struct store_tick *tick, struct stream_position *position)
{
	const bool is_first = !position->has_ticks;
	struct error *err;

	json_object_begin(w);
	json_key(w, "seq");
	json_u64(w, tick->seq);
	json_key(w, "begin_ms");
	json_u64(w, tick->begun_unix_ns / 1000000);
	json_key(w, "end_ms");
	json_u64(w, (tick->begun_unix_ns + tick->ns) / 1000000);
	json_key(w, "ns");
	json_u64(w, tick->ns);
	put_dictionary(w, store, &position->sent, &tick->after);
	put_samples(w, tick);
	err = put_lasting(w, store, tick, is_first);
	put_cpu(w, tick);
	put_host(w, &tick->host);
	put_losses(w, &tick->losses);
	if (!err)
		err = put_kstats(w, store, tick);
	json_object_end(w);
	position->seq = tick->seq;
	position->has_ticks = true;
	position->sent = tick->after;
	return err;
}
