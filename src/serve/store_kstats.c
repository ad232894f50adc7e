/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "serve/store_internal.h"

/* --- descriptions of metrics --- */

static struct error *copy_word(const struct name *name, char **ret)
{
	if (!name)
		return NULL;
	*ret = strdup(name->bytes);
	return *ret ? NULL : &error_no_memory;
}

static const struct name *name_of(const struct name *const *names, uint32_t number)
{
	return number == TICK_NONE ? NULL : names[number];
}

static struct error *describe(const struct tick_kstats *metric, const struct name *const *names,
			      struct kstats_table **ret)
{
	struct kstats_table *table = calloc(1, sizeof(*table));
	struct error *err = table ? NULL : &error_no_memory;

	if (!table)
		return err;
	table->frac_bits = metric->frac_bits;
#define WORD_COPY(word, member) \
	if (!err)               \
		err = copy_word(name_of(names, metric->word), &table->member);
	TICK_KSTATS_WORDS(WORD_COPY)
#undef WORD_COPY
	if (err)
		kstats_table_destroy(table);
	else
		*ret = table;
	return err;
}

static bool is_word(const char *word, const struct name *name)
{
	return word && name ? strcmp(word, name->bytes) == 0 : !word && !name;
}

static bool is_described(const struct kstats_table *table, const struct tick_kstats *metric,
			 const struct name *const *names)
{
	return table->frac_bits == metric->frac_bits
#define WORD_SAME(word, member) &&is_word(table->member, name_of(names, metric->word))
					   TICK_KSTATS_WORDS(WORD_SAME)
#undef WORD_SAME
		;
}

/* Find or add the description of a metric. There are few, so search them in turn, the newest first,
 * which is most likely the one. */
static struct error *number_metric(struct tick_store *store, const struct tick_kstats *metric,
				   const struct name *const *names, uint32_t *ret)
{
	struct kstats_table *table;
	struct error *err;

	for (size_t i = store->metrics.count; i-- > 0;)
		if (is_described(store->metrics.items[i], metric, names)) {
			*ret = (uint32_t)i;
			return NULL;
		}
	err = describe(metric, names, &table);
	if (err)
		return err;
	if (!array_push(&store->metrics, table)) {
		kstats_table_destroy(table);
		return &error_no_memory;
	}
	*ret = (uint32_t)store->metrics.count - 1;
	return NULL;
}

/* --- values of metrics --- */

struct error *store_take_kstats(struct tick_store *store, const struct tick *tick,
				const struct name *const *names, struct store_tick *into)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < tick->header->kstats_count; i++) {
		const struct tick_kstats *from = &tick->kstats[i];
		struct store_kstats to = {
			.values = from->values,
			.is_active = from->is_active,
			.earlier_known = from->earlier_known,
			.losses_known = from->losses_known,
			.earlier = from->earlier,
		};

		memcpy(to.losses, from->losses, sizeof(to.losses));
		err = number_metric(store, from, names, &to.metric);
		if (!err && !array_push(&into->kstats, to))
			err = &error_no_memory;
	}
	for (size_t i = 0; !err && i < tick->header->values_count; i++)
		if (!array_push(&into->values, tick->values[i]))
			err = &error_no_memory;
	return err;
}

struct error *store_renumber_kstats(struct tick_store *store)
{
	const size_t count = store->metrics.count;
	uint32_t *numbers = calloc(
		count + 1,
		sizeof(*numbers)); /* new numbers, counted from 1; 0: no tick has the metric */
	uint32_t kept = 0;

	if (!numbers)
		return &error_no_memory;
	for (size_t t = 0; t < store->ticks.count; t++)
		for (size_t i = 0; i < store->ticks.items[t].kstats.count; i++)
			numbers[store->ticks.items[t].kstats.items[i].metric] = 1;
	for (size_t i = 0; i < count; i++) {
		if (!numbers[i]) {
			kstats_table_destroy(store->metrics.items[i]);
			continue;
		}
		store->metrics.items[kept] = store->metrics.items[i];
		numbers[i] = ++kept;
	}
	store->metrics.count = kept;
	for (size_t t = 0; t < store->ticks.count; t++)
		for (size_t i = 0; i < store->ticks.items[t].kstats.count; i++) {
			uint32_t *metric = &store->ticks.items[t].kstats.items[i].metric;

			*metric = numbers[*metric] - 1;
		}
	free(numbers);
	return NULL;
}

size_t store_kstats_bytes(const struct tick_store *store)
{
	size_t bytes = store->metrics.count * sizeof(struct kstats_table);

	for (size_t i = 0; i < store->metrics.count; i++) {
		const struct kstats_table *table = store->metrics.items[i];

#define WORD_BYTES(word, member) bytes += table->member ? strlen(table->member) : 0;
		TICK_KSTATS_WORDS(WORD_BYTES)
#undef WORD_BYTES
	}
	return bytes;
}
