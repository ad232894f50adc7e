/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/wait_states.h"

#include <inttypes.h>
#include <math.h>

#include "fleet/groups.h"
#include "fleet/load_rows.h"
#include "state/reading.h"

/* The waits in the function of a finding, by state. */
struct side_waits {
	double value[STATE_COUNT], other[STATE_COUNT];
};

/* A function of a program, by hashes of their names. */
struct function_id {
	uint64_t program, function;
};

struct wait_loading {
	const struct fleet_loading *loading;
	const struct fleet_sides *sides;
	const struct fleet_data *data;
	const struct fleet_findings *findings;
	size_t hosts;             /* that were compared */
	struct side_waits *waits; /* by finding */
	/* The first finding of each function, by number, and the next one after each. */
	struct {
		MAP(struct function_id, uint32_t);
	} first;
	uint32_t *next;
};

/* --- rows --- */

enum {
	WAIT_HOST,
	WAIT_FACTS,
	WAIT_LATE,
	WAIT_PROGRAM,
	WAIT_FUNCTION,
	WAIT_STATE,
	WAIT_NS,
	WAIT_COLUMNS
};

static const struct store_column wait_columns[WAIT_COLUMNS] = {
	[WAIT_HOST] = { "host", STORE_STRING },
	[WAIT_FACTS] = { "facts", STORE_U64 },
	[WAIT_LATE] = { "late", STORE_U8 },
	[WAIT_PROGRAM] = { "program", STORE_U64 },
	[WAIT_FUNCTION] = { "function", STORE_U64 },
	[WAIT_STATE] = { "state", STORE_STRING },
	[WAIT_NS] = { "ns", STORE_U64 },
};

/* Where waits of this host count, or NULL. */
static double *side_of(const struct wait_loading *loading, uint32_t finding, uint32_t host,
		       bool is_late)
{
	struct side_waits *waits = &loading->waits[finding];
	const uint32_t of = loading->findings->items[finding].host;

	switch (loading->sides->comparison) {
	case FLEET_OF_HOSTS:
		return host == of ? waits->value : waits->other;
	case FLEET_OF_GROUPS:
		if (loading->sides->groups[host] == FLEET_NO_GROUP)
			return NULL;
		return loading->sides->groups[host] == FLEET_SECOND ? waits->value : waits->other;
	case FLEET_OF_TIMES:
		if (of != FLEET_NONE && host != of)
			return NULL;
		return is_late ? waits->value : waits->other;
	}
	return NULL;
}

static enum state state_of(struct text name)
{
	unsigned state = 0;

	while (state < STATE_COUNT && !text_equal(name, text_of(state_rows[state].name)))
		state++;
	return (enum state)state;
}

static struct error *take_wait(void *context, const union store_value *row)
{
	struct wait_loading *loading = context;
	const struct function_id id = { row[WAIT_PROGRAM].number, row[WAIT_FUNCTION].number };
	const uint32_t *first = map_find(&loading->first, id);
	const enum state state = state_of(row[WAIT_STATE].text);
	uint32_t host;

	if (!fleet_find_row_host(loading->loading, loading->data, row[WAIT_HOST].text,
				 row[WAIT_FACTS].number, &host))
		return &error_no_memory;
	if (!first || state == STATE_COUNT || host >= loading->hosts)
		return NULL;
	for (uint32_t i = *first; i != FLEET_NONE; i = loading->next[i]) {
		double *side = side_of(loading, i, host, row[WAIT_LATE].number != 0);

		if (side)
			side[state] += (double)row[WAIT_NS].number;
	}
	return NULL;
}

/* --- the query --- */

static bool is_wait(const struct wait_loading *loading, size_t finding)
{
	return fleet_finding_measure(loading->data, &loading->findings->items[finding])->kind ==
	       FLEET_OFF;
}

static bool find_functions(struct wait_loading *loading)
{
	for (size_t i = 0; i < loading->findings->count; i++) {
		const struct fleet_measure *measure =
			fleet_finding_measure(loading->data, &loading->findings->items[i]);
		uint32_t *first;
		bool is_new;

		if (!is_wait(loading, i))
			continue;
		first = map_add(
			&loading->first,
			((struct function_id){ measure->program_hash, measure->function_hash }),
			&is_new);
		if (!first)
			return false;
		loading->next[i] = is_new ? FLEET_NONE : *first;
		*first = (uint32_t)i;
	}
	return true;
}

static void add_numbers(struct sql *sql, struct wait_loading *loading,
			uint64_t (*number)(const struct function_id *id))
{
	const char *separator = "";

	map_for_each(&loading->first, slot)
	{
		sql_add(sql, "%s%" PRIu64, separator, number(&slot->key));
		separator = ",";
	}
}

static uint64_t program_of(const struct function_id *id)
{
	return id->program;
}

static uint64_t function_of(const struct function_id *id)
{
	return id->function;
}

static uint64_t pair_of(const struct function_id *id)
{
	return id->program ^ id->function;
}

static struct error *load_waits(struct wait_loading *waits)
{
	const struct fleet_loading *loading = waits->loading;
	const char *facts = fleet_more_keys(loading);
	struct sql sql = store_sql(loading->store);
	struct error *err;

	sql_add(&sql,
		"SELECT toString(host), %s, late, program, function, toString(state), sum(ns) FROM "
		"(SELECT host%s, late, program, state, arrayJoin(called) AS function, ns FROM "
		"(SELECT host%s, cityHash64(process) AS program, state, stack, sum(ns) AS ns, "
		"toUInt8((",
		loading->parts ? "facts" : "toUInt64(0)", facts, facts);
	fleet_add_slice(&sql, loading);
	sql_add(&sql, ") >= %zu) AS late FROM ", waits->sides->cut);
	fleet_add_samples(&sql, loading, loading->detail);
	sql_add(&sql, " WHERE ");
	fleet_add_function_side(&sql);
	sql_add(&sql, " = %d AND program IN (", FLEET_SIDE_OFF);
	add_numbers(&sql, waits, program_of);
	sql_add(&sql,
		") GROUP BY host%s, late, program, state, stack) AS sums ANY LEFT JOIN (SELECT "
		"hash AS stack, arrayFilter(h -> h IN (",
		facts);
	add_numbers(&sql, waits, function_of);
	sql_add(&sql, "), arrayMap(f -> cityHash64(toString(f)), arrayDistinct(functions))) AS "
		      "called FROM stacks WHERE notEmpty(called)) AS frames USING stack) WHERE "
		      "bitXor(program, function) IN (");
	add_numbers(&sql, waits, pair_of);
	sql_add(&sql, ") GROUP BY host%s, late, program, function, state", facts);
	err = store_query(loading->store, &sql, wait_columns, WAIT_COLUMNS, FLEET_ROWS_MOST,
			  take_wait, waits);
	sql_deinit(&sql);
	return err;
}

/* --- the state of each --- */

static double part_of(const double *waits, unsigned state, double whole)
{
	double sum = 0;

	for (unsigned i = 0; i < STATE_COUNT; i++)
		sum += waits[i];
	return sum > 0 ? whole * waits[state] / sum : 0;
}

/* The one that makes most of the difference. */
static struct fleet_wait_state largest_difference(const struct side_waits *waits,
						  const struct fleet_finding *finding)
{
	struct fleet_wait_state ret = { .state = STATE_COUNT };
	double largest = 0;

	for (unsigned i = 0; i < STATE_COUNT; i++) {
		const double value = part_of(waits->value, i, finding->value);
		const double other = part_of(waits->other, i, finding->other);
		const double difference = copysign(1, finding->effect) * (value - other);

		if (difference > largest) {
			ret = (struct fleet_wait_state){ (enum state)i, value, other };
			largest = difference;
		}
	}
	return ret;
}

static struct error *load_all(struct wait_loading *loading, struct fleet_wait_states *ret)
{
	struct error *err;

	if (!loading->waits || !loading->next || !find_functions(loading))
		return &error_no_memory;
	err = loading->first.count ? load_waits(loading) : NULL;
	for (size_t i = 0; !err && i < loading->findings->count; i++) {
		const struct fleet_wait_state state =
			largest_difference(&loading->waits[i], &loading->findings->items[i]);

		if (!array_push(ret, state))
			err = &error_no_memory;
	}
	return err;
}

struct error *fleet_load_wait_states(struct store *store, const struct store_url *url,
				     struct fleet_slices slices, const struct fleet_parts *parts,
				     const struct fleet_sides *sides, const struct fleet_data *data,
				     const struct fleet_findings *findings,
				     struct fleet_wait_states *ret)
{
	_cleanup_free_ struct side_waits *waits = calloc(findings->count + 1, sizeof(*waits));
	_cleanup_free_ uint32_t *next = calloc(findings->count + 1, sizeof(*next));
	struct fleet_wait_states states = { 0 };
	struct fleet_loading loading;
	struct store_url minutes;
	struct wait_loading all = { .loading = &loading,
				    .sides = sides,
				    .data = data,
				    .findings = findings,
				    .hosts = data->hosts.count,
				    .waits = waits,
				    .next = next };
	struct error *err;

	fleet_loading_begin(&loading, store, url, slices, parts, &minutes);
	err = load_all(&all, &states);
	map_deinit(&all.first);
	if (err)
		fleet_wait_states_deinit(&states);
	else
		*ret = states;
	return err;
}

struct fleet_wait_state fleet_wait_state_of(const struct fleet_wait_states *states, size_t finding)
{
	return finding < states->count ? states->items[finding]
				       : (struct fleet_wait_state){ .state = STATE_COUNT };
}

void fleet_wait_states_deinit(struct fleet_wait_states *states)
{
	array_deinit(states);
}
