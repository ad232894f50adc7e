/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock.h"
#include "base/units.h"
#include "report/visible.h"
#include "top/inspect_source.h"
#include "top/top.h"

#define NOT_RECORDED "not recorded"

/* --- the windows before --- */

/* The time for one page: captures of ten thousand threads take a while to read. The next page reads
 * the rest. */
#define PATIENCE_NS NS_PER_S

static struct error *look_back(struct top *top, const struct screen_subject *subject)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	const size_t shown = replay_at(top->replay);
	struct top_past *past = &top->inspector.past;
	struct error *err = NULL;

	for (size_t i = 1; i < TOP_PAST_WINDOWS && i <= shown && !err; i++) {
		const struct state_window *window;

		if (top_past_knows(past, subject, shown - i))
			continue;
		if (clock_ns(CLOCK_MONOTONIC) > until)
			break;
		err = replay_window_at(top->replay, shown - i, &window);
		if (!err && !window) {
			*past = (struct top_past){ 0 };
			break;
		}
		if (!err)
			err = top_past_look(past, subject, window, shown - i);
	}
	return err;
}

/* --- a thread --- */

/* A leader has what its process has. */
static const struct ctprof_thread *recorded_leader(const struct ctprof_snapshot *s,
						   const struct state_thread *thread)
{
	for (size_t i = 0; i < s->threads.count; i++)
		if (s->threads.items[i]->tid == thread->tgid &&
		    s->threads.items[i]->host == thread->host)
			return s->threads.items[i];
	return NULL;
}

/* A line each: there may be twenty, and what is wider than the screen is never seen. */
static struct error *print_memory(const struct counts *kib, FILE *out)
{
	const char *head = "memory";

	for (size_t i = 0; kib && i < kib->count; i++) {
		_cleanup_free_ char *key = text_visible(name_text(kib->items[i].key));
		char text[UNITS_TEXT_MAX];

		if (!key)
			return &error_no_memory;
		if (!kib->items[i].value)
			continue;
		fprintf(out, "%-14s %-15s %s\n", head, key,
			units_format(text, UNIT_KIB, (__int128)kib->items[i].value));
		head = "";
	}
	/* Either all values are 0, as for kernel threads, or they were not recorded. */
	if (*head)
		fprintf(out, "%-14s %s\n", head, kib ? "-" : NOT_RECORDED);
	return NULL;
}

static struct error *print_facts(struct top *top, const struct state_thread *thread, FILE *out)
{
	const struct ctprof_snapshot *s = replay_capture(top->replay);
	const struct ctprof_thread *leader = recorded_leader(s, thread);
	struct error *err;

	fputs("system call    " NOT_RECORDED "\n"
	      "wait channel   " NOT_RECORDED "\n",
	      out);
	err = print_memory(leader ? leader->smaps_rollup_kib : NULL, out);
	if (s->capture && s->capture->taskstats_version.measured)
		fprintf(out, "taskstats      ABI version %u\n",
			(unsigned)s->capture->taskstats_version.value);
	else
		fputs("taskstats      " NOT_RECORDED "\n", out);
	return err;
}

static void print_stacks(struct top *top, const struct screen_subject *subject, FILE *out)
{
	(void)top, (void)subject;
	fputs("\n## Stacks\nnot recorded; only a live view shows stacks, wakers and preemptors\n",
	      out);
}

static void print_files(struct top *top, const struct screen_subject *subject,
			const struct inspected_row *row, FILE *out)
{
	(void)top, (void)subject, (void)row, (void)out;
}

static struct error *count_recorded(struct top *top, const struct state_thread *thread,
				    struct inspect_counters *ret)
{
	struct replay_thread found;
	struct error *err = replay_thread(top->replay, thread->id, &found);

	if (!err)
		*ret = (struct inspect_counters){ .now = found.now, .before = found.before };
	return err;
}

const struct inspect_source inspect_recorded = { look_back,   print_facts,    print_stacks,
						 print_files, count_recorded, true };
