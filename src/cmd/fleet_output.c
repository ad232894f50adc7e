/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/fleet.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "snapshot/timestamp.h"

#define LIMIT_USUAL 15

void fleet_run_deinit(struct fleet_run *run)
{
	fleet_groups_deinit(&run->groups);
	fleet_hosts_deinit(&run->hosts);
	fleet_silent_hosts_deinit(&run->silent);
	fleet_partial_hosts_deinit(&run->partial);
	fleet_findings_deinit(&run->findings);
	fleet_wait_states_deinit(&run->waits);
	if (run->has_data)
		fleet_data_deinit(&run->data);
}

/* "since 2026-11-20 14:30:00", by UTC as in URLs; to be freed. */
static char *time_words(const char *word, uint64_t unix_s)
{
	const time_t time = (time_t)unix_s;
	char text[32];
	struct tm tm;

	if (!gmtime_r(&time, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		return text_print("%s %llu", word, (unsigned long long)unix_s);
	return text_print("%s %s UTC", word, text);
}

struct error *fleet_show(struct fleet_run *run, enum fleet_comparison comparison)
{
	const struct fleet_arguments *arguments = run->arguments;
	_cleanup_free_ char *first = NULL, *second = NULL;
	struct fleet_report report = {
		.data = &run->data,
		.findings = &run->findings,
		.waits = &run->waits,
		.silent = &run->silent,
		.partial = &run->partial,
		.comparison = comparison,
		.by = arguments->by,
		.url = run->url,
		.from_s = run->from_s,
		.cut_s = run->since_s,
		.to_s = run->to_s,
		.format = arguments->format,
		.limit = arguments->limit == LIMIT_UNSET ? LIMIT_USUAL : arguments->limit,
		.all = arguments->all,
	};
	struct error *err;

	if (comparison == FLEET_OF_GROUPS) {
		first = fleet_group_name(&run->groups, false);
		second = fleet_group_name(&run->groups, true);
		report.first_hosts = fleet_group_size(&run->groups, false);
		report.second_hosts = fleet_group_size(&run->groups, true);
	} else {
		first = time_words("before", run->since_s);
		second = time_words("since", run->since_s);
	}
	if (!first || !second)
		return &error_no_memory;
	report.first = first;
	report.second = second;
	pager_begin(arguments->format == TABLE_AS_TEXT ? PAGER_TEXT : PAGER_DATA);
	report.width = terminal_table_width();
	err = fleet_report_print(&report, stdout);
	return err ? err : output_end();
}

/* --- hosts --- */

enum host_field { NAME, KERNEL, ARCH, MODEL, CPUS, MEMORY, VERSION, SEEN, SILENT, LABELS };

static const struct table_column host_columns[] = {
	{ "host", "HOST", .type = TABLE_TEXT, .whole = true, .field = NAME },
	{ "kernel", "KERNEL", .type = TABLE_TEXT, .field = KERNEL },
	{ "arch", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = ARCH },
	{ "cpu_model", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = MODEL },
	{ "cpus", "CPUS", .type = TABLE_COUNT, .field = CPUS },
	{ "memory_bytes", "MEMORY", .type = TABLE_BYTES, .field = MEMORY },
	{ "version", "CTPROF", .type = TABLE_TEXT, .minor = 1, .field = VERSION },
	{ "seen", "LAST ROW", .type = TABLE_TEXT, .whole = true, .field = SEEN },
	{ "silent_ns", "SILENT FOR", .type = TABLE_NS, .field = SILENT },
	{ "labels", "LABELS", .type = TABLE_TEXT, .field = LABELS },
};

/* "version=1.5 zone=a", to be freed. */
static char *labels_of(const struct fleet_host *host)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (size_t i = 0; i < host->label_names.count; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", host->label_names.items[i],
			host->label_values.items[i]);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void get_host_cell(const void *context, const void *row, const struct table_column *column,
			  struct table_cell *ret)
{
	const struct fleet_run *run = context;
	const struct fleet_host *host = row;
	char seen[TIMESTAMP_TEXT_SIZE];

	switch ((enum host_field)column->field) {
	case NAME:
		table_string(ret, host->name);
		return;
	case KERNEL:
		table_string(ret, host->kernel);
		return;
	case ARCH:
		table_string(ret, host->arch);
		return;
	case MODEL:
		table_string(ret, host->cpu_model);
		return;
	case CPUS:
		table_count(ret, host->cpus);
		return;
	case MEMORY:
		ret->value =
			(struct table_value){ .type = TABLE_BYTES, .count = host->memory_bytes };
		return;
	case VERSION:
		table_string(ret, host->version);
		return;
	case SEEN:
		timestamp_print(seen, host->seen_s * 1000);
		table_printf(ret, "%.19sZ", seen);
		return;
	case SILENT:
		if (host->seen_s + FLEET_SILENT_S >= run->to_s)
			return;
		ret->value = (struct table_value){
			.type = TABLE_NS,
			.count = (run->to_s - host->seen_s) * NS_PER_S,
		};
		ret->shown =
			text_of(units_format_span(ret->buffer, (double)(run->to_s - host->seen_s)));
		return;
	case LABELS:
		table_owned(ret, labels_of(host));
		return;
	}
}

struct error *fleet_show_hosts(struct fleet_run *run)
{
	const enum table_format format = run->arguments->format;
	struct error *err;
	struct table table;

	pager_begin(format == TABLE_AS_TEXT ? PAGER_TEXT : PAGER_DATA);
	table_begin(&table, host_columns, array_length(host_columns),
		    (struct table_options){ .format = format,
					    .out = stdout,
					    .get = get_host_cell,
					    .context = run,
					    .width = terminal_table_width() });
	for (size_t i = 0; i < run->hosts.count; i++)
		if (!table_row(&table, &run->hosts.items[i]))
			break;
	err = table_end(&table);
	if (!err && format == TABLE_AS_TEXT)
		fleet_silent_hosts_print(&run->silent, stdout);
	return err ? err : output_end();
}
