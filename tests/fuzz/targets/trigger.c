/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <math.h>

#include "capture/trigger.h"

/* A text that ends at its zero, as one of a command line does. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trigger trigger = { 0 };
	char *text = strndup((const char *)data, size);
	struct error *err;

	must(text);
	err = trigger_parse(text, &trigger);
	if (err) {
		must(!trigger.text);
		fuzz_check_error(err);
	} else {
		must(trigger.text == text);
		must(!trigger.fact == (trigger.signal != 0));
		must(isfinite(trigger.limit) && trigger.limit >= 0);
		/* At the limit is not above it. */
		must(trigger.signal ||
		     !trigger_judge(&trigger, trigger.limit * (trigger.for_each_cpu ? 3 : 1), 3,
				    false));
	}
	free(text);
	return 0;
}
