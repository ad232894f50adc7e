/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <string.h>

#include "doctor/probe_child.h"
#include "doctor/probe_run.h"
#include "os/tasks.h"

const char *const presence_names[PRESENCE_COUNT] = {
	[PRESENCE_NO] = "no",
	[PRESENCE_PARTLY] = "partly",
	[PRESENCE_YES] = "yes",
};

/* In the order of the output: threads, their delays, cgroups, the host, histograms. */
#define PROBE(its_name, its_gives, its_look, ...)                                   \
	{                                                                           \
		.name = its_name, .gives = its_gives, .look = its_look, __VA_ARGS__ \
	}
#define METRIC(id)       .metric = METRIC_##id
#define CONFIG(option)   .config = #option
#define SOURCE(its_name) .source = its_name
#define PER_PROCESS      .per_process = true
#define READING(member)  .reading = offsetof(struct cgroup_counters, member)

/* clang-format off */
const struct probe probes[] = {
	PROBE("threads", "every thread of the host", look_threads,),
	PROBE("bpf", "threads from the kernel's structures: captures need not read files of threads, and profiles work",
	      look_bpf, CONFIG(DEBUG_INFO_BTF)),
	PROBE("in-progress", "elapsed time of waits in progress",
	      look_waits_in_progress, METRIC(wait_in_progress_ns), CONFIG(SCHEDSTATS)),
	PROBE("heap", "bytes that each thread allocated and freed, in processes that use jemalloc", look_heap,),
	PROBE("stat", "state, policy, priorities, page faults, CPU time in ticks",
	      look_metric, METRIC(minflt), CONFIG(PROC_FS)),
	PROBE("status", "context switches, CPU affinity, users",
	      look_metric, METRIC(voluntary_csw), CONFIG(PROC_FS)),
	PROBE("schedstat", "run time and wait time in ns, time slices",
	      look_metric, METRIC(run_time_ns), CONFIG(SCHED_INFO)),
	PROBE("sched", "migrations",
	      look_metric, METRIC(nr_migrations), CONFIG(SCHED_DEBUG)),
	PROBE("schedstats", "wake-ups by kind; time asleep, blocked, waiting for I/O, and the longest of each",
	      look_schedstats, METRIC(nr_wakeups), CONFIG(SCHEDSTATS)),
	PROBE("time-slice", "the current time slice of fair threads",
	      look_metric, METRIC(fair_slice_ns)),
	PROBE("core-scheduling", "time for which core scheduling kept CPUs idle",
	      look_core_scheduling, METRIC(core_forceidle_sum), CONFIG(SCHED_CORE)),
	PROBE("io", "bytes and calls of reads and writes",
	      look_access, METRIC(rchar), CONFIG(TASK_IO_ACCOUNTING), SOURCE("io")),
	PROBE("smaps_rollup", "memory of each process by kind", look_access, SOURCE("smaps_rollup"), PER_PROCESS),
	PROBE("exe", "executables of processes, for --group-by exe", look_access, SOURCE("exe"), PER_PROCESS),
	PROBE("taskstats", "delays by waits for a CPU; peak memory use",
	      look_taskstats, CONFIG(TASKSTATS)),
	PROBE("delays", "delays by block I/O, swap, reclaim, thrashing, compaction, copies of pages",
	      look_delays, CONFIG(TASK_DELAY_ACCT)),
	PROBE("delay-peaks", "the longest and the shortest delay of each kind",
	      look_peaks, METRIC(cpu_delay_max_ns), CONFIG(TASK_DELAY_ACCT)),
	PROBE("irq-delays", "time taken by interrupts",
	      look_irq_delays, METRIC(irq_delay_total_ns), CONFIG(IRQ_TIME_ACCOUNTING)),
	PROBE("cgroups", "the cgroup of every thread, and its CPU time", look_cgroups, CONFIG(CGROUPS)),
	PROBE("cgroup-cpu", "throttling, cpu.max and weights of cgroups",
	      look_controller, SOURCE("cpu"), CONFIG(CGROUP_SCHED), READING(cpu.weight)),
	PROBE("cgroup-memory", "memory of cgroups: use, limits, memory.stat, memory.events",
	      look_controller, SOURCE("memory"), CONFIG(MEMCG), READING(memory.current)),
	PROBE("cgroup-pids", "processes of cgroups, and their limit",
	      look_controller, SOURCE("pids"), CONFIG(CGROUP_PIDS), READING(pids.current)),
	PROBE("cgroup-pressure", "pressure of each cgroup",
	      look_cgroup_pressure, CONFIG(PSI), READING(psi.cpu.some.total_usec)),
	PROBE("pressure", "pressure of the host: CPU, memory, I/O", look_pressure, CONFIG(PSI)),
	PROBE("sched_ext", "the active BPF scheduler, and the number of threads that it rejected",
	      look_sched_ext, CONFIG(SCHED_CLASS_EXT)),
	PROBE("host-counters", "CPUs, run queue, vmstat, disks, network interfaces", look_counters,),
	PROBE("kernel-functions", "histograms of the duration of kernel functions: kstats trace FUNCTION",
	      look_kernel_functions,),
	PROBE("kstats-bpf", "persistent histograms of system calls, tracepoints and programs: kstats trace --via bpf",
	      look_kstats_bpf,),
	PROBE("kstats-module", "the same for the kernel, with kstats.ko: kstats trace --via module",
	      look_kstats_module,),
};
/* clang-format on */
const size_t probe_count = array_length(probes);

const char *probe_name(size_t number)
{
	return number < probe_count ? probes[number].name : NULL;
}

static struct error *find_child(struct probe_run *run, const struct probe_child *child)
{
	for (size_t i = 0; i < run->snapshot->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(run->snapshot, i);

		if (thread->tid == (uint32_t)child->pid) {
			run->child = thread;
			return NULL;
		}
	}
	return error_create("/proc does not show this process's own child");
}

static struct error *run_probes(struct probe_run *run, const struct capture_options *options,
				struct probe_result *ret)
{
	struct probe_child child;
	struct error *err = file_open_dir("/proc", &run->proc);

	if (!err && !tasks_are_ours(run->proc))
		err = error_create(
			"/proc belongs to another PID namespace, so its process IDs are different");
	if (!err)
		err = probe_child_start(&child);
	if (err)
		return err;
	err = capture_run(options, &run->snapshot);
	probe_child_stop(&child);
	if (!err)
		err = find_child(run, &child);
	if (!err)
		err = cgroup_tree_open(run->proc, &run->cgroups);
	if (err)
		return err;
	for (size_t i = 0; i < probe_count; i++)
		probes[i].look(run, &probes[i], &ret[i]);
	return NULL;
}

struct error *doctor_run(void (*progress)(void *context, size_t done, size_t total),
			 void *progress_context, struct probe_result **ret)
{
	_cleanup_(probe_results_destroy) struct probe_result *results =
		calloc(probe_count, sizeof(*results));
	const struct capture_options options = { .progress = progress,
						 .progress_context = progress_context };
	struct probe_run run = { .proc = -1, .cgroups.dir = -1 };
	struct error *err = results ? run_probes(&run, &options, results) : &error_no_memory;

	snapshot_destroy(run.snapshot);
	file_buffer_deinit(&run.buffer);
	cgroup_tree_close(&run.cgroups);
	if (run.proc >= 0)
		close(run.proc);
	if (!err)
		*ret = take_ptr(results);
	return err;
}

void probe_results_destroy(struct probe_result *results)
{
	for (size_t i = 0; results && i < probe_count; i++) {
		free(results[i].why);
		free(results[i].command);
		free(results[i].boot);
		free(results[i].covers);
	}
	free(results);
}
