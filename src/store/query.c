/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"
#include "net/http_client.h"
#include "store/server.h"

/* The most bytes of an answer, and the longest time for one. */
#define ANSWER_MOST    ((uint64_t)1 << 30)
#define ANSWER_MOST_NS (UINT64_C(120) * 1000 * 1000 * 1000)

struct store {
	const struct store_url *url;
	struct http_client *client;
	char *address; /* of queries, up to their parameters */
	bool has_parameters;
};

/* --- what servers refuse --- */

/* ErrorCodes.cpp of ClickHouse. */
static const struct {
	unsigned code;
	const char *message;
	bool has_said; /* add what the server said */
} refusals[] = {
	{ 60,
	  "the database has no tables of ctprof: create them by 'ctprof agent --create-schema "
	  "--clickhouse URL'",
	  false },
	{ 81, "there is no such database on the server", false },
	{ 47, "the tables are not those that this version of ctprof expects", true },
	{ 497, "the user may not read the tables: GRANT SELECT on the database", true },
	{ 241,
	  "the query needs more memory than the server has for it: select fewer hosts or a "
	  "shorter time",
	  false },
	{ 159,
	  "the query takes longer than the server allows: select fewer hosts or a shorter "
	  "time",
	  false },
	{ 158, "the query reads more than the server allows: select fewer hosts or a shorter time",
	  false },
	{ 202, "the server runs too many queries: try again later", false },
};

/* "Code: 60, e.displayText() = ..." of old servers, "Code: 60. DB::Exception: ..." of new ones. */
static bool code_of(const char *said, unsigned *ret)
{
	static const char begin[] = "Code: ";
	const char *at = strstr(said, begin);
	size_t digits;
	uint32_t code;

	if (!at)
		return false;
	at += sizeof(begin) - 1;
	digits = strspn(at, "0123456789");
	if (!text_u32((struct text){ at, digits }, &code))
		return false;
	*ret = code;
	return true;
}

bool store_denies_user(long status, const char *said)
{
	static const unsigned codes[] = { 192, 193, 194, 516 };
	unsigned code;

	if (!code_of(said, &code))
		return status == 401;
	for (size_t i = 0; i < array_length(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* netrc(5) names the machine without a port, and without brackets. */
struct error *store_access_error(const char *server, const char *user, const char *file)
{
	const char *host = strstr(server, "://") + 3;
	const bool is_address = *host == '[';
	const size_t length = strcspn(host, is_address ? "]" : ":/");

	return error_create("the server denies access: %s needs the line 'machine %.*s login %s "
			    "password PASSWORD' with the right password",
			    file, (int)(length - is_address), host + is_address,
			    user ? user : "USER");
}

struct error *store_refusal(const struct store_url *url, long status, const char *said)
{
	unsigned code;

	if (store_denies_user(status, said))
		return store_access_error(url->server, url->user,
					  "~/.netrc, or the file that CTPROF_NETRC names,");
	if (!code_of(said, &code)) {
		if (status == 403)
			return error_create("the server denies access: %s",
					    *said ? said : "(HTTP)");
		return error_create(
			"the server answers with status %ld%s%.200s: is it ClickHouse's "
			"HTTP interface (%s)?",
			status, *said ? ": " : "", said, url->server);
	}
	for (size_t i = 0; i < array_length(refusals); i++)
		if (refusals[i].code == code)
			return error_create("%s%s%.300s", refusals[i].message,
					    refusals[i].has_said ? ": " : "",
					    refusals[i].has_said ? said : "");
	return error_create("the server refuses the query: %.400s", said);
}

/* --- queries --- */

struct receiver {
	struct rows_reader reader;
	rows_taker *take;
	void *context;
	uint64_t rows, rows_most;
};

static struct error *take_row(void *context, const union store_value *values)
{
	struct receiver *receiver = context;

	if (++receiver->rows > receiver->rows_most)
		return error_create("the server answers with more than %" PRIu64
				    " rows: select fewer hosts or a shorter time",
				    receiver->rows_most);
	return receiver->take(receiver->context, values);
}

static struct error *take_piece(void *context, struct text piece)
{
	struct receiver *receiver = context;

	return rows_reader_feed(&receiver->reader, piece);
}

static struct error *send(struct store *store, const struct sql *sql, const char *address,
			  struct receiver *receiver)
{
	struct http_answer answer = { 0 };
	const struct http_request request = {
		.url = address,
		.body = { sql->text.items, sql->text.count },
		.body_fd = -1,
		.take = take_piece,
		.context = receiver,
		.answer_most = ANSWER_MOST,
	};
	struct error *err = http_client_send(store->client, &request, &answer);

	if (err)
		return err;
	if (answer.status != 200)
		return store_refusal(store->url, answer.status, answer.said);
	return rows_reader_finish(&receiver->reader);
}

struct error *store_query(struct store *store, struct sql *sql, const struct store_column *columns,
			  size_t count, uint64_t rows_most, rows_taker *take, void *context)
{
	struct receiver receiver = { .take = take, .context = context, .rows_most = rows_most };
	_cleanup_free_ char *address = NULL;
	struct error *err;

	sql_add(sql, " FORMAT RowBinary");
	if (sql->has_failed)
		return &error_no_memory;
	address = text_print("%s%.*s", store->address, (int)sql->parameters.count,
			     sql->parameters.count ? sql->parameters.items : "");
	if (!address)
		return &error_no_memory;
	err = rows_reader_init(&receiver.reader, columns, count, take_row, &receiver);
	if (!err)
		err = send(store, sql, address, &receiver);
	rows_reader_deinit(&receiver.reader);
	return err;
}

struct sql store_sql(const struct store *store)
{
	return (struct sql){ .has_parameters = store->has_parameters };
}

/* --- connections --- */

struct versions {
	char server[64];
	uint64_t tables;
	bool is_known;
};

static struct error *take_versions(void *context, const union store_value *values)
{
	struct versions *versions = context;

	versions->is_known = true;
	snprintf(versions->server, sizeof(versions->server), "%.*s",
		 (int)(values[0].text.length > 63 ? 63 : values[0].text.length),
		 values[0].text.bytes);
	text_make_safe(versions->server);
	versions->tables = values[1].number;
	return NULL;
}

static struct error *check_versions(struct store *store)
{
	static const struct store_column columns[] = { { "version", STORE_STRING },
						       { "tables", STORE_U32 } };
	struct sql sql = store_sql(store);
	struct versions versions = { 0 };
	struct store_server server;
	struct error *err;

	sql_add(&sql, "SELECT version(), toUInt32(max(version)) FROM schema_version");
	err = store_query(store, &sql, columns, array_length(columns), 1, take_versions, &versions);
	sql_deinit(&sql);
	if (err)
		return err;
	if (!versions.is_known || !versions.tables)
		return error_create("the tables of ctprof in the database are incomplete: create "
				    "them by 'ctprof agent --create-schema --clickhouse URL'");
	if (versions.tables < STORE_VERSION)
		return error_create("the tables are of version %" PRIu64
				    ", and this ctprof needs %d: upgrade them by 'ctprof agent "
				    "--create-schema --clickhouse URL'",
				    versions.tables, STORE_VERSION);
	if (versions.tables > STORE_VERSION)
		return error_create("the tables are of version %" PRIu64
				    ", and this ctprof knows versions up to %d: update ctprof",
				    versions.tables, STORE_VERSION);
	if (!store_server_parse(text_of(versions.server), &server))
		return error_create("the server is no ClickHouse: its version is '%s'",
				    versions.server);
	store->has_parameters = server.has_parameters;
	return NULL;
}

static struct error *open_client(struct store *store, const struct store_options *options)
{
	const struct http_client_options client = {
		.total_ns = ANSWER_MOST_NS,
		.stalled_ns = ANSWER_MOST_NS,
		.netrc = options->netrc,
		.user = store->url->user,
		.ca_file = options->ca_file,
		.is_confined = true,
	};
	_cleanup_free_ char *database = percent_encode(text_of(store->url->database));

	/* The server keeps an answer until it is whole, so that its status says so. */
	if (database)
		store->address = text_print("%s?database=%s&wait_end_of_query=1",
					    store->url->server, database);
	return store->address ? http_client_open(&client, &store->client) : &error_no_memory;
}

struct error *store_connect(const struct store_url *url, const struct store_options *options,
			    struct store **ret)
{
	_cleanup_(store_close) struct store *store = calloc(1, sizeof(*store));
	struct error *err;

	if (!store)
		return &error_no_memory;
	store->url = url;
	err = open_client(store, options);
	if (!err)
		err = check_versions(store);
	if (err)
		return err;
	*ret = take_ptr(store);
	return NULL;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	http_client_close(store->client);
	free(store->address);
	free(store);
}
