/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last line of `ctprof top --batch`: the command that goes on from its first row.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/visible.h"
#include "top/top.h"
#include "top/wait_sentence.h"

/* The first row that lives, and is not this process; NULL: none. */
static const struct state_line *first_row(const struct top *top)
{
	for (size_t i = 0; i < top->list.lines.count; i++) {
		const struct state_line *line = &top->list.lines.items[i];

		if (line->threads && line->thread->tgid != (uint32_t)getpid())
			return line;
	}
	return NULL;
}

/* Only cgroups of version 2 can be selected, and the root is the whole host. */
static bool is_selectable(const struct name *cgroup)
{
	const char *path = cgroup->bytes;
	struct error *err = NULL;
	uint64_t id;

	if (cgroup->length < 2 || *path != '/')
		return false;
	err = target_find_cgroup(&path, &id);
	error_destroy(err);
	return !err;
}

/* "-p 17", as an option of profile and offcpu; "" is the whole host. NULL without memory. */
static char *target_option(const struct top *top, const struct state_line *line)
{
	_cleanup_free_ char *word = NULL;

	switch (top->view.grouping) {
	case STATE_BY_THREAD:
		return text_print("-t %" PRIu32, line->thread->tid);
	case STATE_BY_CGROUP:
		if (!is_selectable(line->label))
			return text_print("%s", "");
		word = text_shell_word(name_text(line->label));
		return word ? text_print("--cgroup %s", word) : NULL;
	default:
		return text_print("-p %" PRIu32, line->thread->tgid);
	}
}

/* A cgroup of version 1 is found by one of its threads. NULL without memory. */
static char *wait_command(const struct top *top, const struct state_line *line, const char *target)
{
	switch (top->view.grouping) {
	case STATE_BY_THREAD:
		return text_print("ctprof top --inspect %" PRIu32, line->thread->tid);
	case STATE_BY_PROCESS:
		return text_print("ctprof top --inspect %" PRIu32, line->thread->tgid);
	case STATE_BY_POOL:
		return text_print("ctprof top --inspect %" PRIu32 " --by pool", line->thread->tid);
	default:
		if (!*target && line->label->length > 1)
			return text_print("ctprof top --inspect %" PRIu32 " --by cgroup",
					  line->thread->tid);
		return text_print("ctprof offcpu%s%s -d 5s", *target ? " " : "", target);
	}
}

static const char *question_of(const struct top *top, enum state lead)
{
	if (state_rows[lead].main == STATE_EXEC && top->kind != ENGINE_PROCFS)
		return "where does it run?";
	if (top->view.grouping == STATE_BY_CGROUP)
		return "where does it wait?";
	return lead == STATE_RUNNABLE ? "what keeps it from a CPU?" : "what does it wait for?";
}

void top_batch_next(const struct top *top, FILE *out)
{
	const struct state_line *line = first_row(top);
	const enum state lead = line ? wait_sentence_lead(line, top->window.measured) : STATE_COUNT;
	_cleanup_free_ char *target = NULL, *command = NULL;
	bool runs;

	/* Of a host that does nothing there is nothing to ask. */
	if (lead == STATE_COUNT || state_rows[lead].main == STATE_IDLE)
		return;
	runs = state_rows[lead].main == STATE_EXEC && top->kind != ENGINE_PROCFS;
	target = target_option(top, line);
	if (target)
		command =
			runs && (*target || line->label->length < 2)
				? text_print("ctprof profile%s%s -d 5s", *target ? " " : "", target)
				: wait_command(top, line, target);
	if (!command)
		return;
	text_print_visible(out, name_text(line->label), 0);
	fprintf(out, ": %s ", question_of(top, lead));
	text_print_visible(out, text_of(command), 0);
	fputc('\n', out);
}
