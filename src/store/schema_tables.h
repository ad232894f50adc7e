/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables as the server has them: those of tables.h with an engine, an order and a lifetime, the
 * tables of sums that are made of them, and those of the schema itself.
 */
#ifndef STORE_SCHEMA_TABLES_H
#define STORE_SCHEMA_TABLES_H

#include "store/schema.h"

/* How tables.h and the views become tables of ClickHouse. */
struct server_table {
	const char *name;
	const struct store_column *columns;
	size_t count;
	const char *engine, *order;
	enum store_keep keep;
	const char *time; /* its column, by which rows end; NULL: they do not */
	bool is_partitioned;
};

/* A column of a table of sums: what it is the sum of, or a part of the key. */
struct sum_column {
	struct store_column column;
	const char *expression; /* NULL: of the column of this name */
	bool is_key;
};

/* A table of sums, and the view that fills it. */
struct schema_sums {
	struct server_table table;
	struct store_column *columns; /* owned */
	struct sum_column *sums;      /* owned, `table.count` of them */
	const char *source, *span;
};

struct server_table schema_table(enum store_table_id id);

/* The kind of lifetime of a table of this name, also one of sums. False: it has none. */
bool schema_keep_of(struct text name, enum store_keep *ret);

/* Those of the schema itself. */
enum { SCHEMA_TABLE_VERSION, SCHEMA_TABLE_METRICS, SCHEMA_TABLES };
extern const struct server_table schema_own_tables[SCHEMA_TABLES];

/* How many tables of sums there are, and one of them. `ret` must be deinitialised, after an error
 * too. */
size_t schema_sums_count(void);
struct error *schema_sums_init(struct schema_sums *ret, size_t number) MUST_CHECK;
void schema_sums_deinit(struct schema_sums *sums);

/* Is a table of sums made of this one? */
bool schema_has_sums(const struct store_table *table);

#endif
