/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "store/schema_tables.h"
#include "store/sql.h"

static const struct {
	const char *type, *codec;
} types[STORE_TYPE_COUNT] = {
#define TYPE_ROW(id, name, codec) [STORE_##id] = { name, codec },
	STORE_TYPES(TYPE_ROW)
};

/* --- statements --- */

struct writer {
	const struct store_server *server;
	const struct schema_wanted *wanted;
	const struct schema_present *present;
	struct schema_plan *plan;
	FILE *out; /* of the statement that is being written */
	char *query;
	size_t length;
};

static void put_table(const struct writer *writer, const char *name)
{
	sql_put_identifier(writer->out, writer->wanted->database);
	fprintf(writer->out, ".%s", name);
}

static struct error *begin(struct writer *writer)
{
	writer->query = NULL;
	writer->out = open_memstream(&writer->query, &writer->length);
	return writer->out ? NULL : &error_no_memory;
}

/* The statement is complete. `data` is taken. */
static struct error *end_with(struct writer *writer, struct rows data)
{
	bool is_whole = !ferror(writer->out);

	if (fclose(writer->out) == 0 && is_whole &&
	    array_push(writer->plan, (struct schema_statement){ writer->query, data }))
		return NULL;
	free(writer->query);
	array_deinit(&data);
	return &error_no_memory;
}

static struct error *end(struct writer *writer)
{
	return end_with(writer, (struct rows){ 0 });
}

static bool has(const struct writer *writer, const char *table, const char *column)
{
	size_t length = strlen(table);

	for (size_t i = 0; i < writer->present->columns.count; i++) {
		const char *name = writer->present->columns.items[i];

		if (strncmp(name, table, length) == 0 && name[length] == '.' &&
		    (!column || strcmp(name + length + 1, column) == 0))
			return true;
	}
	return false;
}

static void put_column(const struct writer *writer, const struct store_column *column)
{
	fprintf(writer->out, "%s %s", column->name, types[column->type].type);
	if (writer->server->is_current)
		fprintf(writer->out, " CODEC(%s)", types[column->type].codec);
}

/* What is wanted, or else there, or the default. */
static unsigned days_of(const struct schema_wanted *wanted, const struct schema_present *present,
			enum store_keep keep)
{
	if (wanted->days[keep])
		return wanted->days[keep];
	return present->days[keep] ? present->days[keep] : store_keeps[keep].days;
}

static struct error *check_lifetimes(const struct schema_wanted *wanted,
				     const struct schema_present *present)
{
	unsigned days[STORE_KEEP_COUNT];
	bool is_wanted = false;

	for (unsigned i = 0; i < STORE_KEEP_COUNT; i++) {
		is_wanted |= wanted->days[i] != 0;
		days[i] = days_of(wanted, present, i);
	}
	return is_wanted ? store_keep_check(days) : NULL;
}

static void put_lifetime(const struct writer *writer, const struct server_table *table)
{
	if (table->time && writer->server->is_current)
		fprintf(writer->out, " TTL %s + INTERVAL %u DAY", table->time,
			days_of(writer->wanted, writer->present, table->keep));
}

/* Inserts whose token was seen are ignored: also by the tables of sums, which get their parts of
 * the same insert. */
#define DEDUPLICATION "non_replicated_deduplication_window = 10000"

static struct error *create_table(struct writer *writer, const struct server_table *table)
{
	struct error *err = begin(writer);

	if (err)
		return err;
	fputs("CREATE TABLE IF NOT EXISTS ", writer->out);
	put_table(writer, table->name);
	for (size_t i = 0; i < table->count; i++) {
		fputs(i ? ", " : " (", writer->out);
		put_column(writer, &table->columns[i]);
	}
	fprintf(writer->out, ") ENGINE = %s", table->engine);
	if (table->is_partitioned)
		fprintf(writer->out, " PARTITION BY %s(%s)", store_keeps[table->keep].partition,
			table->time);
	fprintf(writer->out, " ORDER BY (%s)", table->order);
	put_lifetime(writer, table);
	if (writer->server->is_current)
		fprintf(writer->out, " SETTINGS " DEDUPLICATION "%s",
			table->is_partitioned ? ", ttl_only_drop_parts = 1" : "");
	writer->plan->created++;
	return end(writer);
}

static bool is_of_order(const struct server_table *table, const char *column)
{
	struct text rest = text_of(table->order), part;

	while (text_cut(&rest, ',', &part))
		if (text_equal(text_trim(part), text_of(column)))
			return true;
	return false;
}

/* A column that is new comes behind the one before it in the table. Servers let it become a part of
 * the order in the same statement only, at its end. */
static struct error *add_columns(struct writer *writer, const struct server_table *table)
{
	struct error *err;

	for (size_t i = 0; i < table->count; i++) {
		if (has(writer, table->name, table->columns[i].name))
			continue;
		err = begin(writer);
		if (err)
			return err;
		fputs("ALTER TABLE ", writer->out);
		put_table(writer, table->name);
		fprintf(writer->out, " ADD COLUMN %s",
			writer->server->is_current ? "IF NOT EXISTS " : "");
		put_column(writer, &table->columns[i]);
		if (i)
			fprintf(writer->out, " AFTER %s", table->columns[i - 1].name);
		if (is_of_order(table, table->columns[i].name))
			fprintf(writer->out, ", MODIFY ORDER BY (%s)", table->order);
		err = end(writer);
		if (err)
			return err;
		writer->plan->added++;
	}
	return NULL;
}

/* Of a table that is there already, the lifetime may have been asked for anew. */
static struct error *change_lifetime(struct writer *writer, const struct server_table *table)
{
	struct error *err;

	if (!table->time || !writer->server->is_current || !writer->wanted->days[table->keep])
		return NULL;
	err = begin(writer);
	if (err)
		return err;
	fputs("ALTER TABLE ", writer->out);
	put_table(writer, table->name);
	fputs(" MODIFY", writer->out);
	put_lifetime(writer, table);
	return end(writer);
}

static struct error *put_server_table(struct writer *writer, const struct server_table *table)
{
	struct error *err;

	if (!has(writer, table->name, NULL))
		return create_table(writer, table);
	err = add_columns(writer, table);
	return err ? err : change_lifetime(writer, table);
}

static struct error *drop_view(struct writer *writer, const struct schema_sums *sums)
{
	struct error *err = begin(writer);

	if (err)
		return err;
	fputs("DROP TABLE IF EXISTS ", writer->out);
	put_table(writer, sums->table.name);
	fputs("_view", writer->out);
	return end(writer);
}

static struct error *create_view(struct writer *writer, const struct schema_sums *sums)
{
	struct error *err = begin(writer);
	const char *separator = " AS SELECT ";

	if (err)
		return err;
	fputs("CREATE MATERIALIZED VIEW IF NOT EXISTS ", writer->out);
	put_table(writer, sums->table.name);
	fputs("_view TO ", writer->out);
	put_table(writer, sums->table.name);
	for (size_t i = 0; i < sums->table.count; i++) {
		const struct sum_column *sum = &sums->sums[i];
		const char *name = sum->column.name;

		fputs(separator, writer->out);
		separator = ", ";
		if (!sum->is_key)
			fprintf(writer->out, "sum(%s) AS %s",
				sum->expression ? sum->expression : name, name);
		else if (strcmp(name, "t") == 0)
			fprintf(writer->out, "%s(t) AS t", sums->span);
		else
			fputs(name, writer->out);
	}
	fputs(" FROM ", writer->out);
	put_table(writer, sums->source);
	separator = " GROUP BY ";
	for (size_t i = 0; i < sums->table.count; i++) {
		if (!sums->sums[i].is_key)
			continue;
		fprintf(writer->out, "%s%s", separator, sums->sums[i].column.name);
		separator = ", ";
	}
	return end(writer);
}

/* A view that lacks columns is made anew: what is inserted in between is in the source alone. */
static struct error *put_sums(struct writer *writer, size_t number)
{
	size_t changes = writer->plan->added + writer->plan->created;
	struct schema_sums sums;
	struct error *err = schema_sums_init(&sums, number);

	if (!err)
		err = put_server_table(writer, &sums.table);
	if (!err && has(writer, sums.table.name, NULL) &&
	    changes != writer->plan->added + writer->plan->created)
		err = drop_view(writer, &sums);
	if (!err)
		err = create_view(writer, &sums);
	schema_sums_deinit(&sums);
	return err;
}

static struct error *create_database(struct writer *writer)
{
	struct error *err = begin(writer);

	if (err)
		return err;
	fputs("CREATE DATABASE IF NOT EXISTS ", writer->out);
	sql_put_identifier(writer->out, writer->wanted->database);
	return end(writer);
}

/* A row for each bit: those that are there become one with it. */
static struct error *insert_metrics(struct writer *writer)
{
	const struct server_table *table = &schema_own_tables[SCHEMA_TABLE_METRICS];
	struct rows rows = { 0 };
	struct error *err = NULL;

	for (unsigned i = 0; i < STORE_METRIC_COUNT && !err; i++) {
		const union store_value row[] = { { i },
						  { .text = text_of(store_metric_names[i]) } };

		err = rows_append(&rows, table->columns, table->count, row);
	}
	if (!err)
		err = begin(writer);
	if (err) {
		array_deinit(&rows);
		return err;
	}
	fputs("INSERT INTO ", writer->out);
	put_table(writer, "metrics");
	fputs(" (number, name) FORMAT RowBinary", writer->out);
	return end_with(writer, rows);
}

static struct error *insert_version(struct writer *writer)
{
	const union store_value row[] = { { STORE_VERSION },
					  { (uint64_t)time(NULL) },
					  { .text = text_of(writer->wanted->program) } };
	const struct server_table *table = &schema_own_tables[SCHEMA_TABLE_VERSION];
	struct rows rows = { 0 };
	struct error *err = rows_append(&rows, table->columns, table->count, row);

	if (!err)
		err = begin(writer);
	if (err) {
		array_deinit(&rows);
		return err;
	}
	fputs("INSERT INTO ", writer->out);
	put_table(writer, "schema_version");
	fputs(" (version, changed, program) FORMAT RowBinary", writer->out);
	return end_with(writer, rows);
}

/* The version comes last: a schema that was made halfway has none, or the one before. */
static struct error *write_plan(struct writer *writer)
{
	struct error *err = create_database(writer);

	for (size_t i = 0; i < SCHEMA_TABLES && !err; i++)
		err = put_server_table(writer, &schema_own_tables[i]);
	for (unsigned id = 0; id < STORE_TABLE_COUNT && !err; id++) {
		struct server_table table = schema_table(id);

		err = put_server_table(writer, &table);
	}
	for (size_t i = 0; i < schema_sums_count() && !err; i++)
		err = put_sums(writer, i);
	if (!err)
		err = insert_metrics(writer);
	if (!err && writer->present->version < STORE_VERSION)
		err = insert_version(writer);
	return err;
}

struct error *schema_plan(const struct store_server *server, const struct schema_wanted *wanted,
			  const struct schema_present *present, struct schema_plan *ret)
{
	struct schema_plan plan = { 0 };
	struct writer writer = {
		.server = server, .wanted = wanted, .present = present, .plan = &plan
	};
	struct error *err;

	if (present->version > STORE_VERSION)
		return error_create("the tables in %s have version %" PRIu64
				    ", and this ctprof knows versions up to %d: update ctprof",
				    wanted->database, present->version, STORE_VERSION);
	err = server->is_current ? check_lifetimes(wanted, present) : NULL;
	if (!err)
		err = write_plan(&writer);
	if (err) {
		schema_plan_deinit(&plan);
		return err;
	}
	*ret = plan;
	return NULL;
}

void schema_plan_deinit(struct schema_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->items[i].query);
		array_deinit(&plan->items[i].data);
	}
	array_deinit(plan);
}

/* --- what is there --- */

void schema_present_add_lifetime(struct schema_present *present, struct text table, uint64_t days)
{
	enum store_keep keep;
	unsigned *known;

	if (!schema_keep_of(table, &keep) || !days || days > UINT32_MAX)
		return;
	known = &present->days[keep];
	if (!*known || (keep == STORE_KEEP_HOUR ? days < *known : days > *known))
		*known = (unsigned)days;
}

void schema_present_deinit(struct schema_present *present)
{
	lines_deinit(&present->columns);
}

/* A query about a database, whose name it has as a text. */
static char *query_about(const char *before, const char *database, const char *after)
{
	char *query = NULL;
	size_t length;
	FILE *out = open_memstream(&query, &length);

	if (!out)
		return NULL;
	fputs(before, out);
	sql_put_bytes(out, text_of(database));
	fputs(after, out);
	if (fclose(out) == 0)
		return query;
	free(query);
	return NULL;
}

char *schema_columns_query(const char *database)
{
	return query_about("SELECT concat(table, '.', name) FROM system.columns WHERE database = ",
			   database, " FORMAT RowBinary");
}

char *schema_version_query(const char *database)
{
	char *query = NULL;
	size_t length;
	FILE *out = open_memstream(&query, &length);

	if (!out)
		return NULL;
	fputs("SELECT toUInt64(max(version)) FROM ", out);
	sql_put_identifier(out, database);
	fputs(".schema_version FORMAT RowBinary", out);
	if (fclose(out) == 0)
		return query;
	free(query);
	return NULL;
}

/* As a server writes it: " TTL t + toIntervalDay(14) SETTINGS ...". What is to happen to rows
 * before they are dropped is there, too, with a word behind its time ("TO VOLUME 'cold'"). */
void schema_write_lifetimes(FILE *out, const char *database)
{
	fputs("SELECT name, toUInt32OrZero(extract(engine_full, "
	      "'[a-z]+ [+] toIntervalDay[(]([0-9]+)[)]( DELETE)?( SETTINGS |, |$)')) AS days "
	      "FROM system.tables WHERE database = ",
	      out);
	sql_put_bytes(out, text_of(database));
}

const char *schema_settings(const struct store_server *server)
{
	return server->major < 20 ? "&allow_experimental_low_cardinality_type=1" : "";
}
