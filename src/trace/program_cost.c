/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/program_cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "base/units.h"
#include "trace/bpf_programs.h"

#define FIRST_NS (NS_PER_S / 10)
#define ALL_NS   NS_PER_S

void program_cost_init(struct program_cost *cost)
{
	*cost = (struct program_cost){ .enabled = -1 };
}

void program_cost_begin(struct program_cost *cost, uint64_t now)
{
	cost->enabled = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cost->begun = now;
}

void program_cost_tick(struct program_cost *cost, const struct bpf_object *object, uint64_t now)
{
	if (cost->enabled < 0)
		return;
	if (!cost->first_runs && now - cost->begun >= FIRST_NS)
		bpf_programs_cost(object, &cost->first_runs, &cost->first_ns);
	if (now - cost->begun >= ALL_NS)
		program_cost_deinit(cost);
}

void program_cost_read(const struct program_cost *cost, const struct bpf_object *object,
		       uint64_t *ret_runs, uint64_t *ret_ns)
{
	bpf_programs_cost(object, ret_runs, ret_ns);
	*ret_runs -= cost->first_runs;
	*ret_ns -= cost->first_ns;
}

void program_cost_deinit(struct program_cost *cost)
{
	if (cost->enabled >= 0)
		close(cost->enabled);
	cost->enabled = -1;
}
