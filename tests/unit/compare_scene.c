/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/compare_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_DAY 1700000000000000000u /* ns since 1970, of the moment of boot */

/* --- comparisons --- */

static struct ctprof_snapshot *nth_capture(size_t n)
{
	struct ctprof_snapshot *s = build_snapshot();
	uint64_t uptime = SCENE_UPTIME + n * SCENE_DISTANCE;

	build_host(s, "boot", uptime);
	s->captured_at_unix_ns = reading_of(SCENE_DAY + uptime * NS_PER_TICK);
	return s;
}

void comparison_begin_many(struct comparison *c, size_t befores, size_t afters)
{
	assert_true(befores <= SIDE_MOST && afters <= SIDE_MOST);
	*c = (struct comparison){ .befores = befores, .afters = afters };
	for (size_t i = 0; i < befores; i++)
		c->before[i] = nth_capture(i);
	for (size_t i = 0; i < afters; i++)
		c->after[i] = nth_capture(befores + i);
	view_init(&c->view);
}

void comparison_begin(struct comparison *c)
{
	comparison_begin_many(c, 1, 1);
}

static void clear_report(struct comparison *c)
{
	if (!c->report)
		return;
	report_destroy(c->report);
	c->report = NULL;
	sides_deinit(&c->sides);
}

void comparison_alone(struct comparison *c)
{
	clear_report(c);
	for (size_t i = 0; i < c->befores; i++)
		snapshot_destroy(c->before[i]);
	c->befores = 0;
}

void comparison_swap(struct comparison *c)
{
	struct ctprof_snapshot *s = c->before[0];

	assert_true(c->befores == 1 && c->afters == 1);
	clear_report(c);
	c->before[0] = c->after[0];
	c->after[0] = s;
}

static struct error *make_sides(struct comparison *c)
{
	size_t count = 0;

	clear_report(c);
	for (size_t i = 0; i < c->befores; i++)
		c->items[count++] = (struct side){ c->before[i], "before" };
	for (size_t i = 0; i < c->afters; i++)
		c->items[count++] = (struct side){ c->after[i], "after" };
	return sides_init(&c->sides, &c->view, c->items, c->befores, count);
}

void comparison_run(struct comparison *c)
{
	expect_ok(make_sides(c));
	expect_ok(report_create(&c->sides, &c->report));
}

void comparison_refused(struct comparison *c, const char *message)
{
	struct error *err = make_sides(c);

	if (!err) {
		err = report_create(&c->sides, &c->report);
		if (err)
			sides_deinit(&c->sides);
	}
	expect_error(err, message);
}

void comparison_end(struct comparison *c)
{
	clear_report(c);
	for (size_t i = 0; i < c->befores; i++)
		snapshot_destroy(c->before[i]);
	for (size_t i = 0; i < c->afters; i++)
		snapshot_destroy(c->after[i]);
	view_deinit(&c->view);
}

static struct error *find_metric(const char *name, unsigned *ret)
{
	const struct metric *metric = metric_find(text_of(name));

	for (unsigned i = 0; i < DERIVED_COUNT; i++) {
		if (strcmp(derived_metrics[i].name, name) == 0) {
			*ret = METRIC_COUNT + i;
			return NULL;
		}
	}
	if (!metric)
		return error_create("no metric '%s'", name);
	*ret = metric_id(metric);
	return NULL;
}

void comparison_conditions(struct comparison *c, const char *text)
{
	struct condition condition;

	expect_ok(condition_parse(text, find_metric, &condition));
	assert_true(array_push(&c->view.conditions, condition));
}

void only_metrics(struct comparison *c, ...)
{
	va_list args;
	int number;

	c->view.metrics = (struct selection){ 0 };
	va_start(args, c);
	while ((number = va_arg(args, int)) >= 0) {
		if (number < METRIC_COUNT)
			metric_set_add(&c->view.metrics.metrics, (enum metric_id)number);
		else
			c->view.metrics.derived |= 1u << (number - METRIC_COUNT);
	}
	va_end(args);
}

/* --- snapshots --- */

struct host_context *build_host(struct ctprof_snapshot *s, const char *boot, uint64_t uptime)
{
	s->host = arena_alloc(&s->arena, sizeof(*s->host));
	assert_non_null(s->host);
	*s->host = (struct host_context){ .uptime_clock_ticks = reading_of(uptime) };
	if (boot)
		s->host->boot_id = snapshot_name(s, text_of(boot));
	return s->host;
}

struct ctprof_thread *live_in(struct ctprof_snapshot *s, uint32_t tgid, uint32_t tid,
			      uint64_t start, const char *pcomm, const char *comm,
			      const char *cgroup)
{
	struct ctprof_thread *thread = build_thread(s, tgid, tid, pcomm, comm, cgroup);

	thread->start_time_clock_ticks = reading_of(start);
	return thread;
}

struct ctprof_thread *live(struct ctprof_snapshot *s, uint32_t tgid, uint32_t tid, uint64_t start,
			   const char *name)
{
	return live_in(s, tgid, tid, start, name, name, "/");
}

void grow(struct comparison *c, uint32_t tid, const char *name, enum metric_id id, uint64_t before,
	  uint64_t after)
{
	for (size_t side = 0; side < 2; side++) {
		struct ctprof_snapshot *s = side ? c->after[0] : c->before[0];
		struct ctprof_thread *thread = NULL;

		for (size_t i = 0; i < s->threads.count; i++)
			if (snapshot_thread(s, i)->tid == tid)
				thread = snapshot_thread(s, i);
		if (!thread)
			thread = live(s, tid, tid, 10, name);
		build_number(thread, id, side ? after : before);
	}
}

struct process *build_process(struct ctprof_snapshot *s, uint32_t tgid, uint32_t ppid, int64_t uid)
{
	struct process process = { .tgid = tgid, .ppid = reading_of(ppid) };

	if (uid >= 0)
		process.uid = reading_of((uint64_t)uid);
	assert_true(array_push(&s->processes, process));
	return &s->processes.items[s->processes.count - 1];
}

struct cgroup_counters *build_cgroup(struct ctprof_snapshot *s, const char *path)
{
	struct cgroup_counters cgroup = { .path = snapshot_name(s, text_of(path)) };

	assert_true(array_push(&s->cgroups, cgroup));
	return &s->cgroups.items[s->cgroups.count - 1];
}

struct counter_set *build_counters(struct ctprof_snapshot *s, enum counter_kind kind,
				   const char *name)
{
	struct counter_set *set = snapshot_add_counters(s, kind, text_of(name));

	assert_non_null(set);
	return set;
}

void build_count(struct ctprof_snapshot *s, struct counts *counts, const char *key, uint64_t value)
{
	assert_true(counts_add(s, counts, text_of(key), value));
	counts->measured = true;
}

/* --- reports --- */

static bool is_named(const struct name *name, const char *wanted)
{
	return wanted ? name && strcmp(name->bytes, wanted) == 0 : !name;
}

const struct row *find_row(const struct comparison *c, enum section part, const char *group,
			   const char *measure)
{
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
		const struct row_group *rows = &c->report->sections[part].row_groups[b];

		for (size_t i = 0; i < rows->count; i++)
			if (is_named(rows->items[i].group, group) &&
			    strcmp(rows->items[i].measure->name, measure) == 0)
				return &rows->items[i];
	}
	return NULL;
}

const struct row *row_of_(const struct comparison *c, enum section part, const char *group,
			  const char *measure, const char *file, int line)
{
	const struct row *row = find_row(c, part, group, measure);

	if (!row) {
		print_error("no row %s of '%s'; there are: %s\n", measure, group ? group : "",
			    rows_text(c, part));
		_fail(file, line);
	}
	return row;
}

void expect_no_row_(const struct comparison *c, enum section part, const char *group,
		    const char *measure, const char *file, int line)
{
	if (!find_row(c, part, group, measure))
		return;
	print_error("there is a row %s of '%s'\n", measure, group ? group : "");
	_fail(file, line);
}

void expect_delta_(const struct comparison *c, enum section part, const char *group,
		   const char *measure, int64_t delta, const char *file, int line)
{
	const struct row *row = row_of_(c, part, group, measure, file, line);
	const struct datum_change *change = &row->change;

	if (change->has_delta && !change->real && change->twice == (__int128)delta * 2 &&
	    change->delta == (double)delta)
		return;
	print_error("%s of '%s': %s %f is not %lld\n", measure, group ? group : "",
		    change->has_delta ? "delta" : "no delta,", change->delta, (long long)delta);
	_fail(file, line);
}

void expect_no_delta_(const struct comparison *c, enum section part, const char *group,
		      const char *measure, const char *file, int line)
{
	const struct row *row = row_of_(c, part, group, measure, file, line);

	if (!row->change.has_delta && !row->change.has_share)
		return;
	print_error("%s of '%s' has a delta of %f\n", measure, group ? group : "",
		    row->change.delta);
	_fail(file, line);
}

void expect_whole_(const struct datum *datum, int64_t value, const char *file, int line)
{
	if (datum->kind == DATUM_NUMBER && datum->number == value && !datum->partial)
		return;
	print_error("kind %d, %lld%s is not the number %lld\n", datum->kind,
		    (long long)datum->number, datum->partial ? " (partial)" : "", (long long)value);
	_fail(file, line);
}

void expect_real_(double value, double wanted, const char *file, int line)
{
	if (fabs(value - wanted) <= 1e-9 * fabs(wanted))
		return;
	print_error("%.17g is not %.17g\n", value, wanted);
	_fail(file, line);
}

#define TEXT_ROOM 8192

const char *rows_text(const struct comparison *c, enum section part)
{
	static char text[TEXT_ROOM];
	size_t used = 0;

	text[0] = '\0';
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
		const struct row_group *group = &c->report->sections[part].row_groups[b];

		for (size_t i = 0; i < group->count && used < sizeof(text) - 256; i++) {
			const struct row *row = &group->items[i];
			const char *gap = !used ? "" : !i ? " | " : " ";

			used += (size_t)snprintf(text + used, 256, "%s%.100s%s%.100s", gap,
						 row->group ? row->group->bytes : "",
						 row->group ? "." : "", row->measure->name);
		}
	}
	return text;
}

const char *unmatched_text(const struct comparison *c, const struct unmatched *unmatched)
{
	static char text[TEXT_ROOM];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < unmatched->count && used < sizeof(text) - 256; i++)
		used += (size_t)snprintf(text + used, 256, "%s%.200s", used ? " " : "",
					 c->sides.keys.items[unmatched->items[i].key].label->bytes);
	return text;
}
