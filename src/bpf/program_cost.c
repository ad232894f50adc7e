/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/program_cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/units.h"
#include "bpf/programs.h"

#define FIRST_NS (NS_PER_S / 10)
#define ALL_NS   NS_PER_S

int program_cost_enable(void)
{
	const int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	int kept;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd < 0 ? -1 : fd;
	kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return kept;
}

void program_cost_init(struct program_cost *cost, int enabled)
{
	*cost = (struct program_cost){ .enabled = enabled > 0 ? enabled : -1 };
}

void program_cost_begin(struct program_cost *cost, const struct bpf_object *object, uint64_t now)
{
	cost->begun = now;
	if (cost->enabled >= 0)
		bpf_programs_cost(object, &cost->first_runs, &cost->first_ns);
}

void program_cost_tick(struct program_cost *cost, const struct bpf_object *object, uint64_t now)
{
	if (cost->enabled < 0)
		return;
	if (!cost->has_warmed_up && now - cost->begun >= FIRST_NS) {
		bpf_programs_cost(object, &cost->first_runs, &cost->first_ns);
		cost->has_warmed_up = true;
	}
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
