/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of unwind tables share: files with call frame information made by hand, a look into a
 * table, and what elfutils says of the same code.
 */
#ifndef UNIT_UNWIND_SCENE_H
#define UNIT_UNWIND_SCENE_H

#include "unit/unit.h"
#include "unwind/build.h"

/* Bytes that are put together. */
struct octets {
	ARRAY(uint8_t);
};

void octets_put(struct octets *octets, const void *bytes, size_t length);
void octets_fixed(struct octets *octets, size_t size, uint64_t value);
#define octets_list(octets, ...)                             \
	octets_put(octets, (const uint8_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* A file: its first bytes are its headers, then comes what it says of its code. */
#define SCENE_FRAMES 0x100000 /* address of .eh_frame */
#define SCENE_CODE   0x200000 /* of a segment of code, usually */

struct scene_segment {
	uint32_t type, flags;
	uint64_t address, size;
};

struct scene_file {
	uint16_t machine; /* 0: EM_X86_64 */
	struct octets frames, debug;
	const char *debug_name; /* NULL: .debug_frame */
	uint64_t debug_flags;
	const char *other_section; /* an empty one of this name */
	bool no_sections;
	struct scene_segment segments[4]; /* with code; the first of size 0 ends them */
	uint64_t size;                    /* of the file, at least */
	uint64_t entry;
};

/* The file in memory; the caller frees it. */
struct text scene_make(const struct scene_file *file);
void scene_deinit(struct scene_file *file);

/* Entries of .eh_frame, or of .debug_frame in its form, and where they are. `data` is what letters
 * want. */
size_t scene_put_common(struct octets *frames, bool is_debug, uint8_t version, const char *letters,
			const void *data, size_t data_length, const void *code, size_t length);
/* Of the usual form: "zR", addresses relative, CFA = rsp + 8, return address at CFA - 8. */
size_t scene_put_usual(struct octets *frames);
/* In that form. */
void scene_put_function(struct octets *frames, size_t common, uint64_t start, uint32_t size,
			const void *code, size_t length);

/* The table of a file in memory. */
struct unwind_table scene_table(struct text bytes);

/* The rule at an address. Fails the test when the table is not in its form. */
struct unwind_rule scene_rule(const struct unwind_table *table, uint64_t address);

/* Is all of a table in bounds, and each row another one than that before it? */
void scene_check(const struct unwind_table *table);

#endif
