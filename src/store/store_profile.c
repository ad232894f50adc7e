/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store_profile.h"

#include <stddef.h>
#include <string.h>

#include "base/sum.h"
#include "base/units.h"
#include "state/reading.h"
#include "store/hosts.h"
#include "store/no_rows.h"
#include "store/spans.h"

#define STACKS_MOST UINT64_C(2000000)

/* Of `kinds` in the table of stacks, beside enum frame_kind. */
#define KIND_INLINED 128

struct profile_loading {
	struct profile *profile;
	const struct store_url *url;
	enum store_detail detail;
	struct word_map stacks;   /* nodes by hash */
	struct word_map programs; /* threads by process, comm and cgroup */
	uint64_t ns, count;       /* of samples that were taken */
	uint64_t rows;
	uint32_t no_stack; /* the node of stacks that the table lacks, or NODE_NONE */
};

/* A name that JSON and terminals can have: up to a NUL. */
static struct error *name_of(struct profile_loading *loading, struct text text,
			     const struct name **ret)
{
	const size_t length = text.length ? strnlen(text.bytes, text.length) : 0;

	*ret = profile_name(loading->profile, length ? text.bytes : "", length);
	return *ret ? NULL : &error_no_memory;
}

/* The same; NULL for an empty text, which is what the table has for unknown ones. */
static struct error *known_name(struct profile_loading *loading, struct text text,
				const struct name **ret)
{
	*ret = NULL;
	return text.length ? name_of(loading, text, ret) : NULL;
}

/* --- stacks --- */

enum {
	STACK_HASH,
	STACK_FUNCTIONS,
	STACK_MODULES,
	STACK_SOURCES,
	STACK_LINES,
	STACK_KINDS,
	STACK_COLUMNS
};

static const struct store_column stack_columns[STACK_COLUMNS] = {
	[STACK_HASH] = { "hash", STORE_U64 },
	[STACK_FUNCTIONS] = { "functions", STORE_TEXTS },
	[STACK_MODULES] = { "modules", STORE_TEXTS },
	[STACK_SOURCES] = { "sources", STORE_TEXTS },
	[STACK_LINES] = { "lines", STORE_U32S },
	[STACK_KINDS] = { "kinds", STORE_U8S },
};

/* Arrays of a row may have different lengths: what is missing is unknown. */
static struct text text_at(const union store_value *value, size_t at)
{
	return at < value->texts.count ? value->texts.items[at] : (struct text){ "", 0 };
}

static uint32_t number_at(const union store_value *value, size_t at)
{
	return at < value->numbers.count ? value->numbers.items[at] : 0;
}

static struct error *add_frame(struct profile_loading *loading, const union store_value *row,
			       size_t at, uint32_t *node)
{
	const uint32_t kind = number_at(&row[STACK_KINDS], at);
	const uint32_t frame_kind = kind & ~(uint32_t)KIND_INLINED;
	struct frame frame = {
		.kind = frame_kind <= FRAME_NOTE ? (enum frame_kind)frame_kind : FRAME_USER,
		.inlined = kind & KIND_INLINED,
		.line = number_at(&row[STACK_LINES], at),
	};
	struct text function = text_at(&row[STACK_FUNCTIONS], at);
	struct error *err;
	uint32_t number;

	err = name_of(loading, function.length ? function : TEXT("[unknown]"), &frame.name);
	if (!err)
		err = known_name(loading, text_at(&row[STACK_MODULES], at), &frame.module);
	if (!err)
		err = known_name(loading, text_at(&row[STACK_SOURCES], at), &frame.source);
	if (!err)
		err = profile_frame(loading->profile, &frame, &number);
	return err ? err : profile_node(loading->profile, *node, number, node);
}

static struct error *take_stack(void *context, const union store_value *row)
{
	struct profile_loading *loading = context;
	uint32_t *known =
		word_map_at(&loading->stacks, (struct words){ { row[STACK_HASH].number } });
	uint32_t node = NODE_NONE;
	struct error *err = NULL;

	if (!known)
		return &error_no_memory;
	/* Rows are there more than once until the server has merged them. */
	if (*known != WORD_MAP_NEW)
		return NULL;
	for (size_t i = 0; i < row[STACK_FUNCTIONS].texts.count && !err; i++)
		err = add_frame(loading, row, i, &node);
	*known = node;
	return err;
}

static struct error *load_stacks(struct profile_loading *loading, struct store *store)
{
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql, "SELECT hash, functions, modules, sources, lines, kinds FROM stacks WHERE "
		      "hash IN (SELECT DISTINCT stack FROM ");
	sql_add_rows(&sql, loading->url, loading->detail,
		     &(struct store_rows){ "samples", "stack", "stack", SQL_SELECTORS_ALL });
	sql_add(&sql, ")");
	err = store_query(store, &sql, stack_columns, STACK_COLUMNS, STACKS_MOST, take_stack,
			  loading);
	sql_deinit(&sql);
	return err;
}

/* --- samples --- */

enum {
	SAMPLE_HOST,
	SAMPLE_PROCESS,
	SAMPLE_COMM,
	SAMPLE_CGROUP,
	SAMPLE_CLASS,
	SAMPLE_STATE,
	SAMPLE_STACK,
	SAMPLE_NS,
	SAMPLE_COUNT,
	SAMPLE_LONGEST,
	SAMPLE_COLUMNS
};

static const struct store_column sample_columns[SAMPLE_COLUMNS] = {
	[SAMPLE_HOST] = { "host", STORE_STRING },   [SAMPLE_PROCESS] = { "process", STORE_STRING },
	[SAMPLE_COMM] = { "comm", STORE_STRING },   [SAMPLE_CGROUP] = { "cgroup", STORE_STRING },
	[SAMPLE_CLASS] = { "class", STORE_STRING }, [SAMPLE_STATE] = { "state", STORE_STRING },
	[SAMPLE_STACK] = { "stack", STORE_U64 },    [SAMPLE_NS] = { "ns", STORE_U64 },
	[SAMPLE_COUNT] = { "count", STORE_U64 },    [SAMPLE_LONGEST] = { "longest_ns", STORE_U64 },
};

/* Sums lack the longest wait. */
#define SAMPLE_KEY \
	"host, process, comm, cgroup, class, state, stack, ns, toUInt64(count) AS times, "

static const struct store_rows sample_rows = {
	"samples",
	SAMPLE_KEY "longest_ns AS longest",
	SAMPLE_KEY "toUInt64(0) AS longest",
	SQL_SELECTORS_ALL,
};

static struct error *process_of(struct profile_loading *loading, const union store_value *row,
				const struct name **ret)
{
	const struct text host = row[SAMPLE_HOST].text, process = row[SAMPLE_PROCESS].text;
	_cleanup_free_ char *both = NULL;

	if (!host.length)
		return name_of(loading, process, ret);
	both = text_print("%.*s/%.*s", (int)host.length, host.bytes, (int)process.length,
			  process.length ? process.bytes : "");
	return both ? name_of(loading, text_of(both), ret) : &error_no_memory;
}

static struct error *program_of(struct profile_loading *loading, const union store_value *row,
				uint32_t *ret)
{
	struct profile_thread thread = { .uid = UID_UNKNOWN };
	struct error *err = process_of(loading, row, &thread.process);
	uint32_t *number;

	if (!err)
		err = name_of(loading, row[SAMPLE_COMM].text, &thread.name);
	if (!err)
		err = known_name(loading, row[SAMPLE_CGROUP].text, &thread.cgroup);
	if (err)
		return err;
	number = word_map_at(&loading->programs,
			     (struct words){ { (uintptr_t)thread.process, (uintptr_t)thread.name,
					       (uintptr_t)thread.cgroup } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&loading->profile->threads, thread))
			return &error_no_memory;
		*number = (uint32_t)loading->profile->threads.count - 1;
	}
	*ret = *number;
	return NULL;
}

static unsigned class_named(struct text name)
{
	unsigned class = 0;

	while (class < CLASS_COUNT && !text_equal(name, text_of(profile_classes[class].name)))
		class ++;
	return class;
}

static unsigned state_named(struct text name)
{
	unsigned state = 0;

	while (state < STATE_COUNT && !text_equal(name, text_of(state_rows[state].name)))
		state++;
	return state;
}

static struct error *missing_stack(struct profile_loading *loading, uint32_t *ret)
{
	struct frame frame = { .kind = FRAME_NOTE };
	struct error *err = NULL;
	uint32_t number;

	if (loading->no_stack == NODE_NONE) {
		err = name_of(loading, TEXT("[stack not in the store]"), &frame.name);
		if (!err)
			err = profile_frame(loading->profile, &frame, &number);
		if (!err)
			err = profile_node(loading->profile, NODE_NONE, number, &loading->no_stack);
	}
	*ret = loading->no_stack;
	return err;
}

static struct error *node_of(struct profile_loading *loading, uint64_t hash, uint32_t *ret)
{
	*ret = NODE_NONE;
	if (!hash)
		return NULL;
	*ret = word_map_find(&loading->stacks, (struct words){ { hash } });
	return *ret == WORD_MAP_NEW && !map_find(&loading->stacks, (struct words){ { hash } })
		       ? missing_stack(loading, ret)
		       : NULL;
}

static struct error *take_sample(void *context, const union store_value *row)
{
	struct profile_loading *loading = context;
	const unsigned class = class_named(row[SAMPLE_CLASS].text);
	struct sample sample = {
		.class = (uint16_t) class,
		.cpu = CPU_ANY,
		.ns = row[SAMPLE_NS].number,
		.count = row[SAMPLE_COUNT].number,
		.longest_ns = row[SAMPLE_LONGEST].number,
	};
	struct error *err;

	loading->rows++;
	/* A class of a later version. */
	if (class == CLASS_COUNT || class == CLASS_EVENT)
		return NULL;
	sample.state = profile_settle_state(class, state_named(row[SAMPLE_STATE].text));
	err = program_of(loading, row, &sample.thread);
	if (!err)
		err = node_of(loading, row[SAMPLE_STACK].number, &sample.node);
	if (err)
		return err;
	sum_add(&loading->ns, sample.ns);
	sum_add(&loading->count, sample.count);
	return profile_add(loading->profile, &sample);
}

#define ROW_HASH SQL_PROGRAM_HASH " + metroHash64(class) + bitRotateLeft(cityHash64(state), 32)"

static struct error *load_samples(struct profile_loading *loading, struct store *store)
{
	const bool by_host = loading->url->by_host;
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql,
		"SELECT %s, toString(of_process), toString(of_comm), toString(of_cgroup), "
		"toString(of_class), toString(of_state), stack, sum_ns, sum_count, most FROM "
		"(SELECT %sany(process) AS of_process, any(comm) AS of_comm, any(cgroup) AS "
		"of_cgroup, any(class) AS of_class, any(state) AS of_state, stack, sum(ns) AS "
		"sum_ns, sum(times) AS sum_count, max(longest) AS most FROM ",
		by_host ? "toString(host)" : "''", by_host ? "host, " : "");
	sql_add_rows(&sql, loading->url, loading->detail, &sample_rows);
	sql_add(&sql, " GROUP BY %s" ROW_HASH ", stack ORDER BY sum_ns DESC LIMIT %llu)",
		by_host ? "host, " : "", (unsigned long long)STORE_SAMPLES_MOST);
	err = store_query(store, &sql, sample_columns, SAMPLE_COLUMNS, STORE_SAMPLES_MOST,
			  take_sample, loading);
	sql_deinit(&sql);
	return err;
}

/* --- what is missing --- */

static struct error *take_totals(void *context, const union store_value *row)
{
	struct profile_loading *loading = context;
	struct profile_losses *losses = &loading->profile->meta.losses;

	if (row[0].number > loading->ns)
		losses->lost_ns = row[0].number - loading->ns;
	if (row[1].number > loading->count)
		losses->lost = row[1].number - loading->count;
	return NULL;
}

/* Of samples beyond the most. */
static struct error *count_left_out(struct profile_loading *loading, struct store *store)
{
	static const struct store_column columns[] = { { "ns", STORE_U64 },
						       { "count", STORE_U64 } };
	struct sql sql = store_sql(store);
	struct error *err;

	if (loading->rows < STORE_SAMPLES_MOST)
		return NULL;
	sql_add(&sql, "SELECT sum(ns), sum(times) FROM ");
	sql_add_rows(&sql, loading->url, loading->detail, &sample_rows);
	err = store_query(store, &sql, columns, array_length(columns), 1, take_totals, loading);
	sql_deinit(&sql);
	return err;
}

/* The losses of profiles by the word that the table losses has in `what`: agent/agent.c and
 * agent/insert.c write them. */
#define LOST_FIELD(what, member)                              \
	{                                                     \
		what, offsetof(struct profile_losses, member) \
	}
static const struct {
	const char *what;
	size_t offset; /* of a uint64_t */
} lost_fields[] = {
	LOST_FIELD("events of profiles", lost),   LOST_FIELD("threads of profiles", threads_lost),
	LOST_FIELD("unwind tables", tables_lost), LOST_FIELD("requests for memory", memory_refused),
	LOST_FIELD("rows of samples", rows_lost),
};

static struct error *take_losses(void *context, const union store_value *row)
{
	struct profile_loading *loading = context;
	char *losses = (char *)&loading->profile->meta.losses;

	for (size_t i = 0; i < array_length(lost_fields); i++)
		if (text_equal(row[0].text, text_of(lost_fields[i].what)))
			sum_add((uint64_t *)(void *)(losses + lost_fields[i].offset),
				row[1].number);
	return NULL;
}

/* Events and the like that profilers had no room for (sink ''), and rows that did not reach
 * ClickHouse. An agent with several ClickHouses names them clickhouse, clickhouse-2 and so on:
 * which of them this one is, is not known, so those of all count. */
static struct error *count_losses(struct profile_loading *loading, struct store *store)
{
	static const struct store_column columns[] = { { "what", STORE_STRING },
						       { "count", STORE_U64 } };
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql, "SELECT toString(what), sum(count) FROM losses WHERE (sink = '' OR sink "
		      "LIKE 'clickhouse%%') AND what IN (");
	for (size_t i = 0; i < array_length(lost_fields); i++)
		sql_add(&sql, "%s'%s'", i ? ", " : "", lost_fields[i].what);
	sql_add(&sql, ") AND ");
	sql_add_time(&sql, loading->url, SQL_SELECT_HOST_NAMES);
	sql_add(&sql, " GROUP BY what");
	err = store_query(store, &sql, columns, array_length(columns), array_length(lost_fields),
			  take_losses, loading);
	sql_deinit(&sql);
	return err;
}

/* --- the whole --- */

static struct error *set_meta(struct profile_loading *loading, const struct store_hosts *hosts)
{
	struct profile_meta *meta = &loading->profile->meta;
	const char *kernel = store_hosts_kernel(hosts);
	_cleanup_free_ char *words = store_hosts_words(hosts);
	const uint64_t cpus = store_hosts_cpus(hosts);
	struct error *err =
		words ? name_of(loading, text_of(words), &meta->host) : &error_no_memory;

	if (!err && kernel)
		err = name_of(loading, text_of(kernel), &meta->kernel);
	if (!err)
		err = name_of(loading, TEXT("both"), &meta->mode);
	meta->captured_at_unix_ns = hosts->first_s * NS_PER_S;
	meta->end_unix_ns = hosts->end_s * NS_PER_S;
	meta->duration_ns = hosts->longest_ns;
	meta->lacks_threads = true;
	meta->observed_ns = hosts->observed_ns;
	meta->cpus = cpus > UINT32_MAX ? UINT32_MAX : (uint32_t)cpus;
	meta->losses.events = meta->losses.kept = loading->count;
	for (size_t i = 0; i < hosts->count; i++) {
		sum_add(&meta->losses.own_cpu_ns, hosts->items[i].agent_cpu_ns);
		sum_add(&meta->losses.run_ns, hosts->items[i].bpf_ns);
	}
	return err;
}

static struct error *load(struct profile_loading *loading, struct store *store)
{
	struct store_hosts hosts = { 0 };
	struct error *err = store_hosts_read(store, loading->url, &hosts);
	bool has_more = true;

	store_hosts_note_shared(&hosts, stderr);
	loading->detail = store_detail_of(loading->url);
	while (!err && !loading->rows && has_more) {
		err = load_stacks(loading, store);
		if (!err)
			err = load_samples(loading, store);
		if (!err && !loading->rows)
			err = store_detail_next(store, loading->url, "samples", &loading->detail,
						&has_more);
	}
	if (!err && !loading->rows)
		err = store_nothing(store, loading->url, "samples");
	if (!err)
		err = count_left_out(loading, store);
	if (!err)
		err = count_losses(loading, store);
	if (!err)
		err = set_meta(loading, &hosts);
	store_hosts_deinit(&hosts);
	return err;
}

struct error *store_profile_load(struct store *store, const struct store_url *url,
				 struct profile **ret)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct profile_loading loading = { .url = url, .no_stack = NODE_NONE };
	struct error *err = profile_create(&profile);

	if (err)
		return err;
	loading.profile = profile;
	err = load(&loading, store);
	word_map_deinit(&loading.stacks);
	word_map_deinit(&loading.programs);
	if (err)
		return err;
	*ret = take_ptr(profile);
	return NULL;
}

/* --- other lengths --- */

static void scale(uint64_t *total, uint64_t times, uint64_t parts)
{
	*total = sum_scaled(*total, times, parts);
}

void store_profile_scale(struct profile *profile, uint64_t times, uint64_t parts)
{
	struct profile_losses *losses = &profile->meta.losses;

	for (size_t i = 0; i < profile->samples.count; i++) {
		scale(&profile->samples.items[i].ns, times, parts);
		scale(&profile->samples.items[i].count, times, parts);
	}
	scale(&losses->events, times, parts);
	scale(&losses->kept, times, parts);
	scale(&losses->lost, times, parts);
	scale(&losses->lost_ns, times, parts);
	scale(&losses->rows_lost, times, parts);
	scale(&profile->meta.observed_ns, times, parts);
}
