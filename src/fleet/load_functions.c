/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "fleet/load_rows.h"
#include "fleet/measures.h"
#include "profile/class.h"

#define OF(id) (1u << STATE_##id)

/* How many of each program, by their time on CPUs and off them; and of all programs. */
#define FUNCTIONS_OF_PROGRAM          40
#define FUNCTIONS_MOST                600

#define NAME_OF(id, state, name, ...) [CLASS_##id] = name,
static const char *const class_names[CLASS_COUNT] = { PROFILE_CLASSES(NAME_OF) };
#undef NAME_OF

/* 1: on a CPU; 2: waiting while busy; 0: anything else. */
static void add_side(struct sql *sql)
{
	const char *separator = "";

	sql_add(sql, "multiIf(class = '%s', 1, class != '%s' AND state IN (",
		class_names[CLASS_ON_CPU], class_names[CLASS_EVENT]);
	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (FLEET_BUSY & 1u << i && i != STATE_EXEC && i != STATE_EXEC_USER &&
		    i != STATE_EXEC_SYSTEM) {
			/* A column is the name of its state, and "_ns". */
			sql_add(sql, "%s'%.*s'", separator, (int)strlen(fleet_state_columns[i]) - 3,
				fleet_state_columns[i]);
			separator = ", ";
		}
	sql_add(sql, "), 2, 0)");
}

enum { SIDE_NONE, SIDE_CPU, SIDE_OFF };

/* What a hash of host, program, slice and side stands for. */
struct function_key {
	const struct name *program; /* of `names` */
	uint32_t host;
	uint32_t slice;
	bool is_off;
};

/*
 * The server sums up millions of rows by host, program, side, slice and stack, which takes it less
 * than half as long by hashes of these as by the texts. Functions are asked for by hashes of their
 * names; one of a program has measures only if it is one of those with most time.
 */
struct function_loading {
	struct fleet_loading *loading;
	struct arena arena;
	struct names names;
	struct {
		MAP(uint64_t, const struct name *);
	} by_hash;
	struct {
		MAP(uint64_t, struct function_key);
	} keys;
	/* Hashes of programs and their functions; 1 more of a function that ran itself. */
	struct {
		ARRAY(uint64_t);
	} pairs;
	/* The time of programs by host, program, side and slice. */
	struct fleet_data bases;
};

static const struct store_column program_columns[] = {
	{ "host", STORE_STRING }, { "facts", STORE_U64 }, { "process", STORE_STRING },
	{ "slice", STORE_U32 },   { "side", STORE_U8 },   { "ns", STORE_U64 },
	{ "hash", STORE_U64 },
};

#define SAMPLE_COLUMNS "host, process, class, state, stack, ns, t"

static void add_samples(struct sql *sql, const struct fleet_loading *loading)
{
	const char *columns = loading->parts ? SAMPLE_COLUMNS ", facts" : SAMPLE_COLUMNS;

	sql_add_rows(sql, loading->url, loading->detail,
		     &(struct store_rows){ "samples", columns, columns, SQL_SELECTORS_ALL });
}

static struct error *take_base(void *context, const union store_value *row)
{
	struct function_loading *functions = context;
	struct fleet_data *bases = &functions->bases;
	const struct text program = row[FLEET_ROW_PROCESS].text;
	const bool is_off = row[FLEET_ROW_VALUES].number == SIDE_OFF;
	struct function_key *key;
	uint32_t host, base_host, measure;

	if (!fleet_row_host(functions->loading, functions->loading->data, row[FLEET_ROW_HOST].text,
			    row[FLEET_ROW_FACTS].number, &host) ||
	    !fleet_row_host(functions->loading, bases, row[FLEET_ROW_HOST].text,
			    row[FLEET_ROW_FACTS].number, &base_host))
		return &error_no_memory;
	if (host == FLEET_NONE)
		return NULL;
	key = map_add(&functions->keys, row[FLEET_ROW_VALUES + 2].number, NULL);
	if (!key)
		return &error_no_memory;
	*key = (struct function_key){
		.program = names_intern(&functions->names, program.bytes, program.length),
		.host = host,
		.slice = (uint32_t)row[FLEET_ROW_SLICE].number,
		.is_off = is_off,
	};
	measure = fleet_data_measure(bases, is_off ? FLEET_OFF : FLEET_CPU, program, TEXT(""));
	return key->program && measure != FLEET_NONE &&
			       fleet_data_add(
				       bases, measure, base_host, key->slice,
				       (double)row[FLEET_ROW_VALUES + 1].number * FLEET_SECONDS, 0)
		       ? NULL
		       : &error_no_memory;
}

/* Of rows that have `slice` and `side`. */
static const char *key_of_row(const struct fleet_loading *loading)
{
	return loading->parts ? "cityHash64(host, facts, process, slice, side)"
			      : "cityHash64(host, process, slice, side)";
}

static struct error *load_bases(struct function_loading *functions)
{
	struct fleet_loading *loading = functions->loading;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	fleet_add_keys(&sql, loading, "process");
	sql_add(&sql, ", toUInt8(");
	add_side(&sql);
	sql_add(&sql, ") AS side, sum(ns), %s FROM ", key_of_row(loading));
	add_samples(&sql, loading);
	sql_add(&sql, " WHERE side != 0 GROUP BY host, process, slice, side%s",
		fleet_more_keys(loading));
	err = store_query(loading->store, &sql, program_columns, array_length(program_columns),
			  FLEET_ROWS_MOST, take_base, functions);
	sql_deinit(&sql);
	return err;
}

enum { TOP_PROCESS, TOP_SIDE, TOP_HASH, TOP_NAME, TOP_NS, TOP_PROGRAM, TOP_COLUMNS };

static const struct store_column top_columns[TOP_COLUMNS] = {
	[TOP_PROCESS] = { "process", STORE_STRING },
	[TOP_SIDE] = { "side", STORE_U8 },
	[TOP_HASH] = { "hash", STORE_U64 },
	[TOP_NAME] = { "name", STORE_STRING },
	[TOP_NS] = { "ns", STORE_U64 },
	[TOP_PROGRAM] = { "program", STORE_U64 },
};

static struct error *take_top(void *context, const union store_value *row)
{
	struct function_loading *functions = context;
	struct fleet_data *data = functions->loading->data;
	const struct text program = row[TOP_PROCESS].text, text = row[TOP_NAME].text;
	const struct name *name = names_intern(&functions->names, text.bytes, text.length);
	const struct name **known =
		name ? map_add(&functions->by_hash, row[TOP_HASH].number, NULL) : NULL;

	const uint64_t hash = row[TOP_HASH].number, of = row[TOP_PROGRAM].number;

	if (!known || !array_push(&functions->pairs, of ^ hash) ||
	    !array_push(&functions->pairs, of ^ (hash + 1)))
		return &error_no_memory;
	*known = name;
	if (row[TOP_SIDE].number == SIDE_OFF)
		return fleet_data_measure(data, FLEET_OFF, program, text) != FLEET_NONE
			       ? NULL
			       : &error_no_memory;
	return fleet_data_measure(data, FLEET_CPU, program, text) != FLEET_NONE &&
			       fleet_data_measure(data, FLEET_CPU_OWN, program, text) != FLEET_NONE
		       ? NULL
		       : &error_no_memory;
}

static struct error *load_top(struct function_loading *functions)
{
	struct fleet_loading *loading = functions->loading;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	/* Old servers cannot ARRAY JOIN a column that comes from a JOIN. */
	sql_add(&sql, "SELECT toString(process), side, cityHash64(function), function, sum(ns) AS "
		      "total, cityHash64(process) FROM (SELECT process, side, arrayJoin(named) AS "
		      "function, ns FROM (SELECT process, toUInt8(");
	add_side(&sql);
	sql_add(&sql, ") AS side, stack, sum(ns) AS ns FROM ");
	add_samples(&sql, loading);
	sql_add(&sql,
		" WHERE side != 0 GROUP BY process, side, stack) AS sums ANY LEFT JOIN (SELECT "
		"hash AS stack, arrayDistinct(arrayMap(f -> toString(f), functions)) AS named FROM "
		"stacks) AS frames USING stack) WHERE function != '' GROUP BY process, side, "
		"function ORDER BY total DESC LIMIT %d BY process, side LIMIT %d",
		FUNCTIONS_OF_PROGRAM, FUNCTIONS_MOST);
	err = store_query(loading->store, &sql, top_columns, TOP_COLUMNS, FUNCTIONS_MOST, take_top,
			  functions);
	sql_deinit(&sql);
	return err;
}

enum { FUNCTION_KEY, FUNCTION_HASH, FUNCTION_NS, FUNCTION_COLUMNS };

static const struct store_column function_columns[FUNCTION_COLUMNS] = {
	[FUNCTION_KEY] = { "key", STORE_U64 },
	[FUNCTION_HASH] = { "function", STORE_U64 },
	[FUNCTION_NS] = { "ns", STORE_U64 },
};

/* The function that ran itself comes a second time, with its hash and 1. */
static struct error *take_function(void *context, const union store_value *row)
{
	struct function_loading *functions = context;
	struct fleet_data *data = functions->loading->data;
	const struct function_key *key = map_find(&functions->keys, row[FUNCTION_KEY].number);
	const struct name **name = map_find(&functions->by_hash, row[FUNCTION_HASH].number);
	enum fleet_kind kind;
	uint32_t measure;

	if (!key)
		return NULL;
	kind = key->is_off ? FLEET_OFF : FLEET_CPU;
	if (!name) {
		name = map_find(&functions->by_hash, row[FUNCTION_HASH].number - 1);
		kind = FLEET_CPU_OWN;
		if (!name || key->is_off)
			return NULL;
	}
	measure = fleet_data_find(data, kind, name_text(key->program), name_text(*name));
	if (measure == FLEET_NONE)
		return NULL;
	return fleet_data_add(data, measure, key->host, key->slice,
			      (double)row[FUNCTION_NS].number * FLEET_SECONDS, 0)
		       ? NULL
		       : &error_no_memory;
}

/* "1,2,3" */
static void add_hashes(struct sql *sql, struct function_loading *functions)
{
	const char *separator = "";

	map_for_each(&functions->by_hash, slot)
	{
		sql_add(sql, "%s%" PRIu64, separator, slot->key);
		separator = ",";
	}
}

static void add_pairs(struct sql *sql, const struct function_loading *functions)
{
	for (size_t i = 0; i < functions->pairs.count; i++)
		sql_add(sql, "%s%" PRIu64, i ? "," : "", functions->pairs.items[i]);
}

static struct error *load_by_host(struct function_loading *functions)
{
	struct fleet_loading *loading = functions->loading;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	sql_add(&sql,
		"SELECT key, function, sum(ns) FROM (SELECT key, program, arrayJoin(hashes) AS "
		"function, ns FROM (SELECT %s AS key, cityHash64(process) AS program, stack, "
		"sum(ns) AS ns, ",
		key_of_row(loading));
	fleet_add_slice(&sql, loading);
	sql_add(&sql, ", toUInt8(");
	add_side(&sql);
	sql_add(&sql, ") AS side FROM ");
	add_samples(&sql, loading);
	sql_add(&sql,
		" WHERE side != 0 GROUP BY key, program, slice, side, stack) AS sums ANY LEFT JOIN "
		"(SELECT hash AS stack, arrayFilter(h -> h IN (");
	add_hashes(&sql, functions);
	sql_add(&sql, "), arrayMap(f -> cityHash64(toString(f)), arrayDistinct(functions))) AS "
		      "called, arrayConcat(called, [cityHash64(toString(functions[-1])) + 1]) AS "
		      "hashes FROM stacks WHERE notEmpty(called)) AS frames USING stack) WHERE "
		      "bitXor(program, function) IN (");
	add_pairs(&sql, functions);
	sql_add(&sql, ") GROUP BY key, function");
	err = store_query(loading->store, &sql, function_columns, FUNCTION_COLUMNS, FLEET_ROWS_MOST,
			  take_function, functions);
	sql_deinit(&sql);
	return err;
}

/* Functions that take no time on a host are a share of 0 of what the program has. */
static struct error *add_bases(struct function_loading *functions, size_t measure)
{
	struct fleet_data *data = functions->loading->data, *bases = &functions->bases;
	const struct fleet_measure *of = &data->measures.items[measure];
	const struct text program = name_text(of->program);
	const uint32_t cpu = fleet_data_find(bases, FLEET_CPU, program, TEXT(""));
	const uint32_t off = fleet_data_find(bases, FLEET_OFF, program, TEXT(""));

	for (size_t host = 0; host < bases->hosts.count; host++) {
		const uint32_t number = fleet_data_host(data, name_text(bases->hosts.items[host]));

		for (size_t i = 0; i < data->slices; i++) {
			double base = fleet_data_sum(bases, cpu, host, i, i + 1).amount;

			if (of->kind == FLEET_OFF)
				base += fleet_data_sum(bases, off, host, i, i + 1).amount;
			if (base > 0 &&
			    !fleet_data_add(data, (uint32_t)measure, number, i, 0, base))
				return &error_no_memory;
		}
	}
	return NULL;
}

static struct error *load_all_functions(struct function_loading *functions)
{
	struct fleet_data *data = functions->loading->data;
	const size_t first = data->measures.count;
	struct error *err = load_bases(functions);

	if (!err)
		err = load_top(functions);
	if (err || !functions->by_hash.count)
		return err;
	err = load_by_host(functions);
	for (size_t i = first; !err && i < data->measures.count; i++)
		err = add_bases(functions, i);
	return err;
}

struct error *fleet_load_functions(struct fleet_loading *loading)
{
	struct function_loading functions = { .loading = loading };
	struct error *err = &error_no_memory;

	arena_init(&functions.arena, (size_t)64 << 20);
	names_init(&functions.names, &functions.arena);
	if (fleet_data_init(&functions.bases, loading->data->slices))
		err = load_all_functions(&functions);
	fleet_data_deinit(&functions.bases);
	map_deinit(&functions.by_hash);
	map_deinit(&functions.keys);
	array_deinit(&functions.pairs);
	names_deinit(&functions.names);
	arena_deinit(&functions.arena);
	return err;
}
