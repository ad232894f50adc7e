/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_next.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/text.h"
#include "report/profile_text.h"
#include "report/visible.h"

/* The next question about a process, and the command that answers it. The reason for most of the
 * process's time selects the first row that has it and whose conditions hold. */
struct next_row {
	unsigned reasons;    /* a bit each */
	bool is_of_target;   /* only if the profile is of selected threads */
	bool is_of_one_side; /* not if the profile has both time on and off the CPU */
	bool is_inspection;  /* the command takes one live process, not the selection */
	bool (*is_answered)(const struct profile_asked *asked); /* NULL: never */
	const char *before, *after;                             /* around the process's name */
	const char *command, *options;
};

static bool has_preemptors(const struct profile_asked *asked)
{
	return asked->preemptors;
}

static bool has_wakers(const struct profile_asked *asked)
{
	return asked->wakers;
}

static const struct next_row questions[] = {
	{ 1u << REASON_ON_CPU, false, false, false, NULL, "Where does ", " wait?", "offcpu",
	  " -d 10s" },
	/* The inspector knows quotas. */
	{ 1u << REASON_CPU_WAIT, true, false, true, NULL, "Does a quota or another thread keep ",
	  " from a CPU?", "top --inspect", "" },
	{ 1u << REASON_CPU_WAIT, false, false, false, has_preemptors,
	  "Which threads ran instead of ", "?", "offcpu",
	  " -d 10s --state cpu-wait --preempted-by" },
	{ 1u << REASON_LOCK | 1u << REASON_NETWORK | 1u << REASON_PIPE | 1u << REASON_CHILD |
		  1u << REASON_POLL | 1u << REASON_COND,
	  true, false, true, NULL, "What does ", " wait for now, and on whom?", "top --inspect",
	  "" },
	{ 1u << REASON_LOCK | 1u << REASON_PIPE | 1u << REASON_COND, false, false, false,
	  has_wakers, "Which threads end the waits of ", "?", "offcpu", " -d 10s --wakers" },
	/* A profile of both answers that. */
	{ ~0u, false, true, false, NULL, "What do threads of ", " do meanwhile?", "profile",
	  " -d 10s --mode both" },
};

static void print_picture_of_file(FILE *out, const char *file)
{
	_cleanup_free_ char *word = text_shell_word(text_of(file));

	/* It would be taken for an option. */
	if (!word || *file == '-')
		return;
	fputs("\nAs a picture: ctprof flame ", out);
	text_print_visible(out, text_of(word), 0);
	fputs(" -o flame.svg\n", out);
}

/* The threads that the suggested commands select. */
struct next_subject {
	const struct profile_asked *asked;
	const struct profile_thread *thread; /* a thread of the process with most time */
	enum reason reason;                  /* for most of the process's time */
	bool is_both;                        /* the profile has time on and off the CPU */
	bool has_target; /* threads were selected, or a quota can be explained by `top --inspect` */
	bool is_alive;   /* the process of `thread` still runs */
};

static bool has_selection(const struct profile_asked *asked)
{
	return asked->threads && *asked->threads;
}

/* NULL: there is none. */
static const struct next_row *question_of(const struct next_subject *subject)
{
	for (size_t i = 0; i < array_length(questions); i++) {
		const struct next_row *row = &questions[i];

		if (row->reasons >> subject->reason & 1 &&
		    !(row->is_of_target && !subject->has_target) &&
		    !(row->is_of_one_side && subject->is_both) &&
		    !(row->is_inspection && !subject->is_alive) &&
		    !(row->is_answered && row->is_answered(subject->asked)))
			return row;
	}
	return NULL;
}

static void print_command(FILE *out, const struct next_subject *subject, const char *command)
{
	fprintf(out, "ctprof %s ", command);
	if (has_selection(subject->asked))
		text_print_visible(out, text_of(subject->asked->threads), 0);
	else
		fprintf(out, "-p %" PRIu32, subject->thread->tgid);
}

static const struct name *name_of_process(const struct profile *profile, uint32_t pid)
{
	for (size_t i = profile->threads.count; i-- > 0;)
		if (profile->threads.items[i].tgid == pid)
			return profile->threads.items[i].process;
	return NULL;
}

/* Print what a command with the user's selection, or with the PID of the thread's process, is
 * about: "packer (18849)". */
static void print_name(FILE *out, const struct next_subject *subject, const struct profile *profile,
		       bool is_inspection)
{
	const struct profile_asked *asked = subject->asked;
	const bool is_by_pid = !is_inspection && asked->pid_count;
	const uint32_t pid = is_by_pid ? asked->pids[0] : subject->thread->tgid;
	const struct name *name = is_by_pid ? name_of_process(profile, pid) : NULL;

	text_print_visible(out, name_text(name ? name : subject->thread->process), 0);
	if (is_by_pid && asked->pid_count > 1)
		fprintf(out, " (%" PRIu32 ") and %zu more", pid, asked->pid_count - 1);
	else if (is_by_pid || is_inspection || !has_selection(asked))
		fprintf(out, " (%" PRIu32 ")", pid);
}

static void print_question(FILE *out, const struct next_subject *subject,
			   const struct profile *profile)
{
	const struct next_row *row = question_of(subject);

	if (!row)
		return;
	fputs(row->before, out);
	print_name(out, subject, profile, row->is_inspection);
	fprintf(out, "%s ", row->after);
	if (row->is_inspection)
		fprintf(out, "ctprof %s %" PRIu32, row->command, subject->thread->tgid);
	else
		print_command(out, subject, row->command);
	fprintf(out, "%s\n", row->options);
}

static void print_picture(FILE *out, const struct next_subject *subject)
{
	const char *command =
		subject->is_both || subject->reason == REASON_ON_CPU ? "profile" : "offcpu";
	const char *states = subject->asked->states;

	fputs("As a picture: ", out);
	print_command(out, subject, command);
	fputs(" -d 10s", out);
	if (states && *states) {
		fputc(' ', out);
		text_print_visible(out, text_of(states), 0);
	}
	fprintf(out, "%s -o %s.svg\n", subject->is_both ? " --mode both" : "", command);
}

static bool is_of_both(const struct profile *profile)
{
	return profile->meta.mode && !strcmp(profile->meta.mode->bytes, "both");
}

/* The thread that ran most; UINT32_MAX: none did. */
static uint32_t busiest_thread(const struct profile *profile)
{
	uint32_t busiest = UINT32_MAX;
	uint64_t most = 0;

	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];

		if (sample->class == CLASS_ON_CPU && sample->ns > most) {
			most = sample->ns;
			busiest = sample->thread;
		}
	}
	return busiest;
}

/* Does the process still run? Without privileges, kill() of another user's process fails with
 * EPERM, so it exists. */
static bool is_alive(uint32_t pid)
{
	return pid && (!kill((pid_t)pid, 0) || errno == EPERM);
}

/* Do any of the threads that the commands select still run? */
static bool has_threads(const struct next_subject *subject)
{
	const struct profile_asked *asked = subject->asked;
	bool is_any = !has_selection(asked) ? subject->is_alive : !asked->pid_count;

	for (size_t i = 0; i < asked->pid_count; i++)
		is_any |= is_alive(asked->pids[i]);
	return is_any;
}

struct error *profile_next(FILE *out, const struct profile_report *report, const char *file,
			   const struct profile_asked *asked)
{
	const struct profile *profile = report->profile;
	struct next_subject subject = { .asked = asked, .reason = REASON_ON_CPU };
	uint32_t number;
	struct error *err;

	if (!profile->samples.count || report->flame->is_events)
		return NULL;
	if (file) {
		print_picture_of_file(out, file);
		return NULL;
	}
	err = waits_heaviest(report, &number, &subject.reason);
	if (!err && number == UINT32_MAX)
		number = busiest_thread(profile);
	if (err || number == UINT32_MAX)
		return err;
	subject.thread = &profile->threads.items[number];
	subject.is_both = is_of_both(profile);
	subject.has_target = has_selection(asked) || quota_report_has_any(report);
	subject.is_alive = is_alive(subject.thread->tgid);
	fputc('\n', out);
	if (has_threads(&subject)) {
		print_question(out, &subject, profile);
		print_picture(out, &subject);
	} else {
		fprintf(out, "As a picture: add -o %s.svg\n",
			subject.is_both || subject.reason == REASON_ON_CPU ? "profile" : "offcpu");
	}
	return NULL;
}
