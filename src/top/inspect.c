/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/units.h"
#include "metric/derived.h"
#include "metric/section.h"
#include "report/cell.h"
#include "report/visible.h"
#include "top/inspect_row.h"
#include "top/inspect_source.h"
#include "top/top.h"

/* --- everything that is counted --- */

/* A file may hold any text. */
static char *visible(const struct name *name, char *ret, size_t room)
{
	snprintf(ret, room, "%s", name ? name->bytes : "-");
	text_make_safe(ret);
	return ret;
}

static char *value_text(char text[CELL_MAX], const struct metric *metric,
			const struct ctprof_thread *t)
{
	const struct thread_values *values = &t->record.values;

	switch (metric->kind) {
	case KIND_SET:
		return cell_cpus(text, CELL_MAX, metric_load_name(values, metric));
	case KIND_CATEGORY:
		if (metric->type == VALUE_label)
			return visible(metric_load_name(values, metric), text, CELL_MAX);
		if (metric->type == VALUE_flag)
			snprintf(text, CELL_MAX, "%s",
				 metric_load_i64(values, metric) ? "true" : "false");
		else
			snprintf(text, CELL_MAX, "%c", (char)metric_load_i64(values, metric));
		return text;
	case KIND_ORDINAL:
		snprintf(text, CELL_MAX, "%" PRId64, metric_load_i64(values, metric));
		return text;
	default:
		return units_format(text, metric->unit, (__int128)metric_load_u64(values, metric));
	}
}

static bool is_thread_metric_measured(const struct ctprof_thread *t, const struct metric *metric)
{
	return t && metric_set_has(&t->record.measured, metric_id(metric));
}

/* The change of a metric in the window: a difference if there is one, otherwise the value before.
 */
static char *change_text(char text[CELL_MAX], const struct metric *metric,
			 const struct inspect_counters *c)
{
	char before[CELL_MAX], now[CELL_MAX];

	*text = '\0';
	if (!is_thread_metric_measured(c->before, metric))
		return text;
	if (metric->kind == KIND_CATEGORY || metric->kind == KIND_SET ||
	    metric->kind == KIND_ORDINAL) {
		if (strcmp(value_text(before, metric, c->before),
			   value_text(now, metric, c->now)) != 0)
			snprintf(text, CELL_MAX, "was %.100s", before);
		return text;
	}
	if (metric_load_u64(&c->before->record.values, metric) ==
	    metric_load_u64(&c->now->record.values, metric))
		return text;
	return units_format_delta(
		text, metric->unit,
		(__int128)metric_load_u64(&c->now->record.values, metric) -
			(__int128)metric_load_u64(&c->before->record.values, metric));
}

static void print_value_row(FILE *out, const char *name, const char *value, const char *change)
{
	if (*change)
		fprintf(out, "%-28s %-19s %s\n", name, value, change);
	else
		fprintf(out, "%-28s %s\n", name, value);
}

static void print_counters(FILE *out, const struct inspect_counters *c)
{
	enum section section = SECTION_COUNT;
	char value[CELL_MAX], change[CELL_MAX];

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!is_thread_metric_measured(c->now, &metrics[i]))
			continue;
		if (metrics[i].section != section) {
			section = metrics[i].section;
			fprintf(out, "\n## %s%s\n", section_infos[section].name,
				c->before ? ", and its change in the window" : "");
		}
		print_value_row(out, metrics[i].name, value_text(value, &metrics[i], c->now),
				change_text(change, &metrics[i], c));
	}
}

/* "1.234µs" of each event, as far as there were any. */
static char *average_text(char text[CELL_MAX], const struct derived *d, uint64_t sum,
			  uint64_t count)
{
	*text = '\0';
	return count ? units_format(text, d->unit, (__int128)(sum / count)) : text;
}

static uint64_t gain(const struct inspect_counters *c, const struct metric *metric)
{
	const uint64_t now = metric_load_u64(&c->now->record.values, metric),
		       before = metric_load_u64(&c->before->record.values, metric);

	return now > before ? now - before : 0;
}

/* Print averages, each of a total and a count; also of the window alone. */
static void print_averages(FILE *out, const struct inspect_counters *c)
{
	char life[CELL_MAX], window[CELL_MAX];
	bool has_head = false;

	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *d = &derived_metrics[i];

		if (d->form != DERIVED_QUOTIENT || !is_thread_metric_measured(c->now, d->a) ||
		    !is_thread_metric_measured(c->now, d->b))
			continue;
		average_text(life, d, metric_load_u64(&c->now->record.values, d->a),
			     metric_load_u64(&c->now->record.values, d->b));
		*window = '\0';
		if (is_thread_metric_measured(c->before, d->a) &&
		    is_thread_metric_measured(c->before, d->b))
			average_text(window, d, gain(c, d->a), gain(c, d->b));
		if (!*life)
			continue;
		if (!has_head)
			fprintf(out, "\n## averages%s\n",
				c->before ? ", and their change in the window" : "");
		has_head = true;
		print_value_row(out, d->name, life, window);
	}
}

static struct error *print_counted(struct top *top, const struct inspect_source *source,
				   const struct state_thread *thread, FILE *out)
{
	struct inspect_counters counters = { 0 };
	struct error *err = source->count(top, thread, &counters);

	if (err)
		return err;
	if (counters.now) {
		print_counters(out, &counters);
		print_averages(out, &counters);
	} else {
		fputs("\nthe thread has ended\n", out);
	}
	snapshot_destroy(counters.owned);
	return NULL;
}

/* --- a group --- */

#define THREADS_MOST 40

static struct error *print_members(struct top *top, const struct inspected_row *row, FILE *out)
{
	const size_t shown = row->count < THREADS_MOST ? row->count : THREADS_MOST;
	struct error *err;

	fputs("\n## Threads, in percent of this window\n", out);
	err = top_threads_print(&top->window, row->members, shown, out);
	if (!err && shown < row->count)
		fprintf(out, "... %zu more\n", row->count - shown);
	return err;
}

/* Add what the thread gained in the window; for one that began in it, its whole value. */
static void add_gains(const struct inspect_counters *c, bool is_new, uint64_t sums[METRIC_COUNT])
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *metric = &metrics[i];

		if (metric->kind != KIND_TOTAL || !is_thread_metric_measured(c->now, metric))
			continue;
		if (is_thread_metric_measured(c->before, metric))
			sums[i] += gain(c, metric);
		else if (!c->before && is_new)
			sums[i] += metric_load_u64(&c->now->record.values, metric);
	}
}

static struct error *print_gains(struct top *top, const struct inspect_source *source,
				 const struct inspected_row *row, FILE *out)
{
	const uint64_t length = top->window.ended_ns - top->window.begun_ns;
	uint64_t sums[METRIC_COUNT] = { 0 };
	char text[CELL_MAX];

	for (size_t i = 0; i < row->count; i++) {
		const struct state_line *line = &row->members[i];
		struct inspect_counters counters = { 0 };
		struct error *err = source->count(top, line->thread, &counters);

		if (err)
			return err;
		add_gains(&counters, line->window_ns < length, sums);
		snapshot_destroy(counters.owned);
	}
	fputs("\n## Counters of all threads, in this window\n", out);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (sums[i])
			print_value_row(
				out, metrics[i].name,
				units_format_delta(text, metrics[i].unit, (__int128)sums[i]), "");
	return NULL;
}

/* --- all of it --- */

/* Print how it ended, if the engine knows. */
static void print_end(FILE *out, const struct state_thread *thread)
{
	const int code = (int)thread->exit_code;
	const char *name = sigabbrev_np(WTERMSIG(code));

	fputs("state          ended", out);
	if (thread->has_exit_code && WIFSIGNALED(code) && name)
		fprintf(out, ": killed by SIG%s (%d)", name, WTERMSIG(code));
	else if (thread->has_exit_code && WIFSIGNALED(code))
		fprintf(out, ": killed by signal %d", WTERMSIG(code));
	else if (thread->has_exit_code)
		fprintf(out, ", exit code %d", WEXITSTATUS(code));
	fputc('\n', out);
}

static void print_state(FILE *out, const struct state_thread *thread)
{
	char text[UNITS_TEXT_MAX];

	fprintf(out, "state          %s", state_rows[thread->state].name);
	if (thread->since_ns && thread->seen_ns > thread->since_ns)
		fprintf(out, " for %s",
			units_format(text, UNIT_NS,
				     (__int128)(thread->seen_ns - thread->since_ns)));
	fprintf(out, ": %s\n", state_rows[thread->state].prose);
}

/* Print the identity of the thread and its state. */
static struct error *print_who(FILE *out, const struct state_hosts *hosts,
			       const struct state_thread *thread)
{
	_cleanup_free_ char *host = text_visible(name_text(state_host_name(hosts, thread)));
	_cleanup_free_ char *name = text_visible(name_text(thread->name));
	_cleanup_free_ char *process = text_visible(name_text(thread->process));
	_cleanup_free_ char *cgroup =
		thread->cgroup ? text_visible(name_text(thread->cgroup)) : NULL;

	if (!host || !name || !process)
		return &error_no_memory;
	if (state_hosts_differ(hosts))
		fprintf(out, "host           %s\n", host);
	fprintf(out, "thread         %" PRIu32 " %s, of process %" PRIu32 " %s\n", thread->tid,
		name, thread->tgid, process);
	fprintf(out, "cgroup         %s\n", cgroup ? cgroup : "-");
	if (thread->has_ended)
		print_end(out, thread);
	else if (thread->state >= STATE_COUNT)
		fputs("state          -\n", out);
	else
		print_state(out, thread);
	return NULL;
}

static struct error *print_past(struct top *top, const struct inspect_source *source,
				const struct screen_subject *subject, FILE *out)
{
	const size_t number = top_window_number(top);
	struct top_past *past = &top->inspector.past;
	struct error *err = top_past_look(past, subject, &top->window, number);

	if (!err)
		err = source->look_back(top, subject);
	fputs("\n## Windows, in percent\n", out);
	return err ? err : top_past_print(past, number, top->replay, out);
}

/* --- the answer --- */

/* Words up to a width; what continues a line is indented. */
static void print_wrapped(FILE *out, const char *text, size_t width)
{
	struct text rest = text_of(text), word;
	size_t used = 0;

	while (text_word(&rest, &word)) {
		if (used && width && used + 1 + word.length > width) {
			fputs("\n ", out);
			used = 1;
		}
		fprintf(out, "%s%.*s", used ? " " : "", (int)word.length, word.bytes);
		used += (used ? 1 : 0) + word.length;
	}
	fputs("\n", out);
}

static struct error *print_answer(struct top *top, const struct screen_subject *subject,
				  const struct inspected_row *row, size_t width, FILE *out)
{
	struct wait_answer answer;
	struct error *err;

	if (!row->is_there) {
		/* The thread may be gone, or the filter may exclude the whole group now. */
		if (subject->grouping != STATE_BY_THREAD && !subject->thread.has_ended)
			fputs("no thread of it matches the filter in this window\n", out);
		return NULL;
	}
	err = inspected_row_answer(top, row, &answer);
	if (err)
		return err;
	print_wrapped(out, answer.sentence, width);
	wait_answer_deinit(&answer);
	return NULL;
}

/* --- the page --- */

/* A thread: who it is, its states, its stacks, then the rest. */
static struct error *print_thread_page(struct top *top, const struct inspect_source *source,
				       const struct screen_subject *subject,
				       const struct inspected_row *row, FILE *out)
{
	const struct state_thread *thread = &subject->thread;
	struct error *err;

	fputc('\n', out);
	err = print_who(out, &top->window.hosts, thread);
	if (!err)
		err = print_past(top, source, subject, out);
	if (err)
		return err;
	source->print_stacks(top, subject, out);
	source->print_files(top, subject, row, out);
	fputs("\n## Now\n", out);
	err = source->print_facts(top, thread, out);
	return err ? err : print_counted(top, source, thread, out);
}

/* A group: the same of all its threads, then the one that stands for them. */
static struct error *print_group_page(struct top *top, const struct inspect_source *source,
				      const struct screen_subject *subject,
				      const struct inspected_row *row, FILE *out)
{
	const struct state_thread *thread = &subject->thread;
	struct error *err = print_past(top, source, subject, out);

	if (!err && row->is_there)
		err = print_members(top, row, out);
	if (err)
		return err;
	source->print_stacks(top, subject, out);
	source->print_files(top, subject, row, out);
	if (row->is_there && source->has_all)
		err = print_gains(top, source, row, out);
	if (err)
		return err;
	fputs("\n## Representative thread\n", out);
	err = print_who(out, &top->window.hosts, thread);
	if (!err)
		err = source->print_facts(top, thread, out);
	return err ? err : print_counted(top, source, thread, out);
}

struct error *top_inspect(struct top *top, const struct screen_subject *subject, size_t width,
			  FILE *out)
{
	const struct inspect_source *source = top->replay ? &inspect_recorded : &inspect_live;
	struct inspected_row row;
	struct error *err = inspected_row_find(top, subject, &row);

	if (!err)
		err = print_answer(top, subject, &row, width, out);
	if (err)
		return err;
	return subject->grouping == STATE_BY_THREAD
		       ? print_thread_page(top, source, subject, &row, out)
		       : print_group_page(top, source, subject, &row, out);
}

void top_inspector_rest(struct top_inspector *inspector)
{
	thread_watch_stop(inspector->watch);
	inspector->watch = NULL;
	/* The next row's first window begins later. */
	inspector->loads.count = 0;
}

void top_inspector_deinit(struct top_inspector *inspector)
{
	top_inspector_rest(inspector);
	thread_watches_wait();
	taskstats_socket_close(inspector->taskstats);
	capturer_close(inspector->capturer);
	array_deinit(&inspector->members);
	cpu_loads_deinit(&inspector->loads);
	*inspector = (struct top_inspector){ 0 };
}
