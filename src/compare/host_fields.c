/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/host_fields.h"

#define AT(member) offsetof(struct host_context, member)

const struct host_field host_fields[HOST_FIELD_COUNT] = {
	{ "kernel_name", HOST_TEXT, AT(kernel_name), "", false },
	{ "kernel_release", HOST_TEXT, AT(kernel_release), "", false },
	{ "arch", HOST_TEXT, AT(arch), "", false },
	{ "cpu_model", HOST_TEXT, AT(cpu_model), "", false },
	{ "cpu_vendor", HOST_TEXT, AT(cpu_vendor), "", false },
	{ "total_memory_kib", HOST_NUMBER, AT(total_memory_kib), "", false },
	{ "hugepages_total", HOST_NUMBER, AT(hugepages_total), "", false },
	{ "hugepages_free", HOST_NUMBER, AT(hugepages_free), "", false },
	{ "hugepages_size_kib", HOST_NUMBER, AT(hugepages_size_kib), "", false },
	{ "online_cpus", HOST_NUMBER, AT(online_cpus), "", false },
	{ "numa_nodes", HOST_NUMBER, AT(numa_nodes), "", false },
	{ "clock_ticks_per_s", HOST_NUMBER, AT(clock_ticks_per_s), "", false },
	{ "thp_enabled", HOST_TEXT, AT(thp_enabled), "", false },
	{ "thp_defrag", HOST_TEXT, AT(thp_defrag), "", false },
	{ "kernel_cmdline", HOST_TEXT, AT(kernel_cmdline), "", false },
	{ "boot_id", HOST_TEXT, AT(boot_id), "", false },
	{ "boot_time_unix_s", HOST_NUMBER, AT(boot_time_unix_s), "", true },
	{ "uptime_clock_ticks", HOST_NUMBER, AT(uptime_clock_ticks), "", true },
	{ "cpufreq_governor", HOST_PAIRS, AT(cpufreq_governor), "cpu", false },
	{ "sched_tunables", HOST_PAIRS, AT(sched_tunables), "", false },
};
