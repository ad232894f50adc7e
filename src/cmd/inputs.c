/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/inputs.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"
#include "store/store_profile.h"
#include "store/store_replay.h"
#include "store/store_snapshot.h"

/* --- connections --- */

/* The same for all queries, also of threads that read beside each other. */
static time_t now;

static void set_now(void)
{
	now = time(NULL);
}

uint64_t input_now_s(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_now);
	return (uint64_t)now;
}

/* The file with passwords, to be freed; NULL: there is none. */
static char *find_netrc(void)
{
	const char *named = getenv("CTPROF_NETRC"), *home = getenv("HOME");
	char *path;

	if (named && *named)
		return strdup(named);
	path = home && *home ? text_print("%s/.netrc", home) : NULL;
	if (path && access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static struct store_options options_with(const char *netrc)
{
	return (struct store_options){ .netrc = netrc, .ca_file = getenv("CTPROF_CA_FILE") };
}

bool input_is_query(const char *path)
{
	return store_is_url(path);
}

static struct error *run_query(const struct store_url *url, input_loader *load, void *ret)
{
	_cleanup_free_ char *netrc = find_netrc();
	_cleanup_(store_close) struct store *store = NULL;
	const struct store_options options = options_with(netrc);
	struct error *err = store_connect(url, &options, &store);

	return err ? err : load(store, url, ret);
}

struct error *input_query(const char *written, input_loader *load, void *ret)
{
	struct store_url url = { 0 };
	struct error *err = store_url_parse(written, input_now_s(), &url);

	/* A password that may be in it is not printed. */
	if (err)
		return err == &error_no_memory ? err : error_prefix(err, "URL of a store");
	err = run_query(&url, load, ret);
	if (err && err != &error_no_memory)
		err = error_prefix(err, "%s", url.written);
	store_url_deinit(&url);
	return err;
}

/* --- profiles --- */

static struct error *load_profile(struct store *store, const struct store_url *url, void *ret)
{
	return store_profile_load(store, url, ret);
}

struct error *input_profile(const char *path, enum folded_unit unit, struct profile **ret,
			    bool *ret_is_folded)
{
	if (!store_is_url(path))
		return profile_load_in(path, unit, ret, ret_is_folded);
	*ret_is_folded = false;
	return input_query(path, load_profile, ret);
}

/* --- snapshots --- */

static struct error *load_programs(struct store *store, const struct store_url *url, void *ret)
{
	return store_snapshot_load(store, url, false, ret);
}

static struct error *load_threads(struct store *store, const struct store_url *url, void *ret)
{
	return store_snapshot_load(store, url, true, ret);
}

static bool is_by_thread(const struct view *view)
{
	return view && view->axis == &group_axes[AXIS_THREAD];
}

/* Load the snapshot of a file, or that of a query. */
static struct error *load_input(const char *path, const struct view *view,
				struct ctprof_snapshot **ret)
{
	if (!store_is_url(path))
		return snapshot_load(path, ret);
	if (is_by_thread(view) && view->normalize == NORMALIZE_AGE)
		return error_create("--normalize age of single threads needs snapshots of files: a "
				    "query does not tell for how much of its time a thread lived");
	return input_query(path, is_by_thread(view) ? load_threads : load_programs, ret);
}

struct error *input_snapshot(const char *path, const struct view *view,
			     struct ctprof_snapshot **ret, char **ret_name)
{
	_cleanup_free_ char *name = NULL;
	struct error *err = NULL;

	if (store_is_url(path))
		name = strdup(path);
	else
		err = recording_find(path, &name);
	if (!err && !name)
		err = &error_no_memory;
	if (err)
		return err;
	err = load_input(name, view, ret);
	if (!err)
		*ret_name = take_ptr(name);
	return err;
}

/* --- recordings --- */

struct error *input_recording(const char *query, struct recording *ret)
{
	_cleanup_free_ char *netrc = find_netrc();
	const struct store_options options = options_with(netrc);

	return store_replay_open(query, input_now_s(), &options, ret);
}

/* --- snapshots and profiles that are compared --- */

static bool is_query(const struct side *side)
{
	return side->snapshot->observed_ns;
}

static struct error *check_kinds(const struct side *sides, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (is_query(&sides[i]) != is_query(&sides[0]))
			return error_create(
				"cannot compare %s with %s: totals of a query are those of "
				"its time, and those of a file are since each thread "
				"began",
				sides[0].name, sides[i].name);
	return NULL;
}

/* Times that differ by less are the same: intervals begin a little later on one host than on
 * another. */
#define SAME_PERCENT 1

/* Must totals be scaled? If so, print a line that says so. */
static bool note_if_longer(const char *name, uint64_t observed, uint64_t shortest, FILE *notes)
{
	char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

	if (observed - shortest <= shortest / 100 * SAME_PERCENT)
		return false;
	if (notes)
		fprintf(notes, "ctprof: totals of %s, which are of %s of hosts, are scaled to %s\n",
			name, units_format_span(from, (double)observed / NS_PER_S),
			units_format_span(to, (double)shortest / NS_PER_S));
	return true;
}

struct error *inputs_equalise(const struct side *sides, size_t count, FILE *notes)
{
	uint64_t shortest = UINT64_MAX, longest = 0;
	struct error *err = check_kinds(sides, count);

	if (err || !count || !is_query(&sides[0]))
		return err;
	for (size_t i = 0; i < count; i++)
		if (sides[i].snapshot->observed_ns < shortest) {
			shortest = sides[i].snapshot->observed_ns;
			longest = sides[i].snapshot->longest_observed_ns;
		}
	for (size_t i = 0; i < count; i++) {
		const uint64_t observed = sides[i].snapshot->observed_ns;
		const bool is_longer = note_if_longer(sides[i].name, observed, shortest, notes);

		/* Rates are of the same time, also where it is one host's and not that of two. */
		store_snapshot_scale((struct ctprof_snapshot *)(uintptr_t)sides[i].snapshot,
				     is_longer ? shortest : 1, is_longer ? observed : 1, longest);
	}
	return NULL;
}

void inputs_equalise_profiles(const struct named_profile *profiles, size_t count, FILE *notes)
{
	uint64_t shortest = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		const uint64_t observed = profiles[i].profile->meta.observed_ns;

		if (observed && observed < shortest)
			shortest = observed;
	}
	for (size_t i = 0; i < count; i++) {
		const uint64_t observed = profiles[i].profile->meta.observed_ns;

		if (observed && note_if_longer(profiles[i].path, observed, shortest, notes))
			store_profile_scale(profiles[i].profile, shortest, observed);
	}
}

struct error *inputs_check_view(const struct side *sides, size_t count, const struct view *view)
{
	if (count < 2 || !is_query(&sides[0]))
		return NULL;
	if (view->window)
		return error_create("--window has no effect on queries: their totals are those of "
				    "their time, and not since threads began");
	return view->normalize == NORMALIZE_AGE
		       ? error_create("--normalize age needs snapshots of files: a query of a "
				      "store does not tell how old threads are; --rate divides "
				      "by its time")
		       : NULL;
}
