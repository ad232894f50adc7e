/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/interrupts.h"
#include "base/outfile.h"
#include "base/units.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cmd/profile_screen.h"
#include "profile/lock_frames.h"
#include "profile/preset.h"
#include "profile/symbolise.h"
#include "report/flame_part.h"
#include "report/markup.h"
#include "report/profile_text.h"
#include "report/stream.h"
#include "security/privileges.h"

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

/* --- files --- */

static struct error *format_of(const struct profile_output *output, const char *path,
			       enum profile_format *ret)
{
	return output->format ? profile_format_named(output->format, ret)
			      : profile_format_of_path(path, ret);
}

/* "off.svg" and 3 is "off.003.svg". */
static char *path_of_interval(const char *path, const char *extension, unsigned interval)
{
	size_t end = strlen(path), length = strlen(extension);
	char *name;

	if (end > length + 1 && strcmp(path + end - length, extension) == 0 &&
	    path[end - length - 1] == '.')
		end -= length + 1;
	if (asprintf(&name, "%.*s.%03u%s", (int)end, path, interval, path + end) < 0)
		return NULL;
	return name;
}

static struct error *write_file(const struct profile_report *report, enum profile_format format,
				const char *path)
{
	struct outfile file;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = profile_formats[format].print(report, outfile_write, &file);
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}

static struct error *write_to(const struct profile_output *output,
			      const struct profile_report *report, const char *path,
			      enum profile_format format, unsigned interval)
{
	_cleanup_free_ char *name = NULL;
	struct error *err;

	if (interval && strcmp(path, "-") != 0) {
		name = path_of_interval(path, profile_formats[format].extension, interval);
		if (!name)
			return &error_no_memory;
		path = name;
	}
	err = write_file(report, format, path);
	if (!err && !output->quiet && strcmp(path, "-") != 0)
		fprintf(stderr, "ctprof: wrote %s\n", path);
	return err;
}

static struct error *flush_interval(const struct profile_output *output,
				    const struct profile_report *report, bool is_raw)
{
	enum profile_format format;
	struct error *err = profile_format_named(output->format, &format);

	if (err || (format == PROFILE_FORMAT_RAW) != is_raw)
		return err;
	return profile_flush_add(output->flush, report, format);
}

static bool is_picture(enum profile_format format)
{
	return format == PROFILE_FORMAT_SVG || format == PROFILE_FORMAT_HTML;
}

static bool wants_pictures(const struct profile_output *output)
{
	enum profile_format format;

	if (output->format)
		return !profile_format_named(output->format, &format) && is_picture(format);
	for (size_t i = 0; i < output->paths.count; i++)
		if (!profile_format_of_path(output->paths.items[i], &format) && is_picture(format))
			return true;
	return false;
}

/* Write files with unnamed frames before names are looked up. `pictures` is the report for these,
 * which need not show all; NULL: the same. */
static struct error *write_files(const struct profile_output *output,
				 const struct profile_report *report,
				 const struct profile_report *pictures, bool is_raw,
				 unsigned interval)
{
	struct error *err = NULL;

	if (output->flush)
		return flush_interval(
			output, pictures && wants_pictures(output) ? pictures : report, is_raw);
	for (size_t i = 0; !err && i < output->paths.count; i++) {
		const char *path = output->paths.items[i];
		enum profile_format format;

		err = format_of(output, path, &format);
		if (!err && (format == PROFILE_FORMAT_RAW) == is_raw)
			err = write_to(output, pictures && is_picture(format) ? pictures : report,
				       path, format, interval);
	}
	return err;
}

static bool wants_names(const struct profile_output *output)
{
	if (output->filter || (!output->flush && !output->paths.count))
		return true;
	if (output->flush)
		return !profile_output_has_raw(output);
	for (size_t i = 0; i < output->paths.count; i++) {
		enum profile_format format;
		struct error *err = format_of(output, output->paths.items[i], &format);

		if (err) {
			error_destroy(err);
			return true;
		}
		if (format != PROFILE_FORMAT_RAW)
			return true;
	}
	return false;
}

bool profile_output_has_raw(const struct profile_output *output)
{
	if (output->flush)
		return strcmp(output->format, profile_formats[PROFILE_FORMAT_RAW].name) == 0;
	for (size_t i = 0; i < output->paths.count; i++) {
		enum profile_format format;
		struct error *err = format_of(output, output->paths.items[i], &format);

		if (!err && format == PROFILE_FORMAT_RAW)
			return true;
		error_destroy(err);
	}
	return false;
}

/* --- names and filters --- */

static bool is_interrupted(void *context)
{
	(void)context;
	return interrupts_came();
}

static const char *files(size_t count)
{
	return count == 1 ? "file or process" : "files or processes";
}

static void print_omissions(const struct symbolise_left *left)
{
	if (left->beyond)
		fprintf(stderr,
			"ctprof: %zu %s not symbolised: limit of %" PRIu64 " MiB per user, or of "
			"%" PRIu64 " MiB for all users but root\n",
			left->beyond, files(left->beyond), SYMBOLISE_USER_BYTES >> 20,
			SYMBOLISE_USERS_BYTES >> 20);
	if (left->hangs)
		fprintf(stderr, "ctprof: %zu %s not symbolised: %s did not answer\n", left->hangs,
			files(left->hangs),
			left->hangs == 1 ? "its file system" : "their file systems");
	if (left->without_thread)
		fprintf(stderr,
			"ctprof: %zu %s not symbolised: cannot start a thread to read them "
			"(RLIMIT_NPROC, "
			"pids.max)\n",
			left->without_thread, files(left->without_thread));
	if (left->ended)
		fprintf(stderr, "ctprof: interrupted: %zu %s not symbolised\n", left->ended,
			files(left->ended));
}

static struct error *name_frames(const struct profile_output *output, struct profile *profile)
{
	struct interrupts interrupts;
	struct symbolise_left left = { 0 };
	struct progress progress;
	struct symbolise_options options = {
		.no_inline = output->no_inline,
		.is_elsewhere = output->is_elsewhere,
		.symfs = output->symfs,
		.progress = progress_begin(&progress, "files", output->quiet),
		.progress_context = &progress,
		.is_over = is_interrupted,
		.left = &left,
		.cache = output->symbols,
	};
	/* Files of processes that run here are read with privileges. Those that a profile of
	 * another host, or --symfs, leads to are files that the user names. */
	const bool was_raised = !output->is_elsewhere && !output->symfs && privileges_raise();
	struct error *err;

	interrupts_catch(&interrupts);
	err = symbolise_user(profile, &options);
	interrupts_release(&interrupts);
	privileges_lower(was_raised);
	progress_end(&progress);
	/* Also with --quiet: the profile lacks something that was asked for. */
	if (!err)
		print_omissions(&left);
	return err;
}

/* The options that hide something, as "--filter and --preset hide". */
static void print_filters(const struct profile_output *output)
{
	const struct {
		bool is_given;
		const char *name;
	} options[] = { { output->filters.keeps, "--filter" },
			{ output->filters.drops, "--not-contains" },
			{ output->filters.presets, "--preset" } };
	size_t count = 0, printed = 0;

	for (size_t i = 0; i < array_length(options); i++)
		count += options[i].is_given;
	for (size_t i = 0; i < array_length(options); i++)
		if (options[i].is_given && ++printed)
			fprintf(stderr, "%s%s",
				printed == 1       ? ""
				: printed == count ? " and "
						   : ", ",
				options[i].name);
	fputs(count == 1 ? " hides" : " hide", stderr);
}

static struct error *filter_samples(const struct profile_output *output, struct profile *profile)
{
	struct filtered filtered;
	struct error *err;
	char text[UNITS_TEXT_MAX];

	if (!output->filter)
		return NULL;
	err = filter_apply(output->filter, profile, &filtered);
	if (err || !filtered.count || output->quiet)
		return err;
	fputs("ctprof: ", stderr);
	print_filters(output);
	fprintf(stderr, " %s of stacks%s\n", units_format(text, UNIT_NS, filtered.ns),
		profile->samples.count ? "" : ": all of them");
	return NULL;
}

struct state_choice {
	const struct reason_selection *states;
	struct profile_losses *losses;
};

/* Subtract a removed sample from the counter that has it: kept waits, or waits in progress. */
static void count_as_filtered(struct profile_losses *losses, const struct sample *sample)
{
	const uint64_t progress = sample->is_in_progress && sample->count && losses->in_progress;
	const uint64_t ended = sample->count - progress;

	losses->in_progress -= progress;
	losses->kept -= ended < losses->kept ? ended : losses->kept;
	losses->filtered += ended;
	losses->filtered_ns += sample->ns;
}

static bool is_state_wanted(void *context, size_t number, struct sample *sample)
{
	const struct state_choice *choice = context;

	(void)number;
	if (reason_selects(choice->states, sample->class, sample->state))
		return true;
	count_as_filtered(choice->losses, sample);
	return false;
}

/* Apply --state once more: function names may have moved waits to the state "lock", so some are no
 * longer wanted. */
static struct error *choose_states(const struct profile_output *output, struct profile *profile)
{
	struct state_choice choice = { output->states, &profile->meta.losses };
	const size_t blocks = profile->longest.count;
	const bool is_any = profile->samples.count;
	struct error *err;

	if (!output->states)
		return NULL;
	err = profile_keep(profile, is_state_wanted, &choice);
	if (err)
		return err;
	profile->longest.count = 0;
	for (size_t i = 0; i < blocks; i++) {
		const struct block block = profile->longest.items[i];

		if (reason_selects(output->states, block.class, block.state))
			profile->longest.items[profile->longest.count++] = block;
	}
	if (is_any && !profile->samples.count && !output->quiet)
		fputs("ctprof: the profile is empty: no wait was of --state\n", stderr);
	return NULL;
}

static struct error *prepare(const struct profile_output *output, struct profile *profile)
{
	struct error *err = name_frames(output, profile);

	if (!err)
		err = lock_frames_apply(profile);
	if (!err)
		err = choose_states(output, profile);
	return err ? err : filter_samples(output, profile);
}

/* --- text --- */

static struct profile_style style_of(const struct profile_output *output)
{
	return (struct profile_style){
		.limit = output->top,
		.all = output->all,
		.utf8 = terminal_is_utf8(),
		.colour = terminal_wants_colour(),
		.width = terminal_table_width(),
	};
}

typedef struct error *profile_text(FILE *out, const struct profile_report *report,
				   const struct profile_style *style);

/* Preemptors, the longest waits and distributions are there if they were asked for, and then they
 * are the answer. Where there is time on the CPU, functions come before whole stacks: these are of
 * waits mostly. */
static profile_text *const texts[] = {
	idle_report,    program_report,   reason_report, quota_report, preemptor_report,
	longest_report, histogram_report, waits_report,  stack_report, function_report,
	thread_report,  names_report,     footer_report,
};
static profile_text *const texts_on_cpu[] = {
	idle_report,    program_report,   reason_report, quota_report,    preemptor_report,
	longest_report, histogram_report, waits_report,  function_report, stack_report,
	thread_report,  names_report,     footer_report,
};
/* The comparison of two profiles covers only stacks. */
static profile_text *const texts_of_two[] = { stack_report };

static struct error *print_profile_text(FILE *out, const struct profile_output *output,
					const struct profile_report *report,
					const struct profile_style *style)
{
	const bool has_on_cpu =
		flame_of_class(report->flame, report->flame->nodes.items, CLASS_ON_CPU).total;
	profile_text *const *parts = report->baseline ? texts_of_two
				     : has_on_cpu     ? texts_on_cpu
						      : texts;
	const size_t count = report->baseline ? array_length(texts_of_two) : array_length(texts);
	struct error *err = head_report(out, report, style);

	for (size_t i = 0; !err && i < count; i++)
		err = parts[i](out, report, style);
	if (!err && !report->baseline && (output->file || !output->is_elsewhere))
		err = profile_next(out, report, output->file, &output->asked);
	return err;
}

static struct error *show_text(const struct profile_output *output,
			       const struct profile_report *report, unsigned interval)
{
	const struct profile_style style = style_of(output);
	struct error *err;

	if (!interval)
		pager_begin(PAGER_TEXT);
	err = print_profile_text(stdout, output, report, &style);
	fflush(stdout);
	return err;
}

/* --- all of it --- */

/* Profiles of other tools may have no process names; then programs cannot be distinguished. */
static bool has_programs(const struct profile *profile)
{
	for (size_t i = 0; profile && i < profile->threads.count; i++)
		if (profile->threads.items[i].process->length)
			return true;
	return false;
}

/* The `main` of one program is not that of another, though their names are the same. */
static enum flame_group group_of(const struct profile_output *output,
				 const struct profile_report *report, bool is_text)
{
	if (output->group_is_given)
		return output->group_by;
	return is_text && (has_programs(report->profile) || has_programs(report->baseline))
		       ? FLAME_BY_PROGRAM
		       : FLAME_BY_NONE;
}

/* Idle waits are hidden only in profiles of a whole host, where most threads are idle, and only if
 * no option selects threads or stacks. */
static bool hides_idle(const struct profile_output *output, const struct profile_report *report)
{
	return report->profile->meta.is_whole_host && !report->baseline && !output->filter &&
	       !output->shows_idle;
}

/* Pictures have the idle waits as one frame; files for programs have everything. */
static struct error *show_files(const struct profile_output *output,
				const struct profile_report *report, struct flame_view view,
				const struct idle *idle, unsigned interval)
{
	_cleanup_(flame_destroy) struct flame *folded = NULL;
	struct profile_report pictures = *report;
	enum profile_format format;
	struct error *err = NULL;

	view.idle = idle;
	view.folds_idle = true;
	if (idle && wants_pictures(output))
		err = flame_create(report->profile, NULL, &view, &folded);
	if (folded)
		pictures.flame = folded;
	if (!err && (output->paths.count || output->flush))
		return write_files(output, report, &pictures, false, interval);
	if (!err)
		err = profile_format_named(output->format, &format);
	return err ? err
		   : write_to(output, is_picture(format) ? &pictures : report, "-", format,
			      interval);
}

/* A profile whose frames have names, its flame graph, and what both refer to. */
struct named {
	struct flame *flame;
	struct flame_view view;
	struct idle idle;
	struct profile_report report; /* points to `flame` */
};

static void named_guard(struct named *named)
{
	flame_destroy(named->flame);
	idle_deinit(&named->idle);
}

/* `ret` must not be moved: its report points into it. Release it also after an error. */
static struct error *name_view(const struct profile_output *output,
			       const struct profile_report *report, bool is_text, struct named *ret)
{
	struct error *err = NULL;

	*ret = (struct named){ .view = *report->view, .report = *report };
	ret->view.group_by = group_of(output, report, is_text);
	if (hides_idle(output, report))
		err = idle_find(report->profile, &ret->idle);
	if (is_text && ret->idle.ns)
		ret->view.idle = ret->report.idle = &ret->idle;
	if (!err)
		err = flame_create(report->profile, report->baseline, &ret->view, &ret->flame);
	ret->report.flame = ret->flame;
	return err;
}

static struct error *show_named(const struct profile_output *output,
				const struct profile_report *report, unsigned interval)
{
	const bool is_text = !output->paths.count && !output->format;
	_cleanup_(named) struct named named = { 0 };
	struct error *err = NULL;

	if (output->tui)
		err = profile_screen_show(output, group_of(output, report, is_text),
					  report->profile);
	if (err || (output->tui && !output->paths.count))
		return err;
	err = name_view(output, report, is_text, &named);
	if (err)
		return err;
	return is_text ? show_text(output, &named.report, interval)
		       : show_files(output, &named.report, named.view,
				    named.idle.ns ? &named.idle : NULL, interval);
}

/* Name frames of the kernel and of the vDSO. Both belong to the host where the profile was taken.
 */
static struct error *name_kernel(const struct profile_output *output, struct profile *profile)
{
	const struct symbolise_options options = { .only_vdso = true };
	struct error *err;
	PRIVILEGES_RAISED;

	err = output->symbols ? symbolise_kernel_cached(profile, output->symbols)
			      : symbolise_kernel(profile);
	return err || output->is_elsewhere ? err : symbolise_user(profile, &options);
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
	struct error *err = name_kernel(output, profile);

	if (!err)
		err = write_files(output, &report, NULL, true, interval);
	if (err || !wants_names(output))
		return err;
	err = prepare(output, profile);
	if (!err && baseline)
		err = prepare(output, baseline);
	if (!err)
		err = show_named(output, &report, interval);
	if (!err && output->paths.count && !output->quiet) {
		const struct profile_style style = { 0 };

		err = footer_report(stderr, &report, &style);
	}
	return err;
}

/* --- parts of pages --- */

/* Width of text reports in a page, in characters. */
#define PAGE_COLUMNS 120

static struct error *print_page_text(FILE *out, const struct profile_output *output,
				     const struct profile_report *report)
{
	const struct profile_style style = { .utf8 = true, .width = PAGE_COLUMNS };
	_cleanup_free_ char *text = NULL;
	_cleanup_(named) struct named named;
	struct error *err = name_view(output, report, true, &named);
	size_t length;
	FILE *memory = err ? NULL : open_memstream(&text, &length);

	if (!memory)
		return err ? err : &error_no_memory;
	err = print_profile_text(memory, output, &named.report, &style);
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
	_cleanup_(named) struct named named;
	struct error *err = name_view(output, report, false, &named);

	if (!err && named.idle.ns) {
		named.view.idle = &named.idle;
		named.view.folds_idle = true;
		err = flame_create(report->profile, NULL, &named.view, &folded);
		named.report.flame = folded;
	}
	return err ? err : flame_part_print(out, &named.report);
}

struct error *profile_output_page(const struct profile_output *output, struct profile *profile,
				  struct profile *baseline, FILE *out)
{
	const struct flame_view view = view_of(output);
	const struct profile_report report = { .profile = profile,
					       .baseline = baseline,
					       .view = &view };
	struct error *err = name_kernel(output, profile);

	if (!err)
		err = prepare(output, profile);
	if (!err && baseline)
		err = prepare(output, baseline);
	if (!err)
		err = print_page_text(out, output, &report);
	return err ? err : print_page_flame(out, output, &report);
}
