/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters samples by their stacks and threads, after collection.
 *
 * A term (base/term.h, TERM_FUNCTION) matches the name of a frame; "thread:GLOB", "process:GLOB",
 * "module:GLOB" and "cgroup:GLOB" match those names instead. "user:NAME" is the effective user of
 * the thread, by number or by a name that this host knows; "pid:N" its process or itself;
 * "state:NAME" why it waited, as "lock" (profile/reason.h), or its class (profile/class.h).
 * "leader:GLOB" is the first thread of a process, by its name. "only:GLOB,GLOB" matches if every
 * frame of user space is in a file whose name (without directories) matches one of the globs.
 * "waiter:GLOB" is the function that called into the C or C++ library, if it is known: the
 * innermost function outside of these, as it is in the file, without inlined functions.
 *
 * A sample is kept if every --filter term matches and no --not-contains term does.
 *
 * A preset is a file of terms that hides the waits of idle threads of a runtime. A line "hide TERM
 * [& TERM...]" hides samples that match all terms; "!TERM" must not match. '#' begins a comment at
 * the start of a line or after a space, and '&' has spaces around it. Built-in presets are in the
 * program; those of the user, in $XDG_CONFIG_HOME/ctprof/presets/NAME.preset, take precedence.
 */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "base/text.h"
#include "profile/profile.h"

struct filter;

struct error *filter_create(struct filter **ret) MUST_CHECK;
/* Takes NULL. */
void filter_destroy(struct filter *filter);
DEFINE_CLEANUP(filter_destroy, struct filter *)

/* Terms as users write them. */
struct error *filter_keep(struct filter *filter, const char *term) MUST_CHECK;
struct error *filter_drop(struct filter *filter, const char *term) MUST_CHECK;
/* The lines of a preset; `name` is for messages: "NAME:3: ...". */
struct error *filter_add_preset(struct filter *filter, struct text lines,
				const char *name) MUST_CHECK;
/* A preset by its name; unknown names tell which there are. */
struct error *filter_add_preset_named(struct filter *filter, const char *name) MUST_CHECK;

/* Takes out of the samples and the longest blocks what is not kept; samples that went are counted.
 * Totals of threads and histograms stay: they have no stacks. After an error the profile can only
 * be destroyed. */
struct filtered {
	uint64_t count, ns;
};
struct error *filter_apply(const struct filter *filter, struct profile *profile,
			   struct filtered *ret) MUST_CHECK;

#endif
