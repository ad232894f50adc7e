/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/host_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/table.h"

enum row_kind { ROW_TEXT, ROW_NUMBER, ROW_PAIRS };

#define AT(member) offsetof(struct host_context, member)

static const struct {
	const char *name;
	enum row_kind kind;
	size_t offset;
	const char *prefix; /* of the keys of pairs */
} rows[] = {
	{ "kernel_name", ROW_TEXT, AT(kernel_name), NULL },
	{ "kernel_release", ROW_TEXT, AT(kernel_release), NULL },
	{ "arch", ROW_TEXT, AT(arch), NULL },
	{ "cpu_model", ROW_TEXT, AT(cpu_model), NULL },
	{ "cpu_vendor", ROW_TEXT, AT(cpu_vendor), NULL },
	{ "total_memory_kib", ROW_NUMBER, AT(total_memory_kib), NULL },
	{ "hugepages_total", ROW_NUMBER, AT(hugepages_total), NULL },
	{ "hugepages_free", ROW_NUMBER, AT(hugepages_free), NULL },
	{ "hugepages_size_kib", ROW_NUMBER, AT(hugepages_size_kib), NULL },
	{ "online_cpus", ROW_NUMBER, AT(online_cpus), NULL },
	{ "numa_nodes", ROW_NUMBER, AT(numa_nodes), NULL },
	{ "thp_enabled", ROW_TEXT, AT(thp_enabled), NULL },
	{ "thp_defrag", ROW_TEXT, AT(thp_defrag), NULL },
	{ "kernel_cmdline", ROW_TEXT, AT(kernel_cmdline), NULL },
	{ "boot_id", ROW_TEXT, AT(boot_id), NULL },
	{ "boot_time_unix_s", ROW_NUMBER, AT(boot_time_unix_s), NULL },
	{ "cpufreq_governor", ROW_PAIRS, AT(cpufreq_governor), "cpu" },
	{ "sched_tunables", ROW_PAIRS, AT(sched_tunables), "" },
};

static void print_text(FILE *out, const struct name *name)
{
	char *text = text_visible(name_text(name));

	fprintf(out, " %s\n", name && text ? text : "(unknown)");
	free(text);
}

static void print_pairs(FILE *out, const struct label_pairs *pairs, const char *prefix)
{
	fputc('\n', out);
	if (!pairs->count)
		fprintf(out, "  %s\n", pairs->measured ? "(empty)" : "(unknown)");
	for (size_t i = 0; i < pairs->count; i++) {
		char *key = text_visible(name_text(pairs->items[i].key));

		fprintf(out, "  %s%s =", prefix, key ? key : "");
		free(key);
		print_text(out, pairs->items[i].value);
	}
}

void report_host(FILE *out, const struct host_context *host)
{
	if (!host) {
		fprintf(out, "(host context unavailable)\n");
		return;
	}
	for (size_t i = 0; i < array_length(rows); i++) {
		const void *at = (const char *)host + rows[i].offset;
		const struct reading *number = at;

		fprintf(out, "%s:", rows[i].name);
		switch (rows[i].kind) {
		case ROW_TEXT:
			print_text(out, *(const struct name *const *)at);
			break;
		case ROW_NUMBER:
			if (number->measured)
				fprintf(out, " %" PRIu64 "\n", number->value);
			else
				fprintf(out, " (unknown)\n");
			break;
		case ROW_PAIRS:
			print_pairs(out, at, rows[i].prefix);
			break;
		}
	}
}
