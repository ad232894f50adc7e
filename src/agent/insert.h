/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An INSERT into a table of ClickHouse, as a request: rows go in one after the other, and only
 * their compressed form is kept.
 *
 *	err = insert_begin(&insert, STORE_TABLE_samples);
 *	err = insert_row(&insert, values);              for each row
 *	err = insert_end(&insert);                      emits the request, if there are rows
 *
 * The server makes one block of it, which it stores wholly or not at all. The same rows again are
 * the same block: a current server ignores it (non_replicated_deduplication_window), and of others
 * the check of the request tells: it looks for the first row by its values, since another agent may
 * use the same name of a host, and counts the rows of the host and time. It also tells whether the
 * server has started since then: rows that were stored before it died may not be in sums. gzip is
 * what servers of all versions unpack. The lifetime of the request is that of the table, as the
 * server knows it.
 */
#ifndef AGENT_INSERT_H
#define AGENT_INSERT_H

#include "agent/sink.h"
#include "profile/gzip.h"
#include "store/rows.h"

struct insert {
	/* Set by the caller, who keeps them. */
	const char *database;
	struct text host;
	uint64_t t; /* of all rows, for the check and the lifetime */
	/* Ask whether the rows of the host from one of these seconds to the other last longer than
	 * that: then another agent sends some of them. 0: do not ask. */
	uint64_t others_from, others_to;
	sink_emit *emit;
	void *context;
	/* Its own: memory is kept for the next one. */
	const struct store_table *table;
	struct rows rows;
	struct {
		ARRAY(char);
	} body;
	struct gzip_writer gzip;
	uint64_t count;
	char *marker; /* a condition that the first row meets; NULL: the table has no check */
};

struct error *insert_begin(struct insert *insert, enum store_table_id table) MUST_CHECK;
/* A value for each column of the table. */
struct error *insert_row(struct insert *insert, const union store_value *values) MUST_CHECK;
struct error *insert_end(struct insert *insert) MUST_CHECK;
/* Also of one that has not ended. */
void insert_deinit(struct insert *insert);

#endif
