/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking for metrics through the processes of the host, in a thread that is left behind when the
 * kernel does not answer about one of them.
 */
#ifndef KSTATS_USER_SEARCH_H
#define KSTATS_USER_SEARCH_H

#include "kstats/user_found.h"
#include "kstats/user_limits.h"

/*
 * Make an entry or a table of a metric, with at most `rows` rows; the search owns it. Called in the
 * thread, and may use only its arguments.
 */
typedef struct error *user_make(const struct user_found *found, struct kstats_region *region,
				size_t rows, void **ret);
/* The number of rows of such a result; NULL: rows are not limited. */
typedef size_t user_rows(const void *made);

struct user_kind {
	user_make *make;
	user_rows *rows;
	void (*destroy)(void *made);
};

struct user_made {
	ARRAY(void *);
};

/* All metrics within the limits, each file once, with notes on what was left out. */
struct error *user_search(const struct user_kind *kind, struct user_made *made,
			  struct kstats_notes *notes) MUST_CHECK;

/* The metric of that name of a process; its code is ENOENT when there is none. */
struct error *user_search_named(uint32_t pid, const char *name, bool writable,
				struct kstats_region *ret) MUST_CHECK;

#endif
