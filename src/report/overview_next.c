/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/overview_next.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/visible.h"

struct next {
	const struct report *report;
	const struct report_style *style;
	struct overview_line *lines;
	size_t count;
};

static bool runs(const struct next *next, uint32_t pid)
{
	return next->style->runs && next->style->runs(next->report->candidate, pid);
}

bool overview_is_here(const struct report *report, const struct report_style *style)
{
	return style->runs && style->runs(report->candidate, 0);
}

/* The shortest that a name may get beside a command. */
#define NAME_COLUMNS 18

static void add_line(struct next *next, struct text name, const char *command)
{
	struct overview_line *line = &next->lines[next->count];
	const size_t width = text_width(command) + strlen(": ");
	const size_t left = width < OVERVIEW_COLUMNS ? OVERVIEW_COLUMNS - width : 0;

	*line = (struct overview_line){ 0 };
	line_name(line, name, left > NAME_COLUMNS ? left : NAME_COLUMNS);
	if (line_add(line, ": %s", command))
		next->count++;
}

/* --- on a process that runs --- */

/* The name quoted for a shell; with `is_glob` also escaped as a glob, for --match. Allocated; NULL:
 * not printable as it is, or no memory. */
static char *group_word(struct text name, bool is_glob)
{
	_cleanup_free_ char *visible = text_visible(name), *escaped = NULL;
	size_t length = 0;

	if (!visible || !text_equal(text_of(visible), name))
		return NULL;
	if (!is_glob)
		return text_shell_word(name);
	escaped = malloc(2 * name.length + 1);
	for (size_t i = 0; escaped && i < name.length; i++) {
		if (strchr("*?[\\", name.bytes[i]))
			escaped[length++] = '\\';
		escaped[length++] = name.bytes[i];
	}
	return escaped ? text_shell_word((struct text){ escaped, length }) : NULL;
}

/* The option that selects the group: "--cgroup /a.service", or "-p 17" with its busiest process if
 * the group is not exactly one cgroup. The root cgroup is the whole host, and a path with a pattern
 * stands for several cgroups. Allocated; NULL: no memory. */
static char *target_option(const struct next *next, const struct overview_group *group)
{
	const struct text name = name_text(group->label);
	_cleanup_free_ char *word = NULL;

	if (next->report->view->axis == &group_axes[AXIS_CGROUP] && name.length > 1 &&
	    name.bytes[0] == '/' && !memchr(name.bytes, '{', name.length))
		word = group_word(name, false);
	return word ? text_print("--cgroup %s", word) : text_print("-p %u", group->pid);
}

/* The question that a group's first cause leaves open, and the command that answers it. */
static void add_process_command(struct next *next, const struct overview_group *group)
{
	_cleanup_free_ char *target = target_option(next, group);
	struct overview_line command = { 0 };

	if (!target)
		return;
	switch (overview_is_idle(group) ? CAUSE_SWITCH : group->order[0]) {
	case CAUSE_CPU:
	case CAUSE_FAULT:
		line_add(&command, "where does it run? ctprof profile %s -d 5s", target);
		break;
	case CAUSE_CPU_WAIT:
		line_add(&command,
			 "what runs instead? ctprof offcpu %s -d 5s --state runnable "
			 "--preempted-by",
			 target);
		break;
	case CAUSE_MEMORY:
		line_add(&command,
			 "where does it take memory? ctprof profile %s -d 5s "
			 "-e tracepoint:kmem:rss_stat",
			 target);
		break;
	default:
		line_add(&command, "where does it wait? ctprof offcpu %s -d 5s", target);
	}
	add_line(next, name_text(group->label), command.text);
}

/* --- on the files --- */

/* "ctprof compare a.zst b.zst --match x --group-by unit"; NULL: not to be said so. */
static char *file_command(const struct report *report, const struct overview_group *group)
{
	const struct sides *sides = report->sides;
	const struct group_axis *axis = report->view->axis;
	const char *axis_option = axis == &group_axes[AXIS_PCOMM] ? "" : " --group-by ";
	_cleanup_free_ char *from = text_shell_word(text_of(sides->items[0].name));
	_cleanup_free_ char *to = text_shell_word(text_of(sides->items[sides->count - 1].name));
	_cleanup_free_ char *name = group_word(name_text(group->label), report->comparing);
	char *command = NULL;

	if (!from || !to || !name || report->repeated)
		return NULL;
	if (asprintf(&command, "ctprof %s %s%s%s%s%s%s%s", report->comparing ? "compare" : "show",
		     report->comparing ? from : "", report->comparing ? " " : "", to,
		     report->comparing ? " --match " : " ", name, axis_option,
		     *axis_option ? axis->name : "") < 0)
		return NULL;
	return command;
}

/* With the question, and the name of the group, if that fits. Long names of files make a long line,
 * since a command that is cut is none. */
static void add_file_command(struct next *next, const struct overview_group *group)
{
	const bool comparing = next->report->comparing;
	_cleanup_free_ char *command = file_command(next->report, group);
	_cleanup_free_ char *visible = command ? text_visible(text_of(command)) : NULL;
	const size_t before = next->count;
	struct overview_line line = { 0 };

	/* This report says it. */
	if (next->report->overview->named_threads && next->report->overview->groups.count == 1)
		return;
	if (!visible || strcmp(command, visible) != 0)
		return;
	if (line_add(&line, "what else %s? %s", comparing ? "changed in it" : "did it do", command))
		add_line(next, name_text(group->label), line.text);
	if (next->count == before)
		add_line(next, name_text(group->label), command);
	line = (struct overview_line){ .columns = SIZE_MAX };
	if (next->count == before && line_add(&line, "%s", command))
		next->lines[next->count++] = line;
}

/* --- which groups --- */

static const struct overview_group *next_group(const struct next *next)
{
	const struct overview *overview = next->report->overview;

	for (size_t i = 0; i < overview_shown(overview); i++) {
		const struct overview_group *group = &overview->groups.items[i];

		if (group->pid && (next->style->has_files || runs(next, group->pid)))
			return group;
	}
	return NULL;
}

/* A group that stands still, if the last line is of another. */
static const struct overview_group *still_group(const struct next *next,
						const struct overview_group *lead)
{
	const struct overview *overview = next->report->overview;

	for (size_t i = 0; i < overview_shown(overview); i++) {
		const struct overview_group *group = &overview->groups.items[i];

		if (group != lead && group->pid && overview_is_idle(group) &&
		    runs(next, group->pid))
			return group;
	}
	return NULL;
}

size_t overview_next(const struct report *report, const struct report_style *style,
		     struct overview_line lines[OVERVIEW_NEXT_MOST])
{
	struct next next = { .report = report, .style = style, .lines = lines };
	const struct overview_group *lead = next_group(&next), *still = still_group(&next, lead);

	if (still)
		add_process_command(&next, still);
	if (lead && runs(&next, lead->pid))
		add_process_command(&next, lead);
	else if (lead)
		add_file_command(&next, lead);
	if (overview_unseen_leads(report->overview) && runs(&next, 0))
		lines[next.count++] = (struct overview_line){
			.text = "which programs come and go? ctprof profile -d 5s"
		};
	return next.count;
}
