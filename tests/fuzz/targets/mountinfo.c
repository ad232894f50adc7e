/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/cgroup.h"

static void check_unescape(struct text field)
{
	struct text copy = fuzz_copy((const uint8_t *)field.bytes, field.length);
	size_t length = mountinfo_unescape((char *)(uintptr_t)copy.bytes, copy.length);

	must(length <= field.length);
	must(memchr(field.bytes, '\\', field.length) || length == field.length);
	fuzz_release(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct cgroup_mount mount;

	check_unescape(bytes);
	if (cgroup_mount_parse(bytes, NULL, NULL, NULL, &mount)) {
		must(mount.root.length && fuzz_is_inside(mount.root, bytes));
		must(mount.point.length && fuzz_is_inside(mount.point, bytes));
		must(memmem(bytes.bytes, bytes.length, "cgroup2", 7));
		check_unescape(mount.root);
		check_unescape(mount.point);
	}
	if (cgroup_mount_parse(bytes, "cpu", NULL, NULL, &mount)) {
		must(mount.root.length && fuzz_is_inside(mount.root, bytes));
		must(mount.point.length && fuzz_is_inside(mount.point, bytes));
	}
	fuzz_release(bytes);
	return 0;
}
