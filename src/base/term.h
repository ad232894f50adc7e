/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Terms: how every command's options select by name.
 *
 *	TERM = ["!"] [KIND ":"] TEXT
 *
 * KIND selects the property of a thread or stack to search, as `user` in "user:root"; the default
 * is a name. "!" negates. A colon may be part of a name: "std::thread", or "label:" with an unknown
 * kind and no text.
 *
 * What TEXT matches depends on the style of the command; see doc/filters.md for its users.
 */
#ifndef BASE_TERM_H
#define BASE_TERM_H

#include "base/error.h"
#include "base/text.h"

enum term_style {
	/* Threads of top: a part of the name in any case; with one of * ? [, a glob (fnmatch(3))
	 * of the whole. */
	TERM_ANY_CASE,
	/* Stacks of profiles: a part of the name; with * or ?, a glob of the whole. Brackets are
	 * themselves, for names of functions have them. */
	TERM_FUNCTION,
	/* Groups of compare and show: always a glob (fnmatch(3)) of the whole. */
	TERM_WHOLE,
};

/* Kinds of a command, and at last a NULL. */
typedef const char *const *term_kinds;

#define TERM_NAME SIZE_MAX /* no kind */

struct term {
	bool is_negated;
	size_t kind;      /* a number of the command's kinds, or TERM_NAME */
	struct text text; /* of what was parsed; not empty */
};

/* The error says which kind was probably meant, or that a term is empty. */
struct error *term_parse(struct text text, term_kinds kinds, struct term *ret) MUST_CHECK;

/* Is the text a glob in that style? */
bool term_is_glob(struct text text, enum term_style style);

/* Does a name match `pattern`? `name` has a zero behind its bytes. Linear in time but for globs
 * with several *, which take no more steps than the product of both lengths in TERM_FUNCTION. */
bool term_matches(const char *pattern, struct text name, enum term_style style);

/* The same of a glob of TERM_FUNCTION, for names without a zero behind them. */
bool term_glob_matches(const char *glob, struct text name);

#endif
