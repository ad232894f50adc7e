// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces: metrics of the duration of a function, or of the time from one location to another,
 * without a change of the traced code. How they begin, end, and are described.
 */
#include "trace.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static const char *const loss_names[KSTATS_LOSS_COUNT] = { "unmatched", "replaced", "backwards",
							   "earlier" };

/* Newest first. */
static LIST_HEAD(traces);

/* --- life --- */

void kstats_trace_free(struct kstats_trace *trace)
{
	kstats_free(trace->metric);
	kstats_free(trace->gap);
	free_percpu(trace->cpus);
	kfree(trace->command);
	kfree(trace);
}

static int alloc_metrics(struct kstats_trace *trace, const struct kstats_request *request)
{
	char name[KSTATS_NAME_MAX + sizeof(KSTATS_GAP)];

	trace->metric = kstats_alloc(request->name, request->frac_bits);
	if (IS_ERR(trace->metric))
		return PTR_ERR(trace->metric);
	trace->metric->trace = trace;
	if (request->end)
		return 0;
	snprintf(name, sizeof(name), KSTATS_GAP "%s", request->name);
	trace->gap = kstats_alloc(name, request->frac_bits);
	if (IS_ERR(trace->gap))
		return PTR_ERR(trace->gap);
	trace->gap->trace = trace;
	return 0;
}

struct kstats_trace *kstats_trace_alloc(const struct kstats_request *request)
{
	struct kstats_trace *trace = kzalloc(sizeof(*trace), GFP_KERNEL);
	int err;

	if (!trace)
		return ERR_PTR(-ENOMEM);
	trace->start_text = request->start;
	trace->end_text = request->end;
	trace->cpus = alloc_percpu(struct kstats_on_cpu);
	err = trace->cpus ? alloc_metrics(trace, request) : -ENOMEM;
	if (!err)
		return trace;
	kstats_trace_free(trace);
	return ERR_PTR(err);
}

static int publish(struct kstats_trace *trace)
{
	int err = kstats_publish(trace->metric);

	if (err || !trace->gap)
		return err;
	err = kstats_publish(trace->gap);
	if (err)
		kstats_withdraw(trace->metric);
	return err;
}

static void withdraw(struct kstats_trace *trace)
{
	kstats_withdraw(trace->metric);
	if (trace->gap)
		kstats_withdraw(trace->gap);
}

/* End all traces of a list. Waits once for the handlers of all of them. */
static void end_traces(struct list_head *ending)
{
	struct kstats_disarmed *disarmed = kzalloc(sizeof(*disarmed), GFP_KERNEL | __GFP_NOFAIL);
	struct kstats_trace *trace, *next;

	list_for_each_entry(trace, ending, list) kstats_disarm(trace, disarmed);
	kstats_disarm_end(disarmed);
	kfree(disarmed);
	list_for_each_entry_safe(trace, next, ending, list)
	{
		list_del(&trace->list);
		withdraw(trace);
		kstats_trace_free(trace);
	}
}

int kstats_trace_begin(const struct kstats_request *request, char *command)
{
	struct kstats_trace *trace = kstats_trace_alloc(request);
	LIST_HEAD(ending);
	int err;

	lockdep_assert_held(&kstats_mutex);
	if (IS_ERR(trace))
		return PTR_ERR(trace);
	err = publish(trace);
	if (err) {
		kstats_trace_free(trace);
		return err;
	}
	/* Before it is armed: the trial calls functions that this trace may probe. */
	trace->overhead_ns = kstats_overhead(trace);
	err = kstats_arm(trace);
	if (err) {
		list_add(&trace->list, &ending);
		end_traces(&ending);
		return err;
	}
	trace->command = command;
	list_add(&trace->list, &traces);
	return 0;
}

int kstats_trace_end(const char *name)
{
	struct kstats_trace *trace;
	LIST_HEAD(ending);

	lockdep_assert_held(&kstats_mutex);
	list_for_each_entry(trace, &traces, list)
	{
		if (strcmp(trace->metric->name, name) == 0) {
			list_move(&trace->list, &ending);
			end_traces(&ending);
			return 0;
		}
	}
	return -ENOENT;
}

void kstats_trace_end_all(void)
{
	lockdep_assert_held(&kstats_mutex);
	if (!list_empty(&traces))
		end_traces(&traces);
}

/* Detach one end of a trace if it is a tracepoint of that module. */
static bool leave_module(struct kstats_trace *trace, struct kstats_point *point,
			 const struct module *module)
{
	return point->tracepoint && within_module((unsigned long)point->tracepoint, module) &&
	       kstats_leave_tracepoint(trace, point);
}

void kstats_trace_leave(const struct module *module)
{
	struct kstats_trace *trace;
	bool any = false;

	lockdep_assert_held(&kstats_mutex);
	list_for_each_entry(trace, &traces, list)
	{
		bool start = leave_module(trace, &trace->start, module);
		bool end = leave_module(trace, &trace->end, module);

		if (start || end)
			WRITE_ONCE(trace->is_gone, true);
		any |= start || end;
	}
	if (any)
		tracepoint_synchronize_unregister();
}

/* --- descriptions --- */

bool kstats_trace_is_gone(const struct kstats_trace *trace)
{
	const struct kprobe *probes[] = { &trace->call.kp, &trace->start.kprobe,
					  &trace->end.kprobe };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i]->addr && kprobe_gone((struct kprobe *)probes[i]))
			return true;
	return READ_ONCE(trace->is_gone);
}

void kstats_trace_names(struct seq_file *file)
{
	const struct kstats_trace *trace;
	const char *space = "";

	list_for_each_entry(trace, &traces, list)
	{
		seq_printf(file, "%s%s", space, trace->metric->name);
		space = " ";
	}
	seq_putc(file, '\n');
}

static struct kstats_missed_calls missed_calls(const struct kstats_trace *trace)
{
	return (struct kstats_missed_calls){
		.missed = trace->call.nmissed,
		.recursive = trace->call.kp.nmissed + trace->start.kprobe.nmissed +
			     trace->end.kprobe.nmissed,
	};
}

static u64 sum_losses(const struct kstats_trace *trace, enum kstats_loss loss)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) sum += READ_ONCE(per_cpu_ptr(trace->cpus, cpu)->lost[loss]);
	return sum;
}

void kstats_trace_describe(const struct kstats_trace *trace, const struct kstats *metric,
			   struct seq_file *file)
{
	struct kstats_missed_calls now = missed_calls(trace);
	bool is_pair = trace->end_text;
	int loss;

	seq_printf(file, "unit ns\nstart %s\n", trace->start_text);
	if (is_pair)
		seq_printf(file, "end %s\n", trace->end_text);
	/* A lost call loses the gaps beside it too; it is printed once. */
	if (metric != trace->metric)
		return;
	if (trace->overhead_ns)
		seq_printf(file, "overhead %llu\n", trace->overhead_ns);
	seq_printf(file, "missed %lu\nrecursive %lu\n", now.missed - trace->before.missed,
		   now.recursive - trace->before.recursive);
	for (loss = is_pair ? 0 : KSTATS_BACKWARDS; loss < KSTATS_LOSS_COUNT; loss++)
		seq_printf(file, "%s %llu\n", loss_names[loss], sum_losses(trace, loss));
}

void kstats_trace_reset(struct kstats_trace *trace, const struct kstats *metric)
{
	int cpu, loss;

	if (metric != trace->metric)
		return;
	trace->before = missed_calls(trace);
	for_each_possible_cpu(cpu) for (loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		WRITE_ONCE(per_cpu_ptr(trace->cpus, cpu)->lost[loss], 0);
}
