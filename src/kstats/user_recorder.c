/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that record with libkstats: the calls that all recorders have.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "kstats/user_search.h"
#include "os/boot_id.h"
#include "os/cpulist.h"

static const char *unit_of(const struct kstats_region *region)
{
	return region->header.is_time ? unit_name(UNIT_NS) : region->header.unit;
}

/* --- the list --- */

static void destroy_entry(void *made)
{
	struct kstats_entry *entry = made;

	free(entry->name);
	free(entry->program);
	free(entry->unit);
	free(entry);
}

/* The command name of a process; NULL: it ended, or no memory. */
static char *program_of(uint32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[40], name[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (length <= 0)
		return NULL;
	name[length - (name[length - 1] == '\n')] = '\0';
	return strdup(name);
}

static struct error *make_entry(const struct user_found *found, struct kstats_region *region,
				size_t rows, void **ret)
{
	_cleanup_(kstats_distribution_clear) struct kstats_distribution all = { 0 };
	struct kstats_entry *entry = calloc(1, sizeof(*entry));
	const struct kstats_recorded_time time = kstats_region_recorded(region);
	struct error *err;

	(void)rows;
	if (!entry)
		return &error_no_memory;
	entry->is_active = kstats_region_is_active(region);
	err = kstats_region_add_up(region, &all);
	if (!err) {
		kstats_entry_measure(entry, &all, kstats_recorded_until_now(&time));
		entry->program = program_of(found->pid);
		entry->unit = strdup(unit_of(region));
		entry->name = text_print("%u:%s", found->pid, found->name);
		err = entry->name && entry->unit ? NULL : &error_no_memory;
	}
	if (err)
		destroy_entry(entry);
	else
		*ret = entry;
	return err;
}

static const struct user_kind entry_kind = { .make = make_entry, .destroy = destroy_entry };

static struct error *list_metrics(struct kstats_entries *entries)
{
	struct user_made made = { 0 };
	struct error *err = user_search(&entry_kind, &made, &entries->notes);

	if (!err && !array_reserve(entries, made.count))
		err = &error_no_memory;
	for (size_t i = 0; i < made.count; i++) {
		struct kstats_entry *entry = made.items[i];

		if (err) {
			destroy_entry(entry);
			continue;
		}
		entries->items[entries->count++] = *entry;
		free(entry);
	}
	array_deinit(&made);
	return err;
}

/* --- tables --- */

static struct error *describe_region(uint32_t pid, const struct kstats_region *region,
				     struct kstats_table *table)
{
	const struct kstats_recorded_time time = kstats_region_recorded(region);
	struct utsname system;

	uname(&system);
	table->host = strdup(system.nodename);
	table->recorder = strdup(kstats_user.name);
	table->instance = text_print("%" PRIu32, pid);
	if (!table->host || !table->recorder || !table->instance)
		return &error_no_memory;
	table->by = KSTATS_BY_CPU;
	table->cpus = cpus_possible();
	table->is_active = kstats_region_is_active(region);
	table->taken_ns = clock_ns(CLOCK_REALTIME);
	table->boot = boot_id();
	if (*region->header.labels)
		table->labels = strdup(region->header.labels);
	table->overhead_ns = region->header.overhead_ns;
	kstats_table_recorded(table, &time);
	/* No call is lost, so all losses are known to be 0. */
	table->losses_known = (1u << KSTATS_LOSS_COUNT) - 1;
	table->earlier_known = true;
	return NULL;
}

static struct error *read_region(uint32_t pid, const char *name, struct kstats_region *region,
				 size_t rows, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	struct error *err =
		kstats_table_create(name, region->header.frac_bits, unit_of(region), &table);

	if (!err)
		err = describe_region(pid, region, table);
	if (!err)
		err = kstats_region_read(region, rows, table);
	if (!err)
		*ret = take_ptr(table);
	return err;
}

static struct error *make_table(const struct user_found *found, struct kstats_region *region,
				size_t rows, void **ret)
{
	struct kstats_table *table;
	struct error *err = read_region(found->pid, found->name, region, rows, &table);

	if (!err)
		*ret = table;
	return err;
}

static size_t rows_of(const void *made)
{
	return ((const struct kstats_table *)made)->rows.count;
}

static void destroy_table(void *made)
{
	kstats_table_destroy(made);
}

static const struct user_kind table_kind = {
	.make = make_table,
	.rows = rows_of,
	.destroy = destroy_table,
};

static struct error *read_metrics(struct kstats_tables *tables, struct kstats_notes *notes)
{
	struct user_made made = { 0 };
	struct error *err = user_search(&table_kind, &made, notes);

	if (!err && !array_reserve(tables, made.count))
		err = &error_no_memory;
	for (size_t i = 0; i < made.count; i++)
		if (err)
			destroy_table(made.items[i]);
		else
			tables->items[tables->count++] = made.items[i];
	array_deinit(&made);
	return err;
}

/* --- by name --- */

/* "PID:NAME" */
static struct error *open_named(const char *name, bool writable, uint32_t *ret_pid,
				struct kstats_region *ret)
{
	struct text rest = text_of(name), word;
	uint32_t pid;

	if (!strchr(name, ':') || !text_cut(&rest, ':', &word) || !text_u32(word, &pid) ||
	    !kstats_shared_is_name(rest.bytes, rest.length))
		return error_coded(ENOENT, "no metric '%s'; metrics of programs are named PID:NAME",
				   name);
	*ret_pid = pid;
	return user_search_named(pid, rest.bytes, writable, ret);
}

static struct error *read_metric(const char *name, struct kstats_table **ret)
{
	struct kstats_region region;
	uint32_t pid;
	struct error *err = open_named(name, false, &pid, &region);

	if (err)
		return err;
	err = read_region(pid, strchr(name, ':') + 1, &region, SIZE_MAX, ret);
	kstats_region_unmap(&region);
	return err ? error_prefix(err, "metric %s", name) : NULL;
}

static struct error *command_metric(const char *name, enum kstats_command command)
{
	struct kstats_region region;
	uint32_t pid;
	struct error *err = open_named(name, true, &pid, &region);

	if (err)
		return err;
	err = kstats_region_command(&region, command);
	kstats_region_unmap(&region);
	return err ? error_prefix(err, "metric %s", name) : NULL;
}

const struct kstats_recorder kstats_user = {
	.name = "user",
	.list = list_metrics,
	.read = read_metric,
	.read_all = read_metrics,
	.command = command_metric,
};
