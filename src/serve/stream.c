/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "kstats/distribution.h"
#include "profile/preset.h"
#include "serve/query.h"
#include "serve/web.h"
#include "state/reading.h"

/* --- columns --- */

/* A member whose array has `value`, written by `put`, for each `i` below `count`. */
#define COLUMN_BY(put, w, name, i, count, value)     \
	do {                                         \
		json_key(w, name);                   \
		json_array_begin(w);                 \
		for (size_t i = 0; i < (count); i++) \
			put(w, value);               \
		json_array_end(w);                   \
	} while (0)
#define COLUMN(...)         COLUMN_BY(json_u64, __VA_ARGS__)
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

static void put_names(struct json_writer *w, const struct store *store, uint32_t from, uint32_t to)
{
	put_from(w, "names", from);
	json_key(w, "add");
	json_array_begin(w);
	for (size_t i = from; i < to; i++)
		json_text(w, name_text(store->names.items[i]));
	json_array_end(w);
	json_object_end(w);
}

static void put_frames(struct json_writer *w, const struct store *store, uint32_t from, uint32_t to)
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

static void put_nodes(struct json_writer *w, const struct store *store, uint32_t from, uint32_t to)
{
	const struct node *nodes = store->book->nodes.items + from;
	const size_t count = to - from;

	put_from(w, "nodes", from);
	COLUMN_OR_NULL(w, "parent", i, count, nodes[i].parent);
	COLUMN(w, "frame", i, count, nodes[i].frame);
	json_object_end(w);
}

static void put_threads(struct json_writer *w, const struct store *store, uint32_t from,
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
	COLUMN(w, "kernel", i, count, threads[i].is_kernel);
	json_object_end(w);
}

static void put_wakers(struct json_writer *w, const struct store *store, uint32_t from, uint32_t to)
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

/* What only some threads' values are of: "only comm nginx"; NULL: of all. */
static void put_scope(struct json_writer *w, const struct kstats_table *table)
{
	_cleanup_free_ char *text = kstats_scope_text(&table->scope);

	/* It begins with ", ". */
	put_word(w, text && *text ? text + 2 : NULL);
}

static void put_metrics(struct json_writer *w, const struct store *store, uint32_t from,
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

static void put_dictionary(struct json_writer *w, const struct store *store,
			   const struct book_size *from, const struct book_size *to)
{
	put_names(w, store, from->names, to->names);
	put_frames(w, store, from->frames, to->frames);
	put_nodes(w, store, from->nodes, to->nodes);
	put_threads(w, store, from->threads, to->threads);
	put_wakers(w, store, from->wakers, to->wakers);
	put_metrics(w, store, from->metrics, to->metrics);
}

/* --- what threads did --- */

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

/* `is_first`: all waits that last are news for the client, and those that ended are none. Those
 * that began in earlier ticks do not count. */
static struct error *put_lasting(struct json_writer *w, const struct store *store,
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

/* A metric and its part of the values. */
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

/* Null: nothing that is lost is counted. */
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

static struct error *put_kstats(struct json_writer *w, const struct store *store,
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

struct error *stream_write_tick(struct json_writer *w, const struct store *store,
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

static void put_class_table(struct json_writer *w)
{
	json_key(w, "classes");
	json_object_begin(w);
	COLUMN_BY(json_string, w, "name", i, CLASS_COUNT, profile_classes[i].name);
	COLUMN_BY(json_text, w, "letter", i, CLASS_COUNT,
		  ((struct text){ &profile_classes[i].letter, 1 }));
	COLUMN(w, "off_cpu", i, CLASS_COUNT, profile_classes[i].is_off_cpu);
	COLUMN_BY(json_string, w, "prose", i, CLASS_COUNT, profile_classes[i].prose);
	json_object_end(w);
}

static void put_state_table(struct json_writer *w)
{
	json_key(w, "states");
	json_object_begin(w);
	COLUMN_BY(json_string, w, "name", i, STATE_COUNT, state_rows[i].name);
	COLUMN_BY(json_string, w, "label", i, STATE_COUNT, state_rows[i].label);
	COLUMN_BY(json_text, w, "letter", i, STATE_COUNT,
		  ((struct text){ &state_rows[i].letter, 1 }));
	COLUMN(w, "main", i, STATE_COUNT, state_rows[i].main);
	COLUMN_BY(json_string, w, "prose", i, STATE_COUNT, state_rows[i].prose);
	json_object_end(w);
}

/* Terms of presets, as files have them (profile/filter.h), without comments. */
static void put_preset(struct json_writer *w, const struct preset *preset)
{
	struct text rest = { preset->begin, (size_t)(preset->end - preset->begin) }, line;

	json_array_begin(w);
	while (text_cut(&rest, '\n', &line))
		if (text_starts(line, TEXT("hide ")))
			json_text(w, (struct text){ line.bytes + 5, line.length - 5 });
	json_array_end(w);
}

static void put_presets(struct json_writer *w)
{
	json_key(w, "presets");
	json_object_begin(w);
	for (size_t i = 0; i < preset_count; i++) {
		json_key(w, presets[i].name);
		put_preset(w, &presets[i]);
	}
	json_object_end(w);
}

void stream_write_about(struct json_writer *w, const struct store *store, uint64_t interval_ns)
{
	const struct profile_meta *meta = &store->book->meta;
	static const char *const kinds[] = { [FRAME_USER] = "user",
					     [FRAME_KERNEL] = "kernel",
					     [FRAME_NOTE] = "note",
					     [FRAME_IDLE] = "idle" };

	json_object_begin(w);
	json_key(w, "version");
	json_name(w, meta->version);
	json_key(w, "host");
	json_name(w, meta->host);
	json_key(w, "kernel");
	json_name(w, meta->kernel);
	json_key(w, "cpus");
	json_u64(w, meta->cpus);
	json_key(w, "mode");
	json_name(w, meta->mode);
	json_key(w, "target");
	json_name(w, meta->target);
	json_key(w, "interval_ns");
	json_u64(w, interval_ns);
	json_key(w, "kept_ns");
	json_u64(w, store->options.kept_ns);
	json_key(w, "on_cpu_period_ns");
	json_u64(w, meta->on_cpu_period_ns);
	put_class_table(w);
	put_state_table(w);
	COLUMN_BY(json_string, w, "kinds", i, array_length(kinds), kinds[i]);
	put_presets(w);
	json_object_end(w);
}

/* --- the routes --- */

struct error *stream_about(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const struct web *web = context;
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err;

	*ret = web->store->ticks.count ? HTTP_DONE : HTTP_LATER;
	if (*ret == HTTP_LATER)
		return NULL;
	err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	stream_write_about(&w, web->store, web->options->interval_ns);
	return json_writer_finish(&w);
}

bool stream_parse_id(const char *id, struct stream_position *ret)
{
	struct stream_position position = { 0 };
	struct text rest = text_of(id), generation;

	if (!text_cut(&rest, '.', &generation) || !text_u64(generation, &position.generation) ||
	    !text_u64(rest, &position.seq))
		return false;
	*ret = position;
	return true;
}

/* The tick before the first that a new client gets, by `history` of its query. */
static struct error *seq_before(const struct http_exchange *exchange, const struct store *store,
				uint64_t *ret)
{
	const uint64_t now = store_now(store);
	uint64_t seconds = UINT64_MAX / NS_PER_S;
	struct error *err = query_number(exchange, "history", seconds, &seconds);
	size_t first, end;

	if (err)
		return err;
	seconds *= NS_PER_S;
	store_range(store, now > seconds ? now - seconds : 0, UINT64_MAX, &first, &end);
	*ret = store->last_seq - store->ticks.count + first;
	return NULL;
}

static struct error *put_event(struct http_exchange *exchange, const char *head)
{
	return http_write(exchange, head, strlen(head));
}

static struct error *send_about(struct http_exchange *exchange, const struct web *web)
{
	struct error *err = put_event(exchange, "event: about\ndata: ");
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };

	if (!err)
		err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	stream_write_about(&w, web->store, web->options->interval_ns);
	err = json_writer_finish(&w);
	return err ? err : put_event(exchange, "\n\n");
}

static struct error *send_reset(struct http_exchange *exchange, uint64_t generation)
{
	char event[80];

	snprintf(event, sizeof(event), "event: reset\ndata: {\"generation\":%" PRIu64 "}\n\n",
		 generation);
	return put_event(exchange, event);
}

static struct error *send_tick(struct http_exchange *exchange, const struct store *store,
			       const struct store_tick *tick, struct stream_position *position)
{
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err;
	char head[80];

	snprintf(head, sizeof(head),
		 "event: tick\nid: %" PRIu64 ".%" PRIu64 "\ndata: ", store->generation, tick->seq);
	err = put_event(exchange, head);
	if (!err)
		err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	err = stream_write_tick(&w, store, tick, position);
	if (!err)
		err = json_writer_finish(&w);
	return err ? err : put_event(exchange, "\n\n");
}

/* Begin, or begin anew, with the tick behind `seq`. */
static struct error *begin(struct http_exchange *exchange, const struct store *store, uint64_t seq,
			   struct stream_position *position)
{
	*position = (struct stream_position){ .generation = store->generation, .seq = seq };
	return send_reset(exchange, store->generation);
}

static struct stream_position *new_position(struct http_exchange *exchange, const struct web *web)
{
	struct stream_position *position = calloc(1, sizeof(*position));
	const char *id = http_header(exchange, "Last-Event-ID");
	const struct store_tick *tick;

	if (!position)
		return NULL;
	http_keep(exchange, position, free);
	/* What a client has of an earlier connection, if that is still kept. */
	if (id && stream_parse_id(id, position) && position->generation == web->store->generation &&
	    (tick = store_tick(web->store, position->seq))) {
		position->has_ticks = true;
		position->sent = tick->after;
	} else {
		*position = (struct stream_position){ 0 };
	}
	return position;
}

struct error *stream_live(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const struct web *web = context;
	const struct store *store = web->store;
	struct stream_position *position = http_kept(exchange);
	struct error *err = NULL;
	uint64_t oldest, before;

	*ret = HTTP_LATER;
	if (!store->ticks.count)
		return NULL;
	*ret = HTTP_MORE;
	if (!position) {
		http_type(exchange, "text/event-stream");
		position = new_position(exchange, web);
		err = position ? send_about(exchange, web) : &error_no_memory;
	}
	if (!err)
		err = seq_before(exchange, store, &before);
	if (err)
		return err;
	oldest = store->last_seq - store->ticks.count;
	if (!position->generation)
		err = begin(exchange, store, before, position);
	else if (position->generation != store->generation || position->seq < oldest)
		err = begin(exchange, store, oldest, position);
	while (!err && position->seq < store->last_seq)
		err = send_tick(exchange, store, store_tick(store, position->seq + 1), position);
	return err;
}
