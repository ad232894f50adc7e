/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a query, and the values in it. Texts of users are never part of it: servers that have
 * parameters (ClickHouse 19.14) get them as such, older ones as the digits of their bytes.
 *
 *	sql_add(&sql, "SELECT count() FROM hosts WHERE host = ");
 *	sql_add_value(&sql, text_of(name));
 *	if (sql.has_failed)
 *		...
 *	sql_deinit(&sql);
 */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <stdio.h>

#include "store/url.h"

/* {} with `has_parameters` set is an empty one. */
struct sql {
	bool has_parameters;
	bool has_failed; /* no memory: it is not whole */
	struct {
		ARRAY(char);
	} text;
	struct {
		ARRAY(char);
	} parameters; /* "&param_p0=VALUE&param_p1=VALUE", encoded */
	unsigned parameter_count;
};

/* Add text of the program: of a user, only numbers. */
void sql_add(struct sql *sql, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add an expression whose value is these bytes, a String. Equal values are one parameter. */
void sql_add_value(struct sql *sql, struct text value);

/* Write a name of a database or table, quoted. */
void sql_put_identifier(FILE *out, const char *name);

/* Write an expression whose value is these bytes, a String, for servers of all versions. */
void sql_put_bytes(FILE *out, struct text bytes);

/* Add a condition: the column is one of these globs, as fnmatch(3) takes them. */
void sql_add_globs(struct sql *sql, const char *column, char *const *globs, size_t count);

/* Add " AND ..." for each selector of the URL that names a column of a table, and for labels of
 * hosts. `selectors` has a bit for each enum store_selector that the table has, and SQL_HAS_FACTS
 * if it has `facts`: then rows are selected by the labels that the host had at their time. Without,
 * all rows of hosts that had such labels at any time are. */
void sql_add_selection(struct sql *sql, const struct store_url *url, unsigned selectors);
#define SQL_HAS_FACTS         (1u << STORE_SELECTORS)
#define SQL_SELECT_HOST_NAMES (1u << STORE_SELECT_HOST)
#define SQL_SELECT_HOSTS      (SQL_SELECT_HOST_NAMES | SQL_HAS_FACTS)
#define SQL_SELECTORS_ALL     (((1u << STORE_SELECTORS) - 1) | SQL_HAS_FACTS)

/* What has a value without being a label of the configuration, and its column of `hosts`. */
#define SQL_FACTS 4
extern const struct sql_fact {
	const char *name, *column;
} sql_facts[SQL_FACTS];

/* NULL: no such fact. */
const char *sql_fact_column(const char *name);

/*
 * One number for the names of a program. Hashes of LowCardinality columns are those of their
 * dictionaries, so grouping by it takes half or a third of the time of grouping by the names. Other
 * functions for each name, as names of threads and processes are often the same. Of a million
 * groups, two have the same number once in 10^7 queries.
 */
#define SQL_PROGRAM_HASH "cityHash64(process) + sipHash64(comm) + farmHash64(cgroup)"

/* The text, to be freed; NULL: it is not whole, or no memory. */
char *sql_text(const struct sql *sql);

void sql_deinit(struct sql *sql);

#endif
