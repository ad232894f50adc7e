/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which order the captures of a recording were made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"

struct error *recording_load(const struct recording *recording, size_t capture,
			     struct ctprof_snapshot **ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	char name[RECORDING_NAME_SIZE];
	struct error *err;

	if (recording->source.load)
		return recording->source.load(recording->source.context, &recording->captures,
					      capture, ret);
	recording_name(name, recording->captures.items[capture].at_ms);
	if (asprintf(&path, "%s/%s", recording->path, name) < 0)
		return &error_no_memory;
	err = file_open_input_at(recording->dir, name, path, &fd);
	return err ? err : snapshot_load_fd(fd, path, ret);
}

/* The time of a capture, by a clock that cannot be set. */
struct boot_date {
	uint32_t capture;
	bool is_known;
	uint64_t boot; /* a hash of its id */
	uint64_t uptime_ms;
};

static struct boot_date date_of(const struct recording *recording, uint32_t capture)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = NULL;
	struct boot_date date = { .capture = capture };
	struct error *err = recording_load(recording, capture, &s);

	/* The error is reported when the capture is shown. */
	error_destroy(err);
	if (err || !s->host || !s->host->boot_id || !s->host->uptime_clock_ticks.measured)
		return date;
	date.is_known = true;
	date.boot = text_hash(name_text(s->host->boot_id), 0);
	date.uptime_ms = s->host->uptime_clock_ticks.value * 10;
	return date;
}

#define CLOCK_STEP_MS ((int64_t)(CLOCK_STEP_NS / 1000000))

/* Was the time of day set? Between the first and the last capture, compare the time since boot with
 * the time by their names. */
static bool clock_was_set(const struct recording *recording)
{
	const struct captures *captures = &recording->captures;
	const struct boot_date first = date_of(recording, 0),
			       last = date_of(recording, (uint32_t)captures->count - 1);
	int64_t by_boot, by_name;

	if (!first.is_known || !last.is_known || first.boot != last.boot)
		return false;
	by_boot = (int64_t)(last.uptime_ms - first.uptime_ms);
	by_name = (int64_t)(captures->items[captures->count - 1].at_ms - captures->items[0].at_ms);
	return by_boot < by_name - CLOCK_STEP_MS || by_boot > by_name + CLOCK_STEP_MS;
}

static int compare_dates(const void *one, const void *other)
{
	const struct boot_date *a = one, *b = other;

	if (a->uptime_ms != b->uptime_ms)
		return a->uptime_ms < b->uptime_ms ? -1 : 1;
	return a->capture < b->capture ? -1 : a->capture > b->capture;
}

/* Order captures of several boots boot by boot, those that are adjacent by name. */
static struct error *order_by_boot(struct recording *recording)
{
	struct captures *captures = &recording->captures;
	const size_t count = captures->count;
	_cleanup_free_ struct boot_date *dates = calloc(count, sizeof(*dates));
	_cleanup_free_ struct capture_kept *ordered = calloc(count, sizeof(*ordered));
	size_t at = 0;

	if (!dates || !ordered)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		dates[i] = date_of(recording, (uint32_t)i);
		if (!dates[i].is_known && i)
			dates[i] = (struct boot_date){ (uint32_t)i, true, dates[i - 1].boot,
						       dates[i - 1].uptime_ms };
	}
	while (at < count) {
		size_t end = at + 1;

		while (end < count && dates[end].boot == dates[at].boot)
			end++;
		qsort(dates + at, end - at, sizeof(*dates), compare_dates);
		at = end;
	}
	for (size_t i = 0; i < count; i++)
		ordered[i] = captures->items[dates[i].capture];
	memcpy(captures->items, ordered, count * sizeof(*ordered));
	return NULL;
}

struct error *recording_put_in_order(struct recording *recording)
{
	/* Only names of files are in another order. */
	if (recording->source.load)
		return NULL;
	return recording->captures.count > 1 && clock_was_set(recording) ? order_by_boot(recording)
									 : NULL;
}
