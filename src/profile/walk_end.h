/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a walk of a user stack ended: a row each, in the order of reports.
 */
#ifndef PROFILE_WALK_END_H
#define PROFILE_WALK_END_H

#include <stdint.h>

/* The value of a stack that ended so. */
enum walk_worth {
	WALK_WHOLE,      /* all callers are there */
	WALK_BY_POINTER, /* up to where frame pointers end: complete if all callers keep theirs */
	WALK_CUT,        /* as many frames as were wanted, and there were more */
	WALK_SHORT,      /* callers are missing */
	WALK_WORTHS
};

/*
 * END(id, name, worth, why)
 *
 * `name` is what files have; `why` is what people read behind the worth, NULL where that says all.
 */
#define WALK_ENDS_ALL(END)                                                 \
	END(COMPLETE, "complete", WHOLE, NULL)                             \
	END(POINTER_END, "pointer-end", BY_POINTER, NULL)                  \
	END(NO_PROCESS, "no-process", BY_POINTER, "process not known yet") \
	END(CHANGED, "changed", BY_POINTER, "mappings have changed")       \
	END(TRUNCATED, "truncated", CUT, NULL)                             \
	END(NO_MAPPING, "no-mapping", SHORT, "no mapping")                 \
	END(NO_TABLE, "no-table", SHORT, "table not made yet")             \
	END(NO_RULE, "no-rule", SHORT, "no rule")                          \
	END(OTHER_RULE, "other-rule", SHORT, "rule not understood")        \
	END(NO_REGISTER, "no-register", SHORT, "register not known")       \
	END(NO_MEMORY, "no-memory", SHORT, "memory not there")             \
	END(NO_SENSE, "no-sense", SHORT, "broken stack")

enum walk_end {
#define WALK_END_ENUM(id, name, worth, why) WALK_END_##id,
	WALK_ENDS_ALL(WALK_END_ENUM)
#undef WALK_END_ENUM
		WALK_ENDS
};

struct walk_end_row {
	const char *name;
	enum walk_worth worth;
	const char *why;
};
extern const struct walk_end_row walk_ends[WALK_ENDS];

/* The sum of `walks`, by walk_end, of this value. */
uint64_t walk_ends_worth(const uint64_t walks[WALK_ENDS], enum walk_worth worth);

#endif
