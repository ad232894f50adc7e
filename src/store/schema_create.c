/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "net/http_client.h"
#include "store/query.h"
#include "store/schema.h"

/* The most bytes of an answer: the names of some ten thousand columns. */
#define ANSWER_MOST ((uint64_t)4 << 20)

struct asking {
	struct http_client *client;
	const char *server;
	const char *settings; /* "&name=value" */
};

/* --- requests --- */

/* Send a query, and the data of an INSERT behind it in one body. Rows of the answer go to `reader`
 * if there is one. */
static struct error *send(const struct asking *asking, const char *query, struct text data,
			  struct rows_reader *reader)
{
	_cleanup_free_ char *url =
		text_print("%s?wait_end_of_query=1%s", asking->server, asking->settings);
	_cleanup_free_ char *head = text_print("%s\n", query);
	size_t length = head ? strlen(head) : 0;
	_cleanup_free_ char *body = malloc(length + data.length + 1);
	struct http_answer answer = { 0 };
	struct http_request request = { .method = "POST",
					.body_fd = -1,
					.answer_most = ANSWER_MOST };
	struct error *err;

	if (!url || !head || !body)
		return &error_no_memory;
	memcpy(body, head, length);
	if (data.length)
		memcpy(body + length, data.bytes, data.length);
	request.url = url;
	request.body = (struct text){ body, length + data.length };
	if (reader) {
		request.take = rows_reader_take;
		request.context = reader;
	}
	err = http_client_send(asking->client, &request, &answer);
	if (err)
		return err;
	if (store_denies_user(answer.status, answer.said))
		return store_access_error(asking->server, NULL, "the file of --netrc-file");
	if (answer.status / 100 != 2)
		return error_create("%s",
				    *answer.said ? answer.said : "the server refuses the query");
	return reader ? rows_reader_finish(reader) : NULL;
}

static struct error *ask_rows(const struct asking *asking, const char *query,
			      const struct store_column *columns, size_t count, rows_taker *take,
			      void *context)
{
	struct rows_reader reader;
	struct error *err;

	if (!query)
		return &error_no_memory;
	err = rows_reader_init(&reader, columns, count, take, context);
	if (!err)
		err = send(asking, query, TEXT(""), &reader);
	rows_reader_deinit(&reader);
	return err;
}

static struct error *ask(const struct asking *asking, const char *query, enum store_type type,
			 rows_taker *take, void *context)
{
	const struct store_column column = { "answer", type };

	return ask_rows(asking, query, &column, 1, take, context);
}

/* --- what is there --- */

static struct error *take_version_of_server(void *context, const union store_value *values)
{
	struct schema_made *made = context;

	snprintf(made->version, sizeof(made->version), "%.*s",
		 values->text.length < 31 ? (int)values->text.length : 31, values->text.bytes);
	text_make_safe(made->version);
	return NULL;
}

static struct error *take_column(void *context, const union store_value *values)
{
	struct lines *columns = context;
	char *name = strndup(values->text.bytes, values->text.length);

	if (name && array_push(columns, name))
		return NULL;
	free(name);
	return &error_no_memory;
}

static struct error *take_version(void *context, const union store_value *values)
{
	*(uint64_t *)context = values->number;
	return NULL;
}

static struct error *take_lifetime(void *context, const union store_value *values)
{
	schema_present_add_lifetime(context, values[0].text, values[1].number);
	return NULL;
}

static struct error *ask_lifetimes(const struct asking *asking, const char *database,
				   struct schema_present *present)
{
	static const struct store_column columns[] = { { "name", STORE_STRING },
						       { "days", STORE_U32 } };
	_cleanup_free_ char *query = NULL;
	size_t length;
	FILE *out = open_memstream(&query, &length);

	if (!out)
		return &error_no_memory;
	schema_write_lifetimes(out, database);
	fputs(" FORMAT RowBinary", out);
	if (fclose(out) != 0)
		return &error_no_memory;
	return ask_rows(asking, query, columns, array_length(columns), take_lifetime, present);
}

static bool has_version(const struct schema_present *present)
{
	for (size_t i = 0; i < present->columns.count; i++)
		if (strcmp(present->columns.items[i], "schema_version.version") == 0)
			return true;
	return false;
}

static struct error *look(const struct asking *asking, const char *database,
			  struct schema_present *present)
{
	_cleanup_free_ char *columns = schema_columns_query(database);
	_cleanup_free_ char *version = schema_version_query(database);
	struct error *err = ask(asking, columns, STORE_STRING, take_column, &present->columns);

	if (!err && has_version(present))
		err = ask(asking, version, STORE_U64, take_version, &present->version);
	return err ? err : ask_lifetimes(asking, database, present);
}

/* --- what is made --- */

static struct error *execute(const struct asking *asking, const struct schema_plan *plan)
{
	struct error *err = NULL;

	for (size_t i = 0; i < plan->count && !err; i++) {
		const struct schema_statement *statement = &plan->items[i];

		err = send(asking, statement->query,
			   (struct text){ statement->data.items, statement->data.count }, NULL);
		if (err)
			err = error_prefix(err, "%.60s...", statement->query);
	}
	return err;
}

static struct error *make(const struct asking *asking, const struct store_server *server,
			  const struct schema_wanted *wanted, struct schema_made *made)
{
	struct schema_present present = { 0 };
	struct schema_plan plan = { 0 };
	struct error *err = look(asking, wanted->database, &present);

	if (!err)
		err = schema_plan(server, wanted, &present, &plan);
	if (!err)
		err = execute(asking, &plan);
	made->is_current = server->is_current;
	made->was_empty = !has_version(&present);
	made->created = plan.created;
	made->added = plan.added;
	schema_plan_deinit(&plan);
	schema_present_deinit(&present);
	return err;
}

struct error *store_schema_create(struct http_client *client, const char *server,
				  const struct schema_wanted *wanted, struct schema_made *ret)
{
	struct asking asking = { client, server, "" };
	struct schema_made made = { 0 };
	struct store_server known;
	struct error *err = ask(&asking, "SELECT version() FORMAT RowBinary", STORE_STRING,
				take_version_of_server, &made);

	if (err)
		return err;
	if (!store_server_parse(text_of(made.version), &known))
		return error_create("the server is not ClickHouse: its version is '%s'",
				    made.version);
	asking.settings = schema_settings(&known);
	err = make(&asking, &known, wanted, &made);
	if (!err)
		*ret = made;
	return err;
}
