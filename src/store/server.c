/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/server.h"

#include "base/array.h"

static bool is_since(const uint32_t *version, uint32_t major, uint32_t minor)
{
	return version[0] > major || (version[0] == major && version[1] >= minor);
}

bool store_server_parse(struct text version, struct store_server *ret)
{
	struct text part, rest = text_trim(version);
	uint32_t numbers[2];

	for (size_t i = 0; i < array_length(numbers); i++)
		if (!text_cut(&rest, '.', &part) || !text_u32(part, &numbers[i]))
			return false;
	*ret = (struct store_server){
		.major = numbers[0],
		.minor = numbers[1],
		.is_current = is_since(numbers, 22, 3),
		/* Changelog of ClickHouse, 19.14. */
		.has_parameters = is_since(numbers, 19, 14),
	};
	return true;
}
