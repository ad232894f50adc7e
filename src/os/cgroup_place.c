/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cgroup_place.h"

#include "base/array.h"
#include "base/hex.h"

static bool drop_prefix(struct text *text, struct text prefix)
{
	if (!text_starts(*text, prefix))
		return false;
	text->bytes += prefix.length;
	text->length -= prefix.length;
	return true;
}

static bool drop_suffix(struct text *text, struct text suffix)
{
	if (text->length < suffix.length ||
	    memcmp(text->bytes + text->length - suffix.length, suffix.bytes, suffix.length) != 0)
		return false;
	text->length -= suffix.length;
	return true;
}

/* Segments of a path, without the empty ones. */
static bool next_segment(struct text *rest, struct text *ret)
{
	while (text_cut(rest, '/', ret))
		if (ret->length)
			return true;
	return false;
}

/* Cut `text` at the last `separator` in it, which goes to neither part. */
static bool cut_last(struct text text, char separator, struct text *before, struct text *after)
{
	const char *at = text.length ? memrchr(text.bytes, separator, text.length) : NULL;

	if (!at)
		return false;
	*before = (struct text){ text.bytes, (size_t)(at - text.bytes) };
	*after = (struct text){ at + 1, text.length - before->length - 1 };
	return true;
}

/* --- units of systemd --- */

/* UNIT_NAME_MAX of src/basic/unit-name.h, which counts the zero. */
#define UNIT_NAME_ROOM 256

static const char *const unit_types[] = {
	"service", "socket", "target", "device", "mount", "automount",
	"swap",    "timer",  "path",   "slice",  "scope",
};

static bool is_unit_type(struct text word)
{
	for (size_t i = 0; i < array_length(unit_types); i++)
		if (text_equal(word, text_of(unit_types[i])))
			return true;
	return false;
}

/* VALID_CHARS_WITH_AT of src/basic/unit-name.c. */
static bool is_unit_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr(":-_.\\@", c));
}

struct unit_name {
	struct text whole, type;
	bool instance; /* name@instance.type, or name.type */
};

/* unit_name_is_valid() for plain names and instances: what templates are lives nowhere. */
static bool unit_name_parse(struct text segment, struct unit_name *ret)
{
	struct text stem, type, name, instance;

	drop_prefix(&segment, TEXT("_"));
	if (segment.length >= UNIT_NAME_ROOM || !cut_last(segment, '.', &stem, &type) ||
	    !is_unit_type(type))
		return false;
	for (size_t i = 0; i < stem.length; i++)
		if (!is_unit_byte(stem.bytes[i]))
			return false;
	instance = stem;
	if (!text_cut(&instance, '@', &name) || !name.length)
		return false;
	*ret = (struct unit_name){ segment, type, name.length < stem.length };
	return !ret->instance || instance.length;
}

bool place_unit(struct text path, struct text *ret)
{
	struct unit_name unit, slice = { 0 };
	struct text segment;

	drop_suffix(&path, TEXT(" (deleted)"));
	while (next_segment(&path, &segment)) {
		bool is_slice;

		if (!unit_name_parse(segment, &unit))
			return false;
		is_slice = text_equal(unit.type, TEXT("slice"));
		/* A slice has no instances: it is neither passed over nor a unit. */
		if (is_slice && unit.instance)
			return false;
		if (!is_slice) {
			*ret = unit.whole;
			return true;
		}
		slice = unit;
	}
	if (!slice.whole.length)
		return false;
	*ret = slice.whole;
	return true;
}

/* --- containers --- */

static const char *const runtimes[] = {
	"docker", "cri-containerd", "nerdctl", "crio", "libpod", "libpod-payload",
};

static bool is_runtime(struct text word)
{
	for (size_t i = 0; i < array_length(runtimes); i++)
		if (text_equal(word, text_of(runtimes[i])))
			return true;
	return false;
}

static bool is_container_id(struct text word)
{
	if (word.length != CONTAINER_ID_LENGTH)
		return false;
	for (size_t i = 0; i < word.length; i++)
		if (hex_digit(word.bytes[i]) < 0)
			return false;
	return true;
}

static bool container_of_segment(struct text segment, struct text *ret)
{
	struct text slice, runtime, id = segment, before;
	bool scope = drop_suffix(&id, TEXT(".scope"));

	if (!scope && is_container_id(id)) {
		*ret = id;
		return true;
	}
	if (!scope && cut_last(id, ':', &before, &id)) {
		if (!cut_last(before, ':', &slice, &runtime))
			return false;
	} else if (!cut_last(id, '-', &runtime, &id)) {
		return false;
	}
	if (!is_runtime(runtime) || !is_container_id(id))
		return false;
	*ret = id;
	return true;
}

bool place_container(struct text path, struct text *ret)
{
	struct text segment, id;
	bool found = false;

	drop_suffix(&path, TEXT(" (deleted)"));
	while (next_segment(&path, &segment)) {
		if (!container_of_segment(segment, &id))
			continue;
		*ret = id;
		found = true;
	}
	return found;
}

/* --- machines --- */

static bool machine_of_segment(struct text before, struct text segment, struct text *ret)
{
	*ret = segment;
	if (text_equal(before, TEXT("lxc")) || text_equal(before, TEXT("lxc.payload")) ||
	    drop_prefix(ret, TEXT("lxc.payload.")))
		return ret->length;
	if (!text_equal(before, TEXT("machine.slice")))
		return false;
	if (drop_prefix(ret, TEXT("systemd-nspawn@")))
		return drop_suffix(ret, TEXT(".service")) && ret->length;
	return drop_prefix(ret, TEXT("machine-")) && drop_suffix(ret, TEXT(".scope")) &&
	       ret->length;
}

bool place_container_shown(struct text path, struct text *ret)
{
	struct text segment, before = { 0 }, name;
	bool found = false;

	drop_suffix(&path, TEXT(" (deleted)"));
	while (next_segment(&path, &segment)) {
		if (container_of_segment(segment, &name))
			name.length = CONTAINER_DIGITS;
		else if (!machine_of_segment(before, segment, &name))
			name.length = 0;
		if (name.length) {
			*ret = name;
			found = true;
		}
		before = segment;
	}
	return found;
}

/* --- pods --- */

/* 8-4-4-4-12 digits, or 32 digits; with '-' for '_'. */
static bool pod_uid(struct text word, char ret[POD_UID_ROOM])
{
	bool has_dashes = word.length == 36;
	size_t i;

	if (word.length != 32 && !has_dashes)
		return false;
	for (i = 0; i < word.length; i++) {
		bool dash = has_dashes && (i == 8 || i == 13 || i == 18 || i == 23);

		if (dash ? word.bytes[i] != '-' && word.bytes[i] != '_'
			 : hex_digit(word.bytes[i]) < 0)
			return false;
		ret[i] = dash ? '-' : word.bytes[i];
	}
	ret[i] = '\0';
	return true;
}

/* The last "pod" of a segment, since names of classes and prefixes may have it, too. */
static bool pod_of_slice(struct text segment, char ret[POD_UID_ROOM])
{
	struct text rest = segment, slice, stem, before, word;

	if (text_cut(&rest, ':', &slice))
		segment = slice;
	if (!drop_suffix(&segment, TEXT(".slice")) || !cut_last(segment, '-', &before, &word))
		return false;
	/* systemd escapes '-' within the UID as '_', so the last '-' is before "pod". */
	for (stem = before; text_cut(&stem, '-', &slice);)
		if (text_equal(slice, TEXT("kubepods")))
			return drop_prefix(&word, TEXT("pod")) && pod_uid(word, ret);
	return false;
}

bool place_pod(struct text path, char ret[POD_UID_ROOM])
{
	struct text segment, word;
	bool found = false, is_below = false;
	char uid[POD_UID_ROOM];

	ret[0] = '\0';
	drop_suffix(&path, TEXT(" (deleted)"));
	while (next_segment(&path, &segment)) {
		word = segment;
		if ((is_below && drop_prefix(&word, TEXT("pod")) && pod_uid(word, uid)) ||
		    pod_of_slice(segment, uid)) {
			memcpy(ret, uid, sizeof(uid));
			found = true;
		}
		is_below |= text_equal(segment, TEXT("kubepods"));
	}
	return found;
}
