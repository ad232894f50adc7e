/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/spans.h"

#include <inttypes.h>
#include <string.h>

#define ROWS_MOST_S UINT64_C(7200)

/* Tables of sums, coarsest first. */
static const struct {
	const char *suffix;
	uint64_t length_s;
} tables[] = { { "_1h", 3600 }, { "_1m", 60 } };

enum { HOURS, MINUTES };

enum store_detail store_detail_of(const struct store_url *url)
{
	return url->to_s - url->from_s > ROWS_MOST_S ? STORE_SUMS : STORE_ROWS;
}

static struct error *take_time(void *context, const union store_value *values)
{
	uint64_t *first_s = context;

	*first_s = values[0].number;
	return NULL;
}

/* The time of the oldest row; of an empty table, servers say 1970. */
static struct error *find_first(struct store *store, const char *table, const char *suffix,
				uint64_t *ret_s)
{
	static const struct store_column column = { "t", STORE_TIME };
	struct sql sql = store_sql(store);
	struct error *err;

	*ret_s = 0;
	sql_add(&sql, "SELECT min(t) FROM %s%s", table, suffix);
	err = store_query(store, &sql, &column, 1, 1, take_time, ret_s);
	sql_deinit(&sql);
	return err;
}

struct error *store_detail_next(struct store *store, const struct store_url *url, const char *table,
				enum store_detail *detail, bool *ret_more)
{
	const bool had_minutes = *detail == STORE_MINUTES;
	uint64_t first_s;
	struct error *err;

	*ret_more = false;
	if (*detail == STORE_HOURS)
		return NULL;
	err = find_first(store, table, had_minutes ? tables[MINUTES].suffix : "", &first_s);
	if (err)
		return err;
	*ret_more = first_s == 0 || first_s >= url->to_s;
	*detail = had_minutes ? STORE_HOURS : STORE_MINUTES;
	return NULL;
}

static size_t divide(uint64_t from_s, uint64_t to_s, size_t table, struct store_span *ret)
{
	uint64_t length, first, end;
	size_t count;

	if (from_s >= to_s)
		return 0;
	if (table == array_length(tables)) {
		ret[0] = (struct store_span){ "", from_s, to_s };
		return 1;
	}
	length = tables[table].length_s;
	first = (from_s + length - 1) / length * length;
	end = to_s / length * length;
	if (first >= end)
		return divide(from_s, to_s, table + 1, ret);
	count = divide(from_s, first, table + 1, ret);
	ret[count++] = (struct store_span){ tables[table].suffix, first, end };
	return count + divide(end, to_s, table + 1, ret + count);
}

size_t store_spans(uint64_t from_s, uint64_t to_s, enum store_detail detail,
		   struct store_span ret[STORE_SPANS_MAX])
{
	const size_t table = detail == STORE_HOURS ? HOURS : MINUTES;
	const uint64_t length = tables[table].length_s;

	if (detail == STORE_ROWS)
		return divide(from_s, to_s, array_length(tables), ret);
	if (detail == STORE_SUMS)
		return divide(from_s, to_s, 0, ret);
	ret[0] = (struct store_span){ tables[table].suffix, from_s / length * length,
				      (to_s + length - 1) / length * length };
	return 1;
}

static void add_time(struct sql *sql, uint64_t from_s, uint64_t to_s)
{
	sql_add(sql, "t >= toDateTime(%" PRIu64 ") AND t < toDateTime(%" PRIu64 ")", from_s, to_s);
}

void sql_add_time(struct sql *sql, const struct store_url *url, unsigned selectors)
{
	add_time(sql, url->from_s, url->to_s);
	sql_add_selection(sql, url, selectors);
}

/* Is a table read for an earlier span, too? */
static bool is_read_before(const struct store_span *spans, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(spans[i].suffix, spans[at].suffix) == 0)
			return true;
	return false;
}

/* Each table is read once: rows are in the order of programs, so both ends of a time are in the
 * same granules. */
void sql_add_rows(struct sql *sql, const struct store_url *url, enum store_detail detail,
		  const struct store_rows *rows)
{
	struct store_span spans[STORE_SPANS_MAX];
	const size_t count = store_spans(url->from_s, url->to_s, detail, spans);

	sql_add(sql, "(");
	for (size_t i = 0; i < count; i++) {
		if (is_read_before(spans, i))
			continue;
		sql_add(sql, "%sSELECT %s FROM %s%s WHERE (", i ? " UNION ALL " : "",
			detail == STORE_ROWS ? rows->of_rows : rows->of_sums, rows->table,
			spans[i].suffix);
		add_time(sql, spans[i].from_s, spans[i].to_s);
		for (size_t k = i + 1; k < count; k++) {
			if (strcmp(spans[k].suffix, spans[i].suffix) != 0)
				continue;
			sql_add(sql, " OR ");
			add_time(sql, spans[k].from_s, spans[k].to_s);
		}
		sql_add(sql, ")");
		sql_add_selection(sql, url, rows->selectors);
	}
	sql_add(sql, ")");
}
