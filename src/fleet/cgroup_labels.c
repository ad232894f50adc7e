/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/cgroup_labels.h"

#include <inttypes.h>

#include "store/spans.h"

#define ROWS_MOST 1000000

static const char *const label_names[] = { "container", "pod", "namespace", "image", "unit" };

bool fleet_is_cgroup_label(const char *name)
{
	for (size_t i = 0; i < array_length(label_names); i++)
		if (strcmp(label_names[i], name) == 0)
			return true;
	return false;
}

struct label_context {
	fleet_cgroup_label_taker *take;
	void *context;
};

static struct error *take_label(void *context, const union store_value *row)
{
	const struct label_context *of = context;

	return of->take(of->context, row[0].text, row[1].text);
}

/* Agents send labels of cgroups that are there again each hour (agent/places.c). */
#define LABELS_AGAIN_S UINT64_C(7200)

struct error *fleet_load_cgroup_labels(struct store *store, const struct store_url *url,
				       const char *name, fleet_cgroup_label_taker *take,
				       void *context)
{
	static const struct store_column columns[] = { { "host", STORE_STRING },
						       { "value", STORE_STRING } };
	struct label_context of = { take, context };
	struct sql sql = store_sql(store);
	struct error *err;

	/* `name` is one of the table above. A label counts for the paths that had rows. */
	sql_add(&sql,
		"SELECT DISTINCT toString(host), toString(%s) FROM cgroup_labels WHERE %s != '' "
		"AND seen >= toDateTime(%" PRIu64
		") AND (host, cgroup) IN (SELECT host, cgroup FROM ",
		name, name, url->from_s > LABELS_AGAIN_S ? url->from_s - LABELS_AGAIN_S : 0);
	sql_add_rows(
		&sql, url, store_detail_of(url),
		&(struct store_rows){ "states", "host, cgroup", "host, cgroup", SQL_SELECT_HOSTS });
	sql_add(&sql, " GROUP BY host, cgroup)");
	sql_add_selection(&sql, url, SQL_SELECT_HOST_NAMES);
	err = store_query(store, &sql, columns, 2, ROWS_MOST, take_label, &of);
	sql_deinit(&sql);
	return err;
}
