/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/load.h"

#include <inttypes.h>
#include <stdio.h>

#include "fleet/measures.h"
#include "profile/class.h"
#include "store/spans.h"

/* More rows than these are an error, which says to ask for less. */
#define ROWS_MOST ((uint64_t)20 * 1000 * 1000)

#define SECONDS   1e-9

struct fleet_loading {
	struct store *store;
	const struct store_url *url;
	uint64_t slice_s; /* how long a slice is */
	enum store_detail detail;
	const struct fleet_parts *parts; /* NULL: hosts are whole */
	struct fleet_data *data;
};

/* --- parts of hosts --- */

/* The part is the last byte. */
char *fleet_part_name(struct text host, uint8_t part)
{
	return text_print("%.*s%c", (int)host.length, host.length ? host.bytes : "", '0' + part);
}

uint8_t fleet_part_of_name(struct text name)
{
	return name.length ? (uint8_t)(name.bytes[name.length - 1] - '0') : FLEET_NO_PART;
}

/* The number in `data` of the host or its part that a row is of. False: no memory. `*ret` is
 * FLEET_NONE if the row does not count. */
static bool host_of(const struct fleet_loading *loading, struct fleet_data *data, struct text host,
		    uint64_t facts, uint32_t *ret)
{
	_cleanup_free_ char *name = NULL;
	uint8_t part;

	if (loading->parts) {
		part = loading->parts->part_of(loading->parts->context, host, facts);
		*ret = FLEET_NONE;
		if (part == FLEET_NO_PART)
			return true;
		name = fleet_part_name(host, part);
		if (!name)
			return false;
		host = text_of(name);
	}
	*ret = fleet_data_host(data, host);
	return *ret != FLEET_NONE;
}

/* ", facts" where they count. */
static const char *more_keys(const struct fleet_loading *loading)
{
	return loading->parts ? ", facts" : "";
}

/* --- rows of host, program and slice --- */

enum { ROW_HOST, ROW_FACTS, ROW_PROCESS, ROW_SLICE, ROW_VALUES };

static const struct store_column row_columns[ROW_VALUES] = {
	[ROW_HOST] = { "host", STORE_STRING },
	[ROW_FACTS] = { "facts", STORE_U64 },
	[ROW_PROCESS] = { "process", STORE_STRING },
	[ROW_SLICE] = { "slice", STORE_U32 },
};

static void add_slice(struct sql *sql, const struct fleet_loading *loading)
{
	if (loading->data->slices == 1)
		sql_add(sql, "toUInt32(0) AS slice");
	else
		/* Sums may begin before the first slice. */
		sql_add(sql,
			"toUInt32(least(intDiv(greatest(toUInt32(t), %" PRIu64 ") - %" PRIu64
			", %" PRIu64 "), %zu)) AS slice",
			loading->url->from_s, loading->url->from_s, loading->slice_s,
			loading->data->slices - 1);
}

static void add_keys(struct sql *sql, const struct fleet_loading *loading, const char *process)
{
	sql_add(sql, "SELECT toString(host), %s, toString(%s), ",
		loading->parts ? "facts" : "toUInt64(0)", process);
	add_slice(sql, loading);
}

/* Adds to a measure of the host and program of a row. */
static struct error *add(struct fleet_loading *loading, const union store_value *row,
			 enum fleet_kind kind, struct text name, double amount, double base)
{
	uint32_t host, measure;

	if (!host_of(loading, loading->data, row[ROW_HOST].text, row[ROW_FACTS].number, &host))
		return &error_no_memory;
	if (host == FLEET_NONE)
		return NULL;
	measure = fleet_data_measure(loading->data, kind, row[ROW_PROCESS].text, name);
	return measure != FLEET_NONE && fleet_data_add(loading->data, measure, host,
						       (size_t)row[ROW_SLICE].number, amount, base)
		       ? NULL
		       : &error_no_memory;
}

/* --- states --- */

enum { STATES_FIRST = ROW_VALUES, STATES_END = STATES_FIRST + STATE_COUNT };

static const char *const state_columns[STATE_COUNT] = {
#define STATE_COLUMN(id, main, name, ...) [STATE_##id] = name "_ns",
	THREAD_STATES(STATE_COLUMN)
#undef STATE_COLUMN
};

static double sum_of_states(const union store_value *row, unsigned states)
{
	double sum = 0;

	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (states & 1u << i)
			sum += (double)row[STATES_FIRST + i].number;
	return sum * SECONDS;
}

#define OF(id) (1u << STATE_##id)

static struct error *take_states(void *context, const union store_value *row)
{
	struct fleet_loading *loading = context;
	const double all = sum_of_states(row, (1u << STATE_COUNT) - 1);
	const double busy = sum_of_states(row, FLEET_BUSY);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < fleet_state_count; i++)
		err = add(loading, row, fleet_states[i].kind, text_of(fleet_states[i].name),
			  sum_of_states(row, fleet_states[i].states),
			  fleet_states[i].kind == FLEET_STATE ? busy : all);
	return err;
}

/* "a, b", or "sum(a), sum(b)"; to be freed. */
static char *state_list(const char *before, const char *after)
{
	char *list = NULL;
	size_t length;
	FILE *out = open_memstream(&list, &length);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < STATE_COUNT; i++)
		fprintf(out, ", %s%s%s", before, state_columns[i], after);
	if (fclose(out) == 0)
		return list;
	free(list);
	return NULL;
}

static struct error *load_states(struct fleet_loading *loading)
{
	struct store_column columns[STATES_END];
	_cleanup_free_ char *sums = state_list("sum(", ")"), *names = state_list("", "");
	_cleanup_free_ char *rows =
		names ? text_print("host, process, t%s%s", more_keys(loading), names) : NULL;
	struct sql sql;
	struct error *err;

	if (!sums || !rows)
		return &error_no_memory;
	memcpy(columns, row_columns, sizeof(row_columns));
	for (size_t i = ROW_VALUES; i < STATES_END; i++)
		columns[i] = (struct store_column){ "sum", STORE_U64 };
	sql = store_sql(loading->store);
	add_keys(&sql, loading, "process");
	sql_add(&sql, "%s FROM ", sums);
	sql_add_rows(&sql, loading->url, loading->detail,
		     &(struct store_rows){ "states", rows, rows, SQL_SELECTORS_ALL });
	sql_add(&sql, " GROUP BY host, process, slice%s", more_keys(loading));
	err = store_query(loading->store, &sql, columns, STATES_END, ROWS_MOST, take_states,
			  loading);
	sql_deinit(&sql);
	return err;
}

/* --- counters --- */

enum { METRICS_MASK0 = ROW_VALUES, METRICS_MASK1, METRICS_RUN, METRICS_FIRST };
#define METRICS_MOST 32

static bool is_measured(const union store_value *row, enum metric_id metric)
{
	const uint64_t mask = row[metric < 64 ? METRICS_MASK0 : METRICS_MASK1].number;

	return mask >> (metric % 64) & 1;
}

static struct error *take_metrics(void *context, const union store_value *row)
{
	struct fleet_loading *loading = context;
	const double run = (double)row[METRICS_RUN].number * SECONDS;
	struct error *err = NULL;

	if (!is_measured(row, METRIC_run_time_ns))
		return NULL;
	for (size_t i = 0; !err && i < fleet_metric_count; i++)
		if (is_measured(row, fleet_metrics[i].metric))
			err = add(loading, row, FLEET_METRIC, text_of(fleet_metrics[i].name),
				  (double)row[METRICS_FIRST + i].number, run);
	return err;
}

static struct error *load_metrics(struct fleet_loading *loading)
{
	struct store_column columns[METRICS_MOST];
	_cleanup_free_ char *names = text_print(
		"host, process, t%s, measured0, measured1, run_time_ns", more_keys(loading));
	const size_t count = METRICS_FIRST + fleet_metric_count;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	memcpy(columns, row_columns, sizeof(row_columns));
	for (size_t i = ROW_VALUES; i < count; i++)
		columns[i] = (struct store_column){ "value", STORE_U64 };
	add_keys(&sql, loading, "process");
	sql_add(&sql, ", measured0, measured1, sum(run_time_ns)");
	for (size_t i = 0; names && i < fleet_metric_count; i++) {
		char *more = text_print("%s, %s", names, fleet_metrics[i].name);

		free(names);
		names = more;
		sql_add(&sql, ", sum(%s)", fleet_metrics[i].name);
	}
	sql_add(&sql, " FROM ");
	if (names)
		sql_add_rows(&sql, loading->url, loading->detail,
			     &(struct store_rows){ "threads", names, names, SQL_SELECTORS_ALL });
	sql_add(&sql, " GROUP BY host, process, slice, measured0, measured1%s", more_keys(loading));
	err = !names ? &error_no_memory
		     : store_query(loading->store, &sql, columns, count, ROWS_MOST, take_metrics,
				   loading);
	sql_deinit(&sql);
	return err;
}

/* --- pressure --- */

static struct error *take_pressures(void *context, const union store_value *row)
{
	struct fleet_loading *loading = context;
	const double seconds = (double)row[ROW_VALUES].number / 1000;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < fleet_pressure_count; i++)
		err = add(loading, row, FLEET_HOST, text_of(fleet_pressures[i].name),
			  (double)row[ROW_VALUES + 1 + i].number * SECONDS, seconds);
	return err;
}

static struct error *load_pressures(struct fleet_loading *loading)
{
	struct store_column columns[METRICS_MOST];
	const size_t count = ROW_VALUES + 1 + fleet_pressure_count;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	memcpy(columns, row_columns, sizeof(row_columns));
	for (size_t i = ROW_VALUES; i < count; i++)
		columns[i] = (struct store_column){ "value", STORE_U64 };
	add_keys(&sql, loading, "''");
	sql_add(&sql, ", sum(ms)");
	for (size_t i = 0; i < fleet_pressure_count; i++)
		sql_add(&sql, ", sum(%s)", fleet_pressures[i].column);
	sql_add(&sql, " FROM loads WHERE ");
	sql_add_time(&sql, loading->url, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY host, slice%s", more_keys(loading));
	err = store_query(loading->store, &sql, columns, count, ROWS_MOST, take_pressures, loading);
	sql_deinit(&sql);
	return err;
}

/* --- functions --- */

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
			sql_add(sql, "%s'%.*s'", separator, (int)strlen(state_columns[i]) - 3,
				state_columns[i]);
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
	const struct text program = row[ROW_PROCESS].text;
	const bool is_off = row[ROW_VALUES].number == SIDE_OFF;
	struct function_key *key;
	uint32_t host, base_host, measure;

	if (!host_of(functions->loading, functions->loading->data, row[ROW_HOST].text,
		     row[ROW_FACTS].number, &host) ||
	    !host_of(functions->loading, bases, row[ROW_HOST].text, row[ROW_FACTS].number,
		     &base_host))
		return &error_no_memory;
	if (host == FLEET_NONE)
		return NULL;
	key = map_add(&functions->keys, row[ROW_VALUES + 2].number, NULL);
	if (!key)
		return &error_no_memory;
	*key = (struct function_key){
		.program = names_intern(&functions->names, program.bytes, program.length),
		.host = host,
		.slice = (uint32_t)row[ROW_SLICE].number,
		.is_off = is_off,
	};
	measure = fleet_data_measure(bases, is_off ? FLEET_OFF : FLEET_CPU, program, TEXT(""));
	return key->program && measure != FLEET_NONE &&
			       fleet_data_add(bases, measure, base_host, key->slice,
					      (double)row[ROW_VALUES + 1].number * SECONDS, 0)
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

	add_keys(&sql, loading, "process");
	sql_add(&sql, ", toUInt8(");
	add_side(&sql);
	sql_add(&sql, ") AS side, sum(ns), %s FROM ", key_of_row(loading));
	add_samples(&sql, loading);
	sql_add(&sql, " WHERE side != 0 GROUP BY host, process, slice, side%s", more_keys(loading));
	err = store_query(loading->store, &sql, program_columns, array_length(program_columns),
			  ROWS_MOST, take_base, functions);
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
			      (double)row[FUNCTION_NS].number * SECONDS, 0)
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
	add_slice(&sql, loading);
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
	err = store_query(loading->store, &sql, function_columns, FUNCTION_COLUMNS, ROWS_MOST,
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

static struct error *load_functions(struct fleet_loading *loading)
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

/* --- all --- */

struct error *fleet_load(struct store *store, const struct store_url *url, size_t slices,
			 const struct fleet_parts *parts, struct fleet_data *ret)
{
	struct fleet_data data;
	struct fleet_loading loading = {
		.store = store, .url = url, .parts = parts, .data = &data
	};
	static struct error *(*const loaders[])(struct fleet_loading *) = {
		load_states, load_metrics, load_pressures, load_functions
	};
	struct error *err = NULL;

	if (!fleet_data_init(&data, slices)) {
		fleet_data_deinit(&data);
		return &error_no_memory;
	}
	data.seconds = (double)(url->to_s - url->from_s);
	loading.slice_s = (url->to_s - url->from_s) / slices;
	if (!loading.slice_s)
		loading.slice_s = 1;
	/* A sum of a minute is in one slice, and hours may be in several. */
	loading.detail = slices == 1            ? STORE_SUMS
			 : loading.slice_s < 60 ? STORE_ROWS
						: STORE_MINUTES;
	for (size_t i = 0; !err && i < array_length(loaders); i++)
		err = loaders[i](&loading);
	if (err)
		fleet_data_deinit(&data);
	else
		*ret = data;
	return err;
}
