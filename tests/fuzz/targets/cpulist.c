/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <inttypes.h>

#include "proc/cpulist.h"

/* The set as the kernel would print it, a range at a time. */
static char *print_list(const struct cpus *cpus, size_t *ret_length)
{
	char *list = NULL;
	FILE *out = open_memstream(&list, ret_length);

	must(out);
	for (size_t i = 0, last; i < cpus->count; i = last + 1) {
		for (last = i;
		     last + 1 < cpus->count && cpus->items[last + 1] == cpus->items[last] + 1;)
			last++;
		fprintf(out, "%s%" PRIu32 "-%" PRIu32, i ? "," : "", cpus->items[i],
			cpus->items[last]);
	}
	fclose(out);
	return list;
}

static void check_set(const struct cpus *cpus)
{
	struct cpus again = { 0 };
	size_t length;
	char *list = print_list(cpus, &length);

	for (size_t i = 0; i < cpus->count; i++) {
		must(cpus->items[i] < CPU_MAX);
		must(!i || cpus->items[i - 1] < cpus->items[i]);
	}
	must(cpulist_parse((struct text){ list, length }, &again));
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
