// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is recorded without a line of code: how long a function takes, or the time from one place to
 * another.
 *
 * A function's start is kept with the call itself (a kretprobe's instance), so its time is right
 * when the call sleeps, moves to another CPU or calls itself. Of two places, the start is the last
 * one on the same CPU. What comes of neither is counted.
 */
#include "kstats.h"

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

static unsigned int instances;
module_param(instances, uint, 0644);
MODULE_PARM_DESC(
	instances,
	"calls of a traced function that may be under way at once (0: by the number of CPUs)");

/* Events that are in no slot; the names are those of ctprof (KSTATS_LOSSES). */
enum loss {
	LOSS_UNMATCHED,
	LOSS_REPLACED,
	LOSS_BACKWARDS,
	LOSS_COUNT,
};

static const char *const loss_names[LOSS_COUNT] = { "unmatched", "replaced", "backwards" };

struct on_cpu {
	u64 start; /* of a pair that is open; 0: none */
	u64 end;   /* of the last call, until the next one; 0: none */
	u64 lost[LOSS_COUNT];
};

/* One end of a pair. */
struct point {
	struct kprobe kprobe;          /* of a function */
	struct tracepoint *tracepoint; /* NULL: a function, or gone */
	void *handler;                 /* of the tracepoint */
};

struct kstats_trace {
	struct list_head list;       /* of traces */
	struct kstats *metric, *gap; /* gap: of a function's time only */
	struct on_cpu __percpu *cpus;
	struct kretprobe call; /* without an end */
	struct point start, end;
	bool is_gone;
	unsigned long missed_before;       /* the last RESET */
	const char *start_text, *end_text; /* in `command` */
	char *command;
};

/* Newest first. */
static LIST_HEAD(traces);

/* --- handlers. They may be anywhere: no lock, nothing that can be probed --- */

/* Never waits for who sets the clock, as ktime_get_ns() does, which would wait for itself. */
static __always_inline u64 now(void)
{
	return ktime_get_mono_fast_ns();
}

static __always_inline void record_since(struct kstats_trace *trace, struct kstats *metric,
					 u64 start, u64 end)
{
	if (likely(end >= start))
		kstats_record(metric, end - start);
	else
		this_cpu_inc(trace->cpus->lost[LOSS_BACKWARDS]);
}

static notrace int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *probe = get_kretprobe(instance);
	struct kstats_trace *trace;
	u64 end, *start = (u64 *)instance->data;

	if (unlikely(!probe))
		return 1;
	trace = container_of(probe, struct kstats_trace, call);
	preempt_disable_notrace();
	end = this_cpu_read(trace->cpus->end);
	*start = now();
	if (end) {
		this_cpu_write(trace->cpus->end, 0);
		record_since(trace, trace->gap, end, *start);
	}
	preempt_enable_notrace();
	return 0;
}
NOKPROBE_SYMBOL(on_entry);

static notrace int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	u64 end, start = *(u64 *)instance->data;
	struct kretprobe *probe = get_kretprobe(instance);
	struct kstats_trace *trace;

	/* Nobody is asked any more. */
	if (unlikely(!probe))
		return 0;
	trace = container_of(probe, struct kstats_trace, call);
	preempt_disable_notrace();
	end = now();
	record_since(trace, trace->metric, start, end);
	this_cpu_write(trace->cpus->end, end);
	preempt_enable_notrace();
	return 0;
}
NOKPROBE_SYMBOL(on_return);

static notrace void begin_pair(struct kstats_trace *trace)
{
	preempt_disable_notrace();
	if (this_cpu_read(trace->cpus->start))
		this_cpu_inc(trace->cpus->lost[LOSS_REPLACED]);
	this_cpu_write(trace->cpus->start, now());
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(begin_pair);

static notrace void end_pair(struct kstats_trace *trace)
{
	u64 start, end;

	/* First: tracepoints of system calls can be preempted (Linux 6.18), and a start found on
	 * another CPU might be younger than the end. */
	preempt_disable_notrace();
	end = now();
	start = this_cpu_read(trace->cpus->start);
	if (start) {
		this_cpu_write(trace->cpus->start, 0);
		record_since(trace, trace->metric, start, end);
	} else {
		this_cpu_inc(trace->cpus->lost[LOSS_UNMATCHED]);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(end_pair);

static notrace int on_start_kprobe(struct kprobe *kprobe, struct pt_regs *regs)
{
	begin_pair(container_of(kprobe, struct kstats_trace, start.kprobe));
	return 0;
}
NOKPROBE_SYMBOL(on_start_kprobe);

static notrace int on_end_kprobe(struct kprobe *kprobe, struct pt_regs *regs)
{
	end_pair(container_of(kprobe, struct kstats_trace, end.kprobe));
	return 0;
}
NOKPROBE_SYMBOL(on_end_kprobe);

/* A tracepoint's own arguments follow, which nobody looks at. */
static notrace void on_start_tracepoint(void *trace)
{
	begin_pair(trace);
}
NOKPROBE_SYMBOL(on_start_tracepoint);

static notrace void on_end_tracepoint(void *trace)
{
	end_pair(trace);
}
NOKPROBE_SYMBOL(on_end_tracepoint);

/* --- arming --- */

/* The handlers call these. */
static const char *const untouchable[] = { "ktime_get_mono_fast_ns" };

/*
 * Which functions may not be probed only the kernel knows, and calls it a wrong argument: but the
 * arguments have been looked at.
 */
static int register_errno(int err)
{
	return err == -EINVAL || err == -EILSEQ ? -EPERM : err;
}

static bool is_untouchable(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(untouchable); i++)
		if (strcmp(name, untouchable[i]) == 0)
			return true;
	return false;
}

static bool is_ours(const struct kprobe *kprobe)
{
	return within_module((unsigned long)kprobe->addr, THIS_MODULE);
}

/* A call that blocks keeps its instance until it returns. */
static int instances_wanted(void)
{
	return clamp_t(unsigned int, instances ? instances : max(256u, 16 * num_possible_cpus()), 1,
		       65536);
}

static int arm_call(struct kstats_trace *trace, const struct kstats_place *place)
{
	struct kretprobe *call = &trace->call;
	int err;

	/* A tracepoint takes no time. */
	if (place->kind != KSTATS_FUNCTION)
		return -EINVAL;
	if (is_untouchable(place->name))
		return -EPERM;
	call->kp.symbol_name = place->name;
	call->entry_handler = on_entry;
	call->handler = on_return;
	call->data_size = sizeof(u64);
	call->maxactive = instances_wanted();
	err = register_errno(register_kretprobe(call));
	if (!err && is_ours(&call->kp)) {
		unregister_kretprobe(call);
		err = -EPERM;
	}
	if (err)
		memset(call, 0, sizeof(*call));
	return err;
}

static int arm_kprobe(struct kprobe *kprobe, const char *name, kprobe_pre_handler_t handler)
{
	int err;

	if (is_untouchable(name))
		return -EPERM;
	kprobe->symbol_name = name;
	kprobe->pre_handler = handler;
	err = register_errno(register_kprobe(kprobe));
	if (!err && is_ours(kprobe)) {
		unregister_kprobe(kprobe);
		err = -EPERM;
	}
	if (err)
		memset(kprobe, 0, sizeof(*kprobe));
	return err;
}

static int arm_tracepoint(struct kstats_trace *trace, struct point *point,
			  const struct kstats_place *place, void *handler)
{
	struct kstats_tracepoint found;
	int err;

	/* Such kernels stop when a function is called as one of another type. */
	if (IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI))
		return -EOPNOTSUPP;
	err = kstats_tracepoint_find(place, &found);
	if (err)
		return err;
	err = tracepoint_probe_register(found.point, handler, trace);
	if (!err) {
		point->tracepoint = found.point;
		point->handler = handler;
	}
	kstats_tracepoint_put(&found);
	return err;
}

static int arm_point(struct kstats_trace *trace, struct point *point, const char *text,
		     kprobe_pre_handler_t on_kprobe, void *on_tracepoint)
{
	struct kstats_place place;
	int err = kstats_place_parse(text, &place);

	if (err)
		return err;
	if (place.kind == KSTATS_FUNCTION)
		return arm_kprobe(&point->kprobe, place.name, on_kprobe);
	return arm_tracepoint(trace, point, &place, on_tracepoint);
}

/* Whether there was one, whose handler may be under way still. */
static bool leave_tracepoint(struct kstats_trace *trace, struct point *point)
{
	if (!point->tracepoint)
		return false;
	tracepoint_probe_unregister(point->tracepoint, point->handler, trace);
	point->tracepoint = NULL;
	return true;
}

/* Probes that are to be unregistered together, for to wait for their handlers takes long. */
struct disarmed {
	struct kretprobe *calls[64];
	struct kprobe *kprobes[64];
	unsigned int call_count, kprobe_count;
	bool any_tracepoint;
};

static void flush(struct disarmed *disarmed)
{
	if (disarmed->call_count)
		unregister_kretprobes(disarmed->calls, disarmed->call_count);
	if (disarmed->kprobe_count)
		unregister_kprobes(disarmed->kprobes, disarmed->kprobe_count);
	if (disarmed->any_tracepoint)
		tracepoint_synchronize_unregister();
	disarmed->call_count = disarmed->kprobe_count = 0;
	disarmed->any_tracepoint = false;
}

/* Only what was registered: the kernel trusts its caller in that. */
static void disarm(struct kstats_trace *trace, struct disarmed *disarmed)
{
	/* One for the call or two for the pair. */
	if (disarmed->call_count == ARRAY_SIZE(disarmed->calls) ||
	    disarmed->kprobe_count + 2 > ARRAY_SIZE(disarmed->kprobes))
		flush(disarmed);
	if (trace->call.kp.addr)
		disarmed->calls[disarmed->call_count++] = &trace->call;
	if (trace->start.kprobe.addr)
		disarmed->kprobes[disarmed->kprobe_count++] = &trace->start.kprobe;
	if (trace->end.kprobe.addr)
		disarmed->kprobes[disarmed->kprobe_count++] = &trace->end.kprobe;
	disarmed->any_tracepoint |= leave_tracepoint(trace, &trace->start);
	disarmed->any_tracepoint |= leave_tracepoint(trace, &trace->end);
}

/* The end first: a start without one would be counted as replaced. */
static int arm_pair(struct kstats_trace *trace)
{
	int err = arm_point(trace, &trace->end, trace->end_text, on_end_kprobe, on_end_tracepoint);

	if (err)
		return err;
	return arm_point(trace, &trace->start, trace->start_text, on_start_kprobe,
			 on_start_tracepoint);
}

static int arm(struct kstats_trace *trace)
{
	struct kstats_place place;
	int err;

	if (trace->end_text)
		return arm_pair(trace);
	err = kstats_place_parse(trace->start_text, &place);
	return err ? err : arm_call(trace, &place);
}

/* --- life --- */

static void trace_free(struct kstats_trace *trace)
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

static struct kstats_trace *trace_alloc(const struct kstats_request *request)
{
	struct kstats_trace *trace = kzalloc(sizeof(*trace), GFP_KERNEL);
	int err;

	if (!trace)
		return ERR_PTR(-ENOMEM);
	trace->start_text = request->start;
	trace->end_text = request->end;
	trace->cpus = alloc_percpu(struct on_cpu);
	err = trace->cpus ? alloc_metrics(trace, request) : -ENOMEM;
	if (!err)
		return trace;
	trace_free(trace);
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

/* All of a list, whose handlers are waited for together. */
static void end_traces(struct list_head *ending)
{
	struct disarmed *disarmed = kzalloc(sizeof(*disarmed), GFP_KERNEL | __GFP_NOFAIL);
	struct kstats_trace *trace, *next;

	list_for_each_entry(trace, ending, list) disarm(trace, disarmed);
	flush(disarmed);
	kfree(disarmed);
	list_for_each_entry_safe(trace, next, ending, list)
	{
		list_del(&trace->list);
		withdraw(trace);
		trace_free(trace);
	}
}

int kstats_trace_begin(const struct kstats_request *request, char *command)
{
	struct kstats_trace *trace = trace_alloc(request);
	LIST_HEAD(ending);
	int err;

	lockdep_assert_held(&kstats_mutex);
	if (IS_ERR(trace))
		return PTR_ERR(trace);
	err = publish(trace);
	if (err) {
		trace_free(trace);
		return err;
	}
	err = arm(trace);
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

/* Its end of the trace, or both, if they are in that module. */
static bool leave_module(struct kstats_trace *trace, struct point *point,
			 const struct module *module)
{
	return point->tracepoint && within_module((unsigned long)point->tracepoint, module) &&
	       leave_tracepoint(trace, point);
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

/* --- what is said of them --- */

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

/* Calls that the kernel did not tell us of. */
static unsigned long missed(const struct kstats_trace *trace)
{
	return trace->call.nmissed + trace->call.kp.nmissed + trace->start.kprobe.nmissed +
	       trace->end.kprobe.nmissed;
}

static u64 lost(const struct kstats_trace *trace, enum loss loss)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) sum += READ_ONCE(per_cpu_ptr(trace->cpus, cpu)->lost[loss]);
	return sum;
}

void kstats_trace_describe(const struct kstats_trace *trace, const struct kstats *metric,
			   struct seq_file *file)
{
	bool is_pair = trace->end_text;
	int loss;

	seq_printf(file, "unit ns\nstart %s\n", trace->start_text);
	if (is_pair)
		seq_printf(file, "end %s\n", trace->end_text);
	/* What is lost of a call is so of the gaps beside it, and is said once. */
	if (metric != trace->metric)
		return;
	seq_printf(file, "missed %lu\n", missed(trace) - trace->missed_before);
	for (loss = is_pair ? 0 : LOSS_BACKWARDS; loss < LOSS_COUNT; loss++)
		seq_printf(file, "%s %llu\n", loss_names[loss], lost(trace, loss));
}

void kstats_trace_reset(struct kstats_trace *trace, const struct kstats *metric)
{
	int cpu, loss;

	if (metric != trace->metric)
		return;
	trace->missed_before = missed(trace);
	for_each_possible_cpu(cpu) for (loss = 0; loss < LOSS_COUNT; loss++)
		WRITE_ONCE(per_cpu_ptr(trace->cpus, cpu)->lost[loss], 0);
}
