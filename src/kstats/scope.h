/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scope of a metric: the option that assigns ends to starts, and the threads whose values are
 * recorded. A report needs it, or a part would look like the whole.
 */
#ifndef KSTATS_SCOPE_H
#define KSTATS_SCOPE_H

#include "base/error.h"

/* Filters of values, named as the options. */
#define KSTATS_FILTERS(FILTER)   \
	FILTER(PID, "pid")       \
	FILTER(CGROUP, "cgroup") \
	FILTER(COMM, "comm")     \
	FILTER(CPUS, "cpus")

enum kstats_filter {
#define FILTER_ENUM(id, name) KSTATS_FILTER_##id,
	KSTATS_FILTERS(FILTER_ENUM)
#undef FILTER_ENUM
		KSTATS_FILTER_COUNT
};
extern const char *const kstats_filters[KSTATS_FILTER_COUNT];

/* Instead of a word: not the same of all values. */
#define KSTATS_SEVERAL "several"

struct kstats_scope {
	char *key; /* "task", "cpu", "arg1", "arg1,arg2"; NULL: unknown, or there is no such choice
		    */
	char *only[KSTATS_FILTER_COUNT]; /* NULL: all */
};

/* Frees the words. */
void kstats_scope_clear(struct kstats_scope *scope);

/* Merge a word of several metrics, which may be NULL: if they differ, or only one has it, the
 * result has none. */
void kstats_agree(char **into, const char *from);
/* The same for scopes: words that differ become KSTATS_SEVERAL, since a part is not the whole. */
void kstats_scope_agree(struct kstats_scope *into, const struct kstats_scope *from);

/* Text for people: ", key arg1, only pid 12, only comm nginx", or "". The usual key, the thread, is
 * not named. NULL: no memory. */
char *kstats_scope_text(const struct kstats_scope *scope);

#endif
