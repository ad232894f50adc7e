/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "snapshot/parser.h"

/* Text that a file may have before and beside its threads, and for each thread: what has more than
 * this is not a snapshot. */
#define TEXT_BASE       ((uint64_t)64 << 20)
#define TEXT_PER_THREAD ((uint64_t)64 << 10)

/* Cgroups and processes belong to threads; some may have lost theirs. */
#define EXTRA_OBJECTS 4096

/* --- measured bits --- */

/* The bits of a file in the numbering of our own rows. */
static void renumber(const struct snapshot_parser *p, enum field_list list, struct bits *ret)
{
	*ret = (struct bits){ 0 };
	for (size_t i = 0; i < p->listed[list]; i++)
		if (bits_has(&p->context.measured, i) && p->numbers[list][i] >= 0)
			bits_add(ret, (size_t)p->numbers[list][i]);
}

void parser_apply_bits(struct snapshot_parser *p, enum field_list list, void *object)
{
	struct bits bits;

	if (!p->ours)
		return;
	/* Our own form says what was measured; where it does not, nothing was. */
	if (!p->context.has_measured)
		p->context.measured = (struct bits){ 0 };
	p->context.has_measured = false;
	renumber(p, list, &bits);
	if (list == LIST_THREADS)
		thread_apply_bits(object, &bits);
	else
		object_apply_bits(list, object, &bits);
}

/* --- objects that have measured bits; none lies in another --- */

static struct error *finish_measured(struct json_reader *r, void *target)
{
	parser_apply_bits(parser_of(r), parser_of(r)->entered, target);
	return NULL;
}

static void enter_measured(struct json_reader *r, enum field_list list, void *target)
{
	struct snapshot_parser *p = parser_of(r);

	p->body = true;
	p->context.has_measured = false;
	p->entered = list;
	json_enter(r, &p->shapes[list], target);
}

/* --- the rest of the file --- */

static struct error *expect_object(const struct json_value *value, struct text key)
{
	return value->type == JSON_OBJECT ? NULL : json_unexpected(key, "an object");
}

static JSON_TAKE(take_cgroup)
{
	struct ctprof_snapshot *s = snapshot_of(r);
	const struct name *path = snapshot_name(s, key);

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each cgroup");
	if (s->cgroups.count >= s->threads.count + EXTRA_OBJECTS)
		return error_create("more cgroups than threads");
	if (!path || !array_push(&s->cgroups, (struct cgroup_counters){ .path = path }))
		return &error_no_memory;
	enter_measured(r, LIST_CGROUPS, &s->cgroups.items[s->cgroups.count - 1]);
	return NULL;
}

static JSON_TAKE(take_cgroups)
{
	static const struct json_shape shape = { .each = take_cgroup };
	struct error *err = expect_object(value, key);

	parser_of(r)->body = true;
	if (!err)
		json_enter(r, &shape, target);
	return err;
}

static JSON_TAKE(take_process)
{
	struct ctprof_snapshot *s = snapshot_of(r);

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each process");
	if (s->processes.count >= s->threads.count + EXTRA_OBJECTS)
		return error_create("more processes than threads");
	if (!array_push(&s->processes, (struct process){ 0 }))
		return &error_no_memory;
	json_enter(r, &snapshot_process_fields.shape, &s->processes.items[s->processes.count - 1]);
	return NULL;
}

static JSON_TAKE(take_array)
{
	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array");
	json_enter(r, member->more, target);
	return NULL;
}

/* --- counters of the host --- */

static JSON_TAKE(take_counter_set)
{
	struct ctprof_snapshot *s = snapshot_of(r);
	struct counter_set *set;

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each set of counters");
	if (s->counters.count >= SNAPSHOT_COUNTER_SETS_MAX)
		return error_create("more than %zu sets of counters", SNAPSHOT_COUNTER_SETS_MAX);
	set = snapshot_add_counters(s, parser_of(r)->counting, key);
	if (!set)
		return &error_no_memory;
	json_enter(r, &snapshot_counts_shape, &set->counts);
	return NULL;
}

/* The sets of the kind just read are the last ones. */
static struct error *finish_counter_kind(struct json_reader *r, void *target)
{
	const struct ctprof_snapshot *s = snapshot_of(r);
	size_t count = 0;

	(void)target;
	while (count < s->counters.count &&
	       s->counters.items[s->counters.count - count - 1].kind == parser_of(r)->counting)
		count++;
	return count ? counter_sets_check(&s->counters.items[s->counters.count - count], count)
		     : NULL;
}

static JSON_TAKE(take_counter_kind)
{
	static const struct json_shape shape = { .each = take_counter_set,
						 .done = finish_counter_kind };
	struct error *err = expect_object(value, key);

	parser_of(r)->counting = (enum counter_kind)member->detail;
	if (!err)
		json_enter(r, &shape, target);
	return err;
}

static const struct json_member counters_members[] = {
	{ TEXT("kernel"), take_counter_kind, COUNTERS_KERNEL, NULL },
	{ TEXT("cpu"), take_counter_kind, COUNTERS_CPU, NULL },
	{ TEXT("vmstat"), take_counter_kind, COUNTERS_VMSTAT, NULL },
	{ TEXT("block"), take_counter_kind, COUNTERS_BLOCK, NULL },
	{ TEXT("net"), take_counter_kind, COUNTERS_NET, NULL },
};
_Static_assert(array_length(counters_members) == COUNTER_KIND_COUNT, "a member for each kind");
static const struct json_shape counters_shape = { .members = counters_members,
						  .count = array_length(counters_members) };

static JSON_TAKE(take_counters)
{
	struct error *err = value->type == JSON_NULL ? NULL : expect_object(value, key);

	if (value->type == JSON_OBJECT)
		json_enter(r, &counters_shape, target);
	return err;
}

static JSON_TAKE(take_users)
{
	struct label_pairs *users = &snapshot_of(r)->users;
	struct error *err = value->type == JSON_NULL ? NULL : expect_object(value, key);

	if (value->type != JSON_OBJECT)
		return err;
	users->measured = true;
	json_enter(r, &snapshot_pairs_shape, users);
	return NULL;
}

/* An object that may be null: allocated when it is there. */
struct optional {
	const struct json_fields *fields;
	size_t bytes, offset; /* of the object; of the pointer in the snapshot */
	bool measured;        /* it has measured bits, of `list` */
	enum field_list list;
};

static JSON_TAKE(take_optional)
{
	const struct optional *optional = member->more;
	struct ctprof_snapshot *s = snapshot_of(r);
	void **place = (void *)((char *)s + optional->offset);

	if (value->type == JSON_NULL)
		return NULL;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object or null");
	*place = arena_alloc(&s->arena, optional->bytes);
	if (!*place)
		return &error_no_memory;
	if (optional->measured)
		enter_measured(r, optional->list, *place);
	else
		json_enter(r, &optional->fields->shape, *place);
	return NULL;
}

static JSON_TAKE(take_psi)
{
	struct error *err = expect_object(value, key);

	if (!err)
		enter_measured(r, LIST_PSI, &snapshot_of(r)->psi);
	return err;
}

static JSON_TAKE(take_captured_at)
{
	snapshot_of(r)->captured_at_unix_ns.measured = true;
	return json_get_u64(value, key, &snapshot_of(r)->captured_at_unix_ns.value);
}

/* --- the head of our own form --- */

static JSON_TAKE(take_form)
{
	uint64_t form;
	struct error *err = json_get_u64(value, key, &form);

	if (!err && form != SNAPSHOT_FORM)
		err = error_create("format %llu is newer than this ctprof reads (%d)",
				   (unsigned long long)form, SNAPSHOT_FORM);
	return err;
}

static JSON_TAKE(take_field_name)
{
	struct snapshot_parser *p = parser_of(r);
	enum field_list list = (enum field_list)member->detail;
	struct text name;
	int number;
	struct error *err = json_get_text(value, key, &name);

	if (err)
		return err;
	if (p->listed[list] >= BITS_MAX)
		return error_create("more than %d fields", BITS_MAX);
	number = fields_find(list, name);
	p->numbers[list][p->listed[list]++] = (int16_t)number;
	if (list == LIST_THREADS && number >= 0 && number < METRIC_COUNT)
		metric_set_remove(&snapshot_of(r)->unknown, (enum metric_id)number);
	return NULL;
}

#define FIELD_LIST(list)                                                            \
	static const struct json_shape shape_of_##list = { .each = take_field_name, \
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

static JSON_TAKE(take_object)
{
	struct error *err = expect_object(value, key);

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

static const struct json_field head_rows[] = {
	{ .json = { TEXT("form"), take_form, 0, NULL } },
	JSON_FIELD(name, "version", ctprof_snapshot, version),
	{ .json = { TEXT("fields"), take_object, 0, &fields_shape } },
	JSON_FIELD(name, "note", ctprof_snapshot, note),
};
static const struct json_fields head_fields = JSON_FIELDS(head_rows, .done = finish_head);

/* Until the list of fields names them. */
static void know_nothing(struct ctprof_snapshot *s)
{
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		metric_set_add(&s->unknown, i);
}

static JSON_TAKE(take_head)
{
	if (parser_of(r)->body)
		return error_create("'ctprof' must come before the members that it describes");
	know_nothing(snapshot_of(r));
	return take_object(r, target, &(struct json_member){ .more = &head_fields.shape }, key,
			   value);
}

#define OPTIONAL(at, fields_, ...)                                                      \
	(&(const struct optional){ .fields = &(fields_),                                \
				   .bytes = sizeof(*((struct ctprof_snapshot *)0)->at), \
				   .offset = offsetof(struct ctprof_snapshot, at),      \
				   __VA_ARGS__ })

/* --- files of other commands --- */

static JSON_TAKE(take_profile)
{
	return error_create("not a snapshot but a profile: 'ctprof flame' prints it");
}

static JSON_TAKE(take_format)
{
	if (value->type != JSON_STRING || !text_equal(value->text, TEXT("ctprof-kstats")))
		return NULL;
	return error_create("not a snapshot but histograms: 'ctprof kstats show' prints them");
}

static const struct json_shape threads_shape = { .each = take_thread };
static const struct json_shape processes_shape = { .each = take_process };

static const struct json_member snapshot_members[] = {
	{ TEXT("captured_at_unix_ns"), take_captured_at, 0, NULL },
	{ TEXT("ctprof_profile"), take_profile, 0, NULL },
	{ TEXT("format"), take_format, 0, NULL },
	{ TEXT("ctprof"), take_head, 0, NULL },
	{ TEXT("host"), take_optional, 0, OPTIONAL(host, snapshot_host_fields) },
	{ TEXT("threads"), take_array, 0, &threads_shape },
	{ TEXT("cgroup_stats"), take_cgroups, 0, NULL },
	{ TEXT("probe_summary"), take_optional, 0, OPTIONAL(probe_summary, snapshot_probe_fields) },
	{ TEXT("parse_summary"), take_optional, 0, OPTIONAL(parse_summary, snapshot_parse_fields) },
	{ TEXT("taskstats_summary"), take_optional, 0,
	  OPTIONAL(taskstats_summary, snapshot_taskstats_fields) },
	{ TEXT("psi"), take_psi, 0, NULL },
	{ TEXT("sched_ext"), take_optional, 0,
	  OPTIONAL(sched_ext, snapshot_sched_ext_fields, .measured = true,
		   .list = LIST_SCHED_EXT) },
	{ TEXT("processes"), take_array, 0, &processes_shape },
	{ TEXT("users"), take_users, 0, NULL },
	{ TEXT("host_counters"), take_counters, 0, NULL },
	{ TEXT("capture"), take_optional, 0, OPTIONAL(capture, snapshot_capture_fields) },
};

/* A JSON object is a snapshot if it has the time of the capture. */
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

static JSON_TAKE(take_root)
{
	if (value->type != JSON_OBJECT)
		return error_create("not a snapshot: the file holds no JSON object");
	json_enter(r, &snapshot_shape, target);
	return NULL;
}

/* --- the file --- */

struct error *snapshot_parser_create(struct ctprof_snapshot *snapshot, struct snapshot_parser **ret)
{
	struct snapshot_parser *p = calloc(1, sizeof(*p));
	struct error *err;

	if (!p)
		return &error_no_memory;
	p->context.snapshot = snapshot;
	p->context.user.names = &snapshot->names;
	for (enum field_list list = LIST_CGROUPS; list < LIST_COUNT; list++) {
		p->shapes[list] = fields_schema(list)->shape;
		p->shapes[list].done = finish_measured;
	}
	err = json_reader_create(take_root, snapshot, p, &p->json);
	if (err) {
		snapshot_parser_destroy(p);
		return err;
	}
	json_reader_prefer(p->json, &thread_fields.shape);
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
			return error_create("duplicate cgroup '%.200s'",
					    s->cgroups.items[i].path->bytes);
	return NULL;
}

/* Every kind stands together, but another tool may have written them in another order. */
static struct error *order_counters(struct ctprof_snapshot *s)
{
	struct counter_set *sets;
	size_t used = 0;

	if (!s->counters.count)
		return NULL;
	sets = calloc(s->counters.room, sizeof(*sets));
	if (!sets)
		return &error_no_memory;
	for (enum counter_kind kind = 0; kind < COUNTER_KIND_COUNT; kind++)
		for (size_t i = 0; i < s->counters.count; i++)
			if (s->counters.items[i].kind == kind)
				sets[used++] = s->counters.items[i];
	free(s->counters.items);
	s->counters.items = sets;
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
	if (!err)
		err = order_counters(s);
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
