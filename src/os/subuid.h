/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The owners of user IDs in user namespaces: the ranges of /etc/subuid (subuid(5)), which
 * newuidmap(1) lets a user map beside its own ID.
 *
 *	struct subuid_ranges ranges = { 0 };
 *	subuid_read(bytes_of_subuid, bytes_of_passwd, &ranges);
 *	owner = subuid_owner(&ranges, user);
 *	array_deinit(&ranges);
 */
#ifndef OS_SUBUID_H
#define OS_SUBUID_H

#include "base/array.h"
#include "base/text.h"

struct subuid_range {
	uint32_t first, count;
	uint32_t owner;
};

struct subuid_ranges {
	ARRAY(struct subuid_range);
};

/* Lines NAME:FIRST:COUNT, where NAME may be a number. Names that passwd(5) does not have, and lines
 * of another form, are passed over. False without memory. */
bool subuid_read(struct text subuid, struct text passwd, struct subuid_ranges *ret);

/* The owner of the range that contains the user ID; the user itself if there is none. */
uint32_t subuid_owner(const struct subuid_ranges *ranges, uint32_t user);

#endif
