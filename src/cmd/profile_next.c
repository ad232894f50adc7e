/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_next.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/text.h"
#include "report/profile_text.h"
#include "report/visible.h"

/* The next question about a process, by the reason of most of its time, and the command with its
 * number: the first row that has the reason. */
static const struct next_row {
	unsigned reasons; /* a bit each */
	const char *question, *command, *options;
} questions[] = {
	{ 1u << REASON_ON_CPU, "Where does it wait?", "offcpu", "" },
	{ 1u << REASON_CPU_WAIT, "Which threads ran instead?", "offcpu",
	  " --state cpu-wait --preempted-by" },
	{ 1u << REASON_LOCK | 1u << REASON_PIPE | 1u << REASON_COND, "Which threads end its waits?",
	  "offcpu", " --wakers" },
	{ ~0u, "What do its threads do meanwhile?", "profile", " --mode both" },
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

/* A profile of both answers what its threads do meanwhile. */
static const struct next_row *question_of(enum reason reason, bool is_both)
{
	const struct next_row *next = questions;

	while (!(next->reasons >> reason & 1))
		next++;
	return is_both && next->reasons == ~0u ? NULL : next;
}

static void print_questions(FILE *out, const struct profile_thread *thread, enum reason reason,
			    bool is_both)
{
	const char *command = is_both || reason == REASON_ON_CPU ? "profile" : "offcpu";
	const struct next_row *next = question_of(reason, is_both);

	fputc('\n', out);
	if (next)
		fprintf(out, "%s ctprof %s -p %" PRIu32 " -d 10s%s\n", next->question,
			next->command, thread->tgid, next->options);
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
	/* It may have ended. */
	if (thread->tgid && !kill((pid_t)thread->tgid, 0))
		print_questions(out, thread, reason, is_of_both(profile));
	else
		fprintf(out, "\nAs a picture: add -o %s.svg\n",
			is_of_both(profile) || reason == REASON_ON_CPU ? "profile" : "offcpu");
	return NULL;
}
