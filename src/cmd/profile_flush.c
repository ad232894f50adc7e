/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_flush.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"

#define NS_PER_MS 1000000u

struct error *profile_flush_open(struct profile_flush *flush, const char *extension)
{
	struct error *err;

	snprintf(flush->suffix, sizeof(flush->suffix), ".%s", extension);
	err = recording_create_of(flush->directory, flush->suffix, &flush->recording);
	if (err)
		return err;
	flush->recording.spared_percent = PROFILE_FLUSH_SPARED_PERCENT;
	flush->is_open = true;
	return NULL;
}

/* --- files --- */

/* The bytes of a file, kept so that a write that failed for lack of space can be repeated. */
struct packed {
	ARRAY(char);
};

static struct error *pack(void *context, const void *bytes, size_t length)
{
	struct packed *packed = context;

	if (!array_reserve(packed, length))
		return &error_no_memory;
	if (length)
		memcpy(packed->items + packed->count, bytes, length);
	packed->count += length;
	return NULL;
}

static void tell_failure(struct profile_flush *flush, struct error *err)
{
	const int failed = !err ? 0 : err->errnum ? err->errnum : -1;

	if (err && flush->told != failed)
		fprintf(stderr, "ctprof: %s; going on\n", err->message);
	flush->told = failed;
	error_destroy(err);
}

static struct error *write_within(struct profile_flush *flush, uint64_t at_ms, struct text bytes)
{
	size_t removed = 0;
	struct error *err = recording_add_within(&flush->recording, &flush->keep, at_ms, bytes,
						 &flush->removed);

	if (err) {
		flush->lost++;
		return err;
	}
	flush->written++;
	flush->bytes += bytes.length;
	err = recording_sync(&flush->recording);
	if (err)
		return err;
	err = recording_prune(&flush->recording, &flush->keep, clock_ns(CLOCK_REALTIME) / NS_PER_MS,
			      &removed);
	flush->removed += removed;
	return err;
}

struct error *profile_flush_add(struct profile_flush *flush, const struct profile_report *report,
				enum profile_format format)
{
	struct packed packed = { 0 };
	struct error *err = profile_formats[format].print(report, pack, &packed);

	if (!err)
		tell_failure(flush,
			     write_within(flush,
					  report->profile->meta.captured_at_unix_ns / NS_PER_MS,
					  (struct text){ packed.items, packed.count }));
	array_deinit(&packed);
	return err;
}

/* --- the end --- */

void profile_flush_print(const struct profile_flush *flush)
{
	char size[UNITS_TEXT_MAX];

	fprintf(stderr, "ctprof: %zu profile%s written to %s (%s)", flush->written,
		plural(flush->written), flush->recording.path,
		units_format(size, UNIT_BYTES, (__int128)flush->bytes));
	if (flush->removed)
		fprintf(stderr, "; %zu removed by --keep", flush->removed);
	if (flush->lost)
		fprintf(stderr, "; %zu could not be written", flush->lost);
	fputc('\n', stderr);
}

void profile_flush_close(struct profile_flush *flush)
{
	if (flush->is_open)
		recording_close(&flush->recording);
	flush->is_open = false;
}
