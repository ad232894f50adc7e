/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/profile_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/files.h"
#include "report/flame_answer.h"
#include "report/profile_text.h"

const struct profile_format_row profile_formats[PROFILE_FORMAT_COUNT] = {
#define FORMAT(id, extension, name, prose, print) \
	[PROFILE_FORMAT_##id] = { extension, name, prose, print },
	PROFILE_FORMATS(FORMAT)
#undef FORMAT
};

/* "lost.speedscope.json" ends as two formats do; the longer end is meant. */
struct error *profile_format_of_path(const char *path, enum profile_format *ret)
{
	const char *slash = strrchr(path, '/');
	struct text name = text_of(slash ? slash + 1 : path);
	size_t longest = 0;

	for (enum profile_format i = 0; i < PROFILE_FORMAT_COUNT; i++) {
		size_t length = strlen(profile_formats[i].extension);

		if (length < name.length && length > longest &&
		    name.bytes[name.length - length - 1] == '.' &&
		    text_ends(name, text_of(profile_formats[i].extension))) {
			*ret = i;
			longest = length;
		}
	}
	if (longest)
		return NULL;
#define FORMAT(id, extension, ...) " ." extension
	return error_create("%s: unknown suffix; expected one of:" PROFILE_FORMATS(FORMAT), path);
#undef FORMAT
}

struct error *profile_format_named(const char *name, enum profile_format *ret)
{
	const char *near;

	for (enum profile_format i = 0; i < PROFILE_FORMAT_COUNT; i++)
		if (strcmp(name, profile_formats[i].name) == 0) {
			*ret = i;
			return NULL;
		}
	near = text_nearest(name, &profile_formats[0].name, PROFILE_FORMAT_COUNT,
			    sizeof(profile_formats[0]));
	if (near)
		return error_create("unknown format '%s'; did you mean '%s'?", name, near);
#define FORMAT(id, extension, name, ...) " " name
	return error_create("unknown format '%s'; expected one of:" PROFILE_FORMATS(FORMAT), name);
#undef FORMAT
}

const struct page_policy *profile_format_policy(enum profile_format format)
{
	static const struct page_policy *const policies[PROFILE_FORMAT_COUNT] = {
		[PROFILE_FORMAT_SVG] = &profile_svg_policy,
		[PROFILE_FORMAT_HTML] = &profile_html_policy,
	};

	return policies[format];
}

/* --- formats of a whole profile --- */

struct error *profile_print_json(const struct profile_report *report, json_sink sink, void *context)
{
	if (report->flame->changes)
		return changes_json(report, sink, context);
	return profile_write_json_with(report->profile, functions_json, report, sink, context);
}

struct error *profile_print_pprof(const struct profile_report *report, json_sink sink,
				  void *context)
{
	return profile_write_pprof(report->profile, sink, context);
}

struct error *profile_print_raw(const struct profile_report *report, json_sink sink, void *context)
{
	return profile_write_raw(report->profile, sink, context);
}
