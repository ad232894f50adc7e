/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries of ctprof's tables in ClickHouse.
 *
 *	struct store *store;
 *	struct error *err = store_connect(&url, &options, &store);
 *	struct sql sql = store_sql(store);
 *	sql_add(&sql, "SELECT host, count() FROM samples WHERE 1");
 *	sql_add_selection(&sql, &url, SQL_SELECTORS_ALL);
 *	err = store_query(store, &sql, columns, 2, 1000, take, context);
 *	sql_deinit(&sql);
 *	store_close(store);
 *
 * The server may be hostile, or no ClickHouse at all: rows are bounded in number and size, answers
 * in bytes and time. No setting is sent with a query, so users of the server who may only read
 * (readonly = 1) can read.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "store/rows.h"
#include "store/sql.h"

struct store_options {
	const char *netrc;   /* a file with passwords (netrc(5)); NULL: none */
	const char *ca_file; /* certificates to trust; NULL: those of the host */
};

/* A connection to a database with the tables of ctprof. */
struct store;

/* Ask for the versions of the server and of the tables. Fails with what to do if there are no
 * tables, or if they are of another version than this program's. `url` lives as long as the
 * connection. */
struct error *store_connect(const struct store_url *url, const struct store_options *options,
			    struct store **ret) MUST_CHECK;

/* An empty query in the form that the server takes. */
struct sql store_sql(const struct store *store);

/*
 * Run a SELECT, to which it adds FORMAT RowBinary, whose columns have these types. `take` gets each
 * row; more than `rows_most` are an error. Errors are one line that says what to do, where that is
 * known.
 */
struct error *store_query(struct store *store, struct sql *sql, const struct store_column *columns,
			  size_t count, uint64_t rows_most, rows_taker *take,
			  void *context) MUST_CHECK;

/* Takes NULL. */
void store_close(struct store *store);
DEFINE_CLEANUP(store_close, struct store *)

/* Did the server not know the user, or not take the password? */
bool store_denies_user(long status, const char *said);

/* The error for that. `server` is a URL, `user` NULL if none is known, and `file` says from where
 * the password is read. */
struct error *store_access_error(const char *server, const char *user, const char *file) MUST_CHECK;

/* The error for what a server said with this status: "Code: 60. DB::Exception: ...". */
struct error *store_refusal(const struct store_url *url, long status, const char *said) MUST_CHECK;

#endif
