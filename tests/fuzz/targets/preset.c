/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "fuzz.h"
#include "profile/files.h"
#include "profile/filter.h"

/* Some stacks for terms to look at. */
static struct profile *some_profile(void)
{
	static const char folded[] = "main;park;futex_wait_[k] 1\nmain;std::thread::spawn 2\n"
				     "runtime.main;runtime.findRunnable;runtime.stopm 4\n[] 8\n";
	struct profile *p = NULL;

	must(!profile_parse_folded_in((struct text){ folded, sizeof(folded) - 1 }, FOLDED_NS, &p));
	return p;
}

/*
 * What is refused says in which line; what is accepted decides about every sample, and again the
 * same.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct profile *p = some_profile();
	struct filter *filter = NULL;
	struct filtered filtered, again;
	struct error *err;

	must(!filter_create(&filter));
	err = filter_add_preset(filter, bytes, "preset");
	if (err) {
		must(strncmp(err->message, "preset:", 7) == 0);
		fuzz_check_error(err);
	} else {
		must(!filter_apply(filter, p, &filtered));
		must(filtered.ns + profile_total_ns(p, ~0u) == 15);
		must(!filter_apply(filter, p, &again));
		must(!again.ns && !again.count);
	}
	filter_destroy(filter);
	profile_destroy(p);
	fuzz_release(bytes);
	return 0;
}
