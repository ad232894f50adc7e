/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/hosts.h"

#include <inttypes.h>

#include "base/units.h"
#include "snapshot/timestamp.h"
#include "store/hosts.h"
#include "store/spans.h"

static void host_deinit(struct fleet_host *host)
{
	free(host->name);
	free(host->kernel);
	free(host->arch);
	free(host->cpu_model);
	free(host->version);
	for (size_t i = 0; i < host->label_names.count; i++)
		free(host->label_names.items[i]);
	for (size_t i = 0; i < host->label_values.count; i++)
		free(host->label_values.items[i]);
	array_deinit(&host->label_names);
	array_deinit(&host->label_values);
}

void fleet_hosts_deinit(struct fleet_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		host_deinit(&hosts->items[i]);
	array_deinit(hosts);
}

enum {
	HOST_NAME,
	HOST_FACTS,
	HOST_KERNEL,
	HOST_ARCH,
	HOST_MODEL,
	HOST_VERSION,
	HOST_CPUS,
	HOST_MEMORY,
	HOST_SEEN,
	HOST_LABELS,
	HOST_VALUES,
	HOST_COLUMNS
};

static const struct store_column host_columns[HOST_COLUMNS] = {
	[HOST_NAME] = { "host", STORE_STRING },       [HOST_FACTS] = { "facts", STORE_U64 },
	[HOST_KERNEL] = { "kernel", STORE_STRING },   [HOST_ARCH] = { "arch", STORE_STRING },
	[HOST_MODEL] = { "cpu_model", STORE_STRING }, [HOST_VERSION] = { "version", STORE_STRING },
	[HOST_CPUS] = { "cpus", STORE_U32 },          [HOST_MEMORY] = { "memory", STORE_U64 },
	[HOST_SEEN] = { "seen", STORE_TIME },         [HOST_LABELS] = { "labels", STORE_TEXTS },
	[HOST_VALUES] = { "values", STORE_TEXTS },
};

static bool copy_labels(const union store_value *row, struct fleet_host *host)
{
	const struct store_texts names = row[HOST_LABELS].texts, values = row[HOST_VALUES].texts;

	for (size_t i = 0; i < names.count && i < values.count; i++) {
		char *name = text_safe_copy(names.items[i]),
		     *value = text_safe_copy(values.items[i]);

		if (!name || !value || !array_reserve(&host->label_names, 1) ||
		    !array_reserve(&host->label_values, 1)) {
			free(name);
			free(value);
			return false;
		}
		host->label_names.items[host->label_names.count++] = name;
		host->label_values.items[host->label_values.count++] = value;
	}
	return true;
}

struct host_loading {
	struct fleet_hosts *hosts;
	bool by_facts;
};

/* The last row of a host is that of its last boot. */
static struct error *take_host(void *context, const union store_value *row)
{
	const struct host_loading *host_loading = context;
	struct fleet_hosts *hosts = host_loading->hosts;
	struct fleet_host host = {
		.facts = row[HOST_FACTS].number,
		.name = text_safe_copy(row[HOST_NAME].text),
		.kernel = text_safe_copy(row[HOST_KERNEL].text),
		.arch = text_safe_copy(row[HOST_ARCH].text),
		.cpu_model = text_safe_copy(row[HOST_MODEL].text),
		.version = text_safe_copy(row[HOST_VERSION].text),
		.cpus = row[HOST_CPUS].number,
		.memory_bytes = row[HOST_MEMORY].number,
		.seen_s = row[HOST_SEEN].number,
	};
	struct fleet_host *last = hosts->count ? &hosts->items[hosts->count - 1] : NULL;
	bool is_whole = copy_labels(row, &host) && host.name && host.kernel && host.arch &&
			host.cpu_model && host.version;

	if (is_whole && last && strcmp(last->name, host.name) == 0 &&
	    (!host_loading->by_facts || last->facts == host.facts)) {
		const struct fleet_host before = *last;

		*last = host;
		host = before;
	} else if (is_whole) {
		if (array_push(hosts, host))
			return NULL;
		is_whole = false;
	}
	/* What is left over. */
	host_deinit(&host);
	return is_whole ? NULL : &error_no_memory;
}

#define HOSTS_MOST 1000000

static const struct store_column last_columns[] = { { "host", STORE_STRING },
						    { "last", STORE_TIME } };

/* The facts that rows of the time have: those of loads, or of sums that are kept longer. */
static void add_facts_of_time(struct sql *sql, const struct store_url *url)
{
	sql_add(sql, " AND (host, facts) IN (SELECT host, facts FROM loads WHERE ");
	sql_add_time(sql, url, SQL_SELECT_HOSTS);
	sql_add(sql, " GROUP BY host, facts UNION ALL SELECT host, facts FROM ");
	sql_add_rows(
		sql, url, STORE_HOURS,
		&(struct store_rows){ "states", "host, facts", "host, facts", SQL_SELECT_HOSTS });
	sql_add(sql, " GROUP BY host, facts)");
}

static struct error *load_hosts(struct store *store, const struct store_url *url, bool by_facts,
				struct fleet_hosts *ret)
{
	struct sql sql = store_sql(store);
	struct fleet_hosts hosts = { 0 };
	struct host_loading host_loading = { &hosts, by_facts };
	struct error *err;

	sql_add(&sql, "SELECT toString(host), facts, toString(kernel), toString(arch), "
		      "toString(cpu_model), toString(version), cpus, memory_bytes, seen, "
		      "label_names, label_values FROM hosts WHERE booted < ");
	sql_add(&sql, "toDateTime(%" PRIu64 ")", url->to_s);
	sql_add_selection(&sql, url, SQL_SELECT_HOSTS);
	if (by_facts)
		add_facts_of_time(&sql, url);
	sql_add(&sql, " ORDER BY host%s, seen", by_facts ? ", facts" : "");
	err = store_query(store, &sql, host_columns, HOST_COLUMNS, HOSTS_MOST, take_host,
			  &host_loading);
	sql_deinit(&sql);
	if (err)
		fleet_hosts_deinit(&hosts);
	else
		*ret = hosts;
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct fleet_host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct error *take_last(void *context, const union store_value *row)
{
	struct fleet_hosts *hosts = context;
	const struct fleet_host key = { .name = text_safe_copy(row[0].text) };
	struct fleet_host *host;

	if (!key.name)
		return &error_no_memory;
	host = hosts->count ? bsearch(&key, hosts->items, hosts->count, sizeof(key), by_name)
			    : NULL;
	if (host && row[1].number > host->seen_s)
		host->seen_s = row[1].number;
	free(key.name);
	return NULL;
}

/* Sums by hour are kept longer than loads: where these are gone, the hour of the last row is known.
 * Names in safe text may be in another order than those of the server. */
static struct error *load_last_rows(struct store *store, const struct store_url *url,
				    struct fleet_hosts *hosts)
{
	struct sql sql = store_sql(store);
	struct store_url time = *url;
	struct error *err;

	if (!url->has_from)
		time.from_s = 0;
	qsort(hosts->items, hosts->count, sizeof(*hosts->items), by_name);
	sql_add(&sql, "SELECT toString(host), max(t) FROM (SELECT host, t FROM loads WHERE ");
	sql_add_time(&sql, &time, SQL_SELECT_HOSTS);
	sql_add(&sql, " UNION ALL SELECT host, t FROM ");
	/* Sums of whole hours may have rows from before `from` or after `to`. */
	sql_add_rows(&sql, &time, url->has_from ? STORE_SUMS : STORE_HOURS,
		     &(struct store_rows){ "states", "host, t", "host, t", SQL_SELECT_HOSTS });
	sql_add(&sql, ") GROUP BY host");
	err = store_query(store, &sql, last_columns, array_length(last_columns), HOSTS_MOST,
			  take_last, hosts);
	sql_deinit(&sql);
	return err;
}

static void remove_hosts_without_rows(struct fleet_hosts *hosts)
{
	size_t kept = 0;

	for (size_t i = 0; i < hosts->count; i++)
		if (hosts->items[i].seen_s)
			hosts->items[kept++] = hosts->items[i];
		else
			host_deinit(&hosts->items[i]);
	hosts->count = kept;
}

struct error *fleet_load_hosts(struct store *store, const struct store_url *url,
			       struct fleet_hosts *ret)
{
	struct error *err = load_hosts(store, url, false, ret);

	/* The row of a host about itself may be of another time than the query. */
	for (size_t i = 0; !err && url->has_from && i < ret->count; i++)
		ret->items[i].seen_s = 0;
	if (!err && ret->count)
		err = load_last_rows(store, url, ret);
	if (!err)
		remove_hosts_without_rows(ret);
	if (err)
		fleet_hosts_deinit(ret);
	return err;
}

struct error *fleet_load_facts(struct store *store, const struct store_url *url,
			       struct fleet_hosts *ret)
{
	return load_hosts(store, url, true, ret);
}

const char *fleet_host_label(const struct fleet_host *host, const char *name)
{
	const struct {
		const char *name, *value;
	} facts[] = { { "kernel", host->kernel },
		      { "arch", host->arch },
		      { "cpu_model", host->cpu_model },
		      { "agent", host->version } };

	for (size_t i = 0; i < host->label_names.count; i++)
		if (strcmp(host->label_names.items[i], name) == 0)
			return host->label_values.items[i];
	for (size_t i = 0; i < array_length(facts); i++)
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].value;
	return NULL;
}

/* --- hosts that sent nothing --- */

#define DAY_S UINT64_C(86400)

static struct error *take_silent(void *context, const union store_value *row)
{
	struct fleet_silent_hosts *silent = context;
	const struct fleet_silent_host host = { text_safe_copy(row[0].text), row[1].number };

	if (host.name && array_push(silent, host))
		return NULL;
	free(host.name);
	return &error_no_memory;
}

struct error *fleet_load_silent_hosts(struct store *store, const struct store_url *url,
				      struct fleet_silent_hosts *ret)
{
	struct store_url day = *url;
	struct fleet_silent_hosts silent = { 0 };
	struct sql sql = store_sql(store);
	struct error *err;

	if (url->to_s <= DAY_S)
		return NULL;
	if (day.from_s > url->to_s - DAY_S)
		day.from_s = url->to_s - DAY_S;
	sql_add(&sql, "SELECT toString(host), max(t) FROM loads WHERE ");
	sql_add_time(&sql, &day, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY host HAVING max(t) < toDateTime(%" PRIu64 ") ORDER BY host",
		url->to_s - FLEET_SILENT_S);
	err = store_query(store, &sql, last_columns, array_length(last_columns), HOSTS_MOST,
			  take_silent, &silent);
	sql_deinit(&sql);
	if (err)
		fleet_silent_hosts_deinit(&silent);
	else
		*ret = silent;
	return err;
}

void fleet_silent_hosts_deinit(struct fleet_silent_hosts *silent)
{
	for (size_t i = 0; i < silent->count; i++)
		free(silent->items[i].name);
	array_deinit(silent);
}

void fleet_silent_hosts_print(const struct fleet_silent_hosts *silent, FILE *out)
{
	if (!silent->count)
		return;
	fprintf(out, "%zu host%s stopped sending:", silent->count,
		silent->count == 1 ? " has" : "s have");
	for (size_t i = 0; i < silent->count && i < HOSTS_NAMED; i++) {
		char text[TIMESTAMP_TEXT_SIZE];

		timestamp_print(text, silent->items[i].last_s * 1000);
		fprintf(out, "%s %s (last at %.19sZ)", i ? "," : "", silent->items[i].name, text);
	}
	if (silent->count > HOSTS_NAMED)
		fprintf(out, " and %zu more", silent->count - HOSTS_NAMED);
	fprintf(out, ".\n");
}

/* --- hosts of a part of the time --- */

static struct error *find_partial(const struct store_hosts *hosts,
				  struct fleet_partial_hosts *partial)
{
	for (size_t i = 0; i < hosts->count; i++) {
		struct fleet_partial_host host = { .observed_ns = hosts->items[i].observed_ns };

		if (host.observed_ns >= hosts->longest_ns / 4 * 3)
			continue;
		host.name = strdup(hosts->items[i].name);
		if (!host.name || !array_push(partial, host)) {
			free(host.name);
			return &error_no_memory;
		}
	}
	partial->longest_ns = hosts->longest_ns;
	return NULL;
}

struct error *fleet_load_partial_hosts(struct store *store, const struct store_url *url,
				       struct fleet_partial_hosts *ret)
{
	struct fleet_partial_hosts partial = { 0 };
	struct store_hosts hosts = { 0 };
	struct error *err = store_hosts_read(store, url, &hosts);

	if (err)
		return err;
	store_hosts_note_shared(&hosts, stderr);
	err = find_partial(&hosts, &partial);
	store_hosts_deinit(&hosts);
	if (err)
		fleet_partial_hosts_deinit(&partial);
	else
		*ret = partial;
	return err;
}

void fleet_partial_hosts_deinit(struct fleet_partial_hosts *partial)
{
	for (size_t i = 0; i < partial->count; i++)
		free(partial->items[i].name);
	array_deinit(partial);
}

void fleet_partial_hosts_print(const struct fleet_partial_hosts *partial, FILE *out)
{
	char observed[UNITS_TEXT_MAX], longest[UNITS_TEXT_MAX];

	if (!partial->count)
		return;
	fprintf(out,
		"%zu host%s not compared, with rows of less than 3/4 of the time:", partial->count,
		partial->count == 1 ? " was" : "s were");
	for (size_t i = 0; i < partial->count && i < HOSTS_NAMED; i++)
		fprintf(out, "%s %s (%s of %s)", i ? "," : "", partial->items[i].name,
			units_format_span(observed, (double)partial->items[i].observed_ns * 1e-9),
			units_format_span(longest, (double)partial->longest_ns * 1e-9));
	if (partial->count > HOSTS_NAMED)
		fprintf(out, " and %zu more", partial->count - HOSTS_NAMED);
	fprintf(out, ".\n");
}
