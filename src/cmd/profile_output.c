/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_output.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/outfile.h"
#include "cmd/profile_files.h"
#include "cmd/profile_prepare.h"
#include "cmd/profile_screen.h"
#include "cmd/profile_view.h"
#include "profile/preset.h"
#include "profile/symbol_cache.h"
#include "report/flame_part.h"
#include "report/markup.h"
#include "report/stream.h"

/* --- options --- */

struct error *parse_output_path(const char *argument, void *at)
{
	struct profile_output *output =
		(struct profile_output *)((char *)at - offsetof(struct profile_output, paths));

	if (!*argument)
		return error_create("an empty name");
	return array_push(&output->paths, argument) ? NULL : &error_no_memory;
}

const char *flame_group_name(size_t number)
{
	return number < FLAME_GROUP_COUNT ? flame_group_names[number] : NULL;
}

const char *profile_format_name(size_t number)
{
	return number < PROFILE_FORMAT_COUNT ? profile_formats[number].name : NULL;
}

struct error *parse_flame_group(const char *argument, void *at)
{
	struct profile_output *output =
		(struct profile_output *)((char *)at - offsetof(struct profile_output, group_by));

	for (size_t i = 0; i < FLAME_GROUP_COUNT; i++)
		if (strcmp(flame_group_names[i], argument) == 0) {
			output->group_by = (enum flame_group)i;
			output->group_is_given = true;
			return NULL;
		}
	return unknown_value("group", argument, flame_group_name);
}

static struct error *filter_at(void *at, struct profile_output **ret)
{
	struct profile_output *output =
		(struct profile_output *)((char *)at - offsetof(struct profile_output, filter));

	*ret = output;
	return output->filter ? NULL : filter_create(&output->filter);
}

struct error *parse_filter(const char *argument, void *at)
{
	struct profile_output *output;
	struct error *err = filter_at(at, &output);

	output->filters.keeps = true;
	return err ? err : filter_keep(output->filter, argument);
}

struct error *parse_not_contains(const char *argument, void *at)
{
	struct profile_output *output;
	struct error *err = filter_at(at, &output);

	output->filters.drops = true;
	return err ? err : filter_drop(output->filter, argument);
}

const char *preset_name(size_t number)
{
	return number < preset_count ? presets[number].name : NULL;
}

static struct error *take_preset(void *context, const char *name)
{
	return filter_add_preset_named(context, name);
}

struct error *parse_preset(const char *argument, void *at)
{
	struct profile_output *output;
	struct error *err = filter_at(at, &output);

	output->filters.presets = true;
	return err ? err : each_piece(argument, "preset", take_preset, output->filter);
}

struct error *profile_output_settle(const struct profile_output *output)
{
	enum profile_format format;
	struct error *err = profile_screen_check(output);

	if (!err && output->format)
		return profile_format_named(output->format, &format);
	for (size_t i = 0; !err && i < output->paths.count; i++) {
		if (strcmp(output->paths.items[i], "-") == 0)
			return error_create("-o - requires --format");
		err = profile_format_of_path(output->paths.items[i], &format);
	}
	return err;
}

struct error *profile_output_check(const struct profile_output *output)
{
	for (size_t i = 0; i < output->paths.count; i++) {
		struct error *err = outfile_check(output->paths.items[i]);

		if (err)
			return err;
	}
	return NULL;
}

void profile_output_deinit(struct profile_output *output)
{
	array_deinit(&output->paths);
	filter_destroy(output->filter);
	output->filter = NULL;
	symbol_cache_destroy(output->symbols);
	output->symbols = NULL;
}

bool profile_output_has_raw(const struct profile_output *output)
{
	if (output->flush)
		return strcmp(output->format, profile_formats[PROFILE_FORMAT_RAW].name) == 0;
	for (size_t i = 0; i < output->paths.count; i++) {
		enum profile_format format;
		struct error *err = profile_files_format(output, output->paths.items[i], &format);

		if (!err && format == PROFILE_FORMAT_RAW)
			return true;
		error_destroy(err);
	}
	return false;
}

static bool wants_names(const struct profile_output *output)
{
	if (output->filter || (!output->flush && !output->paths.count))
		return true;
	if (output->flush)
		return !profile_output_has_raw(output);
	for (size_t i = 0; i < output->paths.count; i++) {
		enum profile_format format;
		struct error *err = profile_files_format(output, output->paths.items[i], &format);

		if (err) {
			error_destroy(err);
			return true;
		}
		if (format != PROFILE_FORMAT_RAW)
			return true;
	}
	return false;
}

/* --- text and files --- */

static struct error *show_named(const struct profile_output *output,
				const struct profile_report *report, unsigned interval)
{
	const bool is_text = !output->paths.count && !output->format;
	_cleanup_(profile_view) struct profile_view view = { 0 };
	struct error *err = NULL;

	if (output->tui)
		err = profile_screen_show(output, profile_view_group(output, report, is_text),
					  report->profile);
	if (err || (output->tui && !output->paths.count))
		return err;
	err = profile_view_init(output, report, is_text, &view);
	if (err)
		return err;
	return is_text ? profile_view_show(output, &view, interval)
		       : profile_files_write(output, &view, interval);
}

static struct flame_view view_of(const struct profile_output *output)
{
	return (struct flame_view){
		.group_by = output->group_by,
		.offsets = output->offsets,
		.no_inlined = output->no_inline,
	};
}

struct error *profile_output_show(const struct profile_output *output, struct profile *profile,
				  struct profile *baseline, unsigned interval)
{
	const struct flame_view view = view_of(output);
	struct profile_report report = { .profile = profile, .baseline = baseline, .view = &view };
	struct error *err = profile_name_kernel(output, profile);

	if (!err)
		err = profile_files_write_raw(output, &report, interval);
	if (err || !wants_names(output))
		return err;
	err = profile_prepare(output, profile);
	if (!err && baseline)
		err = profile_prepare(output, baseline);
	if (!err)
		err = show_named(output, &report, interval);
	if (!err && output->paths.count && !output->quiet) {
		const struct profile_style style = { 0 };

		err = footer_report(stderr, &report, &style);
	}
	return err;
}

/* What is hidden, and files without names, are said of the first profile only. */
static struct error *prepare_sides(const struct profile_output *output,
				   const struct flame_runs *sides)
{
	struct profile_output quiet = *output;
	struct error *err = NULL;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; !err && i < sides[side].count; i++) {
			/* The owner may change it, others see it as it is. */
			struct profile *profile = (struct profile *)(uintptr_t)sides[side].items[i];

			err = profile_name_kernel(&quiet, profile);
			if (!err)
				err = profile_prepare(&quiet, profile);
			quiet.quiet = true;
		}
	return err;
}

struct error *profile_output_show_sides(const struct profile_output *output,
					struct profile *const *before, size_t before_count,
					struct profile *const *after, size_t after_count)
{
	const struct flame_view view = view_of(output);
	const struct flame_runs sides[2] = {
		{ (const struct profile *const *)before, before_count },
		{ (const struct profile *const *)after, after_count },
	};
	const struct profile_report report = { .profile = after[0],
					       .baseline = before[0],
					       .before = &sides[0],
					       .after = &sides[1],
					       .gate = output->gate,
					       .view = &view };
	struct error *err = prepare_sides(output, sides);

	return err ? err : show_named(output, &report, 0);
}

/* --- parts of pages --- */

/* Width of text reports in a page, in characters. */
#define PAGE_COLUMNS 120

static struct error *print_page_text(FILE *out, const struct profile_output *output,
				     const struct profile_report *report)
{
	const struct profile_style style = { .utf8 = true, .width = PAGE_COLUMNS };
	_cleanup_free_ char *text = NULL;
	_cleanup_(profile_view) struct profile_view view;
	struct error *err = profile_view_init(output, report, true, &view);
	size_t length;
	FILE *memory = err ? NULL : open_memstream(&text, &length);

	if (!memory)
		return err ? err : &error_no_memory;
	err = profile_view_print(memory, output, &view, &style);
	if (!file_close_memory(memory, &text))
		return error_first(err, &error_no_memory);
	if (err)
		return err;
	fputs("<pre>", out);
	err = markup_text(out, text_of(text));
	fputs("</pre>\n", out);
	return err;
}

/* A page shows all idle waits as one frame. */
static struct error *print_page_flame(FILE *out, const struct profile_output *output,
				      const struct profile_report *report)
{
	_cleanup_(flame_destroy) struct flame *folded = NULL;
	_cleanup_(profile_view) struct profile_view view;
	struct error *err = profile_view_init(output, report, false, &view);

	if (!err)
		err = profile_view_fold(&view, &folded);
	if (folded)
		view.report.flame = folded;
	return err ? err : flame_part_print(out, &view.report);
}

struct error *profile_output_page(const struct profile_output *output, struct profile *profile,
				  struct profile *baseline, FILE *out)
{
	const struct flame_view view = view_of(output);
	const struct profile_report report = { .profile = profile,
					       .baseline = baseline,
					       .view = &view };
	struct error *err = profile_name_kernel(output, profile);

	if (!err)
		err = profile_prepare(output, profile);
	if (!err && baseline)
		err = profile_prepare(output, baseline);
	if (!err)
		err = print_page_text(out, output, &report);
	return err ? err : print_page_flame(out, output, &report);
}
