/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors (errnum ENODATA) for queries that select nothing. They name what the store has instead: at
 * most eight names, of 40 bytes each.
 */
#ifndef STORE_NO_ROWS_H
#define STORE_NO_ROWS_H

#include "store/query.h"

/* No rows in `table` ("samples", "states", "threads" or "loads"): says which condition of the URL
 * selects nothing, alone or together with those before it, in the order host, labels, process,
 * comm, cgroup; and labels, values of a label, the most frequent values of a column, or hosts and
 * times. */
struct error *store_nothing(struct store *store, const struct store_url *url,
			    const char *table) MUST_CHECK;

/* No host that the URL selects has a label of this name; `url` NULL: no host at all. */
struct error *store_no_label(struct store *store, const struct store_url *url,
			     const char *name) MUST_CHECK;

#endif
