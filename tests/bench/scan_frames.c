/* SPDX-License-Identifier: BSD-2-Clause */
#include "scan_frames.h"

#include <stdint.h>
#include <string.h>

/* Operands of the instructions below 0x40, by number (DWARF 5, 7.24): bytes, or how many LEB128
 * numbers; all others have none, but for the expressions, which are LEB128 lengths followed by so
 * many bytes. */
enum { LEB = 16, LEB2, BLOCK, LEB_BLOCK };

static const unsigned char operands[64] = {
	[0x01] = 8,    [0x02] = 1,    [0x03] = 2,     [0x04] = 4,         [0x05] = LEB2,
	[0x06] = LEB,  [0x07] = LEB,  [0x08] = LEB,   [0x09] = LEB2,      [0x0c] = LEB2,
	[0x0d] = LEB,  [0x0e] = LEB,  [0x0f] = BLOCK, [0x10] = LEB_BLOCK, [0x11] = LEB2,
	[0x12] = LEB2, [0x13] = LEB,  [0x14] = LEB2,  [0x15] = LEB2,      [0x16] = LEB_BLOCK,
	[0x2e] = LEB,  [0x2f] = LEB2,
};

static const unsigned char *skip_leb(const unsigned char *at, const unsigned char *end)
{
	while (at < end && *at++ & 0x80)
		;
	return at;
}

static const unsigned char *skip_block(const unsigned char *at, const unsigned char *end)
{
	const unsigned char *bytes = skip_leb(at, end);
	size_t length = at < end ? *at & 0x7f : 0;

	return length < (size_t)(end - bytes) ? bytes + length : end;
}

static const unsigned char *skip_operands(unsigned kind, const unsigned char *at,
					  const unsigned char *end)
{
	switch (kind) {
	case LEB:
		return skip_leb(at, end);
	case LEB2:
		return skip_leb(skip_leb(at, end), end);
	case BLOCK:
		return skip_block(at, end);
	case LEB_BLOCK:
		return skip_block(skip_leb(at, end), end);
	default:
		return kind < (size_t)(end - at) ? at + kind : end;
	}
}

static size_t count_instructions(const unsigned char *at, const unsigned char *end)
{
	size_t count = 0;

	for (; at < end; count++) {
		unsigned code = *at++;

		/* DW_CFA_offset has one operand; advance_loc and restore have none. */
		if (code >> 6 == 2)
			at = skip_leb(at, end);
		else if (code < 64)
			at = skip_operands(operands[code], at, end);
	}
	return count;
}

#define FDE_HEADER 12 /* its CIE, begin and length of its code */

size_t scan_frames(const unsigned char *frames, size_t length)
{
	const unsigned char *at = frames, *end = frames + length;
	size_t count = 0;

	while ((size_t)(end - at) >= 8) {
		uint32_t bytes, cie;

		memcpy(&bytes, at, 4);
		memcpy(&cie, at + 4, 4);
		at += 4;
		if (!bytes || bytes > (size_t)(end - at))
			break;
		if (cie && bytes > FDE_HEADER)
			count += count_instructions(skip_block(at + FDE_HEADER, at + bytes),
						    at + bytes);
		at += bytes;
	}
	return count;
}
