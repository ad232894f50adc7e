/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "capture/cgroup_files.h"

/* What belongs to another file than `name` was not measured. */
static void check_others(const char *name, const struct cgroup_counters *cgroup)
{
	must(name[0] == 'p' || !cgroup->pids.current.measured);
	must(name[0] == 'i' || (!cgroup->io.rbytes.measured && !cgroup->io.dios.measured));
	must(name[0] == 'm' || (!cgroup->memory.current.measured && !cgroup->memory.stat.measured));
	must(name[0] == 'c' || (!cgroup->cpu.usage_usec.measured && !cgroup->cpu.weight.measured));
}

/* The first byte says which file of a cgroup the rest is; after the last comes pressure. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctprof_snapshot *snapshot;
	struct cgroup_counters cgroup = { 0 };
	struct text bytes;
	const char *name = NULL;

	if (!size)
		return 0;
	bytes = fuzz_copy(data + 1, size - 1);
	snapshot = fuzz_snapshot();
	cgroup.path = snapshot_name(snapshot, TEXT("/"));
	for (size_t i = 0; i <= data[0] && (name = cgroup_file_name(i)); i++)
		;
	if (name) {
		cgroup_take_file(snapshot, data[0], bytes, &cgroup);
		check_others(name, &cgroup);
	} else {
		psi_take_file(bytes, &cgroup.psi.cpu);
		check_others("", &cgroup);
	}
	must(array_push(&snapshot->cgroups, cgroup));
	fuzz_check_round_trip(snapshot);
	snapshot_destroy(snapshot);
	fuzz_release(bytes);
	return 0;
}
