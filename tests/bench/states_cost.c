/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * states_cost WORKLOAD ROUNDS: what the programs of exact thread states cost a switch and a
 * wake-up, what programs there cost that do nothing (elapsed.bpf.c is the least that times can
 * cost), by the kernel's own count (kernel.bpf_stats_enabled must be on), by turns:
 * "states:WORKLOAD WAY SWITCH_NS WAKEUP_NS". The workload runs beside.
 */
#include "sched/state_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elapsed.skel.h>
#include <nothing.skel.h>

#define MEASURED_US 500000

struct count {
	uint64_t runs, ns;
};

static void fail(const char *what)
{
	fprintf(stderr, "states_cost: %s\n", what);
	exit(1);
}

/* The sums over all programs of that name. */
static struct count count_of(const char *name)
{
	struct count count = { 0 };
	__u32 id = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = { 0 };
		__u32 bytes = sizeof(info);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &bytes) && strcmp(info.name, name) == 0) {
			count.runs += info.run_cnt;
			count.ns += info.run_time_ns;
		}
		close(fd);
	}
	return count;
}

static double each(struct count before, struct count after)
{
	return (double)(after.ns - before.ns) / (double)(after.runs - before.runs);
}

/* Programs of these names that belong to other processes may have ended meanwhile. */
static bool is_sound(struct count before, struct count after)
{
	return after.runs >= before.runs + 1000 && after.ns > before.ns;
}

#define TRIES 5

static void measure(const char *workload, const char *way)
{
	for (int i = 0; i < TRIES; i++) {
		struct count switches[2], wakeups[2];

		usleep(MEASURED_US / 10);
		switches[0] = count_of("on_switch");
		wakeups[0] = count_of("on_wakeup");
		usleep(MEASURED_US);
		switches[1] = count_of("on_switch");
		wakeups[1] = count_of("on_wakeup");
		if (!is_sound(switches[0], switches[1]) || !is_sound(wakeups[0], wakeups[1]))
			continue;
		printf("states:%s %s %.1f %.1f\n", workload, way, each(switches[0], switches[1]),
		       each(wakeups[0], wakeups[1]));
		return;
	}
	fail("hardly any switches, or kernel.bpf_stats_enabled is off");
}

static void measure_nothing(const char *workload)
{
	struct nothing_bpf *nothing = nothing_bpf__open_and_load();

	if (!nothing || nothing_bpf__attach(nothing))
		fail("cannot attach");
	measure(workload, "nothing");
	nothing_bpf__destroy(nothing);
}

static void measure_elapsed(const char *workload)
{
	struct elapsed_bpf *elapsed = elapsed_bpf__open_and_load();

	if (!elapsed || elapsed_bpf__attach(elapsed))
		fail("cannot attach");
	measure(workload, "record");
	elapsed_bpf__destroy(elapsed);
}

static void measure_states(const char *workload)
{
	struct state_session *session;
	struct error *err = state_session_open(&session);

	if (err)
		fail(err->message);
	measure(workload, "exact");
	state_session_close(session);
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds < 1)
		fail("WORKLOAD ROUNDS");
	for (int i = 0; i < rounds; i++) {
		measure_nothing(argv[1]);
		measure_elapsed(argv[1]);
		measure_states(argv[1]);
	}
	return 0;
}
