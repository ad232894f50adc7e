/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that are read from the front, as DWARF has them (DWARF 5, 7.6) and encoded pointers of
 * .eh_frame (LSB 5, core, 10.5.1). What would go beyond the end is false, and may have moved the
 * cursor.
 */
#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include <dwarf.h>

#include "base/text.h"

struct cursor {
	const uint8_t *at, *end;
};

static inline struct cursor cursor_of(struct text bytes)
{
	const uint8_t *at = (const uint8_t *)bytes.bytes;

	return (struct cursor){ at, at ? at + bytes.length : at };
}

static inline bool cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (size > (size_t)(cursor->end - cursor->at))
		return false;
	cursor->at += size;
	return true;
}

/* A number of 1, 2, 4 or 8 bytes. */
static inline bool cursor_fixed(struct cursor *cursor, size_t size, uint64_t *ret)
{
	if (size > (size_t)(cursor->end - cursor->at))
		return false;
	*ret = 0;
	memcpy(ret, cursor->at, size);
	cursor->at += size;
	return true;
}

static inline int64_t extend_sign(uint64_t value, unsigned bits)
{
	return bits < 64 ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value;
}

/* Seven bits in each of at most ten bytes. `ret_bits` is how many there were. */
static inline bool cursor_leb(struct cursor *cursor, uint64_t *ret, unsigned *ret_bits)
{
	uint64_t value = 0;

	for (unsigned bits = 0; bits < 70 && cursor->at < cursor->end; bits += 7) {
		uint8_t byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << bits;
		if (byte & 0x80)
			continue;
		*ret = value;
		*ret_bits = bits + 7;
		return true;
	}
	return false;
}

static inline bool cursor_uleb(struct cursor *cursor, uint64_t *ret)
{
	unsigned bits;

	return cursor_leb(cursor, ret, &bits);
}

static inline bool cursor_sleb(struct cursor *cursor, int64_t *ret)
{
	uint64_t value;
	unsigned bits;

	if (!cursor_leb(cursor, &value, &bits))
		return false;
	*ret = extend_sign(value, bits);
	return true;
}

/* A pointer of one of the encodings that need nothing but where it is itself, which is `address`:
 * DW_EH_PE_absptr and DW_EH_PE_pcrel, of any size, and nothing indirect. */
static inline bool cursor_pointer(struct cursor *cursor, uint8_t encoding, uint64_t address,
				  uint64_t *ret)
{
	static const uint8_t sizes[16] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};
	uint8_t form = encoding & 0x0f;
	uint64_t value;

	if ((encoding & 0xf0) != DW_EH_PE_absptr && (encoding & 0xf0) != DW_EH_PE_pcrel)
		return false;
	if (sizes[form]) {
		if (!cursor_fixed(cursor, sizes[form], &value))
			return false;
		if (form & DW_EH_PE_signed)
			value = (uint64_t)extend_sign(value, sizes[form] * 8u);
	} else if (form == DW_EH_PE_uleb128) {
		if (!cursor_uleb(cursor, &value))
			return false;
	} else if (form != DW_EH_PE_sleb128 || !cursor_sleb(cursor, (int64_t *)&value)) {
		return false;
	}
	*ret = value + ((encoding & 0xf0) == DW_EH_PE_pcrel ? address : 0);
	return true;
}

#endif
