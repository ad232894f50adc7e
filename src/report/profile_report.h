/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a profile, or the difference of two, as a picture or in the format of another tool.
 *
 * Pictures draw the flame graph. Formats of whole profiles (json, pprof, raw, stacks) contain the
 * profile itself; of a difference, the candidate.
 */
#ifndef REPORT_PROFILE_REPORT_H
#define REPORT_PROFILE_REPORT_H

#include "base/json_writer.h"
#include "profile/flame.h"
#include "profile/flame_gate.h"

/* Nothing here is owned. */
struct profile_report {
	const struct profile *profile;
	const struct profile *baseline; /* NULL: no difference */
	/* Both sides of a difference whose flame has `changes`; `profile` and `baseline` are the
	 * first of them. NULL: another. */
	const struct flame_runs *before, *after;
	const struct flame_gate *gate; /* conditions that were judged; may be NULL */
	const struct flame *flame;     /* made of these by `view` */
	const struct flame_view *view;
	const struct idle *idle; /* waits of `profile` that text leaves out; NULL: none */
	const char *title;       /* NULL: says what is in it */
};

/* FORMAT(id, extension, name of --format, what it is, function) */
#define PROFILE_FORMATS(FORMAT)                                                              \
	FORMAT(FOLDED, "folded", "folded", "a line for each stack, for flamegraph.pl",       \
	       profile_print_folded)                                                         \
	FORMAT(STACKS, "stacks", "stacks", "a line for each frame, as offcputime of BCC",    \
	       profile_print_stacks)                                                         \
	FORMAT(SVG, "svg", "svg", "a flame graph", profile_print_svg)                        \
	FORMAT(HTML, "html", "html", "a page with flame graph, classes, groups and a table", \
	       profile_print_html)                                                           \
	FORMAT(JSON, "json", "json", "everything, for programs", profile_print_json)         \
	FORMAT(PPROF, "pb.gz", "pprof", "for go tool pprof", profile_print_pprof)            \
	FORMAT(SPEEDSCOPE, "speedscope.json", "speedscope", "for speedscope.app",            \
	       profile_print_speedscope)                                                     \
	FORMAT(RAW, "raw", "raw", "everything, packed, for ctprof flame", profile_print_raw)

enum profile_format {
#define FORMAT(id, ...) PROFILE_FORMAT_##id,
	PROFILE_FORMATS(FORMAT)
#undef FORMAT
		PROFILE_FORMAT_COUNT
};

typedef struct error *profile_print(const struct profile_report *report, json_sink sink,
				    void *context);

struct profile_format_row {
	const char *extension, *name, *prose;
	profile_print *print;
};
extern const struct profile_format_row profile_formats[PROFILE_FORMAT_COUNT];

/* Determine the format by the suffix of a path; the error lists the suffixes. */
struct error *profile_format_of_path(const char *path, enum profile_format *ret) MUST_CHECK;
/* Find a format by name; the error lists the names. */
struct error *profile_format_named(const char *name, enum profile_format *ret) MUST_CHECK;

#define FORMAT(id, extension, name, prose, print) profile_print print MUST_CHECK;
PROFILE_FORMATS(FORMAT)
#undef FORMAT

/* What a server that sends the format must allow for its scripts to run (report/page.h); NULL: the
 * format has none. */
struct page_policy;
const struct page_policy *profile_format_policy(enum profile_format format);
extern const struct page_policy profile_svg_policy, profile_html_policy;

#endif
