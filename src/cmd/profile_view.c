/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_view.h"

#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/profile_next.h"

/* --- flame graphs --- */

/* Profiles of other tools may have no process names; then programs cannot be distinguished. */
static bool has_programs(const struct profile *profile)
{
	for (size_t i = 0; profile && i < profile->threads.count; i++)
		if (profile->threads.items[i].process->length)
			return true;
	return false;
}

/* The `main` of one program is not that of another, though their names are the same. */
enum flame_group profile_view_group(const struct profile_output *output,
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

struct error *profile_view_init(const struct profile_output *output,
				const struct profile_report *report, bool is_text,
				struct profile_view *ret)
{
	struct error *err = NULL;

	*ret = (struct profile_view){ .options = *report->view, .report = *report };
	ret->options.group_by = profile_view_group(output, report, is_text);
	if (hides_idle(output, report))
		err = idle_find(report->profile, &ret->idle);
	if (is_text && ret->idle.ns)
		ret->options.idle = ret->report.idle = &ret->idle;
	if (!err)
		err = flame_create(report->profile, report->baseline, &ret->options, &ret->flame);
	ret->report.flame = ret->flame;
	return err;
}

struct error *profile_view_fold(const struct profile_view *view, struct flame **ret)
{
	struct flame_view options = view->options;

	*ret = NULL;
	if (!view->idle.ns)
		return NULL;
	options.idle = &view->idle;
	options.folds_idle = true;
	return flame_create(view->report.profile, NULL, &options, ret);
}

void profile_view_deinit(struct profile_view *view)
{
	flame_destroy(view->flame);
	idle_deinit(&view->idle);
}

/* --- text --- */

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

struct error *profile_view_print(FILE *out, const struct profile_output *output,
				 const struct profile_view *view, const struct profile_style *style)
{
	const struct profile_report *report = &view->report;
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

struct error *profile_view_show(const struct profile_output *output,
				const struct profile_view *view, unsigned interval)
{
	const struct profile_style style = style_of(output);
	struct error *err;

	if (!interval)
		pager_begin(PAGER_TEXT);
	err = profile_view_print(stdout, output, view, &style);
	fflush(stdout);
	return err;
}
