// SPDX-License-Identifier: GPL-2.0-only
/*
 * A metric: slots for each CPU, recording into them, stopping and resetting them.
 */
#include "kstats.h"

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "histogram/bucket.h"

#ifndef CONFIG_64BIT
#error "kstats counts in words of 64 bits"
#endif

DEFINE_MUTEX(kstats_mutex);
LIST_HEAD(kstats_metrics);

/* IS_ERR_OR_NULL() in one comparison: errors are the addresses just below NULL. */
static __always_inline bool is_error_or_null(const void *pointer)
{
	return (unsigned long)pointer + MAX_ERRNO <= MAX_ERRNO;
}

/*
 * The only path that must be short. Preemption is off so that count and sum go to the same CPU, and
 * so that synchronize_rcu() in kstats_stop() waits for records in progress. Each of the two
 * additions is one instruction without a lock prefix; an interrupt may come between them.
 */
notrace void kstats_record(struct kstats *metric, u64 value)
{
	struct kstats_slot __percpu *slot;
	unsigned int rest, frac_bits;

	if (is_error_or_null(metric))
		return;
	preempt_disable_notrace();
	/* A late read is harmless: kstats_stop() waits. */
	if (likely(data_race(metric->is_active))) {
		frac_bits = metric->frac_bits;
		rest = bucket_rest(value, frac_bits);
		slot = metric->slots + bucket_slot_of_rest(value, frac_bits, rest);
		this_cpu_inc(slot->count);
		this_cpu_add(slot->sum, value >> bucket_shift_of_rest(rest));
	}
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(kstats_record);
NOKPROBE_SYMBOL(kstats_record);

void kstats_stop(struct kstats *metric)
{
	WRITE_ONCE(metric->is_active, false);
	synchronize_rcu();
}

static void clear_slots(struct kstats *metric, int cpu)
{
	memset(per_cpu_ptr(metric->slots, cpu), 0,
	       BUCKET_SLOTS(metric->frac_bits) * sizeof(struct kstats_slot));
}

/* Runs on the CPU that owns the slots, with interrupts off, so no record of it is in progress. */
static long clear_own_slots(void *metric)
{
	unsigned long flags;

	local_irq_save(flags);
	clear_slots(metric, smp_processor_id());
	local_irq_restore(flags);
	return 0;
}

void kstats_reset(struct kstats *metric)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
	{
		if (cpu_online(cpu))
			work_on_cpu(cpu, clear_own_slots, metric);
		else
			clear_slots(metric, cpu);
	}
	cpus_read_unlock();
	if (metric->trace)
		kstats_trace_reset(metric->trace, metric);
}

/* --- life --- */

struct kstats *kstats_alloc(const char *name, unsigned int frac_bits)
{
	struct kstats *metric = kzalloc(sizeof(*metric), GFP_KERNEL);

	if (!metric)
		return ERR_PTR(-ENOMEM);
	metric->slots = __alloc_percpu_gfp(BUCKET_SLOTS(frac_bits) * sizeof(struct kstats_slot),
					   sizeof(struct kstats_slot), GFP_KERNEL | __GFP_NOWARN);
	if (!metric->slots) {
		kfree(metric);
		return ERR_PTR(-ENOMEM);
	}
	metric->frac_bits = frac_bits;
	metric->is_active = true;
	mutex_init(&metric->command);
	strscpy(metric->name, name, sizeof(metric->name));
	return metric;
}

void kstats_free(struct kstats *metric)
{
	if (IS_ERR_OR_NULL(metric))
		return;
	free_percpu(metric->slots);
	kfree(metric);
}

static bool is_name_used(const char *name)
{
	const struct kstats *metric;

	list_for_each_entry(metric, &kstats_metrics,
			    list) if (strcmp(metric->name, name) == 0) return true;
	return false;
}

/*
 * Without a write bit, a locked-down kernel allows reading these files. Root may write to them
 * nevertheless.
 */
#define KSTATS_FILE_MODE 0444

int kstats_publish(struct kstats *metric)
{
	lockdep_assert_held(&kstats_mutex);
	if (is_name_used(metric->name))
		return -EEXIST;
	metric->raw = debugfs_create_file(metric->name, KSTATS_FILE_MODE, kstats_raw_dir, metric,
					  &kstats_raw_ops);
	metric->file = debugfs_create_file(metric->name, KSTATS_FILE_MODE, kstats_dir, metric,
					   &kstats_file_ops);
	if (IS_ERR(metric->raw) || IS_ERR(metric->file)) {
		debugfs_remove(metric->raw);
		debugfs_remove(metric->file);
		return IS_ERR(metric->raw) ? PTR_ERR(metric->raw) : PTR_ERR(metric->file);
	}
	list_add(&metric->list, &kstats_metrics);
	return 0;
}

void kstats_withdraw(struct kstats *metric)
{
	lockdep_assert_held(&kstats_mutex);
	list_del(&metric->list);
	debugfs_remove(metric->file);
	debugfs_remove(metric->raw);
}

struct kstats *kstats_new(const char *name, u8 frac_bits)
{
	struct kstats *metric;
	int err = kstats_name_errno(name);

	if (!err && frac_bits > BUCKET_FRAC_BITS_MAX)
		err = -EINVAL;
	if (err)
		return ERR_PTR(err);
	metric = kstats_alloc(name, frac_bits);
	if (IS_ERR(metric))
		return metric;
	mutex_lock(&kstats_mutex);
	err = kstats_publish(metric);
	mutex_unlock(&kstats_mutex);
	if (!err)
		return metric;
	kstats_free(metric);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(kstats_new);

void kstats_delete(struct kstats *metric)
{
	if (IS_ERR_OR_NULL(metric))
		return;
	mutex_lock(&kstats_mutex);
	kstats_withdraw(metric);
	mutex_unlock(&kstats_mutex);
	kstats_free(metric);
}
EXPORT_SYMBOL_GPL(kstats_delete);
