/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables in a database of ClickHouse: created, and brought up to the version of this program.
 *
 * Beside those of tables.h there are:
 *
 *	samples_1m, samples_1h	sums by minute and hour: without longest_ns
 *	states_1m, states_1h	the same, without ms and threads
 *	threads_1m, threads_1h	sums over the threads of a program that did something: its totals
 *				and active_ms, the sum of ms. Values that are no totals are left
 *				out. Rows with other bits of measured0 and measured1 are apart.
 *	metrics			the bits of measured0 and measured1
 *	schema_version		a row for each upgrade
 *
 * Materialised views fill the sums; a SummingMergeTree may hold several rows of one key, so queries
 * sum them up.
 *
 * Current servers get codecs, TTLs and deduplication of inserts; those before 22.3 have none of
 * these or not all, and get the same tables without. Debian's 18.16 is the oldest that is tested.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <stdio.h>

#include "base/array.h"
#include "base/lines.h"
#include "base/text.h"
#include "store/keep.h"
#include "store/rows.h"
#include "store/server.h"

struct http_client;

/* What is to be in the database. */
struct schema_wanted {
	const char *database;
	const char *program;             /* the version of ctprof, for `schema_version` */
	unsigned days[STORE_KEEP_COUNT]; /* 0: as it is, or the default of STORE_KEEPS */
};

/* What is there: the names of columns as "table.column". All zero is an empty database. */
struct schema_present {
	struct lines columns;
	uint64_t version; /* the newest in `schema_version`; 0: none */
	/* How long tables of each kind keep rows: the longest time of RAW and MINUTE, and the
	 * shortest of HOUR. 0: there are none, or not for a time in whole days. */
	unsigned days[STORE_KEEP_COUNT];
};

/* Add the lifetime of a table (schema_write_lifetimes()). */
void schema_present_add_lifetime(struct schema_present *present, struct text table, uint64_t days);
void schema_present_deinit(struct schema_present *present);

/* Statements to be executed one after the other, and what the data of an INSERT is ("": none). */
struct schema_statement {
	char *query;
	struct rows data;
};

struct schema_plan {
	ARRAY(struct schema_statement);
	size_t created, added; /* tables and columns that were not there */
};

/* An error if what is there has a newer version than STORE_VERSION, or if lifetimes that are wanted
 * do not fit those that stay. */
struct error *schema_plan(const struct store_server *server, const struct schema_wanted *wanted,
			  const struct schema_present *present, struct schema_plan *ret) MUST_CHECK;
void schema_plan_deinit(struct schema_plan *plan);

/* A query for `schema_present`, of rows (text: "table.column"), and one for its version. To be
 * freed. NULL: no memory. */
char *schema_columns_query(const char *database);
char *schema_version_query(const char *database);

/* Write a query for how many days the tables of a database keep rows, as the server knows it: rows
 * (name: String, days: UInt32). 0: for ever, or for a time that is not in whole days. */
void schema_write_lifetimes(FILE *out, const char *database);

/* Settings of all statements in a URL, "&name=value": servers before 20.1 know LowCardinality as an
 * experiment. */
const char *schema_settings(const struct store_server *server);

struct schema_made {
	char version[32]; /* of the server */
	bool is_current;  /* codecs, lifetimes and deduplication are there */
	bool was_empty;   /* there were no tables of ctprof */
	size_t created, added;
};

/* Bring a database up to this version. `server` is the URL of the server up to its query:
 * "http://HOST:8123/". What was done before an error stays, and is passed over the next time. */
struct error *store_schema_create(struct http_client *client, const char *server,
				  const struct schema_wanted *wanted,
				  struct schema_made *ret) MUST_CHECK;

#endif
