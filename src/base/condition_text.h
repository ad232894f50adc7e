/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a condition, the same for all comparisons: `--fail-if EXPR`.
 *
 *	[GROUP:]NAME OPERATOR BOUND
 *
 * GROUP may hold colons and operators itself: NAME begins after the last colon, and the last
 * operator counts. What a name and a bound mean is the matter of the caller.
 */
#ifndef BASE_CONDITION_TEXT_H
#define BASE_CONDITION_TEXT_H

#include "base/error.h"
#include "base/text.h"

enum condition_operator {
	CONDITION_ABOVE,
	CONDITION_AT_LEAST,
	CONDITION_BELOW,
	CONDITION_AT_MOST,
};

/* Parts of the text that was parsed, without blanks around them. */
struct condition_text {
	struct text group; /* may be empty */
	struct text name;
	enum condition_operator operator;
	struct text bound;
};
struct error *condition_text_parse(const char *text, struct condition_text *ret) MUST_CHECK;

/* Is `value` on the side of `bound` that the operator names? */
bool condition_holds(enum condition_operator operator, double value, double bound);

#endif
