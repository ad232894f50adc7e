/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host as a whole: pressure, sched_ext, what its context says, its counters.
 */
#include <stdio.h>
#include <string.h>

#include "base/name_map.h"
#include "compare/host_fields.h"
#include "compare/psi_rows.h"
#include "compare/report_fill.h"

/* A reading as a datum. */
static struct datum datum_of(struct reading reading)
{
	if (!reading.measured)
		return (struct datum){ 0 };
	return datum_number(reading.value);
}

/* --- pressure --- */

/* Both sides are walked one after the other; the baseline's numbers wait in a list. */
struct pressure {
	struct report *report;
	struct datum before[PSI_NUMBERS];
	size_t count;
	bool second;
};

static bool take_pressure(void *context, const struct measure *measure, bool is_total,
			  struct reading reading)
{
	struct pressure *pressure = context;
	struct datum datum = datum_of(reading);

	(void)is_total;
	if (pressure->second)
		return report_add(pressure->report, measure, NULL, 0,
				  &pressure->before[pressure->count++], &datum);
	pressure->before[pressure->count++] = datum;
	return true;
}

static bool fill_pressure(struct report *report)
{
	static const struct psi none;
	struct pressure pressure = { .report = report };
	const struct psi *before = report->baseline ? &report->baseline->psi : &none;

	if (!psi_each(report, SECTION_HOST_PRESSURE, before, take_pressure, &pressure))
		return false;
	pressure.second = true;
	pressure.count = 0;
	return psi_each(report, SECTION_HOST_PRESSURE, &report->candidate->psi, take_pressure,
			&pressure);
}

/* --- sched_ext --- */

static const struct {
	const char *name;
	size_t offset;
	bool is_total;
} ext_numbers[] = {
	{ "switch_all", offsetof(struct sched_ext, switch_all), false },
	{ "nr_rejected", offsetof(struct sched_ext, nr_rejected), true },
	{ "hotplug_seq", offsetof(struct sched_ext, hotplug_seq), true },
	{ "enable_seq", offsetof(struct sched_ext, enable_seq), true },
};

static struct datum ext_datum(const struct sched_ext *ext, size_t offset)
{
	if (!ext)
		return (struct datum){ 0 };
	return datum_of(*(const struct reading *)(const void *)((const char *)ext + offset));
}

static const struct sched_ext *ext_of(const struct ctprof_snapshot *s)
{
	return s ? s->sched_ext : NULL;
}

static bool fill_sched_ext(struct report *report)
{
	const struct sched_ext *x = ext_of(report->baseline), *y = ext_of(report->candidate);
	struct measure *state = report_measure(report, SECTION_SCHED_EXT, TEXT("state"));
	struct datum before = datum_text(x && x->state ? x->state->bytes : NULL);
	struct datum after = datum_text(y && y->state ? y->state->bytes : NULL);

	if (!state || !report_add(report, state, NULL, 0, &before, &after))
		return false;
	for (size_t i = 0; i < array_length(ext_numbers); i++) {
		struct measure *measure =
			report_measure(report, SECTION_SCHED_EXT, text_of(ext_numbers[i].name));

		if (!measure)
			return false;
		measure->unit = UNIT_COUNT;
		measure->is_total = ext_numbers[i].is_total;
		before = ext_datum(x, ext_numbers[i].offset);
		after = ext_datum(y, ext_numbers[i].offset);
		if (!report_add(report, measure, NULL, 0, &before, &after))
			return false;
	}
	return true;
}

/* --- the context --- */

static enum unit unit_of_field(const char *name)
{
	return text_ends(text_of(name), TEXT("_kib"))     ? UNIT_KIB
	       : text_ends(text_of(name), TEXT("_ticks")) ? UNIT_TICKS
							  : UNIT_NONE;
}

static bool add_fact(struct report *report, const char *name, struct datum before,
		     struct datum after)
{
	struct measure *measure = report_measure(report, SECTION_HOST, text_of(name));

	if (!measure)
		return false;
	measure->unit = unit_of_field(name);
	return report_add(report, measure, NULL, 0, &before, &after);
}

static bool add_pair(struct report *report, const struct host_field *field, const struct name *key,
		     const struct name *before, const struct name *after)
{
	_cleanup_free_ char *name = NULL;

	return asprintf(&name, "%s.%s%s", field->name, field->prefix, key->bytes) >= 0 &&
	       add_fact(report, name, datum_text(before ? before->bytes : NULL),
			datum_text(after ? after->bytes : NULL));
}

/* Index the pairs by key. */
static bool index_pairs(const struct label_pairs *pairs, struct name_map *ret)
{
	name_map_init(ret);
	for (size_t i = 0; i < pairs->count; i++)
		if (!name_map_put(ret, name_text(pairs->items[i].key), (uint32_t)i))
			return false;
	return true;
}

static const struct name *find_pair(const struct label_pairs *pairs, const struct name_map *index,
				    const struct name *key)
{
	uint32_t found = name_map_find(index, name_text(key));

	return found == WORD_MAP_NEW ? NULL : pairs->items[found].value;
}

/* The keys of the candidate, then those that only the baseline has. */
static bool add_pairs(struct report *report, const struct host_field *field,
		      const struct label_pairs *x, const struct label_pairs *y)
{
	struct name_map of_x, of_y;
	bool done = index_pairs(x, &of_x);

	done = index_pairs(y, &of_y) && done;
	for (size_t i = 0; done && i < y->count; i++)
		done = add_pair(report, field, y->items[i].key,
				find_pair(x, &of_x, y->items[i].key), y->items[i].value);
	for (size_t i = 0; done && i < x->count; i++)
		done = find_pair(y, &of_y, x->items[i].key) ||
		       add_pair(report, field, x->items[i].key, x->items[i].value, NULL);
	name_map_deinit(&of_x);
	name_map_deinit(&of_y);
	return done;
}

static struct datum text_datum(const struct host_context *host, const struct host_field *field)
{
	const struct name *text = host_text(host, field);

	return datum_text(text ? text->bytes : NULL);
}

static bool fill_context(struct report *report)
{
	static const struct host_context nothing;
	const struct host_context *x = report->baseline ? report->baseline->host : NULL;
	const struct host_context *y = report->candidate->host;
	bool done = true;

	if (!y || (report->comparing && !x))
		return true;
	x = x ? x : &nothing;
	for (size_t i = 0; done && i < HOST_FIELD_COUNT; i++) {
		const struct host_field *field = &host_fields[i];

		if (field->momentary && report->comparing)
			continue;
		if (field->kind == HOST_TEXT)
			done = add_fact(report, field->name, text_datum(x, field),
					text_datum(y, field));
		else if (field->kind == HOST_NUMBER)
			done = add_fact(report, field->name, datum_of(*host_number(x, field)),
					datum_of(*host_number(y, field)));
		else
			done = add_pairs(report, field, host_pairs(x, field), host_pairs(y, field));
	}
	return done;
}

/* --- counters --- */

/* Counters that are values as of now. */
static bool is_gauge(enum counter_kind kind, struct text key)
{
	static const char *const names[] = { "running", "blocked", "threads", "in_flight" };
	/* These of vmstat's nr_ only grow (mm/vmstat.c, vmstat_text[]). */
	static const char *const grow[] = {
		"nr_tlb_remote_flush",
		"nr_tlb_remote_flush_received",
		"nr_tlb_local_flush_all",
		"nr_tlb_local_flush_one",
		"nr_dirtied",
		"nr_written",
		"nr_throttled_written",
		"nr_vmscan_write",
		"nr_vmscan_immediate_reclaim",
		"nr_foll_pin_acquired",
		"nr_foll_pin_released",
	};

	if (kind == COUNTERS_VMSTAT) {
		for (size_t i = 0; i < array_length(grow); i++)
			if (text_equal(key, text_of(grow[i])))
				return false;
		return text_starts(key, TEXT("nr_")) || text_equal(key, TEXT("workingset_nodes"));
	}
	for (size_t i = 0; i < array_length(names); i++)
		if (text_equal(key, text_of(names[i])))
			return true;
	return false;
}

static enum unit unit_of_counter(enum counter_kind kind, struct text key)
{
	static const struct {
		const char *ending;
		enum unit unit;
	} endings[] = {
		{ "_ticks", UNIT_TICKS },
		{ "_ns", UNIT_NS },
		{ "_ms", UNIT_MS },
		{ "_bytes", UNIT_BYTES },
	};

	for (size_t i = 0; kind != COUNTERS_VMSTAT && i < array_length(endings); i++)
		if (text_ends(key, text_of(endings[i].ending)))
			return endings[i].unit;
	return UNIT_COUNT;
}

#define HUNDREDTHS "_x100"

/* Load averages are kept in hundredths, and read as what they are. */
static bool add_counter(struct report *report, const struct counter_set *set,
			const struct name *group, uint32_t place, struct text key,
			const uint64_t *x, const uint64_t *y)
{
	bool hundredths = text_ends(key, TEXT(HUNDREDTHS));
	struct datum before = { 0 }, after = { 0 };
	struct measure *measure;

	if (hundredths)
		key.length -= strlen(HUNDREDTHS);
	measure = report_measure_of(report, SECTION_HOST_COUNTERS, set->kind, key);
	if (!measure)
		return false;
	measure->kind = set->kind;
	measure->unit = hundredths ? UNIT_NONE : unit_of_counter(set->kind, key);
	measure->is_total = !hundredths && !is_gauge(set->kind, key);
	if (x)
		before = datum_number(*x);
	if (y)
		after = datum_number(*y);
	if (hundredths && x)
		before = (struct datum){ .kind = DATUM_REAL, .real = (double)*x / 100 };
	if (hundredths && y)
		after = (struct datum){ .kind = DATUM_REAL, .real = (double)*y / 100 };
	return report_add(report, measure, group, place, &before, &after);
}

/* "cpu0", "block vda", "vmstat". */
static const struct name *label_of_set(struct name_map *labels, const struct counter_set *set)
{
	const char *kind = set->kind == COUNTERS_CPU ? "" : counter_kind_names[set->kind];
	_cleanup_free_ char *label = NULL;
	int length = asprintf(&label, "%s%s%s", kind, *kind && set->name->length ? " " : "",
			      set->name->bytes);

	return length < 0 ? NULL : names_intern(&labels->names, label, (size_t)length);
}

/* The sets of a snapshot by their labels. */
static bool index_sets(const struct ctprof_snapshot *s, struct name_map *ret)
{
	name_map_init(ret);
	for (size_t i = 0; s && i < s->counters.count; i++) {
		const struct name *label = label_of_set(ret, &s->counters.items[i]);

		if (!label || !name_map_put(ret, name_text(label), (uint32_t)i))
			return false;
	}
	return true;
}

static bool index_counts(const struct counter_set *set, struct name_map *ret)
{
	name_map_init(ret);
	for (size_t i = 0; set && i < set->counts.count; i++)
		if (!name_map_put(ret, name_text(set->counts.items[i].key), (uint32_t)i))
			return false;
	return true;
}

static const uint64_t *find_count(const struct counter_set *set, const struct name_map *index,
				  const struct name *key)
{
	uint32_t found = name_map_find(index, name_text(key));

	return found == WORD_MAP_NEW ? NULL : &set->counts.items[found].value;
}

/* Add a set that a side may lack: the counters of the candidate, and then those that only the
 * baseline's kernel has. */
static bool add_set(struct report *report, const struct name *group, const struct counter_set *x,
		    const struct counter_set *y, uint32_t place)
{
	struct name_map of_x, of_y;
	bool done = index_counts(x, &of_x);

	done = index_counts(y, &of_y) && done;
	for (size_t i = 0; done && y && i < y->counts.count; i++) {
		const struct count *count = &y->counts.items[i];

		done = add_counter(report, y, group, place, name_text(count->key),
				   find_count(x, &of_x, count->key), &count->value);
	}
	for (size_t i = 0; done && x && i < x->counts.count; i++) {
		const struct count *count = &x->counts.items[i];

		done = find_count(y, &of_y, count->key) ||
		       add_counter(report, x, group, place, name_text(count->key), &count->value,
				   NULL);
	}
	name_map_deinit(&of_x);
	name_map_deinit(&of_y);
	return done;
}

static bool add_labelled(struct report *report, struct name_map *labels,
			 const struct counter_set *set, const struct counter_set *x,
			 const struct counter_set *y, uint32_t place)
{
	const struct name *label = label_of_set(labels, set), *group;

	group = label ? names_intern(&report->names, label->bytes, label->length) : NULL;
	if (!group)
		return false;
	return !view_matches(report->view, group) || add_set(report, group, x, y, place);
}

/* The set with the label of `like`, or NULL. False without memory. */
static bool find_set(const struct ctprof_snapshot *s, struct name_map *labels,
		     const struct counter_set *like, const struct counter_set **ret)
{
	const struct name *label = label_of_set(labels, like);
	const uint32_t found = label ? name_map_find(labels, name_text(label)) : WORD_MAP_NEW;

	*ret = found == WORD_MAP_NEW ? NULL : &s->counters.items[found];
	return label;
}

static bool fill_counters(struct report *report)
{
	const struct ctprof_snapshot *x = report->baseline, *y = report->candidate;
	struct name_map of_x, of_y;
	bool done = index_sets(x, &of_x);
	uint32_t place = 0;

	done = index_sets(y, &of_y) && done;
	for (size_t i = 0; done && i < y->counters.count; i++) {
		const struct counter_set *set = &y->counters.items[i], *before;

		done = find_set(x, &of_x, set, &before) &&
		       add_labelled(report, &of_y, set, before, set, place++);
	}
	for (size_t i = 0; done && x && i < x->counters.count; i++) {
		const struct counter_set *set = &x->counters.items[i], *after;

		done = find_set(y, &of_y, set, &after) &&
		       (after || add_labelled(report, &of_x, set, set, NULL, place++));
	}
	name_map_deinit(&of_x);
	name_map_deinit(&of_y);
	return done;
}

struct error *report_fill_host(struct report *report)
{
	static const struct {
		enum section section;
		bool (*fill)(struct report *report);
	} fills[] = {
		{ SECTION_HOST_PRESSURE, fill_pressure },
		{ SECTION_SCHED_EXT, fill_sched_ext },
		{ SECTION_HOST, fill_context },
		{ SECTION_HOST_COUNTERS, fill_counters },
	};

	for (size_t i = 0; i < array_length(fills); i++)
		if (report_has(report, fills[i].section) && !fills[i].fill(report))
			return &error_no_memory;
	return NULL;
}
