/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/cpulist.h"

static void check_set(const struct cpus *cpus)
{
	struct cpus again = { 0 };
	char *list = cpulist_text(cpus);

	must(list);
	for (size_t i = 0; i < cpus->count; i++) {
		must(cpus->items[i] < CPU_MAX);
		must(!i || cpus->items[i - 1] < cpus->items[i]);
	}
	must(cpulist_parse(text_of(list), &again));
	must(again.count == cpus->count);
	must(!cpus->count ||
	     memcmp(again.items, cpus->items, cpus->count * sizeof(*cpus->items)) == 0);
	array_deinit(&again);
	free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct cpus cpus = { 0 };

	if (cpulist_parse(bytes, &cpus))
		check_set(&cpus);
	array_deinit(&cpus);
	fuzz_release(bytes);
	return 0;
}
