/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

/*
 * Text that is accepted makes a snapshot that survives being written and read; and whether it is
 * accepted does not depend on how it arrives.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text json = fuzz_copy(data, size), written, as_written;
	struct ctprof_snapshot *whole = fuzz_parse(json, size ? size : 1);
	struct ctprof_snapshot *pieces = fuzz_parse(json, 1 + size % 13);

	must(!whole == !pieces);
	if (whole) {
		written = fuzz_write(whole);
		as_written = fuzz_write(pieces);
		must(text_equal(written, as_written));
		fuzz_check_round_trip(whole);
		fuzz_release(written);
		fuzz_release(as_written);
	}
	snapshot_destroy(whole);
	snapshot_destroy(pieces);
	fuzz_release(json);
	return 0;
}
