/* SPDX-License-Identifier: BSD-2-Clause */
#include <profile.pb-c.h>
#include <string.h>

#include "profile/files.h"
#include "profile/gzip.h"
#include "profile/import.h"
#include "profile/pprof.h"
#include "profile/pprof_unpack.h"
#include "profile/schema.h"

#define UNPACKED_MAX ((size_t)256 << 20)

/* Frames of all stacks together: locations are said once and may be long, so few bytes could make
 * frames without end. */
#define FRAMES_FLAT_MAX ((size_t)64 * 1024)
#define FRAMES_PER_BYTE 16

/* Limits of kept records if all differ: some hundred bytes each. A host has at most four million
 * threads, and the stacks of a real profile have much in common. */
#define NODES_MAX   4000000u
#define THREADS_MAX 1000000u

struct pprof_reader {
	struct profile *profile;
	const Pprof__Profile *message;
	struct word_map functions, locations, mappings, threads; /* by id, to a place */
	size_t steps, steps_max;
	/* The meaning of a value of a sample. */
	struct value_type {
		uint64_t scale; /* to ns; 0: no time */
		uint16_t class; /* where no label says it */
		bool is_count;
	} * types;
	bool has_time;
};

/* An index of the string table, or "" where there is none such. */
static const char *string(const struct pprof_reader *r, int64_t index)
{
	return index >= 0 && (uint64_t)index < r->message->n_string_table
		       ? r->message->string_table[index]
		       : "";
}

static struct error *intern_string(const struct pprof_reader *r, int64_t index,
				   const struct name **ret)
{
	return import_name(r->profile, text_of(string(r, index)), ret);
}

/* --- ids --- */

#define INDEX(map, count, items)                                    \
	({                                                          \
		struct error *err_ = NULL;                          \
		for (size_t i_ = 0; i_ < (count) && !err_; i_++)    \
			err_ = index_one(map, (items)[i_]->id, i_); \
		err_;                                               \
	})

static struct error *index_one(struct word_map *map, uint64_t id, size_t place)
{
	uint32_t *number = place < WORD_MAP_NEW ? word_map_at(map, (struct words){ { id } }) : NULL;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW)
		*number = (uint32_t)place;
	return NULL;
}

static struct error *index_all(struct pprof_reader *r)
{
	const Pprof__Profile *m = r->message;
	struct error *err = INDEX(&r->functions, m->n_function, m->function);

	if (!err)
		err = INDEX(&r->locations, m->n_location, m->location);
	return err ? err : INDEX(&r->mappings, m->n_mapping, m->mapping);
}

/* --- what values mean --- */

static const struct {
	const char *unit;
	uint64_t ns;
} time_units[] = {
	{ "nanoseconds", 1 }, { "nanosecond", 1 },
	{ "ns", 1 },          { "microseconds", 1000 },
	{ "us", 1000 },       { "milliseconds", 1000000 },
	{ "ms", 1000000 },    { "seconds", 1000000000 },
	{ "s", 1000000000 },
};

/* Sample types of blocked time: those of ctprof and of Go's runtime. */
static const char *const blocked_types[] = { "off", "delay", "wait", "block" };

static struct value_type meaning(const char *type, const char *unit)
{
	struct value_type meaning = { .class = CLASS_ON_CPU, .is_count = !strcmp(unit, "count") };

	for (size_t i = 0; i < array_length(time_units); i++)
		if (!strcmp(unit, time_units[i].unit))
			meaning.scale = time_units[i].ns;
	for (size_t i = 0; i < array_length(blocked_types); i++)
		if (!strncmp(type, blocked_types[i], strlen(blocked_types[i])))
			meaning.class = CLASS_INTERRUPTIBLE;
	return meaning;
}

/* Values of the type that is the sum of others would count twice. */
static void drop_sum(struct pprof_reader *r)
{
	const Pprof__Profile *m = r->message;
	size_t times = 0;

	for (size_t i = 0; i < m->n_sample_type; i++)
		times += r->types[i].scale != 0;
	for (size_t i = 0; times > 1 && i < m->n_sample_type; i++)
		if (!strcmp(string(r, m->sample_type[i]->type), PPROF_WALL))
			r->types[i].scale = 0;
}

static struct error *take_types(struct pprof_reader *r)
{
	const Pprof__Profile *m = r->message;
	const struct name *event;
	struct error *err;

	if (!m->n_sample_type)
		return error_create("not a pprof profile: it has no sample types");
	r->types = calloc(m->n_sample_type, sizeof(*r->types));
	if (!r->types)
		return &error_no_memory;
	for (size_t i = 0; i < m->n_sample_type; i++) {
		r->types[i] = meaning(string(r, m->sample_type[i]->type),
				      string(r, m->sample_type[i]->unit));
		r->has_time |= r->types[i].scale != 0;
	}
	drop_sum(r);
	if (r->has_time)
		return NULL;
	err = intern_string(r, m->sample_type[m->n_sample_type - 1]->type, &event);
	if (err)
		return err;
	return array_push(&r->profile->events, event) ? NULL : &error_no_memory;
}

/* --- stacks --- */

/* Files in brackets are of the kernel, but for those that it puts into processes. */
static bool is_kernel(struct text file)
{
	return text_starts(file, TEXT("[")) && !text_equal(file, TEXT("[vdso]")) &&
	       !text_equal(file, TEXT("[vsyscall]")) && !text_equal(file, TEXT("[uprobes]"));
}

static struct error *take_module(const struct pprof_reader *r, uint64_t mapping,
				 struct frame *frame)
{
	uint32_t place = word_map_find(&r->mappings, (struct words){ { mapping } });
	struct text file;

	if (!mapping || place == WORD_MAP_NEW)
		return NULL;
	file = text_of(string(r, r->message->mapping[place]->filename));
	if (is_kernel(file)) {
		frame->kind = FRAME_KERNEL;
		if (text_starts(file, TEXT("[kernel")))
			return NULL;
		file = (struct text){ file.bytes + 1, file.length - 1 };
		file.length -= text_ends(file, TEXT("]"));
	}
	return file.length ? import_name(r->profile, file, &frame->module) : NULL;
}

static struct error *read_function(const struct pprof_reader *r, const Pprof__Line *line,
				   struct frame *frame)
{
	uint32_t place = word_map_find(&r->functions, (struct words){ { line->function_id } });
	const Pprof__Function *function;
	struct error *err;

	if (place == WORD_MAP_NEW)
		return NULL;
	function = r->message->function[place];
	err = intern_string(r, function->name ? function->name : function->system_name,
			    &frame->name);
	if (!err && *string(r, function->filename))
		err = intern_string(r, function->filename, &frame->source);
	if (!err && line->line > 0 && line->line <= UINT32_MAX)
		frame->line = (uint32_t)line->line;
	return err;
}

static struct error *add_frame(struct pprof_reader *r, const struct frame *frame, uint32_t *node)
{
	struct frame added = *frame;
	uint32_t number;
	struct error *err;

	if (++r->steps > r->steps_max)
		return error_create("its stacks are longer than its size allows");
	if (added.kind == FRAME_USER && added.name && !added.module)
		added.kind = import_kind(added.name);
	if (r->profile->nodes.count >= NODES_MAX)
		return error_create("more than %u different callers", NODES_MAX);
	err = profile_frame(r->profile, &added, &number);
	return err ? err : profile_node(r->profile, *node, number, node);
}

/* The last line is the function at that place, and those before it are inlined into it. */
static struct error *add_location(struct pprof_reader *r, uint64_t id, uint32_t *node)
{
	uint32_t place = word_map_find(&r->locations, (struct words){ { id } });
	const Pprof__Location *location;
	struct frame frame = { 0 };
	struct error *err;

	if (place == WORD_MAP_NEW)
		return error_create("a sample refers to a location that is not in the file");
	location = r->message->location[place];
	err = take_module(r, location->mapping_id, &frame);
	frame.address = location->address;
	if (!location->n_line && !err)
		return add_frame(r, &frame, node);
	for (size_t i = location->n_line; i-- > 0 && !err;) {
		frame.name = frame.source = NULL;
		frame.line = 0;
		frame.inlined = i + 1 < location->n_line;
		err = read_function(r, location->line[i], &frame);
		if (!err)
			err = add_frame(r, &frame, node);
	}
	return err;
}

static struct error *add_stack(struct pprof_reader *r, const Pprof__Sample *sample, uint32_t *ret)
{
	uint32_t node = NODE_NONE;

	for (size_t i = sample->n_location_id; i-- > 0;) {
		struct error *err = add_location(r, sample->location_id[i], &node);

		if (err)
			return err;
	}
	*ret = node;
	return NULL;
}

/* --- labels --- */

/* The values of labels; missing texts are "". */
struct pprof_sample_labels {
	uint32_t tid, tgid;
	uint16_t cpu;
	const char *thread, *process, *cgroup, *state, *reason, *event;
};

static uint32_t small(int64_t number, uint32_t most, uint32_t absent)
{
	return number >= 0 && number < most ? (uint32_t)number : absent;
}

static void take_label(const struct pprof_reader *r, const Pprof__Label *label,
		       struct pprof_sample_labels *labels)
{
	const struct {
		const char *key, **text;
	} texts[] = {
		{ PPROF_THREAD, &labels->thread }, { PPROF_PROCESS, &labels->process },
		{ PPROF_CGROUP, &labels->cgroup }, { PPROF_STATE, &labels->state },
		{ PPROF_REASON, &labels->reason }, { PPROF_EVENT, &labels->event },
	};
	const char *key = string(r, label->key);

	for (size_t i = 0; i < array_length(texts); i++)
		if (!strcmp(key, texts[i].key))
			*texts[i].text = string(r, label->str);
	if (!strcmp(key, PPROF_TID))
		labels->tid = small(label->num, UINT32_MAX, 0);
	if (!strcmp(key, PPROF_TGID))
		labels->tgid = small(label->num, UINT32_MAX, 0);
	if (!strcmp(key, PPROF_CPU))
		labels->cpu = (uint16_t)small(label->num, CPU_ANY, CPU_ANY);
}

static struct error *find_sample_thread(struct pprof_reader *r,
					const struct pprof_sample_labels *labels, uint32_t *ret)
{
	struct profile_thread thread = { .tid = labels->tid,
					 .tgid = labels->tgid,
					 .uid = UID_UNKNOWN };
	uint32_t *number = NULL;
	struct error *err = import_name(r->profile, text_of(labels->thread), &thread.name);

	if (!err)
		err = import_name(r->profile, text_of(labels->process), &thread.process);
	if (!err && *labels->cgroup)
		err = import_name(r->profile, text_of(labels->cgroup), &thread.cgroup);
	if (!err)
		number = word_map_at(
			&r->threads,
			(struct words){ { (uint64_t)thread.tgid << 32 | thread.tid,
					  (uintptr_t)thread.name, (uintptr_t)thread.process } });
	if (!number)
		return err ? err : &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (r->profile->threads.count >= THREADS_MAX)
			return error_create("more than %u threads", THREADS_MAX);
		*number = (uint32_t)r->profile->threads.count;
		if (!array_push(&r->profile->threads, thread))
			return &error_no_memory;
	}
	*ret = *number;
	return NULL;
}

/* Convert a label to a class. False if it is none. */
static bool class_of(const char *state, uint16_t *ret)
{
	for (uint16_t c = 0; c < CLASS_COUNT; c++)
		if (!strcmp(state, profile_classes[c].name)) {
			*ret = c;
			return true;
		}
	return false;
}

/* Convert a label to a state of top. 0: it is none. */
static uint8_t state_of(const char *reason)
{
	size_t state = 0;

	(void)json_words_find(&profile_state_words, text_of(reason), &state);
	return (uint8_t)state;
}

static struct error *find_event(struct pprof_reader *r, const char *event, uint16_t *ret)
{
	const struct name *name;
	struct error *err = import_name(r->profile, text_of(event), &name);
	size_t number = 0;

	if (err)
		return err;
	while (number < r->profile->events.count && r->profile->events.items[number] != name)
		number++;
	if (number >= UINT16_MAX)
		return error_create("more events than are possible");
	if (number == r->profile->events.count && !array_push(&r->profile->events, name))
		return &error_no_memory;
	*ret = (uint16_t)number;
	return NULL;
}

/* --- samples --- */

static uint64_t positive(int64_t value, uint64_t scale)
{
	uint64_t scaled;

	if (value < 0)
		return 0;
	return __builtin_mul_overflow((uint64_t)value, scale, &scaled) ? UINT64_MAX : scaled;
}

/* The count of a sample: its first value that is a count. */
static uint64_t count_of(const struct pprof_reader *r, const Pprof__Sample *from)
{
	for (size_t i = 0; i < from->n_value; i++)
		if (r->types[i].is_count)
			return positive(from->value[i], 1);
	return 1;
}

/* A sample with times, which may be of both kinds: the count goes with the first. */
static struct error *add_times(struct pprof_reader *r, const Pprof__Sample *from,
			       struct sample sample, bool has_class)
{
	bool is_first = true;

	sample.count = count_of(r, from);
	for (size_t i = 0; i < from->n_value; i++) {
		struct error *err;

		sample.ns = positive(from->value[i], r->types[i].scale);
		if (!sample.ns)
			continue;
		if (!has_class)
			sample.class = r->types[i].class;
		err = profile_add(r->profile, &sample);
		if (err)
			return err;
		is_first = false;
		sample.count = 0;
	}
	return is_first && sample.count && has_class ? profile_add(r->profile, &sample) : NULL;
}

static struct error *add_hits(struct pprof_reader *r, const Pprof__Sample *from,
			      struct sample sample, const char *event)
{
	struct error *err = NULL;

	sample.class = CLASS_EVENT;
	sample.count =
		r->has_time ? count_of(r, from) : positive(from->value[from->n_value - 1], 1);
	if (*event || r->has_time)
		err = find_event(r, event, &sample.event);
	return err ? err : profile_add(r->profile, &sample);
}

static struct error *add_sample(struct pprof_reader *r, const Pprof__Sample *from)
{
	struct pprof_sample_labels labels = { .cpu = CPU_ANY,
					      .thread = "",
					      .process = "",
					      .cgroup = "",
					      .state = "",
					      .reason = "",
					      .event = "" };
	struct sample sample = { .class = CLASS_ON_CPU };
	bool has_class;
	struct error *err;

	if (from->n_value != r->message->n_sample_type)
		return error_create("a sample has %zu values, of %zu types", from->n_value,
				    r->message->n_sample_type);
	for (size_t i = 0; i < from->n_label; i++)
		take_label(r, from->label[i], &labels);
	sample.cpu = labels.cpu;
	err = find_sample_thread(r, &labels, &sample.thread);
	if (!err)
		err = add_stack(r, from, &sample.node);
	if (err)
		return err;
	has_class = class_of(labels.state, &sample.class);
	sample.state = state_of(labels.reason);
	if (!r->has_time || sample.class == CLASS_EVENT)
		return add_hits(r, from, sample, labels.event);
	return add_times(r, from, sample, has_class);
}

static struct error *take_message(struct pprof_reader *r)
{
	const Pprof__Profile *m = r->message;
	struct profile_meta *meta = &r->profile->meta;
	struct error *err = take_types(r);

	if (!err)
		err = index_all(r);
	for (size_t i = 0; i < m->n_sample && !err; i++)
		err = add_sample(r, m->sample[i]);
	if (err)
		return err;
	meta->captured_at_unix_ns = positive(m->time_nanos, 1);
	meta->duration_ns = positive(m->duration_nanos, 1);
	if (m->period_type)
		meta->on_cpu_period_ns =
			positive(m->period, meaning("", string(r, m->period_type->unit)).scale);
	return NULL;
}

/* --- bytes --- */

static struct error *parse_bytes(struct text bytes, struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct arena arena = { 0 };
	struct pprof_reader r = { .steps_max = FRAMES_FLAT_MAX + FRAMES_PER_BYTE * bytes.length };
	struct error *err = profile_create(&profile);

	r.profile = profile;
	if (!err)
		err = pprof_unpack(bytes, &arena, &r.message);
	if (!err)
		err = take_message(&r);
	arena_deinit(&arena);
	word_map_deinit(&r.functions);
	word_map_deinit(&r.locations);
	word_map_deinit(&r.mappings);
	word_map_deinit(&r.threads);
	free(r.types);
	if (err)
		return err;
	*ret = take_ptr(profile);
	return NULL;
}

struct error *profile_parse_pprof(struct text bytes, struct profile **ret)
{
	_cleanup_free_ char *unpacked = NULL;
	size_t length;
	struct error *err;

	if (!gzip_is_packed(bytes))
		return parse_bytes(bytes, ret);
	err = gzip_unpack(bytes, UNPACKED_MAX, &unpacked, &length);
	return err ? err : parse_bytes((struct text){ unpacked, length }, ret);
}
