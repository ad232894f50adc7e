/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "snapshot/recording.h"
#include "snapshot/timestamp.h"

/* A name is one timestamp's, and a timestamp has one name. */
static void check_name(struct text bytes)
{
	char name[RECORDING_NAME_SIZE];
	uint64_t at_ms = 42;

	if (!recording_parse_name(bytes, &at_ms)) {
		must(at_ms == 42);
		return;
	}
	recording_name(name, at_ms);
	must(text_equal(bytes, text_of(name)));
}

/* The picked capture is not after the timestamp, and the next one is. */
static void check_pick(const struct timestamp *timestamp)
{
	struct captures captures = { 0 };
	size_t picked;

	for (uint64_t i = 0; i < 50; i++)
		must(captures_add(&captures, (struct capture_kept){ .at_ms = 1795177805250 +
									     i * i * 100000 }));
	if (timestamp_pick(timestamp, &captures, &picked) == TIMESTAMP_PICKED) {
		uint64_t at = timestamp->ms + (timestamp->fraction ? 0 : 999);

		must(picked < captures.count);
		must(timestamp->kind != TIMESTAMP_FIRST || picked == 0);
		must(timestamp->kind != TIMESTAMP_LAST || picked == captures.count - 1);
		if (timestamp->kind == TIMESTAMP_AT) {
			must(captures.items[picked].at_ms <= at);
			must(picked + 1 == captures.count || captures.items[picked + 1].at_ms > at);
		}
	} else {
		must(timestamp->kind != TIMESTAMP_FIRST && timestamp->kind != TIMESTAMP_LAST);
	}
	captures_deinit(&captures);
}

static void check_printed(const struct timestamp *timestamp)
{
	char text[TIMESTAMP_TEXT_SIZE];
	struct timestamp again;

	if (timestamp->kind != TIMESTAMP_AT || timestamp->ms > 253402300799999)
		return;
	timestamp_print(text, timestamp->ms);
	must(timestamp_parse(text_of(text), &again));
	must(again.kind == TIMESTAMP_AT && again.ms == timestamp->ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct timestamp timestamp;

	check_name(bytes);
	if (timestamp_parse(bytes, &timestamp)) {
		must(bytes.length <= TIMESTAMP_TEXT_MAX);
		check_pick(&timestamp);
		check_printed(&timestamp);
	}
	fuzz_release(bytes);
	return 0;
}
