/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/sample_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "os/cpulist.h"

/* A descriptor or -1. */
static int open_event(unsigned cpu, unsigned frequency, bool is_hardware)
{
	struct perf_event_attr attr = {
		.type = is_hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = is_hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
	};

	/* The clock has a period in ns, which is exact. */
	if (is_hardware) {
		attr.freq = 1;
		attr.sample_freq = frequency;
	} else {
		attr.sample_period = NS_PER_S / frequency;
	}
	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct error *open_on(struct sample_events *events, const struct bpf_program *program,
			     unsigned cpu, unsigned frequency)
{
	int event = open_event(cpu, frequency, true);
	struct bpf_link *link;

	if (event < 0)
		event = open_event(cpu, frequency, false);
	/* An offline CPU has no event. */
	if (event < 0 && errno == ENODEV)
		return NULL;
	if (event < 0)
		return error_system(errno, "samples of CPU %u", cpu);
	link = bpf_program__attach_perf_event(program, event);
	if (!link) {
		struct error *err = error_system(errno, "samples of CPU %u", cpu);

		close(event);
		return err;
	}
	if (!array_push(&events->links, link)) {
		bpf_link__destroy(link);
		return &error_no_memory;
	}
	return NULL;
}

struct error *sample_events_open(struct sample_events *events, const struct bpf_program *program,
				 unsigned frequency)
{
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	struct error *err = cpus_list_possible(&cpus);

	for (size_t i = 0; !err && i < cpus.count; i++)
		err = open_on(events, program, cpus.items[i], frequency);
	if (!err && !events->links.count)
		err = error_create("no CPU can be sampled");
	return err;
}

void sample_events_close(struct sample_events *events)
{
	for (size_t i = 0; i < events->links.count; i++)
		bpf_link__destroy(events->links.items[i]);
	array_deinit(&events->links);
}
