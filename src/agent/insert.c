/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/insert.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/percent.h"

/* Rows are handed to the compressor in pieces of this many bytes. */
#define PIECE_BYTES ((size_t)32 << 10)

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

static void put_text(FILE *out, struct text text)
{
	fputs("unhex('", out);
	for (size_t i = 0; i < text.length; i++)
		fprintf(out, "%02x", (unsigned char)text.bytes[i]);
	fputs("')", out);
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
			put_text(out, row[i].text);
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

/* As a part of a query in a URL. */
static void put_encoded(FILE *out, const char *text)
{
	percent_print(out, text_of(text), "(),=");
}

/* `database`.table */
static void put_table(FILE *out, const struct insert *insert)
{
	put_encoded(out, "`");
	for (const char *at = insert->database; *at; at++) {
		if (*at == '`' || *at == '\\')
			put_encoded(out, "\\");
		put_encoded(out, (const char[]){ *at, '\0' });
	}
	put_encoded(out, "`.");
	put_encoded(out, insert->table->name);
}

static char *make_target(const struct insert *insert)
{
	char *target = NULL;
	size_t length;
	FILE *out = open_memstream(&target, &length);

	if (!out)
		return NULL;
	fputs("?query=", out);
	put_encoded(out, "INSERT INTO ");
	put_table(out, insert);
	for (size_t i = 0; i < insert->table->count; i++) {
		put_encoded(out, i ? "," : " (");
		put_encoded(out, insert->table->columns[i].name);
	}
	put_encoded(out, ") FORMAT RowBinary");
	if (fclose(out) == 0)
		return target;
	free(target);
	return NULL;
}

/* How many rows of this host and time are as the first one, and how many there are. */
static char *make_check(const struct insert *insert)
{
	char *check = NULL;
	size_t length;
	FILE *out = open_memstream(&check, &length);

	if (!out)
		return NULL;
	fputs("?query=", out);
	put_encoded(out, "SELECT countIf(");
	put_encoded(out, insert->marker);
	put_encoded(out, "), count() FROM ");
	put_table(out, insert);
	put_encoded(out, " WHERE host = unhex('");
	for (size_t i = 0; i < insert->host.length; i++)
		fprintf(out, "%02x", (unsigned char)insert->host.bytes[i]);
	put_encoded(out, "') AND t = toDateTime(");
	fprintf(out, "%" PRIu64, insert->t);
	put_encoded(out, ")");
	if (fclose(out) == 0)
		return check;
	free(check);
	return NULL;
}

static struct error *emit(struct insert *insert)
{
	_cleanup_free_ char *target = make_target(insert);
	_cleanup_free_ char *check = has_check(insert->table) ? make_check(insert) : NULL;
	_cleanup_free_ char *what = text_print("rows of %s", insert->table->name);

	if (!target || !what || (has_check(insert->table) && !check))
		return &error_no_memory;
	return insert->emit(insert->context,
			    &(struct sink_request){
				    .target = target,
				    .content_type = "application/octet-stream",
				    .content_encoding = "gzip",
				    .check = check,
				    .what = what,
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
