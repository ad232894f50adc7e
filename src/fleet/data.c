/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/data.h"

#include "base/word_map.h"
#include "statistics/statistics.h"

const struct fleet_kind_row fleet_kinds[FLEET_KIND_COUNT] = {
#define KIND_ROW(id, name, is_share, least, event, what) { name, what, is_share, least, event },
	FLEET_KINDS(KIND_ROW)
#undef KIND_ROW
};

/* For answers that no store gives: 500 hosts with 10,000 measures in 16 slices take 1 GB at most.
 */
#define MEMORY_MOST ((size_t)8 << 30)

bool fleet_data_init(struct fleet_data *data, size_t slices)
{
	*data = (struct fleet_data){ .slices = slices };
	arena_init(&data->arena, MEMORY_MOST);
	names_init(&data->names, &data->arena);
	data->measure_numbers = calloc(1, sizeof(*data->measure_numbers));
	data->base_numbers = calloc(1, sizeof(*data->base_numbers));
	data->host_numbers = calloc(1, sizeof(*data->host_numbers));
	return data->measure_numbers && data->base_numbers && data->host_numbers;
}

static void numbers_deinit(struct word_map *numbers)
{
	if (numbers)
		word_map_deinit(numbers);
	free(numbers);
}

void fleet_data_deinit(struct fleet_data *data)
{
	numbers_deinit(data->measure_numbers);
	numbers_deinit(data->base_numbers);
	numbers_deinit(data->host_numbers);
	for (size_t i = 0; i < data->measures.count; i++)
		array_deinit(&data->measures.items[i].bases);
	for (size_t i = 0; i < data->amounts.count; i++)
		free(data->amounts.items[i].hosts);
	for (size_t i = 0; i < data->bases.count; i++)
		free(data->bases.items[i].hosts);
	array_deinit(&data->measures);
	array_deinit(&data->amounts);
	array_deinit(&data->bases);
	array_deinit(&data->hosts);
	array_deinit(&data->nameless);
	names_deinit(&data->names);
	arena_deinit(&data->arena);
	*data = (struct fleet_data){ 0 };
}

/* --- measures, bases and hosts --- */

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
	if (*number == WORD_MAP_NEW && array_reserve(&data->amounts, 1) &&
	    array_push(&data->measures, measure)) {
		data->amounts.items[data->amounts.count++] = (struct fleet_row){ 0 };
		*number = (uint32_t)data->measures.count - 1;
	}
	return *number;
}

uint32_t fleet_data_base(struct fleet_data *data, enum fleet_kind kind, struct text program,
			 uint64_t which)
{
	const struct name *name = names_intern(&data->names, program.bytes, program.length);
	const enum fleet_kind of = kind == FLEET_CPU_OWN ? FLEET_CPU : kind;
	uint32_t *number =
		name ? word_map_at(data->base_numbers,
				   (struct words){ { (uint64_t)of, (uintptr_t)name, which } })
		     : NULL;

	if (!number)
		return FLEET_NONE;
	if (*number == WORD_MAP_NEW && array_push(&data->bases, (struct fleet_row){ 0 }))
		*number = (uint32_t)data->bases.count - 1;
	return *number;
}

bool fleet_data_use_base(struct fleet_data *data, uint32_t measure, uint32_t base)
{
	struct fleet_measure *of;

	if (measure >= data->measures.count || base >= data->bases.count)
		return false;
	of = &data->measures.items[measure];
	for (size_t i = 0; i < of->bases.count; i++)
		if (of->bases.items[i] == base)
			return true;
	return array_push(&of->bases, base);
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

/* So many hosts of a row at once. */
#define BLOCK_HOSTS 256

/* Memory for another host of a row: zero for each slice, or NULL. */
static double *new_slices(struct fleet_data *data)
{
	if (!data->unused_count) {
		data->unused = arena_alloc(&data->arena,
					   BLOCK_HOSTS * data->slices * sizeof(*data->unused));
		if (!data->unused)
			return NULL;
		data->unused_count = BLOCK_HOSTS;
	}
	return data->unused + --data->unused_count * data->slices;
}

static bool make_room(struct fleet_row *row, size_t hosts)
{
	size_t room = row->room ? row->room : 8;
	double **moved;

	while (room < hosts)
		room *= 2;
	if (room == row->room)
		return true;
	moved = reallocarray(row->hosts, room, sizeof(double *));
	if (!moved)
		return false;
	memset(moved + row->room, 0, (room - row->room) * sizeof(double *));
	row->hosts = moved;
	row->room = room;
	return true;
}

static bool add_to_row(struct fleet_data *data, struct fleet_row *row, uint32_t host, size_t slice,
		       double amount)
{
	if (host >= data->hosts.count)
		return false;
	if (slice >= data->slices || !(amount > 0) || isinf(amount))
		return true;
	if (!make_room(row, (size_t)host + 1))
		return false;
	if (!row->hosts[host])
		row->hosts[host] = new_slices(data);
	if (!row->hosts[host])
		return false;
	row->hosts[host][slice] += amount;
	return true;
}

bool fleet_data_add(struct fleet_data *data, uint32_t measure, uint32_t host, size_t slice,
		    double amount)
{
	return measure < data->amounts.count &&
	       add_to_row(data, &data->amounts.items[measure], host, slice, amount);
}

bool fleet_data_add_base(struct fleet_data *data, uint32_t base, uint32_t host, size_t slice,
			 double amount)
{
	return base < data->bases.count &&
	       add_to_row(data, &data->bases.items[base], host, slice, amount);
}

static void clear_host(struct fleet_row *row, size_t host)
{
	if (host < row->room)
		row->hosts[host] = NULL;
}

void fleet_data_clear_host(struct fleet_data *data, size_t host)
{
	for (size_t i = 0; i < data->amounts.count; i++)
		clear_host(&data->amounts.items[i], host);
	for (size_t i = 0; i < data->bases.count; i++)
		clear_host(&data->bases.items[i], host);
}

static double sum_of_row(const struct fleet_row *row, size_t host, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; host < row->room && row->hosts[host] && i < to; i++)
		sum += row->hosts[host][i];
	return sum;
}

struct fleet_amount fleet_data_sum(const struct fleet_data *data, size_t measure, size_t host,
				   size_t from, size_t to)
{
	const struct fleet_measure *of = &data->measures.items[measure];
	struct fleet_amount sum = { 0 };

	if (to > data->slices)
		to = data->slices;
	sum.amount = sum_of_row(&data->amounts.items[measure], host, from, to);
	for (size_t i = 0; i < of->bases.count; i++)
		sum.base += sum_of_row(&data->bases.items[of->bases.items[i]], host, from, to);
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
