/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/keep.h"

#include "base/text.h"

const struct store_keep_row store_keeps[STORE_KEEP_COUNT] = {
#define KEEP_ROW(id, name, days, partition) [STORE_KEEP_##id] = { name, days, partition },
	STORE_KEEPS(KEEP_ROW)
#undef KEEP_ROW
};

static struct error *invalid(struct text part)
{
	return error_create("'%.*s': expected e.g. raw=14d,minute=90d,hour=400d, in days",
			    part.length > 40 ? 40 : (int)part.length, part.bytes);
}

static struct error *take(struct text part, unsigned days[STORE_KEEP_COUNT])
{
	struct text value = part, name;
	uint32_t number;

	text_cut(&value, '=', &name);
	if (!text_ends(value, TEXT("d")))
		return invalid(part);
	value.length--;
	if (!text_u32(value, &number) || !number || number > STORE_KEEP_DAYS_MOST)
		return invalid(part);
	for (size_t i = 0; i < STORE_KEEP_COUNT; i++) {
		if (!text_equal(name, text_of(store_keeps[i].name)))
			continue;
		if (days[i])
			return error_create("'%s' is given twice", store_keeps[i].name);
		days[i] = number;
		return NULL;
	}
	return invalid(part);
}

struct error *store_keep_check(const unsigned days[STORE_KEEP_COUNT])
{
	const unsigned longest = days[STORE_KEEP_HOUR];

	for (unsigned i = 0; i < STORE_KEEP_COUNT; i++)
		if (longest && days[i] > longest)
			return error_create("'%s' (%u days) is longer than 'hour' (%u days), which "
					    "stacks and hosts are kept for",
					    store_keeps[i].name, days[i], longest);
	return NULL;
}

struct error *store_keep_parse(const char *text, unsigned days[STORE_KEEP_COUNT])
{
	struct text rest = text_of(text), part;
	struct error *err = NULL;

	if (!rest.length)
		return invalid(rest);
	while (!err && text_cut(&rest, ',', &part))
		err = take(part, days);
	return err ? err : store_keep_check(days);
}
