// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a module that measures its own code: the durations of 1,000 calls of kmalloc().
 *
 *	insmod kstats.ko
 *	insmod sample/kstats_sample.ko
 *	cat /sys/kernel/debug/kstats/sample_kmalloc
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <linux/kstats.h>

static struct kstats *key;

static void measure(void)
{
	u64 t0 = ktime_get_ns();
	void *memory = kmalloc(256, GFP_KERNEL);

	kstats_record(key, ktime_get_ns() - t0);
	kfree(memory);
}

static int __init sample_init(void)
{
	int i;

	key = kstats_new("sample_kmalloc", 3);
	if (IS_ERR(key))
		return PTR_ERR(key);
	for (i = 0; i < 1000; i++)
		measure();
	return 0;
}

static void __exit sample_exit(void)
{
	kstats_delete(key);
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_DESCRIPTION("example of a module that uses kstats");
MODULE_LICENSE("GPL");
