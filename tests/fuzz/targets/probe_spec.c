/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "probe/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct probe_spec spec;
	struct error *err = probe_spec_parse(bytes, &spec);

	if (err) {
		fuzz_check_error(err);
	} else {
		must(!spec.file.length || fuzz_is_inside(spec.file, bytes));
		must(!spec.group.length || fuzz_is_inside(spec.group, bytes));
		must(!spec.name.length || fuzz_is_inside(spec.name, bytes));
		must(!spec.source.length || fuzz_is_inside(spec.source, bytes));
		must(!spec.name.length == !!spec.line);
		must(!spec.offset || probe_pattern_form(spec.name) == PATTERN_NAME);
	}
	fuzz_release(bytes);
	return 0;
}
