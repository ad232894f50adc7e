/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/subuid.h"

static bool find_user(struct text passwd, struct text name, uint32_t *ret)
{
	struct text line, field;

	if (text_u32(name, ret))
		return true;
	while (text_cut(&passwd, '\n', &line))
		if (text_cut(&line, ':', &field) && text_equal(field, name) &&
		    text_cut(&line, ':', &field) && text_cut(&line, ':', &field))
			return text_u32(field, ret);
	return false;
}

static bool parse_range(struct text line, struct text passwd, struct subuid_range *ret)
{
	struct text name, first;

	return text_cut(&line, ':', &name) && text_cut(&line, ':', &first) &&
	       text_u32(first, &ret->first) && text_u32(text_trim(line), &ret->count) &&
	       find_user(passwd, name, &ret->owner);
}

bool subuid_read(struct text subuid, struct text passwd, struct subuid_ranges *ret)
{
	struct text line;

	while (text_cut(&subuid, '\n', &line)) {
		struct subuid_range range;

		if (parse_range(line, passwd, &range) && !array_push(ret, range))
			return false;
	}
	return true;
}

uint32_t subuid_owner(const struct subuid_ranges *ranges, uint32_t user)
{
	for (size_t i = 0; i < ranges->count; i++) {
		const struct subuid_range *range = &ranges->items[i];

		if (user >= range->first && user - range->first < range->count)
			return range->owner;
	}
	return user;
}
