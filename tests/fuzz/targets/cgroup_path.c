/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/cgroup.h"

/* A path below the mount can be opened there without leaving it. */
static void check_below(struct text root, struct text path)
{
	struct text below, rest, part;

	if (!cgroup_below_mount(root, path, &below))
		return;
	must(fuzz_is_inside(below, path));
	must(!below.length || below.bytes[0] != '/');
	rest = below;
	while (text_cut(&rest, '/', &part))
		must(!text_equal(part, TEXT("..")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), path;

	if (cgroup_path_parse(bytes, &path)) {
		must(path.length && fuzz_is_inside(path, bytes));
		must(!memchr(path.bytes, '\n', path.length));
		must(cgroup_is_within(path, TEXT("/")) == (path.bytes[0] == '/'));
		check_below(TEXT("/"), path);
		check_below(TEXT("/system.slice"), path);
	}
	if (cgroup_path_parse_v1(bytes, "cpu", &path)) {
		must(path.length && fuzz_is_inside(path, bytes));
		check_below(TEXT("/"), path);
	}
	fuzz_release(bytes);
	return 0;
}
