/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking for the places that a probe means: what points.h collects.
 */
#ifndef PROBE_SEARCH_H
#define PROBE_SEARCH_H

#include "probe/points.h"

/* A place, with texts that live until the function returns. */
struct probe_place {
	enum probe_kind kind;
	const char *where;    /* as in struct probe_point */
	const char *symbol;   /* of a tracepoint, else NULL */
	const char *function; /* what the name of the point ends with; of the kernel NULL */
	uint64_t from_start;  /* the same: an offset behind it */
	uint64_t offset, semaphore;
	const struct usdt_argument *argument; /* as in struct probe_point; NULL: none */
	enum probe_code code;
	bool is_restart; /* see PROBE_EVENT_RESTART */
	bool is_further; /* a place before it has the same name */
	int file;        /* open; of the kernel it means nothing */
};

struct probe_search {
	const struct probe_host *host;
	const struct probe_spec *spec;
	const struct probe_pattern *group, *name;
	/* False ends the search. */
	bool (*found)(void *context, const struct probe_place *place);
	/* Called with each name that the pattern does not match, to suggest similar names; may be
	 * NULL. */
	void (*passed)(void *context, const char *name);
	void *context;
};

/* "Nothing found" is no error here, but a file that cannot be read is. */
struct error *probe_search_kernel(const struct probe_search *search) MUST_CHECK;
struct error *probe_search_tracepoints(const struct probe_search *search) MUST_CHECK;
struct error *probe_search_file(const struct probe_search *search) MUST_CHECK;

/* The path of what a probe calls its file, as we can open it; the caller frees it. */
struct error *probe_find_file(const struct probe_host *host, struct text file,
			      char **ret) MUST_CHECK;

/* Paths that the caller frees, in the order in which they are to be searched. */
struct probe_paths {
	ARRAY(char *);
};

/* The files of a probe without FILE: the target program and its libraries, those that a process has
 * mapped or that the dynamic linker would load; without a target, libc. */
struct error *probe_find_targets(const struct probe_host *host, struct probe_paths *ret) MUST_CHECK;
void probe_paths_deinit(struct probe_paths *paths);

/* Open such a path for reading; -1: it is not a regular file, or errno has the reason. Below
 * /proc/PID/root, links are resolved as for that process, and never lead to a file outside. */
int probe_open_file(const char *path);

/* Does the name match? */
static inline bool probe_wants(const struct probe_search *search, const char *name)
{
	bool matches = probe_pattern_matches(search->name, name);

	if (!matches && search->passed)
		search->passed(search->context, name);
	return matches;
}

#endif
