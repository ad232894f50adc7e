/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small ELF file with what of jemalloc is looked for in it, made by hand.
 *
 *	struct fake_elf fake = { .machine = EM_X86_64, .symbols = { { "tsd_tls", 0 } } };
 *	struct text bytes = fake_elf_make(&fake);
 */
#ifndef UNIT_FAKE_ELF_H
#define UNIT_FAKE_ELF_H

#include <elf.h>

#include "unit/unit.h"

/* Addresses are offsets in the file. */
enum {
	FAKE_NAMES = 0x400,
	FAKE_TABLE = 0x500, /* a second one follows at FAKE_TABLE_2 */
	FAKE_TABLE_2 = 0x600,
	FAKE_DYNAMIC = 0x700,
	FAKE_RELOCATIONS = 0x800,
	FAKE_SYMBOLS = 0xc00,
	FAKE_SYMBOL_NAMES = 0xd00,
	FAKE_SECTION_NAMES = 0xe00,
	FAKE_NOTE = 0xe80,
	FAKE_LINK = 0xec0,
	FAKE_SECTIONS = 0xf00,
	FAKE_FRAMES = 0x1180,
	FAKE_ALLOCATEDP = 0x1200,
	FAKE_DEALLOCATEDP = 0x1240,
	FAKE_COUNTING = 0x1300,
	FAKE_SLOT = 0x1400, /* words of the GOT */
	FAKE_SIZE = 0x1500,
};

struct fake_code {
	const char *bytes;
	size_t length;
};
#define CODE(literal) ((struct fake_code){ literal, sizeof(literal) - 1 })

struct fake_elf {
	uint16_t machine;
	uint64_t tls_size; /* 0: as large as in Debian's libjemalloc2, 0xa48 or 0xa88 */
	bool without_tls, without_table, with_two_tables;
	bool without_frames; /* no table of functions */
	bool fixed;          /* its pointers stand in it; else relocations make them */
	/* 0: as gcc 12 has them. The offsets are 0x338 and 0x348 on x86_64, 0x378 and 0x388 on
	 * aarch64. */
	struct fake_code allocatedp, deallocatedp;
	struct fake_code counting;
	struct {
		uint64_t value;    /* where the variable is */
		bool is_undefined; /* of another file */
	} slots[3];
	size_t slot_count;
	struct {
		const char *name;
		uint64_t value;
	} symbols[2];
	const char *build_id, *link; /* NULL: none */
	uint32_t link_crc;
};

/* In memory of its own (guarded); the caller's. */
struct text fake_elf_make(const struct fake_elf *fake);

#endif
