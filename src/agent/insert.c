/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/insert.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/percent.h"
#include "store/schema_tables.h"
#include "store/sql.h"

/* Rows are handed to the compressor in pieces of this many bytes. */
#define PIECE_BYTES ((size_t)32 << 10)
/* A request that arrives later than this is answered 0: rows of the time may be missing. */
#define OTHERS_LATE_S 60

static struct error *keep_body(void *context, const void *bytes, size_t length)
{
	struct insert *insert = context;

	if (!array_reserve(&insert->body, length))
		return &error_no_memory;
	memcpy(insert->body.items + insert->body.count, bytes, length);
	insert->body.count += length;
	return NULL;
}

/* Only tables with a row for each time and host have a check: of others, a row that is there twice
 * becomes one. */
static bool has_check(const struct store_table *table)
{
	return table->count > 1 && strcmp(table->columns[0].name, "host") == 0 &&
	       strcmp(table->columns[1].name, "t") == 0;
}

/* --- the marker --- */

/* Enough values to tell two rows apart, and few enough for a URL. */
#define MARKER_ENOUGH 1500
#define MARKER_TEXT   128 /* longer texts are left out */

static void put_number(FILE *out, enum store_type type, uint64_t number)
{
	static const uint64_t most[STORE_TYPE_COUNT] = {
		[STORE_U8] = UINT8_MAX,
		[STORE_U32] = UINT32_MAX,
		[STORE_SUM32] = UINT32_MAX,
	};

	if (most[type] && number > most[type])
		number = most[type];
	if (type == STORE_I64)
		fprintf(out, "%" PRIi64, (int64_t)number);
	else
		fprintf(out, "%" PRIu64, number);
}

/* As SQL: the columns behind host and time have the values of this row. */
static char *make_marker(const struct store_table *table, const union store_value *row)
{
	char *marker = NULL;
	size_t length;
	FILE *out = open_memstream(&marker, &length);

	if (!out)
		return NULL;
	fputs("1", out);
	for (size_t i = 2; i < table->count && ftell(out) < MARKER_ENOUGH; i++) {
		const enum store_type type = table->columns[i].type;
		const bool is_text = type == STORE_TEXT || type == STORE_STRING;

		if (is_text && row[i].text.length > MARKER_TEXT)
			continue;
		fprintf(out, " AND %s = ", table->columns[i].name);
		if (is_text)
			sql_put_bytes(out, row[i].text);
		else
			put_number(out, type, row[i].number);
	}
	if (fclose(out) == 0)
		return marker;
	free(marker);
	return NULL;
}

/* --- rows --- */

struct error *insert_begin(struct insert *insert, enum store_table_id table)
{
	insert->table = store_table(table);
	insert->count = 0;
	array_clear(&insert->rows);
	array_clear(&insert->body);
	free(take_ptr(insert->marker));
	gzip_writer_deinit(&insert->gzip);
	return gzip_writer_init_fast(&insert->gzip, keep_body, insert);
}

static struct error *compress_rows(struct insert *insert)
{
	size_t length = insert->rows.count;

	insert->rows.count = 0;
	return length ? gzip_write(&insert->gzip, insert->rows.items, length) : NULL;
}

struct error *insert_row(struct insert *insert, const union store_value *values)
{
	struct error *err =
		rows_append(&insert->rows, insert->table->columns, insert->table->count, values);

	if (err)
		return err;
	if (!insert->count++ && has_check(insert->table)) {
		insert->marker = make_marker(insert->table, values);
		if (!insert->marker)
			return &error_no_memory;
	}
	return insert->rows.count < PIECE_BYTES ? NULL : compress_rows(insert);
}

/* --- the request --- */

static void write_table(FILE *out, const struct insert *insert)
{
	sql_put_identifier(out, insert->database);
	fprintf(out, ".%s", insert->table->name);
}

static void write_insert(FILE *out, const struct insert *insert)
{
	fputs("INSERT INTO ", out);
	write_table(out, insert);
	for (size_t i = 0; i < insert->table->count; i++)
		fprintf(out, "%s%s", i ? "," : " (", insert->table->columns[i].name);
	fputs(") FORMAT RowBinary", out);
}

/* Count the rows of this host and time that have the values of the first one, and all of them; and
 * for how many seconds has the server run? */
static void write_check(FILE *out, const struct insert *insert)
{
	fprintf(out, "SELECT countIf(%s), count(), greatest(uptime(), 1) FROM ", insert->marker);
	write_table(out, insert);
	fputs(" WHERE host = ", out);
	sql_put_bytes(out, insert->host);
	fprintf(out, " AND t = toDateTime(%" PRIu64 ")", insert->t);
}

/* How many days the table keeps rows, if that is less than the age of these. */
static void write_lifetime(FILE *out, const struct insert *insert)
{
	fprintf(out,
		"SELECT if(%" PRIu64 " + days * 86400 < toUnixTimestamp(now()), days, 0) FROM (",
		insert->t);
	schema_write_lifetimes(out, insert->database);
	fputs(") WHERE name = ", out);
	sql_put_bytes(out, text_of(insert->table->name));
}

/* Do the intervals of this host add up to more than 1.5 times the span? Then two agents send. What
 * is after the span is not counted: an agent that was stopped for some time has one long interval.
 * The answer is 0 if the request is late, or if there are rows of the future. */
static void write_others(FILE *out, const struct insert *insert)
{
	const uint64_t seconds = insert->others_to - insert->others_from,
		       late = insert->t + 2 * seconds + OTHERS_LATE_S;

	fprintf(out,
		"SELECT sum(if(t < toDateTime(%" PRIu64 "), least(toInt64(ms), (toInt64(%" PRIu64
		") - toInt64(toUInt32(t))) * 1000), toInt64(0))) > %" PRIu64
		" AND max(t) < toDateTime(%" PRIu64 ") AND now() < toDateTime(%" PRIu64 ") FROM ",
		insert->others_to, insert->others_to, seconds * 1500, late, late);
	write_table(out, insert);
	fputs(" WHERE host = ", out);
	sql_put_bytes(out, insert->host);
	fprintf(out, " AND t >= toDateTime(%" PRIu64 ")", insert->others_from);
}

/* "?query=..." with the text that `write` writes, to be freed; NULL: no memory. */
static char *make_target(const struct insert *insert,
			 void (*write)(FILE *out, const struct insert *insert))
{
	_cleanup_free_ char *query = NULL;
	char *target = NULL;
	size_t length;
	FILE *out = open_memstream(&query, &length);

	if (!out)
		return NULL;
	write(out, insert);
	if (fclose(out) != 0)
		return NULL;
	out = open_memstream(&target, &length);
	if (!out)
		return NULL;
	fputs("?query=", out);
	percent_print(out, text_of(query), "(),=");
	if (fclose(out) == 0)
		return target;
	free(target);
	return NULL;
}

static struct error *emit(struct insert *insert)
{
	_cleanup_free_ char *target = make_target(insert, write_insert);
	_cleanup_free_ char *check =
		has_check(insert->table) ? make_target(insert, write_check) : NULL;
	_cleanup_free_ char *lifetime = make_target(insert, write_lifetime);
	_cleanup_free_ char *others =
		insert->others_from ? make_target(insert, write_others) : NULL;
	_cleanup_free_ char *what = text_print("rows of %s", insert->table->name);
	_cleanup_free_ char *sums = text_print("sums of %s", insert->table->name);

	if (!target || !lifetime || !what || !sums || (has_check(insert->table) && !check) ||
	    (insert->others_from && !others))
		return &error_no_memory;
	return insert->emit(insert->context,
			    &(struct sink_request){
				    .target = target,
				    .content_type = "application/octet-stream",
				    .content_encoding = "gzip",
				    .check = check,
				    .lifetime = lifetime,
				    .others = others,
				    .time = insert->t,
				    .what = what,
				    .sums = schema_has_sums(insert->table) ? sums : NULL,
				    .count = insert->count,
				    .body = { insert->body.items, insert->body.count },
			    });
}

struct error *insert_end(struct insert *insert)
{
	struct error *err;

	if (!insert->count)
		return NULL;
	err = compress_rows(insert);
	if (!err)
		err = gzip_finish(&insert->gzip);
	return err ? err : emit(insert);
}

void insert_deinit(struct insert *insert)
{
	free(insert->marker);
	gzip_writer_deinit(&insert->gzip);
	array_deinit(&insert->rows);
	array_deinit(&insert->body);
}
