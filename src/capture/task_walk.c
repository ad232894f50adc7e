/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every thread by the BPF task iterator; and of /proc what that cannot give.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/session.h"
#include "os/birth.h"
#include "os/counters.h"

/* --- which rows the iterator fills, and which files fill the rest --- */

static bool is_one(struct capture *c, const char *path)
{
	struct text value;

	return !file_read(c->proc, path, &c->buffer, &value) &&
	       text_equal(text_trim(value), TEXT("1"));
}

/* Unless its state says "disabled", threads may be under it. */
static bool is_ext_on(struct capture *c)
{
	struct text state;

	return c->sys < 0 || file_read(c->sys, "kernel/sched_ext/state", &c->buffer, &state) ||
	       !text_equal(text_trim(state), TEXT("disabled"));
}

/* A kernel that gives no addresses of data (without CONFIG_KALLSYMS_ALL) does not show which CPUs
 * are active: those that are online, but for moments. */
static const __u64 *online_cpus(struct capture *c, size_t words)
{
	struct text list;
	bool any = false;

	memset(c->online_cpus, 0, sizeof(c->online_cpus));
	if (c->sys < 0 || file_read(c->sys, "devices/system/cpu/online", &c->buffer, &list) ||
	    !cpulist_parse(text_trim(list), &c->taker.cpus))
		return NULL;
	for (size_t i = 0; i < c->taker.cpus.count; i++) {
		uint32_t cpu = c->taker.cpus.items[i];

		if (cpu / 64 >= words)
			return NULL;
		c->online_cpus[cpu / 64] |= (uint64_t)1 << cpu % 64;
		any = true;
	}
	return any ? c->online_cpus : NULL;
}

static void make_task_plan(struct capture *c)
{
	const struct task_iterator *tasks = c->capturer->tasks;
	struct task_facts facts = {
		.statistics = is_one(c, "sys/kernel/sched_schedstats"),
		.irq_accounting = c->irq_accounting,
		.clock_offset = (int64_t)task_iterator_sched_clock(tasks, 0),
		.boottime_offset = boottime_offset(c->proc, &c->buffer),
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
	};

	facts.active_cpus = task_iterator_active_cpus(tasks, &facts.cpu_words);
	if (!facts.active_cpus)
		facts.active_cpus = online_cpus(c, facts.cpu_words);
	for (enum task_counter i = 0; i < TASK_COUNTER_COUNT; i++)
		if (task_iterator_counts(tasks, i))
			facts.counters[i / 64] |= (uint64_t)1 << (i % 64);
	for (enum task_feature i = 0; i < TASK_FEATURE_COUNT; i++)
		if (task_iterator_has(tasks, i))
			facts.features |= (uint64_t)1 << i;
	task_plan_init(&c->task_plan, &facts);
}

/* Why some rows are read from /proc all the same. */
static struct error *name_gaps(struct capture *c, const struct metric_set *gaps)
{
	char list[256];
	size_t used = 0, more = 0;

	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		if (!metric_set_has(gaps, id))
			continue;
		if (used + strlen(metrics[id].name) + 3 < sizeof(list))
			used += (size_t)sprintf(list + used, "%s%s", used ? ", " : "",
						metrics[id].name);
		else
			more++;
	}
	if (asprintf(&c->capturer->gaps,
		     "missing in this kernel's structures, read from /proc: %s%s", list,
		     more ? ", ..." : "") < 0)
		c->capturer->gaps = NULL;
	return c->capturer->gaps ? NULL : &error_no_memory;
}

/*
 * A row that the iterator lacks is read from where /proc has it, if it has it at all: our own
 * thread shows that. Most kernels lack in both what they lack in one.
 */
static struct error *find_gaps(struct capture *c)
{
	const struct metric_set filled = task_plan_rows(&c->task_plan);
	struct ctprof_snapshot *s = c->snapshot;
	_cleanup_close_ int dir = openat(c->proc, "self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ctprof_thread *self = snapshot_add_thread(s);
	struct metric_set gaps = { 0 };
	const struct capture_counts counts = c->counts;
	bool any = false;

	if (!self)
		return &error_no_memory;
	self->tid = self->tgid = (uint32_t)getpid();
	if (dir >= 0 && capture_thread(c, dir, self) == THREAD_KEPT)
		capture_delays_of(c, self);
	c->sources = 0;
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		enum metric_source_id source = metrics[id].sources[0].id;

		if (!metric_set_has(&self->record.measured, id) || metric_set_has(&filled, id) ||
		    source == SOURCE_ONE)
			continue;
		metric_set_add(&gaps, id);
		c->sources |= 1u << source;
		any = true;
	}
	snapshot_truncate_threads(s, s->threads.count - 1);
	/* Reading our own thread is no part of the capture. */
	c->counts = counts;
	c->capturer->sources = c->sources;
	c->capturer->gaps_known = true;
	return any ? name_gaps(c, &gaps) : NULL;
}

/* --- threads --- */

static bool is_thread_wanted(const struct capture *c, const struct iterator_record *r)
{
	return !capture_is_of_some(c) ||
	       (c->pids.count && bsearch(&r->tgid, c->pids.items, c->pids.count,
					 sizeof(*c->pids.items), compare_u32));
}

/* The rows that are of /proc; and the letter of a state that only /proc knows. */
static enum thread_fate take_gaps(struct capture *c, const struct iterator_record *r,
				  struct ctprof_thread *thread)
{
	_cleanup_close_ int dir = -1;
	unsigned sources = c->sources;
	enum thread_fate fate;
	char path[32];

	if (task_state_is_unclear(r)) {
		metric_set_remove(&thread->record.measured, METRIC_state);
		c->sources |= 1u << SOURCE_STAT;
	}
	if (!(c->sources & CAPTURE_FILES))
		return THREAD_KEPT;
	snprintf(path, sizeof(path), "%" PRIu32 "/task/%" PRIu32, thread->tgid, thread->tid);
	dir = openat(c->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		fate = file_is_shortage(errno) ? THREAD_SHORTAGE : THREAD_GONE;
	else
		fate = capture_thread_files(c, dir, thread);
	if (dir < 0 && fate == THREAD_SHORTAGE)
		c->shortage = errno;
	c->sources = sources;
	return fate;
}

static enum thread_fate fill_thread(struct capture *c, const struct iterator_record *r,
				    const __u64 *cpus, struct ctprof_thread *thread)
{
	if (!take_task(&c->taker, &c->task_plan, r, cpus, thread)) {
		c->shortage = ENOMEM;
		return THREAD_SHORTAGE;
	}
	thread->cgroup = cgroup_ids_path(c, r->cgroup, r->tid);
	if (!thread->cgroup) {
		c->shortage = ENOMEM;
		return THREAD_SHORTAGE;
	}
	if (c->cgroup_top && !cgroup_is_within(name_text(thread->cgroup), name_text(c->cgroup_top)))
		return THREAD_OUTSIDE;
	return take_gaps(c, r, thread);
}

static struct error *keep_leader(struct capture *c, const struct iterator_record *r,
				 struct ctprof_thread *thread)
{
	const struct heap_image image = {
		.tgid = r->tgid,
		.euid = r->euid,
		.has_memory = r->has_mm,
		.executable_pages = r->has_mm ? r->exec_vm : 0,
		.cgroup = r->cgroup,
		.program = r->has_mm ? r->program : 0,
		.program_inode = r->has_mm ? r->program_inode : 0,
		.program_device = r->has_mm ? r->program_device : 0,
	};
	const struct leader leader = {
		.thread = thread,
		.process = { .tgid = r->tgid,
			     .ppid = reading_of(r->parent),
			     .uid = reading_of(r->euid) },
		.has_memory = r->has_mm,
	};

	return array_push(&c->leaders, leader) && array_push(&c->images, image) ? NULL
										: &error_no_memory;
}

/* May a thread that was filled last be left out? The process needs its leader, and each cgroup one
 * thread (capture/cgroups.c); statistics by taskstats come later. */
static bool is_left_out(const struct capture *c, const struct ctprof_thread *thread)
{
	const struct capture_options *o = c->options;
	const size_t count = c->snapshot->threads.count;

	return o->is_idle && thread->tid != thread->tgid && count > 1 &&
	       snapshot_thread(c->snapshot, count - 2)->cgroup == thread->cgroup &&
	       !(c->sources >> SOURCE_TASKSTATS & 1) && o->is_idle(o->idle_context, thread);
}

static struct error *visit_record(struct capture *c, const struct iterator_record *r,
				  const __u64 *cpus)
{
	struct ctprof_snapshot *s = c->snapshot;
	struct ctprof_thread *thread;
	enum thread_fate fate;

	if (!is_thread_wanted(c, r))
		return NULL;
	c->counts.walked++;
	if (c->options->skip_pid && r->tgid == c->options->skip_pid)
		return NULL;
	if (r->tid == r->tgid && !array_push(&c->seen, r->tgid))
		return &error_no_memory;
	thread = snapshot_add_thread(s);
	if (!thread)
		return &error_no_memory;
	fate = fill_thread(c, r, cpus, thread);
	if (fate != THREAD_KEPT) {
		snapshot_truncate_threads(s, s->threads.count - 1);
		c->counts.lost += fate == THREAD_GONE;
		return fate == THREAD_SHORTAGE
			       ? error_system(c->shortage, "thread %" PRIu32, r->tid)
			       : NULL;
	}
	if (is_left_out(c, thread)) {
		snapshot_truncate_threads(s, s->threads.count - 1);
		return NULL;
	}
	capture_queue_delays(c, thread);
	if (r->thread_pointer &&
	    !array_push(&c->pointers, (struct thread_pointer){ r->tid, r->thread_pointer }))
		return &error_no_memory;
	return r->tid == r->tgid ? keep_leader(c, r, thread) : NULL;
}

/* The name of a process is its leader's, which comes first. */
static struct error *name_processes(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;
	const struct name *pcomm = NULL;
	uint32_t tgid = 0;

	for (size_t i = 0; i < s->threads.count; i++) {
		struct ctprof_thread *thread = snapshot_thread(s, i);

		if (!pcomm || thread->tgid != tgid)
			pcomm = thread->tid == thread->tgid ? thread->comm
							    : capture_process_name(c, thread->tgid);
		if (!pcomm)
			return &error_no_memory;
		tgid = thread->tgid;
		thread->pcomm = pcomm;
	}
	return NULL;
}

static struct error *walk_tasks(struct capture *c, uint64_t threads)
{
	const struct capture_options *o = c->options;
	struct task_iterator *tasks = c->capturer->tasks;
	struct task_batch_view batch;
	struct error *err = NULL;

	do {
		if (o->progress)
			o->progress(o->progress_context, c->counts.walked, threads);
		err = task_iterator_next(tasks, &batch);
		for (size_t i = 0; !err && i < batch.count; i++)
			err = visit_record(c, &batch.records[i], batch.cpus[i]);
	} while (!err && batch.count && !capture_is_late(c));
	if (!err && batch.count)
		c->counts.not_reached++;
	return err;
}

/* --- threads that the iterator does not show --- */

uint64_t capture_threads_of_kernel(struct capture *c)
{
	struct text bytes;
	uint64_t runnable, all;

	return !file_read_record(c->proc, "loadavg", &c->buffer, &bytes) &&
			       counters_parse_threads(bytes, &runnable, &all)
		       ? all
		       : 0;
}

static bool was_seen(const struct capture *c, uint32_t tgid)
{
	return c->seen.count &&
	       bsearch(&tgid, c->seen.items, c->seen.count, sizeof(*c->seen.items), compare_u32);
}

/* Processes may have ended since they were listed: those were not lost while they were read. */
static struct error *visit_hidden_process(struct capture *c, uint32_t tgid, struct tids *tids)
{
	const size_t threads = c->snapshot->threads.count;
	const uint64_t lost = c->counts.lost;
	struct error *err = capture_visit_process(c, tgid, tids);

	if (c->snapshot->threads.count == threads && c->counts.lost == lost + 1)
		c->counts.lost = lost;
	return err;
}

/* A hardened kernel keeps processes from BPF that it shows in /proc. */
static struct error *visit_hidden(struct capture *c, uint64_t threads_before, bool cut_short)
{
	const uint64_t threads_after = capture_threads_of_kernel(c);
	struct ctprof_snapshot *s = c->snapshot;
	size_t walked = s->threads.count;
	struct tids tids = { 0 }, hidden = { 0 };
	struct error *err = NULL;
	int failed;

	/* A walk that was cut short may have missed threads. The larger number is used, so that
	 * threads that end meanwhile do not make up for hidden ones. */
	if (cut_short || (!capture_is_of_some(c) && c->counts.walked >= threads_before &&
			  c->counts.walked >= threads_after))
		return NULL;
	failed = c->pids.count || capture_is_of_some(c) ? 0 : capture_list_processes(c);
	if (failed)
		return error_system(failed, "/proc");
	for (size_t i = 0; i < c->pids.count && !err; i++)
		if (!was_seen(c, c->pids.items[i]) && !array_push(&hidden, c->pids.items[i]))
			err = &error_no_memory;
	c->sources = ~c->options->leave_out;
	if (hidden.count && !err)
		capture_open_delays(c);
	for (size_t i = 0; i < hidden.count && !err; i++) {
		if (capture_is_late(c)) {
			c->counts.not_reached += hidden.count - i;
			break;
		}
		err = visit_hidden_process(c, hidden.items[i], &tids);
	}
	array_deinit(&tids);
	array_deinit(&hidden);
	c->hidden = s->threads.count - walked;
	if (!err)
		err = capture_leaders(c);
	if (err || !c->hidden)
		return err;
	snapshot_sort(s);
	return snapshot_sort_threads(s);
}

struct error *capture_tasks(struct capture *c)
{
	const uint64_t threads = capture_threads_of_kernel(c);
	bool cut_short;
	struct error *err = task_iterator_begin(c->capturer->tasks, is_ext_on(c));

	if (err)
		return err;
	make_task_plan(c);
	cgroup_ids_begin(c);
	c->taker.keep = true;
	c->sources = c->capturer->sources;
	if (!c->capturer->gaps_known) {
		c->sources = ~c->options->leave_out;
		capture_open_delays(c);
		err = find_gaps(c);
	}
	if (!err && c->sources >> SOURCE_TASKSTATS & 1)
		capture_open_delays(c);
	if (!err)
		err = walk_tasks(c, threads);
	if (err)
		return err;
	cut_short = c->counts.not_reached != 0;
	err = snapshot_sort_threads(c->snapshot);
	if (!err)
		err = name_processes(c);
	if (!err)
		err = capture_leaders(c);
	return err ? err : visit_hidden(c, threads, cut_short);
}
