// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a metric: kstats/NAME, with the text format of the original kstats, which also takes
 * commands; and kstats/_raw/NAME, with everything, for programs.
 */
#include "kstats.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "histogram/bucket.h"

/* --- a copy of all counts --- */

struct cell {
	u64 count, sum;
	u64 below; /* the counts of the row up to and including this slot */
};

/* A row for each possible CPU, and one for their sum. */
struct reading {
	const struct kstats *metric;
	unsigned int slots;
	struct cell *cells;
};

static struct cell *cell_at(const struct reading *reading, unsigned int row, unsigned int slot)
{
	return &reading->cells[(size_t)row * reading->slots + slot];
}

static struct cell *total_at(const struct reading *reading, unsigned int slot)
{
	return cell_at(reading, nr_cpu_ids, slot);
}

static u64 row_count(const struct reading *reading, unsigned int row)
{
	return cell_at(reading, row, reading->slots - 1)->below;
}

static void add_up(struct reading *reading, unsigned int row)
{
	u64 below = 0;
	unsigned int slot;

	for (slot = 0; slot < reading->slots; slot++) {
		struct cell *cell = cell_at(reading, row, slot);

		below += cell->count;
		cell->below = below;
	}
}

static void take_cpu(struct reading *reading, unsigned int cpu)
{
	const struct kstats_slot *from = per_cpu_ptr(reading->metric->slots, cpu);
	unsigned int slot;

	for (slot = 0; slot < reading->slots; slot++) {
		struct cell *cell = cell_at(reading, cpu, slot), *total = total_at(reading, slot);

		cell->count = READ_ONCE(from[slot].count);
		cell->sum = READ_ONCE(from[slot].sum);
		total->count += cell->count;
		total->sum += cell->sum;
	}
	add_up(reading, cpu);
}

/* Copy first, so that percentages are consistent while CPUs continue to record. */
static void take_reading(struct reading *reading)
{
	unsigned int slot, cpu;

	for (slot = 0; slot < reading->slots; slot++)
		*total_at(reading, slot) = (struct cell){ 0 };
	for_each_possible_cpu(cpu) take_cpu(reading, cpu);
	add_up(reading, nr_cpu_ids);
}

/* --- iteration over slots: position 0 is the head, 1 + N is slot N --- */

static loff_t next_filled(const struct reading *reading, loff_t position)
{
	while (position && position <= reading->slots && !total_at(reading, position - 1)->count)
		position++;
	return position;
}

static void *element_at(struct reading *reading, loff_t *position)
{
	*position = next_filled(reading, *position);
	if (*position > reading->slots)
		return NULL;
	return *position ? total_at(reading, *position - 1) : SEQ_START_TOKEN;
}

static void *seq_begin(struct seq_file *file, loff_t *position)
{
	if (*position == 0)
		take_reading(file->private);
	return element_at(file->private, position);
}

static void *seq_next_slot(struct seq_file *file, void *element, loff_t *position)
{
	++*position;
	return element_at(file->private, position);
}

static void seq_end(struct seq_file *file, void *element)
{
}

static unsigned int slot_of(const struct reading *reading, const struct cell *total)
{
	return total - total_at(reading, 0);
}

/* --- kstats/NAME --- */

#define MILLION 1000000

static void show_line(struct seq_file *file, const struct cell *cell, unsigned int slot, char what,
		      unsigned int id, u64 all)
{
	unsigned int shift =
		bucket_shift(slot, ((struct reading *)file->private)->metric->frac_bits);
	bool is_last = cell->below == all;

	seq_printf(file, "slot %-3u CPU%c %-4u count %8llu avg %8llu p %c.%06llu\n", slot, what, id,
		   cell->count, div64_u64(cell->sum, cell->count) << shift, is_last ? '1' : '0',
		   is_last ? 0 : mul_u64_u64_div_u64(cell->below, MILLION, all));
}

static int show_slot(struct seq_file *file, void *element)
{
	const struct reading *reading = file->private;
	unsigned int slot, cpu;

	if (element == SEQ_START_TOKEN)
		return 0;
	slot = slot_of(reading, element);
	for_each_possible_cpu(cpu) if (cell_at(reading, cpu, slot)->count) show_line(
		file, cell_at(reading, cpu, slot), slot, ' ', cpu, row_count(reading, cpu));
	show_line(file, element, slot, 'S', nr_cpu_ids, row_count(reading, nr_cpu_ids));
	return 0;
}

static const struct seq_operations slot_lines = {
	.start = seq_begin,
	.next = seq_next_slot,
	.stop = seq_end,
	.show = show_slot,
};

/* --- kstats/_raw/NAME --- */

static const char *state_of(const struct kstats *metric)
{
	if (metric->trace && kstats_trace_is_gone(metric->trace))
		return "gone";
	return READ_ONCE(metric->is_active) ? "active" : "stopped";
}

static void show_head(struct seq_file *file, const struct reading *reading)
{
	const struct kstats *metric = reading->metric;

	seq_printf(file, "name %s\nbits %u\ncpus %u\nstate %s\ncount %llu\n", metric->name,
		   metric->frac_bits, nr_cpu_ids, state_of(metric), row_count(reading, nr_cpu_ids));
	if (metric->trace)
		kstats_trace_describe(metric->trace, metric, file);
}

static int show_raw_slot(struct seq_file *file, void *element)
{
	const struct reading *reading = file->private;
	unsigned int slot, cpu;

	if (element == SEQ_START_TOKEN) {
		show_head(file, reading);
		return 0;
	}
	slot = slot_of(reading, element);
	for_each_possible_cpu(cpu)
	{
		const struct cell *cell = cell_at(reading, cpu, slot);

		if (cell->count)
			seq_printf(file, "slot %u cpu %u count %llu sum %llu\n", slot, cpu,
				   cell->count, cell->sum);
	}
	return 0;
}

static const struct seq_operations raw_lines = {
	.start = seq_begin,
	.next = seq_next_slot,
	.stop = seq_end,
	.show = show_raw_slot,
};

/* --- opening and closing --- */

static int open_reading(struct inode *inode, struct file *file, const struct seq_operations *lines)
{
	const struct kstats *metric = inode->i_private;
	unsigned int slots = BUCKET_SLOTS(metric->frac_bits);
	struct reading *reading;
	struct cell *cells = NULL;

	if (file->f_mode & FMODE_READ) {
		cells = kvcalloc((size_t)nr_cpu_ids + 1, slots * sizeof(*cells), GFP_KERNEL);
		if (!cells)
			return -ENOMEM;
	}
	reading = __seq_open_private(file, lines, sizeof(*reading));
	if (!reading) {
		kvfree(cells);
		return -ENOMEM;
	}
	*reading = (struct reading){ .metric = metric, .slots = slots, .cells = cells };
	return 0;
}

static int open_file(struct inode *inode, struct file *file)
{
	return open_reading(inode, file, &slot_lines);
}

static int open_raw(struct inode *inode, struct file *file)
{
	return open_reading(inode, file, &raw_lines);
}

static int release_reading(struct inode *inode, struct file *file)
{
	struct seq_file *sequence = file->private_data;
	struct reading *reading = sequence->private;

	kvfree(reading->cells);
	return seq_release_private(inode, file);
}

/* --- commands --- */

static void start_metric(struct kstats *metric)
{
	WRITE_ONCE(metric->is_active, true);
}

static const struct {
	const char *word;
	void (*run)(struct kstats *metric);
} commands[] = {
	{ "START", start_metric },
	{ "STOP", kstats_stop },
	{ "RESET", kstats_reset },
};

static int run_command(struct kstats *metric, const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcasecmp(word, commands[i].word) != 0)
			continue;
		if (mutex_lock_interruptible(&metric->command))
			return -EINTR;
		commands[i].run(metric);
		mutex_unlock(&metric->command);
		return 0;
	}
	return -EINVAL;
}

static ssize_t write_command(struct file *file, const char __user *bytes, size_t length,
			     loff_t *position)
{
	char word[16];
	int err;

	if (!length || length >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, bytes, length))
		return -EFAULT;
	word[length] = '\0';
	if (strlen(word) != length)
		return -EINVAL;
	if (word[length - 1] == '\n')
		word[length - 1] = '\0';
	err = run_command(file_inode(file)->i_private, word);
	return err ? err : length;
}

const struct file_operations kstats_file_ops = {
	.owner = THIS_MODULE,
	.open = open_file,
	.read = seq_read,
	.write = write_command,
	.llseek = seq_lseek,
	.release = release_reading,
};

const struct file_operations kstats_raw_ops = {
	.owner = THIS_MODULE,
	.open = open_raw,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = release_reading,
};
