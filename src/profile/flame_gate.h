/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions that the difference of two sides of profiles must not meet: `flame --diff --fail-if
 * EXPR`, in the grammar of all comparisons (base/condition_text.h).
 *
 *	[KIND:]NAME OPERATOR BOUND
 *
 *	func:parse_json > +2%		parse_json takes over 2 % more CPU time than before
 *	off:pthread_mutex_lock > 10%	over 10 % more time off the CPU below that function
 *	group:nginx >= 50ms		the group (of --group-by) takes 50 ms more
 *
 * KIND is a row of FLAME_CONDITION_KINDS, "func" where there is none. NAME is a glob of the whole
 * name, which may have colons itself. BOUND is a change, candidate less baseline: in percent of the
 * baseline, or a time, or hits.
 *
 * A condition is met only by a difference that is known: the whole interval of a function's change
 * is on the side of the bound that the operator names, and the change is a discovery at FLAME_RATE
 * among the functions that the glob matches.
 */
#ifndef PROFILE_FLAME_GATE_H
#define PROFILE_FLAME_GATE_H

#include "base/condition_text.h"
#include "base/units.h"
#include "profile/flame_change.h"

/* KIND(id, word, is it of groups, kind of time). Where a flame has no time on the CPU, FUNC and
 * GROUP are of all time. */
#define FLAME_CONDITION_KINDS(KIND)     \
	KIND(FUNC, "func", false, CPU)  \
	KIND(OFF, "off", false, OFF)    \
	KIND(ALL, "all", false, ALL)    \
	KIND(GROUP, "group", true, CPU) \
	KIND(GROUP_OFF, "group-off", true, OFF)

enum flame_condition_kind {
#define KIND(id, ...) FLAME_CONDITION_##id,
	FLAME_CONDITION_KINDS(KIND)
#undef KIND
		FLAME_CONDITION_KIND_COUNT
};

enum flame_verdict { FLAME_HOLDS, FLAME_BROKEN, FLAME_UNDECIDED };

struct flame_condition {
	const char *text; /* the caller's */
	char *pattern;
	enum flame_condition_kind kind;
	enum condition_operator operator;
	struct amount bound;
	/* When it was judged: */
	enum flame_verdict verdict;
	size_t matched, tested, met; /* functions or groups */
	/* Of these, the change that is farthest on the side of the operator; of those that met it,
	 * if any did. `name` NULL: none was tested. */
	char *name;
	struct flame_change change;
};

struct flame_gate {
	ARRAY(struct flame_condition);
};

/* Parse a condition and add it. `text` must stay. */
struct error *flame_gate_add(struct flame_gate *gate, const char *text) MUST_CHECK;
void flame_gate_deinit(struct flame_gate *gate);

/* Judge all, by a flame with `changes`. */
struct error *flame_gate_judge(struct flame_gate *gate, const struct flame *flame) MUST_CHECK;

/* The worst of all: broken, undecided, holds. */
enum flame_verdict flame_gate_verdict(const struct flame_gate *gate);

#endif
