/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places of probes in a program of somebody else: the first part of the input is what is looked
 * for, with "@" for the file ("uprobe:@:f*"), the second the program, the third its debug file,
 * which is called "debug".
 */
#include <limits.h>
#include <string.h>

#include "elf_fuzz.h"
#include "files_fuzz.h"
#include "probe/search.h"

/* More are as good as any number. */
#define PLACES_MAX 2000

struct seen {
	size_t count, length; /* of the program */
};

static bool see(void *context, const struct probe_place *place)
{
	struct seen *seen = context;

	must(place->offset < seen->length && place->semaphore < seen->length);
	must(place->function && *place->function && !place->symbol);
	must(place->code <= PROBE_CODE_GO_UNKNOWN);
	must(!place->argument || (place->argument->bytes && !place->argument->symbol.length));
	return ++seen->count < PLACES_MAX;
}

static void search(const struct probe_spec *spec, bool measures_calls, size_t length)
{
	const struct probe_host host = { .measures_calls = measures_calls,
					 .usdt_argument = measures_calls };
	_cleanup_(probe_pattern_destroy) struct probe_pattern *group = NULL, *name = NULL;
	struct seen seen = { 0, length };
	const struct probe_search search = {
		.host = &host, .spec = spec, .found = see, .context = &seen
	};
	struct probe_search whole = search;
	struct error *err = probe_pattern_create(spec->group, &group);

	if (!err)
		err = probe_pattern_create(spec->name, &name);
	whole.group = group;
	whole.name = name;
	if (!err)
		err = probe_search_file(&whole);
	if (err)
		fuzz_check_error(err);
	must(seen.count <= PLACES_MAX);
}

/* The words with the path of the file in them; false: they are of something else. */
static bool make_words(struct text written, char words[PATH_MAX])
{
	const char *at = written.length ? memchr(written.bytes, '@', written.length) : NULL;
	int length;

	if (!at || written.length > 500 || memchr(written.bytes, 0, written.length))
		return false;
	length = snprintf(words, PATH_MAX, "%.*s%s/program%.*s", (int)(at - written.bytes),
			  written.bytes, fuzz_dir(), (int)(written.bytes + written.length - at - 1),
			  at + 1);
	return length > 0 && length < PATH_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, written = { 0 }, program = { 0 };
	char words[PATH_MAX], own[PATH_MAX];
	struct probe_spec spec;
	struct error *err;

	fuzz_cut_part(&rest, &written);
	fuzz_cut_part(&rest, &program);
	fuzz_clear_dir();
	fuzz_mend_link(program, rest);
	must(fuzz_put_file("program", program) && fuzz_put_file("debug", rest));
	snprintf(own, sizeof(own), "%s/program", fuzz_dir());
	if (make_words(written, words)) {
		err = probe_spec_parse(text_of(words), &spec);
		if (err) {
			fuzz_check_error(err);
		} else if (text_equal(spec.file, text_of(own))) {
			search(&spec, false, program.length);
			search(&spec, true, program.length);
		}
	}
	fuzz_release(bytes);
	return 0;
}
