/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "fleet/load_rows.h"
#include "fleet/measures.h"
#include "profile/class.h"
#include "profile/import.h"
#include "profile/known_frames.h"
#include "store/stack_hash.h"

#define OF(id) (1u << STATE_##id)

/*
 * Of each program and side the functions with most time are compared, up to FUNCTIONS_OF_PROGRAM;
 * of all programs together as many as the text of a query has room for (256 KiB by default). One
 * with less than FUNCTION_NS_LEAST on all hosts cannot differ by a percentage point (SHARE_POINTS)
 * of the least base of any host (5 s), so it is not asked for.
 */
#define FUNCTIONS_OF_PROGRAM 40
#define FUNCTIONS_MOST       3000
#define FUNCTIONS_ASKED_MOST 100000
#define FUNCTION_NS_LEAST    50000000

/* Which functions these are is found by sums of hours for times that are not much shorter. */
#define HOURS_LEAST_S                 UINT64_C(1800)

#define NAME_OF(id, state, name, ...) [CLASS_##id] = name,
static const char *const class_names[CLASS_COUNT] = { PROFILE_CLASSES(NAME_OF) };
#undef NAME_OF

void fleet_add_function_side(struct sql *sql)
{
	const char *separator = "";

	sql_add(sql, "multiIf(class = '%s', %d, class != '%s' AND state IN (",
		class_names[CLASS_ON_CPU], FLEET_SIDE_CPU, class_names[CLASS_EVENT]);
	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (FLEET_BUSY & 1u << i && i != STATE_EXEC && i != STATE_EXEC_USER &&
		    i != STATE_EXEC_SYSTEM) {
			/* A column is the name of its state, and "_ns". */
			sql_add(sql, "%s'%.*s'", separator, (int)strlen(fleet_state_columns[i]) - 3,
				fleet_state_columns[i]);
			separator = ", ";
		}
	sql_add(sql, "), %d, %d)", FLEET_SIDE_OFF, FLEET_SIDE_NONE);
}

/* What a hash of host, program, slice and side stands for. */
struct function_key {
	const struct name *program; /* of `names` */
	uint32_t host;              /* FLEET_NONE: it does not count */
	uint32_t slice;
	bool is_off;
};

/*
 * The server reads rows of the time once, and sums them up by host, program, slice, side and stack;
 * from these, which are far fewer, it makes sums by function. Rows of these have a hash for the
 * host and so on, and a hash for the function: the sum of all functions, whose hash is 0, comes
 * with the texts. One function of a program has measures only if it is one of those with most time.
 */
struct function_sum {
	uint64_t key, function, ns;
};

/* So many sums may wait before keys are looked up again. */
#define SUMS_LEAST ((size_t)1 << 16)

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
	/* How many functions were taken, by the hash of the program and the side. */
	struct {
		MAP(uint64_t, uint32_t);
	} taken;
	/* Hosts in `data->nameless`, by name. */
	struct {
		MAP(struct text, bool);
	} nameless;
	/* Sums whose key has not been read yet. When there are `sums_most`, those whose key has
	 * been read by then are added. */
	struct {
		ARRAY(struct function_sum);
	} sums;
	size_t sums_most;
	/* Hashes of programs and their functions; 1 more of a function that ran itself. */
	struct {
		ARRAY(uint64_t);
	} pairs;
};

#define SAMPLE_COLUMNS "host, process, class, state, stack, ns, t"

void fleet_add_samples(struct sql *sql, const struct fleet_loading *loading,
		       enum store_detail detail)
{
	const char *columns = loading->parts ? SAMPLE_COLUMNS ", facts" : SAMPLE_COLUMNS;

	sql_add_rows(sql, loading->url, detail,
		     &(struct store_rows){ "samples", columns, columns, SQL_SELECTORS_ALL });
}

enum { TOP_PROCESS, TOP_SIDE, TOP_HASH, TOP_NAME, TOP_NS, TOP_PROGRAM, TOP_ORIGIN, TOP_COLUMNS };

static const struct store_column top_columns[TOP_COLUMNS] = {
	[TOP_PROCESS] = { "process", STORE_STRING },
	[TOP_SIDE] = { "side", STORE_U8 },
	[TOP_HASH] = { "hash", STORE_U64 },
	[TOP_NAME] = { "name", STORE_STRING },
	[TOP_NS] = { "ns", STORE_U64 },
	[TOP_PROGRAM] = { "program", STORE_U64 },
	[TOP_ORIGIN] = { "origin", STORE_STRING },
};

/* The first letter of a function's name in the query: 'k' of the kernel, 'u' of any other. */
#define ORIGIN_KERNEL "k"
#define ORIGIN_OTHER  "u"

/* False: no memory. `*ret`: one more function of this program and side is compared. */
static bool take_one_more(struct function_loading *functions, uint64_t program, uint64_t side,
			  bool *ret)
{
	bool is_new;
	uint32_t *taken = map_add(&functions->taken, program ^ side, &is_new);

	if (!taken)
		return false;
	if (is_new)
		*taken = 0;
	*ret = *taken < FUNCTIONS_OF_PROGRAM && functions->pairs.count / 2 < FUNCTIONS_MOST;
	*taken += *ret;
	return true;
}

static struct error *add_measure(struct function_loading *functions, enum fleet_kind kind,
				 const union store_value *row)
{
	struct fleet_data *data = functions->loading->data;
	const struct text program = row[TOP_PROCESS].text;
	const uint32_t number = fleet_data_measure(data, kind, program, row[TOP_NAME].text);
	const uint32_t base = fleet_data_base(data, kind, program, 0);

	if (!fleet_data_use_base(data, number, base))
		return &error_no_memory;
	data->measures.items[number].program_hash = row[TOP_PROGRAM].number;
	data->measures.items[number].function_hash = row[TOP_HASH].number;
	return NULL;
}

/* "[incomplete]", "--": what was not measured, or no function. "[shopd+0x1a]" is a place in a
 * program without names of functions. */
static bool is_placeholder(const struct name *name)
{
	return import_kind(name) == FRAME_NOTE &&
	       text_equal(frame_shown_name(name), name_text(name));
}

static struct error *take_top(void *context, const union store_value *row)
{
	struct function_loading *functions = context;
	struct fleet_data *data = functions->loading->data;
	const struct text text = row[TOP_NAME].text;
	const uint64_t hash = row[TOP_HASH].number, of = row[TOP_PROGRAM].number;
	const bool is_off = row[TOP_SIDE].number == FLEET_SIDE_OFF;
	const enum frame_kind kind =
		text_equal(row[TOP_ORIGIN].text, TEXT(ORIGIN_KERNEL)) ? FRAME_KERNEL : FRAME_USER;
	const struct name *name = names_intern(&functions->names, text.bytes, text.length);
	const struct name **known;
	struct error *err;
	bool is_taken;

	if (!name)
		return &error_no_memory;
	/* A function on the way of all threads has the time of all that it leads to, and says
	 * nothing of the program. */
	if (is_placeholder(name) || frame_is_passed(kind, name))
		return NULL;
	if (!take_one_more(functions, of, row[TOP_SIDE].number, &is_taken))
		return &error_no_memory;
	if (!is_taken) {
		data->functions_left_out++;
		return NULL;
	}
	known = map_add(&functions->by_hash, hash, NULL);
	if (!known || !array_push(&functions->pairs, of ^ hash) ||
	    !array_push(&functions->pairs, of ^ (hash + 1)))
		return &error_no_memory;
	*known = name;
	if (is_off)
		return add_measure(functions, FLEET_OFF, row);
	err = add_measure(functions, FLEET_CPU, row);
	return err ? err : add_measure(functions, FLEET_CPU_OWN, row);
}

static enum store_detail top_detail(const struct fleet_loading *loading)
{
	return loading->url->to_s - loading->url->from_s >= HOURS_LEAST_S ? STORE_HOURS
									  : loading->detail;
}

static struct error *load_top(struct function_loading *functions)
{
	struct fleet_loading *loading = functions->loading;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	/* Old servers cannot ARRAY JOIN a column that comes from a JOIN. A name that the kernel and
	 * a program have counts as one of the program. Of functions with the same time, those of
	 * the program come first, and those with a name before "[shopd+0x1a]": they are what
	 * differences of the same size are named after. */
	sql_add(&sql, "SELECT toString(process), side, cityHash64(function), function, sum(ns) AS "
		      "total, cityHash64(process), max(letter) AS origin FROM (SELECT process, "
		      "side, substring(lettered, 1, 1) AS letter, substring(lettered, 2) AS "
		      "function, ns FROM (SELECT process, side, arrayJoin(named) AS lettered, ns "
		      "FROM (SELECT process, toUInt8(");
	fleet_add_function_side(&sql);
	sql_add(&sql, ") AS side, stack, sum(ns) AS ns FROM ");
	fleet_add_samples(&sql, loading, top_detail(loading));
	sql_add(&sql,
		" WHERE side != 0 GROUP BY process, side, stack) AS sums ANY LEFT JOIN (SELECT "
		"hash AS stack, arrayDistinct(arrayMap((f, kind) -> concat(if(bitAnd(kind, %d) = "
		"%d, '" ORIGIN_KERNEL "', '" ORIGIN_OTHER "'), toString(f)), functions, "
		"arrayResize(kinds, length(functions)))) AS named FROM stacks) AS frames USING "
		"stack)) WHERE "
		"function != '' GROUP BY process, side, function HAVING total >= %d ORDER BY total "
		"DESC, process, side, origin DESC, substring(function, 1, 1) = '[', function "
		"LIMIT %d",
		STACK_KIND_INLINED - 1, FRAME_KERNEL, FUNCTION_NS_LEAST, FUNCTIONS_ASKED_MOST);
	err = store_query(loading->store, &sql, top_columns, TOP_COLUMNS, FUNCTIONS_ASKED_MOST,
			  take_top, functions);
	sql_deinit(&sql);
	return err;
}

enum {
	FUNCTION_KEY,
	FUNCTION_HASH,
	FUNCTION_NS,
	FUNCTION_SLICE,
	FUNCTION_SIDE,
	FUNCTION_FACTS,
	FUNCTION_HOST,
	FUNCTION_PROCESS,
	FUNCTION_COLUMNS
};

static const struct store_column function_columns[FUNCTION_COLUMNS] = {
	[FUNCTION_KEY] = { "key", STORE_U64 },
	[FUNCTION_HASH] = { "function", STORE_U64 },
	[FUNCTION_NS] = { "ns", STORE_U64 },
	[FUNCTION_SLICE] = { "slice", STORE_U32 },
	[FUNCTION_SIDE] = { "side", STORE_U8 },
	[FUNCTION_FACTS] = { "facts", STORE_U64 },
	[FUNCTION_HOST] = { "host", STORE_STRING },
	[FUNCTION_PROCESS] = { "process", STORE_STRING },
};

/* The time of all functions of a host, program, slice and side: CPU time is also busy time. */
static bool add_base(struct function_loading *functions, const struct function_key *key,
		     enum fleet_kind kind, uint64_t ns)
{
	struct fleet_data *data = functions->loading->data;
	const uint32_t base = fleet_data_base(data, kind, name_text(key->program), 0);

	return fleet_data_add_base(data, base, key->host, key->slice, (double)ns * FLEET_SECONDS);
}

/* That time, with what its key stands for. */
static struct error *take_base(struct function_loading *functions, const union store_value *row)
{
	const struct text program = row[FUNCTION_PROCESS].text;
	const uint64_t ns = row[FUNCTION_NS].number;
	struct function_key *key;
	uint32_t host;

	if (!fleet_row_host(functions->loading, functions->loading->data, row[FUNCTION_HOST].text,
			    row[FUNCTION_FACTS].number, &host))
		return &error_no_memory;
	if (map_find(&functions->nameless, row[FUNCTION_HOST].text))
		host = FLEET_NONE;
	key = map_add(&functions->keys, row[FUNCTION_KEY].number, NULL);
	if (!key)
		return &error_no_memory;
	*key = (struct function_key){
		.program = names_intern(&functions->names, program.bytes, program.length),
		.host = host,
		.slice = (uint32_t)row[FUNCTION_SLICE].number,
		.is_off = row[FUNCTION_SIDE].number == FLEET_SIDE_OFF,
	};
	if (host == FLEET_NONE)
		return NULL;
	return key->program && add_base(functions, key, FLEET_OFF, ns) &&
			       (key->is_off || add_base(functions, key, FLEET_CPU, ns))
		       ? NULL
		       : &error_no_memory;
}

/* The function that ran itself comes a second time, with its hash and 1. */
static struct error *add_function(struct function_loading *functions,
				  const struct function_sum *sum)
{
	struct fleet_data *data = functions->loading->data;
	const struct function_key *key = map_find(&functions->keys, sum->key);
	const struct name **name = map_find(&functions->by_hash, sum->function);
	enum fleet_kind kind;
	uint32_t measure;

	if (!key || key->host == FLEET_NONE)
		return NULL;
	kind = key->is_off ? FLEET_OFF : FLEET_CPU;
	if (!name) {
		name = map_find(&functions->by_hash, sum->function - 1);
		kind = FLEET_CPU_OWN;
		if (!name || key->is_off)
			return NULL;
	}
	measure = fleet_data_find(data, kind, name_text(key->program), name_text(*name));
	if (measure == FLEET_NONE)
		return NULL;
	return fleet_data_add(data, measure, key->host, key->slice, (double)sum->ns * FLEET_SECONDS)
		       ? NULL
		       : &error_no_memory;
}

/* Add the sums whose keys are known. Rows come in no order, so about a fourth of all sums wait at
 * most. */
static struct error *add_known(struct function_loading *functions)
{
	struct error *err = NULL;
	size_t left = 0;

	for (size_t i = 0; !err && i < functions->sums.count; i++) {
		const struct function_sum sum = functions->sums.items[i];

		if (map_find(&functions->keys, sum.key))
			err = add_function(functions, &sum);
		else
			functions->sums.items[left++] = sum;
	}
	functions->sums.count = left;
	functions->sums_most = left * 2 > SUMS_LEAST ? left * 2 : SUMS_LEAST;
	return err;
}

static struct error *take_function(void *context, const union store_value *row)
{
	struct function_loading *functions = context;
	const struct function_sum sum = { row[FUNCTION_KEY].number, row[FUNCTION_HASH].number,
					  row[FUNCTION_NS].number };

	if (!sum.function)
		return take_base(functions, row);
	if (map_find(&functions->keys, sum.key))
		return add_function(functions, &sum);
	if (!array_push(&functions->sums, sum))
		return &error_no_memory;
	return functions->sums.count < functions->sums_most ? NULL : add_known(functions);
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

/* Rows by host, program, slice, side and stack. */
static void add_sums_by_stack(struct sql *sql, const struct fleet_loading *loading)
{
	const char *facts = fleet_more_keys(loading);

	sql_add(sql, "SELECT host, process%s, stack, sum(ns) AS ns, ", facts);
	fleet_add_slice(sql, loading);
	sql_add(sql, ", toUInt8(");
	fleet_add_function_side(sql);
	sql_add(sql, ") AS side FROM ");
	fleet_add_samples(sql, loading, loading->detail);
	sql_add(sql, " WHERE side != 0 GROUP BY host, process%s, slice, side, stack", facts);
}

static struct error *load_by_host(struct function_loading *functions)
{
	struct fleet_loading *loading = functions->loading;
	const char *facts = fleet_more_keys(loading);
	struct sql sql = store_sql(loading->store);
	struct error *err;

	sql_add(&sql,
		"SELECT key, function, sum(ns), any(slice), any(side), %s, if(function = 0, "
		"toString(any(host)), ''), if(function = 0, toString(any(process)), '') FROM "
		"(SELECT "
		"host, process%s, slice, side, cityHash64(host, process%s, slice, side) AS key, "
		"cityHash64(process) AS program, arrayJoin(arrayConcat([toUInt64(0)], hashes)) AS "
		"function, ns FROM (",
		loading->parts ? "any(facts)" : "toUInt64(0)", facts, facts);
	add_sums_by_stack(&sql, loading);
	sql_add(&sql, ") AS sums ANY LEFT JOIN (SELECT hash AS stack, arrayFilter(h -> h IN (");
	add_hashes(&sql, functions);
	sql_add(&sql, "), arrayMap(f -> cityHash64(toString(f)), arrayDistinct(functions))) AS "
		      "called, arrayConcat(called, [cityHash64(toString(functions[-1])) + 1]) AS "
		      "hashes FROM stacks WHERE notEmpty(called)) AS frames USING stack) WHERE "
		      "function = 0 OR bitXor(program, function) IN (");
	add_pairs(&sql, functions);
	sql_add(&sql, ") GROUP BY key, function");
	err = store_query(loading->store, &sql, function_columns, FUNCTION_COLUMNS, FLEET_ROWS_MOST,
			  take_function, functions);
	sql_deinit(&sql);
	return err ? err : add_known(functions);
}

static const struct store_column nameless_columns[] = { { "host", STORE_STRING } };

static struct error *take_nameless(void *context, const union store_value *row)
{
	struct function_loading *functions = context;
	struct fleet_data *data = functions->loading->data;
	const struct name *name = names_intern(&data->names, row[0].text.bytes, row[0].text.length);

	return name && array_push(&data->nameless, name) &&
			       map_add(&functions->nameless, name_text(name), NULL)
		       ? NULL
		       : &error_no_memory;
}

/* Where the agent left out names of functions (agent/agent.c) in more than one of so many
 * intervals, functions seem to have less time than on other hosts. */
#define NAMELESS_PART 50

static struct error *load_nameless(struct function_loading *functions)
{
	struct fleet_loading *loading = functions->loading;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	sql_add(&sql, "SELECT toString(host) FROM (SELECT host, toUInt64(1) AS seen, toUInt64(0) "
		      "AS without FROM loads WHERE ");
	sql_add_time(&sql, loading->url, SQL_SELECT_HOSTS);
	sql_add(&sql, " UNION ALL SELECT host, toUInt64(0) AS seen, toUInt64(1) AS without FROM "
		      "losses WHERE ");
	sql_add_time(&sql, loading->url, SQL_SELECT_HOST_NAMES);
	sql_add(&sql,
		" AND what = 'files without names of functions' GROUP BY host, t) GROUP BY host "
		"HAVING sum(without) * "
		"%d > sum(seen) ORDER BY host",
		NAMELESS_PART);
	err = store_query(loading->store, &sql, nameless_columns, array_length(nameless_columns),
			  FLEET_ROWS_MOST, take_nameless, functions);
	sql_deinit(&sql);
	return err;
}

static struct error *load_all_functions(struct function_loading *functions)
{
	struct error *err = load_nameless(functions);

	if (!err)
		err = load_top(functions);
	return err || !functions->by_hash.count ? err : load_by_host(functions);
}

struct error *fleet_load_functions(struct fleet_loading *loading)
{
	struct function_loading functions = { .loading = loading, .sums_most = SUMS_LEAST };
	struct error *err;

	arena_init(&functions.arena, (size_t)64 << 20);
	names_init(&functions.names, &functions.arena);
	err = load_all_functions(&functions);
	map_deinit(&functions.by_hash);
	map_deinit(&functions.keys);
	map_deinit(&functions.taken);
	map_deinit(&functions.nameless);
	array_deinit(&functions.sums);
	array_deinit(&functions.pairs);
	names_deinit(&functions.names);
	arena_deinit(&functions.arena);
	return err;
}
