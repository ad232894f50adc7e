/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of container engines, mountinfo of strangers, and names of directories. */
#include "fuzz.h"

#include "capture/container_file.h"
#include "os/pod_mounts.h"

#define ID  "3b1f6d0c5a9e47d28f0b6c1e2d3a4f5968778695a4b3c2d1e0f9081726354453"
#define UID "b3d2c1a0-9f8e-4d7c-b6a5-0123456789ab"

static void check_dns(struct text name, struct text input, size_t most)
{
	must(fuzz_is_inside(name, input) && name.length && name.length <= most);
	for (size_t i = 0; i < name.length; i++)
		must(name.bytes[i] &&
		     strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", name.bytes[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text input = fuzz_copy(data, size), name, namespace;
	struct container_facts facts = { 0 };
	struct error *err = container_file_parse(input, TEXT(ID), &facts);

	if (err)
		fuzz_check_error(err);
	must(strlen(facts.name) < CONTAINER_TEXT_ROOM && strlen(facts.image) < CONTAINER_TEXT_ROOM);
	if (pod_mounts_container(input, UID, &name))
		check_dns(name, input, 63);
	if (pod_log_directory(input, UID, &namespace, &name)) {
		check_dns(namespace, input, 63);
		check_dns(name, input, 253);
	}
	fuzz_release(input);
	return 0;
}
