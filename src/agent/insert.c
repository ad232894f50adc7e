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

struct error *insert_begin(struct insert *insert, enum store_table_id table)
{
	insert->table = store_table(table);
	insert->count = 0;
	array_clear(&insert->rows);
	array_clear(&insert->body);
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
	insert->count++;
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

/* Only tables with a row for each time and host have a check: of others, a row that is there twice
 * becomes one. */
static bool has_check(const struct store_table *table)
{
	return table->count > 1 && strcmp(table->columns[0].name, "host") == 0 &&
	       strcmp(table->columns[1].name, "t") == 0;
}

/* How many rows of this host and time there are. */
static char *make_check(const struct insert *insert)
{
	char *check = NULL;
	size_t length;
	FILE *out = open_memstream(&check, &length);

	if (!out)
		return NULL;
	fputs("?query=", out);
	put_encoded(out, "SELECT count() FROM ");
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
	gzip_writer_deinit(&insert->gzip);
	array_deinit(&insert->rows);
	array_deinit(&insert->body);
}
