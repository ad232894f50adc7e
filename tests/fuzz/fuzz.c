/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "capture/thread_files.h"

struct text fuzz_copy(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size ? size : 1);

	must(bytes);
	if (size)
		memcpy(bytes, data, size);
	return (struct text){ bytes, size };
}

void fuzz_release(struct text text)
{
	free((char *)(uintptr_t)text.bytes);
}

bool fuzz_is_inside(struct text part, struct text whole)
{
	return part.bytes >= whole.bytes && part.length <= whole.length &&
	       (size_t)(part.bytes - whole.bytes) <= whole.length - part.length;
}

struct ctprof_snapshot *fuzz_snapshot(void)
{
	struct ctprof_snapshot *snapshot = NULL;
	struct error *err = snapshot_create(&snapshot);

	must(!err);
	return snapshot;
}

void fuzz_check_error(struct error *err)
{
	must(err->message && *err->message);
	for (const char *p = err->message; *p; p++)
		must((unsigned char)*p >= 0x20 && *p != 0x7f);
	error_destroy(err);
}

/* --- files of threads --- */

static bool comes_from(const struct metric *metric, enum metric_source_id source)
{
	for (size_t i = 0; i < METRIC_SOURCES_MAX; i++)
		if (metric->sources[i].id == source)
			return true;
	return false;
}

static bool is_untouched(const struct thread_values *values, const struct metric *metric)
{
	if (metric->type == VALUE_label || metric->type == VALUE_cpu_set)
		return !metric_load_name(values, metric);
	return !metric_load_u64(values, metric);
}

static void check_record(const struct thread_record *record, enum metric_source_id source)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		bool measured = metric_set_has(&record->measured, (enum metric_id)i);

		must(!measured || comes_from(&metrics[i], source));
		must(measured || is_untouched(&record->values, &metrics[i]));
		must(!measured || metrics[i].type != VALUE_label ||
		     metric_load_name(&record->values, &metrics[i]));
	}
}

/* A second reading of the same bytes says the same. */
static void check_repeats(struct taker *taker, enum metric_source_id source, struct text bytes,
			  const struct ctprof_thread *first, bool understood)
{
	struct ctprof_thread again = { .tid = first->tid, .tgid = first->tgid };

	must(take_thread_file(taker, source, bytes, &again) == understood);
	must(memcmp(&again.record.measured, &first->record.measured,
		    sizeof(again.record.measured)) == 0);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *metric = &metrics[i];

		if (metric->type == VALUE_label || metric->type == VALUE_cpu_set)
			must(metric_load_name(&again.record.values, metric) ==
			     metric_load_name(&first->record.values, metric));
		else
			must(metric_load_u64(&again.record.values, metric) ==
			     metric_load_u64(&first->record.values, metric));
	}
}

int fuzz_thread_file(enum metric_source_id source, const uint8_t *data, size_t size)
{
	static struct plan plan;
	struct text bytes = fuzz_copy(data, size);
	struct ctprof_snapshot *snapshot = fuzz_snapshot();
	struct taker taker = { .plan = &plan, .snapshot = snapshot };
	struct ctprof_thread *thread = snapshot_add_thread(snapshot);
	bool understood;

	must(thread);
	if (!plan.count)
		plan_init(&plan);
	thread->tid = thread->tgid = 1;
	understood = take_thread_file(&taker, source, bytes, thread);
	check_record(&thread->record, source);
	check_repeats(&taker, source, bytes, thread, understood);
	if (!thread->comm)
		thread->comm = snapshot_name(snapshot, TEXT("name"));
	fuzz_check_round_trip(snapshot);
	array_deinit(&taker.cpus);
	snapshot_destroy(snapshot);
	fuzz_release(bytes);
	return 0;
}

/* --- snapshots --- */

struct bytes {
	ARRAY(char);
};

static struct error *append(void *context, const void *bytes, size_t length)
{
	struct bytes *text = context;

	must(array_reserve(text, length));
	memcpy(text->items + text->count, bytes, length);
	text->count += length;
	return NULL;
}

struct text fuzz_write(const struct ctprof_snapshot *snapshot)
{
	struct bytes text = { 0 };
	struct error *err = snapshot_write_json(snapshot, append, &text);

	must(!err);
	return (struct text){ text.items, text.count };
}

static struct error *feed(struct snapshot_parser *parser, struct text json, size_t piece)
{
	struct error *err = NULL;

	for (size_t done = 0; done < json.length && !err; done += piece) {
		size_t left = json.length - done;

		err = snapshot_parser_feed(
			parser, (struct text){ json.bytes + done, left < piece ? left : piece });
	}
	return err ? err : snapshot_parser_finish(parser);
}

struct ctprof_snapshot *fuzz_parse(struct text json, size_t piece)
{
	struct ctprof_snapshot *snapshot = fuzz_snapshot();
	struct snapshot_parser *parser = NULL;
	struct error *err = snapshot_parser_create(snapshot, &parser);

	must(!err);
	err = feed(parser, json, piece);
	must(snapshot_parser_offset(parser) <= json.length);
	snapshot_parser_destroy(parser);
	if (!err)
		return snapshot;
	fuzz_check_error(err);
	snapshot_destroy(snapshot);
	return NULL;
}

void fuzz_check_round_trip(const struct ctprof_snapshot *snapshot)
{
	struct text first = fuzz_write(snapshot), second;
	struct ctprof_snapshot *back = fuzz_parse(first, first.length);

	must(back);
	second = fuzz_write(back);
	must(text_equal(first, second));
	must(back->origin == ORIGIN_CTPROF);
	must(back->threads.count == snapshot->threads.count);
	for (size_t i = 0; i < back->threads.count; i++)
		must(memcmp(&snapshot_thread(back, i)->record.measured,
			    &snapshot_thread(snapshot, i)->record.measured,
			    sizeof(struct metric_set)) == 0);
	snapshot_destroy(back);
	fuzz_release(second);
	fuzz_release(first);
}
