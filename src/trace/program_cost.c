/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/program_cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "base/units.h"

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

static void read_all(const struct bpf_object *object, uint64_t *ret_runs, uint64_t *ret_ns)
{
	struct bpf_program *program;

	*ret_runs = *ret_ns = 0;
	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
			continue;
		*ret_runs += info.run_cnt;
		*ret_ns += info.run_time_ns;
	}
}

void program_cost_tick(struct program_cost *cost, const struct bpf_object *object, uint64_t now)
{
	if (cost->enabled < 0)
		return;
	if (!cost->first_runs && now - cost->begun >= FIRST_NS)
		read_all(object, &cost->first_runs, &cost->first_ns);
	if (now - cost->begun >= ALL_NS)
		program_cost_deinit(cost);
}

void program_cost_read(const struct program_cost *cost, const struct bpf_object *object,
		       uint64_t *ret_runs, uint64_t *ret_ns)
{
	read_all(object, ret_runs, ret_ns);
	*ret_runs -= cost->first_runs;
	*ret_ns -= cost->first_ns;
}

void program_cost_deinit(struct program_cost *cost)
{
	if (cost->enabled >= 0)
		close(cost->enabled);
	cost->enabled = -1;
}
