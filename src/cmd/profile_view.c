/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_view.h"

#include <stdlib.h>

#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/profile_next.h"
#include "report/flame_answer.h"

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

/* Differences that are known to be real, and the verdicts of conditions about them. */
static struct error *find_changes(const struct profile_output *output, struct profile_view *view,
				  bool is_text)
{
	struct error *err = flame_create_diff(view->report.after, view->report.before,
					      &view->options, &view->flame);

	if (!err && output->gate)
		err = flame_gate_judge(output->gate, view->flame);
	if (err || is_text)
		return err;
	view->report.title = view->title = flame_answer(view->flame);
	return view->title ? NULL : &error_no_memory;
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
	if (!err && report->after)
		err = find_changes(output, ret, is_text);
	else if (!err)
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
	free(view->title);
	idle_deinit(&view->idle);
}

/* --- text --- */

typedef struct error *profile_text(FILE *out, const struct profile_report *report,
				   const struct profile_style *style);

/* Preemptors, the longest waits and distributions are there if they were asked for, and then they
 * are the answer. Where there is time on the CPU, functions come before whole stacks: these are of
 * waits mostly. */
static profile_text *const texts[] = {
	head_report,      idle_report,    program_report,   reason_report, quota_report,
	preemptor_report, longest_report, histogram_report, waits_report,  stack_report,
	function_report,  thread_report,  names_report,     footer_report,
};
static profile_text *const texts_on_cpu[] = {
	head_report,      idle_report,    program_report,   reason_report, quota_report,
	preemptor_report, longest_report, histogram_report, waits_report,  function_report,
	stack_report,     thread_report,  names_report,     footer_report,
};
/* The comparison of two profiles covers only stacks. */
static profile_text *const texts_of_two[] = { head_report, stack_report };
static profile_text *const texts_of_changes[] = {
	difference_report, head_report, change_report, stack_report, method_report,
};

/* The parts of the text, and how many. */
static profile_text *const *parts_of(const struct profile_report *report, size_t *ret_count)
{
	const struct flame *flame = report->flame;

	if (flame->changes) {
		*ret_count = array_length(texts_of_changes);
		return texts_of_changes;
	}
	if (report->baseline) {
		*ret_count = array_length(texts_of_two);
		return texts_of_two;
	}
	*ret_count = array_length(texts);
	return flame_of_class(flame, flame->nodes.items, CLASS_ON_CPU).total ? texts_on_cpu : texts;
}

struct error *profile_view_print(FILE *out, const struct profile_output *output,
				 const struct profile_view *view, const struct profile_style *style)
{
	const struct profile_report *report = &view->report;
	size_t count;
	profile_text *const *parts = parts_of(report, &count);
	struct error *err = NULL;

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
