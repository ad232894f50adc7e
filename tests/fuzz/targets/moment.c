/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "snapshot/moment.h"
#include "snapshot/recording.h"

/* A name is one moment's, and a moment has one name. */
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

/* What is picked is not after the moment, and what follows it is. */
static void check_pick(const struct moment *moment)
{
	struct captures captures = { 0 };
	size_t picked;

	for (uint64_t i = 0; i < 50; i++)
		must(captures_add(&captures, (struct capture_kept){ .at_ms = 1795177805250 +
									     i * i * 100000 }));
	if (moment_pick(moment, &captures, &picked) == MOMENT_PICKED) {
		uint64_t at = moment->ms + (moment->fraction ? 0 : 999);

		must(picked < captures.count);
		must(moment->kind != MOMENT_FIRST || picked == 0);
		must(moment->kind != MOMENT_LAST || picked == captures.count - 1);
		if (moment->kind == MOMENT_AT) {
			must(captures.items[picked].at_ms <= at);
			must(picked + 1 == captures.count || captures.items[picked + 1].at_ms > at);
		}
	} else {
		must(moment->kind != MOMENT_FIRST && moment->kind != MOMENT_LAST);
	}
	captures_deinit(&captures);
}

static void check_printed(const struct moment *moment)
{
	char text[MOMENT_TEXT_SIZE];
	struct moment again;

	if (moment->kind != MOMENT_AT || moment->ms > 253402300799999)
		return;
	moment_print(text, moment->ms);
	must(moment_parse(text_of(text), &again));
	must(again.kind == MOMENT_AT && again.ms == moment->ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct moment moment;

	check_name(bytes);
	if (moment_parse(bytes, &moment)) {
		must(bytes.length <= MOMENT_TEXT_MAX);
		check_pick(&moment);
		check_printed(&moment);
	}
	fuzz_release(bytes);
	return 0;
}
