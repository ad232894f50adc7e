// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where time is taken: what the kernel calls at the places of a trace, and how it comes to do so.
 *
 * A function's start is kept with the call itself (a kretprobe's instance), so its time is right
 * when the call sleeps, moves to another CPU or calls itself. Of two places, the start is the last
 * one on the same CPU. What comes of neither is counted.
 */
#include "trace.h"

#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

static unsigned int instances;
module_param(instances, uint, 0644);
MODULE_PARM_DESC(
	instances,
	"calls of a traced function that may be under way at once (0: by the number of CPUs)");

/* --- handlers. They may be anywhere: no lock, nothing that can be probed --- */

/* Never waits for who sets the clock, as ktime_get_ns() does, which would wait for itself. */
static __always_inline u64 now(void)
{
	return ktime_get_mono_fast_ns();
}

/* A metric that is stopped counts nothing. */
static __always_inline void lose(struct kstats_trace *trace, enum kstats_loss loss)
{
	if (data_race(trace->metric->is_active))
		this_cpu_inc(trace->cpus->lost[loss]);
}

static __always_inline void record_since(struct kstats_trace *trace, struct kstats *metric,
					 u64 start, u64 end)
{
	if (likely(end >= start))
		kstats_record(metric, end - start);
	else
		lose(trace, KSTATS_BACKWARDS);
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
		lose(trace, KSTATS_REPLACED);
	this_cpu_write(trace->cpus->is_seen, true);
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
		/* The start may have been before the trace, but of the first end only. */
		lose(trace,
		     this_cpu_read(trace->cpus->is_seen) ? KSTATS_UNMATCHED : KSTATS_EARLIER);
	}
	this_cpu_write(trace->cpus->is_seen, true);
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

/* A tracepoint's own arguments follow, and are not read. */
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

/* Our own functions are for trials alone. */
static bool is_forbidden(const struct kstats_trace *trace, const struct kprobe *kprobe)
{
	return !trace->is_trial && within_module((unsigned long)kprobe->addr, THIS_MODULE);
}

/* A call that blocks keeps its instance until it returns. */
static int instances_wanted(void)
{
	return clamp_t(unsigned int, instances ? instances : max(256u, 16 * num_possible_cpus()), 1,
		       65536);
}

static int arm_call(struct kstats_trace *trace, const struct kstats_location *place)
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
	if (!err && is_forbidden(trace, &call->kp)) {
		unregister_kretprobe(call);
		err = -EPERM;
	}
	if (err)
		memset(call, 0, sizeof(*call));
	return err;
}

static int arm_kprobe(const struct kstats_trace *trace, struct kprobe *kprobe, const char *name,
		      kprobe_pre_handler_t handler)
{
	int err;

	if (is_untouchable(name))
		return -EPERM;
	kprobe->symbol_name = name;
	kprobe->pre_handler = handler;
	err = register_errno(register_kprobe(kprobe));
	if (!err && is_forbidden(trace, kprobe)) {
		unregister_kprobe(kprobe);
		err = -EPERM;
	}
	if (err)
		memset(kprobe, 0, sizeof(*kprobe));
	return err;
}

static int arm_tracepoint(struct kstats_trace *trace, struct kstats_point *point,
			  const struct kstats_location *place, void *handler)
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

static int arm_point(struct kstats_trace *trace, struct kstats_point *point, const char *text,
		     kprobe_pre_handler_t on_kprobe, void *on_tracepoint)
{
	struct kstats_location place;
	int err = kstats_location_parse(text, &place);

	if (err)
		return err;
	if (place.kind == KSTATS_FUNCTION)
		return arm_kprobe(trace, &point->kprobe, place.name, on_kprobe);
	if (trace->is_trial) {
		point->handler = on_tracepoint;
		return 0;
	}
	return arm_tracepoint(trace, point, &place, on_tracepoint);
}

bool kstats_leave_tracepoint(struct kstats_trace *trace, struct kstats_point *point)
{
	if (!point->tracepoint)
		return false;
	tracepoint_probe_unregister(point->tracepoint, point->handler, trace);
	point->tracepoint = NULL;
	return true;
}

void kstats_disarm_end(struct kstats_disarmed *disarmed)
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
void kstats_disarm(struct kstats_trace *trace, struct kstats_disarmed *disarmed)
{
	/* One for the call or two for the pair. */
	if (disarmed->call_count == ARRAY_SIZE(disarmed->calls) ||
	    disarmed->kprobe_count + 2 > ARRAY_SIZE(disarmed->kprobes))
		kstats_disarm_end(disarmed);
	if (trace->call.kp.addr)
		disarmed->calls[disarmed->call_count++] = &trace->call;
	if (trace->start.kprobe.addr)
		disarmed->kprobes[disarmed->kprobe_count++] = &trace->start.kprobe;
	if (trace->end.kprobe.addr)
		disarmed->kprobes[disarmed->kprobe_count++] = &trace->end.kprobe;
	disarmed->any_tracepoint |= kstats_leave_tracepoint(trace, &trace->start);
	disarmed->any_tracepoint |= kstats_leave_tracepoint(trace, &trace->end);
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

int kstats_arm(struct kstats_trace *trace)
{
	struct kstats_location place;
	int err;

	if (trace->end_text)
		return arm_pair(trace);
	err = kstats_location_parse(trace->start_text, &place);
	return err ? err : arm_call(trace, &place);
}
