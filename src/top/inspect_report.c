/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/inspect_report.h"

#include "state/wait.h"

static const char *const link_names[] = {
	[LINK_UNKNOWN] = "unknown",
	[LINK_RUNS] = "runs",
	[LINK_STOPPED] = "stopped",
	[LINK_ENDED] = "ended",
	[LINK_CALL] = "call",
	[LINK_OUTSIDE] = "kernel",
	[LINK_LOCK] = "lock",
	[LINK_JOIN] = "join",
	[LINK_CHILD] = "child",
	[LINK_FILE_LOCK] = "file_lock",
	[LINK_KERNEL_LOCK] = "kernel_lock",
};

static void put_string_or_null(struct json_writer *w, const char *key, const char *string)
{
	json_key(w, key);
	if (string && *string)
		json_string(w, string);
	else
		json_null(w);
}

static void put_link(struct json_writer *w, const struct wait_link *link)
{
	json_object_begin(w);
	json_key(w, "tid");
	json_u64(w, link->tid);
	json_key(w, "tgid");
	json_u64(w, link->tgid);
	json_key(w, "comm");
	json_string(w, link->name);
	json_key(w, "waits");
	json_string(w, link_names[link->kind]);
	put_string_or_null(w, "syscall", wait_syscall_name(link->call.number));
	put_string_or_null(w, "object", link->object);
	json_key(w, "lock");
	if (link->kind == LINK_LOCK)
		json_u64(w, link->lock.address);
	else
		json_null(w);
	put_string_or_null(w, "wchan", link->wchan);
	json_object_end(w);
}

static void put_states(struct json_writer *w, const struct state_line *line, unsigned measured)
{
	json_key(w, "states");
	json_object_begin(w);
	for (enum state state = 0; state < STATE_COUNT; state++) {
		json_key(w, state_rows[state].name);
		if (state_is_measured_in_part(measured, state))
			json_u64(w, state_times_of(&line->times, state));
		else
			json_null(w);
	}
	json_object_end(w);
}

static void put_subject(struct json_writer *w, const struct inspect_report *report)
{
	const struct state_thread *thread = report->thread;

	json_key(w, "by");
	json_string(w, state_grouping_names[report->grouping]);
	json_key(w, "tid");
	json_u64(w, thread->tid);
	json_key(w, "tgid");
	json_u64(w, thread->tgid);
	json_key(w, "comm");
	json_text(w, name_text(thread->name));
	json_key(w, "process");
	json_text(w, name_text(thread->process));
	json_key(w, "cgroup");
	json_name(w, thread->cgroup);
}

/* Write the members about a state that the sentence explains. */
static void put_wait(struct json_writer *w, const struct wait_answer *answer,
		     const struct seen_wait *wait)
{
	const struct wait_chain *chain = &wait->chain;

	put_string_or_null(w, "state",
			   wait->state < STATE_COUNT ? state_rows[wait->state].name : NULL);
	json_key(w, "threads_alike");
	json_u64(w, wait->is_there ? answer->threads ? wait->alike : 1 : 0);
	json_key(w, "chain");
	json_array_begin(w);
	for (size_t i = 0; wait->is_there && i < chain->count; i++)
		put_link(w, &chain->links[i]);
	json_array_end(w);
	json_key(w, "deadlock");
	json_bool(w, wait->is_there && chain->cycle < chain->count);
}

static void put_answer(struct json_writer *w, const struct wait_answer *answer)
{
	json_key(w, "answer");
	json_string(w, answer->sentence);
	put_wait(w, answer, &answer->first);
	json_key(w, "also");
	if (answer->second.state < STATE_COUNT) {
		json_object_begin(w);
		put_wait(w, answer, &answer->second);
		json_object_end(w);
	} else {
		json_null(w);
	}
}

void inspect_report_put(struct json_writer *w, const struct inspect_report *report)
{
	json_object_begin(w);
	json_key(w, "window");
	json_u64(w, report->window);
	json_key(w, "at_unix_ns");
	json_u64(w, report->at_unix_ns);
	put_subject(w, report);
	json_key(w, "window_ns");
	json_u64(w, report->line->window_ns);
	put_states(w, report->line, report->measured);
	put_answer(w, report->answer);
	json_key(w, "limits");
	thread_limits_put(w, report->limits);
	json_object_end(w);
}
