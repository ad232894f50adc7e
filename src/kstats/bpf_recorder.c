/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_recorder.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "kstats/bpf_metric.h"
#include "kstats/bpf_overhead.h"
#include "kstats/bpf_pins.h"
#include "kstats/bpf_program.h"

/* --- making --- */

static void set_active(struct kstats_program *program, const struct kstats_spec *spec)
{
	for (unsigned which = 0; which < KSTATS_WHICH_COUNT; which++)
		kstats_control_begin(program->control, which,
				     !spec->is_stopped && (which == KSTATS_VALUES ||
							   kstats_program_has_gaps(program)));
}

static struct error *make_metric(const struct kstats_spec *spec, int pins,
				 struct kstats_traced *ret)
{
	_cleanup_(kstats_program_close) struct kstats_program *program = NULL;
	struct stat there;
	struct error *err;

	if (fstatat(pins, spec->name, &there, 0) == 0)
		return error_coded(EEXIST, "metric %s already exists", spec->name);
	err = kstats_program_open(spec, &program);
	if (err)
		return err;
	if (!program->control->overhead_ns)
		program->control->overhead_ns = kstats_overhead(program);
	/* Before it is pinned: a metric is complete when other commands can find it. */
	set_active(program, spec);
	err = kstats_pins_add(pins, spec->name, program);
	if (!err)
		ret->probes = program->links.count;
	return err;
}

static struct error *trace(const struct kstats_spec *spec, struct kstats_traced *ret)
{
	_cleanup_close_ int pins = -1;
	struct error *err = kstats_name_check(spec->name);

	if (!err)
		err = kstats_pins_lock(true, &pins);
	return err ? err : make_metric(spec, pins, ret);
}

static struct error *take_away(const char *name)
{
	_cleanup_close_ int pins = -1;
	struct error *err;

	if (strncmp(name, KSTATS_GAP, strlen(KSTATS_GAP)) == 0)
		return error_coded(EINVAL, "metric '%s' is removed with '%s'", name,
				   name + strlen(KSTATS_GAP));
	err = kstats_name_check(name);
	if (err) {
		error_destroy(err);
		return error_coded(ENOENT, "no metric %.*s", KSTATS_NAME_MAX, name);
	}
	err = kstats_pins_lock(false, &pins);
	return err ? err : kstats_pins_remove(pins, name);
}

/* --- what there is --- */

static struct error *read_metric(const char *name, struct kstats_table **ret)
{
	_cleanup_(kstats_metric_close) struct kstats_metric *metric = NULL;
	struct error *err = kstats_metric_open(name, &metric);

	return err ? err : kstats_metric_read(metric, ret);
}

static struct error *entry_of(const char *name, struct kstats_entry *ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	struct error *err = read_metric(name, &table);

	if (err)
		return err;
	err = kstats_entry_of_table(table, ret);
	if (!err)
		ret->name = take_ptr(table->name);
	return err;
}

/* A metric that cannot be read can be removed, so list it. */
static struct error *entry_of_broken(const char *name, struct error *why, struct kstats_entry *ret)
{
	const char *how =
		why->errnum == EPROTO ? "made by another version of ctprof" : why->message;

	if (why == &error_no_memory)
		return why;
	ret->name = strdup(name);
	ret->how = strdup(how);
	ret->rate = (double)NAN;
	error_destroy(why);
	if (ret->name && ret->how)
		return NULL;
	free(ret->name);
	free(ret->how);
	return &error_no_memory;
}

/* Few have any. */
static struct error *add_gap(const char *name, struct kstats_entries *entries)
{
	_cleanup_free_ char *gap = text_print(KSTATS_GAP "%s", name);
	struct kstats_entry entry = { 0 };
	struct error *err = gap ? entry_of(gap, &entry) : &error_no_memory;

	if (!err)
		entries->items[entries->count++] = entry;
	if (err == &error_no_memory)
		return err;
	error_destroy(err);
	return NULL;
}

static struct error *add_both(const char *name, struct kstats_entries *entries)
{
	struct kstats_entry entry = { 0 };
	struct error *err;
	bool is_whole;

	if (!array_reserve(entries, 2))
		return &error_no_memory;
	err = entry_of(name, &entry);
	is_whole = !err;
	if (err)
		err = entry_of_broken(name, err, &entry);
	if (err)
		return err;
	entries->items[entries->count++] = entry;
	return is_whole ? add_gap(name, entries) : NULL;
}

static struct error *list_bpf_metrics(struct kstats_entries *entries)
{
	struct kstats_names names = { 0 };
	_cleanup_close_ int pins = -1;
	struct error *err = kstats_pins_lock(false, &pins);

	if (err || pins < 0)
		return err;
	err = kstats_pins_list(pins, &names);
	for (size_t i = 0; !err && i < names.count; i++)
		err = add_both(names.items[i], entries);
	kstats_names_clear(&names);
	return err;
}

/* `*ret_has_gaps`: it has a GAP metric. */
static struct error *add_table(const char *name, struct kstats_tables *tables, bool *ret_has_gaps)
{
	_cleanup_(kstats_metric_close) struct kstats_metric *metric = NULL;
	struct kstats_table *table;
	struct error *err = kstats_metric_open_now(name, &metric);

	if (!err)
		err = kstats_metric_read(metric, &table);
	if (err)
		return err;
	*ret_has_gaps = metric->config.has_gaps;
	if (array_push(tables, table))
		return NULL;
	kstats_table_destroy(table);
	return &error_no_memory;
}

static struct error *read_now(const char *name, struct kstats_tables *tables)
{
	_cleanup_free_ char *gap = text_print(KSTATS_GAP "%s", name);
	bool has_gaps;
	struct error *err = gap ? add_table(name, tables, &has_gaps) : &error_no_memory;

	return err || !has_gaps ? err : add_table(gap, tables, &has_gaps);
}

static struct error *command(const char *name, enum kstats_command what)
{
	_cleanup_(kstats_metric_close) struct kstats_metric *metric = NULL;
	struct error *err = kstats_metric_open(name, &metric);

	return err ? err : kstats_metric_command(metric, what);
}

const struct kstats_recorder kstats_bpf = {
	.name = "bpf",
	.trace = trace,
	.list = list_bpf_metrics,
	.read = read_metric,
	.names = kstats_pins_names,
	.read_now = read_now,
	.command = command,
	.remove = take_away,
};
