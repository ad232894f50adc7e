/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of unwinding as tests write them, and a table that has them.
 *
 *	static const struct unwind_rule deep = SP(16);
 *	struct unwind_table table = table_of(&file);
 *
 *	expect_rule(&table, SCENE_CODE, &deep, "a function");
 */
#ifndef UNIT_UNWIND_RULES_H
#define UNIT_UNWIND_RULES_H

#include <string.h>

#include "unit/unwind_scene.h"
#include "unwind/rule.h"

/* What the usual CIE says: CFA = rsp + 8, return address at CFA - 8. */
#define FRAME(...)                                                                           \
	{                                                                                    \
		.kind = UNWIND_RULE_FRAME, .ra = UNWIND_AT_CFA, .ra_offset = -1, __VA_ARGS__ \
	}
#define SP(offset, ...) FRAME(.cfa_offset = (offset), ##__VA_ARGS__)
#define BP(offset, ...) FRAME(.base = UNWIND_BASE_BP, .cfa_offset = (offset), ##__VA_ARGS__)
#define KIND(name)                         \
	{                                  \
		.kind = UNWIND_RULE_##name \
	}

/* An instruction of CFI that goes on in the code; <dwarf.h> has its name. */
#define ADVANCE(bytes) DW_CFA_advance_loc | (bytes)

/* The table has this rule there; `name` is of the case. */
static inline void expect_rule(const struct unwind_table *table, uint64_t address,
			       const struct unwind_rule *wanted, const char *name)
{
	struct unwind_rule rule = scene_rule(table, address);

	if (memcmp(&rule, wanted, sizeof(rule)) != 0)
		fail_msg(
			"%s at %#lx: kind %u base %u+%d number %u flags %u+%d, ra %u %d, bp %u %d, "
			"bx %u %d",
			name, address, rule.kind, rule.base, rule.cfa_offset, rule.number,
			rule.flags, rule.addend, rule.ra, rule.ra_offset, rule.bp, rule.bp_offset,
			rule.bx, rule.bx_offset);
}

/* Of a file, whose memory goes. */
static inline struct unwind_table table_of(struct scene_file *file)
{
	struct text bytes = scene_make(file);
	struct unwind_table table = scene_table(bytes);

	unguard(bytes);
	scene_deinit(file);
	return table;
}

#endif
