/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures what the walk of a user stack costs:
 *
 *	walk_cost PROGRAM ROUNDS PID...
 *
 * walks the stacks of these processes at context switches, in each way of `ways` in turns, and
 * prints for each "walk PROGRAM.WAY NS": the nanoseconds of one run of the BPF program, from the
 * kernel's run-time statistics (kernel.bpf_stats_enabled must be on). "nothing" is the
 * cost without a walk, "by_kernel" follows frame pointers, and the others use the unwind tables of
 * the processes.
 */
#include "process/unwinder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sched/profile_memory.h"
#include "sched/profile_record.h"

#include <walk.skel.h>

#define MEASURED_US 300000
#define USER_SETS   1024 /* of stacks that are remembered */

static const char *const ways[] = { "nothing", "by_kernel", "walked", "recognised" };

static void fail(const char *what)
{
	fprintf(stderr, "walk_cost: %s\n", what);
	exit(1);
}

static void check(struct error *err)
{
	if (err)
		fail("the tables");
}

static struct bpf_prog_info info_of(struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	__u32 bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes))
		fail("no information of a program");
	return info;
}

static void measure(struct walk_bpf *object, const char *name, const char *way)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object->obj, way);
	struct bpf_link *link = bpf_program__attach(program);
	struct bpf_prog_info before, after;

	if (!link)
		fail("cannot attach");
	usleep(MEASURED_US / 10);
	before = info_of(program);
	usleep(MEASURED_US);
	after = info_of(program);
	bpf_link__destroy(link);
	if (after.run_cnt - before.run_cnt < 1000)
		fail("hardly any switches, or kernel.bpf_stats_enabled is off");
	printf("walk %s.%s %.1f\n", name, way,
	       (double)(after.run_time_ns - before.run_time_ns) /
		       (double)(after.run_cnt - before.run_cnt));
}

int main(int argc, char **argv)
{
	struct walk_bpf *object = walk_bpf__open();
	struct profile_config *config;
	struct profile_chunks chunks;
	struct process_watch *images;
	struct unwinder *unwinder;
	uint32_t pids[64], count = 0, yes = 1;

	if (!object || argc < 4)
		fail("PROGRAM ROUNDS PID...");
	config = (struct profile_config *)&object->rodata->config;
	config->user_depth = 127;
	config->unwind = UNWIND_BY_BOTH;
	config->user_sets = USER_SETS;
	bpf_map__set_max_entries(object->maps.user_sets, USER_SETS);
	if (walk_bpf__load(object))
		fail("cannot load");
	check(profile_chunks_init(&chunks, &object->bss->state, &object->bss->track,
				  bpf_map__fd(object->maps.records),
				  bpf_map__fd(object->maps.stack_pool), 1024, 64 << 20, NULL));
	for (int i = 3; i < argc && count < 64; i++) {
		pids[count] = (uint32_t)atoi(argv[i]);
		bpf_map_update_elem(bpf_map__fd(object->maps.target_processes), &pids[count++],
				    &yes, BPF_ANY);
	}
	check(process_watch_open(
		&(struct process_watch_options){ .pids = pids, .pid_count = count }, &images));
	check(process_watch_start(images));
	check(unwinder_open(
		&(struct unwinder_options){
			.chunks = bpf_map__fd(object->maps.unwind_chunks),
			.rules = bpf_map__fd(object->maps.unwind_rules),
			.processes = bpf_map__fd(object->maps.unwind_processes),
			.asked = bpf_map__fd(object->maps.unwind_asked),
			.images = images,
			.pids = pids,
			.pid_count = count,
		},
		&unwinder));
	check(unwinder_start(unwinder, UINT64_MAX, NULL, NULL));
	for (int round = 0; round < atoi(argv[2]); round++)
		for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
			measure(object, argv[1], ways[i]);
	profile_chunks_deinit(&chunks);
	unwinder_close(unwinder);
	process_watch_close(images);
	walk_bpf__destroy(object);
	return 0;
}
