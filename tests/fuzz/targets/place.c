/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/cgroup_place.h"

static void check_unit(struct text path)
{
	struct text unit;

	if (!place_unit(path, &unit))
		return;
	must(unit.length >= 3 && unit.length < 256 && fuzz_is_inside(unit, path));
	must(memchr(unit.bytes, '.', unit.length));
	must(!memchr(unit.bytes, '/', unit.length) && !memchr(unit.bytes, '\0', unit.length));
}

static void check_container(struct text path)
{
	struct text id;

	if (!place_container(path, &id))
		return;
	must(id.length == CONTAINER_ID_LENGTH && fuzz_is_inside(id, path));
	for (size_t i = 0; i < id.length; i++)
		must(id.bytes[i] && strchr("0123456789abcdef", id.bytes[i]));
}

static void check_shown(struct text path)
{
	struct text shown;

	if (place_container_shown(path, &shown))
		must(shown.length && fuzz_is_inside(shown, path) &&
		     !memchr(shown.bytes, '/', shown.length));
}

static void check_pod(struct text path)
{
	char uid[POD_UID_ROOM];
	bool found = place_pod(path, uid);

	must(found == (uid[0] != '\0'));
	must(strspn(uid, "0123456789abcdef-") == strlen(uid));
	must(!found || strlen(uid) == 32 || strlen(uid) == 36);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text path = fuzz_copy(data, size);

	check_unit(path);
	check_container(path);
	check_shown(path);
	check_pod(path);
	fuzz_release(path);
	return 0;
}
