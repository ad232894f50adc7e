// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory in debugfs, and kstats/_control, the file that takes commands.
 */
#include "kstats.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

struct dentry *kstats_dir, *kstats_raw_dir;

static int run_request(const struct kstats_request *request, char *command)
{
	switch (request->verb) {
	case KSTATS_TRACE:
		return kstats_trace_begin(request, command);
	case KSTATS_REMOVE:
		return kstats_trace_end(request->name);
	case KSTATS_REMOVE_ALL:
		kstats_trace_end_all();
		return 0;
	}
	return -EINVAL;
}

/* Sets *command to NULL if the trace keeps it. */
static int run_command(char **command, size_t length)
{
	struct kstats_request request;
	int err = kstats_request_parse(*command, length, &request);

	if (err)
		return err;
	if (mutex_lock_interruptible(&kstats_mutex))
		return -EINTR;
	err = run_request(&request, *command);
	mutex_unlock(&kstats_mutex);
	if (!err && request.verb == KSTATS_TRACE)
		*command = NULL;
	return err;
}

static ssize_t write_control(struct file *file, const char __user *bytes, size_t length,
			     loff_t *position)
{
	char *command;
	int err;

	if (length > KSTATS_COMMAND_MAX)
		return -EMSGSIZE;
	command = memdup_user_nul(bytes, length);
	if (IS_ERR(command))
		return PTR_ERR(command);
	err = run_command(&command, length);
	kfree(command);
	return err ? err : length;
}

static int show_control(struct seq_file *file, void *unused)
{
	mutex_lock(&kstats_mutex);
	kstats_trace_names(file);
	mutex_unlock(&kstats_mutex);
	return 0;
}

static int open_control(struct inode *inode, struct file *file)
{
	return single_open(file, show_control, NULL);
}

static const struct file_operations control_ops = {
	.owner = THIS_MODULE,
	.open = open_control,
	.read = seq_read,
	.write = write_control,
	.llseek = seq_lseek,
	.release = single_release,
};

static int create_files(void)
{
	struct dentry *control;

	kstats_dir = debugfs_create_dir("kstats", NULL);
	if (IS_ERR(kstats_dir))
		return PTR_ERR(kstats_dir);
	kstats_raw_dir = debugfs_create_dir("_raw", kstats_dir);
	control = debugfs_create_file("_control", 0644, kstats_dir, NULL, &control_ops);
	if (!IS_ERR(kstats_raw_dir) && !IS_ERR(control))
		return 0;
	debugfs_remove(kstats_dir);
	return IS_ERR(control) ? PTR_ERR(control) : PTR_ERR(kstats_raw_dir);
}

static int __init kstats_init(void)
{
	int err = kstats_tracepoints_init();

	if (err)
		return err;
	err = create_files();
	if (err)
		kstats_tracepoints_exit();
	return err;
}

/* Modules with metrics keep this one loaded, so only metrics of _control are left here. */
static void __exit kstats_exit(void)
{
	debugfs_lookup_and_remove("_control", kstats_dir);
	mutex_lock(&kstats_mutex);
	kstats_trace_end_all();
	mutex_unlock(&kstats_mutex);
	kstats_tracepoints_exit();
	debugfs_remove(kstats_dir);
}

module_init(kstats_init);
module_exit(kstats_exit);

MODULE_DESCRIPTION("distributions of kernel latencies, for each CPU, in debugfs");
MODULE_AUTHOR("the ctprof authors");
MODULE_LICENSE("GPL");
