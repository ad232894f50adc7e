/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/place.h"

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
