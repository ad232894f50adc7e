// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does in a kernel what the cases of kstats ask for, by words written to debugfs's kstats_test:
 *
 *	new NAME BITS               kstats_new(); its error is the write's
 *	delete NAME
 *	record NAME CPU VALUE...    on that CPU
 *	spread NAME COUNT THREADS   kstats_value(0) to (COUNT - 1), by threads that are pinned
 *	                            nowhere
 *	churn NAME THREADS VALUE    threads that record it all the time, until the next word
 *	                            "calm"
 *	calm
 *	stopped NAME                record into it, and see that preemption is as it was
 *	cost NAME                   of a record and of ktime_get_ns(); read from the file
 *	call, sleep MS, recurse DEPTH MS, migrate, begin CPU, finish CPU, events COUNT
 *	                            functions and tracepoints to be traced
 *	sleepers COUNT MS           threads that all call `sleep` at once
 *
 * What is done is done when the write returns.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <linux/kstats.h>

#include "kstats_values.h"

#define CREATE_TRACE_POINTS
#include "kstats_test_events.h"

#define WORDS_MAX   32
#define THREADS_MAX 32

static DEFINE_MUTEX(mutex);
static char said[256];

/* --- what is traced; global, as "any globally visible function" --- */

int some_function(int number);
int kstats_test_sleep(int ms);
int kstats_test_recurse(int depth, int ms);
int kstats_test_migrate(void);
int kstats_test_begin_pair(int number);
int kstats_test_finish_pair(int number);

noinline int some_function(int number)
{
	asm volatile("" ::: "memory");
	return number + 1;
}

noinline int kstats_test_sleep(int ms)
{
	msleep(ms);
	return ms;
}

/* Each is in its call for `ms` longer than the one that it calls. */
noinline int kstats_test_recurse(int depth, int ms)
{
	int below = 0;

	if (depth > 1)
		below = kstats_test_recurse(depth - 1, ms);
	mdelay(ms);
	return below + 1;
}

/* Begins on CPU 0 and ends on CPU 1. */
noinline int kstats_test_migrate(void)
{
	int err = set_cpus_allowed_ptr(current, cpumask_of(1));

	mdelay(2);
	return err ? err : raw_smp_processor_id();
}

noinline int kstats_test_begin_pair(int number)
{
	asm volatile("" ::: "memory");
	return number;
}

noinline int kstats_test_finish_pair(int number)
{
	asm volatile("" ::: "memory");
	return number - 1;
}

/* --- metrics by name --- */

struct metric {
	struct list_head list;
	struct kstats *kstats;
	char name[80];
};

static LIST_HEAD(metrics);

static struct metric *metric_of(const char *name)
{
	struct metric *metric;

	list_for_each_entry(metric, &metrics,
			    list) if (name && strcmp(metric->name, name) == 0) return metric;
	return NULL;
}

static struct kstats *kstats_of(const char *name)
{
	struct metric *metric = metric_of(name);

	return metric ? metric->kstats : NULL;
}

static void delete (struct metric *metric)
{
	kstats_delete(metric->kstats);
	list_del(&metric->list);
	kfree(metric);
}

static u64 number(const char *word)
{
	u64 value = 0;

	return word && kstrtou64(word, 0, &value) == 0 ? value : 0;
}

static int do_new(char **words)
{
	struct metric *metric = kzalloc(sizeof(*metric), GFP_KERNEL);
	int err;

	if (!metric)
		return -ENOMEM;
	strscpy(metric->name, words[1], sizeof(metric->name));
	metric->kstats = kstats_new(words[1], number(words[2]));
	if (!IS_ERR(metric->kstats)) {
		list_add(&metric->list, &metrics);
		return 0;
	}
	err = PTR_ERR(metric->kstats);
	/* These may be given an error. */
	kstats_record(metric->kstats, 1);
	kstats_record(NULL, 1);
	kstats_delete(metric->kstats);
	kstats_delete(NULL);
	kfree(metric);
	return err;
}

static int do_delete(char **words)
{
	struct metric *metric = metric_of(words[1]);

	if (!metric)
		return -ENOENT;
	delete (metric);
	return 0;
}

/* --- recording --- */

static long record_words(void *words)
{
	struct kstats *metric = kstats_of(((char **)words)[1]);
	char **word;

	if (!metric)
		return -ENOENT;
	for (word = (char **)words + 3; *word; word++)
		kstats_record(metric, number(*word));
	return 0;
}

static int do_record(char **words)
{
	return work_on_cpu(number(words[2]), record_words, words);
}

struct job {
	struct kstats *metric;
	u64 first, step, count, value;
	int ms;
	struct completion done;
	struct task_struct *task;
};

static struct job jobs[THREADS_MAX];

static int run_threads(int (*body)(void *), unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		init_completion(&jobs[i].done);
		jobs[i].task = kthread_run(body, &jobs[i], "kstats_test/%u", i);
		if (IS_ERR(jobs[i].task))
			return PTR_ERR(jobs[i].task);
	}
	return 0;
}

static int spread(void *data)
{
	struct job *job = data;
	u64 i;

	for (i = job->first; i < job->count; i += job->step) {
		kstats_record(job->metric, kstats_value(i % KSTATS_VALUE_COUNT));
		if (i % 4096 == 0)
			cond_resched();
	}
	complete(&job->done);
	return 0;
}

static int do_spread(char **words)
{
	unsigned int threads = number(words[3]), i;
	int err;

	if (!threads || threads > THREADS_MAX || !kstats_of(words[1]))
		return -EINVAL;
	for (i = 0; i < threads; i++)
		jobs[i] = (struct job){ .metric = kstats_of(words[1]),
					.first = i,
					.step = threads,
					.count = number(words[2]) };
	err = run_threads(spread, threads);
	for (i = 0; !err && i < threads; i++)
		wait_for_completion(&jobs[i].done);
	return err;
}

static int churn(void *data)
{
	struct job *job = data;
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++)
			kstats_record(job->metric, job->value);
		cond_resched();
	}
	return 0;
}

static unsigned int churning;

static int do_churn(char **words)
{
	unsigned int i;
	int err;

	if (churning || number(words[2]) > THREADS_MAX || !kstats_of(words[1]))
		return -EINVAL;
	for (i = 0; i < number(words[2]); i++)
		jobs[i] = (struct job){ .metric = kstats_of(words[1]), .value = number(words[3]) };
	err = run_threads(churn, number(words[2]));
	if (!err)
		churning = number(words[2]);
	return err;
}

static int do_calm(char **words)
{
	while (churning)
		kthread_stop(jobs[--churning].task);
	return 0;
}

static int do_stopped(char **words)
{
	struct kstats *metric = kstats_of(words[1]);
	int before = preempt_count(), i;

	for (i = 0; i < 1000; i++)
		kstats_record(metric, i);
	return preempt_count() == before ? 0 : -EFAULT;
}

static int do_cost(char **words)
{
	struct kstats *metric = kstats_of(words[1]);
	u64 begin, middle, end, sum = 0;
	int i;

	begin = ktime_get_ns();
	for (i = 0; i < 1000000; i++)
		kstats_record(metric, i);
	middle = ktime_get_ns();
	for (i = 0; i < 1000000; i++)
		sum += ktime_get_ns();
	end = ktime_get_ns();
	snprintf(said, sizeof(said), "record %llu ktime_get_ns %llu\n", (middle - begin) / 1000000,
		 (end - middle) / 1000000);
	return sum ? 0 : -EFAULT;
}

/* --- calling --- */

static int do_call(char **words)
{
	u64 i, count = words[1] ? number(words[1]) : 1;

	for (i = 0; i < count; i++)
		some_function(i);
	return 0;
}

static int do_sleep(char **words)
{
	kstats_test_sleep(number(words[1]));
	return 0;
}

static int do_recurse(char **words)
{
	return kstats_test_recurse(number(words[1]), number(words[2])) == number(words[1])
		       ? 0
		       : -EFAULT;
}

static int migrate(void *data)
{
	struct job *job = data;

	job->ms = set_cpus_allowed_ptr(current, cpumask_of(0));
	if (!job->ms)
		job->ms = kstats_test_migrate();
	complete(&job->done);
	return 0;
}

static int do_migrate(char **words)
{
	int err = run_threads(migrate, 1);

	if (err)
		return err;
	wait_for_completion(&jobs[0].done);
	return jobs[0].ms == 1 ? 0 : -EFAULT;
}

static long begin_here(void *unused)
{
	return kstats_test_begin_pair(0);
}

static long finish_here(void *unused)
{
	return kstats_test_finish_pair(1);
}

static int do_begin(char **words)
{
	return work_on_cpu(number(words[1]), begin_here, NULL);
}

static int do_finish(char **words)
{
	return work_on_cpu(number(words[1]), finish_here, NULL);
}

static long events_here(void *count)
{
	long i;

	for (i = 0; i < (long)count; i++) {
		trace_kstats_test_begin(i);
		trace_kstats_test_finish(i);
	}
	return 0;
}

static int do_events(char **words)
{
	return work_on_cpu(0, events_here, (void *)(long)number(words[1]));
}

static int sleeper(void *data)
{
	struct job *job = data;

	kstats_test_sleep(job->ms);
	complete(&job->done);
	return 0;
}

static int do_sleepers(char **words)
{
	unsigned int i, count = number(words[1]);
	int err;

	if (count > THREADS_MAX)
		return -EINVAL;
	for (i = 0; i < count; i++)
		jobs[i] = (struct job){ .ms = number(words[2]) };
	err = run_threads(sleeper, count);
	for (i = 0; !err && i < count; i++)
		wait_for_completion(&jobs[i].done);
	return err;
}

/* --- the file --- */

static const struct {
	const char *word;
	int (*run)(char **words);
	int words; /* at least, with itself */
} orders[] = {
	{ "new", do_new, 3 },           { "delete", do_delete, 2 },   { "record", do_record, 4 },
	{ "spread", do_spread, 4 },     { "churn", do_churn, 4 },     { "calm", do_calm, 1 },
	{ "stopped", do_stopped, 2 },   { "cost", do_cost, 2 },       { "call", do_call, 1 },
	{ "sleep", do_sleep, 2 },       { "recurse", do_recurse, 3 }, { "migrate", do_migrate, 1 },
	{ "begin", do_begin, 2 },       { "finish", do_finish, 2 },   { "events", do_events, 2 },
	{ "sleepers", do_sleepers, 3 },
};

static int run_words(char **words, int count)
{
	size_t i;

	for (i = 0; count && i < ARRAY_SIZE(orders); i++)
		if (strcmp(words[0], orders[i].word) == 0 && count >= orders[i].words)
			return orders[i].run(words);
	return -EDOM;
}

static ssize_t write_test(struct file *file, const char __user *bytes, size_t length,
			  loff_t *position)
{
	char *text = memdup_user_nul(bytes, length), *rest, *word, *words[WORDS_MAX + 1] = { 0 };
	int count = 0, err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while (count < WORDS_MAX && (word = strsep(&rest, " \n")))
		if (*word)
			words[count++] = word;
	mutex_lock(&mutex);
	err = run_words(words, count);
	mutex_unlock(&mutex);
	kfree(text);
	return err ? err : length;
}

static int show_test(struct seq_file *file, void *unused)
{
	seq_puts(file, said);
	return 0;
}

static int open_test(struct inode *inode, struct file *file)
{
	return single_open(file, show_test, NULL);
}

static const struct file_operations test_ops = {
	.owner = THIS_MODULE,
	.open = open_test,
	.read = seq_read,
	.write = write_test,
	.llseek = seq_lseek,
	.release = single_release,
};

static struct dentry *test_file;

static int __init test_init(void)
{
	test_file = debugfs_create_file("kstats_test", 0600, NULL, NULL, &test_ops);
	return PTR_ERR_OR_ZERO(test_file);
}

static void __exit test_exit(void)
{
	struct metric *metric, *next;

	debugfs_remove(test_file);
	do_calm(NULL);
	list_for_each_entry_safe(metric, next, &metrics, list) delete (metric);
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("what the tests of kstats do in a kernel");
MODULE_LICENSE("GPL");
