/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/thread_task.h"

#include "os/stat.h"

/* --- names of fields --- */

int task_field_find(struct text name)
{
	static const char *const names[TASK_FIELD_COUNT] = {
#define NAME(name, ...) [TASK_##name] = #name,
		TASK_COUNTERS(NAME) TASK_STATISTICS(NAME)
#undef NAME
#define NAMES(category)                                         \
	[TASK_##category##_count] = #category "_count",         \
	[TASK_##category##_delay] = #category "_delay",         \
	[TASK_##category##_delay_max] = #category "_delay_max", \
	[TASK_##category##_delay_min] = #category "_delay_min",
			TASK_DELAYS(NAMES)
#undef NAMES
#define NAME(name) [TASK_FIELD_##name] = #name,
				TASK_FIELDS(NAME)
#undef NAME
	};

	for (int i = 0; i < TASK_FIELD_COUNT; i++)
		if (text_equal(text_of(names[i]), name))
			return i;
	return -1;
}

/* --- which rows there are --- */

static bool has_feature(const struct task_facts *facts, enum task_feature feature)
{
	return facts->features >> feature & 1;
}

static bool is_statistic(unsigned field)
{
	return field >= TASK_nr_wakeups && field <= TASK_core_forceidle_sum;
}

static bool is_delay(unsigned field)
{
	return field >= TASK_blkio_count && field < TASK_COUNTER_COUNT;
}

static bool is_there(const struct task_facts *facts, unsigned field)
{
	bool statistics = facts->statistics && has_feature(facts, TASK_HAS_STATISTICS_SINCE);

	if (field < TASK_COUNTER_COUNT)
		return facts->counters[field / 64] >> (field % 64) & 1 &&
		       (!is_statistic(field) || facts->statistics);
	switch (field) {
	case TASK_FIELD_ext_enabled:
		return has_feature(facts, TASK_HAS_EXT_CLASS);
	case TASK_FIELD_hiwater_rss:
		return has_feature(facts, TASK_HAS_RSS);
	case TASK_FIELD_utime_ticks:
	case TASK_FIELD_stime_ticks:
		return has_feature(facts, TASK_HAS_SHOWN_TIMES);
	case TASK_FIELD_wait_in_progress_ns:
		return has_feature(facts, TASK_HAS_QUEUED_SINCE);
	case TASK_FIELD_blkio_in_progress_ns:
		return has_feature(facts, TASK_HAS_BLKIO_SINCE);
	case TASK_FIELD_wait_sum_in_progress_ns:
	case TASK_FIELD_sleep_in_progress_ns:
	case TASK_FIELD_block_in_progress_ns:
	case TASK_FIELD_kthread_block_in_progress_ns:
	case TASK_FIELD_iowait_in_progress_ns:
		return statistics;
	default:
		return true;
	}
}

/* The threads for which a row is measured. */
static struct metric_set *readers(struct task_plan *plan, const struct metric *metric,
				  unsigned field)
{
	if (metric->owners == OWNERS_LEADERS)
		return &plan->leaders;
	if (metric->owners != OWNERS_ALL)
		return metric->owners == OWNERS_KERNEL ? &plan->kernel : &plan->user;
	if (metric->class == CLASS_FAIR_POLICY)
		return &plan->fair;
	if (metric->delay == DELAY_irq && !plan->facts.irq_accounting)
		return &plan->irq;
	if (is_delay(field) || field == TASK_FIELD_blkio_in_progress_ns)
		return &plan->delays;
	return &plan->always;
}

static void add_task_row(struct task_plan *plan, struct task_row row)
{
	switch (row.metric->type) {
	case VALUE_ordinal_i32:
	case VALUE_ordinal_u32:
	case VALUE_letter:
	case VALUE_flag:
	case VALUE_label:
	case VALUE_cpu_set:
		plan->others[plan->other_count++] = row;
		break;
	default:
		plan->wide[plan->wide_count++] = row;
	}
}

void task_plan_init(struct task_plan *plan, const struct task_facts *facts)
{
	*plan = (struct task_plan){ .facts = *facts };
	metric_set_add(&plan->always, METRIC_thread_count);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const struct metric_source *task = &metrics[id].task;
		int field, less = TASK_FIELD_COUNT;

		if (!task->key)
			continue;
		field = task_field_find(text_of(task->key));
		if (task->less)
			less = task_field_find(text_of(task->less));
		if (field < 0 || less < 0 || !is_there(facts, (unsigned)field) ||
		    (task->less && !is_there(facts, (unsigned)less)))
			continue;
		add_task_row(plan, (struct task_row){ .metric = &metrics[id],
						      .offset = (uint32_t)metrics[id].offset,
						      .field = (uint16_t)field,
						      .less = (uint16_t)less });
		metric_set_add(readers(plan, &metrics[id], (unsigned)field), id);
	}
}

static void unite(struct metric_set *set, const struct metric_set *other)
{
	for (size_t i = 0; i < array_length(set->words); i++)
		set->words[i] |= other->words[i];
}

struct metric_set task_plan_rows(const struct task_plan *plan)
{
	struct metric_set all = { 0 };

	for (size_t i = 0; i < plan->wide_count; i++)
		metric_set_add(&all, metric_id(plan->wide[i].metric));
	for (size_t i = 0; i < plan->other_count; i++)
		metric_set_add(&all, metric_id(plan->others[i].metric));
	return all;
}

/* --- what /proc computes --- */

/*
 * User and system time are counted in whole ticks, and shown scaled to the precise run time, never
 * less than was shown before: cputime_adjust() in kernel/sched/cputime.c.
 */
static void show_times(const struct iterator_record *r, uint64_t *ret_utime, uint64_t *ret_stime)
{
	uint64_t run = r->counters[TASK_run_time], utime = r->utime, stime = r->stime;

	if (r->shown_stime + r->shown_utime >= run) {
		*ret_utime = r->shown_utime;
		*ret_stime = r->shown_stime;
		return;
	}
	if (stime == 0) {
		utime = run;
	} else if (utime == 0) {
		stime = run;
	} else {
		stime = (uint64_t)((unsigned __int128)stime * run / (stime + utime));
		if (stime > run)
			stime = run;
	}
	if (stime < r->shown_stime)
		stime = r->shown_stime;
	utime = run - stime;
	if (utime < r->shown_utime) {
		utime = r->shown_utime;
		stime = run - utime;
	}
	*ret_utime = utime;
	*ret_stime = stime;
}

/* Bits of task_struct.__state and exit_state (include/linux/sched.h). */
#define STATE_REPORTED    0x7fu /* TASK_REPORT */
#define STATE_IDLE        0x402u
#define STATE_RTLOCK_WAIT 0x1000u
#define STATE_FROZEN      0x8000u

static bool is_kernel_record(const struct iterator_record *r)
{
	return r->kernel_flags & PF_KTHREAD;
}

static bool is_idle(const struct iterator_record *r)
{
	return (r->state & STATE_IDLE) == STATE_IDLE;
}

/* task_state_array in fs/proc/array.c, by __task_state_index(). */
static char state_letter(const struct iterator_record *r)
{
	static const char letters[] = "RSDTtXZPI";
	uint32_t state = (r->state | r->exit_state) & STATE_REPORTED;

	if (is_idle(r))
		return 'I';
	if (r->state & STATE_RTLOCK_WAIT)
		return 'D';
	return letters[state ? 32 - __builtin_clz(state) : 0];
}

bool task_state_is_unclear(const struct iterator_record *r)
{
	return r->state & STATE_FROZEN;
}

/* --- waits in progress --- */

/* The time since `since`; clocks of CPUs may differ by a little. */
static uint64_t passed(const struct task_plan *plan, const struct iterator_record *r,
		       uint64_t since)
{
	uint64_t now = r->now + (uint64_t)plan->facts.clock_offset;

	return since && r->now && now > since ? now - since : 0;
}

/* --- a record --- */

#define HIGHEST_USER_RT_PRIORITY 100 /* MAX_RT_PRIO */
#define NICE_0_PRIORITY          120

static uint64_t pages_as_bytes(const struct task_plan *plan, uint64_t pages)
{
	uint64_t bytes;

	return __builtin_mul_overflow(pages, plan->facts.page_bytes, &bytes) ? UINT64_MAX : bytes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void compute_fields(const struct task_plan *plan, const struct iterator_record *r,
			   uint64_t values[TASK_FIELD_COUNT])
{
	uint64_t utime, stime;

	show_times(r, &utime, &stime);
	values[TASK_FIELD_utime_ticks] = utime / NS_PER_TICK;
	values[TASK_FIELD_stime_ticks] = stime / NS_PER_TICK;
	values[TASK_FIELD_nice] = (uint64_t)((int64_t)r->static_priority - NICE_0_PRIORITY);
	values[TASK_FIELD_priority] = (uint64_t)((int64_t)r->priority - HIGHEST_USER_RT_PRIORITY);
	values[TASK_FIELD_rt_priority] = r->rt_priority;
	values[TASK_FIELD_cpu] = r->cpu;
	values[TASK_FIELD_state] = (unsigned char)state_letter(r);
	values[TASK_FIELD_ext_enabled] = r->is_ext;
	values[TASK_FIELD_threads] = r->threads;
	values[TASK_FIELD_hiwater_rss] =
		r->has_mm ? pages_as_bytes(plan, larger(r->hiwater_rss, r->rss)) : 0;
	values[TASK_FIELD_hiwater_vm] =
		r->has_mm ? pages_as_bytes(plan, larger(r->hiwater_vm, r->total_vm)) : 0;
	values[TASK_FIELD_wait_in_progress_ns] = passed(plan, r, r->queued_since);
	values[TASK_FIELD_blkio_in_progress_ns] = passed(plan, r, r->blkio_since);
	values[TASK_FIELD_wait_sum_in_progress_ns] = passed(plan, r, r->wait_since);
	values[TASK_FIELD_sleep_in_progress_ns] = passed(plan, r, r->sleep_since);
	values[TASK_FIELD_kthread_block_in_progress_ns] = passed(plan, r, r->block_since);
	values[TASK_FIELD_block_in_progress_ns] =
		is_kernel_record(r) && is_idle(r) ? 0 : passed(plan, r, r->block_since);
	values[TASK_FIELD_iowait_in_progress_ns] =
		r->in_iowait ? passed(plan, r, r->block_since) : 0;
}

/* Names that were interned in another snapshot are not valid in this one. */
static void forget_names(struct task_plan *plan, struct ctprof_snapshot *snapshot)
{
	if (plan->snapshot == snapshot)
		return;
	plan->snapshot = snapshot;
	plan->cpus = plan->policy_name = plan->comm = NULL;
}

static bool name_thread(struct taker *taker, struct task_plan *plan,
			const struct iterator_record *r, struct ctprof_thread *thread)
{
	const struct text name = { r->name, strnlen(r->name, sizeof(r->name)) };

	if (!plan->comm || !text_equal(name_text(plan->comm), name))
		plan->comm = snapshot_name(taker->snapshot, name);
	thread->comm = plan->comm;
	return thread->comm != NULL;
}

static bool name_policy(struct taker *taker, struct task_plan *plan,
			const struct iterator_record *r, struct thread_record *record)
{
	char buffer[POLICY_NAME_MAX];

	if (!plan->policy_name || plan->policy != r->policy)
		plan->policy_name =
			snapshot_name(taker->snapshot, text_of(policy_name(buffer, r->policy)));
	plan->policy = r->policy;
	record->values.policy.v = plan->policy_name;
	return plan->policy_name != NULL;
}

/* The result of sched_getaffinity(2): the active CPUs of the mask. For a thread bound to an offline
 * CPU it is empty, and status shows the mask itself. */
static bool list_cpus(const struct task_plan *plan, const __u64 *mask, struct cpus *ret)
{
	size_t words = plan->facts.cpu_words;
	unsigned long cpus[TASK_CPU_WORDS];
	bool any = false;

	for (size_t i = 0; i < words; i++) {
		cpus[i] = plan->facts.active_cpus ? mask[i] & plan->facts.active_cpus[i] : mask[i];
		any |= cpus[i] != 0;
	}
	for (size_t i = 0; i < words && !any; i++)
		cpus[i] = mask[i];
	return cpus_from_mask(cpus, words * sizeof(*cpus), ret);
}

static bool name_cpus(struct taker *taker, struct task_plan *plan, const struct iterator_record *r,
		      const __u64 *cpus, struct ctprof_thread *thread)
{
	size_t words = plan->facts.cpu_words;
	const __u64 *mask = words > 1 ? cpus : &r->cpus;

	if (plan->cpus && memcmp(plan->mask, mask, words * sizeof(*mask)) == 0) {
		thread->record.values.cpu_affinity.v = plan->cpus;
		return true;
	}
	if (!list_cpus(plan, mask, &taker->cpus) || !take_affinity(taker, thread))
		return false;
	memcpy(plan->mask, mask, words * sizeof(*mask));
	plan->cpus = thread->record.values.cpu_affinity.v;
	return true;
}

static void store_rows(const struct task_plan *plan, const struct iterator_record *r,
		       struct thread_values *ret)
{
	uint64_t values[TASK_FIELD_COUNT];

	memcpy(values, r->counters, sizeof(r->counters));
	compute_fields(plan, r, values);
	for (size_t i = 0; i < plan->wide_count; i++) {
		const struct task_row *row = &plan->wide[i];
		uint64_t value = values[row->field];

		if (row->less < TASK_FIELD_COUNT)
			value = value > values[row->less] ? value - values[row->less] : 0;
		*(uint64_t *)(void *)((char *)ret + row->offset) = value;
	}
	for (size_t i = 0; i < plan->other_count; i++) {
		const struct metric *metric = plan->others[i].metric;

		/* Labels and sets get their names by themselves. */
		if (metric->kind != KIND_SET && metric->type != VALUE_label)
			metric_store_i64(ret, metric, (int64_t)values[plan->others[i].field]);
	}
}

/* SCHED_NORMAL, SCHED_BATCH and SCHED_EXT: fair_policy() in kernel/sched/sched.h. */
static bool is_fair(uint32_t policy)
{
	return policy == 0 || policy == 3 || policy == 7;
}

bool take_task(struct taker *taker, struct task_plan *plan, const struct iterator_record *r,
	       const __u64 *cpus, struct ctprof_thread *thread)
{
	struct thread_record *record = &thread->record;

	forget_names(plan, taker->snapshot);
	thread->tid = r->tid;
	thread->tgid = r->tgid;
	thread->is_kernel = is_kernel_record(r);
	thread->start_time_clock_ticks = reading_of(
		(r->start_boottime + (uint64_t)plan->facts.boottime_offset) / NS_PER_TICK);
	record->values.thread_count.v = 1;
	store_rows(plan, r, &record->values);
	unite(&record->measured, &plan->always);
	unite(&record->measured, thread->is_kernel ? &plan->kernel : &plan->user);
	if (r->tid == r->tgid)
		unite(&record->measured, &plan->leaders);
	if (r->has_delays)
		unite(&record->measured, &plan->delays);
	if (r->has_delays && r->counters[TASK_irq_count])
		unite(&record->measured, &plan->irq);
	if (is_fair(r->policy))
		unite(&record->measured, &plan->fair);
	return name_thread(taker, plan, r, thread) && name_policy(taker, plan, r, record) &&
	       name_cpus(taker, plan, r, cpus, thread);
}
