/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "snapshot/fields.h"
#include "snapshot/file.h"
#include "snapshot/foreign.h"
#include "snapshot/schema.h"

/* Text that a file may have before and beside its threads, and for each thread: what writes more
 * than this is not a snapshot. */
#define TEXT_BASE       ((uint64_t)64 << 20)
#define TEXT_PER_THREAD ((uint64_t)64 << 10)

/* Cgroups and processes belong to threads; some may have lost theirs. */
#define EXTRA_OBJECTS 4096

struct snapshot_parser {
	struct schema_context context; /* the reader's user; first, so that it is the parser too */
	struct json_reader *json;
	bool ours; /* the head of our own form was seen */
	struct foreign_marks foreign;
	uint8_t booleans, booleans_given; /* of the thread: bit by enum family_boolean */
	struct cpus_list {
		ARRAY(uint32_t);
	} cpus;
	/* Our number of each field of the file's own lists; -1 when we do not have it. */
	int16_t numbers[LIST_COUNT][BITS_MAX];
	size_t listed[LIST_COUNT];
	/* The schemas' shapes, and at their end the measured bits applied. */
	struct json_shape cgroup, psi, sched_ext;
};

static struct snapshot_parser *parser_of(const struct json_reader *r)
{
	return json_user(r);
}

static struct ctprof_snapshot *snapshot_of(const struct json_reader *r)
{
	return parser_of(r)->context.snapshot;
}

#define TAKE(name)                                                                                 \
	static struct error *name(struct json_reader *r, void *target,                             \
				  const struct json_member *member, struct text key,               \
				  const struct json_value *value)
#define UNUSED (void)r, (void)target, (void)member, (void)key, (void)value

/* --- measured bits --- */

/* The bits of a file in the numbering of our own rows. */
static void renumber(const struct snapshot_parser *p, enum field_list list, struct bits *ret)
{
	*ret = (struct bits){ 0 };
	for (size_t i = 0; i < p->listed[list]; i++)
		if (bits_has(&p->context.measured, i) && p->numbers[list][i] >= 0)
			bits_add(ret, (size_t)p->numbers[list][i]);
}

static struct error *apply_bits(struct snapshot_parser *p, enum field_list list, void *object)
{
	struct bits bits;

	if (!p->ours)
		return NULL;
	/* Our own form says what was measured; where it does not, nothing was. */
	if (!p->context.has_measured)
		p->context.measured = (struct bits){ 0 };
	p->context.has_measured = false;
	renumber(p, list, &bits);
	if (list == LIST_THREADS)
		thread_apply_bits(object, &bits);
	else
		object_apply_bits(list, object, &bits);
	return NULL;
}

/* --- threads --- */

TAKE(take_tid)
{
	struct ctprof_thread *thread = target;

	UNUSED;
	return json_get_u32(value, key, &thread->tid);
}

TAKE(take_tgid)
{
	struct ctprof_thread *thread = target;

	UNUSED;
	return json_get_u32(value, key, &thread->tgid);
}

TAKE(take_thread_name)
{
	const struct name **name = (void *)((char *)target + member->detail);
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	if (err)
		return err;
	*name = snapshot_name(snapshot_of(r), text);
	return *name ? NULL : &error_no_memory;
}

TAKE(take_start_time)
{
	struct ctprof_thread *thread = target;

	UNUSED;
	thread->start_time_clock_ticks.measured = true;
	return json_get_u64(value, key, &thread->start_time_clock_ticks.value);
}

TAKE(take_smaps)
{
	struct ctprof_thread *thread = target;
	struct ctprof_snapshot *s = snapshot_of(r);

	UNUSED;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	/* Both spellings of one map: the first is kept. */
	if (thread->smaps_rollup_kib)
		return NULL;
	thread->smaps_rollup_kib = arena_alloc(&s->arena, sizeof(*thread->smaps_rollup_kib));
	if (!thread->smaps_rollup_kib)
		return &error_no_memory;
	json_enter(r, &snapshot_counts_shape, thread->smaps_rollup_kib);
	return NULL;
}

TAKE(take_cpu)
{
	struct snapshot_parser *p = parser_of(r);
	uint32_t cpu;
	struct error *err = json_get_u32(value, key, &cpu);

	UNUSED;
	if (err)
		return err;
	if (p->cpus.count && p->cpus.items[p->cpus.count - 1] >= cpu)
		return json_unexpected(key, "CPUs in ascending order");
	return array_push(&p->cpus, cpu) ? NULL : &error_no_memory;
}

static struct error *finish_cpus(struct json_reader *r, void *target)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_thread *thread = target;
	const struct name *set = names_intern(&p->context.snapshot->names, p->cpus.items ? (void *)p->cpus.items : "",
					      p->cpus.count * sizeof(*p->cpus.items));

	thread->record.values.cpu_affinity.v = set;
	return set ? NULL : &error_no_memory;
}

static struct error *take_affinity(struct json_reader *r, struct text key,
				   const struct json_value *value, struct ctprof_thread *thread)
{
	static const struct json_shape cpus = { .each = take_cpu, .done = finish_cpus };

	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array of CPUs");
	parser_of(r)->cpus.count = 0;
	json_enter(r, &cpus, thread);
	return NULL;
}

static struct error *take_number(struct thread_values *values, const struct metric *metric,
				 struct text key, const struct json_value *value)
{
	uint64_t number;
	int64_t signed_number;
	struct error *err;

	if (metric->type == VALUE_ordinal_i32) {
		err = json_get_i64(value, key, &signed_number);
		if (!err && !metric_store_i64(values, metric, signed_number))
			err = json_unexpected(key, "a 32-bit integer");
		return err;
	}
	err = json_get_u64(value, key, &number);
	if (!err && !metric_store_u64(values, metric, number))
		err = json_unexpected(key, "a smaller integer");
	return err;
}

TAKE(take_metric)
{
	struct ctprof_thread *thread = target;
	const struct metric *metric = &metrics[member->detail];
	struct thread_values *values = &thread->record.values;
	struct text text;
	bool boolean;
	struct error *err;

	metric_set_add(&thread->record.measured, (enum metric_id)member->detail);
	switch (metric->type) {
	case VALUE_label:
		err = json_get_text(value, key, &text);
		if (!err)
			metric_store_name(values, metric,
					  snapshot_name(snapshot_of(r), text));
		return err ? err : metric_load_name(values, metric) ? NULL : &error_no_memory;
	case VALUE_letter:
		err = json_get_text(value, key, &text);
		if (!err && (text.length != 1 ||
			     !metric_store_i64(values, metric, (unsigned char)text.bytes[0])))
			err = json_unexpected(key, "one printable character");
		return err;
	case VALUE_flag:
		err = json_get_bool(value, key, &boolean);
		if (!err)
			metric_store_i64(values, metric, boolean);
		return err;
	case VALUE_cpu_set:
		return take_affinity(r, key, value, thread);
	default:
		return take_number(values, metric, key, value);
	}
}

TAKE(take_boolean)
{
	struct snapshot_parser *p = parser_of(r);
	bool boolean;
	struct error *err = json_get_bool(value, key, &boolean);

	UNUSED;
	if (err)
		return err;
	p->booleans_given |= (uint8_t)(1u << member->detail);
	if (boolean)
		p->booleans |= (uint8_t)(1u << member->detail);
	return NULL;
}

/* Members that only .hst.zst has, and that no row of ours can hold. */
TAKE(take_flat)
{
	UNUSED;
	parser_of(r)->foreign.flat = true;
	return NULL;
}

#define NAME_MEMBER(name)                                                                          \
	{                                                                                          \
		TEXT(#name), take_thread_name, offsetof(struct ctprof_thread, name), NULL          \
	}

static const struct json_member thread_members[] = {
	{ TEXT("tid"), take_tid, 0, NULL },
	{ TEXT("tgid"), take_tgid, 0, NULL },
	NAME_MEMBER(pcomm),
	NAME_MEMBER(comm),
	NAME_MEMBER(cgroup),
	{ TEXT("start_time_clock_ticks"), take_start_time, 0, NULL },
#define METRIC(type, name, ...) { TEXT(#name), take_metric, METRIC_##name, NULL },
#include "metric/metrics.def"
#undef METRIC
	{ TEXT("smaps_rollup_kb"), take_smaps, 0, NULL },
	{ TEXT("smaps_rollup_kib"), take_smaps, 0, NULL },
	{ TEXT("taskstats_measured"), take_boolean, BOOLEAN_TASKSTATS, NULL },
	{ TEXT("cpu_delay_active"), take_boolean, BOOLEAN_CPU_DELAY, NULL },
	{ TEXT("delay_block_active"), take_boolean, BOOLEAN_BLOCK_DELAY, NULL },
	{ TEXT("xacct_active"), take_boolean, BOOLEAN_XACCT, NULL },
	{ TEXT("jemalloc_measured"), take_boolean, BOOLEAN_JEMALLOC, NULL },
	{ TEXT("measured"), take_measured, 0, NULL },
	{ TEXT("nr_wakeups_idle"), take_flat, 0, NULL },
	{ TEXT("sleep_sum"), take_flat, 0, NULL },
	{ TEXT("block_count"), take_flat, 0, NULL },
};

static struct error *finish_thread(struct json_reader *r, void *target)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_thread *thread = target;
	struct ctprof_snapshot *s = p->context.snapshot;

	if (!thread->tid || !thread->tgid)
		return error_create("a thread without tid and tgid");
	if (!thread->pcomm)
		thread->pcomm = snapshot_name(s, TEXT(""));
	if (!thread->comm)
		thread->comm = snapshot_name(s, TEXT(""));
	if (!thread->cgroup)
		thread->cgroup = snapshot_name(s, TEXT(""));
	if (!thread->pcomm || !thread->comm || !thread->cgroup)
		return &error_no_memory;
	thread->record.values.thread_count.v = 1;
	metric_set_add(&thread->record.measured, METRIC_thread_count);
	if (!p->ours && p->booleans_given) {
		p->foreign.booleans = true;
		for (enum family_boolean b = 0; b < BOOLEAN_COUNT; b++)
			if (p->booleans_given >> b & 1 && !(p->booleans >> b & 1))
				foreign_apply_boolean(thread, b);
	}
	/* The original writes an empty map for what it could not read. */
	if (!p->ours && thread->smaps_rollup_kib && !thread->smaps_rollup_kib->count)
		thread->smaps_rollup_kib = NULL;
	return apply_bits(p, LIST_THREADS, thread);
}

static const struct json_shape thread_shape = { .members = thread_members,
						.count = array_length(thread_members),
						.done = finish_thread };

TAKE(take_thread)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_thread *thread;

	UNUSED;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each thread");
	thread = snapshot_add_thread(p->context.snapshot);
	if (!thread)
		return p->context.snapshot->threads.count < SNAPSHOT_THREADS_MAX ?
			       &error_no_memory :
			       error_create("more threads than Linux can have");
	p->booleans = p->booleans_given = 0;
	p->context.has_measured = false;
	json_enter(r, &thread_shape, thread);
	return NULL;
}

/* --- the rest of the file --- */

static struct error *finish_cgroup(struct json_reader *r, void *target)
{
	return apply_bits(parser_of(r), LIST_CGROUPS, target);
}

static struct error *finish_psi(struct json_reader *r, void *target)
{
	return apply_bits(parser_of(r), LIST_PSI, target);
}

static struct error *finish_sched_ext(struct json_reader *r, void *target)
{
	return apply_bits(parser_of(r), LIST_SCHED_EXT, target);
}

static struct error *expect_object(const struct json_value *value, struct text key)
{
	return value->type == JSON_OBJECT ? NULL : json_unexpected(key, "an object");
}

TAKE(take_cgroup)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_snapshot *s = p->context.snapshot;
	const struct name *path = snapshot_name(s, key);
	struct cgroup *cgroup;

	UNUSED;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each cgroup");
	if (s->cgroups.count >= s->threads.count + EXTRA_OBJECTS)
		return error_create("more cgroups than threads");
	if (!path || !array_push(&s->cgroups, (struct cgroup){ .path = path }))
		return &error_no_memory;
	p->context.has_measured = false;
	cgroup = &s->cgroups.items[s->cgroups.count - 1];
	json_enter(r, &p->cgroup, cgroup);
	return NULL;
}

TAKE(take_cgroups)
{
	static const struct json_shape shape = { .each = take_cgroup };
	struct error *err = expect_object(value, key);

	UNUSED;
	if (!err)
		json_enter(r, &shape, target);
	return err;
}

TAKE(take_process)
{
	struct ctprof_snapshot *s = snapshot_of(r);

	UNUSED;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each process");
	if (s->processes.count >= s->threads.count + EXTRA_OBJECTS)
		return error_create("more processes than threads");
	if (!array_push(&s->processes, (struct process){ 0 }))
		return &error_no_memory;
	json_enter(r, &snapshot_process_schema.shape, &s->processes.items[s->processes.count - 1]);
	return NULL;
}

TAKE(take_array)
{
	UNUSED;
	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array");
	json_enter(r, member->more, target);
	return NULL;
}

/* An object that may be null: allocated when it is there. */
struct optional {
	const struct schema *schema;
	size_t offset; /* of the pointer in the snapshot */
};

TAKE(take_optional)
{
	const struct optional *optional = member->more;
	struct ctprof_snapshot *s = snapshot_of(r);
	void **place = (void *)((char *)s + optional->offset);

	UNUSED;
	if (value->type == JSON_NULL)
		return NULL;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object or null");
	*place = arena_alloc(&s->arena, optional->schema->size);
	if (!*place)
		return &error_no_memory;
	parser_of(r)->context.has_measured = false;
	json_enter(r,
		   optional->schema == &snapshot_sched_ext_schema ? &parser_of(r)->sched_ext :
								    &optional->schema->shape,
		   *place);
	return NULL;
}

TAKE(take_psi)
{
	struct error *err = expect_object(value, key);

	UNUSED;
	parser_of(r)->context.has_measured = false;
	if (!err)
		json_enter(r, &parser_of(r)->psi, &snapshot_of(r)->psi);
	return err;
}

TAKE(take_captured_at)
{
	UNUSED;
	snapshot_of(r)->captured_at_unix_ns.measured = true;
	return json_get_u64(value, key, &snapshot_of(r)->captured_at_unix_ns.value);
}

/* --- the head of our own form --- */

TAKE(take_form)
{
	uint64_t form;
	struct error *err = json_get_u64(value, key, &form);

	UNUSED;
	if (!err && form != SNAPSHOT_FORM)
		err = error_create("form %llu of the file is newer than this ctprof reads (%d)",
				   (unsigned long long)form, SNAPSHOT_FORM);
	return err;
}

TAKE(take_head_text)
{
	const struct name **name = (void *)((char *)snapshot_of(r) + member->detail);
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	UNUSED;
	if (err)
		return err;
	*name = snapshot_name(snapshot_of(r), text);
	return *name ? NULL : &error_no_memory;
}

TAKE(take_field_name)
{
	struct snapshot_parser *p = parser_of(r);
	enum field_list list = (enum field_list)member->detail;
	struct text name;
	struct error *err = json_get_text(value, key, &name);

	UNUSED;
	if (err)
		return err;
	if (p->listed[list] >= BITS_MAX)
		return error_create("more than %d fields", BITS_MAX);
	p->numbers[list][p->listed[list]++] = (int16_t)fields_find(list, name);
	return NULL;
}

#define FIELD_LIST(list)                                                                           \
	static const struct json_shape shape_of_##list = { .each = take_field_name,                \
							   .detail = list };
FIELD_LIST(LIST_THREADS)
FIELD_LIST(LIST_CGROUPS)
FIELD_LIST(LIST_PSI)
FIELD_LIST(LIST_SCHED_EXT)

static const struct json_member fields_members[] = {
	{ TEXT("threads"), take_array, 0, &shape_of_LIST_THREADS },
	{ TEXT("cgroup_stats"), take_array, 0, &shape_of_LIST_CGROUPS },
	{ TEXT("psi"), take_array, 0, &shape_of_LIST_PSI },
	{ TEXT("sched_ext"), take_array, 0, &shape_of_LIST_SCHED_EXT },
};
static const struct json_shape fields_shape = { .members = fields_members,
						.count = array_length(fields_members) };

TAKE(take_object)
{
	struct error *err = expect_object(value, key);

	UNUSED;
	if (!err)
		json_enter(r, member->more, target);
	return err;
}

static struct error *finish_head(struct json_reader *r, void *target)
{
	(void)target;
	if (!parser_of(r)->listed[LIST_THREADS])
		return error_create("'ctprof' names no fields of threads");
	parser_of(r)->ours = true;
	return NULL;
}

static const struct json_member head_members[] = {
	{ TEXT("form"), take_form, 0, NULL },
	{ TEXT("version"), take_head_text, offsetof(struct ctprof_snapshot, version), NULL },
	{ TEXT("fields"), take_object, 0, &fields_shape },
	{ TEXT("note"), take_head_text, offsetof(struct ctprof_snapshot, note), NULL },
};
static const struct json_shape head_shape = { .members = head_members,
					      .count = array_length(head_members),
					      .done = finish_head };

TAKE(take_head)
{
	UNUSED;
	if (snapshot_of(r)->threads.count)
		return error_create("'ctprof' stands after the threads it speaks of");
	return take_object(r, target, &(struct json_member){ .more = &head_shape }, key, value);
}

#define OPTIONAL(at, schema)                                                                       \
	(&(const struct optional){ &(schema), offsetof(struct ctprof_snapshot, at) })

static const struct json_shape threads_shape = { .each = take_thread };
static const struct json_shape processes_shape = { .each = take_process };

static const struct json_member snapshot_members[] = {
	{ TEXT("captured_at_unix_ns"), take_captured_at, 0, NULL },
	{ TEXT("ctprof"), take_head, 0, NULL },
	{ TEXT("host"), take_optional, 0, OPTIONAL(host, snapshot_host_schema) },
	{ TEXT("threads"), take_array, 0, &threads_shape },
	{ TEXT("cgroup_stats"), take_cgroups, 0, NULL },
	{ TEXT("probe_summary"), take_optional, 0, OPTIONAL(probe_summary, snapshot_probe_schema) },
	{ TEXT("parse_summary"), take_optional, 0, OPTIONAL(parse_summary, snapshot_parse_schema) },
	{ TEXT("taskstats_summary"), take_optional, 0,
	  OPTIONAL(taskstats_summary, snapshot_taskstats_schema) },
	{ TEXT("psi"), take_psi, 0, NULL },
	{ TEXT("sched_ext"), take_optional, 0, OPTIONAL(sched_ext, snapshot_sched_ext_schema) },
	{ TEXT("processes"), take_array, 0, &processes_shape },
	{ TEXT("capture"), take_optional, 0, OPTIONAL(capture, snapshot_capture_schema) },
};

/* What makes a JSON object a snapshot. */
static struct error *finish_snapshot(struct json_reader *r, void *target)
{
	(void)target;
	if (!snapshot_of(r)->captured_at_unix_ns.measured)
		return error_create("not a snapshot: 'captured_at_unix_ns' is missing");
	return NULL;
}

static const struct json_shape snapshot_shape = { .members = snapshot_members,
						  .count = array_length(snapshot_members),
						  .done = finish_snapshot };

TAKE(take_root)
{
	UNUSED;
	if (value->type != JSON_OBJECT)
		return error_create("not a snapshot: the file holds no JSON object");
	json_enter(r, &snapshot_shape, target);
	return NULL;
}

/* --- the file --- */

static struct json_shape with_done(const struct schema *schema,
				   struct error *(*done)(struct json_reader *r, void *target))
{
	struct json_shape shape = schema->shape;

	shape.done = done;
	return shape;
}

struct error *snapshot_parser_create(struct ctprof_snapshot *snapshot, struct snapshot_parser **ret)
{
	struct snapshot_parser *p = calloc(1, sizeof(*p));
	struct error *err;

	if (!p)
		return &error_no_memory;
	p->context.snapshot = snapshot;
	p->cgroup = with_done(&snapshot_cgroup_schema, finish_cgroup);
	p->psi = with_done(&snapshot_psi_schema, finish_psi);
	p->sched_ext = with_done(&snapshot_sched_ext_schema, finish_sched_ext);
	err = json_reader_create(take_root, snapshot, p, &p->json);
	if (err) {
		snapshot_parser_destroy(p);
		return err;
	}
	*ret = p;
	return NULL;
}

struct error *snapshot_parser_feed(struct snapshot_parser *p, struct text bytes)
{
	uint64_t most = TEXT_BASE + TEXT_PER_THREAD * p->context.snapshot->threads.count;
	struct error *err = json_reader_feed(p->json, bytes);

	if (!err && json_offset(p->json) > most)
		err = error_create("more text than %zu threads can need",
				   p->context.snapshot->threads.count);
	return err;
}

/* Paths are sorted by now: the same one twice stands side by side. */
static struct error *check_cgroups(const struct ctprof_snapshot *s)
{
	for (size_t i = 1; i < s->cgroups.count; i++)
		if (s->cgroups.items[i].path == s->cgroups.items[i - 1].path)
			return error_create("cgroup '%.200s' stands twice",
					    s->cgroups.items[i].path->bytes);
	return NULL;
}

struct error *snapshot_parser_finish(struct snapshot_parser *p)
{
	struct ctprof_snapshot *s = p->context.snapshot;
	struct error *err = json_reader_finish(p->json);

	if (err)
		return err;
	snapshot_sort(s);
	err = check_cgroups(s);
	if (!err && !p->ours)
		err = snapshot_adopt_foreign(s, &p->foreign);
	return err;
}

uint64_t snapshot_parser_offset(const struct snapshot_parser *p)
{
	return json_offset(p->json);
}

void snapshot_parser_destroy(struct snapshot_parser *p)
{
	if (!p)
		return;
	json_reader_destroy(p->json);
	array_deinit(&p->cpus);
	free(p);
}

static struct error *read_all(struct zstream_reader *zstd, struct snapshot_parser *parser)
{
	struct text bytes;
	struct error *err;

	for (;;) {
		err = zstream_read(zstd, &bytes);

		if (err)
			return error_prefix(err, "at offset %llu",
					    (unsigned long long)zstd->offset);
		if (!bytes.length)
			break;
		err = snapshot_parser_feed(parser, bytes);
		if (err)
			return error_prefix(err, "at offset %llu",
					    (unsigned long long)snapshot_parser_offset(parser));
	}
	err = snapshot_parser_finish(parser);
	return err ? error_prefix(err, "at offset %llu",
				  (unsigned long long)snapshot_parser_offset(parser)) :
		     NULL;
}

struct error *snapshot_load_fd(int fd, const char *name, struct ctprof_snapshot **ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_(snapshot_parser_destroy) struct snapshot_parser *parser = NULL;
	struct zstream_reader zstd;
	struct error *err = zstream_reader_init(&zstd, fd);

	if (!err)
		err = snapshot_create(&snapshot);
	if (!err)
		err = snapshot_parser_create(snapshot, &parser);
	if (!err)
		err = read_all(&zstd, parser);
	zstream_reader_deinit(&zstd);
	if (err)
		return error_prefix(err, "%s", name);
	*ret = take_ptr(snapshot);
	return NULL;
}

struct error *snapshot_load(const char *path, struct ctprof_snapshot **ret)
{
	_cleanup_close_ int fd = -1;

	if (strcmp(path, "-") == 0)
		return snapshot_load_fd(STDIN_FILENO, "standard input", ret);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_system(errno, "%s", path);
	return snapshot_load_fd(fd, path, ret);
}
