// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handlers that the kernel calls at the locations of a trace, and their registration.
 *
 * The start time of a function is kept with the call itself (in the kretprobe's instance), so its
 * duration is right if the call sleeps, migrates to another CPU or recurses. For a pair of
 * locations, the start is the last one on the same CPU. Starts and ends without a counterpart are
 * counted as losses.
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
	"calls of a traced function that may be in progress at once (0: by the number of CPUs)");

/* --- handlers. They run in any context, take no lock, and call nothing that can be probed --- */

/* ktime_get_ns() would wait forever in an NMI that interrupts an update of the clock. */
static __always_inline u64 now(void)
{
	return ktime_get_mono_fast_ns();
}

/* A stopped metric counts no losses. */
static __always_inline void count_loss(struct kstats_trace *trace, enum kstats_loss loss)
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
		count_loss(trace, KSTATS_BACKWARDS);
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

	/* The probe was unregistered during the call. */
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
		count_loss(trace, KSTATS_REPLACED);
	this_cpu_write(trace->cpus->is_seen, true);
	this_cpu_write(trace->cpus->start, now());
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(begin_pair);

static notrace void end_pair(struct kstats_trace *trace)
{
	u64 start, end;

	/* Before the clock is read: handlers of system call tracepoints can be preempted (Linux
	 * 6.18), and after a migration the start of another CPU might be later than this end. */
	preempt_disable_notrace();
	end = now();
	start = this_cpu_read(trace->cpus->start);
	if (start) {
		this_cpu_write(trace->cpus->start, 0);
		record_since(trace, trace->metric, start, end);
	} else {
		/* The start of the first end may have been before the trace. */
		count_loss(trace,
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

/* The tracepoint's own arguments follow; the handlers do not read them. */
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

/* The handlers call these, so a probe there would recurse. */
static const char *const untouchable[] = { "ktime_get_mono_fast_ns" };

/*
 * The kernel returns EINVAL or EILSEQ for functions that may not be probed. The arguments are
 * valid, so this is EPERM for the user.
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

/* Only trials may probe functions of this module. */
static bool is_forbidden(const struct kstats_trace *trace, const struct kprobe *kprobe)
{
	return !trace->is_trial && within_module((unsigned long)kprobe->addr, THIS_MODULE);
}

/* Enough for calls that block: each keeps its instance until it returns. */
static int instances_wanted(void)
{
	return clamp_t(unsigned int, instances ? instances : max(256u, 16 * num_possible_cpus()), 1,
		       65536);
}

static int arm_call(struct kstats_trace *trace, const struct kstats_location *location)
{
	struct kretprobe *call = &trace->call;
	int err;

	/* A tracepoint has no duration. */
	if (location->kind != KSTATS_FUNCTION)
		return -EINVAL;
	if (is_untouchable(location->name))
		return -EPERM;
	call->kp.symbol_name = location->name;
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
			  const struct kstats_location *location, void *handler)
{
	struct kstats_tracepoint found;
	int err;

	/* These kernels stop at an indirect call to a function of another type. */
	if (IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI))
		return -EOPNOTSUPP;
	err = kstats_tracepoint_find(location, &found);
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
	struct kstats_location location;
	int err = kstats_location_parse(text, &location);

	if (err)
		return err;
	if (location.kind == KSTATS_FUNCTION)
		return arm_kprobe(trace, &point->kprobe, location.name, on_kprobe);
	if (trace->is_trial) {
		point->handler = on_tracepoint;
		return 0;
	}
	return arm_tracepoint(trace, point, &location, on_tracepoint);
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

/* Unregister only what was registered: the kernel does not check this. */
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

/* The end first: without it, a second start would be counted as replaced. */
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
	struct kstats_location location;
	int err;

	if (trace->end_text)
		return arm_pair(trace);
	err = kstats_location_parse(trace->start_text, &location);
	return err ? err : arm_call(trace, &location);
}
