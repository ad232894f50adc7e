/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which samples are kept, by what is in their stacks: after collection, so nothing is lost for
 * good.
 *
 * A term (base/term.h, TERM_FUNCTION) is about the name of a frame; "thread:GLOB", "process:GLOB",
 * "module:GLOB" and "cgroup:GLOB" look there instead. "user:NAME" is the effective user of the
 * thread, by number or by a name that this host knows; "pid:N" its process or itself; "state:NAME"
 * the class of the sample (profile/class.h).
 * "leader:GLOB" is the first thread of a process by its name. "only:GLOB,GLOB" wants every frame of
 * user space to be in a file that one of the globs matches by its name without directories: nobody
 * else called. "waiter:GLOB" is the function that called into the C or the C++ library, where that
 * is known: the innermost one outside of these, as it is in the file, whatever is inlined there.
 *
 * A sample stays when every --filter term matches and no --not-contains term does.
 *
 * A preset is a file of terms for a runtime that hides the waits of its idle threads: lines
 * "hide TERM [& TERM...]", all of which must match, and "!TERM" must not; '#' begins a comment at
 * the front of a line or behind a space, and the '&' has spaces around it. Presets of ours are in
 * the program, those of users in $XDG_CONFIG_HOME/ctprof/presets/NAME.preset, and go first.
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

/* Is there any term? */
bool filter_is_empty(const struct filter *filter);

/* Takes out of the samples and the longest blocks what is not kept; samples that went are counted.
 * Totals of threads and histograms stay: they have no stacks. After an error the profile can only
 * be destroyed. */
struct filtered {
	uint64_t count, ns;
};
struct error *filter_apply(const struct filter *filter, struct profile *profile,
			   struct filtered *ret) MUST_CHECK;

#endif
