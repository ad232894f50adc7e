/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/data.h"

#include "base/word_map.h"
#include "statistics/statistics.h"

const struct fleet_kind_row fleet_kinds[FLEET_KIND_COUNT] = {
#define KIND_ROW(id, name, is_share, least, event, what) { name, what, is_share, least, event },
	FLEET_KINDS(KIND_ROW)
#undef KIND_ROW
};

/* Answers of a server are bounded before this; names of a million functions fit. */
#define NAMES_MOST ((size_t)256 << 20)

bool fleet_data_init(struct fleet_data *data, size_t slices)
{
	*data = (struct fleet_data){ .slices = slices };
	arena_init(&data->arena, NAMES_MOST);
	names_init(&data->names, &data->arena);
	data->measure_numbers = calloc(1, sizeof(*data->measure_numbers));
	data->host_numbers = calloc(1, sizeof(*data->host_numbers));
	return data->measure_numbers && data->host_numbers;
}

void fleet_data_deinit(struct fleet_data *data)
{
	if (data->measure_numbers)
		word_map_deinit(data->measure_numbers);
	if (data->host_numbers)
		word_map_deinit(data->host_numbers);
	free(data->measure_numbers);
	free(data->host_numbers);
	free(data->amounts);
	array_deinit(&data->measures);
	array_deinit(&data->hosts);
	names_deinit(&data->names);
	arena_deinit(&data->arena);
	*data = (struct fleet_data){ 0 };
}

/* --- measures and hosts --- */

static struct words key_of(enum fleet_kind kind, const struct name *program,
			   const struct name *name)
{
	return (struct words){ { (uint64_t)kind, (uintptr_t)program, (uintptr_t)name } };
}

uint32_t fleet_data_measure(struct fleet_data *data, enum fleet_kind kind, struct text program,
			    struct text name)
{
	struct fleet_measure measure = {
		.kind = kind,
		.program = names_intern(&data->names, program.bytes, program.length),
		.name = names_intern(&data->names, name.bytes, name.length),
	};
	uint32_t *number;

	if (!measure.program || !measure.name)
		return FLEET_NONE;
	number = word_map_at(data->measure_numbers, key_of(kind, measure.program, measure.name));
	if (!number)
		return FLEET_NONE;
	if (*number == WORD_MAP_NEW && array_push(&data->measures, measure))
		*number = (uint32_t)data->measures.count - 1;
	return *number;
}

uint32_t fleet_data_host(struct fleet_data *data, struct text host)
{
	const struct name *name = names_intern(&data->names, host.bytes, host.length);
	uint32_t *number =
		name ? word_map_at(data->host_numbers, (struct words){ { (uintptr_t)name } })
		     : NULL;

	if (!number)
		return FLEET_NONE;
	if (*number == WORD_MAP_NEW && array_push(&data->hosts, name))
		*number = (uint32_t)data->hosts.count - 1;
	return *number;
}

uint32_t fleet_data_find_host(const struct fleet_data *data, struct text host)
{
	const struct name *name = names_find(&data->names, host.bytes, host.length);

	return name ? word_map_find(data->host_numbers, (struct words){ { (uintptr_t)name } })
		    : FLEET_NONE;
}

uint32_t fleet_data_find(const struct fleet_data *data, enum fleet_kind kind, struct text program,
			 struct text name)
{
	const struct name *ours = names_find(&data->names, program.bytes, program.length);
	const struct name *its = names_find(&data->names, name.bytes, name.length);

	return ours && its ? word_map_find(data->measure_numbers, key_of(kind, ours, its))
			   : FLEET_NONE;
}

/* --- amounts --- */

static struct fleet_amount *cell(const struct fleet_data *data, size_t measure, size_t host)
{
	return data->amounts + (measure * data->host_room + host) * data->slices;
}

/* Room for all measures and hosts that there are. */
static bool make_room(struct fleet_data *data)
{
	size_t measures = data->measure_room, hosts = data->host_room, bytes;
	struct fleet_amount *moved;

	if (data->measures.count <= measures && data->hosts.count <= hosts)
		return true;
	while (measures < data->measures.count)
		measures = measures ? measures * 2 : 64;
	while (hosts < data->hosts.count)
		hosts = hosts ? hosts * 2 : 8;
	if (__builtin_mul_overflow(measures * hosts, data->slices * sizeof(*moved), &bytes))
		return false;
	moved = calloc(1, bytes);
	if (!moved)
		return false;
	for (size_t i = 0; i < data->measure_room; i++)
		memcpy(moved + i * hosts * data->slices, cell(data, i, 0),
		       data->host_room * data->slices * sizeof(*moved));
	free(data->amounts);
	data->amounts = moved;
	data->measure_room = measures;
	data->host_room = hosts;
	return true;
}

bool fleet_data_add(struct fleet_data *data, uint32_t measure, uint32_t host, size_t slice,
		    double amount, double base)
{
	struct fleet_amount *to;

	if (measure >= data->measures.count || host >= data->hosts.count || !make_room(data))
		return false;
	if (slice >= data->slices || !(amount >= 0) || !(base >= 0) || isinf(amount) || isinf(base))
		return true;
	to = cell(data, measure, host) + slice;
	to->amount += amount;
	to->base += base;
	return true;
}

void fleet_data_clear_host(struct fleet_data *data, size_t host)
{
	for (size_t i = 0; host < data->host_room && i < data->measure_room; i++)
		memset(cell(data, i, host), 0, data->slices * sizeof(*data->amounts));
}

struct fleet_amount fleet_data_sum(const struct fleet_data *data, size_t measure, size_t host,
				   size_t from, size_t to)
{
	struct fleet_amount sum = { 0 };

	/* Of a measure without amounts there may be no room yet. */
	if (measure >= data->measure_room || host >= data->host_room)
		return sum;
	for (size_t i = from; i < to && i < data->slices; i++) {
		sum.amount += cell(data, measure, host)[i].amount;
		sum.base += cell(data, measure, host)[i].base;
	}
	return sum;
}

/* The median of the bases that are not 0; `scratch` has room for all hosts. */
static double median_base(const struct fleet_data *data, size_t measure, size_t from, size_t to,
			  double *scratch)
{
	size_t count = 0;

	for (size_t host = 0; host < data->hosts.count; host++) {
		const double base = fleet_data_sum(data, measure, host, from, to).base;

		if (base > 0)
			scratch[count++] = base;
	}
	return count ? sort_for_median(scratch, count) : 0;
}

size_t fleet_data_values(const struct fleet_data *data, size_t measure, size_t from, size_t to,
			 double *values)
{
	const struct fleet_kind_row *kind = &fleet_kinds[data->measures.items[measure].kind];
	const double least =
		fmax(kind->base_least, median_base(data, measure, from, to, values) / 4);
	size_t count = 0;

	for (size_t host = 0; host < data->hosts.count; host++) {
		const struct fleet_amount sum = fleet_data_sum(data, measure, host, from, to);

		values[host] = sum.base >= least ? sum.amount / sum.base : NAN;
		count += sum.base >= least;
	}
	return count;
}

double fleet_data_threads(const struct fleet_data *data, size_t measure, size_t host, size_t from,
			  size_t to)
{
	const double seconds = data->seconds * (double)(to - from) / (double)data->slices;

	if (!(seconds > 0))
		return 1;
	return fmin(fleet_data_sum(data, measure, host, from, to).base / seconds, 1);
}
