/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"
#include "cli/reading.h"
#include "cmd/record.h"

/* Names of captures tell milliseconds apart, and a capture takes that long at least. */
#define INTERVAL_MIN_MS  10
#define INTERVAL_DEFAULT UINT64_C(5000000000)

struct error *parse_interval(const char *argument, void *at)
{
	return parse_duration_from(argument, INTERVAL_MIN_MS, at);
}

static struct error *parse_limit(void *context, const char *piece)
{
	struct keep *keep = context;
	struct text text = text_of(piece);
	struct amount amount;
	uint64_t ns;

	if (units_parse_duration(text, &ns) && ns >= 1000000) {
		keep->age_ms = ns / 1000000;
		return NULL;
	}
	if (units_parse(text, &amount) && amount.dimension == DIMENSION_BYTES &&
	    amount.value >= 1 && amount.value < 1e18) {
		keep->bytes = (uint64_t)amount.value;
		return NULL;
	}
	return error_create("invalid value '%.60s': expected a time (1h, 7d) or a size (500MiB)",
			    piece);
}

struct error *parse_keep(const char *argument, void *at)
{
	return each_piece(argument, "limit", parse_limit, at);
}

struct error *parse_trigger(const char *argument, void *at)
{
	struct triggers *triggers = at;
	struct trigger trigger;
	struct error *err = trigger_parse(argument, &trigger);

	if (err)
		return err;
	return array_push(triggers, trigger) ? NULL : &error_no_memory;
}

static bool has_limit(const struct keep *keep)
{
	return keep->age_ms || keep->bytes;
}

bool record_wanted(const struct record_arguments *arguments)
{
	return arguments->interval_ns || has_limit(&arguments->ring);
}

struct error *record_settle(struct record_arguments *a)
{
	const struct {
		bool given;
		const char *name;
	} parts[] = {
		{ a->count, "--count" },
		{ a->duration_ns, "--duration" },
		{ has_limit(&a->keep), "--keep" },
	};

	if (a->triggers.count && !has_limit(&a->ring))
		return error_create("--trigger requires --ring");
	if (has_limit(&a->ring) && !a->triggers.count)
		return error_create("--ring requires --trigger: without it, nothing is written");
	if (has_limit(&a->ring) && !a->ring.age_ms)
		return error_create("--ring requires a time, e.g. --ring 10m");
	if (a->ring.age_ms && !a->ring.bytes)
		a->ring.bytes = RECORD_RING_BYTES;
	if (a->ring.age_ms && !a->interval_ns)
		a->interval_ns = INTERVAL_DEFAULT;
	if (a->ring.age_ms && a->interval_ns / 1000000 > a->ring.age_ms)
		return error_create("--ring is shorter than --interval");
	for (size_t i = 0; i < array_length(parts) && !a->interval_ns; i++)
		if (parts[i].given)
			return error_create("%s requires --interval", parts[i].name);
	return NULL;
}

void record_arguments_deinit(struct record_arguments *arguments)
{
	array_deinit(&arguments->triggers);
}
