/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/maps.h"

#include "base/hex.h"

/* The hexadecimal number before `separator`, of at most 16 digits. */
static bool cut_hex(struct text *rest, char separator, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < rest->length && rest->bytes[i] != separator; i++) {
		const int digit = hex_digit(rest->bytes[i]);

		if (i == 16 || digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	if (!i || i == rest->length)
		return false;
	rest->bytes += i + 1;
	rest->length -= i + 1;
	*ret = value;
	return true;
}

static bool parse_mapping(struct text line, struct mapping *ret)
{
	struct mapping mapping;
	struct text permissions, inode;
	uint64_t major, minor;

	if (!cut_hex(&line, '-', &mapping.start) || !cut_hex(&line, ' ', &mapping.end) ||
	    mapping.end <= mapping.start || !text_cut(&line, ' ', &permissions) ||
	    permissions.length != 4 || !cut_hex(&line, ' ', &mapping.offset) ||
	    !cut_hex(&line, ':', &major) || !cut_hex(&line, ' ', &minor) || major > UINT32_MAX ||
	    minor > UINT32_MAX || !text_cut(&line, ' ', &inode) || !text_u64(inode, &mapping.inode))
		return false;
	mapping.executable = permissions.bytes[2] == 'x';
	mapping.writable = permissions.bytes[1] == 'w';
	mapping.major = (uint32_t)major;
	mapping.minor = (uint32_t)minor;
	/* Padding, so that paths stand below each other; a path of a file starts with '/'. */
	while (line.length && line.bytes[0] == ' ') {
		line.bytes++;
		line.length--;
	}
	mapping.path = line;
	*ret = mapping;
	return true;
}

bool maps_next(struct text *rest, struct mapping *ret)
{
	struct text line;

	while (text_cut(rest, '\n', &line))
		if (parse_mapping(line, ret))
			return true;
	return false;
}
