/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_next.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/text.h"
#include "report/profile_text.h"
#include "report/visible.h"

/* The next question about a process, by the reason of most of its time, and the command with its
 * number between `command` and `options`: the first row that has the reason. */
static const struct next_row {
	unsigned reasons;    /* a bit each */
	bool is_of_target;   /* only if the profile is of a process that was named */
	bool is_of_one_side; /* not if the profile has both time on and off the CPU */
	const char *question, *command, *options;
} questions[] = {
	{ 1u << REASON_ON_CPU, false, false, "Where does it wait?", "offcpu -p", " -d 10s" },
	/* The inspector knows quotas. */
	{ 1u << REASON_CPU_WAIT, true, false, "Does a quota or another thread keep it from a CPU?",
	  "top --inspect", "" },
	{ 1u << REASON_CPU_WAIT, false, false, "Which threads ran instead?", "offcpu -p",
	  " -d 10s --state cpu-wait --preempted-by" },
	{ 1u << REASON_LOCK | 1u << REASON_NETWORK | 1u << REASON_PIPE | 1u << REASON_CHILD |
		  1u << REASON_POLL | 1u << REASON_COND,
	  true, false, "What does it wait for now, and on whom?", "top --inspect", "" },
	{ 1u << REASON_LOCK | 1u << REASON_PIPE | 1u << REASON_COND, false, false,
	  "Which threads end its waits?", "offcpu -p", " -d 10s --wakers" },
	/* A profile of both answers that. */
	{ ~0u, false, true, "What do its threads do meanwhile?", "profile -p",
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

/* NULL: there is none. */
static const struct next_row *question_of(enum reason reason, bool is_both, bool has_target)
{
	for (size_t i = 0; i < array_length(questions); i++)
		if (questions[i].reasons >> reason & 1 &&
		    !(questions[i].is_of_target && !has_target) &&
		    !(questions[i].is_of_one_side && is_both))
			return &questions[i];
	return NULL;
}

static void print_questions(FILE *out, const struct profile_thread *thread, enum reason reason,
			    bool is_both, bool has_target)
{
	const char *command = is_both || reason == REASON_ON_CPU ? "profile" : "offcpu";
	const struct next_row *next = question_of(reason, is_both, has_target);

	fputc('\n', out);
	if (next)
		fprintf(out, "%s ctprof %s %" PRIu32 "%s\n", next->question, next->command,
			thread->tgid, next->options);
	fprintf(out, "As a picture: ctprof %s -p %" PRIu32 " -d 10s%s -o %s.svg\n", command,
		thread->tgid, is_both ? " --mode both" : "", command);
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

struct error *profile_next(FILE *out, const struct profile_report *report, const char *file)
{
	const struct profile *profile = report->profile;
	const struct profile_thread *thread;
	enum reason reason = REASON_ON_CPU;
	uint32_t number;
	struct error *err;

	if (!profile->samples.count || report->flame->is_events)
		return NULL;
	if (file) {
		print_picture_of_file(out, file);
		return NULL;
	}
	err = waits_heaviest(report, &number, &reason);
	if (!err && number == UINT32_MAX)
		number = busiest_thread(profile);
	if (err || number == UINT32_MAX)
		return err;
	thread = &profile->threads.items[number];
	/* It may have ended. We may signal no others' processes, having dropped privileges. */
	if (thread->tgid && (!kill((pid_t)thread->tgid, 0) || errno == EPERM))
		print_questions(out, thread, reason, is_of_both(profile),
				profile->meta.target || quota_report_has_any(report));
	else
		fprintf(out, "\nAs a picture: add -o %s.svg\n",
			is_of_both(profile) || reason == REASON_ON_CPU ? "profile" : "offcpu");
	return NULL;
}
