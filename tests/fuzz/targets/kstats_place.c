/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two places of a metric, apart at a newline: a start and an end, or a start alone. What would be
 * looked for in files of this host is left out, for probe_spec.c is there for these words.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "kstats/bpf_location.h"

static bool is_looked_for(const char *place)
{
	static const char *const kinds[] = { "uprobe:", "uretprobe:", "uret:", "usdt:",
					     "tracepoint:" };

	for (size_t i = 0; i < array_length(kinds); i++)
		if (strncmp(place, kinds[i], strlen(kinds[i])) == 0 &&
		    strncmp(place, "tracepoint:syscalls:sys_e", 25) != 0)
			return true;
	return false;
}

/* The kernel is asked for it by that name. */
static void check_place(const struct kstats_location *place)
{
	must(place->name && *place->name && !place->points);
	for (const char *c = place->name; *c; c++)
		must(*c > ' ' && *c < 127 && !strchr("/:\"'", *c));
	must((place->syscall >= 0) == (place->kind == PLACE_SYSCALL));
	must(place->kind != PLACE_PROGRAM);
}

static void check_places(const struct kstats_spec *spec, const struct kstats_locations *places)
{
	check_place(&places->start);
	check_place(&places->end);
	must(places->is_alone == !spec->end);
	must(places->is_call || !places->is_alone);
	if (!places->is_call)
		return;
	must(!places->start.is_return && places->end.is_return);
	must(places->start.kind == places->end.kind);
	must(strcmp(places->start.name, places->end.name) == 0);
	must(places->start.by_trampoline == places->end.by_trampoline);
	must(places->start.by_trampoline || places->start.by_kprobe);
}

static void check_key(struct kstats_spec *spec)
{
	struct kstats_locations places = { 0 };
	struct kstats_site start = { 0 }, end = { 0 };
	struct error *err;

	spec->key = KSTATS_KEY_ARGUMENT;
	spec->argument = 1;
	must(!kstats_locations_find(spec, &places));
	must(places.end.kind != PLACE_FUNCTION || !places.end.is_return || !places.end.by_kprobe);
	err = kstats_locations_key(spec, &places, NULL, &start, &end);
	if (err)
		fuzz_check_error(err);
	else
		must(start.argument == 1 && end.argument == 1);
	kstats_locations_clear(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *start = strndup((const char *)data, size), *end = strchr(start, '\n');
	struct kstats_spec spec = { .name = (char *)(uintptr_t) "fuzz", .start = start };
	struct kstats_locations places = { 0 };
	struct error *err;

	if (end) {
		*end++ = '\0';
		spec.end = end;
	}
	if (is_looked_for(start) || (end && is_looked_for(end))) {
		free(start);
		return 0;
	}
	err = kstats_locations_find(&spec, &places);
	if (err) {
		must(err->errnum == EINVAL || err->errnum == ENOENT || err->errnum == ENAMETOOLONG);
		fuzz_check_error(err);
	} else {
		check_places(&spec, &places);
	}
	kstats_locations_clear(&places);
	if (!err)
		check_key(&spec);
	free(start);
	return 0;
}
