/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_next.h"

#include <inttypes.h>
#include <signal.h>

#include "report/profile_text.h"

/* The next question about a process, by the class of most of its time, and the command with its
 * number. */
static const struct next_row {
	unsigned classes;
	const char *question, *command, *options;
} questions[] = {
	{ FLAME_ON_CPU, "Where does it wait?", "offcpu", "" },
	{ 1u << CLASS_RUNNABLE, "Which threads ran instead?", "offcpu",
	  " --state runnable --preempted-by" },
	{ FLAME_OFF_CPU, "Which threads end its waits?", "offcpu", " --wakers" },
};

/* Where a word of a command needs no quotes. */
static bool is_plain(const char *word)
{
	return *word && *word != '-' &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_-+=:,./@%")];
}

static void print_picture_of_file(FILE *out, const char *file)
{
	if (is_plain(file))
		fprintf(out, "\nAs a picture: ctprof flame %s -o flame.svg\n", file);
}

static void print_questions(FILE *out, const struct profile_thread *thread, unsigned class)
{
	const char *command = class == CLASS_ON_CPU ? "profile" : "offcpu";
	const size_t count = sizeof(questions) / sizeof(*questions);

	fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		if (questions[i].classes >> class & 1) {
			fprintf(out, "%s ctprof %s -p %" PRIu32 " -d 10s%s\n",
				questions[i].question, questions[i].command, thread->tgid,
				questions[i].options);
			break;
		}
	fprintf(out, "As a picture: ctprof %s -p %" PRIu32 " -d 10s -o %s.svg\n", command,
		thread->tgid, command);
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
	unsigned class = CLASS_ON_CPU;
	uint32_t number;
	struct error *err;

	if (!profile->samples.count || report->flame->is_events)
		return NULL;
	if (file) {
		print_picture_of_file(out, file);
		return NULL;
	}
	err = waits_heaviest(report, &number, &class);
	if (!err && number == UINT32_MAX)
		number = busiest_thread(profile);
	if (err || number == UINT32_MAX)
		return err;
	thread = &profile->threads.items[number];
	/* It may have ended. */
	if (thread->tgid && !kill((pid_t)thread->tgid, 0))
		print_questions(out, thread, class);
	else
		fprintf(out, "\nAs a picture: add -o %s.svg\n",
			class == CLASS_ON_CPU ? "profile" : "offcpu");
	return NULL;
}
