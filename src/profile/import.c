/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/import.h"

struct error *import_name(struct profile *profile, struct text text, const struct name **ret)
{
	const struct name *name;

	if (text.length > IMPORT_NAME_MAX)
		return error_create("name too long: %zu bytes", text.length);
	if (text.length && memchr(text.bytes, '\0', text.length))
		return error_create("a name contains a NUL: not a text file");
	name = profile_name(profile, text.length ? text.bytes : "", text.length);
	if (!name)
		return &error_no_memory;
	*ret = name;
	return NULL;
}

struct error *import_nobody(struct profile *profile)
{
	struct profile_thread thread = { .uid = UID_UNKNOWN, .name = profile_name(profile, "", 0) };

	thread.process = thread.name;
	return thread.name && array_push(&profile->threads, thread) ? NULL : &error_no_memory;
}

enum frame_kind import_kind(const struct name *name)
{
	struct text text = name_text(name);

	return text_equal(text, TEXT("--")) ||
			       (text_starts(text, TEXT("[")) && text_ends(text, TEXT("]")))
		       ? FRAME_NOTE
		       : FRAME_USER;
}
