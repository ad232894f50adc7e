/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/top_inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "metric/derived.h"
#include "metric/section.h"
#include "report/cell.h"
#include "report/table.h"
#include "state/wait.h"

/* --- from /proc --- */

/* The line of a small file of the thread; "" when it cannot be read. */
static void read_line(const struct state_thread *thread, const char *file, char *ret, size_t room)
{
	char path[64];
	_cleanup_close_ int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", thread->tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, ret, room - 1);
	ret[got > 0 ? got : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	text_make_safe(ret);
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

static void print_now(FILE *out, const struct state_thread *thread)
{
	char wchan[128], call[256];
	const char *name = wait_syscall_name(thread->syscall);

	read_line(thread, "wchan", wchan, sizeof(wchan));
	read_line(thread, "syscall", call, sizeof(call));
	if (thread->state >= STATE_COUNT)
		fputs("state          -\n", out);
	else
		print_state(out, thread);
	if (name)
		fprintf(out, "system call    %s", name);
	else
		fputs("system call    -", out);
	fprintf(out, "%s%s\n", *call ? "  " : "", call);
	fprintf(out, "wait channel   %s\n", *wchan && strcmp(wchan, "0") != 0 ? wchan : "-");
}

/* Of the whole process, as of now; of a thread of the kernel nothing. */
static void print_memory(FILE *out, const struct state_thread *thread)
{
	static const char *const keys[] = { "VmRSS:", "RssAnon:", "RssFile:", "RssShmem:",
					    "VmSwap:" };
	_cleanup_free_ char *line = NULL;
	char path[64], text[UNITS_TEXT_MAX];
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", thread->tid);
	file = fopen(path, "re");
	fputs("memory        ", out);
	while (file && getline(&line, &room, file) > 0)
		for (size_t i = 0; i < array_length(keys); i++) {
			const size_t length = strlen(keys[i]);

			if (strncmp(line, keys[i], length) == 0)
				fprintf(out, " %.*s %s", (int)length - 1, keys[i],
					units_format(text, UNIT_BYTES,
						     (__int128)strtoull(line + length, NULL, 10) *
							     1024));
		}
	fputc('\n', out);
	if (file)
		fclose(file);
}

/* --- taskstats: what the struct itself says of itself --- */

static void print_version(struct top_inspector *inspector, FILE *out, uint32_t tid)
{
	struct taskstats_reply reply = { .failed = ENOSYS };

	if (!inspector->has_looked_for_taskstats)
		error_destroy(taskstats_socket_open(&inspector->taskstats));
	inspector->has_looked_for_taskstats = true;
	if (inspector->taskstats)
		taskstats_ask(inspector->taskstats, &tid, 1, &reply);
	if (reply.failed)
		fprintf(out, "taskstats      - (%s)\n", strerror(reply.failed));
	else
		fprintf(out, "taskstats      ABI version %u\n", reply.stats.version);
}

/* --- everything that is counted --- */

static void print_value(FILE *out, const struct metric *metric, const struct ctprof_thread *t)
{
	const struct thread_values *values = &t->record.values;
	char text[CELL_MAX];

	switch (metric->kind) {
	case KIND_SET:
		fputs(cell_cpus(text, sizeof(text), metric_load_name(values, metric)), out);
		break;
	case KIND_CATEGORY:
		if (metric->type == VALUE_label)
			fputs(metric_load_name(values, metric)->bytes, out);
		else if (metric->type == VALUE_flag)
			fputs(metric_load_i64(values, metric) ? "true" : "false", out);
		else
			fputc((int)metric_load_i64(values, metric), out);
		break;
	case KIND_ORDINAL:
		fprintf(out, "%" PRId64, metric_load_i64(values, metric));
		break;
	default:
		fputs(units_format(text, metric->unit, (__int128)metric_load_u64(values, metric)),
		      out);
	}
	fputc('\n', out);
}

static void print_counters(FILE *out, const struct ctprof_thread *t)
{
	enum section section = SECTION_COUNT;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!metric_set_has(&t->record.measured, (enum metric_id)i))
			continue;
		if (metrics[i].section != section) {
			section = metrics[i].section;
			fprintf(out, "\n## %s\n", section_infos[section].name);
		}
		fprintf(out, "%-28s ", metrics[i].name);
		print_value(out, &metrics[i], t);
	}
}

static bool is_measured(const struct ctprof_thread *t, const struct metric *metric)
{
	return metric_set_has(&t->record.measured, (enum metric_id)(metric - metrics));
}

/* What a count and a total make together. */
static void print_averages(FILE *out, const struct ctprof_thread *t)
{
	char text[UNITS_TEXT_MAX];

	fputs("\n## averages\n", out);
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *d = &derived_metrics[i];
		uint64_t sum, count;

		if (d->form != DERIVED_QUOTIENT || !is_measured(t, d->a) || !is_measured(t, d->b))
			continue;
		sum = metric_load_u64(&t->record.values, d->a);
		count = metric_load_u64(&t->record.values, d->b);
		if (count)
			fprintf(out, "%-28s %s\n", d->name,
				units_format(text, d->unit, (__int128)(sum / count)));
	}
}

static struct error *capture(struct top_inspector *inspector, uint32_t tid,
			     struct ctprof_snapshot **ret)
{
	struct error *err;

	inspector->tid = tid;
	if (inspector->capturer)
		return capturer_take(inspector->capturer, ret);
	inspector->options = (struct capture_options){
		.without = 1u << CAPTURE_PART_SMAPS | 1u << CAPTURE_PART_EXE |
			   1u << CAPTURE_PART_CMDLINE | 1u << CAPTURE_PART_CGROUPS |
			   1u << CAPTURE_PART_COUNTERS | 1u << CAPTURE_PART_HEAP,
		.pids = &inspector->tid,
		.pid_count = 1,
		.may_be_gone = true,
	};
	err = capturer_open(&inspector->options, &inspector->capturer);
	return err ? err : capturer_take(inspector->capturer, ret);
}

static struct error *print_captured(struct top_inspector *inspector, FILE *out,
				    const struct state_thread *thread)
{
	struct ctprof_snapshot *snapshot;
	struct error *err = capture(inspector, thread->tid, &snapshot);
	bool is_there = false;

	if (err)
		return err;
	for (size_t i = 0; i < snapshot->threads.count && !is_there; i++) {
		is_there = snapshot->threads.items[i]->tid == thread->tid;
		if (is_there) {
			print_counters(out, snapshot->threads.items[i]);
			print_averages(out, snapshot->threads.items[i]);
		}
	}
	if (!is_there)
		fputs("\nit has ended\n", out);
	snapshot_destroy(snapshot);
	return NULL;
}

/* --- all of it --- */

static void watch_it(struct top_inspector *inspector, const struct state_thread *thread)
{
	if (inspector->watch && inspector->id == thread->id)
		return;
	thread_watch_stop(inspector->watch);
	inspector->watch = thread_watch_start(thread->tid);
	inspector->id = thread->id;
}

struct error *top_inspect(struct top_inspector *inspector, const struct state_thread *thread,
			  FILE *out)
{
	_cleanup_free_ char *name = text_visible(name_text(thread->name));
	_cleanup_free_ char *process = text_visible(name_text(thread->process));
	_cleanup_free_ char *cgroup =
		thread->cgroup ? text_visible(name_text(thread->cgroup)) : NULL;

	if (!name || !process)
		return &error_no_memory;
	fprintf(out, "thread         %" PRIu32 " %s, of process %" PRIu32 " %s\n", thread->tid,
		name, thread->tgid, process);
	fprintf(out, "cgroup         %s\n", cgroup ? cgroup : "-");
	print_now(out, thread);
	print_memory(out, thread);
	print_version(inspector, out, thread->tid);
	watch_it(inspector, thread);
	if (inspector->watch)
		thread_watch_print(inspector->watch, out);
	return print_captured(inspector, out, thread);
}

void top_inspector_deinit(struct top_inspector *inspector)
{
	thread_watch_stop(inspector->watch);
	thread_watches_wait();
	taskstats_socket_close(inspector->taskstats);
	capturer_close(inspector->capturer);
	*inspector = (struct top_inspector){ 0 };
}
