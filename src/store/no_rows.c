/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/no_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "snapshot/timestamp.h"
#include "store/spans.h"

/* More are counted only. */
#define NAMED_MOST   8
#define COUNTED_MOST 1000

/* Names that exist, as a text, and the time of their rows. */
struct existing_names {
	char names[480];
	size_t length, shown;
	uint64_t count;
	uint64_t first_s, last_s;
};

static void add_name(struct existing_names *there, const char *name)
{
	const int length =
		snprintf(there->names + there->length, sizeof(there->names) - there->length,
			 "%s%.40s", there->length ? ", " : "", *name ? name : "\"\"");

	if (length > 0)
		there->length += (size_t)length;
}

static struct error *take_there(void *context, const union store_value *values)
{
	struct existing_names *there = context;
	_cleanup_free_ char *name = text_safe_copy(values[0].text);

	if (!name)
		return &error_no_memory;
	there->count++;
	if (!there->first_s || values[1].number < there->first_s)
		there->first_s = values[1].number;
	if (values[2].number > there->last_s)
		there->last_s = values[2].number;
	if (there->shown == NAMED_MOST)
		return NULL;
	there->shown++;
	add_name(there, name);
	return NULL;
}

/* Add to `there` what a query of the columns name, first, last finds. */
static struct error *find_there(struct store *store, struct sql *sql, struct existing_names *there)
{
	static const struct store_column columns[] = { { "name", STORE_STRING },
						       { "first", STORE_TIME },
						       { "last", STORE_TIME } };
	struct error *err;

	sql_add(sql, " GROUP BY name ORDER BY count() DESC, name LIMIT %d", COUNTED_MOST);
	err = store_query(store, sql, columns, array_length(columns), COUNTED_MOST, take_there,
			  there);
	sql_deinit(sql);
	return err;
}

/* Values of a column of the table; `url` NULL: of all its rows. `selectors`: the conditions of the
 * URL that count, as those of sql_add_selection(). */
static struct error *find_values(struct store *store, const struct store_url *url,
				 unsigned selectors, const char *table, const char *column,
				 struct existing_names *ret)
{
	struct sql sql = store_sql(store);

	sql_add(&sql, "SELECT toString(%s) AS name, min(t), max(t) FROM %s WHERE ", column, table);
	if (url)
		sql_add_time(&sql, url, selectors);
	else
		sql_add(&sql, "1");
	*ret = (struct existing_names){ 0 };
	return find_there(store, &sql, ret);
}

static void print_more(struct existing_names *there)
{
	if (there->count > there->shown)
		snprintf(there->names + there->length, sizeof(there->names) - there->length,
			 " and %" PRIu64 "%s more", there->count - there->shown,
			 there->count == COUNTED_MOST ? " or" : "");
}

/* "2026-11-20T12:30:05Z". */
struct stamp {
	char text[TIMESTAMP_TEXT_SIZE];
};

static struct stamp stamp_of(uint64_t seconds)
{
	struct stamp stamp;

	timestamp_print(stamp.text, seconds * 1000);
	memcpy(stamp.text + sizeof("2026-11-20T12:30:05") - 1, "Z", 2);
	return stamp;
}

/* --- labels --- */

struct error *store_no_label(struct store *store, const struct store_url *url, const char *name)
{
	struct sql sql = store_sql(store);
	struct existing_names there = { 0 };
	struct error *err;

	for (size_t i = 0; i < SQL_FACTS; i++)
		add_name(&there, sql_facts[i].name);
	sql_add(&sql, "SELECT name, min(seen), max(seen) FROM hosts ARRAY JOIN label_names AS name "
		      "WHERE 1");
	if (url)
		sql_add_selection(&sql, url, SQL_SELECT_HOSTS);
	err = find_there(store, &sql, &there);
	if (err)
		return err;
	print_more(&there);
	return error_coded(ENODATA, "no host%s has a label '%.60s'; there are: %s",
			   url ? " of this query" : "", name, there.names);
}

static struct error *take_count(void *context, const union store_value *values)
{
	*(uint64_t *)context = values[0].number;
	return NULL;
}

/* Add all conditions that the URL has for the label of its condition `first`, unless that is not
 * the first of these. */
static struct error *add_label(const struct store_url *url, size_t first, struct store_url *ret)
{
	const char *name = url->labels.items[first].name;

	for (size_t i = 0; i < first; i++)
		if (strcmp(url->labels.items[i].name, name) == 0)
			return NULL;
	for (size_t i = first; i < url->labels.count; i++)
		if (strcmp(url->labels.items[i].name, name) == 0 &&
		    !array_push(&ret->labels, url->labels.items[i]))
			return &error_no_memory;
	return NULL;
}

/* How many rows of hosts have one of the values that the URL has of its label `number`, the first
 * condition of which this is. */
static struct error *count_labelled(struct store *store, const struct store_url *url, size_t number,
				    uint64_t *ret)
{
	static const struct store_column column = { "count", STORE_U64 };
	struct sql sql = store_sql(store);
	struct store_url label = { 0 };
	struct error *err = add_label(url, number, &label);

	sql_add(&sql, "SELECT count() FROM hosts WHERE 1");
	sql_add_selection(&sql, &label, SQL_SELECT_HOSTS);
	*ret = 0;
	if (!err)
		err = store_query(store, &sql, &column, 1, 1, take_count, ret);
	sql_deinit(&sql);
	array_deinit(&label.labels);
	return err;
}

/* The values of a label that hosts have, or of the fact of that name: `url` NULL, of all; else, of
 * the hosts that it selects, at the time of their rows. */
static struct error *find_labels(struct store *store, const struct store_url *url, const char *name,
				 struct existing_names *ret)
{
	const char *fact = sql_fact_column(name);
	struct sql sql = store_sql(store);

	sql_add(&sql, "SELECT if(has(label_names, ");
	sql_add_value(&sql, text_of(name));
	sql_add(&sql, "), label_values[indexOf(label_names, ");
	sql_add_value(&sql, text_of(name));
	sql_add(&sql, ")], toString(%s)) AS name, min(seen), max(seen) FROM hosts WHERE ",
		fact ? fact : "''");
	sql_add(&sql, "(has(label_names, ");
	sql_add_value(&sql, text_of(name));
	sql_add(&sql, ")%s)", fact ? " OR 1" : "");
	if (url) {
		sql_add(&sql, " AND (host, facts) IN (SELECT host, facts FROM loads WHERE ");
		sql_add_time(&sql, url, SQL_SELECT_HOSTS);
		sql_add(&sql, ")");
	}
	*ret = (struct existing_names){ 0 };
	return find_there(store, &sql, ret);
}

/* The error for a label that selects no host; NULL: each selects some. */
static struct error *no_such_label(struct store *store, const struct store_url *url)
{
	for (size_t i = 0; i < url->labels.count; i++) {
		const char *name = url->labels.items[i].name;
		struct existing_names there;
		uint64_t count;
		struct error *err = count_labelled(store, url, i, &count);

		if (!err && count)
			continue;
		if (!err)
			err = find_labels(store, NULL, name, &there);
		if (err)
			return err;
		if (!there.count)
			return store_no_label(store, NULL, name);
		print_more(&there);
		return error_coded(ENODATA, "no host matches label.%.60s; its values are: %s", name,
				   there.names);
	}
	return NULL;
}

/* The error for the label that none of the hosts in `others` has, which the time, the names of
 * hosts and the labels before it select. */
static struct error *label_beside_others(struct store *store, const struct store_url *others,
					 const char *name)
{
	const struct stamp from = stamp_of(others->from_s), to = stamp_of(others->to_s);
	struct existing_names there;
	struct error *err = find_labels(store, others, name, &there);

	if (err)
		return err;
	if (!there.count)
		return error_coded(ENODATA,
				   "of the hosts that the other conditions select from %s to %s, "
				   "none has a label '%.60s'",
				   from.text, to.text, name);
	print_more(&there);
	return error_coded(ENODATA,
			   "of the hosts that the other conditions select from %s to %s, none "
			   "matches label.%.60s; their values are: %s",
			   from.text, to.text, name, there.names);
}

/* The error for the first label that leaves none of the hosts that their names and the labels
 * before it select; NULL: there are no such hosts without labels, either. */
static struct error *no_host_with_labels(struct store *store, const struct store_url *url)
{
	struct store_url part = *url;
	struct existing_names hosts;
	struct error *err;

	part.labels.items = NULL;
	part.labels.count = part.labels.room = 0;
	err = find_values(store, &part, SQL_SELECT_HOSTS, "loads", "host", &hosts);
	for (size_t i = 0; !err && hosts.count && i < url->labels.count; i++) {
		const size_t before = part.labels.count;

		err = add_label(url, i, &part);
		if (!err && part.labels.count > before)
			err = find_values(store, &part, SQL_SELECT_HOSTS, "loads", "host", &hosts);
		if (err || hosts.count)
			continue;
		part.labels.count = before;
		err = label_beside_others(store, &part, url->labels.items[i].name);
	}
	array_deinit(&part.labels);
	return err;
}

/* --- hosts --- */

static struct error *no_host(struct store *store, const struct store_url *url)
{
	const struct stamp from = stamp_of(url->from_s), to = stamp_of(url->to_s);
	struct existing_names there;
	struct error *err = find_values(store, NULL, 0, "loads", "host", &there);

	if (err)
		return err;
	if (!there.count)
		return error_coded(ENODATA, "the tables are empty: no agent has sent anything");
	err = no_such_label(store, url);
	if (!err)
		err = no_host_with_labels(store, url);
	if (err)
		return err;
	print_more(&there);
	return error_coded(
		ENODATA, "no selected host has rows from %s to %s; the store has %s, from %s to %s",
		from.text, to.text, there.names, stamp_of(there.first_s).text,
		stamp_of(there.last_s).text);
}

/* The error for hosts without rows in the table, or if there are no such hosts. */
static struct error *no_rows_of(struct store *store, const struct store_url *url, const char *table)
{
	struct existing_names there;
	struct error *err = find_values(store, url, SQL_SELECT_HOSTS, "loads", "host", &there);

	if (err)
		return err;
	if (!there.count)
		return no_host(store, url);
	return error_coded(ENODATA, "the selected hosts have no rows of %s from %s to %s", table,
			   stamp_of(url->from_s).text, stamp_of(url->to_s).text);
}

/* --- programs --- */

struct error *store_nothing(struct store *store, const struct store_url *url, const char *table)
{
	static const enum store_selector order[] = { STORE_SELECT_PROCESS, STORE_SELECT_COMM,
						     STORE_SELECT_CGROUP };
	unsigned selectors = SQL_SELECT_HOSTS;
	struct existing_names there, left;

	if (strcmp(table, "loads") == 0)
		return no_host(store, url);
	/* The first condition that leaves none of what those before it select. */
	for (size_t i = 0; i < array_length(order); i++) {
		const char *column = store_selector_names[order[i]];
		struct error *err;

		if (!url->globs[order[i]].count)
			continue;
		err = find_values(store, url, selectors, table, column, &there);
		if (err)
			return err;
		if (!there.count)
			break;
		selectors |= 1u << order[i];
		err = find_values(store, url, selectors, table, column, &left);
		if (err)
			return err;
		if (left.count)
			continue;
		print_more(&there);
		return error_coded(ENODATA, "no rows of %s match; values of '%s' in this time: %s",
				   table, column, there.names);
	}
	return no_rows_of(store, url, table);
}
