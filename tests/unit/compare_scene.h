/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparisons of snapshots made by hand, for the tests of compare/.
 *
 *	struct comparison c;
 *
 *	comparison_begin(&c);	// a baseline and a candidate of one boot, 10 s apart, both empty
 *	build_number(live(c.before[0], 10, 10, 500, "bash"), METRIC_wchar, 5);
 *	build_number(live(c.after[0], 10, 10, 500, "bash"), METRIC_wchar, 7);
 *	comparison_run(&c);	// also again, after the view was changed
 *	expect_delta(&c, SECTION_PRIMARY, "bash", "wchar", 2);
 *	comparison_end(&c);
 */
#ifndef UNIT_COMPARE_SCENE_H
#define UNIT_COMPARE_SCENE_H

#include "compare/condition.h"
#include "compare/report.h"
#include "unit/build.h"

#define SIDE_MOST 8

/* When the first baseline was captured; each further snapshot 10 s after the one before. */
#define SCENE_UPTIME   100000u
#define SCENE_DISTANCE 1000u /* in ticks of 1/100 s */

struct comparison {
	struct ctprof_snapshot *before[SIDE_MOST], *after[SIDE_MOST];
	size_t befores, afters; /* no befores: one snapshot is shown */
	struct view view;
	struct side items[2 * SIDE_MOST];
	struct sides sides;
	struct report *report; /* NULL until run */
};

void comparison_begin(struct comparison *c);

/* Several captures of each side, baselines first, each 10 s after the one before. */
void comparison_begin_many(struct comparison *c, size_t befores, size_t afters);

void comparison_end(struct comparison *c);

/* Show the candidate alone from now on. */
void comparison_alone(struct comparison *c);

/* The baseline for the candidate and the reverse, of one capture each. */
void comparison_swap(struct comparison *c);

/* Make the report; where the snapshots are refused, say why. */
void comparison_run(struct comparison *c);
void comparison_refused(struct comparison *c, const char *message);

/* Add a condition, as --fail-if does. The text stays the caller's. */
void comparison_conditions(struct comparison *c, const char *text);

/* --- what is in snapshots --- */

/* A host of that boot, up for so many ticks; NULL: the boot is not known. */
struct host_context *build_host(struct ctprof_snapshot *s, const char *boot, uint64_t uptime);

/* A thread that began at `start` ticks: its own name is that of its process. */
struct ctprof_thread *live(struct ctprof_snapshot *s, uint32_t tgid, uint32_t tid, uint64_t start,
			   const char *name);

/* The same with its own name and cgroup. */
struct ctprof_thread *live_in(struct ctprof_snapshot *s, uint32_t tgid, uint32_t tid,
			      uint64_t start, const char *pcomm, const char *comm,
			      const char *cgroup);

/* A number of thread `tid` before and after; the thread is made where it is not there, as a process
 * of that name. */
void grow(struct comparison *c, uint32_t tid, const char *name, enum metric_id id, uint64_t before,
	  uint64_t after);

/* Good until the next one. To be added in their order: by number, by path. */
struct process *build_process(struct ctprof_snapshot *s, uint32_t tgid, uint32_t ppid, int64_t uid);
struct cgroup_counters *build_cgroup(struct ctprof_snapshot *s, const char *path);
struct counter_set *build_counters(struct ctprof_snapshot *s, enum counter_kind kind,
				   const char *name);
void build_count(struct ctprof_snapshot *s, struct counts *counts, const char *key, uint64_t value);

/* --- what is in reports --- */

/* The row of a part; NULL when there is none. `group` NULL: of a section without groups. */
const struct row *find_row(const struct comparison *c, enum section part, const char *group,
			   const char *measure);

#define row_of(c, part, group, measure) row_of_(c, part, group, measure, __FILE__, __LINE__)
#define expect_no_row(c, part, group, measure) \
	expect_no_row_(c, part, group, measure, __FILE__, __LINE__)
#define expect_delta(c, part, group, measure, delta) \
	expect_delta_(c, part, group, measure, delta, __FILE__, __LINE__)
#define expect_no_delta(c, part, group, measure) \
	expect_no_delta_(c, part, group, measure, __FILE__, __LINE__)
#define expect_whole(datum, value) expect_whole_(datum, value, __FILE__, __LINE__)
#define expect_real(value, wanted) expect_real_(value, wanted, __FILE__, __LINE__)

const struct row *row_of_(const struct comparison *c, enum section part, const char *group,
			  const char *measure, const char *file, int line);
void expect_no_row_(const struct comparison *c, enum section part, const char *group,
		    const char *measure, const char *file, int line);

/* There is an exact difference as a whole number, and this is it. */
void expect_delta_(const struct comparison *c, enum section part, const char *group,
		   const char *measure, int64_t delta, const char *file, int line);

/* There is the row, and it has none. */
void expect_no_delta_(const struct comparison *c, enum section part, const char *group,
		      const char *measure, const char *file, int line);

/* A whole number that was measured in all. */
void expect_whole_(const struct datum *datum, int64_t value, const char *file, int line);

/* Equal but for rounding. */
void expect_real_(double value, double wanted, const char *file, int line);

/* "a.run_time_ns b.wchar | c.policy": rows in their order, row_groups parted. Good until the next.
 */
const char *rows_text(const struct comparison *c, enum section part);

/* "a b": the groups of one side, in their order. Good until the next. */
const char *unmatched_text(const struct comparison *c, const struct unmatched *unmatched);

/* Show these metrics only: (.., METRIC_wchar, METRIC_COUNT + DERIVED_ID_avg_wait_ns, -1). */
void only_metrics(struct comparison *c, ...);

/* The rows of a part, as rows_text writes them. */
static inline void expect_rows(const struct comparison *c, enum section part, const char *expected)
{
	assert_string_equal(rows_text(c, part), expected);
}

#endif
