/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What commands read: files, and queries of ClickHouse where a file is expected (store/url.h).
 *
 * Queries use the passwords of the file that the variable CTPROF_NETRC names, or of ~/.netrc, and
 * trust the certificates of the file CTPROF_CA_FILE, or those of the host. Relative times of all
 * queries of a command are before the same time.
 */
#ifndef CMD_INPUTS_H
#define CMD_INPUTS_H

#include <stdio.h>

#include "compare/sides.h"
#include "profile/files.h"
#include "snapshot/recording.h"
#include "store/query.h"

/* As profile_load_in(), which reads files. */
struct error *input_profile(const char *path, enum folded_unit unit, struct profile **ret,
			    bool *ret_is_folded) MUST_CHECK;

/* A file, a capture of a recording, or a query, whose threads are read each by itself if the view
 * (NULL: the default) groups by thread. `ret_name` is what was read, for reports, to be freed. */
struct error *input_snapshot(const char *path, const struct view *view,
			     struct ctprof_snapshot **ret, char **ret_name) MUST_CHECK;

/* Is it a query, rather than a path? */
bool input_is_query(const char *path);

/* The intervals of a host as a recording, of a query. */
struct error *input_recording(const char *query, struct recording *ret) MUST_CHECK;

/*
 * Prepare snapshots of both sides to be compared: totals of a query are those of its time, so where
 * times differ by more than a hundredth, those of the longer are scaled to the shorter; `notes`
 * (NULL: none) gets a line that says so. Fails for a query beside a file, whose totals are those
 * since threads began.
 */
struct error *inputs_equalise(const struct side *sides, size_t count, FILE *notes) MUST_CHECK;

/* The same for profiles of queries that are compared; those of files are left as they are. */
void inputs_equalise_profiles(const struct named_profile *profiles, size_t count, FILE *notes);

/* What was asked for of several snapshots that queries cannot have: "--window"; NULL: none. */
struct error *inputs_check_view(const struct side *sides, size_t count,
				const struct view *view) MUST_CHECK;

/* When relative times of queries are before, in Unix seconds: the same in the whole run. */
uint64_t input_now_s(void);

/* Loads what a query is about into the object of the caller. */
typedef struct error *input_loader(struct store *store, const struct store_url *url, void *ret);

/* Connect, and call it. The URL is part of errors. */
struct error *input_query(const char *written, input_loader *load, void *ret) MUST_CHECK;

#endif
