/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps of a process, with names of files that it chose itself: what of them is taken for a
 * metric that it shares.
 */
#include "kstats/user_found.h"

#include <string.h>

#include "fuzz.h"

#define PID       7
#define LINE_MOST 512

struct seen {
	struct text maps;
	size_t count, most;
};

/* The kernel has said it, in a line of its own: a name may have what looks like a line in it. */
static void check_line(const struct seen *seen, const struct user_found *found)
{
	struct text rest = seen->maps, line;
	char path[128];

	snprintf(path, sizeof(path), "/memfd:" KSTATS_SHARED_PREFIX "%s (deleted)", found->name);
	while (text_cut(&rest, '\n', &line))
		if (line.length < LINE_MOST && text_ends(line, text_of(path)))
			return;
	must(!"such a line");
}

static bool take(void *context, const struct user_found *found)
{
	struct seen *seen = context;

	must(seen->count < seen->most);
	must(found->pid == PID && found->start < found->end);
	must(kstats_shared_is_name(found->name, strlen(found->name)));
	check_line(seen, found);
	return ++seen->count < seen->most;
}

static size_t read_maps(struct text bytes, uint64_t time_ns, size_t most)
{
	struct seen seen = { .maps = bytes, .most = most };
	FILE *maps = fmemopen((char *)(uintptr_t)bytes.bytes, bytes.length, "re");

	must(maps);
	must(user_found_read(maps, PID, time_ns, take, &seen) == 0);
	fclose(maps);
	return seen.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	size_t all;

	if (size) {
		all = read_maps(bytes, 0, SIZE_MAX);
		must(read_maps(bytes, UINT64_MAX / 2, SIZE_MAX) == all);
		must(read_maps(bytes, 0, 1) == (all ? 1 : 0));
	}
	fuzz_release(bytes);
	return 0;
}
