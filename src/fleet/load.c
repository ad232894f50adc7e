/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/load_rows.h"

#include <inttypes.h>

/* --- parts of hosts --- */

/* The part is the last byte. */
char *fleet_part_name(struct text host, uint8_t part)
{
	return text_print("%.*s%c", (int)host.length, host.length ? host.bytes : "", '0' + part);
}

uint8_t fleet_part_of_name(struct text name)
{
	return name.length ? (uint8_t)(name.bytes[name.length - 1] - '0') : FLEET_NO_PART;
}

/* The name of the part that a row is of, to be freed; NULL: hosts are whole. False: no memory.
 * `*ret_counts`: the row counts. */
static bool part_of_row(const struct fleet_loading *loading, struct text host, uint64_t facts,
			char **ret_name, bool *ret_counts)
{
	uint8_t part;

	*ret_name = NULL;
	*ret_counts = true;
	if (!loading->parts)
		return true;
	part = loading->parts->part_of(loading->parts->context, host, facts);
	*ret_counts = part != FLEET_NO_PART;
	if (*ret_counts)
		*ret_name = fleet_part_name(host, part);
	return !*ret_counts || *ret_name;
}

bool fleet_row_host(const struct fleet_loading *loading, struct fleet_data *data, struct text host,
		    uint64_t facts, uint32_t *ret)
{
	_cleanup_free_ char *part = NULL;
	bool counts;

	*ret = FLEET_NONE;
	if (!part_of_row(loading, host, facts, &part, &counts))
		return false;
	if (!counts)
		return true;
	*ret = fleet_data_host(data, part ? text_of(part) : host);
	return *ret != FLEET_NONE;
}

bool fleet_find_row_host(const struct fleet_loading *loading, const struct fleet_data *data,
			 struct text host, uint64_t facts, uint32_t *ret)
{
	_cleanup_free_ char *part = NULL;
	bool counts;

	*ret = FLEET_NONE;
	if (!part_of_row(loading, host, facts, &part, &counts))
		return false;
	if (counts)
		*ret = fleet_data_find_host(data, part ? text_of(part) : host);
	return true;
}

const char *fleet_more_keys(const struct fleet_loading *loading)
{
	return loading->parts ? ", facts" : "";
}

/* --- rows of host, program and slice --- */

const struct store_column fleet_row_columns[FLEET_ROW_VALUES] = {
	[FLEET_ROW_HOST] = { "host", STORE_STRING },
	[FLEET_ROW_FACTS] = { "facts", STORE_U64 },
	[FLEET_ROW_PROCESS] = { "process", STORE_STRING },
	[FLEET_ROW_SLICE] = { "slice", STORE_U32 },
};

void fleet_add_slice(struct sql *sql, const struct fleet_loading *loading)
{
	if (loading->slices.count == 1)
		sql_add(sql, "toUInt32(0) AS slice");
	else
		/* Sums may begin before the first slice. */
		sql_add(sql,
			"toUInt32(least(intDiv(greatest(toUInt32(t), %" PRIu64 ") - %" PRIu64
			", %" PRIu64 "), %zu)) AS slice",
			loading->url->from_s, loading->url->from_s, loading->slice_s,
			loading->slices.count - 1);
}

void fleet_add_keys(struct sql *sql, const struct fleet_loading *loading, const char *process)
{
	sql_add(sql, "SELECT toString(host), %s, toString(%s), ",
		loading->parts ? "facts" : "toUInt64(0)", process);
	fleet_add_slice(sql, loading);
}

struct error *fleet_add_value(struct fleet_loading *loading, const union store_value *row,
			      enum fleet_kind kind, struct text name, uint64_t which, double amount)
{
	const struct text program = row[FLEET_ROW_PROCESS].text;
	struct fleet_data *data = loading->data;
	uint32_t host, measure, base;

	if (!fleet_row_host(loading, data, row[FLEET_ROW_HOST].text, row[FLEET_ROW_FACTS].number,
			    &host))
		return &error_no_memory;
	if (host == FLEET_NONE)
		return NULL;
	measure = fleet_data_measure(data, kind, program, name);
	base = fleet_data_base(data, kind, program, which);
	return fleet_data_use_base(data, measure, base) &&
			       fleet_data_add(data, measure, host,
					      (size_t)row[FLEET_ROW_SLICE].number, amount)
		       ? NULL
		       : &error_no_memory;
}

struct error *fleet_add_base(struct fleet_loading *loading, const union store_value *row,
			     enum fleet_kind kind, uint64_t which, double amount)
{
	struct fleet_data *data = loading->data;
	uint32_t host, base;

	if (!fleet_row_host(loading, data, row[FLEET_ROW_HOST].text, row[FLEET_ROW_FACTS].number,
			    &host))
		return &error_no_memory;
	if (host == FLEET_NONE)
		return NULL;
	base = fleet_data_base(data, kind, row[FLEET_ROW_PROCESS].text, which);
	return fleet_data_add_base(data, base, host, (size_t)row[FLEET_ROW_SLICE].number, amount)
		       ? NULL
		       : &error_no_memory;
}

/* --- all --- */

/* The time that a sum of minutes has: rows at both ends of a time are not ordered by time, so the
 * few of them take the server longer to find than all of the sums take it to read. */
static struct store_url whole_minutes(const struct store_url *url)
{
	struct store_url minutes = *url;

	minutes.from_s -= url->from_s % 60;
	if (minutes.to_s % 60)
		minutes.to_s += 60 - minutes.to_s % 60;
	return minutes;
}

void fleet_loading_begin(struct fleet_loading *loading, struct store *store,
			 const struct store_url *url, struct fleet_slices slices,
			 const struct fleet_parts *parts, struct store_url *minutes)
{
	*minutes = whole_minutes(url);
	*loading = (struct fleet_loading){
		.store = store,
		.url = slices.count == 1 ? minutes : url,
		.slices = slices,
		.parts = parts,
	};
	loading->slice_s = (loading->url->to_s - loading->url->from_s) / slices.count;
	if (!loading->slice_s)
		loading->slice_s = 1;
	/* Hours may be in several slices. */
	loading->detail = slices.count == 1 ? STORE_SUMS
			  : slices.by_rows  ? STORE_ROWS
					    : STORE_MINUTES;
}

struct error *fleet_load(struct store *store, const struct store_url *url,
			 struct fleet_slices slices, const struct fleet_parts *parts,
			 struct fleet_data *ret)
{
	static struct error *(*const loaders[])(struct fleet_loading *) = {
		fleet_load_states, fleet_load_counters, fleet_load_pressures, fleet_load_functions
	};
	struct fleet_loading loading;
	struct store_url minutes;
	struct error *err = NULL;
	struct fleet_data data;

	if (!fleet_data_init(&data, slices.count)) {
		fleet_data_deinit(&data);
		return &error_no_memory;
	}
	fleet_loading_begin(&loading, store, url, slices, parts, &minutes);
	loading.data = &data;
	data.seconds = (double)(loading.url->to_s - loading.url->from_s);
	for (size_t i = 0; !err && i < array_length(loaders); i++)
		err = loaders[i](&loading);
	if (err)
		fleet_data_deinit(&data);
	else
		*ret = data;
	return err;
}
