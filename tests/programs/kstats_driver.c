/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF recorder of kstats, called directly.
 *
 *	kstats_driver trace [KEY=VALUE...] NAME [bits B] [start X] [end Y]
 *	kstats_driver list
 *	kstats_driver show NAME          facts, a line each; then "slot ROW SLOT COUNT SUM"
 *	kstats_driver start|stop|reset|remove NAME
 *	kstats_driver values BITS COUNT  puts that many of kstats_values.h through the program
 *
 * An error's code is the exit status, so that callers can tell one from the other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kstats/bpf_metric.h"
#include "kstats/bpf_program.h"
#include "kstats/bpf_recorder.h"
#include "kstats/distribution.h"

#include "../kstats_values.h"

#include <kstats.skel.h>

static int fail(struct error *err)
{
	int code = err->errnum ? err->errnum : 1;

	fprintf(stderr, "%s\n", err->message);
	error_destroy(err);
	return code;
}

/* --- trace --- */

static unsigned by_named(const char *name)
{
	for (unsigned i = 0; i < KSTATS_BY_COUNT; i++)
		if (strcmp(kstats_bys[i].name, name) == 0)
			return i;
	return 0;
}

static void take_option(const char *word, struct kstats_spec *spec)
{
	const char *value = strchr(word, '=') + 1;

	if (strncmp(word, "key=", 4) == 0) {
		spec->key = strcmp(value, "cpu") == 0       ? KSTATS_KEY_CPU
			    : strncmp(value, "arg", 3) == 0 ? KSTATS_KEY_ARGUMENT
							    : KSTATS_KEY_TASK;
		sscanf(value, "arg%u:%u", &spec->argument, &spec->end_argument);
	} else if (strncmp(word, "by=", 3) == 0) {
		spec->by = by_named(value);
	} else if (strncmp(word, "pid=", 4) == 0) {
		spec->tgid = (uint32_t)strtoul(value, NULL, 10);
	} else if (strncmp(word, "comm=", 5) == 0) {
		spec->comm = strdup(value);
	} else if (strncmp(word, "cgroup=", 7) == 0) {
		spec->cgroup = strdup(value);
	} else if (strncmp(word, "cpus=", 5) == 0) {
		spec->cpus = strdup(value);
	} else if (strncmp(word, "stopped=", 8) == 0) {
		spec->is_stopped = true;
	} else if (strncmp(word, "force=", 6) == 0) {
		spec->forces_returns = true;
	}
}

static int do_trace(char **words)
{
	struct kstats_spec spec = { 0 };
	struct error *err;

	for (; *words && strchr(*words, '='); words++)
		take_option(*words, &spec);
	err = kstats_spec_parse(words, &spec);
	if (!err)
		err = kstats_bpf.trace(&spec, &(struct kstats_traced){ 0 });
	kstats_spec_clear(&spec);
	return err ? fail(err) : 0;
}

/* --- what there is --- */

static int do_list(void)
{
	struct kstats_entries entries = { 0 };
	struct error *err = kstats_bpf.list(&entries);

	for (size_t i = 0; !err && i < entries.count; i++)
		printf("%s\t%s\t%" PRIu64 "\t%s\t%s\t%s\n", entries.items[i].name,
		       entries.items[i].is_active ? "active" : "stopped", entries.items[i].count,
		       entries.items[i].start ? entries.items[i].start : "-",
		       entries.items[i].end ? entries.items[i].end : "-", entries.items[i].how);
	kstats_entries_clear(&entries);
	return err ? fail(err) : 0;
}

static void show_slots(const struct kstats_table *table)
{
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct kstats_row *row = &table->rows.items[i];
		uint64_t count = 0;

		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
			count += row->slots[slot].count;
			if (row->slots[slot].count || row->slots[slot].sum)
				printf("slot %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n", row->id,
				       slot, row->slots[slot].count, row->slots[slot].sum);
		}
		printf("row %" PRId64 " %" PRIu64 " %s\n", (int64_t)row->id, count,
		       row->label ? row->label : "-");
	}
}

static int do_show(const char *name)
{
	struct kstats_table *table = NULL;
	struct kstats_distribution all = { 0 };
	struct error *err = kstats_bpf.read(name, &table);

	if (!err)
		err = kstats_distribution_of(table, NULL, &all);
	if (err) {
		kstats_table_destroy(table);
		return fail(err);
	}
	printf("name %s\nhow %s\nactive %d\noverhead %" PRIu64 "\ncount %" PRIu64 "\nmean %.1f\n",
	       table->name, table->how, table->is_active, table->overhead_ns, all.count,
	       kstats_mean(&all));
	printf("p50 %" PRIu64 "\np99 %" PRIu64 "\nmax %" PRIu64 "\n",
	       kstats_percentile(&all, 0.5).high, kstats_percentile(&all, 0.99).high,
	       kstats_percentile(&all, 1).high);
	for (unsigned i = 0; i < KSTATS_LOSS_COUNT; i++)
		if (table->losses_known >> i & 1)
			printf("loss %s %" PRIu64 "\n", kstats_losses[i].name, table->losses[i]);
	if (table->earlier_known)
		printf("earlier %" PRIu64 "\n", table->earlier);
	show_slots(table);
	kstats_distribution_clear(&all);
	kstats_table_destroy(table);
	return 0;
}

static int do_command(const char *word, const char *name)
{
	static const char *const words[] = {
#define WORD(id, name, prose) name,
		KSTATS_COMMANDS(WORD)
#undef WORD
	};
	struct error *err = NULL;

	for (unsigned i = 0; i < KSTATS_COMMAND_COUNT; i++)
		if (strcmp(words[i], word) == 0)
			err = kstats_bpf.command(name, i);
	return err ? fail(err) : 0;
}

static int do_remove(const char *name)
{
	struct error *err = kstats_bpf.remove(name);

	return err ? fail(err) : 0;
}

/* --- known values --- */

static struct error *put_values(struct kstats_program *program, unsigned long count,
				struct kstats_table *expected)
{
	const unsigned bits = expected->frac_bits;
	struct kstats_row *row;
	struct error *err = kstats_table_row(expected, 0, NULL, &row);

	for (unsigned long i = 0; !err && i < count; i++) {
		const uint64_t value = kstats_value(i);
		const unsigned slot = bucket_slot(value, bits);

		row->slots[slot].count++;
		row->slots[slot].sum += value >> bucket_shift(slot, bits);
		err = kstats_program_record(program, value);
	}
	return err;
}

/* Slots in which the two differ. */
static unsigned differences(const struct kstats_program *program,
			    const struct kstats_table *expected)
{
	const unsigned slots = BUCKET_SLOTS(expected->frac_bits);
	const size_t bytes = sizeof(struct kstats_cell) + slots * sizeof(struct kstats_pair);
	const int cpus = libbpf_num_possible_cpus();
	char *cells = calloc((size_t)cpus, bytes);
	const __u32 zero = 0;
	unsigned wrong = 0;

	if (!cells || bpf_map__lookup_elem(program->bpf->maps.cells, &zero, sizeof(zero), cells,
					   bytes * (size_t)cpus, 0))
		return slots;
	for (unsigned slot = 0; slot < slots; slot++) {
		const struct kstats_slot *all = &expected->rows.items[0].slots[slot];
		uint64_t count = 0, sum = 0;

		for (int cpu = 0; cpu < cpus; cpu++) {
			const struct kstats_cell *cell =
				(const struct kstats_cell *)(cells + bytes * (size_t)cpu);

			count += cell->slots[slot].count;
			sum += cell->slots[slot].sum;
		}
		wrong += count != all->count || sum != all->sum;
		if (count)
			printf("slot %u %" PRIu64 " %" PRIu64 "\n", slot, count, sum);
	}
	free(cells);
	return wrong;
}

static int do_values(const char *bits, const char *count)
{
	struct kstats_spec spec = { .name = (char *)"values",
				    .start = (char *)"by_hand",
				    .frac_bits = (unsigned)strtoul(bits, NULL, 10) };
	_cleanup_(kstats_program_close) struct kstats_program *program = NULL;
	_cleanup_(kstats_table_destroy) struct kstats_table *expected = NULL;
	struct error *err = kstats_program_open_empty(&spec, &program);
	unsigned wrong;

	if (!err)
		err = kstats_table_create("values", spec.frac_bits, "ns", &expected);
	if (!err) {
		kstats_control_set(program->control, KSTATS_VALUES, true);
		err = put_values(program, strtoul(count, NULL, 10), expected);
	}
	if (err)
		return fail(err);
	wrong = differences(program, expected);
	fprintf(stderr, "%u slots differ\n", wrong);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "trace") == 0)
		return do_trace(argv + 2);
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return do_list();
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return do_show(argv[2]);
	if (argc == 3 && strcmp(argv[1], "remove") == 0)
		return do_remove(argv[2]);
	if (argc == 3)
		return do_command(argv[1], argv[2]);
	if (argc == 4 && strcmp(argv[1], "values") == 0)
		return do_values(argv[2], argv[3]);
	fputs("usage: kstats_driver trace|list|show|start|stop|reset|remove|values\n", stderr);
	return 2;
}
